//! Contents of the fixtures, compared with the values of the programs that wrote them (`tests/fixtures/README.md`,
//! `truth.json`).

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use trainscope_format::hparams::{HparamDomain, HparamValue, SessionStatus};
use trainscope_format::layout::ChartContent;
use trainscope_format::lineage::{DatasetNode, LineageValue};
use trainscope_format::tensor::DType;
use trainscope_format::{
    Body, GraphFormat, Histogram, Hparams, ImageEncoding, Kind, Lineage, Stretch, TensorData, sniff,
};

use crate::fixtures::{self, FIXTURES};
use crate::support::{DecoderOutput, whole};

/// A fixture's bytes and its decoded records.
struct File {
    bytes: Vec<u8>,
    seen: DecoderOutput,
}

impl File {
    fn read(path: &str) -> Self {
        let path = Path::new(FIXTURES).join(path);
        let format = sniff(path.file_name().unwrap().to_str().unwrap(), Vec::new).unwrap();
        let bytes = fs::read(path).unwrap();
        let seen = whole(format, &bytes);
        Self { bytes, seen }
    }

    fn at(&self, stretch: Stretch) -> &[u8] {
        if stretch == Stretch::WHOLE_FILE {
            return &self.bytes;
        }
        let from = usize::try_from(stretch.offset).unwrap();
        &self.bytes[from..from + usize::try_from(stretch.len_bytes).unwrap()]
    }

    fn one(&self, tag: &str) -> &Body {
        match self.seen.bodies(tag)[..] {
            [(_, body)] => body,
            ref bodies => panic!("{tag}: {} records", bodies.len()),
        }
    }
}

const TORCH: &str = "torch-tensorboard/torch/run1/events.out.tfevents.1795213388.vm.6342.0";
const TENSORBOARDX: &str = "torch-tensorboard/tensorboardX/run1/events.out.tfevents.1795213388.vm";
const TENSORFLOW: &str = "tensorflow-events/v2/events.out.tfevents.1795214272.vm.12531.0.v2";
const MS20: &str = "ms20-summary/healthy/events.out.events.summary.1795212914.0";

/// Width and height in the header of a PNG.
fn png_size(png: &[u8]) -> (u32, u32) {
    let number = |at: usize| u32::from_be_bytes(*png[at..].first_chunk().unwrap());
    (number(16), number(20))
}

#[test]
fn every_body_is_of_its_tags_kind_and_lies_in_its_file() {
    for (path, format) in fixtures::all() {
        let file = File {
            seen: whole(format, &fs::read(&path).unwrap()),
            bytes: fs::read(&path).unwrap(),
        };
        for record in &file.seen.batch.records {
            let tag = &file.seen.batch.new_tags[record.tag.0 as usize];
            assert_eq!(record.body.kind(), tag.kind, "{path:?} {}", tag.name);
            match &record.body {
                Body::Images(images) => {
                    for &image in &images.items {
                        let encoded = file.at(image);
                        assert_eq!(ImageEncoding::sniff(encoded), ImageEncoding::Png);
                        assert_eq!(png_size(encoded), (images.width, images.height));
                    }
                    assert_eq!(images.encoding.content_type(), "image/png");
                }
                Body::Audio(audio) => {
                    assert_eq!(audio.labels.len(), audio.items.len());
                    for &sound in &audio.items {
                        assert_eq!(file.at(sound)[8..12], *b"WAVE");
                    }
                }
                Body::Histogram(histogram) => {
                    let len = histogram.counts.len();
                    assert_eq!([histogram.lefts.len(), histogram.rights.len()], [len; 2]);
                    let total: f64 = histogram.counts.iter().sum();
                    let outside = histogram.nan + histogram.pos_inf + histogram.neg_inf;
                    assert_eq!(
                        total + outside as f64,
                        histogram.count,
                        "{path:?} {}",
                        tag.name
                    );
                }
                Body::Text(text) => {
                    assert_eq!(text.shape.iter().product::<u64>(), text.items.len() as u64);
                }
                Body::Tensor(tensor) => {
                    let stretch = matched!(tensor.data, TensorData::Stretch(stretch) => stretch);
                    let len = tensor.len().unwrap();
                    assert_eq!(stretch.len_bytes, len * tensor.dtype.size_bytes() as u64);
                }
                Body::Graph(graph) => assert!(!file.at(graph.data).is_empty()),
                _ => {}
            }
        }
    }
}

