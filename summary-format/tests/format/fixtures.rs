//! Files written by other programs, compared with their makers' descriptions (`tests/fixtures/README.md`,
//! `truth.json`).

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use trainscope_format::{Format, Kind, sniff};

use crate::support::{DecoderOutput, whole};

pub(crate) const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures");

/// Every event file among the fixtures, by path.
pub(crate) fn all() -> Vec<(PathBuf, Format)> {
    let mut files = Vec::new();
    let mut folders = vec![PathBuf::from(FIXTURES)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if let Some(format) =
                sniff(path.file_name().unwrap().to_str().unwrap(), Vec::new)
            {
                files.push((path, format));
            }
        }
    }
    files.sort_by(|a, b| a.0.cmp(&b.0));
    assert!(files.len() > 40, "the fixtures are not there");
    files
}

fn read(path: &str) -> DecoderOutput {
    let path = Path::new(FIXTURES).join(path);
    let format = sniff(path.file_name().unwrap().to_str().unwrap(), Vec::new).unwrap();
    whole(format, &fs::read(path).unwrap())
}

/// Points and records of each tag.
fn counts(seen: &DecoderOutput) -> BTreeMap<(Kind, &str), usize> {
    let mut counts = BTreeMap::new();
    let unread = seen.batch.unread.iter().map(|unread| unread.tag);
    let records = seen.batch.records.iter().map(|record| record.tag);
    let scalars = seen.batch.scalars.tags.iter().copied();
    for id in scalars.chain(records).chain(unread) {
        let tag = &seen.batch.new_tags[id.0 as usize];
        *counts.entry((tag.kind, &*tag.name)).or_default() += 1;
    }
    counts
}

#[test]
fn all_files_are_read_to_their_end_and_without_loss() {
    for (path, format) in all() {
        let bytes = fs::read(&path).unwrap();
        let seen = whole(format, &bytes);
        assert_eq!(seen.offset, bytes.len() as u64, "{path:?}");
        assert_eq!(seen.open_damage, None, "{path:?}");
        assert_eq!(seen.batch.damages, [], "{path:?}");
        assert_eq!(seen.batch.skipped_records, 0, "{path:?}");
        assert!(seen.batch.len_records() > 0, "{path:?}");
        assert!(
            seen.batch
                .new_tags
                .iter()
                .all(|tag| tag.kind != Kind::Unknown),
            "{path:?}"
        );
    }
}

#[test]
fn first_generation_by_torch_and_tensorboardx() {
    for (path, spaced) in [
        (
            "torch-tensorboard/torch/run1/events.out.tfevents.1795213388.vm.6342.0",
            "metric with spaces/é",
        ),
        (
            "torch-tensorboard/tensorboardX/run1/events.out.tfevents.1795213388.vm",
            "metric_with_spaces/é",
        ),
    ] {
        let seen = read(path);
        let steps = |tag| {
            let points = seen.points(tag);
            points.into_iter().map(|point| point.0).collect::<Vec<_>>()
        };
        assert_eq!(steps("loss/train"), (0..50).collect::<Vec<_>>());
        assert_eq!(steps("loss/val"), [0, 10, 20, 30, 40]);
        assert_eq!(steps(spaced).len(), 1);
        let special = seen.points("special");
        assert!(special[0].1.is_nan());
        assert_eq!(
            special[1..],
            [
                (1, f64::INFINITY),
                (2, f64::NEG_INFINITY),
                // A subnormal `f32`.
                (3, f64::from(1e-40_f32))
            ]
        );
        assert!(
            seen.batch
                .scalars
                .wall_times_secs
                .iter()
                .all(|&wall| wall.floor() == 1_795_213_388.0)
        );
        let counts = counts(&seen);
        for (kind, tag, count) in [
            (Kind::Histograms, "weights/fc", 10),
            (Kind::Histograms, "weights/constant", 1),
            (Kind::Images, "image/rgb", 1),
            (Kind::Images, "image/batch", 1),
            (Kind::Images, "image/boxes", 1),
            (Kind::Text, "notes/text_summary", 2),
            (Kind::Audio, "tone", 1),
            (Kind::PrCurves, "pr", 1),
            (Kind::CustomScalars, "custom_scalars__config__", 1),
            (Kind::Graphs, "graph", 1),
        ] {
            assert_eq!(counts.get(&(kind, tag)), Some(&count), "{path} {tag}");
        }
        let of_kind = |kind| counts.keys().filter(|key| key.0 == kind).count();
        assert_eq!(of_kind(Kind::Meshes), 3);
        assert_eq!(
            of_kind(Kind::Tensors),
            usize::from(path.contains("/torch/"))
        );
    }
}

#[test]
fn hyper_parameters_by_torch() {
    for (run, accuracy) in [(0, 0.5_f32), (1, 0.6), (2, 0.7)] {
        let file = 4 + 2 * run;
        let seen = read(&format!(
            "torch-tensorboard/torch/hp{run}/events.out.tfevents.1795213388.vm.6342.{file}"
        ));
        let points = seen.points("hparam/accuracy");
        assert_eq!(points.len(), 1);
        assert_eq!(points[0].1, f64::from(accuracy));
        let hparams = counts(&seen);
        assert_eq!(hparams[&(Kind::Hparams, "_hparams_/experiment")], 1);
        assert_eq!(hparams[&(Kind::Hparams, "_hparams_/session_start_info")], 1);
    }
}

