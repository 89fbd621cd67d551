//! Judgements over scalars, reports of the device and single weights, compared with naive computations.

#![expect(
    clippy::unwrap_used,
    clippy::cast_possible_wrap,
    reason = "a test that cannot go on has failed; points are few"
)]

use proptest::prelude::*;
use trainscope_analysis::watchpoint::config::{Value, WatchpointConfig, WatchpointsFile};
use trainscope_analysis::watchpoint::{Context, Evaluator, Findings, Missing, Watchpoints};
use trainscope_format::tensor::DType;

/// An evaluator of one condition, with some of its parameters.
fn evaluator(condition: &str, parameters: &[(&str, f64)]) -> Evaluator {
    let condition = ("condition".to_owned(), Value::Text(condition.to_owned()));
    let parameters = parameters
        .iter()
        .map(|(key, value)| ((*key).to_owned(), Value::Float(*value)));
    let watchpoint = WatchpointConfig(std::iter::once(condition).chain(parameters).collect());
    let file = WatchpointsFile {
        watchpoint: vec![watchpoint],
    };
    Evaluator::new(Watchpoints::from_file(&file).unwrap())
}

/// Adds points of a scalar, one per step, `secs` apart.
fn show(evaluator: &mut Evaluator, tag: &str, values: &[f64], secs: f64) {
    for (step, value) in (0..).zip(values) {
        evaluator.scalar(0, tag, step, secs * step as f64, *value);
    }
}

fn observe(evaluator: &mut Evaluator, name: &str, step: i64, shape: &[u64], values: &[f32]) {
    let kind = (DType::F32, shape);
    crate::support::observe(
        evaluator,
        (0, step),
        name,
        kind,
        &crate::support::bytes(values),
        None,
    );
}

fn steps_of(findings: &Findings) -> Vec<i64> {
    findings.hits.iter().map(|hit| hit.step).collect()
}

fn middle(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let half = sorted.len() / 2;
    if sorted.len() % 2 == 1 {
        sorted[half]
    } else {
        f64::midpoint(sorted[half - 1], sorted[half])
    }
}

/// Losses that start anywhere and fall or rise by a share, with noise.
fn losses(len: usize) -> impl Strategy<Value = Vec<f64>> {
    let noise = prop::collection::vec(-1.0..1.0_f64, len);
    (0.5..3.0_f64, -0.2..0.9_f64, 0.0..0.1_f64, noise).prop_map(|(begin, fall, width, noise)| {
        let len = noise.len() as f64;
        let at = |(i, n): (usize, &f64)| begin * (1.0 - fall * i as f64 / len) + width * n;
        noise.iter().enumerate().map(at).collect()
    })
}