#[test]
fn every_body_is_stored_and_sent_without_loss() {
    let nan = Body::Histogram(Histogram {
        counts: vec![f64::NAN, f64::NEG_INFINITY],
        min: Some(f64::NAN),
        max: Some(f64::INFINITY),
        count: f64::NAN,
        ..Histogram::default()
    });
    let recorded = fixtures::all().into_iter().flat_map(|(path, format)| {
        let records = whole(format, &fs::read(path).unwrap()).batch.records;
        records.into_iter().map(|record| record.body)
    });
    let mut kinds = BTreeSet::new();
    for body in recorded.chain([nan]) {
        kinds.insert(body.kind());
        let expected = format!("{body:?}");
        let stored = postcard::to_allocvec(&body).unwrap();
        let back: Body = postcard::from_bytes(&stored).unwrap();
        assert_eq!(format!("{back:?}"), expected);
        let sent = serde_json::to_string(&body).unwrap();
        let back: Body = serde_json::from_str(&sent).unwrap();
        assert_eq!(format!("{back:?}"), expected);
    }
    // All kinds but explanations, which no fixture has.
    assert_eq!(kinds.len(), 13);
}

#[test]
fn histograms_by_torch() {
    for path in [TORCH, TENSORBOARDX] {
        let file = File::read(path);
        let weights = file.seen.bodies("weights/fc");
        let steps: Vec<_> = weights.iter().map(|record| record.0).collect();
        assert_eq!(steps, (0..50).step_by(5).collect::<Vec<_>>());
        for (_, body) in weights {
            let histogram = matched!(body, Body::Histogram(histogram) => histogram);
            assert_eq!(histogram.count, 500.0);
            let (min, max) = (histogram.min.unwrap(), histogram.max.unwrap());
            assert_eq!(*histogram.rights.last().unwrap(), max);
            let first = histogram
                .counts
                .iter()
                .position(|&count| count > 0.0)
                .unwrap();
            assert!(histogram.lefts[first] <= min && min <= histogram.rights[first]);
            // 500 values of mean 0 and a spread of at most 2.
            assert!(histogram.sum.unwrap().abs() < 500.0);
            let squares = histogram.sum_squares.unwrap();
            assert!((300.0..2500.0).contains(&squares), "{squares}");
        }
        let constant = matched!(
            file.one("weights/constant"),
            Body::Histogram(constant) => constant
        );
        assert_eq!(
            (constant.min, constant.max, constant.sum),
            (Some(0.0), Some(0.0), Some(0.0))
        );
        assert_eq!(constant.counts.iter().sum::<f64>(), 100.0);
    }
}

#[test]
fn pictures_and_sound_by_torch() {
    for path in [TORCH, TENSORBOARDX] {
        let file = File::read(path);
        for (tag, size) in [
            ("image/rgb", (24, 24)),
            // Four of 12 by 12 side by side.
            ("image/batch", (48, 12)),
            ("image/boxes", (32, 32)),
        ] {
            let images = matched!(file.one(tag), Body::Images(images) => images);
            if tag == "image/batch" {
                assert_eq!(
                    u64::from(images.width) * u64::from(images.height),
                    576,
                    "{path}"
                );
            } else {
                assert_eq!((images.width, images.height), size, "{path} {tag}");
            }
            assert_eq!(images.channels, 3);
            assert_eq!(images.items.len(), 1);
        }
        let tone = matched!(file.one("tone"), Body::Audio(tone) => tone);
        assert_eq!(tone.sample_rate_hz, Some(8000.0));
        assert_eq!(tone.channels, Some(1));
        assert_eq!(tone.frames, Some(2000));
        assert_eq!(tone.content_type, "audio/wav");
    }
}

#[test]
fn texts_are_as_written() {
    for path in [TORCH, TENSORBOARDX] {
        let file = File::read(path);
        let notes = file.seen.bodies("notes/text_summary");
        let [(0, Body::Text(first)), (1, Body::Text(second))] = notes[..] else {
            panic!()
        };
        assert_eq!(
            first.items,
            [
                "# Title\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n**bold** <script>alert(1)</script> ünïcode"
            ]
        );
        assert_eq!(second.items, ["second step"]);
    }
    let file = File::read(TENSORFLOW);
    let note = matched!(file.one("note"), Body::Text(note) => note);
    assert_eq!(
        (&note.shape[..], &note.items[..]),
        (&[][..], &["**hello** from TensorFlow".to_owned()][..])
    );
}

