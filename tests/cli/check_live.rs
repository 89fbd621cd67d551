//! `check --live`: trainings that are ended at their first hit.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::sessions::training::{Setup, Training};
use crate::support::lab::{Lab, workspace_root};
use crate::support::server::program;
use crate::support::wait::wait_for;

/// Set to the folder of a run in the process that is the training of a test.
const TRAINING: &str = "TRAINSCOPE_TEST_TRAINING";

fn check(lab: &Lab, run: &Path, flags: &[&str], command: &[&str]) -> Command {
    let mut check = program(lab);
    check.arg("check").arg(run).arg("--live").args(flags);
    check.arg("--").args(command);
    check
}

fn output(command: &mut Command) -> (Option<i32>, String, String) {
    let Output {
        status,
        stdout,
        stderr,
    } = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code(), text(stdout), text(stderr))
}

/// A shell command that records a sample run into `$0` at once.
fn records(sample: &str, then: &str) -> String {
    let from = workspace_root().join("sample-runs").join(sample);
    format!(
        "mkdir -p \"$0\" && cp {}/events* \"$0\" && {then}",
        from.display()
    )
}

#[test]
fn a_training_stops_itself_before_the_update() {
    if let Some(run) = std::env::var_os(TRAINING) {
        // In the process that `check --live` has started.
        let mut setup = Setup::new(Path::new(&run), None);
        setup.nan = Some((0, 77));
        setup.at_hit = None;
        setup.total_steps = Some(5_000);
        let ends = Training::start(&setup).end();
        println!("ended after step {}", ends[0].1);
        return;
    }
    let lab = Lab::new();
    let run = lab.base().join("a");
    let program = std::env::current_exe().unwrap();
    let name = "cli::check_live::a_training_stops_itself_before_the_update";
    let words = [program.to_str().unwrap(), "--exact", name, "--nocapture"];
    let flags = ["--fail-on", "error", "--format", "json"];
    let (status, stdout, stderr) = output(check(&lab, &run, &flags, &words).env(TRAINING, &run));
    assert_eq!(status, Some(1), "{stderr}");
    assert!(stderr.contains("ended after step 76"), "{stderr}");
    let report: Value = serde_json::from_str(&stdout).unwrap();
    let live = &report["live"];
    assert_eq!(live["stopped_by"], "training", "{live}");
    assert_eq!(live["stopped_at_step"], 77);
    assert_eq!(
        (&live["total_steps"], &live["status"]),
        (&5_000.into(), &0.into())
    );
    assert!(live["saved_secs"].as_f64().unwrap() > 0.0, "{live}");
    let hits = report["hits"].as_array().unwrap();
    let is_overflow = |hit: &Value| hit["condition"] == "gradient_exploding" && hit["step"] == 77;
    assert!(hits.iter().any(is_overflow), "{hits:?}");
    let (status, stdout, _) =
        output(check(&lab, &run, &["--fail-on", "error"], &words).env(TRAINING, &run));
    assert_eq!(status, Some(1));
    assert!(
        stdout.contains("Stopped at step 77 of 5,000 after"),
        "{stdout}"
    );
    let reason = stdout.split("were not spent. Reason: ").nth(1);
    assert!(
        reason.is_some_and(|reason| reason.contains("at step 77 in fc.weight")),
        "{stdout}"
    );
}

#[test]
fn a_training_of_another_writer_gets_a_signal() {
    let lab = Lab::new();
    let run = lab.base().join("a");
    let script = records("mlp/overflow", "sleep 300");
    let words = ["sh", "-c", &script, run.to_str().unwrap()];
    let (status, stdout, stderr) = output(&mut check(&lab, &run, &["--format", "json"], &words));
    assert_eq!(status, Some(1), "{stderr}");
    assert!(stderr.contains("it gets the signal TERM"), "{stderr}");
    let report: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(report["live"]["stopped_by"], "signal");
    assert_eq!(report["live"]["stopped_at_step"], Value::Null);
    assert_eq!(report["live"]["status"], 143);
}

#[test]
fn the_status_is_that_of_the_judgement_or_of_the_command() {
    let lab = Lab::new();
    for (name, script, wanted) in [
        ("healthy", records("mlp/healthy", "true"), 0),
        ("failed", records("mlp/healthy", "exit 7"), 7),
        ("killed", records("mlp/healthy", "kill -KILL $$"), 137),
        ("hit", records("mlp/overflow", "exit 7"), 1),
        ("silent", "exit 9".to_owned(), 9),
        ("nothing", "true".to_owned(), 2),
    ] {
        let run = lab.base().join(name);
        let words = ["sh", "-c", &script, run.to_str().unwrap()];
        let (status, stdout, stderr) =
            output(&mut check(&lab, &run, &["--fail-on", "error"], &words));
        assert_eq!(status, Some(wanted), "{name}: {stdout}{stderr}");
    }
    let run = lab.base().join("none");
    let (status, _, stderr) = output(&mut check(&lab, &run, &[], &["/no/such/program"]));
    assert_eq!(status, Some(2));
    assert!(stderr.contains("the command cannot be started"), "{stderr}");
    let (status, _, stderr) = output(program(&lab).args(["check", "x", "--every", "2"]));
    assert_eq!(status, Some(2), "{stderr}");
}

#[test]
fn an_interrupt_goes_to_the_command() {
    let lab = Lab::new();
    let run = lab.base().join("a");
    let script = records(
        "mlp/healthy",
        "trap 'echo caught > \"$0/end\"; exit 3' INT; : > \"$0/ready\"; while :; do sleep 0.1; done",
    );
    let words = ["sh", "-c", &script, run.to_str().unwrap()];
    let mut child = check(&lab, &run, &[], &words)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    wait_for("the command", || run.join("ready").exists().then_some(()));
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let status = wait_for("the end", || child.try_wait().unwrap());
    assert_eq!(status.code(), Some(130));
    assert!(run.join("end").exists(), "the command had its own end");
}
