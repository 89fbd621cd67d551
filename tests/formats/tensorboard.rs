//! Event files of the collector, opened by TensorBoard itself: its data server, the default loader, returns all their
//! points.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use trainscope_format::encode::Moment;
use trainscope_format::hparams::{
    Experiment, HparamInfo, HparamType, HparamValue, MetricInfo, SessionStart,
};
use trainscope_format::tensor::{DType, TensorStats};
use trainscope_format::{Graph, Histogram, Hparams, RecordWriter, Role, TensorSummary, Text};

use crate::support::server::query;
use crate::support::wait_for;

/// A Python environment with TensorBoard; `cargo xtask test` creates one and sets this.
const PEER: &str = "TRAINSCOPE_PEER";

struct TensorBoard {
    process: Child,
    address: String,
}

impl TensorBoard {
    fn start(folder: &Path) -> Self {
        let venv = std::env::var_os(PEER).unwrap_or_else(|| {
            panic!("{PEER} is not set: `cargo xtask test` makes the environment it names")
        });
        let mut process = Command::new(Path::new(&venv).join("bin/tensorboard"))
            .arg("--logdir")
            .arg(folder)
            .args(["--port", "0", "--host", "127.0.0.1", "--load_fast", "true"])
            .args([
                "--samples_per_plugin",
                "scalars=1000000,histograms=10000,images=10000",
            ])
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let said = Arc::new(Mutex::new(String::new()));
        let (stderr, to) = (process.stderr.take().unwrap(), Arc::clone(&said));
        std::thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                to.lock().unwrap().push_str(&(line + "\n"));
            }
        });
        let mut board = Self {
            process,
            address: String::new(),
        };
        board.address = wait_for("TensorBoard to say where it is", || {
            let said = said.lock().unwrap();
            let (_, after) = said.split_once(" at http://")?;
            Some(format!("http://{}", after.split_once('/')?.0))
        });
        board
    }

    /// The answer of a plugin, once it has one.
    fn get(&self, path: &str, parameters: &[(&str, &str)]) -> Value {
        let url = format!("{}/data/plugin/{path}?{}", self.address, query(parameters));
        wait_for(path, || {
            let mut answer = ureq::get(&url).call().ok()?;
            serde_json::from_slice(&answer.body_mut().read_to_vec().ok()?).ok()
        })
    }

    /// The same, once the answer is a list of `len` entries.
    fn list(&self, path: &str, parameters: &[(&str, &str)], len: usize) -> Vec<Value> {
        wait_for(&format!("{len} entries of {path}"), || {
            let list = self.get(path, parameters);
            list.as_array().filter(|list| list.len() == len).cloned()
        })
    }
}

impl Drop for TensorBoard {
    fn drop(&mut self) {
        // It ends now, or has ended already.
        let _ended = self.process.kill();
        let _status = self.process.wait();
    }
}

fn value_of(step: i64) -> f64 {
    (step as f64 / 7.0).sin() * 1e-3
}

