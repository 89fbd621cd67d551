//! What the server finds in runs: the same as `trainscope check`, by the watchpoints that lie beside them.

use std::collections::BTreeMap;
use std::fs;

use serde_json::{Value, json};
use trainscope_api::findings::{Findings, Judging};
use trainscope_api::paths;

use crate::support::lab::workspace_root;
use crate::support::server::query;
use crate::support::terminal::trainscope_in;
use crate::support::{Lab, Server, wait_for};

fn findings(server: &Server, run: &str) -> Findings {
    let answer = server.get(&format!("{}?{}", paths::FINDINGS, query(&[("run", run)])));
    assert_eq!(answer.status, 200, "{run}");
    serde_json::from_slice(&answer.body).unwrap()
}

/// Severity, condition, rank, step and tensor of each hit that is not merely worth knowing.
fn serious(hits: &[Value]) -> Vec<String> {
    let mut serious: Vec<String> = hits
        .iter()
        .filter(|hit| hit["severity"] != "info")
        .map(|hit| {
            let names = ["severity", "condition", "rank", "step", "tensor"];
            names.map(|name| hit[name].to_string()).join(" ")
        })
        .collect();
    serious.sort();
    serious
}

#[test]
fn the_page_and_the_command_line_find_the_same() {
    let samples = workspace_root().join("sample-runs");
    let lab = Lab::new();
    let server = lab.start_on(&[&samples], &[]);
    let runs = wait_for("every run to be judged", || {
        let list = server.get(paths::RUNS).json();
        let runs = list["runs"].as_array().unwrap().clone();
        let is_judged = |run: &Value| !run["health"].is_null();
        (runs.len() > 15 && runs.iter().all(is_judged)).then_some(runs)
    });
    let checked = trainscope_in(&samples, &["check", ".", "--format", "json"]).json();
    let mut by_run: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for hit in checked["hits"].as_array().unwrap() {
        by_run
            .entry(hit["run"].as_str().unwrap())
            .or_default()
            .push(hit.clone());
    }
    let mut with_hits = 0;
    for run in &runs {
        let id = run["id"].as_str().unwrap();
        let seen = findings(&server, id);
        assert_eq!(seen.state, Judging::Done, "{id}");
        let hits = serde_json::to_value(&seen.hits).unwrap();
        let expected = by_run.remove(id).unwrap_or_default();
        assert_eq!(
            serious(hits.as_array().unwrap()),
            serious(&expected),
            "{id}"
        );
        let counts = &run["health"]["counts"];
        let serious = counts["error"].as_u64().unwrap() + counts["warning"].as_u64().unwrap();
        assert_eq!(
            serious > 0,
            !expected.iter().all(|hit| hit["severity"] == "info"),
            "{id}"
        );
        with_hits += u64::from(serious > 0);
    }
    assert!(by_run.is_empty(), "{by_run:?}");
    assert!(with_hits >= 5, "{with_hits}");
}

#[test]
fn hits_are_filtered_and_paged() {
    let lab = Lab::new();
    let samples = workspace_root().join("sample-runs/mlp");
    let server = lab.start_on(&[&samples], &[]);
    let all = wait_for("the run to be judged", || {
        let seen = findings(&server, "diverging");
        (seen.state == Judging::Done).then_some(seen)
    });
    assert!(all.total > 10 && all.first_cause.is_some());
    let ask = |pairs: &[(&str, &str)]| -> Findings {
        let pairs = [&[("run", "diverging")], pairs].concat();
        let answer = server.get(&format!("{}?{}", paths::FINDINGS, query(&pairs)));
        assert_eq!(answer.status, 200, "{pairs:?}");
        serde_json::from_slice(&answer.body).unwrap()
    };
    let errors = ask(&[("severity", "error")]);
    assert_eq!(errors.total, all.counts.error);
    assert_eq!(errors.counts, all.counts);
    let named = ask(&[("search", "FC1.BIAS")]);
    assert!(named.total > 0 && named.hits.iter().all(|hit| hit.tensor.contains("fc1.bias")));
    let page = ask(&[("from", "2"), ("limit", "3")]);
    assert_eq!((page.total, &page.hits[..]), (all.total, &all.hits[2..5]));
    for wrong in [
        [("limit", "0")],
        [("limit", "1000000")],
        [("severity", "bad")],
    ] {
        let pairs = [&[("run", "diverging")], &wrong[..]].concat();
        let answer = server.get(&format!("{}?{}", paths::FINDINGS, query(&pairs)));
        assert_eq!(answer.status, 400, "{wrong:?}");
    }
    let unknown = server.get(&format!("{}?{}", paths::FINDINGS, query(&[("run", "no")])));
    assert_eq!(unknown.status, 404);
}

