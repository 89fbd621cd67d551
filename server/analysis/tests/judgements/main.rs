//! Each judgement over a whole run: a healthy training has no alarm, and one change in it raises exactly the alarm
//! about that change.

mod context;
mod first_cause;
mod histograms;
mod learning;
mod ordinary;
mod recording;
mod training;

use training::{Training, WELL, alarms, elements, expect, expect_note, noise, scale};
use trainscope_format::tensor::DType;

#[test]
fn a_training_that_is_well_has_no_alarm() {
    assert_eq!(alarms(&WELL.judge()), [""; 0]);
    assert_eq!(WELL.judge().first_cause, None);
    let two = Training { ranks: 2, ..WELL };
    assert_eq!(alarms(&two.judge()), [""; 0]);
    let half = Training {
        dtype: DType::F16,
        ..WELL
    };
    assert_eq!(alarms(&half.judge()), [""; 0]);
}

#[test]
fn overflows_are_named_where_they_begin() {
    let training = Training {
        tensor: |_, step, name, x| {
            if step >= 5 && name == "activation/fc2" {
                x[3] = f32::NAN;
            }
            let follows = matches!(name, "activation/tanh1" | "activation/head");
            let returns = follows || name.starts_with("grad/");
            if step >= 5 && returns || step >= 6 && name.starts_with("weight/") {
                x.fill(f32::NAN);
            }
        },
        scalar: |step, tag, value| match tag {
            "loss" if step >= 5 => f64::NAN,
            "loss_scale" => f64::NAN,
            _ => value,
        },
        ..WELL
    };
    let findings = training.judge();
    let first = findings
        .first_hit()
        .map(|h| (h.condition.id, h.step, &*h.tensor));
    assert_eq!(first, Some(("tensor_overflow", 5, "activation/fc2")));
    let seen = alarms(&findings);
    for condition in [
        "gradient_exploding",
        "loss_nan",
        "tensor_overflow",
        "weight_overflow",
    ] {
        assert!(seen.contains(&condition), "{condition}");
    }
    let cause = findings
        .first_cause
        .as_ref()
        .map(|c| c.sentence.en.as_str());
    assert!(cause.is_some_and(|s| s.contains("all earlier tensors of this step are finite")));
}

#[test]
fn a_mask_and_a_skipped_step_are_no_overflow() {
    let masked = Training {
        tensor: |_, _, name, x| {
            if name == "activation/scores" {
                x[1] = f32::NEG_INFINITY;
            }
        },
        ..WELL
    };
    assert_eq!(alarms(&masked.judge()), [""; 0]);
    let skipped = Training {
        tensor: |_, step, name, x| {
            if step < 2 && name.starts_with("grad/") {
                x[0] = f32::INFINITY;
            }
        },
        scalar: |step, tag, value| match tag {
            "loss_scale" => 65_536.0 / [1.0, 2.0, 4.0][usize::try_from(step.min(2)).unwrap_or(0)],
            _ => value,
        },
        ..WELL
    };
    assert_eq!(alarms(&skipped.judge()), [""; 0]);
}

#[test]
fn weights_that_stand_still_are_told_from_those_that_are_meant_to() {
    let still: fn(u32, i64, &str, &mut Vec<f32>) = |_, step, name, x| {
        if step > 4 && name == "weight/fc1.weight" {
            *x = elements(0, 4, name, 32);
        }
    };
    expect(
        "weight_not_changed",
        &Training {
            tensor: still,
            ..WELL
        },
    );
    expect(
        "frozen_but_trainable",
        &Training {
            tensor: still,
            ..WELL
        },
    );
    let frozen = Training {
        tensor: |_, _, name, x| {
            if name == "weight/fc1.weight" {
                *x = elements(0, 0, name, 32);
            } else if name == "grad/fc1.weight" {
                x.clear();
            }
        },
        ..WELL
    };
    assert_eq!(alarms(&frozen.judge()), [""; 0], "it has no gradient");
    let accumulated = Training {
        tensor: |_, step, name, x| {
            if name.starts_with("weight/") {
                *x = elements(0, step / 4 * 4, name, x.len() as u64);
            }
        },
        ..WELL
    };
    assert_eq!(
        alarms(&accumulated.judge()),
        [""; 0],
        "every fourth step counts"
    );
}

