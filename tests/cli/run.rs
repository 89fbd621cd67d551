//! `trainscope run`: the command behaves as without it, and the screen at the end judges the runs of its processes.
//!
//! Shell scripts stand for trainings; programs of Python are in `collector/python/tests/frameworks/test_run.py`.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::support::lab::{Lab, workspace_root};
use crate::support::server::program;
use crate::support::wait::wait_for;

/// The end of a shell script that `trainscope run` has started.
struct Outcome {
    status: i32,
    out: String,
    err: String,
}

fn run(lab: &Lab, flags: &[&str], words: &[&str]) -> Outcome {
    let output = command(lab, flags, words).output().unwrap();
    Outcome {
        status: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

fn command(lab: &Lab, flags: &[&str], words: &[&str]) -> Command {
    let mut command = program(lab);
    command.arg("run").args(flags).arg("--").args(words);
    command.current_dir(lab.base());
    command
}

fn shell(lab: &Lab, script: &str) -> Outcome {
    run(lab, &["--out", "a"], &["sh", "-c", script])
}

/// A shell command that records a sample run as a Python process would, into the folder of the variable `folder`.
fn records(sample: &str) -> String {
    let from = workspace_root().join("sample-runs").join(sample);
    format!(
        "folder=${{folder:-$TRAINSCOPE_OUT}}; mkdir -p \"$folder\"; cp {}/events* \"$folder\"; \
         printf %s \"$folder\" > \"$TRAINSCOPE_LAUNCHER/run-${{process:-$$}}\"; ",
        from.display()
    )
}

#[test]
fn streams_and_the_exit_status_are_those_of_the_command() {
    let lab = Lab::new();
    let mut child = command(
        &lab,
        &["--out", "a"],
        &["sh", "-c", "cat; echo wrong >&2; exit 7"],
    )
    .stdin(Stdio::piped())
    .stdout(Stdio::piped())
    .stderr(Stdio::piped())
    .spawn()
    .unwrap();
    child.stdin.take().unwrap().write_all(b"given\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(7));
    assert_eq!(output.stdout, b"given\n");
    let err = String::from_utf8(output.stderr).unwrap();
    assert!(
        err.starts_with("wrong\n\nNothing was recorded: no Python"),
        "{err}"
    );
    assert!(!lab.base().join("a").exists(), "an empty folder is removed");
}

#[test]
fn commands_that_do_not_start_or_are_killed_end_as_in_a_shell() {
    let lab = Lab::new();
    let file = lab.base().join("plain");
    fs::write(&file, "no program").unwrap();
    for (words, status, said) in [
        (
            &["/no/such/program"][..],
            127,
            "/no/such/program is not found",
        ),
        (&["no-such-program"], 127, "no-such-program is not found"),
        (&["./plain"], 126, "plain cannot be executed"),
        (&["/"], 126, "/ cannot be executed"),
        (
            &["sh", "-c", "kill -KILL $$"],
            137,
            "ended by signal 9 (KILL)",
        ),
        (
            &["sh", "-c", "kill -SEGV $$"],
            139,
            "ended by signal 11 (SEGV)",
        ),
    ] {
        let done = run(&lab, &[], words);
        assert_eq!(done.status, status, "{}", done.err);
        assert!(done.err.contains(said), "{}", done.err);
    }
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(run(&lab, &[], &["./plain"]).status, 126, "it has no format");
    assert!(
        !lab.base().join("runs").exists(),
        "empty folders are removed"
    );
    assert_eq!(run(&lab, &[], &[]).status, 2, "there is no command");
    let done = run(&lab, &["--out", "plain/a"], &["true"]);
    assert_eq!(done.status, 2, "{}", done.err);
    assert!(done.err.contains("cannot be made"), "{}", done.err);
}

#[test]
fn a_signal_is_handed_on_once() {
    let lab = Lab::new();
    let script = "trap 'echo caught' USR1; trap 'echo end; exit 5' TERM; : > ready; while :; do sleep 0.05; done";
    let mut child = command(&lab, &["--out", "a"], &["sh", "-c", script])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_for("the command", || {
        lab.base().join("ready").exists().then_some(())
    });
    let pid = Pid::from_child(&child);
    kill_process(pid, Signal::USR1).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(300));
    kill_process(pid, Signal::TERM).unwrap();
    wait_for("the end", || child.try_wait().unwrap());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(5));
    assert_eq!(output.stdout, b"caught\nend\n");
}

#[test]
fn signals_that_are_ignored_stay_ignored() {
    let lab = Lab::new();
    let command = command(&lab, &["--out", "a"], &[]);
    let words: Vec<_> = std::iter::once(command.get_program())
        .chain(command.get_args())
        .map(|word| word.to_str().unwrap().to_owned())
        .collect();
    let script = format!(
        "trap '' HUP; exec {} sh -c 'kill -HUP $$; echo alive'",
        words.join(" ")
    );
    let output = Command::new("sh")
        .args(["-c", &script])
        .current_dir(lab.base())
        .output()
        .unwrap();
    assert_eq!(
        output.stdout,
        b"alive\n",
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn settings_reach_the_processes() {
    let lab = Lab::new();
    let script = "echo $TRAINSCOPE_EVERY $TRAINSCOPE_AT_HIT $TRAINSCOPE_CAPSULE $TRAINSCOPE_PREFLIGHT $TRAINSCOPE_SERVER; \
                  echo $TRAINSCOPE_OUT; echo ${PYTHONPATH#*:}; ls ${PYTHONPATH%%:*}";
    let flags = [
        "--every",
        "4",
        "--capsule",
        "--at-hit",
        "pause",
        "--preflight",
        "--live",
        "http://h:1",
        "--out",
        "a/b",
    ];
    let output = command(&lab, &flags, &["sh", "-c", script])
        .env("PYTHONPATH", "x:y")
        .output()
        .unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    let folder = lab.base().join("a/b");
    let wanted = format!(
        "4 pause 1 1 http://h:1\n{}\nx:y\nsitecustomize.py\n",
        folder.display()
    );
    assert_eq!(out, wanted);
}

#[test]
fn the_screen_says_the_verdict_the_cause_and_the_place() {
    let lab = Lab::new();
    let done = shell(
        &lab,
        &format!("{} echo trained; exit 3", records("mlp/overflow")),
    );
    assert_eq!((done.status, &*done.out), (3, "trained\n"));
    let lines: Vec<&str> = done.err.lines().collect();
    assert!(lines[1].starts_with("a  "), "{}", done.err);
    assert!(lines[3].starts_with("error"), "{}", done.err);
    for said in ["First cause", "Most likely", "  Run          a\n"] {
        assert!(done.err.contains(said), "{said}: {}", done.err);
    }
    let last = "  Page         trainscope start --summary-base-dir a\n";
    assert!(done.err.ends_with(last), "{}", done.err);
    let done = shell(&lab, &records("mlp/healthy"));
    assert_eq!(done.status, 0);
}

#[test]
fn several_runs_have_a_line_each() {
    let lab = Lab::new();
    let second = records("mlp/healthy");
    let script = format!(
        "{} folder=$TRAINSCOPE_OUT-2; process=4194000; {second}",
        records("mlp/overflow")
    );
    let done = shell(&lab, &script);
    assert!(done.err.contains("2 runs"), "{}", done.err);
    assert!(
        done.err.contains("  Run          a\n               a-2\n"),
        "{}",
        done.err
    );
    assert!(done.err.ends_with("--summary-base-dir .\n"), "{}", done.err);
}

#[test]
fn a_process_that_still_records_is_named() {
    let lab = Lab::new();
    let script = format!(
        "sleep 60 >/dev/null 2>&1 & process=$!; {} echo $process $TRAINSCOPE_LAUNCHER",
        records("mlp/healthy")
    );
    let done = shell(&lab, &script);
    let (process, launcher) = done.out.trim().split_once(' ').unwrap();
    let said = format!("Process {process} still records");
    assert!(done.err.contains(&said), "{}", done.err);
    // Its children look into the folder.
    assert!(Path::new(launcher).join("site/sitecustomize.py").exists());
    let pid = Pid::from_raw(process.parse().unwrap()).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
    fs::remove_dir_all(launcher).unwrap();
    let done = shell(
        &lab,
        &format!("{} echo $TRAINSCOPE_LAUNCHER", records("mlp/healthy")),
    );
    assert!(
        !Path::new(done.out.trim()).exists(),
        "it is removed otherwise"
    );
}

#[test]
fn what_processes_leave_is_not_trusted() {
    let lab = Lab::new();
    let script = "cd $TRAINSCOPE_LAUNCHER; : > run-; : > run-x; echo /nowhere > run-1; head -c 100000 /dev/zero > run-2; \
                  mkdir run-3; : > run--4; : > run-99999999999999999999; printf '\\377' > run-5; : > imported-torch; : > python";
    let done = shell(&lab, script);
    assert_eq!(done.status, 0, "{}", done.err);
    assert!(done.err.contains("no training was seen"), "{}", done.err);
    // A folder whose name would move the cursor.
    let script = format!("folder=$(printf 'x\\033[2J'); {}", records("mlp/healthy"));
    let done = shell(&lab, &script);
    assert!(
        done.err.contains("  Run          x\u{fffd}[2J\n"),
        "{}",
        done.err
    );
    assert!(!done.err.contains('\x1b'), "{}", done.err);
}

#[test]
fn each_run_has_a_folder_of_its_own() {
    let lab = Lab::new();
    let script = records("mlp/healthy");
    let words = ["sh", "-c", &script, "train.py"];
    for _ in 0..3 {
        assert_eq!(run(&lab, &[], &words).status, 0);
    }
    let names: Vec<String> = fs::read_dir(lab.base().join("runs"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(names.len(), 3, "{names:?}");
    assert!(
        names.iter().all(|name| name.starts_with("train-")),
        "{names:?}"
    );
}

#[test]
fn the_page_is_opened_beside_the_training() {
    let lab = Lab::new();
    let done = run(
        &lab,
        &["--page", "--out", "a"],
        &["sh", "-c", &records("mlp/healthy")],
    );
    assert_eq!(done.status, 0, "{}", done.err);
    assert!(done.out.is_empty(), "{}", done.out);
    let line = done.err.lines().next().unwrap();
    assert!(
        line.starts_with("Started: http://127.0.0.1:"),
        "{}",
        done.err
    );
    let stopped = program(&lab).arg("stop").output().unwrap();
    assert!(stopped.status.success());
}
