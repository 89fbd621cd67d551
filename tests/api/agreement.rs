//! Numbers of profiles that appear in several places: the same in the API, in `check` and in the report.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;

use flate2::read::GzDecoder;
use serde_json::Value;
use tempfile::TempDir;
use trainscope_format::digits::{bytes, nanos, percent};

use crate::support::lab::{copy_folder, fixture, workspace_root};
use crate::support::server::query;
use crate::support::terminal::trainscope_in;
use crate::support::wait::wait_for;
use crate::support::{Lab, Server};

/// Runs with profiles, whose names are those of their folders: samples, and recordings of `PyTorch` and `MindSpore`.
const RUNS: [&str; 7] = [
    "sample-runs/torch/profiled",
    "sample-runs/torch/eight-ranks",
    "sample-runs/torch/siamese",
    "sample-runs/mlp/diverging",
    "sample-runs/candle",
    "tests/fixtures/profile/torch-cnn",
    "tests/fixtures/ms210-profiler/slow-data",
];

fn ask(server: &Server, path: &str, run: &str, more: &[(&str, &str)]) -> Value {
    let all = [&[("run", run)], more].concat();
    server.get(&format!("{path}?{}", query(&all))).json()
}

fn number(value: &Value) -> i64 {
    value.as_i64().unwrap_or_else(|| panic!("{value}"))
}

fn time(value: &Value) -> String {
    nanos(number(value).unsigned_abs())
}

fn check(run: &Path) -> Value {
    let run = run.display().to_string();
    let printed = trainscope_in(Path::new("."), &["check", &run, "--format", "json"]);
    serde_json::from_str(&printed.out).unwrap_or_else(|error| panic!("{error}: {printed:?}"))
}

fn report(run: &Path) -> String {
    let folder = TempDir::new().unwrap();
    let to = folder.path().join("report.html").display().to_string();
    let run = run.display().to_string();
    let printed = trainscope_in(Path::new("."), &["report", &run, "-o", &to]);
    assert_eq!(printed.status, 0, "{printed:?}");
    fs::read_to_string(to).unwrap()
}

/// The newest session of each rank, as its overview.
fn overviews(server: &Server, run: &str) -> Vec<Value> {
    let list = wait_for(&format!("profiles of {run}"), || {
        let list = ask(server, "/api/profile", run, &[]);
        let sessions = list["sessions"].as_array().filter(|all| !all.is_empty())?;
        Some(sessions.clone())
    });
    let newest = &list[0]["session"];
    let sessions = list.iter().filter(|session| session["session"] == *newest);
    let overviews = sessions.map(|session| {
        let (name, rank) = (
            session["session"].as_str().unwrap(),
            session["rank"].to_string(),
        );
        let asked = [("session", name), ("rank", &*rank)];
        ask(server, "/api/profile/overview", run, &asked)["sessions"][0].clone()
    });
    overviews.collect()
}

fn said<'a>(summary: &'a Value, what: &str) -> &'a str {
    summary[what]["en"].as_str().unwrap()
}

/// The step, and the waiting for data of the page of the pipeline and of the profile.
fn steps_and_waiting_agree(overview: &Value, pipeline: &Value, run: &str) {
    let step = number(&overview["mean_step_nanos"]);
    if overview["steps_from"] != "none" {
        let whole = overview["mean_parts_nanos"]
            .as_object()
            .unwrap()
            .values()
            .map(number)
            .sum::<i64>();
        assert!((whole - step).abs() <= 8, "{run}: {whole} {step}");
        let text = format!("A step takes {}", time(&overview["mean_step_nanos"]));
        assert!(
            said(overview, "sentence").starts_with(&text),
            "{run}: {overview}"
        );
    }
    let mut inputs = pipeline["inputs"].as_array().unwrap().iter();
    let Some(input) = inputs.find(|input| input["rank"] == overview["rank"]) else {
        return;
    };
    let share = percent(input["share"].as_f64().unwrap());
    if input["clock"] == "spans" {
        assert_eq!(number(&input["mean_whole_nanos"]), step, "{run}");
        assert_eq!(
            input["mean_input_nanos"], overview["mean_parts_nanos"]["data"],
            "{run}"
        );
    } else {
        let whole = time(&input["mean_whole_nanos"]);
        assert!(
            said(overview, "sentence").contains(&format!("of the {whole} from batch to batch"))
        );
        assert_eq!(overview["input"]["share"], input["share"], "{run}");
    }
    let wait = time(&input["mean_input_nanos"]);
    let sentence = said(overview, "sentence");
    assert!(
        sentence.contains(&share) && sentence.contains(&wait),
        "{run}: {sentence} {wait} {share}"
    );
}

