//! Tensors and histograms in event files are judged like those of dumps, and so is NaN in any scalar.

use serde_json::{Value, json};
use trainscope_format::Histogram;
use trainscope_format::tensor::DType;

use crate::cli::check::floats;
use crate::judging::verdicts::{Events, Runs, at};
use crate::support::lab::{copy_folder, fixture};
use crate::support::{Browser, Lab};

impl Events {
    fn tensor(&mut self, tag: &str, step: i64, values: &[f32]) -> &mut Self {
        let shape = [values.len() as u64];
        let form = (DType::F32, &shape[..]);
        self.0.tensor(tag, at(step), form, &floats(values)).unwrap();
        self
    }

    fn histogram(&mut self, tag: &str, step: i64, histogram: &Histogram) -> &mut Self {
        self.0.histogram(tag, at(step), histogram).unwrap();
        self
    }
}

/// Weights of a step, all different and different at each step.
fn weights(step: i64, len: u16) -> Vec<f32> {
    let at = |index: u16| (f32::from(index) * 0.7 + step as f32 * 0.05).sin() * 0.3;
    (0..len).map(at).collect()
}

/// Condition, severity, tensor, steps and values of all hits.
fn hits(answer: &Value) -> Vec<String> {
    let all = ["hits", "notes"].map(|key| answer[key].as_array().unwrap().clone());
    let said = all.concat().into_iter().map(|hit| {
        format!(
            "{} {} {} {} {}",
            hit["condition"], hit["severity"], hit["tensor"], hit["step"], hit["values"]
        )
    });
    said.collect()
}

fn conditions(answer: &Value) -> Vec<(String, i64)> {
    let all = answer["hits"].as_array().unwrap().iter();
    let said = all.map(|hit| {
        let tensor = hit["tensor"].as_str().unwrap();
        (tensor.to_owned(), hit["step"].as_i64().unwrap())
    });
    said.collect()
}

#[test]
fn a_run_whose_only_tensor_is_nan_fails() {
    let runs = Runs::new();
    runs.events("nan")
        .tensor("weight/fc1.weight", 0, &[f32::NAN; 12]);
    let printed = runs.check("nan", &[]);
    assert_eq!(printed.status, 1, "{printed:?}");
    assert!(
        printed.out.contains("weight/fc1.weight") && !printed.out.contains("No problems"),
        "{}",
        printed.out
    );
    for format in ["json", "github", "junit", "sarif"] {
        let printed = runs.check("nan", &["--format", format]);
        assert_eq!(printed.status, 1, "{format}");
        assert!(
            printed.out.contains("fc1.weight"),
            "{format}: {}",
            printed.out
        );
    }
    let answer = runs.json("nan");
    assert_eq!(answer["first_cause"]["condition"], "weight_overflow");
    assert_eq!(answer["runs"][0]["verdict"], "problem");
    assert_eq!(answer["judged"]["tensors"], 1);
    // Next to a healthy run, too.
    runs.events("well")
        .tensor("weight/fc1.weight", 0, &weights(0, 12));
    let all = runs.check(".", &[]);
    assert_eq!(all.status, 1);
    assert!(
        all.out
            .lines()
            .any(|line| line.starts_with("error") && line.contains("nan")),
        "{}",
        all.out
    );
}

/// The same elements give the same findings in any file: statistics, hashes and changes.
#[test]
fn tensors_of_event_files_are_judged_like_those_of_dumps() {
    let values = |name: &str, step: i64| match name {
        // Constant since step 10, with an overflow at 25.
        "fc1.weight" => weights(step.min(10), 64),
        "fc2.weight" if step >= 25 => vec![f32::INFINITY; 64],
        "fc1.weight.grad" if step >= 20 => vec![0.0; 64],
        "fc2.weight.grad" => weights(step, 64).iter().map(|value| value * 1e-9).collect(),
        _ => weights(step, 64),
    };
    let runs = Runs::new();
    let mut events = runs.events("events");
    for step in 0..30 {
        for name in [
            "fc1.weight",
            "fc2.weight",
            "fc1.weight.grad",
            "fc2.weight.grad",
        ] {
            let values = values(name, step);
            runs.npy("dump", u32::try_from(step).unwrap(), name, &values);
            events.tensor(name, step, &values);
        }
    }
    let [dump, events] = ["dump", "events"].map(|run| runs.json(run));
    assert!(hits(&dump).len() >= 4, "{dump}");
    let mut expected = hits(&dump);
    let mut found = hits(&events);
    expected.sort();
    found.sort();
    assert_eq!(found, expected);
    assert_eq!(events["judged"]["tensors"], 4);
}

