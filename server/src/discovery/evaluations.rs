//! Pairs runs with the runs beside them that evaluate them.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::runs::{EventSource, RunFiles};

/// Folder names of training runs, and of evaluation runs beside them.
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

/// Keras and many other programs write `train` and `validation` as two runs of one folder (`CatBoost`: `learn` and `test`), with the same tags: a loss
/// that rises in only one of them has another meaning. The training is judged together with its evaluation.
pub(super) fn pair(runs: &mut BTreeMap<Vec<String>, RunFiles>) {
    let is_training = |folders: &&Vec<String>| {
        let last = folders.last();
        last.is_some_and(|name| TRAINING.contains(&&*name.to_ascii_lowercase()))
    };
    let trainings: Vec<Vec<String>> = runs.keys().filter(is_training).cloned().collect();
    for folders in trainings {
        let beside = &folders[..folders.len() - 1];
        let siblings = runs.iter_mut().filter(|(other, _)| {
            let last = other.strip_prefix(beside);
            matches!(last, Some([name]) if EVALUATIONS.contains(&&*name.to_ascii_lowercase()))
        });
        let mut evaluations: Vec<(u32, EventSource)> = Vec::new();
        for (other, run) in siblings {
            let name: Option<Arc<str>> = other.last().map(|name| name.as_str().into());
            for (&rank, parts) in &mut run.ranks {
                for event in &mut parts.events {
                    event.evaluates.clone_from(&name);
                    evaluations.push((rank, event.clone()));
                }
            }
        }
        let Some(training) = runs.get_mut(&folders) else {
            continue;
        };
        for (rank, event) in evaluations {
            if let Some(parts) = training.ranks.get_mut(&rank) {
                parts.evaluations.push(event);
            }
        }
    }
}
