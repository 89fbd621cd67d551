//! Metrics that never move, policies that jump or stay random, and restarts that are not stalls.

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
    // No class is right, and without a loss of the held-out set no other sign of learning is known.
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
    let of = |tags: [&str; 2], first: f64, other: f64| {
        let wavy = |level: f64| move |step: f64| level * (1.0 + 0.1 * (step % 3.0 - 1.0));
        let (first, other) = (wavy(first), wavy(other));
        let curves: [(&str, &dyn Fn(f64) -> f64); 2] = [(tags[0], &first), (tags[1], &other)];
        found(&findings_of(&curves, 60), "one_sided_discriminator")
    };
    for losses in [
        ["loss_D", "loss_G"],
        ["disc/loss", "gen/loss"],
        ["d_loss", "g_loss"],
    ] {
        assert_eq!(of(losses, 0.002, 8.0)[0].0, Severity::Warning, "{losses:?}");
        // In balance; a strong discriminator; a critic of Wasserstein.
        for (first, other) in [(1.3, 0.8), (0.1, 4.0), (-0.002, 8.0)] {
            assert!(
                of(losses, first, other).is_empty(),
                "{losses:?}: {first} {other}"
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

/// Numbers from 0 to 1 that look random.
fn noise(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        f64::from(u32::try_from(state >> 32).unwrap_or(0)) / f64::from(u32::MAX)
    }
}

/// Findings about curves that were computed before.
fn findings_of_values(curves: &[(&str, &[f64])]) -> Findings {
    let mut evaluator = Evaluator::new(Watchpoints::recommended());
    for (tag, values) in curves {
        for (step, value) in (0..).zip(*values) {
            evaluator.scalar(0, tag, step, 1.7e9 + PACE_SECS * 0.1, *value);
        }
    }
    evaluator.findings()
}

const POINTS: u32 = 200;

fn values(curve: impl Fn(f64) -> f64) -> Vec<f64> {
    (0..POINTS).map(|step| curve(f64::from(step))).collect()
}

#[test]
fn a_reward_that_falls_in_all_quarters_is_a_warning() {
    let mut random = noise(3);
    let falls = values(|step| 100.0 - 0.3 * step);
    let falls: Vec<f64> = falls.iter().map(|value| value + 4.0 * random()).collect();
    let found_of = |values: &[f64]| {
        let findings = findings_of_values(&[("rollout/ep_rew_mean", values)]);
        found(&findings, "reward_falls")
    };
    let [(severity, said)] = &found_of(&falls)[..] else {
        panic!("no hit")
    };
    assert_eq!(*severity, Severity::Warning);
    assert!(said.contains("the policy gets worse"), "{said}");
    let negative: Vec<f64> = falls.iter().map(|value| value - 300.0).collect();
    assert_eq!(found_of(&negative).len(), 1);
    let rises: Vec<f64> = falls.iter().rev().copied().collect();
    assert_eq!(found_of(&rises), []);
    let dip = values(|step| 100.0 - 0.3 * step.min(120.0) + (step - 120.0).max(0.0));
    assert_eq!(found_of(&dip), []);
    assert_eq!(found_of(&falls[..40]), [], "too few points");
}

#[test]
fn walks_and_noise_are_no_findings() {
    for seed in 0..300 {
        let mut random = noise(seed + 1);
        let mut at = 100.0;
        let walk: Vec<f64> = (0..POINTS)
            .map(|_| {
                at += 6.0 * (random() - 0.5);
                at
            })
            .collect();
        let rough: Vec<f64> = (0..POINTS).map(|_| 2.0 + random()).collect();
        let accuracy: Vec<f64> = (0..POINTS).map(|_| 0.7 + 0.3 * random()).collect();
        let divergence: Vec<f64> = walk.iter().map(|value| value.abs() / 20.0).collect();
        let norm: Vec<f64> = (0..POINTS).map(|_| random()).collect();
        let findings = findings_of_values(&[
            ("rollout/ep_rew_mean", &walk),
            ("train/loss", &rough),
            ("train/accuracy", &accuracy),
            ("train/kl", &divergence),
            ("train/recon", &rough),
            ("grad_norm", &norm),
        ]);
        for condition in [
            "reward_falls",
            "posterior_collapse",
            "clipped_nothing",
            "loss_contradiction",
        ] {
            assert_eq!(found(&findings, condition), [], "{seed}");
        }
    }
}

#[test]
fn a_posterior_that_is_its_prior_is_a_warning_beside_a_reconstruction() {
    let collapses = values(|step| 31.0 * f64::exp(-step / 8.0) + 0.03);
    let recon = values(|step| 1.1 - 0.003 * step);
    let of = |divergence: &[f64], other: &str| {
        let findings = findings_of_values(&[("train/kl", divergence), (other, &recon)]);
        found(&findings, "posterior_collapse").len()
    };
    assert_eq!(of(&collapses, "train/recon"), 1);
    // A student that has learned the outputs of its teacher.
    assert_eq!(of(&collapses, "train/ce"), 0);
    let rises = values(|step| 0.3 + 0.02 * step);
    assert_eq!(of(&rises, "train/recon"), 0);
    let settles = values(|step| 31.0 * f64::exp(-step / 8.0) + 2.0);
    assert_eq!(of(&settles, "train/recon"), 0);
}

#[test]
fn a_norm_of_nothing_is_a_warning_while_the_loss_moves() {
    let falls = values(falling);
    let zero = values(|_| 0.0);
    let still = values(|_| 0.7);
    let of = |norm: &[f64], loss: &[f64]| {
        let findings = findings_of_values(&[("grad_norm", norm), ("loss", loss)]);
        found(&findings, "clipped_nothing").len()
    };
    assert_eq!(of(&zero, &falls), 1);
    assert_eq!(of(&zero, &still), 0, "nothing is trained");
    assert_eq!(of(&falls, &falls), 0);
    assert_eq!(of(&zero[..10], &falls), 0, "too few points");
}

#[test]
fn a_negative_loss_contradicts_an_accuracy() {
    let accuracy = values(|step| 0.1 + 0.003 * step);
    let of = |tag: &str, loss: &[f64]| {
        let findings = findings_of_values(&[(tag, loss), ("train/accuracy", &accuracy)]);
        found(&findings, "loss_contradiction").len()
    };
    let divergence = values(|step| -15.0 - 0.02 * step);
    assert_eq!(of("train/kd_loss", &divergence), 1);
    let crosses = values(|step| 0.7 - 0.004 * step);
    assert_eq!(of("train/loss", &crosses), 1);
    // The negative of a cosine, of a Dice coefficient, and a loss of a policy.
    let cosine = values(|step| -0.004 * step);
    assert_eq!(of("train/loss", &cosine), 0);
    assert_eq!(of("train/dice_loss", &crosses), 0);
    assert_eq!(of("train/policy_loss", &divergence), 0);
    let alone = findings_of_values(&[("train/loss", &crosses)]);
    assert_eq!(found(&alone, "loss_contradiction"), []);
}

#[test]
fn a_loss_at_the_floor_of_two_softmax_contradicts_a_high_accuracy() {
    let accuracy = values(|step| 0.95 - 0.85 * f64::exp(-step / 40.0));
    let of = |loss: &dyn Fn(f64) -> f64| {
        let findings =
            findings_of_values(&[("train/loss", &values(loss)), ("train/accuracy", &accuracy)]);
        found(&findings, "loss_contradiction")
    };
    // 10 classes: the floor is 1.461.
    let doubled = of(&|step| 1.55 + 0.75 * f64::exp(-step / 40.0));
    assert_eq!(doubled.len(), 1);
    assert!(doubled[0].1.contains("softmax of a softmax"), "{doubled:?}");
    assert_eq!(of(&|step| 0.1 + 2.2 * f64::exp(-step / 40.0)), []);
    // A training that is not done, and one that went below.
    assert_eq!(of(&|step| 2.3 - 0.0035 * step), []);
    assert_eq!(
        of(&|step| if (149.5..150.5).contains(&step) {
            1.2
        } else {
            1.55 + 0.75 * f64::exp(-step / 40.0)
        }),
        []
    );
}
