//! The runs in `sample-runs/`: each says where it comes from and what it holds, and holds it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use trainscope_api::runs::FileStatus;

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
    expected: Vec<Expected>,
}

/// Something wrong with the run that the checks must find.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    #[expect(dead_code, reason = "read with the first condition that is judged")]
    condition: String,
    #[expect(dead_code, reason = "read with the first condition that is judged")]
    tensor: String,
    #[expect(dead_code, reason = "read with the first condition that is judged")]
    step: i64,
}

fn sample_runs() -> PathBuf {
    workspace_root().join("sample-runs")
}

/// Folders that directly hold files, by their name as a run.
fn run_folders() -> Vec<(String, PathBuf)> {
    let root = sample_runs();
    let (mut found, mut folders) = (Vec::new(), vec![root.clone()]);
    while let Some(folder) = folders.pop() {
        let mut holds_files = false;
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                holds_files = true;
            }
        }
        if holds_files {
            let name = folder
                .strip_prefix(&root)
                .unwrap()
                .to_str()
                .unwrap()
                .to_owned();
            found.push((name, folder));
        }
    }
    found
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
    assert!(folders.len() >= 10);
    for (name, folder) in folders {
        let description = description(&folder);
        for text in [&description.origin, &description.made_by] {
            assert!(!text.is_empty(), "{name}");
        }
        assert_eq!(description.licence, "Apache-2.0", "{name}");
        assert!(
            description.expected.is_empty(),
            "{name}: nothing is judged yet"
        );
    }
}

#[test]
fn they_stay_small() {
    let bytes: u64 = run_folders()
        .iter()
        .flat_map(|(_, folder)| fs::read_dir(folder).unwrap())
        .map(|entry| entry.unwrap().metadata().unwrap().len())
        .sum();
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
        assert_eq!(kinds, description(&folder).kinds, "{name}");
        for file in &run.files {
            assert!(
                matches!(file.status, FileStatus::Complete | FileStatus::Live),
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
