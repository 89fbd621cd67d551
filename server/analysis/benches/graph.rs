//! Benchmark of graphs: building the tree and the scene of 100,000 nodes, and the layout of a scope with 1,500
//! children.

use std::collections::BTreeSet;
use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use trainscope_analysis::graph::scene::{View, scene};
use trainscope_analysis::graph::tree::Tree;
use trainscope_analysis::graph::walk::Walk;
use trainscope_format::Graph;
use trainscope_format::graph::{Edge, Node};

/// Layers, heads and operations per head; only a few under test.
fn sizes() -> [usize; 3] {
    if std::env::args().any(|flag| flag == "--test") {
        [4, 4, 6]
    } else {
        [96, 64, 16]
    }
}

/// A transformer in scopes six deep, and an optimizer of 1,500 operations in one scope.
fn transformer() -> Graph {
    let mut graph = Graph::default();
    let add = |graph: &mut Graph, name: String, op_type: &str, inputs: &[usize]| {
        let inputs = inputs.iter().map(|&input| Edge {
            node: u32::try_from(input).ok(),
            ..Edge::default()
        });
        graph.nodes.push(Node {
            name,
            op_type: op_type.to_owned(),
            inputs: inputs.collect(),
            ..Node::default()
        });
        graph.nodes.len() - 1
    };
    let [layers, heads, operations] = sizes();
    let mut last = add(&mut graph, "model/embed/tokens".to_owned(), "Gather", &[]);
    for layer in 0..layers {
        let before = last;
        let mut ends = Vec::new();
        for head in 0..heads {
            let scope = format!("model/decoder/layers/{layer}/attention/heads/{head}");
            last = before;
            for operation in 0..operations {
                let op_type = ["MatMul", "Add", "Softmax"][operation % 3];
                last = add(
                    &mut graph,
                    format!("{scope}/op{operation}"),
                    op_type,
                    &[last],
                );
            }
            ends.push(last);
        }
        last = add(
            &mut graph,
            format!("model/decoder/layers/{layer}/ffn/in"),
            "Concat",
            &ends,
        );
        last = add(
            &mut graph,
            format!("model/decoder/layers/{layer}/ffn/gelu"),
            "Gelu",
            &[last, before],
        );
    }
    let mut seed = 7_usize;
    let first = graph.nodes.len();
    for number in 0..1_500 {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let near = first + number - (seed >> 33) % (number.min(12) + 1);
        let inputs = if number % 5 == 0 {
            vec![last]
        } else {
            vec![near.min(first + number - 1), last]
        };
        add(
            &mut graph,
            format!("optimizer/update{number}"),
            "Adam",
            &inputs,
        );
    }
    graph
}

fn graphs(bench: &mut Criterion) {
    let graph = transformer();
    let mut group = bench.benchmark_group(format!("graph of {} nodes", graph.nodes.len()));
    group.sample_size(10);
    group.bench_function("scopes and folds", |run| {
        run.iter(|| Tree::new(black_box(&graph)));
    });
    let tree = Tree::new(&graph);
    group.bench_function("edges by node", |run| {
        run.iter(|| Walk::new(black_box(&tree)));
    });
    group.bench_function("first picture", |run| {
        run.iter(|| scene(&graph, &tree, black_box(&View::default())));
    });
    let open = tree.find("optimizer").into_iter().collect::<BTreeSet<_>>();
    let view = View {
        open: Some(open),
        path: Vec::new(),
    };
    group.bench_function("1,500 children", |run| {
        run.iter(|| scene(&graph, &tree, black_box(&view)));
    });
    let walk = Walk::new(&tree);
    let last = tree.items.len() - 1;
    group.bench_function("a path from end to end", |run| {
        run.iter(|| walk.path(&tree, 1, black_box(last)));
    });
    group.finish();
}

criterion_group!(benches, graphs);
criterion_main!(benches);