#[test]
fn updates_are_too_large_where_they_do_harm() {
    let harm = Training {
        tensor: |_, step, name, x| {
            if step >= 8 && name.starts_with("weight/") {
                scale(x, 10.0 * (step - 7) as f32);
            }
        },
        scalar: |step, tag, value| match tag {
            "loss" if step >= 8 => 40.0 * (step - 7) as f64,
            "loss_scale" => f64::NAN,
            "learning_rate" if step >= 7 => 100.0,
            _ => value,
        },
        ..WELL
    };
    for condition in ["weight_change_too_large", "loss_spike", "loss_divergence"] {
        expect(condition, &harm);
    }
    let findings = harm.judge();
    let first = findings.first_hit().map(|h| (h.condition.id, h.step));
    assert_eq!(first, Some(("learning_rate_jump", 7)));
    let tiny = Training {
        steps: 20,
        tensor: |_, step, name, x| {
            if name.starts_with("weight/") {
                let begun = elements(0, 0, name, x.len() as u64);
                *x = begun
                    .iter()
                    .map(|v| v * (1.0 + 1e-6 * step as f32))
                    .collect();
            }
        },
        scalar: |_, tag, value| match tag {
            "loss" | "val_loss" => 1.1,
            "loss_scale" => f64::NAN,
            _ => value,
        },
        ..WELL
    };
    expect("weight_change_too_small", &tiny);
    let melting = Training {
        tensor: |_, step, name, x| {
            if name.starts_with("weight/") {
                *x = elements(0, 0, name, x.len() as u64);
                scale(x, (-0.35 * step as f32).exp());
            }
        },
        scalar: tiny.scalar,
        ..WELL
    };
    expect("update_ratio", &melting);
}

#[test]
fn gradients_vanish_underflow_explode_and_are_clipped_away() {
    let vanishing = Training {
        tensor: |_, _, name, x| {
            if name == "grad/fc1.weight" {
                scale(x, 1e-10);
            }
        },
        scalar: |_, tag, value| match tag {
            "loss" => 1.1,
            "loss_scale" => f64::NAN,
            _ => value,
        },
        ..WELL
    };
    expect("gradient_vanishing", &vanishing);
    let underflow = Training {
        dtype: DType::F16,
        tensor: |_, _, name, x| {
            if name.starts_with("grad/") {
                scale(x, 2e-4);
            }
        },
        scalar: vanishing.scalar,
        ..WELL
    };
    expect("underflow_fp16", &underflow);
    let exploding = Training {
        scalar: |step, tag, value| match tag {
            "grad_norm" if step == 10 => 60.0,
            "loss" if step == 11 => 20.0,
            "loss_scale" => f64::NAN,
            _ => value,
        },
        ..WELL
    };
    expect("exploding_norm", &exploding);
    let outlier = Training {
        steps: 40,
        scalar: |step, tag, value| match tag {
            "grad_norm" if step == 30 => 4.0,
            "loss_scale" => f64::NAN,
            _ => value,
        },
        ..WELL
    };
    expect_note("grad_norm_zscore", &outlier);
    assert_eq!(alarms(&outlier.judge()), [""; 0]);
    let clipped = Training {
        tensor: |_, _, name, x| {
            if name.starts_with("grad/") {
                scale(x, 1e-5);
            }
        },
        ..WELL
    };
    expect("clip_always", &clipped);
}

#[test]
fn layers_die_saturate_and_collapse() {
    let flat = |_: i64, tag: &str, value: f64| match tag {
        "loss" => 1.1,
        "loss_scale" => f64::NAN,
        _ => value,
    };
    let dead = Training {
        tensor: |_, step, name, x| {
            if step > 3 && name == "activation/relu1" {
                x.fill(0.0);
            }
        },
        ..WELL
    };
    expect("dead_relu", &dead);
    expect("tensor_all_zero", &dead);
    let saturated = Training {
        tensor: |_, _, name, x| {
            if name == "activation/tanh1" {
                for v in x.iter_mut() {
                    *v = v.signum() * 0.9999;
                }
            }
        },
        scalar: flat,
        ..WELL
    };
    expect("saturated_activation", &saturated);
    let collapsed = Training {
        tensor: |_, step, name, x| {
            if step > 5 && name == "activation/softmax" {
                x.iter_mut()
                    .enumerate()
                    .for_each(|(i, v)| *v = f32::from(u8::from(i % 8 == 0)));
            }
        },
        ..WELL
    };
    expect("attention_collapse", &collapsed);
    let near = Training {
        dtype: DType::F16,
        tensor: |_, step, name, x| {
            if step == 9 && name == "activation/fc1" {
                x[0] = 40_000.0;
            }
        },
        ..WELL
    };
    expect("near_overflow", &near);
}

