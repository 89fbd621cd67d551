//! Scenes of graphs: for any graph, boxes are within their parents and lines end at boxes.

use std::collections::BTreeSet;

use proptest::prelude::*;
use trainscope_analysis::graph::scene::{Scene, View, scene};
use trainscope_analysis::graph::tree::{Tree, What};
use trainscope_analysis::graph::walk::Walk;
use trainscope_analysis::graph::{around, diff, names, search};
use trainscope_format::Graph;
use trainscope_format::graph::{Edge, Node, NodeKind};

fn node(name: &str, inputs: &[usize]) -> Node {
    Node {
        name: name.to_owned(),
        op_type: "Op".to_owned(),
        inputs: inputs
            .iter()
            .map(|&input| Edge {
                node: u32::try_from(input).ok(),
                ..Edge::default()
            })
            .collect(),
        ..Node::default()
    }
}

fn graph(nodes: Vec<Node>) -> Graph {
    Graph {
        nodes,
        ..Graph::default()
    }
}

fn all_open(tree: &Tree) -> View {
    let scopes = tree.items.iter().enumerate();
    let scopes = scopes.filter(|(_, item)| !matches!(item.what, What::Node(_)));
    View {
        open: Some(scopes.map(|(index, _)| index).collect()),
        path: Vec::new(),
    }
}

/// Invariants of every scene.
fn check(scene: &Scene) {
    const ROOM: f64 = 0.01;
    for (index, scene_box) in scene.boxes.iter().enumerate() {
        let (left, top, right, bottom) = match scene_box.parent {
            None => (0.0, 0.0, scene.width, scene.height),
            Some(parent) => {
                assert!(parent < index && scene.boxes[parent].is_open);
                let p = &scene.boxes[parent];
                (p.x, p.y, p.x + p.width, p.y + p.height)
            }
        };
        assert!(
            scene_box.x >= left - ROOM && scene_box.x + scene_box.width <= right + ROOM,
            "{scene_box:?}"
        );
        assert!(
            scene_box.y >= top - ROOM && scene_box.y + scene_box.height <= bottom + ROOM,
            "{scene_box:?}"
        );
        for other in scene.boxes[..index]
            .iter()
            .filter(|o| o.parent == scene_box.parent)
        {
            let apart = scene_box.x >= other.x + other.width - ROOM
                || other.x >= scene_box.x + scene_box.width - ROOM
                || scene_box.y >= other.y + other.height - ROOM
                || other.y >= scene_box.y + scene_box.height - ROOM;
            assert!(apart, "{scene_box:?} overlaps {other:?}");
        }
    }
    for line in &scene.lines {
        assert!(line.at.iter().all(|at| at.is_finite()));
        assert!(line.edges > 0, "{line:?}");
        if let Some(to) = line.to.filter(|_| line.is_last) {
            let to = &scene.boxes[to];
            let [_, _, x, y] = line.at;
            assert!(
                x >= to.x - ROOM && x <= to.x + to.width + ROOM,
                "{line:?} {to:?}"
            );
            assert!(
                (y - to.y).abs() < 1.0 || (y - to.y - to.height).abs() < 1.0,
                "{line:?} {to:?}"
            );
        }
        if let Some(via) = line.via {
            assert!(scene.lines[via].edges >= line.edges);
        }
    }
}

/// Every edge between two boxes can be followed along the lines from one to the other, across all borders.
fn check_edges(scene: &Scene, tree: &Tree) {
    const ROOM: f64 = 0.5;
    let is_near = |a: f64, b: f64| (a - b).abs() < ROOM;
    let touches = |item: usize, x: f64, y: f64| {
        let scene_box = scene.boxes.iter().find(|scene_box| scene_box.item == item);
        scene_box.is_some_and(|scene_box| {
            let is_beside = x >= scene_box.x - ROOM && x <= scene_box.x + scene_box.width + ROOM;
            is_beside && (is_near(y, scene_box.y) || is_near(y, scene_box.y + scene_box.height))
        })
    };
    let is_drawn = |item: usize| {
        let scene_box = scene.boxes.iter().find(|scene_box| scene_box.item == item);
        scene_box.is_some_and(|scene_box| !scene_box.is_open)
    };
    let shown = |mut item: usize| {
        while item != 0 && !is_drawn(item) {
            item = tree.items[item].parent;
        }
        item
    };
    let edges: BTreeSet<(usize, usize)> = tree
        .edges
        .iter()
        .map(|&(from, to, _)| (shown(from), shown(to)))
        .filter(|(from, to)| from != to)
        .collect();
    let next: Vec<Vec<usize>> = scene
        .lines
        .iter()
        .map(|line| {
            let goes_on = |other: &usize| {
                let other = &scene.lines[*other];
                is_near(other.at[0], line.at[2]) && is_near(other.at[1], line.at[3])
            };
            (0..scene.lines.len()).filter(goes_on).collect()
        })
        .collect();
    for (from, to) in edges {
        let mut waiting: Vec<usize> = (0..scene.lines.len())
            .filter(|line| touches(from, scene.lines[*line].at[0], scene.lines[*line].at[1]))
            .collect();
        let mut seen: BTreeSet<usize> = waiting.iter().copied().collect();
        let mut has_arrived = false;
        while let Some(line) = waiting.pop().filter(|_| !has_arrived) {
            let [_, _, x, y] = scene.lines[line].at;
            has_arrived = touches(to, x, y);
            waiting.extend(next[line].iter().filter(|next| seen.insert(**next)));
        }
        assert!(
            has_arrived,
            "{} to {} ends on its way: {scene:?}",
            tree.items[from].path, tree.items[to].path
        );
    }
}