fn peaks_agree(overview: &Value, memory: &Value, run: &str) {
    let totals = overview["memory"].as_array().unwrap();
    assert_eq!(memory["devices"], overview["memory"], "{run}");
    let mut totals = totals.iter();
    let Some(total) = totals.find(|total| total["device"] == memory["device"]) else {
        return;
    };
    let peak = number(&total["peak_len_bytes"]);
    let allocated: Vec<i64> = memory["allocated"]
        .as_array()
        .unwrap()
        .iter()
        .map(number)
        .collect();
    assert_eq!(allocated.iter().max(), Some(&peak), "{run}");
    let series = memory["series"].as_array().unwrap();
    for (at, allocated) in allocated.iter().enumerate() {
        let stack: i64 = series
            .iter()
            .map(|values| number(&values["bytes"][at]))
            .sum();
        assert_eq!(stack, *allocated, "{run}: {at}");
    }
    let held = memory["holders"].as_array().unwrap().iter();
    assert_eq!(
        held.map(|holder| number(&holder["bytes"])).sum::<i64>(),
        peak,
        "{run}"
    );
    assert_eq!(number(&memory["at_len_bytes"]), peak, "{run}");
}

/// A link to a step of a rank leads to the time of the step on its timeline.
fn steps_begin_alike(overview: &Value, row: &Value, ranks: &Value, run: &str) {
    let mut rows = ranks["ranks"].as_array().unwrap().iter();
    let at = rows.position(|other| other == row).unwrap();
    let steps = overview["steps"].as_array().unwrap();
    for (column, of) in ranks["steps"].as_array().unwrap().iter().enumerate() {
        let Some(step) = steps.iter().find(|step| step["number"] == *of) else {
            continue;
        };
        let begin = number(&ranks["begin_nanos"][at][column]);
        let end = begin + number(&ranks["length_nanos"][at][column]);
        let own = (number(&step["begin_nanos"]), number(&step["end_nanos"]));
        assert_eq!((begin, end), own, "{run}: {of}");
    }
}

/// Hits of `check` have the gain and the words of the advice of their rank.
fn findings_agree(overview: &Value, checked: &Value, run: &str) {
    for advice in overview["advice"].as_array().unwrap() {
        let rank = if advice["rank"].is_null() {
            &overview["rank"]
        } else {
            &advice["rank"]
        };
        let hits = checked["hits"].as_array().unwrap();
        let mut hits = hits.iter().chain(checked["notes"].as_array().unwrap());
        let hit = hits.find(|hit| hit["condition"] == advice["id"] && hit["rank"] == *rank);
        // Not every rule is a recommended watchpoint.
        let Some(hit) = hit else { continue };
        let gain = hit["values"]["gain_secs"].as_f64().unwrap_or(0.0) * 1e9;
        assert!(
            (gain - advice["gain_nanos"].as_f64().unwrap()).abs() < 1.0,
            "{run}: {hit}"
        );
        let first = &checked["first_cause"];
        if first["condition"] == advice["id"] && first["rank"] == *rank {
            let evidence = said(advice, "evidence").trim_end_matches('.');
            let summary = checked["runs"][0]["summary"].as_str().unwrap();
            assert!(summary.starts_with(evidence), "{run}: {summary} {evidence}");
        }
    }
    let rules = overview["not_judged"].as_array().unwrap();
    let is_open = rules.iter().any(|rule| rule["applies"] == true);
    assert_eq!(overview["unjudged"].is_null(), !is_open, "{run}");
    if !overview["unjudged"].is_null() {
        let open = said(overview, "unjudged");
        assert!(said(overview, "detail").ends_with(open), "{run}: {open}");
    }
}

