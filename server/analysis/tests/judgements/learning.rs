//! Families of trainings that do not learn, that unlearn, or that get unsuitable data, and their healthy neighbours.

use trainscope_analysis::watchpoint::Context;
use trainscope_format::Hparams;
use trainscope_format::hparams::{HparamValue, SessionStart};

use super::recording::{Recording, alarms, at, first};

/// A classifier without an accuracy: its outputs of this shape, and its loss by step.
fn classifier(shape: &[u64], steps: i64, loss: impl Fn(i64) -> f64) -> Recording {
    let mut recording = Recording::of("Net(\n  (fc): Linear()\n  (head): Linear()\n)");
    for step in (0..steps).step_by(20) {
        recording.tensor((0, step), "activation/fc", &[8, 6], |i| at(1, step, i));
        recording.tensor((0, step), "activation/head", shape, |i| at(2, step, i));
    }
    recording.curve("loss", steps, loss);
    recording
}

#[test]
fn a_loss_that_stays_where_guessing_puts_it_is_found_without_an_accuracy() {
    for (shape, classes) in [
        (vec![16, 4], 4.0_f64),
        (vec![16, 10], 10.0),
        (vec![4, 12, 40], 40.0),
    ] {
        for seed in 0..20 {
            let flat = classifier(&shape, 300, |s| {
                classes.ln() * (1.0 - 0.00003 * s as f64) + 0.03 * at(seed, s, 0)
            });
            let hits = alarms(&flat.judge());
            assert!(
                hits[0].starts_with("loss_plateau 0 loss"),
                "{classes} {hits:?}"
            );
            // A language that is hard to predict: most is learned in a few steps, and the loss stays high.
            let hard = classifier(&shape, 300, |s| {
                classes.ln() * (0.9 + 0.1 * (-0.1 * s as f64).exp()) + 0.03 * at(seed, s, 0)
            });
            assert_eq!(alarms(&hard.judge()), [""; 0], "{classes}");
            // A regression: its loss starts at another level.
            let other = classifier(&shape, 300, |s| 0.8 * classes.ln() + 0.03 * at(seed, s, 0));
            assert_eq!(alarms(&other.judge()), [""; 0], "{classes}");
        }
    }
}

#[test]
fn a_learning_rate_that_fades_before_anything_is_learned_is_the_cause() {
    for (seed, decay) in (0..20).zip([0.9_f64, 0.95, 0.8, 0.97].into_iter().cycle()) {
        let mut faded = classifier(&[16, 4], 600, |s| 1.386 + 0.02 * at(seed, s, 0));
        faded.curve("lr", 600, |s| 0.1 * decay.powf(s as f64));
        let findings = faded.judge();
        assert!(
            first(&findings).starts_with("learning_rate_range"),
            "{}",
            first(&findings)
        );
        // The same rate of a training that has learned by then, and a rate that decays at the end.
        let mut learned = classifier(&[16, 4], 600, |s| {
            1.386 * (-0.05 * s as f64).exp() + 0.02 * (1.0 + at(seed, s, 0))
        });
        learned.curve("lr", 600, |s| 0.1 * decay.powf(s as f64));
        assert_eq!(alarms(&learned.judge()), [""; 0]);
        let mut cosine = Recording::of("");
        cosine.curve("loss", 600, |s| {
            1.4 - 0.001 * s as f64 + 0.02 * at(seed, s, 0)
        });
        cosine.curve("lr", 600, |s| {
            0.05 * (1.0 + (s as f64 * std::f64::consts::PI / 600.0).cos())
        });
        assert_eq!(alarms(&cosine.judge()), [""; 0]);
    }
}

#[test]
fn a_learning_rate_of_one_group_may_be_zero() {
    let mut recording = classifier(&[16, 4], 300, |s| 1.386 - 0.001 * s as f64);
    recording.curve("lr/backbone", 300, |_| 0.0);
    recording.curve("lr/head", 300, |_| 1e-3);
    assert_eq!(alarms(&recording.judge()), [""; 0]);
}

