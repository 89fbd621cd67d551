//! `check` in shards gives the answer of one process, byte for byte, whatever order, number, repetition or loss of
//! shards.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use tempfile::TempDir;

use crate::cli::check::safetensors;
use crate::support::lab::{Recording, copy_folder, workspace_root};
use crate::support::terminal::{CommandOutput, trainscope_in};

const FORMATS: [&str; 5] = ["text", "json", "junit", "sarif", "github"];
const RANKS: u32 = 8;
const STEPS: u32 = 12;

/// A folder with a training of eight ranks in `run`: a flipped bit of rank 5 from step 7 on, a NaN on rank 2 at step 9.
struct Training(TempDir);

impl Training {
    fn new() -> Self {
        let training = Self(TempDir::new().unwrap());
        for rank in 0..RANKS {
            for step in 0..STEPS {
                fs::create_dir_all(training.path(&format!("run/rank_{rank}"))).unwrap();
                fs::write(training.path(&file(rank, step)), tensors(rank, step)).unwrap();
            }
        }
        Recording::begin(&training.path("run/rank_0"))
            .curve("loss", 0..STEPS.into(), |step| 2.0 - 0.1 * step as f32);
        training
    }

    fn path(&self, below: &str) -> PathBuf {
        self.0.path().join(below)
    }

    fn run(&self, args: &[&str]) -> CommandOutput {
        trainscope_in(self.0.path(), &[&["check", "run"], args].concat())
    }

    fn shard(&self, shard: &str, folder: &str) -> CommandOutput {
        let done = self.run(&["--shard", shard, "--summaries", folder]);
        assert_eq!(done.status, 0, "{done:?}");
        done
    }

    fn shards(&self, of: u32, folder: &str) {
        for number in 0..of {
            self.shard(&format!("{number}/{of}"), folder);
        }
    }
}

fn file(rank: u32, step: u32) -> String {
    format!("run/rank_{rank}/step_{step}.safetensors")
}

fn tensors(rank: u32, step: u32) -> Vec<u8> {
    let number = |seed: u32, at: u32| ((seed * 7919 + at * 104_729) % 1000) as f32 / 500.0 - 1.0;
    let values = |seed: u32| -> Vec<f32> { (0..96).map(|at| number(seed + step, at)).collect() };
    let mut weight = values(1);
    let mut gradient = values(2);
    if rank == 5 && step >= 7 {
        weight[3] = f32::from_bits(weight[3].to_bits() ^ (1 << 20));
    }
    if rank == 2 && step == 9 {
        gradient[40] = f32::NAN;
    }
    safetensors(&[
        ("weight/fc1.weight", &weight),
        ("gradient/fc1.weight", &gradient),
        ("activation/relu1", &values(rank + 3)),
    ])
}