proptest! {
    #[test]
    fn a_loss_that_falls_slowly(begin in 0.5..3.0_f64, fall in -0.2..0.9_f64, least in 0.05..0.5_f64) {
        let values: Vec<f64> = (0..60).map(|step| begin * (1.0 - fall * f64::from(step) / 60.0)).collect();
        let fifth = values.len() / 5;
        let (first, last) = (middle(&values[..fifth]), middle(&values[values.len() - fifth..]));
        let fallen = (first - last) / first;
        prop_assume!((fallen - least).abs() > 1e-9 && fallen.abs() > 1e-9);
        let of = |points: f64| {
            let mut evaluator = evaluator("slow_convergence", &[("points", points), ("fall_lt", least)]);
            show(&mut evaluator, "train/loss", &values, 1.0);
            !evaluator.findings().hits.is_empty()
        };
        prop_assert_eq!(of(60.0), fallen > 0.0 && fallen < least);
        prop_assert!(!of(61.0), "that is more points than there are");
    }

    #[test]
    fn a_loss_that_swings(values in prop::collection::vec(0.1..2.0_f64, 30..50), limit in 0.2..0.9_f64) {
        let points = 24;
        let last = &values[values.len() - points..];
        let rises: Vec<bool> = (1..points).map(|i| last[i] > last[i - 1]).collect();
        let turns = (1..rises.len()).filter(|&i| rises[i] != rises[i - 1]).count();
        let share = turns as f64 / (points - 2) as f64;
        prop_assume!((share - limit).abs() > 1e-9);
        let mut evaluator = evaluator("loss_oscillation", &[("share_gt", limit), ("points", points as f64)]);
        show(&mut evaluator, "loss", &values, 1.0);
        let expected = if share > limit { vec![(values.len() - points) as i64] } else { Vec::new() };
        prop_assert_eq!(steps_of(&evaluator.findings()), expected);
    }

    #[test]
    fn a_classifier_that_ends_near_guessing(values in losses(50), left in 0.3..0.95_f64, classes in 2..7_u64) {
        let last = middle(&values[40..]);
        let guessing = (classes as f64).ln();
        prop_assume!((last / guessing - left).abs() > 1e-9);
        let of = |has_accuracy: bool| {
            let mut evaluator = evaluator("underfit", &[("points", 50.0), ("left_gt", left)]);
            evaluator.context(0, Context::ExecutionOrder(&["fc", "head"]));
            let answer = vec![0.5; 2 * usize::try_from(classes).unwrap()];
            observe(&mut evaluator, "activation/fc", 0, &[2, 9], &[1.0; 18]);
            observe(&mut evaluator, "activation/head", 0, &[2, classes], &answer);
            show(&mut evaluator, "loss", &values, 1.0);
            if has_accuracy {
                show(&mut evaluator, "accuracy", &[0.5; 50], 1.0);
            }
            !evaluator.findings().hits.is_empty()
        };
        prop_assert_eq!(of(true), last / guessing > left);
        // Without an accuracy the first loss alone shows that it is a classifier.
        let begins_at_guessing = (middle(&values[..3]) / guessing - 1.0).abs() < 0.05;
        prop_assert_eq!(of(false), begins_at_guessing && last / guessing > left);
    }

    #[test]
    fn a_training_that_stood_still(
        pauses in prop::collection::vec(1.0..30.0_f64, 8..40),
        long in 100.0..4000.0_f64,
        at in 0..8_usize,
    ) {
        let mut pauses = pauses;
        pauses[at] = long;
        let usual = middle(&pauses);
        let limit = (20.0 * usual).max(1800.0);
        prop_assume!((long - limit).abs() > 1e-6);
        let mut evaluator = evaluator("stalled", &[]);
        let mut now = 1.7e9;
        evaluator.scalar(0, "loss", 0, now, 1.0);
        for (step, pause) in (1..).zip(&pauses) {
            now += pause;
            evaluator.scalar(0, "loss", step, now, 1.0);
        }
        // The last step before it.
        let expected = if long > limit { vec![at as i64] } else { Vec::new() };
        prop_assert_eq!(steps_of(&evaluator.findings()), expected);
    }

    #[test]
    fn weights_that_are_one(
        states in prop::collection::vec(prop::collection::vec(-1.0..1.0_f32, 6), 3),
        equal_steps in prop::collection::vec(any::<bool>(), 3),
    ) {
        let mut evaluator = evaluator("shared_weights", &[]);
        for (step, (state, is_equal)) in (0..).zip(states.iter().zip(&equal_steps)) {
            let other: Vec<f32> = state.iter().map(|x| if *is_equal { *x } else { x + 3.0 }).collect();
            observe(&mut evaluator, "weight/a.weight", step, &[2, 3], state);
            observe(&mut evaluator, "weight/b.weight", step, &[2, 3], &other);
            // Tied on purpose, and constant like the initial weights of a norm.
            observe(&mut evaluator, "weight/embedding.weight", step, &[2, 3], &[step as f32; 6]);
            observe(&mut evaluator, "weight/norm.weight", step, &[2, 3], &[step as f32; 6]);
        }
        let found = evaluator.findings();
        let hits: Vec<&str> = found.hits.iter().map(|hit| &*hit.tensor).collect();
        let expected = if equal_steps.iter().all(|e| *e) { vec!["weight/b.weight"] } else { Vec::new() };
        prop_assert_eq!(hits, expected);
    }
}

#[test]
fn what_the_device_says_of_an_operator_is_taken_at_its_word() {
    let mut told = evaluator("operator_overflow", &[]);
    for (step, operator) in [(3, "Default/Mul-op3"), (5, "Default/Add-op1")] {
        told.context(1, Context::OperatorOverflow { step, operator });
    }
    told.context(
        0,
        Context::OperatorOverflowUnread {
            step: 4,
            reason: "Opdebug.Node_OpDebug",
        },
    );
    let findings = told.findings();
    let hits: Vec<_> = findings
        .hits
        .iter()
        .map(|hit| (hit.rank, hit.step, &*hit.tensor))
        .collect();
    assert_eq!(hits, [(1, 3, "Default/Mul-op3"), (1, 5, "Default/Add-op1")]);
    assert_eq!(findings.inconclusive.len(), 1);
    let unread = &findings.inconclusive[0];
    assert_eq!(unread.reason, Missing::UnreadOverflowFiles);
    assert_eq!((unread.rank, unread.step), (0, 4));
}
