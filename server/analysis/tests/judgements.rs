//! Each judgement over a whole run: a healthy training has no alarm, and one change in it raises exactly the alarm
//! about that change.

mod context;
mod first_cause;
mod histograms;
mod learning;
mod ordinary;
mod profiles;
mod recording;
mod sound;
mod training;

use training::{Training, WELL, alarms, elements, expect, expect_note, noise, scale};
use trainscope_format::tensor::DType;

#[test]
fn a_training_that_is_well_has_no_alarm() {
    assert_eq!(alarms(&WELL.judge()), [""; 0]);
    assert_eq!(WELL.judge().first_cause, None);
    let two = Training { ranks: 2, ..WELL };
    assert_eq!(alarms(&two.judge()), [""; 0]);
    let half = WELL.of(DType::F16);
    assert_eq!(alarms(&half.judge()), [""; 0]);
}

#[test]
fn overflows_are_named_where_they_begin() {
    let training = WELL
        .tensors(|_, step, name, x| {
            if step >= 5 && name == "activation/fc2" {
                x[3] = f32::NAN;
            }
            let follows = matches!(name, "activation/tanh1" | "activation/head");
            let returns = follows || name.starts_with("grad/");
            if step >= 5 && returns || step >= 6 && name.starts_with("weight/") {
                x.fill(f32::NAN);
            }
        })
        .scalars(|step, tag, value| match tag {
            "loss" if step >= 5 => f64::NAN,
            _ => value,
        });
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
    let masked = WELL.tensors(|_, _, name, x| {
        if name == "activation/scores" {
            x[1] = f32::NEG_INFINITY;
        }
    });
    assert_eq!(alarms(&masked.judge()), [""; 0]);
    let skipped = WELL
        .tensors(|_, step, name, x| {
            if step < 2 && name.starts_with("grad/") {
                x[0] = f32::INFINITY;
            }
        })
        .scalars(|step, tag, value| match tag {
            "loss_scale" => 65_536.0 / [1.0, 2.0, 4.0][usize::try_from(step.min(2)).unwrap_or(0)],
            _ => value,
        });
    assert_eq!(alarms(&skipped.judge()), [""; 0]);
    // A norm at a step whose tensors were not recorded: the weights of later steps show that it was not applied.
    let between = WELL.scalars(|step, tag, value| match tag {
        "grad_norm" if step == 5 => f64::INFINITY,
        _ => value,
    });
    assert_eq!(alarms(&between.judge()), [""; 0]);
    let applied = between.tensors(|_, step, name, x| {
        if step > 5 && name == "weight/fc1.weight" {
            x[0] = f32::NEG_INFINITY;
        }
    });
    expect("gradient_exploding", &applied);
}

#[test]
fn weights_that_stand_still_are_told_from_those_that_are_meant_to() {
    let still: fn(u32, i64, &str, &mut Vec<f32>) = |_, step, name, x| {
        if step > 4 && name == "weight/fc1.weight" {
            *x = elements(0, 4, name, 32);
        }
    };
    expect("weight_not_changed", &WELL.tensors(still));
    expect("frozen_but_trainable", &WELL.tensors(still));
    let frozen = WELL.tensors(|_, _, name, x| {
        if name == "weight/fc1.weight" {
            *x = elements(0, 0, name, 32);
        } else if name == "grad/fc1.weight" {
            x.clear();
        }
    });
    assert_eq!(alarms(&frozen.judge()), [""; 0], "it has no gradient");
    let accumulated = WELL.tensors(|_, step, name, x| {
        if name.starts_with("weight/") {
            *x = elements(0, step / 4 * 4, name, x.len() as u64);
        }
    });
    assert_eq!(
        alarms(&accumulated.judge()),
        [""; 0],
        "every fourth step counts"
    );
}

#[test]
fn updates_are_too_large_where_they_do_harm() {
    let harm = WELL
        .tensors(|_, step, name, x| {
            if step >= 8 && name.starts_with("weight/") {
                scale(x, 10.0 * (step - 7) as f32);
            }
        })
        .scalars(|step, tag, value| match tag {
            "loss" if step >= 8 => 40.0 * (step - 7) as f64,
            "learning_rate" if step >= 7 => 100.0,
            _ => value,
        });
    for condition in ["weight_change_too_large", "loss_spike", "loss_divergence"] {
        expect(condition, &harm);
    }
    let findings = harm.judge();
    let first = findings.first_hit().map(|h| (h.condition.id, h.step));
    assert_eq!(first, Some(("learning_rate_jump", 7)));
    let tiny = WELL
        .steps(20)
        .tensors(|_, step, name, x| {
            if name.starts_with("weight/") {
                let begun = elements(0, 0, name, x.len() as u64);
                *x = begun
                    .iter()
                    .map(|v| v * (1.0 + 1e-6 * step as f32))
                    .collect();
            }
        })
        .scalars(|_, tag, value| match tag {
            "loss" | "val_loss" => 1.1,
            _ => value,
        });
    expect("weight_change_too_small", &tiny);
    let melting = WELL
        .tensors(|_, step, name, x| {
            if name.starts_with("weight/") {
                *x = elements(0, 0, name, x.len() as u64);
                scale(x, (-0.35 * step as f32).exp());
            }
        })
        .scalars(tiny.scalar);
    expect("update_ratio", &melting);
}

