//! Outputs compared with targets, and losses with accuracies: families of healthy and faulty programs, each with
//! several seeds.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![expect(clippy::cast_precision_loss, reason = "small numbers")]

use trainscope_analysis::watchpoint::{Context, Evaluator, Findings, Watchpoints};
use trainscope_format::body::GraphFormat;
use trainscope_format::tensor::DType;
use trainscope_format::{Graph, Severity};

/// Pseudo-random numbers between 0 and 1.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> f32 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let mixed = (self.0 ^ (self.0 >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        (mixed >> 40) as f32 / (1_u32 << 24) as f32
    }

    fn between(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * self.next()
    }

    fn normal(&mut self) -> f32 {
        (0..12).map(|_| self.next()).sum::<f32>() - 6.0
    }
}

fn keras(units: u64, activation: &str, loss: &str) -> Graph {
    let json = format!(
        r#"{{"class_name": "Sequential", "keras_version": "3.15.1", "config": {{"layers": [
            {{"class_name": "Dense", "config": {{"name": "hidden", "units": 8, "activation": "relu"}}}},
            {{"class_name": "Dense", "config": {{"name": "last", "units": {units}, "activation": "{activation}"}}}}]}},
            "compile_config": {{"optimizer": "adam", "loss": {loss}}}}}"#
    );
    Graph::read(GraphFormat::KerasJson, json.as_bytes()).unwrap()
}

/// Records of a training.
struct Program {
    evaluator: Evaluator,
}

impl Program {
    fn new(graph: Option<&Graph>) -> Self {
        let mut evaluator = Evaluator::new(Watchpoints::recommended());
        if let Some(graph) = graph {
            evaluator.context(0, Context::Graph(graph));
        }
        Self { evaluator }
    }

    fn tensor(&mut self, step: i64, name: &str, shape: &[u64], values: &[f32]) {
        assert_eq!(shape.iter().product::<u64>(), values.len() as u64);
        let (kind, bytes) = ((DType::F32, shape), crate::support::bytes(values));
        crate::support::observe(&mut self.evaluator, (0, step), name, kind, &bytes, None);
    }

    fn scalar(&mut self, step: i64, tag: &str, value: f64) {
        self.evaluator.scalar(0, tag, step, 0.0, value);
    }

    fn findings(&self) -> Findings {
        self.evaluator.findings()
    }
}

fn severity(findings: &Findings, condition: &str) -> Option<Severity> {
    let hit = findings.hits.iter().find(|h| h.condition.id == condition)?;
    assert!(!hit.sentence.en.is_empty() && !hit.sentence.zh.is_empty());
    Some(hit.severity)
}

const SEEDS: u64 = 6;