#[test]
fn every_number_of_a_profile_is_the_same_wherever_it_is_shown() {
    let lab = Lab::new();
    for name in RUNS {
        copy_folder(&workspace_root().join(name), &lab.base().join(last(name)));
    }
    // A real profiler writes these files unpacked, next to those of the data set.
    let executions = "cpu_op_execute_timestamp_0.txt";
    let packed = fixture("profile/ms210-slow-data").join(format!("{executions}.gz"));
    let mut text = String::new();
    let mut packed = GzDecoder::new(File::open(packed).unwrap());
    packed.read_to_string(&mut text).unwrap();
    let folder = lab.base().join("slow-data/vm_1_ascend_ms/FRAMEWORK");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(executions), text).unwrap();
    let server = lab.start();
    for name in RUNS {
        let run = last(name);
        let folder = lab.base().join(run);
        let (checked, page) = (check(&folder), report(&folder));
        let all = overviews(&server, run);
        let pipeline = ask(&server, "/api/pipeline", run, &[]);
        let ranks = ask(&server, "/api/profile/ranks", run, &[]);
        for (overview, row) in all.iter().zip(ranks["ranks"].as_array().unwrap()) {
            steps_and_waiting_agree(overview, &pipeline, run);
            findings_agree(overview, &checked, run);
            let rank = overview["rank"].to_string();
            let asked = [
                ("session", overview["session"].as_str().unwrap()),
                ("rank", &*rank),
            ];
            peaks_agree(
                overview,
                &ask(&server, "/api/profile/memory", run, &asked),
                run,
            );
            assert_eq!(
                row["median_step_nanos"], overview["median_step_nanos"],
                "{run}"
            );
            steps_begin_alike(overview, row, &ranks, run);
            let peaks = overview["memory"].as_array().unwrap().iter();
            let peak = peaks
                .map(|device| number(&device["peak_len_bytes"]))
                .max()
                .unwrap_or(0);
            assert_eq!(number(&row["peak_len_bytes"]), peak, "{run}");
            assert!(peak == 0 || all.len() > 1 || page.contains(&bytes(peak.unsigned_abs())));
        }
        // The report and the head of the run are about the first rank.
        for text in [said(&all[0], "sentence"), said(&all[0], "detail")] {
            assert!(page.contains(text), "{run}: {text}");
        }
        let first = &checked["first_cause"];
        let is_of_profile = all[0]["advice"]
            .as_array()
            .unwrap()
            .iter()
            .any(|advice| advice["id"] == first["condition"]);
        assert!(
            !is_of_profile
                || first["rank"] == all[0]["rank"]
                || first["condition"] == "straggler_rank"
        );
        let stragglers = ranks["stragglers"].as_array().unwrap().iter();
        let slow: Vec<_> = stragglers
            .map(|straggler| (&straggler["rank"], &straggler["from_step"]))
            .collect();
        let hits = checked["hits"].as_array().unwrap().iter();
        let hits = hits.filter(|hit| hit["condition"] == "straggler_rank");
        assert_eq!(
            hits.map(|hit| (&hit["rank"], &hit["step"]))
                .collect::<Vec<_>>(),
            slow,
            "{run}"
        );
        if let Some(slow) = ranks["stragglers"].as_array().unwrap().first() {
            // Bars and sentence are about the same steps.
            let rank = number(&slow["rank"]);
            let lost = nanos(number(&slow["gain_nanos"]).unsigned_abs());
            let sentence = said(&ranks, "sentence");
            // The length of a step is that of one rank, on its own page: here is a share of it.
            let part = percent(1.0 - 1.0 / slow["slowness"].as_f64().unwrap());
            let wait = format!("wait {lost} ({part}) of every step for rank {rank}");
            assert!(sentence.contains(&wait), "{run}: {sentence}");
            assert_eq!(
                ranks["parts_steps"],
                serde_json::json!([slow["from_step"], slow["to_step"]])
            );
            let table = ranks["late_nanos"].as_array().unwrap().iter();
            let all: i64 = table
                .flat_map(|row| row.as_array().unwrap())
                .map(number)
                .sum();
            let steps = i64::try_from(ranks["steps"].as_array().unwrap().len()).unwrap();
            let lost = number(&ranks["lost_nanos"]);
            assert!((all / steps - lost).abs() <= 1, "{run}: {all} {lost}");
        }
    }
}

fn last(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}