#[test]
fn watchpoints_beside_the_runs_count_and_a_mistake_in_them_is_said() {
    let lab = Lab::new();
    let folder = lab.base().join(".trainscope");
    fs::create_dir(&folder).unwrap();
    let path = folder.join("watchpoints.toml");
    fs::write(
        &path,
        "[[watchpoint]]\ncondition = \"loss_nan\"\nname = \"mine\"\n",
    )
    .unwrap();
    let mut recording = lab.record("run");
    recording.curve("train/loss", 0..30, |step| 1.0 / (1.0 + step as f32));
    let server = lab.start();
    let judged = |what: &str, is_so: &dyn Fn(&Findings) -> bool| {
        wait_for(what, || {
            Some(findings(&server, "run")).filter(|seen| is_so(seen))
        })
    };
    let seen = judged("the run to be judged", &|seen| seen.state == Judging::Done);
    assert_eq!(seen.watchpoints.len(), 1);
    assert_eq!((&*seen.watchpoints[0].title.en, seen.total), ("mine", 0));
    assert!(seen.watchpoints_file.unwrap().ends_with("watchpoints.toml"));

    // The training goes wrong while the server looks on.
    recording.curve("train/loss", 30..31, |_| f32::NAN);
    let seen = judged("the hit", &|seen| seen.total == 1);
    assert_eq!(
        (seen.hits[0].step, &*seen.hits[0].tensor),
        (30, "train/loss")
    );
    assert_eq!(seen.counts.error, 1);

    // The mistake does not take away what was there.
    fs::write(&path, "[[watchpoint]]\ncondition = \"loss_man\"\n").unwrap();
    let seen = judged("the mistake", &|seen| seen.watchpoints_problem.is_some());
    assert!(seen.watchpoints_problem.unwrap().contains("loss_man"));
    assert_eq!(seen.total, 1);
    fs::remove_file(&path).unwrap();
    let seen = judged("the recommended ones", &|seen| seen.watchpoints.len() > 10);
    assert_eq!(
        serde_json::to_value(seen.watchpoints_file).unwrap(),
        json!(null)
    );
}

#[test]
fn notes_are_kept_beside_the_runs_and_the_second_is_told() {
    let lab = Lab::new();
    lab.record("run").scalar("loss", 0, 1.0);
    let server = lab.start();
    let patch = |body: &Value| server.patch(paths::NOTEBOOK, body);
    let note =
        |version: u64, text: &str| json!({"version": version, "runs": {"run": {"note": text}}});
    assert_eq!(patch(&note(0, "best so far")).json()["version"], 1);
    let refused = patch(&note(0, "mine"));
    assert_eq!(
        (refused.status, &refused.json()["code"]),
        (409, &json!("conflict"))
    );
    assert_eq!(patch(&json!({"version": 1, "rnus": {}})).status, 400);
    let text = fs::read_to_string(lab.base().join(".trainscope/notebook.toml")).unwrap();
    assert!(text.contains("best so far"), "{text}");
    drop(server);
    let again = lab.start();
    assert_eq!(
        again.get(paths::NOTEBOOK).json()["runs"]["run"]["note"],
        "best so far"
    );
}