#[test]
fn implausible_learning_rates_are_the_first_cause_of_what_follows() {
    for rate in [1e5, 1e8, 1e14, -1.0] {
        let diverging = |step: i64| if step < 2 { 1.0 } else { f64::NAN };
        let mut recorded = Recording::of("");
        recorded.curve("loss", 12, diverging);
        recorded.curve("train/lr", 12, |_| rate);
        assert_eq!(first(&recorded.judge()), "learning_rate_range 0 train/lr");
        let mut setting = Recording::of("");
        setting.curve("loss", 12, diverging);
        setting.context(Context::Hparams(&Hparams::SessionStart(SessionStart {
            values: vec![("learning_rate".into(), HparamValue::Number(rate))],
            ..SessionStart::default()
        })));
        assert_eq!(
            first(&setting.judge()),
            "learning_rate_range 0 learning_rate"
        );
    }
    // Layer-wise rates of large batches, and a rate of 30 that does no harm.
    for rate in [1e-5, 0.1, 3.0, 30.0] {
        let mut recording = Recording::of("");
        recording.curve("loss", 60, |s| 2.0 * (-0.05 * s as f64).exp());
        recording.curve("lr", 60, |_| rate);
        assert_eq!(alarms(&recording.judge()), [""; 0], "{rate}");
    }
}

#[test]
fn a_training_that_loses_what_it_had_learned_diverges() {
    for seed in 0..20 {
        let noise = |s: i64| 1.0 + 0.05 * at(seed, s, 0);
        let mut lost = Recording::of("");
        lost.curve("loss", 40, |s| {
            let x = s as f64;
            noise(s)
                * if s < 12 {
                    0.33 * (-0.17 * x).exp() + 0.01
                } else {
                    0.05 + 0.012 * (x - 11.0)
                }
        });
        let hits = alarms(&lost.judge());
        assert!(hits[0].starts_with("loss_divergence"), "{hits:?}");
        // Noise about a level, a warm restart, and harder data that are being learned.
        let mut level = Recording::of("");
        level.curve("loss", 60, |s| {
            (0.5 * (-0.2 * s as f64).exp() + 0.1) * (1.0 + 0.4 * at(seed, s, 1))
        });
        assert_eq!(alarms(&level.judge()), [""; 0]);
        let mut restart = Recording::of("");
        restart.curve(
            "loss",
            40,
            |s| if s < 34 { 1.0 / (1 + s) as f64 } else { 0.6 } * noise(s),
        );
        restart.curve(
            "lr",
            40,
            |s| if s < 34 { 0.1 / (1 + s) as f64 } else { 0.1 },
        );
        assert_eq!(alarms(&restart.judge()), [""; 0]);
        let mut curriculum = Recording::of("");
        curriculum.curve("loss", 120, |s| {
            noise(s) * (1.0 + 0.05 * (s / 30) as f64) * (-0.08 * (s % 30) as f64).exp()
        });
        assert_eq!(alarms(&curriculum.judge()), [""; 0]);
    }
}

#[test]
fn an_infinite_norm_of_the_gradient_is_the_cause_of_the_loss_after_it() {
    let train = |loss: fn(i64) -> f64| {
        let mut recording = Recording::of("");
        recording.curve("loss", 40, loss);
        recording.curve("grad_norm", 40, |s| {
            if s == 20 {
                f64::INFINITY
            } else {
                1.0 + 0.1 * at(1, s, 0)
            }
        });
        recording.judge()
    };
    let broken = train(|s| if s > 20 { f64::NAN } else { 1.0 });
    assert_eq!(first(&broken), "gradient_exploding 20 grad_norm");
    let skipped = train(|s| 1.0 / (1 + s) as f64);
    assert_eq!(alarms(&skipped), [""; 0]);
    assert!(
        skipped
            .hits
            .iter()
            .any(|h| h.condition.id == "gradient_exploding")
    );
}

#[test]
fn a_norm_of_few_points_has_to_stand_out_by_a_thousand() {
    let train = |norms: [f64; 4]| {
        let mut recording = Recording::of("");
        for (step, norm) in (0..).zip(norms) {
            recording.scalar(step, "grad_norm", norm);
            recording.scalar(step, "loss", if norm > 1e4 { 1e9 } else { 1.0 });
        }
        recording.scalar(4, "loss", f64::NAN);
        alarms(&recording.judge())
    };
    assert!(
        train([0.4, 8.4, 3e8, 4e8])
            .iter()
            .any(|a| a.starts_with("exploding_norm 2"))
    );
    assert!(
        !train([0.4, 8.4, 400.0, 4.0])
            .iter()
            .any(|a| a.starts_with("exploding_norm"))
    );
}

