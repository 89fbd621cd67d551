//! Pause, look, step, continue, stop: by the API and by the command line.

use std::process::Command;

use serde_json::{Value, json};
use trainscope_api::sessions::SessionState;
use trainscope_collector::AtHit;

use super::training::{Sessions, Setup, Training, command_at};
use crate::support::lab::Lab;
use crate::support::server::{Server, program, query};
use crate::support::wait::wait_for;

#[test]
fn a_training_is_paused_looked_at_and_goes_on_with_the_same_result() {
    let lab = Lab::new();
    let server = lab.start();
    let mut setup = Setup::new(&lab.base().join("alone"), None);
    setup.steps = 2_000;
    let wanted = Training::start(&setup).end();
    let setup = Setup {
        run: lab.base().join("a"),
        address: Some(server.address().to_owned()),
        steps: 2_000,
        ..setup
    };
    let training = Training::start(&setup);
    server.wait_for_state("a", SessionState::Running);
    assert_eq!(server.command("a", &json!({"name": "pause"})).0, 200);
    let session = server.wait_for_state("a", SessionState::Waiting);
    assert_eq!(session.place.as_deref(), Some("before_update"));
    assert_eq!(session.run.as_deref(), Some("a"));
    assert!(session.goes_on_secs.unwrap() > 500.0);
    assert_eq!(server.status().waiting, 1);
    wait_for("the run to name its session", || server.run("a")?.session);
    training.wait_until_still();
    let list = server
        .get(&format!(
            "/api/session/tensors?session={}&pattern=grad",
            session.id
        ))
        .json();
    assert_eq!(list["items"][0]["name"], "fc.weight.grad");
    assert_eq!(list["items"][0]["shape"], json!([2, 3]));
    let read = |tensor: &str, slice: &str| {
        let pairs = [
            ("run", "a"),
            ("tensor", tensor),
            ("slice", slice),
            ("session", &session.id),
        ];
        let answer = server.get(&format!("/api/tensor?{}", query(&pairs)));
        (answer.status, answer.json())
    };
    let (status, answer) = read("fc.weight", "1, :");
    assert_eq!(status, 200, "{answer}");
    let mut weight = 1.0_f32;
    for _ in 0..session.step {
        weight -= 1e-4;
    }
    let values = answer["values"].as_array().unwrap();
    assert_eq!(values.len(), 3);
    for value in values {
        #[expect(clippy::cast_possible_truncation, reason = "it was an f32")]
        let value = value.as_f64().unwrap() as f32;
        assert_eq!(value.to_bits(), weight.to_bits());
    }
    assert_eq!(answer["source"], "session");
    // Statistics and files of the same memory; without a recorded step there is nothing to compare with.
    let ask = |path: &str, more: &[(&str, &str)]| {
        let pairs = [
            ("run", "a"),
            ("tensor", "fc.weight"),
            ("session", &session.id),
        ];
        server.get(&format!("{path}?{}", query(&[&pairs[..], more].concat())))
    };
    let summary = ask("/api/tensor_summary", &[("bins", "4")]).json();
    assert_eq!(summary["stats"]["count"], 6, "{summary}");
    assert_eq!(summary["step"], session.step);
    let file = ask("/api/tensor_file", &[("format", "npy")]);
    assert_eq!(file.status, 200);
    assert!(
        file.body
            .ends_with(&[weight; 6].map(f32::to_le_bytes).concat())
    );
    let compared = ask("/api/tensor", &[("compare", "previous")]);
    assert_eq!(compared.status, 404, "{}", compared.json());
    assert_eq!(read("fc.bias", ":").0, 404);
    assert_eq!(read("fc.weight", "7, :").0, 400);
    let (status, session) = server.command("a", &json!({"name": "step", "n": 5}));
    assert_eq!((status, &session["state"]), (200, &json!("stepping")));
    let before = session["step"].as_i64().unwrap();
    let session = wait_for("five steps", || {
        server
            .session_of("a")
            .filter(|session| session.state == SessionState::Waiting && session.step > before)
    });
    assert_eq!(session.step, before + 5);
    assert_eq!(server.command("a", &json!({"name": "continue"})).0, 200);
    assert_eq!(training.end(), wanted);
    let session = server.wait_for_state("a", SessionState::Finished);
    assert_eq!(serde_json::to_value(session.end).unwrap(), "finished");
    assert_eq!(server.command("a", &json!({"name": "pause"})).0, 400);
    assert_eq!(read("fc.weight", ":, :").0, 409);
}

