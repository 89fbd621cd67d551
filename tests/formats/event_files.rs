//! Files of other programs, through the API: the answers are the facts known from their makers.

use std::fs;

use serde_json::Value;
use trainscope_api::runs::FileStatus;
use trainscope_api::scalars::Series;
use trainscope_format::Kind;

use crate::support::lab::fixture;
use crate::support::{Lab, Server, wait_for};

/// Starts a server on one folder of fixtures, copied to a run of that name.
fn served(lab: &Lab, name: &str) -> Server {
    lab.copy_fixture(name, name);
    let server = lab.start();
    wait_for("the files to be read", || {
        let status = server.status();
        (status.ingest.idle && status.runs > 0).then_some(())
    });
    for run in server.runs().runs {
        for file in run.files {
            assert!(
                matches!(file.status, FileStatus::Complete | FileStatus::Live),
                "{}: {:?} at {:?}: {:?}",
                file.path,
                file.status,
                file.offset,
                file.reason
            );
            assert_eq!(
                (file.skipped_bytes, file.read_bytes),
                (0, file.len_bytes),
                "{}",
                file.path
            );
        }
    }
    server
}

fn points(server: &Server, run: &str, tag: &str) -> Series {
    server.scalars(run, tag).unwrap_or_else(|| {
        panic!(
            "no scalar `{tag}` in `{run}`; there are {:?}",
            server.tags(run).tags
        )
    })
}

fn assert_same(seen: &[f64], wanted: &[f64]) {
    assert_eq!(seen.len(), wanted.len());
    for (index, (seen, wanted)) in seen.iter().zip(wanted).enumerate() {
        assert!(
            seen.to_bits() == wanted.to_bits() || (seen.is_nan() && wanted.is_nan()),
            "{index}: {seen}, not {wanted}"
        );
    }
}

fn torch_facts(server: &Server, run: &str, odd_tag: &str) {
    let train = points(server, run, "loss/train");
    assert_eq!(train.steps, (0..50).collect::<Vec<i64>>());
    for (step, value) in train.values.iter().enumerate() {
        let curve = (-(step as f64) / 15.0).exp();
        assert!(
            (curve - 1e-6..curve + 0.05 + 1e-6).contains(value),
            "{step}: {value}"
        );
    }
    let validation = points(server, run, "loss/val");
    assert_eq!(validation.steps, [0, 10, 20, 30, 40]);
    for (step, value) in validation.steps.iter().zip(&validation.values) {
        let wanted = (-(*step as f64) / 17.0).exp() + 0.05;
        assert!((value - wanted).abs() < 1e-6, "{step}: {value}");
    }
    let special = points(server, run, "special");
    assert_eq!(special.steps, [0, 1, 2, 3]);
    assert_same(
        &special.values,
        &[
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::from(1e-40_f32),
        ],
    );
    assert_same(&points(server, run, odd_tag).values, &[1.5]);
}

fn compared(server: &Server, run: &str, curve: fn(f64) -> f64) {
    let series = points(server, run, "compare");
    assert_eq!(series.steps, (0..50).collect::<Vec<i64>>());
    for (step, value) in series.values.iter().enumerate() {
        assert!(
            (value - curve(step as f64 / 8.0)).abs() < 1e-6,
            "{run} {step}"
        );
    }
}

#[test]
fn torch_writes_what_its_caller_said() {
    let lab = Lab::new();
    let server = served(&lab, "torch-tensorboard/torch");
    let run = |name: &str| format!("torch-tensorboard/torch/{name}");
    torch_facts(&server, &run("run1"), "metric with spaces/é");
    compared(&server, &run("run1/compare_a"), f64::sin);
    compared(&server, &run("run1/compare_b"), f64::cos);
    for (index, learning_rate) in [0.1_f64, 0.01, 0.001].into_iter().enumerate() {
        let run = run(&format!("hp{index}"));
        let loss = points(&server, &run, "loss");
        for (step, value) in loss.values.iter().enumerate() {
            let wanted = 1.0 / (step as f64 + 1.0) / learning_rate.powf(0.1);
            assert!((value - wanted).abs() < 1e-6, "{run} {step}");
        }
        let accuracy = points(&server, &run, "hparam/accuracy");
        assert!(
            (accuracy.values[0] - (0.5 + 0.1 * index as f64)).abs() < 1e-6,
            "{run}"
        );
    }
}

