//! `trainscope check --against`: profiles compared with a good one, from another run or an exported file.

use std::fs;

use serde_json::{Value, json};

use crate::cli::check::{Place, names};

use crate::support::lab::{Recording, STARTED_SECS};
use crate::support::terminal::{CommandOutput, trainscope_in};

/// Rules that compare.
const RULES: [&str; 2] = ["step_time_regression", "operator_regression"];

/// A trace of `PyTorch`: steps of one large operator, and of a dozen small ones of which the last takes `last_micros`.
pub(crate) fn trace(steps: u64, large_micros: u64, last_micros: u64) -> Vec<u8> {
    let mut events = Vec::new();
    let mut slice = |category: &str, name: &str, begin: u64, micros: u64| {
        events.push(json!({"ph": "X", "cat": category, "name": name, "pid": 1, "tid": 1, "ts": begin, "dur": micros}));
    };
    let mut begin = 1_000;
    for step in 0..steps {
        let large = large_micros + step % 3;
        slice(
            "user_annotation",
            &format!("ProfilerStep#{step}"),
            begin,
            large + 12 * 110 + last_micros,
        );
        slice("cpu_op", "aten::mm", begin + 10, large - 20);
        let mut at = begin + large;
        for small in 0..12 {
            slice("cpu_op", &format!("aten::small{small}"), at, 100);
            at += 110;
        }
        slice("cpu_op", "aten::last", at, last_micros - 10);
        begin = at + last_micros + 5;
    }
    let file = json!({
        "schemaVersion": 1,
        "deviceProperties": [],
        "baseTimeNanoseconds": 1_000_000_000_000_000_000_u64,
        "traceEvents": events,
    });
    file.to_string().into_bytes()
}

/// Runs of equal programs, with the length of their steps in the name.
pub(crate) fn place() -> Place {
    let place = Place::new();
    let of = |run: &str| format!("{run}/host_1.100.pt.trace.json");
    place
        .write(&of("good"), &trace(20, 10_000, 50))
        .write(&of("slow"), &trace(20, 14_000, 50))
        .write(&of("slower"), &trace(20, 30_000, 50))
        .write(&of("last"), &trace(20, 10_000, 400))
        .write(&of("short"), &trace(3, 10_000, 50));
    Recording::begin_file(
        &place.0.path().join("curve/events.out.tfevents.1.a"),
        STARTED_SECS,
    )
    .scalar("loss", 0, 1.0)
    .scalar("loss", 1, 0.9);
    place
}

fn check(place: &Place, run: &str, against: &str, flags: &[&str]) -> CommandOutput {
    let all = ["check", run, "--against", against, "--format", "json"];
    trainscope_in(place.0.path(), &[&all, flags].concat())
}

/// Hits and notes about a comparison: condition and severity.
fn found(answer: &Value) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for list in ["hits", "notes"] {
        let all = names(answer, list, "condition").into_iter();
        found.extend(all.zip(names(answer, list, "severity")));
    }
    found.retain(|(condition, _)| RULES.contains(&&**condition));
    found.sort();
    found
}

