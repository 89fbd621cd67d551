//! NaN in points that a restart, an epoch or another program has removed from the curve: `check` finds them all the
//! same.

use std::path::Path;

use serde_json::Value;

use crate::support::lab::{Lab, Recording, STARTED_SECS};
use crate::support::terminal::trainscope_in;

/// JSON output of `check` for the run.
fn judged(lab: &Lab) -> Value {
    let run = lab.base().join("run").display().to_string();
    let printed = trainscope_in(Path::new("."), &["check", &run, "--format", "json"]);
    serde_json::from_str(&printed.out).unwrap()
}

/// Condition, tag and step of each hit.
fn hits(lab: &Lab) -> Vec<(String, String, i64)> {
    let answer = judged(lab);
    let hits = answer["hits"].as_array().unwrap().iter();
    hits.map(|hit| {
        let text = |name: &str| hit[name].as_str().unwrap_or_default().to_owned();
        (
            text("condition"),
            text("tensor"),
            hit["step"].as_i64().unwrap(),
        )
    })
    .collect()
}

fn nan_from(first: i64) -> impl Fn(i64) -> f32 {
    move |step| {
        if step >= first {
            f32::NAN
        } else {
            1.0 / (1.0 + step as f32)
        }
    }
}

fn another_file(lab: &Lab, begun_secs: f64) -> Recording {
    let name = format!("run/events.out.tfevents.{begun_secs:.0}.host.2.0");
    Recording::begin_file(&lab.base().join(name), begun_secs)
}

#[test]
fn an_evaluation_at_step_0_after_the_training_hides_no_nan() {
    let lab = Lab::new();
    lab.record("run").curve("loss", 0..100, nan_from(60));
    another_file(&lab, STARTED_SECS + 1e4).scalar_at("loss", 0, STARTED_SECS + 1e4, 0.5);
    assert_eq!(hits(&lab)[0], ("loss_nan".into(), "loss".into(), 60));
}

#[test]
fn a_nan_of_an_attempt_that_was_given_up_is_found() {
    let lab = Lab::new();
    lab.record("run").curve("loss", 0..100, nan_from(60));
    let mut resumed = another_file(&lab, STARTED_SECS + 1e4);
    for step in 50..150 {
        let time = STARTED_SECS + 1e4 + step as f64;
        resumed.scalar_at("loss", step, time, 1.0 / (1.0 + step as f32));
    }
    assert_eq!(hits(&lab)[0], ("loss_nan".into(), "loss".into(), 60));
}

#[test]
fn a_nan_of_an_earlier_epoch_is_found_where_steps_are_counted_per_epoch() {
    let lab = Lab::new();
    let mut run = lab.record("run");
    for epoch in 0..5 {
        let first = if epoch == 2 { 20 } else { 50 };
        run.curve("loss", 0..50, nan_from(first));
    }
    assert_eq!(hits(&lab)[0], ("loss_nan".into(), "loss".into(), 20));
}

#[test]
fn a_nan_of_a_machine_whose_clock_is_behind_is_found() {
    let lab = Lab::new();
    lab.record("run").curve("loss", 0..100, nan_from(100));
    let mut resumed = another_file(&lab, STARTED_SECS - 3_600.0);
    for step in 50..150 {
        let value = nan_from(120)(step);
        resumed.scalar_at("loss", step, STARTED_SECS - 3_600.0 + step as f64, value);
    }
    assert_eq!(hits(&lab)[0], ("loss_nan".into(), "loss".into(), 120));
}

#[test]
fn points_that_a_restart_has_overwritten_are_counted() {
    let lab = Lab::new();
    lab.record("run").curve("loss", 0..100, nan_from(100));
    let mut resumed = another_file(&lab, STARTED_SECS + 1e4);
    for step in 50..150 {
        let time = STARTED_SECS + 1e4 + step as f64;
        resumed.scalar_at("loss", step, time, 1.0 / (1.0 + step as f32));
    }
    let answer = judged(&lab);
    assert_eq!(answer["judged"]["overwritten"], 50);
    let summary = answer["runs"][0]["summary"].as_str().unwrap();
    let sentence = "50 overwritten points were checked for NaN and Inf only.";
    assert!(summary.contains(sentence), "{summary}");
}

