//! `trainscope diff`: the first difference of two runs.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::support::lab::workspace_root;
use crate::support::terminal::{CommandOutput, Dump, trainscope_in};

fn diff(a: &Path, b: &Path, flags: &[&str]) -> CommandOutput {
    let [a, b] = [a, b].map(|path| path.display().to_string());
    trainscope_in(Path::new("."), &[&["diff", &a, &b], flags].concat())
}

#[test]
fn a_run_equals_itself_to_the_bit() {
    for name in ["torch-healthy", "torch-overflow", "ms20-healthy"] {
        let dump = Dump::unpack(name);
        let printed = diff(&dump.path, &dump.path, &["--tolerance", "0"]);
        assert_eq!(printed.status, 0, "{printed:?}");
        assert!(
            printed.out.contains("equal    They are equal to the bit."),
            "{printed:?}"
        );
        assert!(printed.last_line().starts_with("0 of "), "{printed:?}");
    }
}

#[test]
fn the_first_tensor_that_differs_is_named() {
    let [a, b] = ["torch-healthy"; 2].map(Dump::unpack);
    // A bit of a weight in the middle of the training: the last tensor of the file.
    let path = b.path.join("steps/step_00004.safetensors");
    let mut bytes = fs::read(&path).unwrap();
    let len = bytes.len();
    bytes[len - 1] ^= 0x01;
    fs::write(&path, bytes).unwrap();
    let printed = diff(&a.path, &b.path, &["--format", "json", "--tolerance", "0"]);
    assert_eq!(printed.status, 1);
    let answer = printed.json();
    assert_eq!(answer["parted"].as_array().unwrap().len(), 1, "{answer:#}");
    assert_eq!(answer["first"]["step"], 4);
    assert!(
        answer["first"]["name"]
            .as_str()
            .unwrap()
            .starts_with("weight/")
    );
    let text = diff(&a.path, &b.path, &["--tolerance", "0"]);
    assert!(
        text.out
            .contains("They diverge at step 4, first in weight weight/"),
        "{text:?}"
    );
    // With a large tolerance they are equal.
    assert_eq!(diff(&a.path, &b.path, &["--tolerance", "1e9"]).status, 0);
}

#[test]
fn runs_of_other_learning_rates_part_after_the_first_step() {
    let [a, b] = ["torch-overflow", "torch-unchanged"].map(Dump::unpack);
    let printed = diff(&a.path, &b.path, &[]);
    assert_eq!(printed.status, 1);
    assert!(printed.out.contains("First differences"), "{printed:?}");
    assert!(printed.out.contains("loss/train"), "{printed:?}");
}

#[test]
fn runs_without_anything_in_common_are_a_mistake() {
    let [a, b] = ["torch-healthy", "ms20-healthy"].map(Dump::unpack);
    let printed = diff(&a.path, &b.path, &[]);
    assert_eq!(printed.status, 2);
    assert!(
        printed.err.contains("share no tensor and no tag"),
        "{printed:?}"
    );
    let folder = TempDir::new().unwrap();
    for run in ["one", "two"] {
        let steps = folder.path().join(run).join("steps");
        fs::create_dir_all(&steps).unwrap();
        fs::copy(
            a.path.join("steps/step_00000.safetensors"),
            steps.join("step_0.safetensors"),
        )
        .unwrap();
    }
    let several = diff(folder.path(), &a.path, &[]);
    assert_eq!(several.status, 2);
    assert!(several.err.contains("holds 2 runs"), "{several:?}");
    let missing = diff(&folder.path().join("three"), &a.path, &[]);
    assert_eq!(missing.status, 2);
}