/// Reasons why comparisons were not judged, of the steps first.
fn lacks(answer: &Value) -> Vec<String> {
    let all = answer["inconclusive"].as_array().unwrap().iter();
    let of = |rule: &str| {
        let entries = all.clone().filter(|entry| entry["condition"] == rule);
        entries
            .map(|entry| entry["reason"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    RULES.iter().flat_map(|rule| of(rule)).collect()
}

fn pair(condition: &str, severity: &str) -> (String, String) {
    (condition.to_owned(), severity.to_owned())
}

#[test]
fn a_run_that_became_slower_fails_and_the_same_run_passes() {
    let place = place();
    let same = check(&place, "good", "good", &[]);
    assert_eq!(same.status, 0, "{same:?}");
    assert_eq!((found(&same.json()), lacks(&same.json())), (vec![], vec![]));
    let slow = check(&place, "slow", "good", &[]);
    assert_eq!(slow.status, 1, "{slow:?}");
    let expected = [pair(RULES[1], "info"), pair(RULES[0], "warning")];
    assert_eq!(found(&slow.json()), expected);
    let slower = found(&check(&place, "slower", "good", &[]).json());
    assert_eq!(slower[1], pair(RULES[0], "error"));
    // A faster run is not a hit.
    let fast = check(&place, "good", "slow", &[]);
    assert_eq!((fast.status, found(&fast.json())), (0, vec![]));
    // Without the flag nothing is compared.
    let alone = trainscope_in(place.0.path(), &["check", "slow", "--format", "json"]);
    assert_eq!((alone.status, found(&alone.json())), (0, vec![]));
}

#[test]
fn an_exported_profile_is_a_baseline() {
    let place = place();
    let export = ["export", "good", "--kind", "profile", "--format", "json"];
    let exported = trainscope_in(
        place.0.path(),
        &[&export[..], &["-o", "good.json"]].concat(),
    );
    assert_eq!(exported.status, 0, "{exported:?}");
    let against = |run: &str, flags: &[&str]| check(&place, run, "good.json", flags);
    for run in ["good", "slow", "slower", "last"] {
        let (of_file, of_run) = (against(run, &[]), check(&place, run, "good", &[]));
        assert_eq!(of_file.status, of_run.status, "{run}");
        assert_eq!(of_file.json()["hits"], of_run.json()["hits"], "{run}");
        assert_eq!(of_file.json()["notes"], of_run.json()["notes"], "{run}");
    }
    // An operator that was not among the largest of the baseline.
    let last = found(&against("last", &["--fail-on", "info"]).json());
    assert_eq!(last, [pair(RULES[1], "info")]);
    // A baseline of another device is compared on request only.
    let path = place.0.path().join("good.json");
    let mut other: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    other["sessions"][0]["device_name"] = json!("another one");
    place.write("good.json", other.to_string().as_bytes());
    let refused = against("slow", &[]);
    let reason = || "other_device".to_owned();
    assert_eq!(lacks(&refused.json()), [reason(), reason()]);
    assert_eq!((refused.status, found(&refused.json())), (0, vec![]));
    assert_eq!(against("slow", &["--strict"]).status, 2);
    assert_eq!(against("slow", &["--any-device"]).status, 1);
}

#[test]
fn a_comparison_that_cannot_be_made_has_not_passed() {
    let place = place();
    place.write("none.json", b"{\"sessions\": []}");
    for (run, against, reason) in [
        ("good", "short", "too_few_baseline_steps"),
        ("short", "good", "too_few_steps"),
        ("good", "curve", "no_baseline_profile"),
        ("good", "none.json", "no_baseline_profile"),
        ("curve", "good", "no_profile"),
    ] {
        let output = check(&place, run, against, &[]);
        let lacks = lacks(&output.json());
        assert_eq!(
            lacks.first().map(String::as_str),
            Some(reason),
            "{run} {against}"
        );
        assert_eq!(found(&output.json()), [], "{run} {against}");
        let strict = check(&place, run, against, &["--strict"]);
        assert_eq!(strict.status, 2, "{run} {against}");
    }
    place.write("wrong.json", b"{\"hits\": []}");
    for (against, text) in [
        ("wrong.json", "neither a run nor an exported profile"),
        ("missing", "there is no folder missing"),
        (".", "holds 6 runs, and one is the baseline"),
    ] {
        let output = check(&place, "good", against, &[]);
        assert_eq!(output.status, 2, "{against}");
        assert!(output.err.contains(text), "{against}: {}", output.err);
    }
}

#[test]
fn a_file_of_watchpoints_may_set_the_limits_of_a_comparison() {
    let place = place();
    place.write(
        "rules.toml",
        b"[[watchpoint]]\ncondition = \"step_time_regression\"\nfactor_gt = 1.5\n",
    );
    let output = check(&place, "slow", "good", &["--watchpoints", "rules.toml"]);
    assert_eq!(found(&output.json()), [pair(RULES[1], "info")]);
    assert_eq!(output.status, 0);
}