/// Sentences about the files of the only run.
fn about_files(lab: &Lab) -> Vec<String> {
    let answer = judged(lab);
    let about = answer["runs"][0]["about_files"].as_array().unwrap().iter();
    about
        .map(|sentence| sentence.as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn attempts_of_few_points_are_one_curve_and_counted() {
    let lab = Lab::new();
    lab.record("run").curve("loss", 1..101, nan_from(1_000));
    assert!(about_files(&lab).is_empty());
    for (number, points) in [(1.0, 4), (2.0, 1)] {
        let begun = STARTED_SECS + 1e4 * number;
        let mut again = another_file(&lab, begun);
        for step in 1..=points {
            again.scalar_at("loss", step, begun + step as f64, 0.7);
        }
    }
    let said = "3 attempts in this folder; the curve is the newest value at each step.";
    assert_eq!(about_files(&lab), [said]);
    let server = lab.start();
    server.wait_for_points("run", "loss", 100);
    let answer = server.get("/api/tags?run=run").json();
    let tags = answer["tags"].as_array().unwrap();
    assert_eq!(tags.len(), 1, "{tags:?}");
    assert_eq!(
        (&tags[0]["points"], &tags[0]["superseded"]),
        (&100.into(), &5.into())
    );
}

#[test]
fn attempts_have_one_numbering_for_all_scalars() {
    let lab = Lab::new();
    let mut first = lab.record("run");
    first.curve("loss", 0..100, nan_from(1_000));
    first.curve("accuracy", 0..100, nan_from(1_000));
    drop(first);
    // The second attempt ends before its first evaluation.
    for (number, tags) in [(1.0, &["loss"][..]), (2.0, &["loss", "accuracy"])] {
        let begun = STARTED_SECS + 1e4 * number;
        let mut again = another_file(&lab, begun);
        for tag in tags {
            for step in 50..60 {
                again.scalar_at(tag, step, begun + step as f64, 0.7);
            }
        }
    }
    let server = lab.start();
    server.wait_for_records(230);
    for (tag, expected) in [("loss", &[1, 2, 3][..]), ("accuracy", &[1, 3])] {
        let series = server.wait_for_points("run", tag, 100);
        let numbers: Vec<u64> = series.attempts.iter().map(|one| one.number).collect();
        assert_eq!(numbers, expected, "{tag}");
    }
    let said = "3 attempts in this folder; the curve is the newest value at each step.";
    assert_eq!(about_files(&lab), [said]);
}

#[test]
fn a_step_counter_that_overflows_32_bits_is_no_jump_of_the_loss() {
    let lab = Lab::new();
    let mut run = lab.record("run");
    for at in 0..100_i64 {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "as the counter of the program"
        )]
        let step = ((1 << 31) - 50 + at) as i32;
        let value = 2.0 * (-at as f32 / 40.0).exp() + 0.1;
        run.scalar_at("loss", step.into(), STARTED_SECS + at as f64, value);
    }
    assert_eq!(hits(&lab), []);
    assert_eq!(judged(&lab)["judged"]["overwritten"], 0);
    let about = about_files(&lab);
    assert!(
        about[0].contains("overflowed 32 bits") && about.len() == 1,
        "{about:?}"
    );
    let server = lab.start();
    server.wait_for_points("run", "loss", 100);
    let answer = server.get("/api/scalars?run=run&tag=loss").json();
    let steps = answer["steps"].as_array().unwrap().iter();
    let steps: Vec<i64> = steps.map(|step| step.as_i64().unwrap()).collect();
    assert!(steps.into_iter().eq((1 << 31) - 50..(1 << 31) + 50));
}