#[test]
fn a_program_runs_each_time_that_a_training_begins_to_wait() {
    let lab = Lab::new();
    let told = lab.path("told");
    let command = format!("sh -c 'cat >> \"$0\"' {}", told.display());
    let server = lab.start_with(&["--on-wait", &command]);
    let training = Training::start(&Setup::new(&lab.base().join("a"), Some(&server)));
    server.wait_for_state("a", SessionState::Running);
    for times in 1..=2 {
        server.command("a", &json!({"name": "pause"}));
        let held = server.wait_for_state("a", SessionState::Waiting);
        let session = wait_for("the program", || {
            let text = std::fs::read_to_string(&told).ok()?;
            let all: Vec<Value> = text
                .lines()
                .filter_map(|line| serde_json::from_str(line).ok())
                .collect();
            (all.len() == times).then(|| all.last().cloned())?
        });
        assert_eq!(session["step"], held.step);
        assert_eq!(
            (&session["run"], &session["state"]),
            (&json!("a"), &json!("waiting"))
        );
        server.command("a", &json!({"name": "continue"}));
        server.wait_for_state("a", SessionState::Running);
    }
    server.command("a", &json!({"name": "stop"}));
    training.end();
}

#[test]
fn alerts_name_the_session_of_the_run() {
    let lab = Lab::new();
    let told = lab.path("told");
    let command = format!("sh -c 'cat >> \"$0\"' {}", told.display());
    let server = lab.start_with(&["--on-hit", &command, "--on-hit-severity", "error"]);
    let setup = Setup::new(&lab.base().join("a"), Some(&server));
    let training = Training::start(&Setup {
        nan: Some((0, 400)),
        ..setup
    });
    let session = server.wait_for_state("a", SessionState::Running);
    let alert = wait_for("the alert", || {
        let text = std::fs::read_to_string(&told).ok()?;
        serde_json::from_str::<Value>(text.lines().next()?).ok()
    });
    assert_eq!(
        (&alert["run"], &alert["session"]),
        (&json!("a"), &json!(session.id)),
        "{alert:#}"
    );
    server.command("a", &json!({"name": "stop"}));
    training.end();
}

#[test]
fn a_training_that_sees_its_folder_elsewhere_has_the_run_with_its_file() {
    let lab = Lab::new();
    let (linked, apart) = (lab.path("linked"), lab.path("apart"));
    std::fs::create_dir_all(&linked).unwrap();
    std::os::unix::fs::symlink(&linked, lab.base().join("run")).unwrap();
    let server = lab.start();
    // The second training of this process records into no folder of the server, so it does not get the run of the
    // first.
    let first = Training::start(&Setup::new(&lab.base().join("a"), Some(&server)));
    server.wait_for_state("a", SessionState::Running);
    let second = Training::start(&Setup::new(&apart, Some(&server)));
    let no_run = || {
        let mut all = server.sessions().into_iter();
        all.find(|session| session.run.is_none())
    };
    let unmatched = wait_for("the session without a run", no_run);
    let third = Training::start(&Setup {
        identity: Some(("elsewhere", 7)),
        ..Setup::new(&linked, Some(&server))
    });
    let session = wait_for("the run of the third session", || server.session_of("run"));
    assert_eq!(session.run.as_deref(), Some("run"));
    assert_eq!(server.run("run").unwrap().session, Some(session.id));
    assert_eq!(no_run().map(|session| session.id), Some(unmatched.id));
    for (name, training) in [("a", first), (&*unmatched.name, second), ("run", third)] {
        server.command(name, &json!({"name": "stop"}));
        training.end();
    }
}

#[test]
fn the_first_of_two_commands_wins() {
    let lab = Lab::new();
    let server = lab.start();
    let training = Training::start(&Setup::new(&lab.base().join("a"), Some(&server)));
    let session = server.wait_for_state("a", SessionState::Running);
    let pause = json!({"name": "pause"});
    assert_eq!(command_at(&server, &session, &pause).0, 200);
    let (status, answer) = command_at(&server, &session, &json!({"name": "stop"}));
    assert_eq!(status, 409);
    assert_eq!(answer["code"], "conflict");
    assert!(
        answer["message"].as_str().unwrap().contains("pause"),
        "{answer}"
    );
    assert_ne!(answer["session"]["state"], "stopping");
    for bad in [
        json!({"name": "dance"}),
        json!({"name": "step"}),
        json!({"name": "step", "n": 0}),
    ] {
        assert_eq!(server.command("a", &bad).0, 400, "{bad}");
    }
    // The turn changes once more when the pause has arrived at a gate.
    server.wait_for_state("a", SessionState::Waiting);
    assert_eq!(server.command("a", &json!({"name": "stop"})).0, 200);
    training.end();
    let session = server.wait_for_state("a", SessionState::Finished);
    assert_eq!(serde_json::to_value(session.end).unwrap(), "stopped");
    let unknown = json!({"session": "77", "turn": 0, "command": pause});
    let answer = server.post(
        "/api/session/command",
        "application/json",
        &unknown.to_string(),
    );
    assert_eq!(
        (answer.status, &answer.json()["code"]),
        (404, &json!("unknown_session"))
    );
}

