//! Curves of noise, in which rules about curves find next to nothing.

use std::collections::BTreeMap;

use trainscope_analysis::watchpoint::{Evaluator, Watchpoints};

/// Number of curves of a kind.
const CURVES: usize = 4_000;
/// Points of a curve.
const POINTS: usize = 150;

/// Numbers with a normal distribution: sums of twelve from xorshift64.
struct Normal(u64);

impl Normal {
    fn next(&mut self) -> f64 {
        let uniform = |state: &mut u64| {
            *state ^= *state << 13;
            *state ^= *state >> 7;
            *state ^= *state << 17;
            (*state >> 11) as f64 / (1_u64 << 53) as f64
        };
        (0..12).map(|_| uniform(&mut self.0)).sum::<f64>() - 6.0
    }
}

/// Conditions with the number of curves that they hit.
fn hits_of(tags: &[&str], curve: &mut dyn FnMut() -> Vec<f64>) -> BTreeMap<&'static str, usize> {
    let mut counts = BTreeMap::new();
    for _ in 0..CURVES {
        let mut evaluator = Evaluator::new(Watchpoints::recommended());
        for tag in tags {
            for (step, value) in (0..).zip(curve()) {
                evaluator.scalar(0, tag, step, 1.7e9 + step as f64, value);
            }
        }
        let findings = evaluator.findings();
        let mut ids: Vec<&str> = findings.hits.iter().map(|hit| hit.condition.id).collect();
        ids.sort_unstable();
        ids.dedup();
        for id in ids {
            *counts.entry(id).or_insert(0) += 1;
        }
    }
    counts
}

/// A kind of noise.
struct Noise {
    name: &'static str,
    curve: fn(&mut Normal) -> Vec<f64>,
    is_positive: bool,
    /// Conditions that are true of this noise.
    true_of_it: &'static [&'static str],
}

/// Values at each step, reached from the value before.
fn walk(normal: &mut Normal, size: f64) -> impl Iterator<Item = f64> {
    (0..POINTS).scan(0.0, move |at, _| {
        *at += size * normal.next();
        Some(*at)
    })
}

const KINDS: [Noise; 6] = [
    Noise {
        name: "white, around 1",
        is_positive: true,
        curve: |normal| (0..POINTS).map(|_| 1.0 + 0.1 * normal.next()).collect(),
        // It stays at 1.
        true_of_it: &["loss_plateau"],
    },
    Noise {
        name: "white, around 0",
        is_positive: false,
        curve: |normal| (0..POINTS).map(|_| normal.next()).collect(),
        true_of_it: &[],
    },
    Noise {
        name: "random walk",
        is_positive: false,
        curve: |normal| walk(normal, 1.0).collect(),
        true_of_it: &[],
    },
    Noise {
        name: "random walk of the logarithm",
        is_positive: true,
        curve: |normal| walk(normal, 0.1).map(f64::exp).collect(),
        true_of_it: &[],
    },
    Noise {
        name: "decaying level and noise",
        is_positive: true,
        curve: |normal| {
            let at = |step: usize| f64::exp(-(step as f64) / DECAY);
            (0..POINTS)
                .map(|step| at(step) * (2.0 + 0.5 * normal.next()))
                .collect()
        },
        true_of_it: &["reward_falls"],
    },
    Noise {
        name: "decaying noise around 0",
        is_positive: false,
        curve: |normal| {
            let at = |step: usize| f64::exp(-(step as f64) / DECAY);
            (0..POINTS).map(|step| at(step) * normal.next()).collect()
        },
        true_of_it: &[],
    },
];

/// Steps in which a decaying curve comes down to 1 / e.
const DECAY: f64 = 30.0;

/// Rules over these curves hit at most one of a hundred curves of noise.
#[test]
fn noise_is_no_finding() {
    let mut normal = Normal(7);
    for tags in [
        &["loss", "val_loss", "val/mAP_0.5"][..],
        &["value_loss", "episode_reward", "policy/entropy"],
    ] {
        for kind in &KINDS {
            let counts = hits_of(tags, &mut || (kind.curve)(&mut normal));
            println!("{tags:?}, {}: {counts:?}", kind.name);
            for (condition, count) in counts {
                let is_true = kind.true_of_it.contains(&condition);
                assert!(
                    is_true || 100 * count <= CURVES,
                    "{condition} finds something in {count} of {CURVES} curves {tags:?}: {}",
                    kind.name
                );
            }
        }
    }
}

/// The norm of a gradient is never negative.
#[test]
fn noise_of_norms_is_no_finding() {
    let mut normal = Normal(8);
    for kind in KINDS.iter().filter(|kind| kind.is_positive) {
        let counts = hits_of(&["grad_norm"], &mut || (kind.curve)(&mut normal));
        println!("{}: {counts:?}", kind.name);
        for (condition, count) in counts {
            assert!(100 * count <= CURVES, "{condition}: {count}, {}", kind.name);
        }
    }
}
