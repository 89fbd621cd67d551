//! Effect of context on findings: the same numbers are a fault in one training and harmless in another.

use trainscope_analysis::watchpoint::Findings;

use super::training::{Training, WELL, alarms, elements, scale};

fn is_alarm(training: &Training, condition: &str) -> bool {
    alarms(&training.judge()).contains(&condition)
}

fn first(findings: &Findings) -> Option<(&str, i64)> {
    findings.first_hit().map(|h| (h.condition.id, h.step))
}

#[test]
fn units_that_come_to_their_ends_at_once_were_put_there() {
    let at_once = WELL.tensors(|_, step, name, x| {
        if step >= 6 && name == "activation/tanh1" {
            for v in x {
                *v = v.signum() * 0.99;
            }
        }
    });
    assert!(is_alarm(&at_once, "saturated_activation"));
    let bit_by_bit = WELL.tensors(|_, step, name, x| {
        if name == "activation/tanh1" {
            let steep = 1.0 + 2.0 * step as f32;
            for v in x {
                *v = (*v * steep).tanh();
            }
        }
    });
    let findings = bit_by_bit.judge();
    let told = findings
        .hits
        .iter()
        .any(|h| h.condition.id == "saturated_activation");
    assert!(told && alarms(&findings).is_empty(), "{:?}", findings.hits);
}

#[test]
fn a_tiny_learning_rate_may_round_updates_away_where_little_is_left_to_learn() {
    fn good(tag: &str, value: f64, rate: f64) -> f64 {
        match tag {
            "loss" | "val_loss" => 0.001,
            "accuracy" => 1.0,
            "learning_rate" => rate,
            _ => value,
        }
    }
    let tuned = WELL
        .tensors(|_, _, name, x| {
            if name == "weight/fc1.weight" {
                *x = elements(0, 0, name, 32);
            }
        })
        .scalars(|_, tag, value| good(tag, value, 1e-9));
    assert_eq!(alarms(&tuned.judge()), [""; 0]);
    let held = tuned.scalars(|_, tag, value| good(tag, value, 0.1));
    assert!(is_alarm(&held, "weight_not_changed"));
}

#[test]
fn a_learning_rate_that_is_no_number_is_the_cause_of_what_it_does_to_weights() {
    let training = WELL
        .tensors(|_, step, name, x| {
            if step >= 10 && !name.ends_with("input") && name != "target" {
                x.fill(f32::NAN);
            }
        })
        .scalars(|step, tag, value| match tag {
            "learning_rate" if step >= 9 => f64::INFINITY,
            "loss" if step >= 10 => f64::NAN,
            _ => value,
        });
    assert_eq!(first(&training.judge()), Some(("learning_rate_jump", 9)));
    // Weights before the update are not its effect.
    let before = training.scalars(|step, tag, value| match tag {
        "learning_rate" if step >= 10 => f64::INFINITY,
        "loss" if step >= 10 => f64::NAN,
        _ => value,
    });
    assert_eq!(first(&before.judge()), Some(("weight_overflow", 10)));
}

#[test]
fn large_updates_after_a_jump_of_the_learning_rate_are_a_fault_whatever_the_loss_does() {
    let moved = WELL.tensors(|_, step, name, x| {
        if step >= 8 && name.starts_with("weight/") {
            scale(x, 10.0);
        }
    });
    assert!(!is_alarm(&moved, "weight_change_too_large"));
    let jumped = moved.scalars(|step, tag, value| match tag {
        "learning_rate" if step >= 7 => 10.0,
        _ => value,
    });
    assert!(is_alarm(&jumped, "weight_change_too_large"));
    assert_eq!(first(&jumped.judge()), Some(("learning_rate_jump", 7)));
}

#[test]
fn norms_that_leap_again_and_again_are_a_fault_where_nothing_is_learned() {
    fn leaping(step: i64, tag: &str, value: f64) -> f64 {
        match (tag, step) {
            ("grad_norm", 8) => 6.0,
            ("grad_norm", 10) => 5.0,
            ("grad_norm", 12) => 4.5,
            ("loss_scale", _) => f64::NAN,
            _ => value,
        }
    }
    let learns = WELL.scalars(leaping);
    assert!(!is_alarm(&learns, "exploding_norm"));
    let stuck = WELL.scalars(|step, tag, value| match tag {
        "loss" => 1.1,
        _ => leaping(step, tag, value),
    });
    assert!(is_alarm(&stuck, "exploding_norm"));
}

#[test]
fn inputs_that_become_constant_are_named_where_they_do() {
    let constant = WELL.tensors(|_, step, name, x| {
        if step >= 5 && name == "activation/input" {
            x.fill(0.3);
        }
    });
    assert_eq!(first(&constant.judge()), Some(("input_range", 5)));
}