#[test]
fn trainings_that_run_are_listed_before_those_that_have_ended() {
    let lab = Lab::new();
    let server = lab.start();
    let training = Training::start(&Setup::new(&lab.base().join("a"), Some(&server)));
    server.wait_for_state("a", SessionState::Running);
    let mut short = Setup::new(&lab.base().join("b"), Some(&server));
    short.steps = 300;
    Training::start(&short).end();
    server.wait_for_state("b", SessionState::Finished);
    let list = server.get("/api/sessions").json();
    let names = list["sessions"].as_array().unwrap().iter();
    let names: Vec<&str> = names
        .map(|session| session["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["a", "b"]);
    assert_eq!(server.command("a", &json!({"name": "stop"})).0, 200);
    training.end();
}

/// Changes the watchpoints of the run `a`; `None` removes its list.
fn change_watchpoints(server: &Server, conditions: Option<&[&str]>) {
    let list = server.get("/api/watchpoints?run=a").json();
    let tables = conditions.map(|conditions| {
        let tables = conditions
            .iter()
            .map(|condition| json!({"condition": condition}));
        tables.collect::<Vec<_>>()
    });
    let body = json!({
        "run": "a", "only_this_run": true, "version": list["version"], "watchpoints": tables,
    });
    let answer = server.put("/api/watchpoints", &body);
    assert_eq!(answer.status, 200, "{:#}", answer.json());
}

#[test]
fn a_training_that_runs_pauses_at_its_next_gate_by_new_watchpoints() {
    let lab = Lab::new();
    let server = lab.start();
    let mut setup = Setup::new(&lab.base().join("a"), Some(&server));
    setup.nan = Some((0, 400));
    setup.at_hit = Some(AtHit::Pause);
    // A training that runs could reach its first NaN before the server has found its files.
    let training = Training::start_connected(&setup, &server, || {
        wait_for("the run", || server.run("a"));
        change_watchpoints(&server, Some(&["loss_nan"]));
    });
    training.wait_for(500);
    assert_eq!(server.session_of("a").unwrap().state, SessionState::Running);
    change_watchpoints(&server, Some(&["loss_nan", "tensor_overflow"]));
    let session = server.wait_for_state("a", SessionState::Waiting);
    assert_eq!(session.hits[0].condition, "tensor_overflow");
    server.command("a", &json!({"name": "stop"}));
    training.end();
}

#[test]
fn a_training_that_waits_judges_its_step_again_by_other_watchpoints() {
    let lab = Lab::new();
    let server = lab.start();
    let mut setup = Setup::new(&lab.base().join("a"), Some(&server));
    setup.nan = Some((0, 20));
    setup.at_hit = Some(AtHit::Pause);
    let training = Training::start(&setup);
    let session = server.wait_for_state("a", SessionState::Waiting);
    assert_eq!(session.hits[0].condition, "gradient_exploding");
    wait_for("the run", || server.run("a"));
    let hits = |wanted: &[&str]| {
        wait_for(&format!("{wanted:?}"), || {
            let session = server.session_of("a")?;
            let found: Vec<&str> = session.hits.iter().map(|hit| &*hit.condition).collect();
            assert_eq!(session.state, SessionState::Waiting);
            (found == wanted).then_some(())
        });
    };
    change_watchpoints(&server, Some(&["loss_nan"]));
    hits(&[]);
    change_watchpoints(&server, Some(&["loss_nan", "tensor_overflow"]));
    hits(&["tensor_overflow"]);
    // Without a list it judges by the recommended watchpoints again.
    change_watchpoints(&server, None);
    wait_for("the hit of the recommended ones", || {
        let session = server.session_of("a")?;
        let mut conditions = session.hits.iter().map(|hit| &*hit.condition);
        conditions
            .any(|condition| condition == "gradient_exploding")
            .then_some(())
    });
    assert_eq!(server.session_of("a").unwrap().step, 20);
    server.command("a", &json!({"name": "stop"}));
    training.end();
}

#[test]
fn a_hit_pauses_before_the_update_and_check_agrees() {
    let lab = Lab::new();
    let server = lab.start();
    let mut setup = Setup::new(&lab.base().join("a"), Some(&server));
    setup.nan = Some((0, 133));
    setup.at_hit = Some(AtHit::Pause);
    let training = Training::start_connected(&setup, &server, || {});
    let session = server.wait_for_state("a", SessionState::Waiting);
    assert_eq!(
        (session.step, session.place.as_deref()),
        (133, Some("before_update"))
    );
    assert_eq!(session.hits[0].condition, "gradient_exploding");
    assert_eq!(serde_json::to_value(session.reason).unwrap(), "hit");
    let recorded = wait_for("the hit in the file", || {
        let answer = server.get("/api/recorded_hits?run=a&tag=hits");
        (answer.status == 200).then(|| answer.json())
    });
    assert!(
        recorded.to_string().contains("gradient_exploding"),
        "{recorded}"
    );
    server.command("a", &json!({"name": "stop"}));
    assert_eq!(training.end()[0].1, 132);
    let checked = program(&lab)
        .args(["check", "--format", "json"])
        .arg(lab.base().join("a"))
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&checked.stdout).unwrap();
    let text = report.to_string();
    assert!(
        text.contains("gradient_exploding") && text.contains("133"),
        "{text}"
    );
}

#[test]
fn a_training_that_runs_is_attached_and_controlled_from_the_command_line() {
    let lab = Lab::new();
    let server = lab.start();
    let training = Training::start(&Setup::new(&lab.base().join("a"), None));
    training.wait_for(20);
    wait_for("the run", || server.run("a"));
    let run = |words: &[&str]| {
        let output: std::process::Output = Command::output(program(&lab).args(words)).unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8(text).unwrap())
    };
    let (status, text) = run(&["control", "a", "status"]);
    assert_eq!(status, Some(1), "{text}");
    assert!(
        text.contains("a is not connected") && text.contains("trainscope attach a"),
        "{text}"
    );
    let file = lab.base().join("a/.trainscope/attach.json");
    let (status, text) = run(&["attach", "a"]);
    assert_eq!(
        (status, &*text),
        (Some(0), "a is connected. It pauses at errors.\n")
    );
    assert!(!file.exists(), "the file is taken away");
    let (status, text) = run(&["attach", "a"]);
    assert_eq!((status, &*text), (Some(0), "a is connected already.\n"));
    assert_eq!(run(&["attach", "b"]).0, Some(2));
    assert_eq!(run(&["control", "a", "pause"]).0, Some(0));
    server.wait_for_state("a", SessionState::Waiting);
    let (_, text) = run(&["control", "a", "status"]);
    assert!(
        text.contains("a: waiting before the update of step"),
        "{text}"
    );
    assert!(text.contains("RANK  STATE"), "{text}");
    let (_, text) = run(&["control", "a", "status", "--json"]);
    let session: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(session["state"], "waiting");
    let (_, text) = run(&["status"]);
    assert!(text.contains("WAITING"), "{text}");
    assert_eq!(run(&["control", "a", "step", "2"]).0, Some(0));
    server.wait_for_state("a", SessionState::Waiting);
    assert_eq!(run(&["control", "a", "extend", "60"]).0, Some(0));
    assert_eq!(run(&["control", "a", "continue"]).0, Some(0));
    training.wait_until_moving();
    assert_eq!(run(&["control", "a", "extend"]).0, Some(1));
    assert_eq!(run(&["control", "a", "stop"]).0, Some(0));
    training.end();
}

#[test]
fn pages_hear_of_the_steps_of_a_training_that_runs() {
    let lab = Lab::new();
    let server = lab.start();
    let training = Training::start(&Setup::new(&lab.base().join("a"), Some(&server)));
    let before = wait_for("the places of its gates", || {
        let session = server.session_of("a")?;
        (session.places == ["before_update"]).then_some(session)
    });
    let live = server.live();
    live.wait_for("sessions", |event| event.data["sessions_changed"] == true);
    let after = server.session_of("a").unwrap();
    assert_eq!((after.turn, after.state), (before.turn, before.state));
    assert!(after.step > before.step, "{after:?}");
    server.command("a", &json!({"name": "stop"}));
    training.end();
}