fn write_run(folder: &Path, picture: &[u8]) {
    fs::create_dir_all(folder).unwrap();
    let file = File::create(folder.join("events.out.tfevents.1700000000.host.1.0")).unwrap();
    let mut writer = RecordWriter::new(file, 1.7e9).unwrap();
    let hparam = |name: &str, value_type| HparamInfo {
        name: name.to_owned(),
        value_type,
        ..HparamInfo::default()
    };
    let experiment = Experiment {
        hparams: vec![
            hparam("lr", HparamType::Number),
            hparam("opt", HparamType::Text),
        ],
        metrics: vec![MetricInfo {
            tag: "loss".to_owned(),
            ..MetricInfo::default()
        }],
        ..Experiment::default()
    };
    let session = SessionStart {
        values: vec![
            ("lr".to_owned(), HparamValue::Number(0.25)),
            ("opt".to_owned(), HparamValue::Text("adam".to_owned())),
        ],
        ..SessionStart::default()
    };
    let at = |step: i64| Moment {
        step,
        wall_time_secs: 1.7e9 + step as f64,
    };
    writer
        .hparams(at(0), &Hparams::Experiment(experiment))
        .unwrap();
    writer
        .hparams(at(0), &Hparams::SessionStart(session))
        .unwrap();
    for step in 0..5_000 {
        writer.scalar("loss", at(step), value_of(step)).unwrap();
    }
    // Native records do not disturb TensorBoard.
    let summary = TensorSummary {
        role: Role::Weight,
        dtype: DType::F32,
        shape: vec![1],
        stats: TensorStats::of(DType::F32, &1.0_f32.to_le_bytes()),
        hash: None,
        change: None,
        channels: None,
    };
    writer.statistics(at(0), &[("loss", &summary)]).unwrap();
    writer.graph("model", at(0), &Graph::default()).unwrap();
    writer
        .tensor("full", at(0), (DType::F32, &[1]), &[0; 4])
        .unwrap();
    writer.audio("beep", at(0), &[(&wav(), "a label")]).unwrap();
    writer.scalar("odd", at(0), f64::NAN).unwrap();
    writer.scalar("odd", at(1), f64::INFINITY).unwrap();
    for step in 0..40_u32 {
        let bin = f64::from(step);
        let histogram = Histogram {
            lefts: vec![bin, bin + 1.0],
            rights: vec![bin + 1.0, bin + 3.0],
            counts: vec![2.0, 5.0],
            count: 7.0,
            nan: 3,
            ..Histogram::default()
        };
        writer
            .histogram("weights", at(step.into()), &histogram)
            .unwrap();
        writer
            .images("picture", at(step.into()), [24, 24], &[picture])
            .unwrap();
        let text = Text {
            shape: vec![1],
            items: vec![format!("**step** {step}")],
        };
        writer.text("note", at(step.into()), &text).unwrap();
    }
    writer.flush().unwrap();
}

