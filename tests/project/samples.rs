//! The runs in `sample-runs/` match their descriptions of origin and content.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use trainscope_api::runs::FileStatus;
use trainscope_format::statistics::{Role, TensorSummary};
use trainscope_format::{Body, Format, ProgramFact, RecordBatch};

use crate::support::lab::workspace_root;
use crate::support::{Lab, wait_for};

/// `RUN.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Description {
    origin: String,
    made_by: String,
    licence: String,
    kinds: BTreeSet<String>,
    /// True if its last record is truncated.
    #[serde(default)]
    torn: bool,
    expected: Vec<ExpectedHit>,
}

/// A problem of the run that the checks must find.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExpectedHit {
    condition: String,
    tensor: String,
    step: i64,
}

fn sample_runs() -> PathBuf {
    workspace_root().join("sample-runs")
}

/// Folders with a description, by their name as a run.
fn run_folders() -> Vec<(String, PathBuf)> {
    let root = sample_runs();
    let mut found = Vec::new();
    walk(&root, &mut |path| {
        if path.file_name().is_some_and(|name| name == "RUN.toml") {
            let folder = path.parent().unwrap();
            let name = folder.strip_prefix(&root).unwrap().to_str().unwrap();
            found.push((name.to_owned(), folder.to_path_buf()));
        }
    });
    found
}

/// Visits all files below a folder.
fn walk(folder: &Path, visit: &mut impl FnMut(&Path)) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            walk(&path, visit);
        } else {
            visit(&path);
        }
    }
}

