//! Metrics that never move, policies that jump or stay random, and restarts that are no stalls.

use trainscope_analysis::watchpoint::{Evaluator, Findings, Watchpoints};
use trainscope_format::Severity;

/// Seconds between two points.
const PACE_SECS: f64 = 10.0;

/// Findings about curves of one training.
fn findings_of(curves: &[(&str, &dyn Fn(f64) -> f64)], points: u32) -> Findings {
    let mut evaluator = Evaluator::new(Watchpoints::recommended());
    for (tag, curve) in curves {
        for step in 0..points {
            let time = 1.7e9 + PACE_SECS * f64::from(step);
            evaluator.scalar(0, tag, step.into(), time, curve(f64::from(step)));
        }
    }
    evaluator.findings()
}

fn found(findings: &Findings, condition: &str) -> Vec<(Severity, String)> {
    let hits = findings.hits.iter();
    let hits = hits.filter(|hit| hit.condition.id == condition);
    hits.map(|hit| (hit.severity, hit.sentence.en.clone()))
        .collect()
}

fn falling(step: f64) -> f64 {
    0.1 * f64::exp(-step / 40.0) + 0.02
}

#[test]
fn a_validation_set_without_labels_is_one_warning() {
    let zero = |_: f64| 0.0;
    let findings = findings_of(
        &[
            ("train/box_loss", &falling),
            ("metrics/mAP_0.5", &zero),
            ("metrics/precision", &zero),
            ("metrics/recall", &zero),
            ("val/box_loss", &zero),
        ],
        100,
    );
    let found = found(&findings, "constant_metric");
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].0, Severity::Warning);
    assert!(
        found[0]
            .1
            .contains("stays exactly 0 at all 100 points, as 3 other metrics"),
        "{found:?}"
    );
}

#[test]
fn a_metric_that_does_not_move_is_a_note_unless_it_is_perfect_or_nothing_was_learned() {
    let still = |value: f64| move |_: f64| value;
    let of = |loss: &dyn Fn(f64) -> f64, accuracy: f64| {
        let accuracy = still(accuracy);
        let findings = findings_of(&[("loss", loss), ("val_acc", &accuracy)], 30);
        found(&findings, "constant_metric")
    };
    let noted = of(&falling, 0.1);
    assert!(matches!(&noted[..], [(Severity::Info, _)]), "{noted:?}");
    assert!(of(&falling, 1.0).is_empty());
    // No class is right: without a loss of the held-out set, nothing says that there is one.
    assert_eq!(of(&falling, 0.0)[0].0, Severity::Warning);
    let zero = still(0.0);
    let regression = [
        ("loss", &falling as &dyn Fn(f64) -> f64),
        ("val_acc", &zero),
        ("val_loss", &falling),
    ];
    let noted = found(&findings_of(&regression, 30), "constant_metric");
    assert!(
        matches!(&noted[..], [(Severity::Info, said)] if said.contains("numbers")),
        "{noted:?}"
    );
    assert!(of(&|step| 1.0 + 0.01 * step, 0.0).is_empty());
    let moving = |step: f64| 0.1 + step / 100.0;
    let findings = findings_of(&[("loss", &falling), ("val_acc", &moving)], 30);
    assert!(found(&findings, "constant_metric").is_empty());
}

#[test]
fn a_policy_that_every_update_replaces_is_a_warning_and_a_usual_one_is_not() {
    for (tag, wild, usual) in [("approxkl", 3e5, 0.02), ("train/clip_fraction", 0.97, 0.2)] {
        let of = |level: f64| {
            let curve = move |step: f64| level * (1.0 + 0.01 * (step % 3.0));
            let rising = |step: f64| step;
            found(
                &findings_of(&[(tag, &curve), ("eprewmean", &rising)], 40),
                "policy_update_too_large",
            )
        };
        assert!(matches!(&of(wild)[..], [(Severity::Warning, _)]), "{tag}");
        assert!(of(usual).is_empty(), "{tag}");
    }
}

#[test]
fn a_policy_that_stays_random_has_the_entropy_of_its_number_of_actions() {
    let of = |tag: &str, curve: &dyn Fn(f64) -> f64| {
        found(&findings_of(&[(tag, curve)], 40), "constant_entropy")
    };
    for (tag, sign) in [("entropy", 1.0), ("train/entropy_loss", -1.0)] {
        let random = of(tag, &|_| sign * f64::from(7_f32.ln()));
        assert!(random[0].1.contains("ln 7"), "{random:?}");
    }
    assert!(of("entropy", &|step| 7_f64.ln() - 0.01 * step).is_empty());
    // A fixed deviation of continuous actions.
    assert!(of("entropy", &|_| 1.4189).is_empty());
}

#[test]
fn of_two_adversarial_networks_neither_should_win() {
    let of = |tags: [&str; 2], own: f64, other: f64| {
        let wavy = |level: f64| move |step: f64| level * (1.0 + 0.1 * (step % 3.0 - 1.0));
        let (own, other) = (wavy(own), wavy(other));
        let curves: [(&str, &dyn Fn(f64) -> f64); 2] = [(tags[0], &own), (tags[1], &other)];
        found(&findings_of(&curves, 60), "one_sided_discriminator")
    };
    for losses in [
        ["loss_D", "loss_G"],
        ["disc/loss", "gen/loss"],
        ["d_loss", "g_loss"],
    ] {
        assert_eq!(of(losses, 0.002, 8.0)[0].0, Severity::Warning, "{losses:?}");
        // In balance; a strong discriminator; a critic of Wasserstein.
        for (own, other) in [(1.3, 0.8), (0.1, 4.0), (-0.002, 8.0)] {
            assert!(
                of(losses, own, other).is_empty(),
                "{losses:?}: {own} {other}"
            );
        }
    }
    let answers = ["acc/fake", "acc/real"];
    assert_eq!(of(answers, 0.0, 0.8)[0].0, Severity::Info);
    assert!(of(answers, 0.4, 0.6).is_empty());
}

#[test]
fn a_restart_is_no_stall_and_a_stall_is_one_hit() {
    let of = |is_restarted: bool| {
        let mut evaluator = Evaluator::new(Watchpoints::recommended());
        for step in 0..40 {
            // Two hours pass before step 20.
            let pause = if step < 20 { 0.0 } else { 7_200.0 };
            if step == 20 && is_restarted {
                evaluator.begin_file(1);
            }
            for tag in ["loss", "loss/box", "loss/class"] {
                let time = 1.7e9 + PACE_SECS * step as f64 + pause;
                evaluator.scalar(0, tag, step, time, 1.0 / (step as f64 + 1.0));
            }
        }
        found(&evaluator.findings(), "stalled").len()
    };
    assert_eq!(of(false), 1);
    assert_eq!(of(true), 0);
}

/// Losses of a detector and of a critic may rise while the whole improves.
#[test]
fn parts_of_a_loss_that_falls_and_losses_of_a_policy_do_not_diverge() {
    let rising = |step: f64| 0.1 + step * step / 50.0;
    let reward = |step: f64| 0.06 + step / 10.0;
    for curves in [
        [
            ("total_loss", &falling as &dyn Fn(f64) -> f64),
            ("loss_box_reg", &rising),
        ],
        [("train/loss", &rising), ("rollout/ep_rew_mean", &reward)],
        [("value_loss", &rising), ("lr", &falling)],
    ] {
        let found = found(&findings_of(&curves, 60), "loss_divergence");
        assert!(found.is_empty(), "{found:?}");
    }
    let found = found(
        &findings_of(&[("total_loss", &rising)], 60),
        "loss_divergence",
    );
    assert_eq!(found.len(), 1);
}
