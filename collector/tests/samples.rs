//! Reproducibility of the example: it writes the runs below `sample-runs/mlp` again, to the last byte.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Path of the example, which cargo builds next to the tests.
fn example() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let built = test.parent().and_then(Path::parent).unwrap();
    built.join(format!("examples/mlp{}", std::env::consts::EXE_SUFFIX))
}

/// The files below a folder, by their path in it.
fn files(folder: &Path, below: &str, found: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(folder.join(below)).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let path = format!("{below}{name}");
        if entry.path().is_dir() {
            files(folder, &format!("{path}/"), found);
        } else if name != "RUN.toml" {
            found.insert(path, fs::read(entry.path()).unwrap());
        }
    }
}

#[test]
fn sample_runs_are_made_again_to_the_last_byte() {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sample-runs/mlp");
    let made = tempfile::tempdir().unwrap();
    for (name, fault) in [
        ("healthy", "none"),
        ("diverging", "diverging"),
        ("torn", "torn"),
    ] {
        let run = made.path().join(name);
        let output = Command::new(example())
            .args(["--same-bytes", "--fault", fault, "--out"])
            .arg(&run)
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        let (mut wanted, mut seen) = (BTreeMap::new(), BTreeMap::new());
        files(&samples.join(name), "", &mut wanted);
        files(&run, "", &mut seen);
        let names = |files: &BTreeMap<String, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&seen), names(&wanted));
        for (path, bytes) in &wanted {
            assert!(
                seen[path] == *bytes,
                "{name}/{path} is another one: `cargo xtask samples` if that is meant"
            );
        }
    }
}