/// Answers of independent programs for the files of the frameworks.
pub(crate) fn truth() -> Value {
    let path = workspace_root().join("tests/fixtures/compare-truth.json");
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// True if two values agree; numbers to seven digits, since those of single precision are rounded.
pub(crate) fn agree(one: &Value, other: &Value) -> bool {
    match (one.as_f64(), other.as_f64()) {
        (Some(a), Some(b)) => (a - b).abs() <= 1e-7 * a.abs().max(b.abs()),
        _ => one == other,
    }
}

#[test]
fn settings_and_partings_are_those_of_the_lineage() {
    let truth = truth();
    for folder in ["ms210-summary", "ms20-summary"] {
        for expected in truth[folder].as_array().unwrap() {
            let run = |side: &str| {
                let name = expected[side].as_str().unwrap();
                let fixtures = workspace_root().join("tests/fixtures");
                fixtures.join(folder).join(name)
            };
            let answer = diff(&run("a"), &run("b"), &["--format", "json"]).json();
            let found = answer["configuration"].as_array().unwrap();
            let differs = expected["configuration_differs"].as_object().unwrap();
            assert_eq!(found.len(), differs.len(), "{expected:#}");
            for setting in found {
                let values = &differs[setting["key"].as_str().unwrap()];
                let both = [0, 1]
                    .iter()
                    .all(|at| agree(&setting["values"][at], &values[at]));
                assert!(both, "{setting:#} {values:#}");
            }
            let parted = answer["parted"].as_array().unwrap().iter();
            let scalars: Vec<&Value> = parted
                .filter(|parting| !parting["values"].is_null())
                .collect();
            let firsts = expected["first_step_of_scalars_beyond_0.01"].as_object();
            let firsts = firsts.unwrap();
            assert_eq!(scalars.len(), firsts.len(), "{expected:#}");
            for scalar in scalars {
                let first = &firsts[scalar["name"].as_str().unwrap()];
                assert_eq!(scalar["step"], first["step"]);
                assert!(
                    agree(&scalar["difference"], &first["difference"]),
                    "{scalar:#} {first:#}"
                );
            }
        }
    }
}

#[test]
fn each_tensor_parts_where_numpy_found_it() {
    let truth = truth();
    for (pair, expected) in truth["torch-steps"].as_object().unwrap() {
        let other = pair.rsplit(' ').next().unwrap();
        let [a, b] =
            ["torch-healthy".to_owned(), format!("torch-{other}")].map(|name| Dump::unpack(&name));
        let answer = diff(&a.path, &b.path, &["--format", "json"]).json();
        assert_eq!(answer["common_steps"], expected["common_steps"], "{pair}");
        let parted = answer["parted"].as_array().unwrap().iter();
        let tensors: Vec<&Value> = parted
            .filter(|parting| parting["values"].is_null())
            .collect();
        let firsts = expected["parted"].as_object().unwrap();
        assert_eq!(tensors.len(), firsts.len(), "{pair}");
        for tensor in tensors {
            let name = tensor["name"].as_str().unwrap();
            assert_eq!(tensor["step"], firsts[name], "{pair} {name}");
            let size = &expected["tensors_at_first_step"][name];
            let is_near = match (size.as_f64(), tensor["difference"].as_f64()) {
                (Some(a), Some(b)) => (a - b).abs() < 1e-5,
                _ => size.is_null() || *size == tensor["difference"],
            };
            assert!(is_near, "{pair} {name}: {tensor:#} {size}");
        }
    }
}

/// Batches of 8 and of 16: curves have every step, tensors have the last one that was recorded before.
pub(crate) fn assert_aligned_by_samples(parting: &Value) {
    let [base, other] = ["step", "other_step"].map(|key| parting[key].as_i64().unwrap());
    if parting["values"].is_null() {
        assert!(2 * other <= base, "{parting:#}");
    } else {
        assert_eq!(2 * other, base, "{parting:#}");
    }
}

#[test]
fn samples_align_runs_of_other_batch_sizes() {
    let run = |name: &str| {
        workspace_root()
            .join("tests/fixtures/ms210-summary")
            .join(name)
    };
    let (healthy, larger) = (run("healthy"), run("hp-batch16"));
    let answer = diff(
        &healthy,
        &larger,
        &["--align", "samples", "--format", "json"],
    )
    .json();
    let parted = answer["parted"].as_array().unwrap();
    assert!(!parted.is_empty());
    for parting in parted {
        assert_aligned_by_samples(parting);
    }
    let fixtures = workspace_root().join("tests/fixtures/torch-tensorboard/torch/hp0");
    let unknown = diff(&fixtures, &fixtures, &["--align", "epoch"]);
    assert!(unknown.out.contains("compared by step"), "{unknown:?}");
}