#[test]
fn an_edge_that_leads_up_goes_on_to_the_node_within_its_scope() {
    let graph = graph(vec![
        node("a/x", &[]),
        node("b/inner/y", &[0]),
        node("a/inner/z", &[1]),
        node("a/last", &[2]),
    ]);
    let tree = Tree::new(&graph);
    let drawn = scene(&graph, &tree, &all_open(&tree));
    check(&drawn);
    check_edges(&drawn, &tree);
    let box_of = |path: &str| {
        let item = tree.find(path).unwrap();
        drawn
            .boxes
            .iter()
            .find(|scene_box| scene_box.item == item)
            .unwrap()
    };
    let (y, z) = (box_of("b/inner/y"), box_of("a/inner/z"));
    assert!(z.y < y.y, "the edge leads up");
    // It leaves at the top, arrives at the bottom with an arrow, and has no arrow at the borders in between.
    let ends_at_z = |line: &&trainscope_analysis::graph::scene::Line| {
        line.is_last && (line.at[3] - z.y - z.height).abs() < 1.0 && line.at[1] > line.at[3]
    };
    assert_eq!(drawn.lines.iter().filter(ends_at_z).count(), 1);
    let up = drawn.lines.iter().filter(|line| line.at[3] < line.at[1]);
    assert_eq!(up.filter(|line| line.is_last).count(), 1);
    let leaves_y = |line: &&trainscope_analysis::graph::scene::Line| {
        (line.at[1] - y.y).abs() < 1.0 && line.at[3] < line.at[1]
    };
    assert_eq!(drawn.lines.iter().filter(leaves_y).count(), 1);
}

#[test]
fn many_edges_between_two_open_scopes_share_a_port_in_each_direction() {
    // Twelve nodes of `a` feed `b`, and twelve of `b` feed `a`: more than a border has ports.
    let mut nodes: Vec<Node> = (0..12).map(|n| node(&format!("a/x{n}"), &[])).collect();
    nodes.extend((0..12).map(|n| node(&format!("b/y{n}"), &[n])));
    nodes.extend((0..12).map(|n| node(&format!("a/z{n}"), &[12 + n])));
    nodes.extend((0..12).map(|n| node(&format!("c{n}"), &[12 + n])));
    nodes.extend((0..12).map(|n| node(&format!("b/w{n}"), &[36 + n])));
    let graph = graph(nodes);
    let tree = Tree::new(&graph);
    let drawn = scene(&graph, &tree, &all_open(&tree));
    check(&drawn);
    check_edges(&drawn, &tree);
}

#[test]
fn an_edge_into_a_scope_passes_its_border() {
    let graph = graph(vec![
        node("x", &[]),
        node("net/a", &[0]),
        node("net/b", &[1]),
        node("y", &[2]),
    ]);
    let tree = Tree::new(&graph);
    let closed = scene(
        &graph,
        &tree,
        &View {
            open: Some(BTreeSet::new()),
            path: Vec::new(),
        },
    );
    assert_eq!((closed.boxes.len(), closed.lines.len()), (3, 2));
    check(&closed);
    let open = scene(&graph, &tree, &all_open(&tree));
    check(&open);
    assert_eq!(open.boxes.len(), 5);
    let [x, net, a, b, y] = &open.boxes[..] else {
        panic!()
    };
    assert!(x.y < net.y && net.y < a.y && a.y < b.y && b.y < y.y);
    // x to the border, the border to a, a to b, b to the border, the border to y.
    assert_eq!(open.lines.len(), 5);
    let at_top = open
        .lines
        .iter()
        .filter(|line| (line.at[3] - net.y).abs() < 1.0)
        .count();
    let from_top = open
        .lines
        .iter()
        .filter(|line| (line.at[1] - net.y).abs() < 1.0)
        .count();
    assert_eq!((at_top, from_top), (1, 1));
}