#[test]
fn tensors_and_histograms_of_a_summary_are_judged() {
    let runs = Runs::new();
    copy_folder(
        &fixture("ms210-summary/overflow"),
        &runs.path().join("overflow"),
    );
    let answer = runs.json("overflow");
    let hits = conditions(&answer);
    for wanted in [("logits", 4), ("conv2.weight/auto", 3)] {
        assert!(
            hits.contains(&(wanted.0.to_owned(), wanted.1)),
            "{wanted:?}: {hits:?}"
        );
    }
    assert_ne!(
        answer["first_cause"]["condition"], "loss_nan",
        "the loss only follows"
    );
    let judged = &answer["judged"];
    assert!(
        judged["tensors"].as_u64() > Some(0) && judged["histograms"].as_u64() > Some(0),
        "{judged}"
    );
    // Histograms of a healthy run raise no alarm, but do not make it ok.
    copy_folder(
        &fixture("ms210-summary/vanishing"),
        &runs.path().join("vanishing"),
    );
    let answer = runs.json("vanishing");
    let all = answer["hits"].as_array().unwrap().iter();
    assert!(
        all.clone()
            .all(|hit| !hit["condition"].as_str().unwrap().contains("overflow")),
        "{answer}"
    );
    let printed = runs.check("vanishing", &[]);
    let summary = answer["runs"][0]["summary"].as_str().unwrap();
    assert!(
        summary.contains("19 histograms were checked for NaN, Inf and unchanged weights only"),
        "{summary}"
    );
    assert!(
        printed.out.lines().all(|line| !line.starts_with("ok")),
        "{}",
        printed.out
    );
}

/// A histogram without a finite value is not a blank card, and its hit has cells on the map of a run without tensors.
#[tokio::test]
async fn the_overview_says_that_all_elements_of_the_newest_histogram_are_nan() {
    let runs = Runs::new();
    let lost = Histogram {
        nan: 36,
        count: 36.0,
        ..Histogram::default()
    };
    runs.events("run")
        .histogram("fc1.weight", 0, &histogram(0))
        .histogram("fc1.weight", 4, &lost);
    let lab = Lab::new();
    let server = lab.start_on(&[runs.path()], &[]);
    let browser = Browser::open().await;
    browser.goto(&server, "/run/run/overview").await;
    let card = "[data-card=histograms]";
    browser.wait_for_element(&format!("{card} svg rect")).await;
    let said = browser.text_of(card).await.unwrap();
    assert!(
        said.contains("all 36 elements are NaN at step 4") && said.contains("step 0"),
        "{said}"
    );
    browser
        .wait_for_element("th[title='fc1.weight'] ~ td a[href*='hit='] [data-kind=nan]")
        .await;
    browser.close();
}

/// A histogram of values between -1 and 1.
fn histogram(nan: u64) -> Histogram {
    Histogram {
        lefts: vec![-1.0, 0.0],
        rights: vec![0.0, 1.0],
        counts: vec![40.0, 24.0],
        nan,
        min: Some(-0.9),
        max: Some(0.8),
        sum: Some(1.5),
        sum_squares: Some(9.0),
        count: 64.0 + nan as f64,
        ..Histogram::default()
    }
}