/// A model of numbered layers whose first passes the input on.
fn numbered(first: &str, input: impl Fn(i64, u64) -> f64, dead: bool) -> Recording {
    let model = format!(
        "Sequential(\n  (0): {first}()\n  (1): Linear()\n  (2): ReLU()\n  (3): Linear()\n)"
    );
    let mut recording = Recording::of(&model);
    recording.context(Context::ExecutionOrder(&["0", "1", "2", "3"]));
    for step in 0..12 {
        for layer in ["1", "3"] {
            recording.tensor((0, step), &format!("weight/{layer}.weight"), &[6, 6], |i| {
                0.3 * at(3, 0, i) + 0.01 * step as f64 * at(4, 1, i)
            });
        }
        recording.tensor((0, step), "activation/0", &[8, 6], |i| input(step, i));
        recording.tensor((0, step), "activation/1", &[8, 6], |i| at(5, step, i));
        recording.tensor((0, step), "activation/2", &[8, 6], |i| {
            if dead { 0.0 } else { at(6, step, i).max(0.0) }
        });
        recording.tensor((0, step), "activation/3", &[8, 6], |i| at(7, step, i));
        recording.scalar(step, "loss", 1.0 / (1 + step) as f64);
    }
    recording
}

#[test]
fn inputs_are_known_by_their_place() {
    for layer in ["Identity", "Flatten", "Dropout", "Reshape"] {
        let cause = |recording: Recording| first(&recording.judge());
        let huge = numbered(layer, |s, i| 8e5 * at(1, s, i), false);
        assert_eq!(cause(huge), "input_range 0 activation/0", "{layer}");
        let constant = numbered(layer, |_, _| 0.3, false);
        assert_eq!(cause(constant), "input_range 0 activation/0", "{layer}");
        // Values of some tens are a fault if the next layer dies of them.
        let wide = |dead| numbered(layer, |s, i| 90.0 * at(1, s, i), dead);
        assert_eq!(alarms(&wide(false).judge()), [""; 0]);
        assert_eq!(cause(wide(true)), "input_range 0 activation/0", "{layer}");
        let usual = numbered(layer, |s, i| at(1, s, i), false);
        assert_eq!(alarms(&usual.judge()), [""; 0]);
    }
    let linear = numbered("Linear", |s, i| 8e5 * at(1, s, i), false);
    assert_eq!(alarms(&linear.judge()), [""; 0]);
}

#[test]
fn a_batch_that_never_changes_is_a_note() {
    let repeated = numbered("Identity", |_, i| at(1, 0, i), false).judge();
    let note = repeated
        .hits
        .iter()
        .find(|h| h.condition.id == "repeated_batch");
    assert_eq!(note.map(|h| &*h.tensor), Some("activation/0"));
    assert_eq!(alarms(&repeated), [""; 0]);
    let other = numbered("Identity", |s, i| at(1, s / 2, i), false).judge();
    assert!(
        !other
            .hits
            .iter()
            .any(|h| h.condition.id == "repeated_batch")
    );
}

#[test]
fn gradients_that_differ_before_weights_part_are_named() {
    let train = |is_averaged: bool, parts_at: i64| {
        let mut recording = Recording::of("Net(\n  (fc): Linear()\n)");
        for step in 0..8 {
            for rank in 0..2 {
                let parted = u64::from(rank == 1 && step > parts_at);
                let local = u64::from(rank == 1 && (!is_averaged || step >= parts_at));
                recording.tensor((rank, step), "weight/fc.weight", &[4, 4], |i| {
                    at(1 + parted, step, i)
                });
                recording.tensor((rank, step), "grad/fc.weight", &[4, 4], |i| {
                    at(11 + local, step, i)
                });
            }
        }
        first(&recording.judge())
    };
    assert_eq!(train(false, 0), "rank_divergence 0 grad/fc.weight");
    assert_eq!(train(false, 3), "rank_divergence 3 grad/fc.weight");
    assert_eq!(train(true, 5), "rank_divergence 5 grad/fc.weight");
    // Gradients from before the average differ, and the weights stay equal.
    assert_eq!(train(false, 100), "");
}

#[test]
fn large_updates_are_a_fault_only_after_the_loss_has_stopped_to_fall() {
    let mut recording = Recording::of("Net(\n  (fc): Linear()\n)");
    for step in 0..24 {
        recording.tensor((0, step), "weight/fc.weight", &[6, 6], |i| at(1, step, i));
        let loss = if step < 12 {
            2.0 * (-0.2 * step as f64).exp()
        } else {
            0.2 * (step - 10) as f64
        };
        recording.scalar(step, "loss", loss);
    }
    let findings = recording.judge();
    let mut large = findings
        .hits
        .iter()
        .filter(|h| h.condition.id == "update_ratio");
    assert!(large.all(|h| h.step > 10), "{:?}", alarms(&findings));
}