#[test]
fn edges_of_a_path_are_marked_wherever_they_are_drawn() {
    let graph = graph(vec![
        node("x", &[]),
        node("net/a", &[0]),
        node("net/b", &[0]),
        node("y", &[1, 2]),
    ]);
    let tree = Tree::new(&graph);
    let at = |path: &str| tree.find(path).unwrap();
    let path = Walk::new(&tree).path(&tree, at("x"), at("y"));
    assert_eq!(path, [at("x"), at("net/a"), at("y")]);
    let drawn = scene(
        &graph,
        &tree,
        &View {
            path,
            ..all_open(&tree)
        },
    );
    let marked = |line: &trainscope_analysis::graph::scene::Line| {
        let name = |end: Option<usize>| end.map(|end| &*tree.items[drawn.boxes[end].item].path);
        (name(line.from), name(line.to))
    };
    let on: Vec<_> = drawn
        .lines
        .iter()
        .filter(|l| l.is_on_path && l.from.is_some())
        .map(marked)
        .collect();
    assert!(
        on.contains(&(Some("x"), Some("net/a"))) && on.contains(&(Some("net/a"), Some("y"))),
        "{on:?}"
    );
    assert!(!on.contains(&(Some("x"), Some("net/b"))), "{on:?}");
}

#[test]
fn ten_thousand_edges_at_one_node_are_drawn() {
    let mut nodes: Vec<Node> = (0..10_000).map(|n| node(&format!("n{n}"), &[])).collect();
    nodes.push(node("sum", &(0..10_000).collect::<Vec<_>>()));
    nodes.extend((0..10_000).map(|n| node(&format!("m{n}"), &[10_000])));
    let graph = graph(nodes);
    let tree = Tree::new(&graph);
    let drawn = scene(&graph, &tree, &all_open(&tree));
    assert_eq!(drawn.boxes.len(), 20_001);
    let attached = drawn
        .lines
        .iter()
        .filter(|line| line.from.is_some())
        .count();
    assert_eq!(attached, 20_000);
    assert!(drawn.lines.len() < 60_000, "{}", drawn.lines.len());
}

#[test]
fn nothing_is_lost_of_an_empty_graph_and_of_cycles() {
    let empty = Graph::default();
    let tree = Tree::new(&empty);
    assert_eq!(scene(&empty, &tree, &View::default()).boxes, []);
    let cyclic = graph(vec![
        node("a/x", &[1]),
        node("b/y", &[0]),
        node("c", &[2, 99]),
    ]);
    let tree = Tree::new(&cyclic);
    let drawn = scene(&cyclic, &tree, &all_open(&tree));
    check(&drawn);
    let up = drawn
        .lines
        .iter()
        .filter(|line| line.at[3] < line.at[1])
        .count();
    assert!(
        up > 0,
        "an edge of the cycle leads back up: {:?}",
        drawn.lines
    );
}

fn any_graph() -> impl Strategy<Value = Graph> {
    let name = "(a|b|a[0-3])(/(c|d|l[0-9]))?(/[xyz])?";
    let node = (
        name,
        prop::collection::vec(0_u32..40, 0..5),
        0..4_u8,
        any::<bool>(),
    );
    prop::collection::vec(node, 0..40).prop_map(|nodes| {
        let nodes = nodes
            .into_iter()
            .map(|(name, inputs, kind, is_control)| Node {
                name,
                kind: [
                    NodeKind::Operation,
                    NodeKind::Operation,
                    NodeKind::Parameter,
                    NodeKind::Input,
                ][usize::from(kind)],
                op_type: format!("Op{kind}"),
                inputs: inputs
                    .into_iter()
                    .map(|input| Edge {
                        node: (input < 38).then_some(input),
                        is_control,
                        ..Edge::default()
                    })
                    .collect(),
                ..Node::default()
            });
        graph(nodes.collect())
    })
}

proptest! {
    #[test]
    fn any_graph_can_be_looked_at(graph in any_graph(), chosen in any::<u64>()) {
        let tree = Tree::new(&graph);
        let walk = Walk::new(&tree);
        let open: BTreeSet<usize> = (0..tree.items.len()).filter(|i| chosen >> (i % 64) & 1 == 1).collect();
        for view in [View::default(), all_open(&tree), View { open: Some(open), path: Vec::new() }] {
            let drawn = scene(&graph, &tree, &view);
            check(&drawn);
            check_edges(&drawn, &tree);
            prop_assert_eq!(&drawn, &scene(&graph, &tree, &view));
        }
        let known = names::Names::new(&graph, &tree);
        for (index, item) in tree.items.iter().enumerate().skip(1) {
            prop_assert!(tree.contains(item.parent, index));
            prop_assert_eq!(tree.find(&item.path), Some(index));
            if let What::Node(node) = item.what {
                prop_assert!(known.find(&graph.nodes[node].name).is_some());
            }
        }
        if tree.items.len() > 1 {
            check(&around(&graph, &tree, &walk, 1, 2, 12).0);
            walk.path(&tree, 1, tree.items.len() - 1);
        }
        search::search(&graph, &tree, "op1", 5);
        let same = diff::diff(&graph, &graph.clone());
        prop_assert_eq!(same.same, graph.nodes.len());
    }
}
