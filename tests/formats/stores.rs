//! Recordings in an object store: the same as in a folder, for commands and for the server.

use std::fs;
use std::path::Path;
use std::time::Duration;

use trainscope_stores::stand_in::{Fault, Kind, SECRET, StandIn};

use crate::support::lab::{Lab, workspace_root};
use crate::support::server::Server;
use crate::support::terminal::{CommandOutput, trainscope_with};
use crate::support::wait::wait_for;

/// Runs a command with a path of the folder, and with that of its copy in the store; both outputs, addresses as paths.
fn both(store: &StandIn, folder: &Path, args: &[&str]) -> [CommandOutput; 2] {
    let environment = store.environment();
    let local = folder.to_str().unwrap();
    [local, "s3://bucket/runs"].map(|base| {
        let args: Vec<String> = args.iter().map(|arg| arg.replace("RUNS", base)).collect();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let mut said = trainscope_with(folder, &args, &environment);
        said.out = plain(&said.out.replace(base, "RUNS"));
        said.err = plain(&said.err.replace(base, "RUNS"));
        said
    })
}

/// A text without durations.
fn plain(text: &str) -> String {
    let took = regex::Regex::new(r"\d+(\.\d+)? (ms|s)\b|\d+(\.\d+)? [KMG]?i?B/s").unwrap();
    let seconds = regex::Regex::new(r#""took(_secs)?": ?[\d.e-]+"#).unwrap();
    let text = took.replace_all(text, "TIME");
    seconds.replace_all(&text, "TIME").into_owned()
}

#[test]
fn every_command_says_of_a_store_what_it_says_of_the_folder() {
    let store = StandIn::start();
    let samples = workspace_root().join("sample-runs");
    store.copy(&samples, "runs");
    for args in [
        &["check", "RUNS", "--format", "json"][..],
        &["check", "RUNS/mlp", "--format", "sarif"],
        &["check", "RUNS/torch", "--format", "text"],
        &["table", "RUNS", "--format", "csv"],
        &["export", "RUNS/mlp/diverging", "--kind", "scalars"],
        &["export", "RUNS/mlp/diverging", "--kind", "statistics"],
        &["export", "RUNS/torch/profiled", "--kind", "operators"],
        &["diff", "RUNS/mlp/healthy", "RUNS/mlp/diverging"],
        &["importance", "RUNS", "--target", "metric:train/loss"],
        &[
            "check",
            "RUNS/torch/profiled",
            "--against",
            "RUNS/torch/eight-ranks",
        ],
    ] {
        let [local, stored] = both(&store, &samples, args);
        assert_ne!(local.status, 2, "{args:?}: {local:?}");
        assert_eq!(local.status, stored.status, "{args:?}: {stored:?}");
        pretty_assertions(&local.out, &stored.out, args);
        pretty_assertions(&local.err, &stored.err, args);
        assert!(!stored.err.contains(SECRET));
    }
    assert!(!store.seen().contains(SECRET));
}

#[test]
fn google_and_http_are_read_like_s3() {
    let store = StandIn::start();
    let samples = workspace_root().join("sample-runs");
    store.copy(&samples.join("mlp/diverging"), "runs/diverging");
    let environment = store.environment();
    let check = |address: &str| {
        let said = trainscope_with(
            &samples,
            &["check", address, "--format", "json"],
            &environment,
        );
        let run = said.json()["runs"][0].clone();
        (
            said.status,
            said.json()["first_cause"].clone(),
            run["counts"].clone(),
        )
    };
    let local = check(samples.join("mlp/diverging").to_str().unwrap());
    assert_eq!(check("gs://bucket/runs/diverging"), local);
    assert_eq!(check("s3://bucket/runs/diverging"), local);

    let file = fs::read_dir(samples.join("candle")).unwrap();
    let mut names = file.map(|file| file.unwrap().file_name().into_string().unwrap());
    let name = names.find(|name| name.contains("tfevents")).unwrap();
    store.copy(&samples.join("candle"), "candle");
    let local = trainscope_with(
        &samples.join("candle"),
        &["export", &name, "--kind", "scalars"],
        &environment,
    );
    let address = format!("{}/bucket/candle/{name}", store.url());
    let stored = trainscope_with(
        &samples,
        &["export", &address, "--kind", "scalars"],
        &environment,
    );
    assert_eq!(
        (local.status, local.out),
        (stored.status, stored.out),
        "{}",
        stored.err
    );
}

/// Compares two texts line by line.
fn pretty_assertions(local: &str, stored: &str, args: &[&str]) {
    for (line, (local, stored)) in local.lines().zip(stored.lines()).enumerate() {
        assert_eq!(local, stored, "{args:?}, line {line}");
    }
    assert_eq!(local.lines().count(), stored.lines().count(), "{args:?}");
}

#[test]
fn a_server_follows_an_object_that_grows_and_keeps_what_it_read_while_the_store_fails() {
    let store = StandIn::start();
    let lab = Lab::new();
    let mut recording = lab.record("run");
    recording.curve("loss", 0..50, |step| step as f32);
    let key = "runs/run/events.out.tfevents.1";
    store.put(key, fs::read(recording.path()).unwrap());
    let base = Path::new("s3://bucket/runs");
    let server = Server::start_with(&lab, &[base], &store.environment());
    server.wait_for_points("run", "loss", 50);
    // The whole object again, as writers without appending do.
    recording.curve("loss", 50..80, |step| step as f32);
    let grown = fs::read(recording.path()).unwrap();
    let new_bytes = grown.len() as u64;
    store.put(key, grown);
    store.take_counts();
    let series = server.wait_for_points("run", "loss", 80);
    assert_eq!(series.values.len(), 80);
    let counts = store.take_counts();
    assert!(counts.bytes < new_bytes / 2, "{counts:?}");

    for _ in 0..9 {
        store.fail(Kind::List, Fault::Status(403, "AccessDenied"));
    }
    store.remove(key);
    let problems = wait_for("the problem", || {
        Some(server.status().notes).filter(|problems| !problems.is_empty())
    });
    assert!(
        problems[0].contains("has not answered since"),
        "{problems:?}"
    );
    assert!(!problems[0].contains(SECRET));
    server.wait_for_points("run", "loss", 80);
    let metrics = String::from_utf8(server.get("/metrics").body).unwrap();
    let lists = r#"trainscope_store_requests_total{store="s3://bucket",kind="list"}"#;
    assert!(metrics.contains(lists), "{metrics}");
}

#[test]
fn notes_are_kept_in_the_store() {
    let store = StandIn::start();
    let lab = Lab::new();
    let mut recording = lab.record("run");
    recording.curve("loss", 0..3, |step| step as f32);
    let key = "runs/run/events.out.tfevents.1";
    store.put(key, fs::read(recording.path()).unwrap());
    store.age(key, Duration::from_hours(5));
    let base = Path::new("s3://bucket/runs");
    let server = Server::start_with(&lab, &[base], &store.environment());
    server.wait_for_points("run", "loss", 3);
    let change = serde_json::json!({"version": 0, "runs": {"run": {"note": "kept"}}});
    let answer = server.patch("/api/notebook", &change);
    assert_eq!(answer.status, 200);
    let notes = store.get("runs/.trainscope/notebook.toml").unwrap();
    assert!(String::from_utf8_lossy(&notes).contains("kept"));

    // Another server has written since: its notes stay, and the change is refused.
    let theirs = "version = 7\n[runs.run]\nnote = \"theirs\"\n";
    store.put("runs/.trainscope/notebook.toml", theirs);
    let change = serde_json::json!({"version": 1, "runs": {"run": {"note": "mine"}}});
    let answer = server.patch("/api/notebook", &change);
    assert_eq!(answer.json()["code"], "conflict");
    assert_eq!(store.get("runs/.trainscope/notebook.toml").unwrap(), theirs);
    let now = server.get("/api/notebook").json();
    assert_eq!(now["runs"]["run"]["note"], "theirs");
}

#[test]
fn a_wrong_address_ends_with_what_is_wrong_before_any_request() {
    let store = StandIn::start();
    for (address, reason) in [
        ("s3:/bucket", "two slashes"),
        ("s3://", "names no bucket"),
        ("s4://x/y", "no known kind of address"),
        ("s3://Bucket_/x", "no name of a bucket"),
    ] {
        for command in ["check", "table"] {
            let args = [command, address];
            let said = trainscope_with(&workspace_root(), &args, &store.environment());
            assert_eq!(said.status, 2, "{said:?}");
            assert!(said.err.contains(reason), "{said:?}");
        }
    }
    let absent = trainscope_with(
        &workspace_root(),
        &["check", "s3://bucket/nothing"],
        &store.environment(),
    );
    assert_eq!(absent.status, 2);
    assert!(absent.err.contains("s3://bucket/nothing"), "{absent:?}");
    let output = ["check", "s3://bucket/nothing", "-o", "s3://bucket/report"];
    assert_eq!(
        trainscope_with(&workspace_root(), &output, &store.environment()).status,
        2
    );
}

#[test]
fn results_are_written_to_the_store() {
    let store = StandIn::start();
    let samples = workspace_root().join("sample-runs");
    let run = samples.join("mlp/diverging");
    let run = run.to_str().unwrap();
    for (args, key) in [
        (&["check", run, "--format", "json"][..], "out/check.json"),
        (&["export", run, "--kind", "scalars"], "out/scalars.csv"),
        (&["table", run, "--format", "csv"], "out/table.csv"),
        (&["report", run], "out/report.html"),
    ] {
        let address = format!("s3://bucket/{key}");
        let args = [args, &["-o", &address]].concat();
        let said = trainscope_with(&samples, &args, &store.environment());
        let written = store.get(key);
        assert!(written.is_some_and(|bytes| bytes.len() > 100), "{said:?}");
    }
}

#[test]
fn recordings_are_uploaded_once_and_as_they_grow() {
    let store = StandIn::start();
    let lab = Lab::new();
    let mut recording = lab.record("run");
    recording.curve("loss", 0..50, |step| step as f32);
    fs::write(lab.base().join("run/model.ckpt"), [0; 100]).unwrap();
    let run = lab.base().join("run");
    let upload = |flags: &[&str]| {
        let args = [&["upload", run.to_str().unwrap(), "s3://bucket/up"], flags].concat();
        trainscope_with(&lab.base(), &args, &store.environment())
    };
    let name = recording.path().file_name().unwrap().to_str().unwrap();
    let key = format!("up/{name}");
    let said = upload(&[]);
    assert_eq!(said.status, 0, "{said:?}");
    assert!(said.out.contains("1 file is at s3://bucket/up"), "{said:?}");
    assert_eq!(
        store.get(&key).unwrap(),
        fs::read(recording.path()).unwrap()
    );
    assert!(store.get("up/model.ckpt").is_none());
    store.take_counts();
    assert_eq!(upload(&[]).status, 0);
    assert_eq!(store.take_counts().writes, 0);

    // As it grows, until a process has ended.
    let mut process = std::process::Command::new("sleep")
        .arg("1")
        .spawn()
        .unwrap();
    recording.curve("loss", 50..60, |step| step as f32);
    let pid = process.id().to_string();
    let ended = std::thread::spawn(move || process.wait());
    let said = upload(&["--until-exit", &pid, "--every", "1"]);
    ended.join().unwrap().unwrap();
    assert_eq!(said.status, 0, "{said:?}");
    assert_eq!(
        store.get(&key).unwrap(),
        fs::read(recording.path()).unwrap()
    );

    let local = ["upload", run.to_str().unwrap(), "elsewhere"];
    let said = trainscope_with(&lab.base(), &local, &store.environment());
    assert_eq!(said.status, 2);
    assert!(said.err.contains("is no address"), "{said:?}");
}