#[test]
fn tensorboardx_writes_underscores_for_spaces() {
    let lab = Lab::new();
    let server = served(&lab, "torch-tensorboard/tensorboardX");
    let run = "torch-tensorboard/tensorboardX/run1";
    torch_facts(&server, run, "metric_with_spaces/é");
    compared(&server, &format!("{run}/compare/a"), f64::sin);
    compared(&server, &format!("{run}/compare/b"), f64::cos);
}

#[test]
fn every_kind_that_torch_writes_is_counted() {
    let lab = Lab::new();
    let server = served(&lab, "torch-tensorboard/torch");
    let tags = server.tags("torch-tensorboard/torch/run1").tags;
    let has = |kind: Kind, tag: &str| {
        assert!(
            tags.iter()
                .any(|found| found.kind == kind && found.tag.starts_with(tag)),
            "no {kind:?} `{tag}` in {tags:#?}"
        );
    };
    has(Kind::Histograms, "weights/fc");
    has(Kind::Images, "image/rgb");
    has(Kind::Text, "notes");
    has(Kind::Audio, "tone");
    has(Kind::PrCurves, "pr");
    has(Kind::Meshes, "mesh");
}

#[test]
fn tensorflow_scalars_are_tensors() {
    let lab = Lab::new();
    let server = served(&lab, "tensorflow-events");
    let loss = points(&server, "tensorflow-events/v2", "loss");
    assert_eq!(loss.steps, (0..20).collect::<Vec<i64>>());
    for (step, value) in loss.values.iter().enumerate() {
        assert!(
            (value - (-(step as f64) / 5.0).exp()).abs() < 1e-6,
            "{step}: {value}"
        );
    }
    for part in ["train", "validation"] {
        let run = format!("tensorflow-events/keras/{part}");
        assert_eq!(
            points(&server, &run, "epoch_loss").steps,
            [0, 1, 2, 3],
            "{run}"
        );
        assert_eq!(points(&server, &run, "epoch_accuracy").total, 4, "{run}");
    }
}

/// The losses printed by the training script, next to its summary files.
fn mindspore_losses(version: &str) {
    let lab = Lab::new();
    let server = served(&lab, version);
    let runs = fs::read_dir(fixture(version)).unwrap();
    let mut seen = 0;
    for run in runs {
        let folder = run.unwrap().path();
        let name = format!(
            "{version}/{}",
            folder.file_name().unwrap().to_str().unwrap()
        );
        let truth: Value =
            serde_json::from_slice(&fs::read(folder.join("truth.json")).unwrap()).unwrap();
        let losses: Vec<f32> = truth["losses_seen_by_callback"]
            .as_array()
            .unwrap()
            .iter()
            .map(|loss| loss.as_str().unwrap().parse().unwrap())
            .collect();
        let series = points(&server, &name, "loss/auto");
        assert!(series.total > 4, "{name}");
        for (step, value) in series.steps.iter().zip(&series.values) {
            // The collector counts steps from one.
            let wanted = f64::from(losses[usize::try_from(*step).unwrap() - 1]);
            assert_same(&[*value], &[wanted]);
        }
        seen += 1;
    }
    assert!(seen >= 4);
}

#[test]
fn mindspore_2_0_losses_are_those_its_callback_saw() {
    mindspore_losses("ms20-summary");
}

#[test]
fn mindspore_2_10_losses_are_those_its_callback_saw() {
    mindspore_losses("ms210-summary");
}

#[test]
fn mindspore_lineage_belongs_to_the_run_of_its_folder() {
    let lab = Lab::new();
    let server = served(&lab, "ms210-summary/healthy");
    let run = server.run("ms210-summary/healthy").unwrap();
    assert_eq!(run.files.len(), 3);
    assert!(run.kinds.contains_key("lineage"), "{:?}", run.kinds);
    assert!(run.kinds.contains_key("scalars"), "{:?}", run.kinds);
}