#[test]
fn a_tensor_by_torch() {
    let file = File::read(TORCH);
    let tensor = matched!(file.one("tensor"), Body::Tensor(tensor) => tensor);
    assert_eq!(tensor.dtype, DType::F32);
    assert_eq!(tensor.shape, [2, 3]);
    let stretch = matched!(tensor.data, TensorData::Stretch(stretch) => stretch);
    let bytes = file.at(stretch);
    assert_eq!(
        tensor.numbers(bytes, 0, 100),
        [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    );
    assert_eq!(tensor.numbers(bytes, 4, 1), [4.0]);
    assert!(tensor.numbers(bytes, 6, 1).is_empty());
}

#[test]
fn a_curve_and_a_layout_by_torch() {
    for path in [TORCH, TENSORBOARDX] {
        let file = File::read(path);
        let curve = matched!(file.one("pr"), Body::PrCurve(curve) => curve);
        assert_eq!(curve.thresholds.len(), 127);
        assert_eq!((curve.thresholds[0], curve.thresholds[126]), (0.0, 1.0));
        for i in 0..127 {
            let all = curve.true_positives[i]
                + curve.false_positives[i]
                + curve.true_negatives[i]
                + curve.false_negatives[i];
            assert_eq!(all, 100.0);
            let recall =
                curve.true_positives[i] / (curve.true_positives[i] + curve.false_negatives[i]);
            assert!((curve.recall[i] - recall).abs() < 1e-6);
        }
        assert_eq!(curve.recall[0], 1.0);

        let layout = matched!(
            file.one("custom_scalars__config__"),
            Body::CustomScalars(layout) => layout
        );
        assert_eq!(layout.categories.len(), 1);
        assert_eq!(layout.categories[0].title, "loss");
        let chart = &layout.categories[0].charts[0];
        assert_eq!(chart.title, "both");
        assert_eq!(
            chart.content,
            ChartContent::Lines(vec!["loss/train".into(), "loss/val".into()])
        );
    }
}

#[test]
fn hyper_parameters_by_torch() {
    for (run, rate, batch, optimizer) in [
        (0, 0.1, 8.0, "sgd"),
        (1, 0.01, 16.0, "adam"),
        (2, 0.001, 32.0, "rms"),
    ] {
        let file = File::read(&format!(
            "torch-tensorboard/torch/hp{run}/events.out.tfevents.1795213388.vm.6342.{}",
            4 + 2 * run
        ));
        let start = matched!(
            file.one("_hparams_/session_start_info"),
            Body::Hparams(Hparams::SessionStart(start)) => start
        );
        let mut values = start.values.clone();
        values.sort_by(|a, b| a.0.cmp(&b.0));
        assert_eq!(
            values,
            [
                ("bsize".into(), HparamValue::Number(batch)),
                ("lr".into(), HparamValue::Number(rate)),
                (
                    "nesterov".into(), // A number: torch checks for a number before it checks for a bool.
                    HparamValue::Number(if run == 1 { 1.0 } else { 0.0 })
                ),
                ("opt".into(), HparamValue::Text(optimizer.into())),
            ]
        );
        let experiment = matched!(
            file.one("_hparams_/experiment"),
            Body::Hparams(Hparams::Experiment(experiment)) => experiment
        );
        let names: Vec<_> = experiment.hparams.iter().map(|info| &*info.name).collect();
        assert_eq!(names, ["lr", "bsize", "opt", "nesterov"]);
        assert!(
            experiment
                .hparams
                .iter()
                .all(|info| info.domain == HparamDomain::Any)
        );
        let metrics: Vec<_> = experiment
            .metrics
            .iter()
            .map(|metric| &*metric.tag)
            .collect();
        assert_eq!(metrics, ["hparam/accuracy", "hparam/loss"]);
        let end = matched!(
            file.one("_hparams_/session_end_info"),
            Body::Hparams(Hparams::SessionEnd(end)) => end
        );
        assert_eq!(end.status, SessionStatus::Success);
    }
}

#[test]
fn records_by_tensorflow() {
    let file = File::read(TENSORFLOW);
    let weights = file.seen.bodies("weights");
    assert_eq!(weights.len(), 20);
    for (_, body) in weights {
        let histogram = matched!(body, Body::Histogram(histogram) => histogram);
        assert_eq!((histogram.counts.len(), histogram.count), (30, 200.0));
        assert!(histogram.lefts.is_sorted() && histogram.lefts[1..] == histogram.rights[..29]);
    }
    let images = matched!(file.one("img"), Body::Images(images) => images);
    assert_eq!(
        (images.width, images.height, images.items.len()),
        (10, 10, 2)
    );
    let tone = matched!(file.one("tone"), Body::Audio(tone) => tone);
    assert_eq!(
        (tone.sample_rate_hz, tone.channels, tone.frames),
        (Some(8000.0), Some(1), Some(2000))
    );
    assert_eq!(tone.items.len(), 1);
    let graph = matched!(file.one("my_func"), Body::Graph(graph) => graph);
    assert_eq!(graph.format, GraphFormat::TfRunMetadata);

    let train =
        File::read("tensorflow-events/keras/train/events.out.tfevents.1795214272.vm.12531.1.v2");
    let keras = matched!(train.one("keras"), Body::Graph(keras) => keras);
    assert_eq!(keras.format, GraphFormat::KerasJson);
    let json: serde_json::Value = serde_json::from_slice(train.at(keras.data)).unwrap();
    assert_eq!(json["class_name"], "Sequential");
}

#[test]
fn records_by_mindspore() {
    let file = File::read(&format!("{MS20}.vm_MS"));
    let truth = Path::new(FIXTURES).join("ms20-summary/healthy/truth.json");
    let truth: serde_json::Value = serde_json::from_slice(&fs::read(truth).unwrap()).unwrap();
    for (name, parameter) in truth["parameters"].as_object().unwrap() {
        let shape = parameter["shape"].as_array().unwrap();
        let len: u64 = shape.iter().map(|size| size.as_u64().unwrap()).product();
        let histograms = file.seen.bodies(&format!("{name}/auto"));
        assert!(!histograms.is_empty(), "{name}");
        for (_, body) in histograms {
            let histogram = matched!(body, Body::Histogram(histogram) => histogram);
            assert_eq!(histogram.count, len as f64, "{name}");
            assert_eq!(histogram.lefts[0], histogram.min.unwrap());
            assert!(histogram.sum.is_some());
        }
    }
    for tag in ["input_image", "input_data/auto"] {
        for (_, body) in file.seen.bodies(tag) {
            let images = matched!(body, Body::Images(images) => images);
            assert!(matches!(images.channels, 1 | 3), "{tag}");
            // Pictures of 16 by 16, in rows of at most eight.
            assert_eq!((images.width % 16, images.height % 16), (0, 0), "{tag}");
        }
    }
    for (_, body) in file.seen.bodies("logits") {
        let logits = matched!(body, Body::Tensor(logits) => logits);
        assert_eq!(
            (logits.dtype, &logits.shape[..]),
            (DType::F32, &[8, 10][..])
        );
        assert_eq!(logits.original_dtype, None);
        let stretch = matched!(logits.data, TensorData::Stretch(stretch) => stretch);
        let numbers = logits.numbers(file.at(stretch), 0, 80);
        assert!(numbers.len() == 80 && numbers.iter().all(|number| number.abs() < 100.0));
    }
    assert!(file.seen.bodies("logits").len() >= 10);
    let graphs = file.seen.bodies("graph");
    assert!(graphs.iter().all(|(_, body)| matches!(body, Body::Graph(graph) if graph.format == GraphFormat::MindsporeGraph)));
}

/// The same program wrote one of its tensors next to its summary.
#[test]
fn tensors_are_those_that_mindspore_exported() {
    let folder = "ms210-summary/minddata-npy";
    let file = File::read(&format!(
        "{folder}/events.out.events.summary.1795212910.0.vm_MS"
    ));
    let npy = format!("{FIXTURES}/{folder}/export_1795212910/tensor/logits_16.npy");
    let logits = file.seen.bodies("logits");
    let (_, body) = logits.into_iter().find(|record| record.0 == 16).unwrap();
    let tensor = matched!(body, Body::Tensor(tensor) => tensor);
    let stretch = matched!(tensor.data, TensorData::Stretch(stretch) => stretch);
    assert!(fs::read(npy).unwrap().ends_with(file.at(stretch)));
}

#[test]
fn lineage_of_a_training() {
    for (path, version, rate) in [
        (format!("{MS20}.vm_lineage"), "ms20", 0.05_f32),
        (
            "ms210-summary/healthy/events.out.events.summary.1795212886.0.vm_lineage".into(),
            "ms210",
            0.05,
        ),
    ] {
        let file = File::read(&path);
        let lineage = matched!(file.one("train_lineage"), Body::Lineage(lineage) => lineage);
        let train = matched!(&**lineage, Lineage::Train(train) => train);
        assert_eq!(train.learning_rate, Some(rate.into()), "{version}");
        assert_eq!(train.optimizer.as_deref(), Some("Momentum"));
        assert_eq!((train.epochs, train.batch_size), (Some(5), Some(8)));
        assert_eq!(train.parallel_mode.as_deref(), Some("stand_alone"));
        assert!(train.loss.is_some() && train.network.is_some());

        let lineage = matched!(file.one("user_defined_info"), Body::Lineage(lineage) => lineage);
        let user = matched!(&**lineage, Lineage::UserDefined(user) => user);
        let value = |name: &str| {
            user.values
                .iter()
                .find(|(key, _)| key == name)
                .map(|(_, value)| value.clone())
        };
        assert_eq!(
            value("case"),
            Some(LineageValue::Text("healthy".into())),
            "{user:?}"
        );
        assert_eq!(value("seed"), Some(LineageValue::Int(1)));
        assert_eq!(
            value("opt_name"),
            Some(LineageValue::Text("momentum".into()))
        );
        assert_eq!(value("width"), Some(LineageValue::Int(16)));

        let lineage = matched!(file.one("dataset_graph"), Body::Lineage(lineage) => lineage);
        let dataset = matched!(&**lineage, Lineage::Dataset(dataset) => dataset);
        let mut operations = Vec::new();
        collect(dataset, &mut operations);
        assert_eq!(
            operations.first().map(String::as_str),
            Some("Batch"),
            "{dataset:#?}"
        );
    }
}

fn collect(node: &DatasetNode, out: &mut Vec<String>) {
    for (name, value) in &node.parameters {
        if let (true, LineageValue::Text(value)) = (name == "op_type", value) {
            out.push(value.clone());
        }
    }
    for child in &node.children {
        collect(child, out);
    }
}

#[test]
fn lineage_of_an_evaluation() {
    let file =
        File::read("ms210-summary/healthy/events.out.events.summary.1795212888.0.vm_lineage");
    let lineage = matched!(file.one("evaluation_lineage"), Body::Lineage(lineage) => lineage);
    let evaluation = matched!(&**lineage, Lineage::Evaluation(evaluation) => evaluation);
    assert_eq!(
        evaluation.metric_json.as_deref(),
        Some("{\"Accuracy\": 1.0}")
    );
    let [(name, number)] = &evaluation.metrics[..] else {
        panic!()
    };
    assert_eq!((&**name, number.0), ("Accuracy", 1.0));
}

#[test]
fn loss_landscapes() {
    let file = File::read("ms20-summary/landscape/events.out.events.summary.1795212940.0.vm_MS");
    let mut with_path = 0;
    for record in &file.seen.batch.records {
        let Body::Landscape(landscape) = &record.body else {
            continue;
        };
        let surface = landscape.surface.as_ref().unwrap();
        assert_eq!(surface.z.values.len(), 81);
        assert_eq!(surface.z.shape.iter().product::<u64>(), 81);
        assert_eq!(surface.x.values.len(), surface.y.values.len());
        assert_eq!((&*landscape.unit, landscape.steps_per_epoch), ("epoch", 8));
        if let Some(path) = &landscape.path {
            with_path += 1;
            assert_eq!(landscape.decomposition, "PCA");
            assert_eq!(landscape.intervals.last(), Some(&4));
            assert_eq!(path.z.values.len(), landscape.intervals.len());
        }
    }
    assert_eq!(with_path, 1);
    let tags = &file.seen.batch.new_tags;
    assert_eq!(
        tags.iter()
            .filter(|tag| tag.kind == Kind::Landscapes)
            .count(),
        2
    );
}
