//! Tensors of sound programs that look like those of faulty ones, and similar tensors of faulty ones.

use trainscope_format::Role;

use super::recording::{Recording, alarms, at, first};

/// Number of steps of each training.
const STEPS: i64 = 30;

/// A training whose loss falls, with a layer that learns; `more` adds tensors.
fn training(more: impl Fn(&mut Recording, i64)) -> Recording {
    let mut recording = Recording::with(&[]);
    for step in 0..STEPS {
        recording.scalar(step, "loss", 2.0 * (-0.1 * step as f64).exp() + 0.1);
        for (role, size) in [("weight", 0.2), ("grad", 0.01)] {
            let name = format!("{role}/fc.weight");
            recording.tensor((0, step), &name, &[16, 16], |i| {
                size * (at(1, 0, i) + 0.05 * step as f64 * at(2, 0, i))
            });
        }
        more(&mut recording, step);
    }
    recording
}

#[test]
fn tokens_gains_and_scales_are_no_matrices_of_layers() {
    for (name, shape, value) in [
        ("cls_token", &[1, 1, 64][..], 1e-6),
        ("conv.gain", &[64, 1, 1, 1], 1.0),
        ("k_proj.ia3_l", &[64, 1], 1.0),
        ("attn.temperature", &[8, 1, 1], 1.0),
    ] {
        let sound = training(|recording, step| {
            let weight = format!("weight/{name}");
            recording.tensor((0, step), &weight, shape, |i| {
                let moved = 1e-4 * step as f64 * at(3, 0, i);
                value * if value < 1.0 { at(4, 0, i) } else { 1.0 } + moved
            });
        });
        assert_eq!(alarms(&sound.judge()), [""; 0], "{name}");
    }
    // The matrix of one output is judged.
    let equal = training(|recording, step| {
        recording.tensor((0, step), "weight/head.weight", &[1, 64], |i| {
            0.3 + 1e-3 * step as f64 * at(3, 0, i)
        });
    });
    assert_eq!(
        first(&equal.judge()),
        "bad_initialization 0 weight/head.weight"
    );
}

#[test]
fn initial_weights_are_no_cause_of_what_comes_after_sound_steps() {
    let with_nan = |from: i64| {
        training(move |recording, step| {
            recording.tensor((0, step), "weight/last.weight", &[32, 32], |i| {
                1e-6 * at(3, 0, i) + 1e-4 * step as f64 * at(4, 0, i)
            });
            recording.tensor((0, step), "activation/fc", &[4, 16], |i| {
                if step >= from {
                    f64::NAN
                } else {
                    at(5, step, i)
                }
            });
        })
    };
    assert_eq!(
        first(&with_nan(20).judge()),
        "tensor_overflow 20 activation/fc"
    );
    assert_eq!(
        first(&with_nan(2).judge()),
        "bad_initialization 0 weight/last.weight"
    );
}

#[test]
fn gradients_that_begin_at_nothing_and_grow_do_not_vanish() {
    let of = |size: fn(i64) -> f64| {
        training(move |recording, step| {
            recording.tensor((0, step), "grad/lora_A.weight", &[16, 16], |i| {
                size(step) * at(6, step, i)
            });
            recording.tensor((0, step), "weight/lora_A.weight", &[16, 16], |i| {
                0.2 * (at(7, 0, i) + 0.05 * step as f64 * at(8, 0, i))
            });
        })
        .judge()
    };
    // Proportional to the other matrix, which begins at zero.
    assert_eq!(
        alarms(&of(|step| 4e-10 * (0.7 * step as f64).exp())),
        [""; 0]
    );
    // A branch that gets nothing at any step, while the others learn.
    assert_eq!(
        first(&of(|_| 1e-16)),
        "gradient_vanishing 0 grad/lora_A.weight"
    );
}

#[test]
fn a_bias_without_effect_on_the_loss_is_a_note_and_a_layer_is_not() {
    let zero = |all: bool| {
        training(move |recording, step| {
            recording.tensor((0, step), "grad/critic.weight", &[1, 16], |i| {
                if all { 0.0 } else { 0.01 * at(9, step, i) }
            });
            recording.tensor((0, step), "grad/critic.bias", &[1], |_| 0.0);
        })
        .judge()
    };
    assert_eq!(alarms(&zero(false)), [""; 0]);
    assert!(!alarms(&zero(true)).is_empty());
}

#[test]
fn weights_stand_still_at_a_minimum() {
    let with_loss = |last: f64| {
        let mut recording = Recording::with(&[]);
        for step in 0..STEPS {
            let shrink = (last / 2.0).powf(step.min(10) as f64 / 10.0);
            recording.scalar(step, "loss", 2.0 * shrink);
            recording.tensor((0, step), "weight/fc.weight", &[16, 16], |i| {
                at(1, 0, i) + 0.1 * step.min(10) as f64 * at(2, 0, i)
            });
            recording.tensor((0, step), "grad/fc.weight", &[16, 16], |i| {
                1e-3 * shrink.sqrt() * at(3, step, i)
            });
        }
        recording.judge()
    };
    assert_eq!(alarms(&with_loss(7e-9)), [""; 0]);
    assert!(!alarms(&with_loss(0.5)).is_empty());
}

#[test]
fn norms_that_climb_while_the_loss_is_still_high_do_not_explode() {
    /// Norms that rise by a factor at each step, up to the step at which the loss begins to fall.
    fn climbing(factor: f64) -> Recording {
        let mut recording = Recording::with(&[]);
        for step in 0..60 {
            let since = f64::from(u32::try_from(step - 30).unwrap_or(0));
            recording.scalar(step, "loss", 0.1 + 2.2 * (-0.1 * since).exp());
            let risen = f64::from(i32::try_from(step.min(30)).unwrap());
            let norm = 0.01 * factor.powf(risen) * (-0.05 * since).exp();
            recording.scalar(step, "grad_norm", norm);
        }
        recording
    }
    assert_eq!(alarms(&climbing(1.25).judge()), [""; 0]);
    assert!(first(&climbing(2.0).judge()).starts_with("exploding_norm"));
}

#[test]
fn a_weight_that_is_frozen_late_is_not_missing_in_the_optimizer() {
    // The gradient of the last backward pass stays next to it.
    let stops_as = |role: Role| {
        let stopped = training(move |recording, step| {
            let moving = step.min(10);
            if step >= 10 {
                recording.role = role;
            }
            recording.tensor((0, step), "weight/backbone.weight", &[16, 16], |i| {
                0.2 * (at(3, 0, i) + 0.05 * moving as f64 * at(4, 0, i))
            });
            recording.role = Role::Other;
            recording.tensor((0, step), "grad/backbone.weight", &[16, 16], |i| {
                0.01 * at(5, moving, i)
            });
        });
        alarms(&stopped.judge())
    };
    assert_eq!(stops_as(Role::FrozenWeight), [""; 0]);
    assert_ne!(stops_as(Role::Other), [""; 0]);
}