#[test]
fn histograms_tell_nan_and_what_they_cannot_tell_is_not_judged() {
    let runs = Runs::new();
    let mut bad = runs.events("bad");
    let mut well = runs.events("well");
    for step in 0..12 {
        bad.histogram("fc1.weight", step, &histogram(if step < 7 { 0 } else { 5 }));
        let moved = Histogram {
            sum: Some(1.5 + step as f64),
            ..histogram(0)
        };
        well.histogram("dense/kernel_0/histogram", step, &moved);
    }
    let answer = runs.json("bad");
    assert_eq!(conditions(&answer), [("fc1.weight".to_owned(), 7)]);
    assert_eq!(answer["hits"][0]["condition"], "weight_overflow");
    let values = &answer["hits"][0]["values"];
    assert_eq!(
        (&values["count"], &values["elements"]),
        (&json!(5.0), &json!(69.0))
    );
    let answer = runs.json("well");
    assert_eq!(hits(&answer), [""; 0]);
    assert_eq!(answer["runs"][0]["verdict"], "in_part");
    let reasons = answer["inconclusive"].as_array().unwrap();
    let is_told = |item: &Value| {
        item["condition"] == "weight_not_changed" && item["reason"] == "only_histogram"
    };
    assert!(reasons.iter().any(is_told), "{answer}");
    assert!(
        reasons
            .iter()
            .all(|item| item["condition"] != "weight_overflow"),
        "{answer}"
    );
    let said = "No problems found in 1 histogram over 12 steps. No tensors were checked.";
    let summary = answer["runs"][0]["summary"].as_str().unwrap();
    assert!(summary.contains(said), "{summary}");
    assert_eq!(runs.check("well", &["--strict"]).status, 2);
}

#[test]
fn a_tensor_that_is_recorded_in_two_ways_counts_once() {
    let runs = Runs::new();
    let mut both = runs.events("both");
    let mut early = runs.events("early");
    for step in 0..12 {
        let is_bad = step >= 6;
        let values = if is_bad {
            vec![f32::NAN; 16]
        } else {
            weights(step, 16)
        };
        let bins = histogram(if is_bad { 16 } else { 0 });
        both.histogram("fc1.weight/auto", step, &bins)
            .tensor("fc1.weight", step, &values);
        // The histogram has it first: the values are recorded every fourth step only.
        early.histogram("fc1.weight/auto", step, &bins);
        if step % 4 == 0 {
            early.tensor("fc1.weight", step, &values);
        }
    }
    for (run, tensor) in [("both", "fc1.weight"), ("early", "fc1.weight/auto")] {
        let answer = runs.json(run);
        assert_eq!(conditions(&answer), [(tensor.to_owned(), 6)], "{run}");
        let judged = &answer["judged"];
        assert_eq!(
            (&judged["tensors"], &judged["histograms"]),
            (&json!(1), &json!(0)),
            "{run}"
        );
    }
}

#[test]
fn nan_in_any_scalar_is_a_note_and_is_told_once() {
    let runs = Runs::new();
    let special = |step: i64| {
        [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1.0][usize::try_from(step).unwrap()]
    };
    runs.events("special").curve("special", 4, special);
    let answer = runs.json("special");
    assert_eq!(answer["hits"], json!([]));
    let note = &answer["notes"][0];
    assert_eq!(
        (&note["condition"], &note["step"]),
        (&json!("scalar_not_finite"), &json!(0))
    );
    assert_eq!(note["values"], json!({"count": 3.0}));
    let printed = runs.check("special", &[]);
    assert_eq!(printed.status, 0);
    let said = "No problems found in 1 scalar over 4 steps. No tensors were checked. 1 note.";
    assert_eq!(answer["runs"][0]["summary"], said);
    assert_eq!(runs.check("special", &["--fail-on", "info"]).status, 1);
    // Reported once for a loss, and for any scalar with a separate warning.
    let falls = |step: i64| {
        if step < 30 {
            1.0 / (1.0 + step as f64)
        } else {
            f64::NAN
        }
    };
    runs.events("loss").curve("train/loss", 50, falls);
    let answer = runs.json("loss");
    let names: Vec<&Value> = ["hits", "notes"]
        .iter()
        .flat_map(|key| answer[key].as_array().unwrap())
        .map(|hit| &hit["condition"])
        .collect();
    assert!(
        names.contains(&&json!("loss_nan")) && !names.contains(&&json!("scalar_not_finite")),
        "{names:?}"
    );
    // A held-out loss that is NaN once, and a number later, is not an error.
    runs.events("held")
        .curve("val_loss", 6, |step| if step == 2 { f64::NAN } else { 1.0 });
    let answer = runs.json("held");
    assert_eq!(answer["notes"][0]["condition"], "scalar_not_finite");
    // A finite scalar of any name is not an error either.
    runs.events("finite")
        .curve("temperature", 6, |step| step as f64);
    assert_eq!(runs.json("finite")["notes"], json!([]));
}