#[test]
fn targets_out_of_reach_are_found_and_others_are_not() {
    type Draw = fn(&mut Chance, usize) -> f32;
    let whole: Draw = |chance, _| (4.0 * chance.next()).floor();
    let bits: Draw = |chance, _| chance.next().round();
    let mse = r#""mse""#;
    let cases: [(&str, &str, Draw, bool); 18] = [
        ("sigmoid", mse, bits, false),
        ("sigmoid", mse, |c, _| c.next(), false),
        // Scaled by the minimum and maximum of other data.
        ("sigmoid", mse, |c, _| c.between(-0.03, 1.03), false),
        // One outlier in a hundred.
        (
            "sigmoid",
            mse,
            |c, i| if i.is_multiple_of(100) { 7.0 } else { c.next() },
            false,
        ),
        ("sigmoid", mse, whole, true),
        ("sigmoid", mse, |c, _| c.between(0.0, 1.5), true),
        ("sigmoid", mse, |c, _| c.normal(), true),
        ("sigmoid", mse, |c, _| c.between(50.0, 120.0), true),
        ("tanh", mse, |c, _| 2.0 * c.next().round() - 1.0, false),
        ("tanh", mse, |c, _| c.between(-1.0, 1.0), false),
        ("tanh", mse, |c, _| c.between(-3.0, 3.0), true),
        ("relu", mse, |c, _| c.between(0.0, 500.0), false),
        ("relu", mse, |c, _| c.normal(), true),
        ("linear", mse, |c, _| 1e6 * c.normal(), false),
        (
            "linear",
            r#"{"class_name": "BinaryCrossentropy", "config": {"from_logits": true}}"#,
            bits,
            false,
        ),
        (
            "linear",
            r#"{"class_name": "BinaryCrossentropy", "config": {"from_logits": true}}"#,
            whole,
            true,
        ),
        ("sigmoid", r#""binary_crossentropy""#, bits, false),
        ("sigmoid", r#""binary_crossentropy""#, whole, true),
    ];
    for (activation, loss, draw, is_faulty) in cases {
        for seed in 0..SEEDS {
            let mut chance = Chance(seed);
            let mut program = Program::new(Some(&keras(1, activation, loss)));
            for step in 0..4 {
                let targets: Vec<f32> = (0..64)
                    .map(|i| draw(&mut chance, i + 64 * usize::try_from(step).unwrap()))
                    .collect();
                let answers: Vec<f32> = (0..64).map(|_| chance.next()).collect();
                program.tensor(step, "target", &[64], &targets);
                program.tensor(step, "activation/last", &[64, 1], &answers);
            }
            let found = severity(&program.findings(), "unreachable_targets");
            let expected = is_faulty.then_some(Severity::Warning);
            assert_eq!(found, expected, "{activation} {loss} seed {seed}");
        }
    }
}

#[test]
fn class_numbers_are_no_targets_of_single_units() {
    let mut chance = Chance(1);
    for loss in ["sparse_categorical_crossentropy", "my_own_loss"] {
        let mut program = Program::new(Some(&keras(10, "softmax", &format!("\"{loss}\""))));
        for step in 0..4 {
            let targets: Vec<f32> = (0..32).map(|_| (10.0 * chance.next()).floor()).collect();
            let answers: Vec<f32> = (0..320).map(|_| chance.next()).collect();
            program.tensor(step, "target", &[32], &targets);
            program.tensor(step, "activation/last", &[32, 10], &answers);
        }
        let findings = program.findings();
        assert_eq!(severity(&findings, "unreachable_targets"), None, "{loss}");
        assert_eq!(severity(&findings, "fractional_classes"), None, "{loss}");
    }
}

#[test]
fn class_numbers_that_are_no_integers_are_an_error() {
    let sparse = r#""sparse_categorical_crossentropy""#;
    for (scale, offset, is_faulty) in [
        (1.0, 0.0, false),
        (1.0 / 255.0, 0.0, true),
        (1.0, 0.5, true),
        (2.5, 0.0, true),
    ] {
        for seed in 0..SEEDS {
            let mut chance = Chance(seed);
            let mut program = Program::new(Some(&keras(10, "softmax", sparse)));
            for step in 0..3 {
                let targets = (0..32).map(|i: u64| {
                    let number = if i < 2 {
                        9.0 * i as f32
                    } else {
                        (10.0 * chance.next()).floor()
                    };
                    scale * number + offset
                });
                program.tensor(step, "target", &[32], &targets.collect::<Vec<f32>>());
            }
            let found = severity(&program.findings(), "fractional_classes");
            assert_eq!(
                found,
                is_faulty.then_some(Severity::Error),
                "{scale} {offset}"
            );
        }
    }
    // Probabilities are not class indices.
    let mut program = Program::new(Some(&keras(3, "softmax", r#""categorical_crossentropy""#)));
    program.tensor(0, "target", &[8, 3], &[0.3; 24]);
    assert_eq!(severity(&program.findings(), "fractional_classes"), None);
}

/// Output of the last layer by step, sample and unit.
type Answer = fn(&mut Chance, i64, u64, u64) -> f32;

#[test]
fn one_answer_for_every_sample_is_found_and_is_the_cause_of_dead_gradients() {
    let cases: [(u64, Answer, bool); 8] = [
        (1, |c, _, _, _| c.next(), false),
        (3, |c, _, _, _| c.next(), false),
        // Nearly the same at first, as after a small initialization.
        (1, |c, _, _, _| 0.5 + 1e-4 * c.next(), false),
        // Zeros at the beginning, as of a last layer that starts with them.
        (
            2,
            |c, step, _, _| if step < 2 { 0.0 } else { c.next() },
            false,
        ),
        // One dead unit of several.
        (
            3,
            |c, _, _, unit| if unit == 0 { 0.0 } else { c.next() },
            false,
        ),
        (1, |_, _, _, _| 1.0, true),
        (1, |_, step, _, _| 0.01 * step as f32, true),
        (
            4,
            |_, step, _, unit| 0.1 * unit as f32 + 0.01 * step as f32,
            true,
        ),
    ];
    for (units, answer, is_faulty) in cases {
        for has_targets in [true, false] {
            for seed in 0..SEEDS {
                let mut chance = Chance(seed);
                let mut program = Program::new(Some(&keras(units, "linear", r#""mse""#)));
                for step in 0..10 {
                    let inputs: Vec<f32> = (0..64).map(|_| chance.normal()).collect();
                    program.tensor(step, "activation/input", &[16, 4], &inputs);
                    if has_targets {
                        let targets: Vec<f32> = (0..16).map(|_| chance.next()).collect();
                        program.tensor(step, "target", &[16], &targets);
                    }
                    let answers = (0..16 * units)
                        .map(|i| answer(&mut chance, step, i / units, i % units))
                        .collect::<Vec<f32>>();
                    program.tensor(step, "activation/last", &[16, units], &answers);
                    let gradient = if is_faulty { 0.0 } else { chance.normal() };
                    program.tensor(step, "grad/hidden.kernel", &[4, 8], &[gradient; 32]);
                }
                let findings = program.findings();
                let expected = is_faulty.then_some(Severity::Warning);
                let found = severity(&findings, "constant_output");
                assert_eq!(found, expected, "{units} units, seed {seed}");
                if is_faulty {
                    let first = findings.first_hit().unwrap();
                    assert_eq!(first.condition.id, "constant_output");
                    assert!(severity(&findings, "tensor_all_zero").is_some());
                }
            }
        }
    }
    // A gradient that vanishes on its way back is the more informative finding: it names the layers.
    let mut program = Program::new(Some(&keras(1, "linear", r#""mse""#)));
    let mut chance = Chance(3);
    for step in 0..10 {
        let targets: Vec<f32> = (0..16).map(|_| chance.next()).collect();
        program.tensor(step, "target", &[16], &targets);
        program.tensor(step, "activation/last", &[16, 1], &[0.5; 16]);
        for (name, size) in [("last", 1e-2), ("hidden", 1e-12)] {
            let gradient: Vec<f32> = (0..32).map(|_| size * chance.normal()).collect();
            program.tensor(step, &format!("grad/{name}.kernel"), &[4, 8], &gradient);
        }
        program.scalar(step, "loss", 0.7);
    }
    let first = program
        .findings()
        .first_hit()
        .map(|hit| hit.condition.id.to_owned());
    assert_eq!(first.as_deref(), Some("gradient_vanishing"));
    // If all targets are the same, the outputs may be too.
    let mut program = Program::new(Some(&keras(1, "linear", r#""mse""#)));
    for step in 0..10 {
        program.tensor(step, "target", &[16], &[1.0; 16]);
        program.tensor(step, "activation/last", &[16, 1], &[1.0; 16]);
    }
    assert_eq!(severity(&program.findings(), "constant_output"), None);
}

/// Loss and accuracy of a classifier with the given mean margin for the right class. Samples of weight `weight` count
/// less, as with class weights.
fn classified(chance: &mut Chance, classes: usize, skill: f32, weight: f64) -> (f64, f64) {
    let (mut loss, mut right) = (0.0, 0.0);
    for _ in 0..200 {
        let mut scores: Vec<f32> = (0..classes).map(|_| chance.normal()).collect();
        scores[0] += skill;
        let sum: f32 = scores.iter().map(|s| s.exp()).sum();
        let best = scores.iter().skip(1).all(|s| *s < scores[0]);
        loss -= weight * f64::from(scores[0].exp() / sum).ln() / 200.0;
        right += f64::from(u8::from(best)) / 200.0;
    }
    (loss, right)
}

#[test]
fn no_honest_classifier_contradicts_itself() {
    for (units, classes, activation, loss) in [
        (1, 2, "sigmoid", "binary_crossentropy"),
        (2, 2, "softmax", "categorical_crossentropy"),
        (10, 10, "softmax", "sparse_categorical_crossentropy"),
    ] {
        for seed in 0..SEEDS {
            for gain in [-0.5, 0.0, 0.3, 2.0] {
                let mut chance = Chance(seed);
                let loss = format!("\"{loss}\"");
                let mut program = Program::new(Some(&keras(units, activation, &loss)));
                for epoch in 0..12 {
                    let skill = gain * epoch as f32;
                    for (part, weight) in [("epoch_", 0.3), ("validation/epoch_", 1.0)] {
                        let (loss, accuracy) = classified(&mut chance, classes, skill, weight);
                        program.scalar(epoch, &format!("{part}loss"), loss);
                        program.scalar(epoch, &format!("{part}accuracy"), accuracy);
                    }
                }
                let findings = program.findings();
                assert_eq!(
                    severity(&findings, "loss_contradiction"),
                    None,
                    "{findings:?}"
                );
            }
        }
    }
}

#[test]
fn a_loss_that_does_not_fit_its_accuracy_is_found() {
    let judge = |loss: &str, units: u64, values: fn(f64) -> (f64, f64)| {
        let mut program = Program::new(Some(&keras(units, "sigmoid", loss)));
        for epoch in 0..8 {
            let (loss, accuracy) = values(epoch as f64);
            program.scalar(epoch, "epoch_loss", loss);
            program.scalar(epoch, "epoch_acc", accuracy);
        }
        severity(&program.findings(), "loss_contradiction")
    };
    let (binary, sparse) = (
        r#""binary_crossentropy""#,
        r#""sparse_categorical_crossentropy""#,
    );
    // All labels are class 0 for the loss, and ten classes for the accuracy.
    let wrong_type: fn(f64) -> (f64, f64) = |t| (0.5 * (-t).exp(), 0.1);
    assert_eq!(judge(sparse, 10, wrong_type), Some(Severity::Warning));
    assert_eq!(judge(binary, 1, wrong_type), Some(Severity::Warning));
    // Ten classes for one sigmoid.
    let below: fn(f64) -> (f64, f64) = |t| (-1e3 * t, 0.1);
    assert_eq!(judge(binary, 1, below), Some(Severity::Error));
    assert_eq!(judge(binary, 5, below), Some(Severity::Error));
    // Other losses are not bounded.
    for loss in [r#""mse""#, r#""my_own""#] {
        assert_eq!(judge(loss, 1, below), None);
        assert_eq!(judge(loss, 1, wrong_type), None);
    }
    // The mean over several units, and smoothed labels, have other bounds.
    assert_eq!(judge(binary, 5, wrong_type), None);
    let smooth = r#"{"class_name": "BinaryCrossentropy", "config": {"label_smoothing": 0.1}}"#;
    assert_eq!(judge(smooth, 1, wrong_type), None);
    // Rounding around 0.
    assert_eq!(judge(binary, 1, |_| (-1e-7, 1.0)), None);
}

#[test]
fn a_loss_that_never_moves_is_found() {
    for (tag, points, value, expected) in [
        ("epoch_loss", 3, (|_| 7.5) as fn(i64) -> f64, true),
        ("loss", 20, |_| 0.517_25, true),
        ("loss", 19, |_| 0.517_25, false),
        ("epoch_loss", 2, |_| 7.5, false),
        ("epoch_loss", 12, |t| 7.5 + 1e-4 * t as f64, false),
        // A hinge loss that stays 0, and a loss that converges.
        ("epoch_loss", 12, |_| 0.0, false),
        ("loss", 60, |t| (-(t as f64)).exp().max(1e-3), false),
    ] {
        let mut program = Program::new(None);
        for step in 0..points {
            program.scalar(step, tag, value(step));
        }
        let found = severity(&program.findings(), "constant_loss");
        assert_eq!(
            found,
            expected.then_some(Severity::Warning),
            "{tag} {points}"
        );
    }
    // A part of a loss may be constant.
    let mut program = Program::new(None);
    for step in 0..50 {
        program.scalar(step, "loss", 1.0 / (step + 1) as f64);
        program.scalar(step, "loss/weight/decay", 3.0);
    }
    assert_eq!(severity(&program.findings(), "constant_loss"), None);
}
