//! Pairs training runs with the evaluation runs in sibling folders.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::runs::{EventSource, RunFiles};

/// Folder names of training runs, and of sibling runs that evaluate them.
const TRAINING: [&str; 3] = ["train", "training", "learn"];
const EVALUATIONS: [&str; 7] = [
    "validation",
    "valid",
    "val",
    "evaluation",
    "eval",
    "test",
    "dev",
];

/// First words of the folders with the outputs of a discriminator for generated and for real samples.
const FAKE: &str = "fake";
const REAL: &str = "real";

/// Adds the event files of evaluation runs to their training runs.
///
/// Keras and many other programs write `train` and `validation` as two runs of one folder (`CatBoost`: `learn` and
/// `test`), with the same tags: a loss that rises in only one of them has another meaning. In the same way `fake_data`
/// is judged together with `real_data`, both named by their folders.
pub(super) fn pair(runs: &mut BTreeMap<Vec<String>, RunFiles>) {
    let all: Vec<Vec<String>> = runs.keys().cloned().collect();
    for folders in all {
        let Some((last, beside)) = folders.split_last() else {
            continue;
        };
        let last = last.to_ascii_lowercase();
        let fake = last.strip_prefix(FAKE);
        if fake.is_none() && !TRAINING.contains(&&*last) {
            continue;
        }
        let is_beside = |name: &str| match fake {
            Some(rest) => name.strip_prefix(REAL) == Some(rest),
            None => EVALUATIONS.contains(&name),
        };
        let siblings = runs.iter_mut().filter(|(other, _)| {
            let last = other.strip_prefix(beside);
            matches!(last, Some([name]) if is_beside(&name.to_ascii_lowercase()))
        });
        let mut evaluations: Vec<(u32, EventSource)> = Vec::new();
        for (other, run) in siblings {
            evaluations.extend(named(other, run));
        }
        let run = runs.get_mut(&folders);
        let Some(training) = run.filter(|_| !evaluations.is_empty()) else {
            continue;
        };
        if fake.is_some() {
            named(&folders, training);
        }
        for (rank, event) in evaluations {
            if let Some(parts) = training.ranks.get_mut(&rank) {
                parts.evaluations.push(event);
            }
        }
    }
}

/// Puts the folder of a run before its tags when they are judged. Returns its event files, each with its rank.
fn named(folders: &[String], run: &mut RunFiles) -> Vec<(u32, EventSource)> {
    let name: Option<Arc<str>> = folders.last().map(|name| name.as_str().into());
    let mut events = Vec::new();
    for (&rank, parts) in &mut run.ranks {
        for event in &mut parts.events {
            event.evaluates.clone_from(&name);
            events.push((rank, event.clone()));
        }
    }
    events
}
