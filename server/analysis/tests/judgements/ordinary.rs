//! Families of ordinary trainings without problems, and faults in them that must still be found.

use trainscope_format::tensor::DType;

use super::recording::{Recording, alarms, at, first};

/// A language model with a number of blocks, each with scores, a softmax over them and a layer after it, at a step:
/// the upper triangle of scores is masked with this element.
fn attend(
    recording: &mut Recording,
    step: i64,
    blocks: u64,
    mask: f64,
    broken: Option<(i64, u64)>,
) {
    let masked = |place: u64, value: f64| {
        let (query, key) = (place / 4 % 4, place % 4);
        if key > query { mask } else { value }
    };
    for block in 0..blocks {
        let is_broken = broken.is_some_and(|b| step >= b.0 && block >= b.1);
        let weight = format!("weight/blocks.{block}.proj.weight");
        recording.tensor((0, step), &weight, &[8, 8], |i| {
            at(block, 0, i) + 0.01 * step as f64 * at(block, 1, i)
        });
        let scores = format!("activation/blocks.{block}.scores");
        recording.tensor((0, step), &scores, &[2, 4, 4], |i| {
            masked(i, at(block, step, i))
        });
        let proj = format!("activation/blocks.{block}.proj");
        recording.tensor((0, step), &proj, &[2, 4, 8], |i| {
            if is_broken {
                f64::NAN
            } else {
                at(9 + block, step, i)
            }
        });
    }
    let loss = if broken.is_some_and(|b| step >= b.0) {
        f64::NAN
    } else {
        3.0 * (-0.02 * step as f64).exp()
    };
    recording.scalar(step, "loss", loss);
}

fn model(blocks: u64) -> String {
    let mut lines = String::from("Gpt(\n  (blocks): ModuleList(\n");
    for block in 0..blocks {
        lines.extend([
            format!("    ({block}): Block(\n"),
            "      (scores): Scores()\n      (proj): Linear()\n    )\n".to_owned(),
        ]);
    }
    lines + "  )\n)"
}

#[test]
fn causal_masks_of_any_number_of_blocks_are_masks() {
    for blocks in 1..=5 {
        for has_buffer in [false, true] {
            let mut recording = Recording::of(&model(blocks));
            for step in 0..12 {
                if has_buffer {
                    recording.tensor((0, step), "buffer/mask", &[4, 4], |i| {
                        if i % 4 > i / 4 {
                            f64::NEG_INFINITY
                        } else {
                            0.0
                        }
                    });
                }
                attend(&mut recording, step, blocks, f64::NEG_INFINITY, None);
            }
            assert_eq!(alarms(&recording.judge()), [""; 0], "{blocks}");
        }
    }
}

#[test]
fn an_overflow_among_masks_is_named_and_they_are_not() {
    for blocks in 2..=4 {
        for from in 0..blocks {
            let mut recording = Recording::of(&model(blocks));
            for step in 0..12 {
                attend(
                    &mut recording,
                    step,
                    blocks,
                    f64::NEG_INFINITY,
                    Some((6, from)),
                );
            }
            let findings = recording.judge();
            let cause = format!("tensor_overflow 6 activation/blocks.{from}.proj");
            assert_eq!(first(&findings), cause);
            let masks = alarms(&findings);
            assert!(!masks.iter().any(|a| a.contains("scores")), "{masks:?}");
        }
    }
}

#[test]
fn minus_infinity_that_makes_the_rest_nan_is_no_mask() {
    let mut recording = Recording::of(&model(2));
    for step in 0..12 {
        attend(&mut recording, step, 2, f64::NEG_INFINITY, Some((0, 1)));
    }
    let findings = recording.judge();
    assert_eq!(
        first(&findings),
        "tensor_overflow 0 activation/blocks.0.scores"
    );
}

#[test]
fn masks_of_the_least_number_of_a_type_are_no_near_overflow() {
    for blocks in 1..=3 {
        let mut recording = Recording::of(&model(blocks));
        for step in 0..6 {
            attend(&mut recording, step, blocks, f64::from(f32::MIN), None);
            for (name, dtype, least) in [
                ("activation/half", DType::F16, 0xfbff_u16),
                ("activation/brain", DType::Bf16, 0xff7f),
            ] {
                let bytes = [0x3c00_u16, 0x3800, least].map(u16::to_le_bytes).concat();
                recording.elements((0, step), name, (dtype, &[3]), &bytes);
            }
        }
        assert_eq!(alarms(&recording.judge()), [""; 0], "{blocks}");
    }
    let mut recording = Recording::of(&model(1));
    for step in 0..6 {
        // The next smaller number is a computed one.
        attend(&mut recording, step, 1, f64::from(f32::MIN.next_up()), None);
    }
    assert!(alarms(&recording.judge())[0].starts_with("near_overflow"));
}

#[test]
fn losses_of_reinforcement_learning_may_rise_and_change_sign() {
    for seed in 0..40 {
        let mut policy = Recording::of("");
        policy.curve("loss/policy", 300, |s| {
            -0.1 + (1.0 + s as f64 / 100.0) * at(seed, s, 0)
        });
        assert_eq!(alarms(&policy.judge()), [""; 0], "{seed}");
        let mut plain = Recording::of("");
        plain.curve("loss", 300, |s| at(seed, s, 0) - 0.3 * at(seed, s, 1));
        assert_eq!(alarms(&plain.judge()), [""; 0], "{seed}");
        let mut values = Recording::of("");
        values.curve("train/episode_reward", 300, |s| s as f64);
        values.curve("loss", 300, |s| {
            0.01 + 0.00001 * (s * s) as f64 * (1.2 + at(seed, s, 2))
        });
        assert_eq!(alarms(&values.judge()), [""; 0], "{seed}");
        let mut temporal = Recording::of("");
        temporal.curve("loss/td", 300, |s| {
            0.01 + 0.001 * s as f64 * (1.1 + at(seed, s, 3))
        });
        temporal.curve("loss/entropy", 300, |s| -1.4 * (-0.02 * s as f64).exp());
        temporal.curve("loss/kl", 300, |s| 5.0 * (1.0 - (-0.05 * s as f64).exp()));
        assert_eq!(alarms(&temporal.judge()), [""; 0], "{seed}");
    }
}

