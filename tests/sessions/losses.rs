//! Servers that end, crash and stall while a training waits.

use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use trainscope_api::sessions::SessionState;

use super::training::{Sessions, Setup, Training};
use crate::support::lab::Lab;
use crate::support::server::program;
use crate::support::wait::wait_for;

/// Part of the note of a training that has gone on without its server.
const LOST: &str = "server was lost during a pause";

/// `true` if a file of the run has this text.
fn has_text(run: &Path, text: &str) -> bool {
    let mut files = std::fs::read_dir(run)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    files.any(|path| {
        let bytes = std::fs::read(&path).unwrap_or_default();
        let mut windows = bytes.windows(text.len());
        windows.any(|window| window == text.as_bytes())
    })
}

#[test]
fn a_training_goes_on_after_the_grace_when_the_server_crashes() {
    let lab = Lab::new();
    let server = lab.start();
    let run = lab.base().join("a");
    let training = Training::start(&Setup::new(&run, Some(&server)));
    server.wait_for_state("a", SessionState::Running);
    server.command("a", &json!({"name": "pause"}));
    server.wait_for_state("a", SessionState::Waiting);
    training.wait_until_still();
    let begun = Instant::now();
    server.crash();
    training.wait_until_moving();
    let took = begun.elapsed();
    assert!(took >= Duration::from_secs(9), "{took:?}");
    wait_for("the note about the lost server", || {
        has_text(&run, LOST).then_some(())
    });
}

#[test]
fn a_stopped_server_lets_its_trainings_go_on_at_once() {
    let lab = Lab::new();
    let server = lab.start();
    let run = lab.base().join("a");
    let training = Training::start(&Setup::new(&run, Some(&server)));
    server.wait_for_state("a", SessionState::Running);
    server.command("a", &json!({"name": "pause"}));
    server.wait_for_state("a", SessionState::Waiting);
    training.wait_until_still();
    let stopped = program(&lab).args(["stop", "--all"]).output().unwrap();
    let text = String::from_utf8(stopped.stdout).unwrap();
    assert!(text.contains("a was waiting, and goes on."), "{text}");
    training.wait_until_moving();
    assert!(!has_text(&run, LOST), "it goes on before the grace is over");
}

#[test]
fn a_server_that_comes_back_in_time_finds_the_training_waiting() {
    let lab = Lab::new();
    let server = lab.start();
    let port = server.address().rsplit(':').next().unwrap().to_owned();
    let training = Training::start(&Setup::new(&lab.base().join("a"), Some(&server)));
    server.wait_for_state("a", SessionState::Running);
    server.command("a", &json!({"name": "pause"}));
    let before = server.wait_for_state("a", SessionState::Waiting);
    training.wait_until_still();
    server.crash();
    let server = lab.start_with(&["--port", &port]);
    let session = server.wait_for_state("a", SessionState::Waiting);
    assert_eq!((session.step, &session.place), (before.step, &before.place));
    training.wait_until_still();
    assert_eq!(server.command("a", &json!({"name": "continue"})).0, 200);
    training.wait_until_moving();
    server.command("a", &json!({"name": "stop"}));
    training.end();
}

#[test]
fn a_server_that_stalls_holds_no_training() {
    let lab = Lab::new();
    let server = lab.start_with(&["--session-limits", "1,600,10"]);
    let pid = Pid::from_raw(i32::try_from(server.status().pid).unwrap()).unwrap();
    let training = Training::start(&Setup::new(&lab.base().join("a"), Some(&server)));
    server.wait_for_state("a", SessionState::Running);
    // Each step asks at its gate.
    server.command("a", &json!({"name": "step", "n": 1_000_000}));
    server.wait_for_state("a", SessionState::Stepping);
    kill_process(pid, Signal::STOP).unwrap();
    training.wait_until_still();
    // After three gates without an answer the training asks no longer.
    training.wait_until_moving();
    for _ in 0..100 {
        training.wait_until_moving();
    }
    kill_process(pid, Signal::CONT).unwrap();
    server.command("a", &json!({"name": "stop"}));
    training.end();
}

#[test]
fn a_second_training_of_a_process_has_a_session_of_its_own() {
    let lab = Lab::new();
    let server = lab.start();
    let setup = Setup::new(&lab.base().join("a"), Some(&server));
    let mut ids = Vec::new();
    for _ in 0..2 {
        let training = Training::start(&setup);
        ids.push(server.wait_for_state("a", SessionState::Running).id);
        assert_eq!(server.command("a", &json!({"name": "stop"})).0, 200);
        training.end();
        server.wait_for_state("a", SessionState::Finished);
    }
    assert_ne!(ids[0], ids[1]);
}