#[test]
fn second_generation_by_tensorflow() {
    let seen = read("tensorflow-events/v2/events.out.tfevents.1795214272.vm.12531.0.v2");
    let loss = seen.points("loss");
    assert_eq!(loss.len(), 20);
    for (index, (step, value)) in (0..).zip(loss) {
        assert_eq!(step, index);
        assert!((value - (-step as f64 / 5.0).exp()).abs() < 1e-6, "{step}");
    }
    assert_eq!(
        counts(&seen),
        BTreeMap::from([
            ((Kind::Scalars, "loss"), 20),
            ((Kind::Histograms, "weights"), 20),
            ((Kind::Images, "img"), 1),
            ((Kind::Text, "note"), 1),
            ((Kind::Audio, "tone"), 1),
            ((Kind::Graphs, "my_func"), 1),
        ])
    );
}

#[test]
fn the_keras_callback() {
    let train = read("tensorflow-events/keras/train/events.out.tfevents.1795214272.vm.12531.1.v2");
    let validation =
        read("tensorflow-events/keras/validation/events.out.tfevents.1795214273.vm.12531.2.v2");
    for (seen, tag) in [
        (&train, "epoch_loss"),
        (&train, "epoch_accuracy"),
        (&train, "epoch_learning_rate"),
        (&validation, "epoch_loss"),
        (&validation, "epoch_accuracy"),
    ] {
        let steps: Vec<_> = seen.points(tag).iter().map(|point| point.0).collect();
        assert_eq!(steps, [0, 1, 2, 3], "{tag}");
    }
    let counts = counts(&train);
    assert_eq!(counts[&(Kind::Graphs, "keras")], 1);
    assert_eq!(
        counts
            .keys()
            .filter(|key| key.0 == Kind::Histograms)
            .count(),
        4
    );
}

#[test]
fn mindspore_losses_are_what_its_callback_saw() {
    let mut files = 0;
    for (path, _) in all() {
        let truth = path.with_file_name("truth.json");
        if !path.to_str().unwrap().ends_with("_MS") || !truth.exists() {
            continue;
        }
        let truth: serde_json::Value = serde_json::from_slice(&fs::read(truth).unwrap()).unwrap();
        let losses: Vec<f64> = truth["losses_seen_by_callback"]
            .as_array()
            .unwrap()
            .iter()
            .map(|loss| loss.as_str().unwrap().parse().unwrap())
            .collect();
        let seen = whole(Format::MindsporeSummary, &fs::read(&path).unwrap());
        let points = seen.points("loss/auto");
        for (step, value) in &points {
            let expected = losses[usize::try_from(step - 1).unwrap()];
            assert!(
                *value == expected || (value.is_nan() && expected.is_nan()),
                "{path:?} step {step}: {value} instead of {expected}"
            );
        }
        files += usize::from(!points.is_empty());
    }
    assert!(files >= 10, "{files} files with losses");
}

#[test]
fn mindspore_kinds() {
    let seen = read("ms20-summary/healthy/events.out.events.summary.1795212914.0.vm_MS");
    let healthy = counts(&seen);
    for (kind, tag) in [
        (Kind::Scalars, "loss/auto"),
        (Kind::Scalars, "conv1_activation_mean"),
        (Kind::Histograms, "conv1.weight/auto"),
        (Kind::Histograms, "fc1_activation"),
        (Kind::Images, "input_data/auto"),
        (Kind::Images, "input_image"),
        (Kind::Tensors, "logits"),
        (Kind::Tensors, "conv1_activation"),
        (Kind::Graphs, "graph"),
    ] {
        assert!(healthy.contains_key(&(kind, tag)), "{tag}");
    }
    let seen = read("ms20-summary/landscape/events.out.events.summary.1795212940.0.vm_MS");
    let landscapes = counts(&seen);
    assert_eq!(landscapes[&(Kind::Landscapes, "landscape_[1, 4]")], 1);
    assert_eq!(landscapes[&(Kind::Landscapes, "landscape_[4]")], 1);
}

#[test]
fn mindspore_lineage() {
    let train = read("ms20-summary/healthy/events.out.events.summary.1795212914.0.vm_lineage");
    assert_eq!(
        counts(&train),
        BTreeMap::from([
            ((Kind::Lineage, "dataset_graph"), 1),
            ((Kind::Lineage, "train_lineage"), 1),
            ((Kind::Lineage, "user_defined_info"), 1),
        ])
    );
    let evaluation = read("ms20-summary/healthy/events.out.events.summary.1795212916.0.vm_lineage");
    assert_eq!(
        counts(&evaluation),
        BTreeMap::from([((Kind::Lineage, "evaluation_lineage"), 1)])
    );
}