#[test]
fn tensorboard_serves_every_point_of_a_run_that_we_wrote() {
    let folder = tempfile::tempdir().unwrap();
    let picture = crate::support::lab::fixture("torch-tensorboard");
    let picture = first_picture(&picture);
    write_run(&folder.path().join("run"), &picture);
    let board = TensorBoard::start(folder.path());

    let of = |tag: &'static str| [("run", "run"), ("tag", tag), ("format", "json")];
    let loss = board.list("scalars/scalars", &of("loss"), 5_000);
    for (step, point) in (0_i64..).zip(&loss) {
        // TensorBoard keeps scalars as f32.
        #[expect(clippy::cast_possible_truncation, reason = "that is what it keeps")]
        let wanted = f64::from(value_of(step) as f32);
        assert_eq!((&point[1], &point[2]), (&json!(step), &json!(wanted)));
        assert_eq!(
            point[0].as_f64().unwrap().to_bits(),
            (1.7e9 + step as f64).to_bits()
        );
    }
    let odd = board.list("scalars/scalars", &of("odd"), 2);
    assert_eq!(
        (&odd[0][2], &odd[1][2]),
        (&json!("NaN"), &json!("Infinity"))
    );

    let weights = board.list("histograms/histograms", &of("weights"), 40);
    for (step, record) in weights.iter().enumerate() {
        let bin = step as f64;
        assert_eq!(record[1], step);
        assert_eq!(
            record[2],
            json!([[bin, bin + 1.0, 2.0], [bin + 1.0, bin + 3.0, 5.0]])
        );
    }

    let sample = [("run", "run"), ("tag", "picture"), ("sample", "0")];
    let pictures = board.list("images/images", &sample, 40);
    for (step, record) in pictures.iter().enumerate() {
        assert_eq!(record["step"], step);
        let url = format!(
            "{}/data/plugin/images/individualImage?{}",
            board.address,
            record["query"].as_str().unwrap()
        );
        let served = ureq::get(&url)
            .call()
            .unwrap()
            .body_mut()
            .read_to_vec()
            .unwrap();
        assert_eq!(served, picture);
    }

    let beep = [("run", "run"), ("tag", "beep"), ("sample", "0")];
    let clips = board.list("audio/audio", &beep, 1);
    assert_eq!(clips[0]["contentType"], "audio/wav");
    let url = format!(
        "{}/data/plugin/audio/individualAudio?{}",
        board.address,
        clips[0]["query"].as_str().unwrap()
    );
    let served = ureq::get(&url).call().unwrap().body_mut().read_to_vec();
    assert_eq!(served.unwrap(), wav());

    let notes = board.list("text/text", &of("note"), 40);
    let seen: BTreeMap<i64, &str> = notes
        .iter()
        .map(|note| {
            (
                note["step"].as_i64().unwrap(),
                note["text"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(seen.len(), 40);
    assert!(
        seen[&39].contains("<strong>step</strong> 39"),
        "{}",
        seen[&39]
    );

    let experiment = board.get(
        "hparams/experiment",
        &[("request", "{\"experimentName\":\"\"}")],
    );
    let names: Vec<_> = experiment["hparamInfos"]
        .as_array()
        .unwrap()
        .iter()
        .map(|info| &info["name"])
        .collect();
    assert_eq!(names, ["lr", "opt"]);
}

/// A WAV file of two samples.
fn wav() -> Vec<u8> {
    let format =
        b"RIFF\x28\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x80\x3e\0\0\x02\0\x10\0";
    [&format[..], b"data\x04\0\0\0\0\0\xff\x7f"].concat()
}

#[test]
fn tensorboard_opens_what_the_collector_has_recorded() {
    let samples = crate::support::lab::workspace_root().join("sample-runs/mlp");
    let board = TensorBoard::start(&samples);
    let of = |tag: &'static str| [("run", "healthy"), ("tag", tag), ("format", "json")];
    let loss = board.list("scalars/scalars", &of("train/loss"), 200);
    assert_eq!(loss[199][1], 199);
    board.list("histograms/histograms", &of("fc1.weight"), 3);
    let sample = [("run", "healthy"), ("tag", "plane"), ("sample", "0")];
    board.list("images/images", &sample, 3);
    board.list("text/text", &of("notes"), 1);
    let overflow = [
        ("run", "overflow"),
        ("tag", "train/loss"),
        ("format", "json"),
    ];
    let overflow = board.list("scalars/scalars", &overflow, 200);
    assert_eq!(overflow[199][2], json!("NaN"));
    let torn = [("run", "torn"), ("tag", "train/loss"), ("format", "json")];
    board.list("scalars/scalars", &torn, 200);
    wait_for("the hyper-parameters", || {
        let request = [("request", "{\"experimentName\":\"\"}")];
        let experiment = board.get("hparams/experiment", &request);
        (experiment["hparamInfos"].as_array()?.len() == 4).then_some(())
    });
}

/// The bytes of a PNG that torch wrote into an event file of this folder.
fn first_picture(folder: &Path) -> Vec<u8> {
    let run = folder.join("torch/run1");
    let events = fs::read_dir(run)
        .unwrap()
        .flatten()
        .find(|entry| entry.file_name().to_string_lossy().contains("tfevents"));
    let bytes = fs::read(events.unwrap().path()).unwrap();
    let mut decoder = trainscope_format::Format::Tfevents.decoder("");
    let mut batch = trainscope_format::RecordBatch::default();
    decoder.push(&bytes, &mut batch);
    let stretch = batch.records.iter().find_map(|record| match &record.body {
        trainscope_format::Body::Images(images) if images.width == 24 => {
            images.items.first().copied()
        }
        _ => None,
    });
    let stretch = stretch.unwrap();
    let begin = usize::try_from(stretch.offset).unwrap();
    bytes[begin..begin + usize::try_from(stretch.len_bytes).unwrap()].to_vec()
}
