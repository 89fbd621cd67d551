//! `trainscope diff`: the first difference of two runs.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

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
            printed.out.contains("equal    A and B are the same"),
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
        text.out.contains("A and B part at step 4 in weight/"),
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
    assert!(printed.out.contains("First to part"), "{printed:?}");
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