/// A result without its times.
fn timeless(text: &str) -> String {
    let times = regex::Regex::new(r#"time="[^"]*"|\d+(\.\d+)? (s|ms)\b"#).unwrap();
    times.replace_all(text, "TIME").into_owned()
}

fn is_equal(found: &CommandOutput, expected: &CommandOutput, format: &str) {
    assert_eq!(found.status, expected.status, "{found:?}");
    if format == "json" || format == "sarif" {
        assert_eq!(found.out, expected.out);
    } else {
        assert_eq!(timeless(&found.out), timeless(&expected.out), "{format}");
    }
}

#[test]
fn any_number_of_shards_in_any_order_gives_the_answer_of_one_process() {
    let training = Training::new();
    let expected = FORMATS.map(|format| training.run(&["--format", format]));
    let answer = expected[1].json();
    assert_eq!(answer["first_cause"]["rank"], 5, "{answer}");
    assert!(answer["hits"].as_array().unwrap().len() > 2, "{answer}");
    for of in [1_u32, 2, 3, 7, 64, 200] {
        let folder = format!("summaries-{of}");
        // An order with repetitions: 37 is prime to all numbers of shards.
        for turn in 0..of + of / 3 {
            training.shard(&format!("{}/{of}", (turn * 37 + 5) % of), &folder);
        }
        for (format, expected) in FORMATS.into_iter().zip(&expected) {
            let flags = ["--summaries", &folder, "--complete", "--format", format];
            is_equal(&training.run(&flags), expected, format);
        }
    }
}

#[test]
fn missing_shards_are_computed_and_counted_or_named() {
    let training = Training::new();
    let expected = training.run(&["--format", "json"]);
    let plan = training.run(&["--plan", "p", "--shards", "7"]);
    assert_eq!(plan.status, 0, "{plan:?}");
    assert!(
        plan.out.contains("96 steps of 8 ranks, 96 files"),
        "{plan:?}"
    );
    assert!(plan.out.contains("7 shards"), "{plan:?}");
    for number in [6, 1, 3] {
        let shard = format!("{number}/7");
        let done = training.run(&["--plan", "p", "--shard", &shard, "--summaries", "s"]);
        assert_eq!(done.status, 0, "{done:?}");
    }
    let judge = ["--plan", "p", "--summaries", "s", "--format", "json"];
    let complete = training.run(&[&judge[..], &["--complete"]].concat());
    assert_eq!((complete.status, complete.out.as_str()), (2, ""));
    assert!(
        complete.err.contains("shards 0, 2, 4, 5 of 7"),
        "{complete:?}"
    );
    let found = training.run(&judge);
    is_equal(&found, &expected, "json");
    assert!(found.err.contains("288 summaries, "), "{found:?}");
    assert!(!found.err.contains(" 0 of them computed here"), "{found:?}");
    // The rest was written, too.
    let again = training.run(&judge);
    is_equal(&again, &expected, "json");
    assert!(
        again.err.contains("288 summaries, 0 of them computed here"),
        "{again:?}"
    );
}

#[test]
fn damaged_files_and_those_of_another_version_are_named_and_computed_again() {
    let training = Training::new();
    let expected = training.run(&["--format", "json"]);
    training.shards(3, "s");
    let mut files: Vec<_> = fs::read_dir(training.path("s"))
        .unwrap()
        .map(|file| file.unwrap().path())
        .collect();
    files.sort();
    let mut bytes = fs::read(&files[0]).unwrap();
    bytes[30] ^= 1;
    fs::write(&files[0], &bytes).unwrap();
    fs::write(&files[1], b"TSSUM9\n and something else that is longer").unwrap();
    let found = training.run(&["--summaries", "s", "--format", "json"]);
    is_equal(&found, &expected, "json");
    for (file, problem) in [
        (&files[0], "a wrong checksum"),
        (&files[1], "another kind or version"),
    ] {
        let name = file.file_name().unwrap().to_str().unwrap();
        let line = found.err.lines().find(|line| line.contains(name)).unwrap();
        assert!(
            line.contains("at byte ") && line.contains(problem),
            "{line}"
        );
        assert!(line.contains("run its shard again"), "{line}");
    }
    // Shards that run again repair them.
    fs::remove_dir_all(training.path("s")).unwrap();
    training.shards(3, "s");
    fs::write(&files[2], b"").unwrap();
    training.shard("2/3", "s");
    let found = training.run(&["--summaries", "s", "--format", "json", "--complete"]);
    is_equal(&found, &expected, "json");
}

#[test]
fn sample_runs_give_the_answer_of_one_process() {
    let folder = TempDir::new().unwrap();
    copy_folder(
        &workspace_root().join("sample-runs"),
        &folder.path().join("run"),
    );
    let run = |args: &[&str]| trainscope_in(folder.path(), &[&["check", "run"], args].concat());
    for number in [2, 0, 1] {
        let done = run(&["--shard", &format!("{number}/3"), "--summaries", "s"]);
        assert_eq!(done.status, 0, "{done:?}");
    }
    for format in FORMATS {
        let flags = ["--format", format, "--all", "--verbose"];
        let found = run(&[&flags[..], &["--summaries", "s", "--complete"]].concat());
        is_equal(&found, &run(&flags), format);
    }
}

#[test]
fn other_watchpoints_are_judged_right_from_the_same_summaries() {
    let training = Training::new();
    training.shards(2, "s");
    fs::write(
        training.path("rules.toml"),
        "[[watchpoint]]\ncondition = \"tensor_too_large\"\nparams = { abs_mean_gt = 0.1 }\n",
    )
    .unwrap();
    let flags = ["--watchpoints", "rules.toml", "--format", "json"];
    let expected = training.run(&flags);
    let found = training.run(&[&flags[..], &["--summaries", "s"]].concat());
    is_equal(&found, &expected, "json");
}

#[test]
fn a_folder_that_was_moved_keeps_its_summaries_and_a_changed_file_does_not() {
    let training = Training::new();
    training.shards(2, "s");
    fs::create_dir(training.path("elsewhere")).unwrap();
    fs::rename(training.path("run"), training.path("elsewhere/run")).unwrap();
    let moved = trainscope_in(
        &training.path("elsewhere"),
        &[
            "check",
            "run",
            "--summaries",
            "../s",
            "--complete",
            "--quiet",
        ],
    );
    assert_eq!(moved.status, 1, "{moved:?}");
    fs::rename(training.path("elsewhere/run"), training.path("run")).unwrap();
    fs::write(training.path(&file(0, 11)), tensors(0, 3)).unwrap();
    let found = training.run(&["--summaries", "s", "--format", "json"]);
    assert!(
        found.err.contains("288 summaries, 3 of them computed here"),
        "{found:?}"
    );
    is_equal(&found, &training.run(&["--format", "json"]), "json");
}

#[test]
fn files_that_changed_since_the_plan_end_a_shard_and_the_judgement() {
    let training = Training::new();
    assert_eq!(training.run(&["--plan", "p"]).status, 0);
    // A training that goes on does not matter.
    fs::write(
        training.path("run/rank_0/step_12.safetensors"),
        tensors(0, 12),
    )
    .unwrap();
    let shard = ["--plan", "p", "--shard", "0/1", "--summaries", "s"];
    let judge = [
        "--plan",
        "p",
        "--summaries",
        "s",
        "--complete",
        "--format",
        "json",
    ];
    assert_eq!(training.run(&shard).status, 0);
    let found = training.run(&judge);
    assert_eq!(found.status, 1, "{found:?}");
    fs::write(training.path(&file(3, 4)), tensors(3, 5)).unwrap();
    for flags in [&shard[..], &judge[..]] {
        let found = training.run(flags);
        assert_eq!((found.status, found.out.as_str()), (2, ""), "{found:?}");
        assert!(
            found.err.contains("run/rank_3/step_4.safetensors"),
            "{found:?}"
        );
        assert!(
            found.err.contains("planned ") && found.err.contains(", now "),
            "{found:?}"
        );
    }
}

#[test]
fn a_damaged_plan_and_one_of_other_folders_are_named() {
    let training = Training::new();
    assert_eq!(training.run(&["--plan", "p", "--shards", "2"]).status, 0);
    let whole = fs::read(training.path("p")).unwrap();
    let again = training.run(&["--plan", "p", "--shards", "3"]);
    assert!(
        again.status == 2 && again.err.contains("made already"),
        "{again:?}"
    );
    let other = trainscope_in(training.0.path(), &["check", "run", "run", "--plan", "p"]);
    assert!(
        other.status == 2 && other.err.contains("2 are given"),
        "{other:?}"
    );
    for at in (0..whole.len()).step_by(whole.len() / 23 + 1) {
        let mut bytes = whole.clone();
        bytes[at] ^= 4;
        for bytes in [&bytes[..], &whole[..at]] {
            fs::write(training.path("p"), bytes).unwrap();
            let found = training.run(&["--plan", "p"]);
            assert_eq!(found.status, 2, "{at}: {found:?}");
            assert!(
                found.err.contains("the plan cannot be used: at byte"),
                "{found:?}"
            );
        }
    }
}

#[test]
fn parts_that_do_not_exist_and_folders_that_refuse_are_errors_before_anything_is_read() {
    let training = Training::new();
    for shard in ["64/64", "0/0", "a/b"] {
        let found = training.run(&["--shard", shard, "--summaries", "s"]);
        assert_eq!(found.status, 2);
        assert!(
            found.err.contains(&format!("there is no shard {shard}")),
            "{found:?}"
        );
    }
    let found = training.run(&["--shard", "0/2"]);
    assert!(
        found.status == 2 && found.err.contains("--summaries"),
        "{found:?}"
    );
    fs::create_dir(training.path("closed")).unwrap();
    fs::set_permissions(training.path("closed"), fs::Permissions::from_mode(0o555)).unwrap();
    fs::set_permissions(
        training.path("run/rank_0"),
        fs::Permissions::from_mode(0o000),
    )
    .unwrap();
    let found = training.run(&["--shard", "0/2", "--summaries", "closed"]);
    fs::set_permissions(
        training.path("run/rank_0"),
        fs::Permissions::from_mode(0o755),
    )
    .unwrap();
    assert_eq!(found.status, 2, "{found:?}");
    assert!(
        found
            .err
            .contains("the folder of summaries cannot be written to"),
        "{found:?}"
    );
}