fn description(folder: &Path) -> Description {
    let path = folder.join("RUN.toml");
    let text =
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn each_run_says_where_it_comes_from() {
    let folders = run_folders();
    assert!(folders.len() >= 19);
    for (name, folder) in folders {
        let description = description(&folder);
        for text in [&description.origin, &description.made_by] {
            assert!(!text.is_empty(), "{name}");
        }
        assert_eq!(description.licence, "Apache-2.0", "{name}");
    }
}

#[test]
fn they_stay_small() {
    let mut bytes = 0;
    walk(&sample_runs(), &mut |path| {
        bytes += path.metadata().unwrap().len();
    });
    assert!(bytes < 10_000_000, "sample-runs/ holds {bytes} bytes");
}

#[test]
fn each_run_holds_what_it_says_and_is_whole() {
    let lab = Lab::new();
    let server = lab.start_on(&[&sample_runs()], &[]);
    let wanted = run_folders();
    let runs = wait_for("all sample runs to be read", || {
        let status = server.status();
        Some(server.runs().runs).filter(|runs| status.ingest.idle && runs.len() == wanted.len())
    });
    for (name, folder) in wanted {
        let run = runs
            .iter()
            .find(|run| run.id == name)
            .unwrap_or_else(|| panic!("no run {name}"));
        let kinds: BTreeSet<String> = run.kinds.keys().cloned().collect();
        let description = description(&folder);
        assert_eq!(kinds, description.kinds, "{name}");
        for file in &run.files {
            assert!(
                matches!(file.status, FileStatus::Complete | FileStatus::Live)
                    || (description.torn && file.status == FileStatus::Truncated),
                "{}: {:?}",
                file.path,
                file.status
            );
        }
    }
}

#[test]
fn the_story_is_told_to_the_step() {
    let lab = Lab::new();
    let server = lab.start_on(&[&sample_runs()], &[]);
    let loss = server.wait_for_points("transformer-small/fp16", "train/loss", 1_185);
    assert_eq!(loss.steps, (0..=1_184).collect::<Vec<i64>>());
    assert!(loss.values[..412].iter().all(|value| value.is_finite()));
    assert!(loss.values[412..].iter().all(|value| value.is_nan()));
    let gradient = server.wait_for_points("transformer-small/fp16", "train/grad_norm", 1_185);
    assert!(gradient.values[411].is_infinite() && gradient.values[412].is_nan());
    let healthy = server.wait_for_points("transformer-small/bf16", "train/loss", 5_000);
    assert!(healthy.values.iter().all(|value| value.is_finite()));
}

/// True if the event files of a folder have such a fact of the program.
fn has_fact(
    folder: &Path,
    kind: &str,
    subject: &str,
    is_it: impl Fn(&ProgramFact) -> bool,
) -> bool {
    let mut is_found = false;
    walk(folder, &mut |path| {
        if !path.to_string_lossy().contains("tfevents") {
            return;
        }
        let mut batch = RecordBatch::default();
        let mut decoder = Format::Tfevents.decoder("");
        decoder.push(&fs::read(path).unwrap(), &mut batch);
        is_found |= batch.records.iter().any(|record| match &record.body {
            Body::Program(fact) => fact.kind == kind && fact.subject == subject && is_it(fact),
            _ => false,
        });
    });
    is_found
}

/// Statistics of a tensor at a step in the event files of a folder: one summary per rank.
fn summaries(folder: &Path, tensor: &str, step: i64) -> Vec<TensorSummary> {
    let mut found = Vec::new();
    walk(folder, &mut |path| {
        if !path.to_string_lossy().contains("tfevents") {
            return;
        }
        let mut batch = RecordBatch::default();
        let mut decoder = Format::Tfevents.decoder("");
        decoder.push(&fs::read(path).unwrap(), &mut batch);
        for record in &batch.records {
            if let Body::Statistics(summary) = &record.body
                && record.step == step
                && *batch.new_tags[record.tag.0 as usize].name == *tensor
            {
                found.push(TensorSummary::clone(summary));
            }
        }
    });
    found
}

/// True if a condition is met, by the words of its definition and the smallest values in the specification.
fn holds(condition: &str, ranks: &[TensorSummary]) -> bool {
    let of_one = |check: fn(&TensorSummary) -> bool| ranks.iter().any(check);
    let is_not_finite =
        |summary: &TensorSummary| summary.stats.finite_count() < summary.stats.count;
    match condition {
        "weight_overflow" => of_one(|s| s.role == Role::Weight) && of_one(is_not_finite),
        "gradient_exploding" => of_one(|s| s.role == Role::Gradient) && of_one(is_not_finite),
        "tensor_overflow" => of_one(is_not_finite),
        "tensor_all_zero" => of_one(|s| s.stats.count > 0 && s.stats.zero == s.stats.count),
        "weight_not_changed" => {
            of_one(|s| s.role == Role::Weight && s.change.is_some_and(|change| change.changed == 0))
        }
        "gradient_vanishing" => of_one(|s| {
            let finite = s.stats.finite;
            s.role == Role::Gradient && finite.is_some_and(|finite| finite.mean_abs < 1e-9)
        }),
        "rank_divergence" => ranks.iter().any(|rank| rank.hash != ranks[0].hash),
        other => panic!("the test knows no condition {other}"),
    }
}

#[test]
fn what_is_wrong_is_in_the_files() {
    let mut wrong = 0;
    for (name, folder) in run_folders() {
        for expected in description(&folder).expected {
            let ranks = summaries(&folder, &expected.tensor, expected.step);
            let holds = match &*expected.condition {
                "loss_activation" => has_fact(&folder, "loss_function", &expected.tensor, |fact| {
                    fact.text("before") == "softmax"
                }),
                "operation_not_finite" => {
                    has_fact(&folder, &expected.condition, &expected.tensor, |fact| {
                        fact.number("not_finite") > Some(0.0)
                    })
                }
                condition => holds(condition, &ranks),
            };
            assert!(
                holds,
                "{name}: {} of {} at {}: {ranks:?}",
                expected.condition, expected.tensor, expected.step
            );
            wrong += 1;
        }
    }
    assert!(wrong >= 9);
}

#[test]
fn a_healthy_training_and_its_ranks_before_they_part_have_nothing_of_that() {
    let healthy = sample_runs().join("mlp/healthy");
    for tensor in ["fc1.weight", "fc2.weight", "fc3.bias", "fc1.activation"] {
        for step in [5, 100, 195] {
            let ranks = summaries(&healthy, tensor, step);
            for condition in ["tensor_overflow", "tensor_all_zero", "weight_not_changed"] {
                assert!(
                    !holds(condition, &ranks),
                    "{condition} of {tensor} at {step}"
                );
            }
        }
    }
    let ranks = summaries(&sample_runs().join("mlp/diverging"), "fc1.weight", 55);
    assert_eq!(ranks.len(), 2);
    assert!(!holds("rank_divergence", &ranks));
}
