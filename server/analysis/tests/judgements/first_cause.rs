//! The first cause with the edges of a graph, with an order only, and with neither.

use trainscope_analysis::watchpoint::{Context, Findings};
use trainscope_format::Graph;
use trainscope_format::graph::{Edge, Node};
use trainscope_format::tensor::DType;

use super::recording::Recording;
use super::training::half;

/// Two branches that meet: `left` and `right` are fed by `in`, `sum` by both, `head` by `sum`; listed as a program
/// might, last things first.
const EDGES: [(&str, &[&str]); 5] = [
    ("head", &["sum"]),
    ("sum", &["left", "right"]),
    ("right", &["in"]),
    ("left", &["in"]),
    ("in", &[]),
];

fn graph() -> Graph {
    let place = |name: &str| EDGES.iter().position(|node| node.0 == name);
    let edge = |name: &&str| Edge {
        node: place(name).and_then(|at| u32::try_from(at).ok()),
        ..Edge::default()
    };
    let node = |(name, inputs): &(&str, &[&str])| Node {
        name: (*name).into(),
        inputs: inputs.iter().map(edge).collect(),
        ..Node::default()
    };
    Graph {
        nodes: EDGES.iter().map(node).collect(),
        ..Graph::default()
    }
}

/// Findings of tensors in the given order, at two steps; NaN in the named ones, with the step.
fn judge(recorded: &[&str], bad: &[(i64, u32, &str)], known: &[Context<'_>]) -> Findings {
    let mut recording = Recording::with(known);
    for step in 0..2 {
        for rank in 0..2 {
            for name in recorded {
                let is_bad = bad.contains(&(step, rank, name));
                // Ranks have different data.
                let first = 1.0 + f64::from(rank);
                let values = [first, 0.5, if is_bad { f64::NAN } else { 0.25 }];
                recording.values((rank, step), name, &[3], values.into_iter());
            }
        }
    }
    recording.judge()
}

/// The first cause with its rank, and the hits that it explains.
fn cause(findings: &Findings) -> (String, Vec<(i64, u32, String)>) {
    let first = findings.first_hit();
    let cause = findings.first_cause.as_ref();
    let explained = cause.iter().flat_map(|c| &c.explains).map(|&at| {
        let hit = &findings.hits[at];
        (hit.step, hit.rank, hit.tensor.to_string())
    });
    (
        first.map_or_else(String::new, |hit| format!("{} {}", hit.rank, hit.tensor)),
        explained.collect(),
    )
}

const FORWARD: [&str; 5] = [
    "activation/in",
    "activation/right",
    "activation/left",
    "activation/sum",
    "activation/head",
];

fn names(all: &[(i64, u32, &str)]) -> Vec<(i64, u32, String)> {
    all.iter().map(|(s, r, t)| (*s, *r, (*t).into())).collect()
}

#[test]
fn only_what_is_fed_by_the_cause_is_explained_in_its_step() {
    let bad = [
        (0, 0, "activation/left"),
        (0, 0, "activation/right"),
        (0, 0, "activation/sum"),
        (0, 1, "activation/head"),
        (0, 1, "grad/head"),
        (1, 0, "activation/in"),
    ];
    let graph = graph();
    let with_gradient = [&FORWARD[..], &["grad/head"]].concat();
    let findings = judge(&with_gradient, &bad, &[Context::Graph(&graph)]);
    let (first, explains) = cause(&findings);
    // The inputs of both branches were healthy; neither explains the other.
    assert_eq!(first, "0 activation/left");
    assert_eq!(
        explains,
        names(&[
            (0, 0, "activation/sum"),
            (0, 1, "grad/head"),
            (1, 0, "activation/in")
        ])
    );
    let cause = findings.first_cause.as_ref();
    let sentence = cause.map(|c| (c.sentence.en.as_str(), c.sentence.zh.as_str()));
    assert!(
        sentence.is_some_and(|(en, zh)| en.contains("all of its inputs are finite")
            && zh.contains("其全部输入都是有限值")),
        "{sentence:?}"
    );
}

#[test]
fn edges_count_more_than_an_order_that_contradicts_them() {
    let bad = [(0, 0, "activation/left"), (0, 0, "activation/head")];
    let graph = graph();
    let order = Context::ExecutionOrder(&["head", "sum", "right", "left", "in"]);
    let findings = judge(&FORWARD, &bad, &[order, Context::Graph(&graph)]);
    assert_eq!(cause(&findings).0, "0 activation/left");
    // Without edges only the order is known.
    let findings = judge(&FORWARD, &bad, &[order]);
    assert_eq!(cause(&findings).0, "0 activation/head");
    assert_eq!(cause(&findings).1, names(&[(0, 0, "activation/left")]));
}

#[test]
fn without_graph_and_order_the_recording_tells() {
    let bad = [
        (1, 1, "activation/right"),
        (1, 1, "activation/left"),
        (1, 1, "grad/left.weight"),
    ];
    let recorded = [
        "grad/left.weight",
        "activation/left",
        "activation/right",
        "grad/right.weight",
    ];
    let findings = judge(&recorded, &bad, &[]);
    let (first, explains) = cause(&findings);
    assert_eq!(first, "1 activation/left");
    assert_eq!(
        explains,
        names(&[(1, 1, "activation/right"), (1, 1, "grad/left.weight")])
    );
}

#[test]
fn gradients_follow_the_edges_backwards() {
    let graph = graph();
    let recorded = ["grad/head.weight", "grad/left.weight", "grad/right.weight"];
    let bad = [
        (0, 0, "grad/right.weight"),
        (0, 0, "grad/left.weight"),
        (1, 0, "grad/head.weight"),
    ];
    let findings = judge(&recorded, &bad, &[Context::Graph(&graph)]);
    let (first, explains) = cause(&findings);
    assert_eq!(first, "0 grad/right.weight", "nothing that it feeds is ill");
    assert_eq!(explains, names(&[(1, 0, "grad/head.weight")]));
}

#[test]
fn each_step_of_each_rank_has_a_cause_of_its_own() {
    let bad = [
        (0, 0, "activation/left"),
        (0, 0, "activation/sum"),
        (0, 0, "activation/head"),
        (0, 1, "activation/right"),
        (0, 1, "activation/left"),
        (0, 1, "activation/sum"),
        (1, 1, "activation/head"),
    ];
    let graph = graph();
    let findings = judge(&FORWARD, &bad, &[Context::Graph(&graph)]);
    let told = |at: usize| {
        let hit = &findings.hits[at];
        (hit.step, hit.rank, hit.tensor.to_string())
    };
    let causes: Vec<_> = findings
        .causes
        .iter()
        .map(|cause| {
            let explains = cause.explains.iter().map(|&at| told(at)).collect();
            (told(cause.hit), explains)
        })
        .collect();
    let expected = |cause: (i64, u32, &str), explains: &[(i64, u32, &str)]| {
        (names(&[cause])[0].clone(), names(explains))
    };
    assert_eq!(
        causes,
        [
            expected(
                (0, 0, "activation/left"),
                &[(0, 0, "activation/sum"), (0, 0, "activation/head")]
            ),
            // The other branch does not follow from it.
            expected((0, 1, "activation/left"), &[(0, 1, "activation/sum")]),
            expected((1, 1, "activation/head"), &[]),
        ]
    );
    let sentences: Vec<_> = findings.causes.iter().map(|c| &c.sentence.en).collect();
    assert!(
        sentences[0].contains("2 later hits follow"),
        "{sentences:?}"
    );
    assert!(sentences[2].contains("all of its inputs are finite"));
}

/// Points of scalars, one a step, and the advice about the first cause.
fn advised(scalars: &[(&str, &dyn Fn(i64) -> f64)], steps: i64) -> String {
    let mut recording = Recording::with(&[]);
    for (tag, value) in scalars {
        recording.curve(tag, steps, value);
    }
    let Some(cause) = recording.judge().first_cause else {
        panic!("a run with NaN has a first cause")
    };
    assert!(!cause.advice.zh.is_empty());
    cause.advice.en
}

#[test]
fn advice_on_nan_is_chosen_by_what_came_before_it() {
    let loss = |step: i64| {
        if step < 60 {
            2.0 - 0.01 * step as f64
        } else {
            f64::NAN
        }
    };
    let steady = |step: i64| 1.0 + 0.05 * (step as f64).sin();
    let rising = |step: i64| {
        if step < 50 {
            steady(step)
        } else {
            1.3_f64.powf(step as f64 - 49.0)
        }
    };
    let overflow = |step: i64| {
        if step < 59 {
            rising(step)
        } else {
            f64::INFINITY
        }
    };
    let scale = |_: i64| 65_536.0;
    let alone = advised(&[("train/loss", &loss)], 100);
    assert!(alone.starts_with("Record statistics"), "{alone}");
    let grown = advised(&[("train/loss", &loss), ("grad_norm", &overflow)], 100);
    assert!(grown.starts_with("Clip the gradient norm"), "{grown}");
    assert!(grown.contains("rises from step 5"), "{grown}");
    let scaled = [
        ("train/loss", &loss as &dyn Fn(i64) -> f64),
        ("grad_norm", &overflow),
        ("loss_scale", &scale),
    ];
    let scaled = advised(&scaled, 100);
    assert!(scaled.contains("although the loss is scaled"), "{scaled}");
}

#[test]
fn advice_on_an_overflow_in_half_precision_names_the_type() {
    let mut recording = Recording::with(&[]);
    for (step, last) in [(0, 1.0), (1, f32::INFINITY)] {
        let values = [1.0, 0.5, last];
        let bytes: Vec<u8> = values.iter().flat_map(|v| half(*v).to_le_bytes()).collect();
        let kind = (DType::F16, &[3][..]);
        recording.elements((0, step), "activation/fc1", kind, &bytes);
    }
    let cause = recording.judge().first_cause.unwrap();
    assert!(
        cause.advice.en.starts_with("fp16 ends at 65,504"),
        "{}",
        cause.advice.en
    );
}

/// The first cause of a regression by `fc1`, `relu1` and `fc2`, where `relu1` is 0 for every sample. `fc1` and `relu1`
/// have this number of units. Inputs of this size are not normalized, and the loss stays.
fn of_dead_layer(units: u64, size: f32, seed: u64) -> String {
    let order = ["input", "fc1", "relu1", "fc2"];
    let mut recording = Recording::with(&[Context::ExecutionOrder(&order)]);
    for step in 0..8 {
        recording.scalar(step, "loss", 120.0);
        for (name, len) in [("input", 4), ("fc1", units), ("relu1", units), ("fc2", 1)] {
            let noise =
                |i: u64| crate::judgements::training::noise(seed + 100 * i + step.unsigned_abs());
            let values = (0..16 * len).map(|i| match name {
                "input" => size * (1.0 + noise(i)),
                "fc1" => -size * (1.5 + noise(i)),
                "relu1" => 0.0,
                _ => 0.3,
            });
            let values = values.map(f64::from);
            recording.values((0, step), &format!("activation/{name}"), &[16, len], values);
        }
    }
    cause(&recording.judge()).0
}

#[test]
fn a_bottleneck_of_one_dead_unit_is_the_cause_and_not_the_size_of_the_inputs() {
    for seed in 0..20 {
        for size in [10.0, 25.0, 200.0] {
            let first = of_dead_layer(1, size, seed);
            assert_eq!(first, "0 activation/relu1", "seed {seed}, size {size}");
            // Several units die together because of their inputs.
            let first = of_dead_layer(8, size, seed);
            assert_eq!(first, "0 activation/input", "seed {seed}, size {size}");
        }
    }
}