#[test]
fn a_loss_below_zero_that_climbs_for_good_diverges() {
    for seed in 0..20 {
        let mut recording = Recording::of("");
        // A negative log-likelihood of densities: -3 at its best, then 40.
        recording.curve("loss", 120, |s| {
            let x = s as f64;
            let noise = 0.05 * at(seed, s, 0);
            if s < 60 {
                1.0 - x / 15.0 + noise
            } else {
                -3.0 + (x - 60.0).powi(2) / 80.0 + noise
            }
        });
        let hits = alarms(&recording.judge());
        assert!(hits[0].starts_with("loss_divergence"), "{hits:?}");
    }
}

#[test]
fn a_loss_below_zero_that_loses_its_progress_diverges() {
    let alarms_of = |seed: u64, tag: &str, is_lost: bool| {
        let mut recording = Recording::of("");
        // A flow of densities: from 2 to -4, and back to 0 in which it stays.
        recording.curve(tag, 200, |s| {
            let x = s as f64;
            let fallen = 2.0 - 6.0 * (1.0 - (-x / 20.0).exp());
            let lost = 4.0 * (1.0 - (-(x - 120.0) / 10.0).exp());
            fallen + f64::from(is_lost && s >= 120) * lost + 0.05 * at(seed, s, 0)
        });
        alarms(&recording.judge())
    };
    for seed in 0..20 {
        let hits = alarms_of(seed, "loss", true);
        assert!(
            hits.iter().any(|hit| hit.starts_with("loss_divergence")),
            "{hits:?}"
        );
        assert_eq!(alarms_of(seed, "loss", false), [""; 0], "{seed}");
        assert_eq!(alarms_of(seed, "loss/policy", true), [""; 0], "{seed}");
    }
}

#[test]
fn a_value_loss_that_explodes_is_a_fault_all_the_same() {
    let mut recording = Recording::of("");
    recording.curve("loss/critic", 100, |s| {
        0.5 * 1.3_f64.powi(i32::try_from(s).unwrap_or(0))
    });
    assert!(alarms(&recording.judge())[0].starts_with("loss_divergence"));
}

#[test]
fn gradients_of_zeros_are_right_where_a_hinge_loss_has_come_to_zero() {
    let train = |zero_from: i64, loss_from: i64| {
        let mut recording = Recording::of("Net(\n  (fc): Linear()\n)");
        for step in 0..25 {
            let is_zero = step >= zero_from;
            recording.tensor((0, step), "weight/fc.weight", &[4, 4], |i| {
                at(1, 0, i) + 0.1 * step.min(zero_from) as f64
            });
            recording.tensor((0, step), "grad/fc.weight", &[4, 4], |i| {
                if is_zero { 0.0 } else { at(2, step, i) }
            });
            let loss = if step >= loss_from {
                0.0
            } else {
                1.0 / (step + 1) as f64
            };
            recording.scalar(step, "loss", loss);
        }
        alarms(&recording.judge())
    };
    assert_eq!(train(3, 3), [""; 0]);
    assert!(train(3, 25)[0].starts_with("tensor_all_zero"));
    // A loss that is 0 from the start was never computed.
    assert!(train(0, 0)[0].starts_with("tensor_all_zero"));
}

#[test]
fn frozen_weights_are_one_note() {
    for frozen in 1..4_u64 {
        for has_gradients in [false, true] {
            let mut recording = Recording::of("");
            for step in 0..10 {
                for layer in 0..5 {
                    let moves = if layer < frozen {
                        0.0
                    } else {
                        0.01 * step as f64
                    };
                    let name = format!("weight/l{layer}.weight");
                    recording.tensor((0, step), &name, &[4, 4], |i| {
                        at(layer, 0, i) + moves * at(layer, 1, i)
                    });
                    if has_gradients && layer >= frozen {
                        let name = format!("grad/l{layer}.weight");
                        recording.tensor((0, step), &name, &[4, 4], |i| at(layer, step, i));
                    }
                }
                recording.scalar(step, "loss", 1.0 / (step + 1) as f64);
            }
            let findings = recording.judge();
            assert_eq!(alarms(&findings), [""; 0]);
            let mut notes = findings
                .hits
                .iter()
                .filter(|h| h.condition.id == "frozen_weights");
            let note = notes
                .next()
                .map(|h| h.sentence.en.clone())
                .unwrap_or_default();
            assert!(note.starts_with(&format!("{frozen} of 5 weight")), "{note}");
            assert_eq!(notes.next(), None);
        }
    }
}

#[test]
fn eight_bit_floats_reach_their_largest_number_by_design() {
    let mut recording = Recording::of("");
    for step in 0..6 {
        let bytes = [0x7e, 0x08, 0x10];
        recording.elements((0, step), "activation/x", (DType::F8E4m3, &[3]), &bytes);
    }
    assert_eq!(alarms(&recording.judge()), [""; 0]);
}