#[test]
fn beginnings_are_judged_where_a_training_begins() {
    let begun = |name: &str, with: f32| -> Vec<f32> {
        elements(0, 0, name, 64).iter().map(|v| v * with).collect()
    };
    let huge: fn(u32, i64, &str, &mut Vec<f32>) = |_, _, name, x| {
        if name == "weight/fc2.weight" {
            scale(x, 40.0);
        }
    };
    assert!(begun("weight/fc2.weight", 40.0).iter().any(|v| *v > 10.0));
    expect(
        "bad_initialization",
        &Training {
            tensor: huge,
            ..WELL
        },
    );
    let equal = Training {
        tensor: |_, step, name, x| {
            if step == 0 && name == "weight/fc2.weight" {
                x.fill(0.1);
            }
        },
        ..WELL
    };
    expect("bad_initialization", &equal);
    let certain = Training {
        scalar: |_, tag, value| match tag {
            "loss" => 40.0 * value,
            "loss_scale" => f64::NAN,
            _ => value,
        },
        ..WELL
    };
    expect("initial_loss", &certain);
}

#[test]
fn data_are_judged_by_what_they_do() {
    let wide = Training {
        tensor: |_, _, name, x| {
            if name == "activation/input" {
                scale(x, 255.0);
            }
        },
        scalar: |_, tag, value| match tag {
            "loss" => 30.0,
            "loss_scale" => f64::NAN,
            _ => value,
        },
        ..WELL
    };
    expect("input_range", &wide);
    let harmless = Training {
        scalar: WELL.scalar,
        ..wide
    };
    assert_eq!(alarms(&harmless.judge()), [""; 0], "it learns all the same");
    let constant = Training {
        tensor: |_, _, name, x| {
            if name == "activation/input" {
                x.fill(0.0);
            }
        },
        ..WELL
    };
    expect("tensor_all_zero", &constant);
    let imbalanced = Training {
        tensor: |_, _, name, x| {
            if name == "target" {
                x.fill(1.0);
            }
        },
        ..WELL
    };
    expect("class_imbalance", &imbalanced);
}

#[test]
fn the_loss_is_flat_learned_by_heart_or_measured_in_another_way() {
    let flat = Training {
        steps: 200,
        scalar: |step, tag, value| match tag {
            "loss" => 1.0986 + 0.02 * f64::from(noise(step.unsigned_abs())),
            "loss_scale" => f64::NAN,
            _ => value,
        },
        ..WELL
    };
    expect("loss_plateau", &flat);
    let by_heart = Training {
        steps: 60,
        scalar: |step, tag, value| match tag {
            "val_loss" if step % 5 != 4 => f64::NAN,
            "val_loss" => 0.9 + 0.06 * step as f64,
            "loss_scale" => f64::NAN,
            _ => value,
        },
        ..WELL
    };
    expect("overfit", &by_heart);
    let unfollowed = Training {
        tensor: |_, _, name, x| {
            if name.starts_with("buffer/") {
                x.fill(0.0);
            }
        },
        ..WELL
    };
    expect("batchnorm_drift", &unfollowed);
    let thrashing = Training {
        steps: 30,
        scalar: |step, tag, value| match tag {
            "loss_scale" => [65_536.0, 131_072.0, 65_536.0][usize::try_from(step % 3).unwrap_or(0)],
            _ => value,
        },
        ..WELL
    };
    expect("lossscale_thrash", &thrashing);
}

#[test]
fn ranks_that_part_are_named_with_the_first_that_differs() {
    let parted = Training {
        ranks: 2,
        tensor: |rank, step, name, x| {
            if rank == 1 && step >= 6 && name == "weight/head.weight" {
                x[2] = x[2].next_up();
            }
        },
        ..WELL
    };
    let findings = parted.judge();
    let first = findings
        .first_hit()
        .map(|h| (h.condition.id, h.step, h.rank, &*h.tensor));
    assert_eq!(first, Some(("rank_divergence", 6, 1, "weight/head.weight")));
    expect_note("silent_corruption", &parted);
}