#[test]
fn gradients_vanish_underflow_explode_and_are_clipped_away() {
    let vanishing = WELL
        .tensors(|_, _, name, x| {
            if name == "grad/fc1.weight" {
                scale(x, 1e-10);
            }
        })
        .scalars(|_, tag, value| match tag {
            "loss" => 1.1,
            _ => value,
        });
    expect("gradient_vanishing", &vanishing);
    let underflow = WELL
        .of(DType::F16)
        .tensors(|_, _, name, x| {
            if name.starts_with("grad/") {
                scale(x, 2e-4);
            }
        })
        .scalars(vanishing.scalar);
    expect("underflow_fp16", &underflow);
    let exploding = WELL.scalars(|step, tag, value| match tag {
        "grad_norm" if step == 10 => 60.0,
        "loss" if step == 11 => 20.0,
        _ => value,
    });
    expect("exploding_norm", &exploding);
    let outlier = WELL.steps(40).scalars(|step, tag, value| match tag {
        "grad_norm" if step == 30 => 4.0,
        _ => value,
    });
    expect_note("grad_norm_zscore", &outlier);
    assert_eq!(alarms(&outlier.judge()), [""; 0]);
    let clipped = WELL.tensors(|_, _, name, x| {
        if name.starts_with("grad/") {
            scale(x, 1e-5);
        }
    });
    expect("clip_always", &clipped);
}

#[test]
fn layers_die_saturate_and_collapse() {
    let flat = |_: i64, tag: &str, value: f64| match tag {
        "loss" => 1.1,
        _ => value,
    };
    let dead = WELL.tensors(|_, step, name, x| {
        if step > 3 && name == "activation/relu1" {
            x.fill(0.0);
        }
    });
    expect("dead_relu", &dead);
    expect("tensor_all_zero", &dead);
    let saturated = WELL
        .tensors(|_, _, name, x| {
            if name == "activation/tanh1" {
                for v in x.iter_mut() {
                    *v = v.signum() * 0.9999;
                }
            }
        })
        .scalars(flat);
    expect("saturated_activation", &saturated);
    let collapsed = WELL.tensors(|_, step, name, x| {
        if step > 5 && name == "activation/softmax" {
            x.iter_mut()
                .enumerate()
                .for_each(|(i, v)| *v = f32::from(u8::from(i % 8 == 0)));
        }
    });
    expect("attention_collapse", &collapsed);
    let near = WELL.of(DType::F16).tensors(|_, step, name, x| {
        if step == 9 && name == "activation/fc1" {
            x[0] = 40_000.0;
        }
    });
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
    expect("bad_initialization", &WELL.tensors(huge));
    let equal = WELL.tensors(|_, step, name, x| {
        if step == 0 && name == "weight/fc2.weight" {
            x.fill(0.1);
        }
    });
    expect("bad_initialization", &equal);
    let certain = WELL.scalars(|_, tag, value| match tag {
        "loss" => 40.0 * value,
        _ => value,
    });
    expect("initial_loss", &certain);
}

#[test]
fn data_are_judged_by_what_they_do() {
    let wide = WELL
        .tensors(|_, _, name, x| {
            if name == "activation/input" {
                scale(x, 255.0);
            }
        })
        .scalars(|_, tag, value| match tag {
            "loss" => 30.0,
            _ => value,
        });
    expect("input_range", &wide);
    let harmless = wide.scalars(WELL.scalar);
    assert_eq!(alarms(&harmless.judge()), [""; 0], "it still learns");
    let constant = WELL.tensors(|_, _, name, x| {
        if name == "activation/input" {
            x.fill(0.0);
        }
    });
    expect("tensor_all_zero", &constant);
    let imbalanced = WELL.tensors(|_, _, name, x| {
        if name == "target" {
            x.fill(1.0);
        }
    });
    expect("class_imbalance", &imbalanced);
}

#[test]
fn the_loss_is_flat_learned_by_heart_or_measured_in_another_way() {
    let flat = WELL.steps(200).scalars(|step, tag, value| match tag {
        "loss" => 1.0986 + 0.02 * f64::from(noise(step.unsigned_abs())),
        _ => value,
    });
    expect("loss_plateau", &flat);
    let by_heart = WELL.steps(60).scalars(|step, tag, value| match tag {
        "val_loss" if step % 5 != 4 => f64::NAN,
        "val_loss" => 0.9 + 0.06 * step as f64,
        _ => value,
    });
    expect("overfit", &by_heart);
    let unfollowed = WELL.tensors(|_, _, name, x| {
        if name.starts_with("buffer/") {
            x.fill(0.0);
        }
    });
    expect("batchnorm_drift", &unfollowed);
    let thrashing = WELL.steps(30).scalars(|step, tag, value| match tag {
        "loss_scale" => [65_536.0, 131_072.0, 65_536.0][usize::try_from(step % 3).unwrap_or(0)],
        _ => value,
    });
    expect("lossscale_thrash", &thrashing);
}

#[test]
fn ranks_that_part_are_named_with_the_first_that_differs() {
    let parted = WELL.ranks(2).tensors(|rank, step, name, x| {
        if rank == 1 && step >= 6 && name == "weight/head.weight" {
            x[2] = x[2].next_up();
        }
    });
    let findings = parted.judge();
    let first = findings
        .first_hit()
        .map(|h| (h.condition.id, h.step, h.rank, &*h.tensor));
    assert_eq!(first, Some(("rank_divergence", 6, 1, "weight/head.weight")));
    expect_note("silent_corruption", &parted);
}
