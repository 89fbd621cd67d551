//! End-to-end tests: readers find every kind of record, from several threads, after panics and all sorts of ends.

#![expect(
    clippy::unwrap_used,
    clippy::float_cmp,
    reason = "a test that cannot go on has failed; numbers are to be the same"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::panic;
use std::path::{Path, PathBuf};
use std::process::Command;

use trainscope_collector::{
    Collector, DType, DatasetPipeline, DumpPolicy, GraphBuilder, Hyperparameters, LaneKind,
    NamedTensor, Picture, Role, SamplePolicy, SpanKind, SpanNames, StepContext, TensorView,
    TrainingHook,
};
use trainscope_format::formats::spans_trace::spans_to_trace;
use trainscope_format::{Body, Format, Kind, Profile, RecordBatch, trace};

fn event_files(run: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(run)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_string_lossy().contains("tfevents"))
        .collect();
    files.sort();
    files
}

fn read(path: &Path) -> RecordBatch {
    let mut batch = RecordBatch::default();
    let mut decoder = Format::Tfevents.decoder("");
    decoder.push(&fs::read(path).unwrap(), &mut batch);
    assert_eq!(batch.damages, []);
    assert_eq!(decoder.open_damage(), None);
    batch
}

/// The records of the only file of a run.
fn read_run(run: &Path) -> RecordBatch {
    let files = event_files(run);
    assert_eq!(files.len(), 1, "{files:?}");
    read(&files[0])
}

fn points(batch: &RecordBatch) -> BTreeMap<String, Vec<(i64, f64)>> {
    let mut points: BTreeMap<String, Vec<(i64, f64)>> = BTreeMap::new();
    let scalars = &batch.scalars;
    for (index, tag) in scalars.tags.iter().enumerate() {
        let name = batch.new_tags[tag.0 as usize].name.to_string();
        let point = (scalars.steps[index], scalars.values[index]);
        points.entry(name).or_default().push(point);
    }
    points
}

fn kinds(batch: &RecordBatch) -> BTreeSet<Kind> {
    batch.new_tags.iter().map(|tag| tag.kind).collect()
}

#[test]
fn every_kind_is_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path();
    let collector = Collector::builder(run)
        .samples(
            SamplePolicy::every(1)
                .change()
                .histograms()
                .channels(Role::Weight, 0),
        )
        .dumps(DumpPolicy::every(2).matching("fc*"))
        .start()
        .unwrap();
    let hyperparameters = Hyperparameters::default()
        .number("lr", 0.1)
        .text("optimizer", "sgd")
        .flag("nesterov", true)
        .metric("loss");
    collector.hyperparameters(&hyperparameters);
    collector.graph(
        "model",
        GraphBuilder::new("mlp")
            .input("x", DType::F32, &[1, 2])
            .operation("y", "Relu", &["x", "nowhere"])
            .output("y", "y")
            .build(),
    );
    collector.lineage(
        DatasetPipeline::source("Moons")
            .then("Batch")
            .parameter("size", 4)
            .build(),
    );
    let exact = 0.1_f64 + 0.2;
    for number in 0..3_u8 {
        let weights = [1.0_f32, f32::from(number), 3.0, f32::NAN];
        let mut step = collector.step(number.into());
        step.scalars(&[("loss", exact), ("odd", f64::NEG_INFINITY)]);
        step.tensor(
            "fc1.weight",
            Role::Weight,
            TensorView::of(&weights, &[2, 2]),
        );
        drop(step);
        let _span = collector.span("evaluate");
        collector.counter("memory", 1.5);
    }
    collector.text("remark", 1, "a **text**");
    collector.note("a note");
    let picture = Picture {
        width: 2,
        height: 1,
        channels: 1,
        pixels: &[0, 255],
    };
    collector.images("picture", 1, &[picture, picture]);
    collector.audio("sound", 1, 8_000, 1, &[0.0, 0.5]);
    collector.histogram("numbers", 1, TensorView::of(&[1_i64, 2, 3], &[3]));
    collector.values("matrix", 1, TensorView::of(&[1.0_f64, 2.0], &[1, 2]));
    let report = collector.finish();
    assert!(report.is_complete(), "{report:?}");
    assert_eq!(report.dumps_written, 2);

    let batch = read_run(run);
    assert_eq!(points(&batch)["loss"], [(0, exact), (1, exact), (2, exact)]);
    assert_eq!(points(&batch)["odd"][0].1, f64::NEG_INFINITY);
    let wanted = BTreeSet::from([
        Kind::Scalars,
        Kind::Histograms,
        Kind::Images,
        Kind::Audio,
        Kind::Text,
        Kind::Tensors,
        Kind::Graphs,
        Kind::Hparams,
        Kind::Lineage,
        Kind::Statistics,
        Kind::Profile,
        Kind::Dumps,
    ]);
    assert_eq!(kinds(&batch), wanted);
    let statistics: Vec<_> = batch
        .records
        .iter()
        .filter_map(|record| match &record.body {
            Body::Statistics(summary) => Some((record.step, summary)),
            _ => None,
        })
        .collect();
    assert_eq!(statistics.len(), 3);
    let (step, summary) = &statistics[1];
    assert_eq!(
        (*step, summary.role, summary.stats.nan),
        (1, Role::Weight, 1)
    );
    assert_eq!(
        summary.change.unwrap().changed,
        2,
        "one number, and NaN differs from itself"
    );
    assert_eq!(summary.channels.as_ref().unwrap().not_finite, [0, 1]);
    let dump = fs::read(run.join("dump/step_2.safetensors")).unwrap();
    let dump = safetensors::SafeTensors::deserialize(&dump).unwrap();
    let weights = dump.tensor("fc1.weight").unwrap();
    assert_eq!(weights.shape(), [2, 2]);
    assert_eq!(weights.data()[4..8], 2.0_f32.to_le_bytes());
}

#[test]
fn threads_and_clones_record_into_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let collector = Collector::builder(folder.path()).start().unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let collector = collector.clone();
            scope.spawn(move || {
                for step in 0..1_000 {
                    let _span = collector.span("work");
                    collector.scalar(&format!("thread/{thread}"), step, step as f64);
                }
            });
        }
    });
    drop(collector);
    let points = points(&read_run(folder.path()));
    assert_eq!(points.len(), 4);
    for points in points.values() {
        let wanted: Vec<_> = (0..1_000).map(|step| (step, step as f64)).collect();
        assert_eq!(*points, wanted);
    }
}

#[test]
fn several_collectors_and_restarts_have_files_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    for _ in 0..2 {
        let first = Collector::builder(folder.path()).start().unwrap();
        let second = Collector::builder(folder.path()).start().unwrap();
        for collector in [&first, &second] {
            collector.scalar("loss", 0, 1.0);
            assert!(collector.flush());
        }
    }
    assert_eq!(event_files(folder.path()).len(), 4);
}

#[test]
fn ranks_have_folders_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    for (rank, world_size, wanted) in [(0, 1, ""), (0, 2, "rank_0"), (1, 2, "rank_1")] {
        let collector = Collector::builder(folder.path())
            .rank(rank, world_size)
            .start()
            .unwrap();
        collector.scalar("loss", 0, 1.0);
        collector.finish();
        assert_eq!(event_files(&folder.path().join(wanted)).len(), 1);
    }
}

#[test]
fn odd_tags_and_tensors_are_taken_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let collector = Collector::builder(folder.path())
        .samples(SamplePolicy::every(1).change().histograms())
        .start()
        .unwrap();
    let long = "x".repeat(100_000);
    let tags = ["", "\0", "a/../b", "<script>", "\u{202e}", "\n", &long];
    for tag in tags {
        collector.scalar(tag, i64::MIN, f64::MAX);
        collector.text(tag, i64::MAX, tag);
    }
    let numbers = [1.0_f32; 6];
    let views = [
        (TensorView::of::<f32>(&[], &[0, 3]), true),
        (TensorView::of(&numbers[..1], &[]), true),
        (
            TensorView::strided(DType::F32, &[3, 2], &[1, 3], bytes(&numbers)),
            true,
        ),
        (TensorView::of(&numbers, &[7]), false),
        (TensorView::of(&numbers, &[usize::MAX, 2]), false),
    ];
    for (step, (view, _)) in (0..).zip(views) {
        collector.tensor("t", Role::Other, step, view);
        collector.histogram("h", step, view);
        collector.values("v", step, view);
    }
    collector.images("none", 0, &[]);
    collector.audio("none", 0, 0, 0, &[1.0]);
    let report = collector.finish();
    let valid = views.iter().filter(|(_, is_valid)| *is_valid).count();
    assert_eq!(report.lost.invalid, 3 * 2 + 2);
    assert_eq!(report.lost.total(), report.lost.invalid);
    let batch = read_run(folder.path());
    assert_eq!(points(&batch).len(), tags.len());
    let of_kind = |kind| {
        batch
            .records
            .iter()
            .filter(|record| record.body.kind() == kind)
            .count()
    };
    assert_eq!(of_kind(Kind::Statistics), valid);
    assert_eq!(of_kind(Kind::Tensors), valid);
    assert_eq!(of_kind(Kind::Histograms), 2 * valid);
}

fn bytes(numbers: &[f32]) -> &[u8] {
    // Ones, so that any four bytes of it are valid.
    static ONES: [u8; 24] = {
        let one = 1.0_f32.to_le_bytes();
        let mut bytes = [0; 24];
        let mut index = 0;
        while index < 24 {
            bytes[index] = one[index % 4];
            index += 1;
        }
        bytes
    };
    &ONES[..numbers.len() * 4]
}

#[test]
fn a_million_tags() {
    let folder = tempfile::tempdir().unwrap();
    let collector = Collector::builder(folder.path())
        .queue_bytes(256 << 20)
        .start()
        .unwrap();
    let tags = if cfg!(debug_assertions) {
        100_000
    } else {
        1_000_000
    };
    for tag in 0..tags {
        collector.scalar(&format!("tag/{tag}"), 0, 1.0);
    }
    assert!(collector.finish().is_complete());
    assert_eq!(points(&read_run(folder.path())).len(), tags);
}

#[test]
fn what_comes_after_the_end_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let collector = Collector::builder(folder.path()).start().unwrap();
    collector.scalar("loss", 0, 1.0);
    assert!(collector.finish().is_complete());
    collector.scalar("loss", 1, 1.0);
    collector.note("late");
    drop(collector.span("late"));
    drop(collector.step(3));
    assert!(collector.flush(), "there is nothing to wait for");
    assert_eq!(collector.finish().lost.after_finish, 3);
}

/// Records when it is dropped.
struct Last(Collector);

impl Drop for Last {
    fn drop(&mut self) {
        self.0.scalar("dropped", 0, 1.0);
        drop(self.0.span("dropped"));
    }
}

#[test]
fn a_training_that_panics_leaves_everything() {
    let folder = tempfile::tempdir().unwrap();
    let collector = Collector::builder(folder.path())
        .panic_hook()
        .start()
        .unwrap();
    let training = panic::AssertUnwindSafe(move || {
        let last = Last(collector.clone());
        collector.hyperparameters(&Hyperparameters::default().number("lr", 1.0));
        collector.scalar("loss", 0, 1.0);
        let mut step = collector.step(1);
        step.tensor("w", Role::Weight, TensorView::from(&1.0_f32));
        step.tensor("w0", Role::Weight, TensorView::from(&1.0_f32));
        drop(step);
        let none: Vec<u8> = Vec::new();
        let _missing = none[usize::from(last.0.report().is_closed)];
    });
    assert!(panic::catch_unwind(training).is_err());
    let batch = read_run(folder.path());
    assert_eq!(points(&batch).len(), 2);
    let texts: Vec<&str> = batch
        .records
        .iter()
        .filter_map(|record| match &record.body {
            Body::Text(text) => Some(text.items[0].as_str()),
            _ => None,
        })
        .collect();
    assert!(texts[0].contains("index out of bounds"), "{texts:?}");
    let ends = batch
        .records
        .iter()
        .filter(|record| record.body.kind() == Kind::Hparams);
    assert_eq!(
        ends.count(),
        3,
        "experiment, beginning, and the end that failed"
    );
}

#[test]
fn a_thread_that_ends_may_record() {
    thread_local! {
        static LAST: std::cell::RefCell<Option<Last>> = const { std::cell::RefCell::new(None) };
    }
    let folder = tempfile::tempdir().unwrap();
    let collector = Collector::builder(folder.path()).start().unwrap();
    let for_thread = collector.clone();
    std::thread::spawn(move || LAST.with_borrow_mut(|last| *last = Some(Last(for_thread))))
        .join()
        .unwrap();
    assert!(collector.finish().is_complete());
    assert_eq!(points(&read_run(folder.path()))["dropped"].len(), 1);
}

#[test]
fn a_trigger_looks_at_the_next_step() {
    let folder = tempfile::tempdir().unwrap();
    let mut collector = Collector::builder(folder.path())
        .samples(SamplePolicy::never())
        .dumps(DumpPolicy::never().at_most(2))
        .start()
        .unwrap();
    let weights = [1.0_f32, 2.0];
    let tensors = [NamedTensor {
        name: "w",
        role: Role::Weight,
        view: TensorView::of(&weights, &[2]),
    }];
    for step in 0..10 {
        if step % 3 == 1 {
            collector.trigger("the loss rose");
        }
        let context = StepContext {
            step,
            scalars: &[],
            tensors: &tensors.as_slice(),
        };
        collector.on_step_end(&context);
    }
    collector.on_train_end();
    let batch = read_run(folder.path());
    let steps = |kind| {
        let of_kind = batch
            .records
            .iter()
            .filter(move |record| record.body.kind() == kind);
        of_kind.map(|record| record.step).collect::<Vec<_>>()
    };
    assert_eq!(steps(Kind::Statistics), [1, 4, 7]);
    assert_eq!(steps(Kind::Dumps), [1, 4]);
}

#[test]
fn a_nan_is_dumped_where_it_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let collector = Collector::builder(folder.path())
        .samples(SamplePolicy::every(1))
        .dumps(DumpPolicy::never().at_not_finite(1))
        .start()
        .unwrap();
    for (number, value) in [(0, 1.0_f32), (1, f32::NAN), (2, f32::NAN)] {
        let mut step = collector.step(number);
        step.tensor("before", Role::Weight, TensorView::from(&1.0_f32));
        step.tensor("broken", Role::Weight, TensorView::from(&value));
        step.tensor("after", Role::Weight, TensorView::from(&1.0_f32));
    }
    assert_eq!(collector.finish().dumps_written, 1);
    let dump = fs::read(folder.path().join("dump/step_1.safetensors")).unwrap();
    let dump = safetensors::SafeTensors::deserialize(&dump).unwrap();
    let names: BTreeSet<&str> = dump.names().into_iter().collect();
    assert_eq!(names, BTreeSet::from(["after", "broken"]));
}

#[test]
fn a_clock_of_ones_own_gives_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = ["a", "b"].map(|run| {
        let run = folder.path().join(run);
        let now = std::sync::atomic::AtomicU32::new(1_000);
        let collector = Collector::builder(&run)
            .clock(move || {
                now.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
                    .into()
            })
            .flush_every(std::time::Duration::MAX)
            .identity("any where/\u{0}", 7)
            .start()
            .unwrap();
        for step in 0..20_000 {
            drop(collector.span("step"));
            collector.scalar("loss", step, 1.0);
        }
        collector.finish();
        let files = event_files(&run);
        assert!(files[0].ends_with("events.out.tfevents.0000001000.anywhere.7.0"));
        fs::read(&files[0]).unwrap()
    });
    assert!(bytes[0] == bytes[1]);
}

/// Set for the process that is to be killed.
const VICTIM: &str = "TRAINSCOPE_TEST_VICTIM";

/// Records until it is killed, if it was started for that.
#[test]
fn victim() {
    let Some(run) = std::env::var_os(VICTIM) else {
        return;
    };
    let collector = Collector::builder(run).start().unwrap();
    for step in 0.. {
        collector.scalar("loss", step, 1.0);
        if step == 9_999 {
            collector.flush();
            fs::write(
                Path::new(&std::env::var_os(VICTIM).unwrap()).join("flushed"),
                "",
            )
            .unwrap();
        }
        if step > 9_999 {
            std::thread::yield_now();
        }
    }
}

#[test]
fn what_was_flushed_survives_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let mut victim = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "victim"])
        .env(VICTIM, folder.path())
        .spawn()
        .unwrap();
    let begun = std::time::Instant::now();
    while !folder.path().join("flushed").exists() {
        assert!(begun.elapsed().as_secs() < 60);
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    victim.kill().unwrap();
    victim.wait().unwrap();
    let points = points(&read_run(folder.path()));
    assert!(points["loss"].len() >= 10_000);
}

#[test]
fn kinds_of_spans_and_lanes_and_flows_between_threads_are_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let collector = Collector::builder(folder.path()).start().unwrap();
    collector.lane("stream 7", LaneKind::Stream);
    let waiting = collector.span_of("wait", SpanKind::Idle);
    let flow = collector.flow();
    std::thread::scope(|scope| {
        let worker = std::thread::Builder::new().name("worker".to_owned());
        let work = || {
            let _span = collector.span_of("copy", SpanKind::Copy);
            collector.end_flow(flow);
        };
        worker.spawn_scoped(scope, work).unwrap();
    });
    drop(waiting);
    // One name with two kinds.
    drop(collector.span("copy"));
    let names = SpanNames {
        name: "kernel",
        lane: "stream 7",
    };
    collector.ended_span(names, SpanKind::Other, 0, 5, 10);
    assert!(collector.flush());
    // The lane keeps its kind in the next record.
    collector.ended_span(names, SpanKind::Compute, 1, 25, 10);
    collector.ended_flow(("stream 7", 30), ("stream 7", 12));
    assert!(collector.finish().is_complete());

    let batch = read_run(folder.path());
    let file = fs::read(&event_files(folder.path())[0]).unwrap();
    let profiles = batch.records.iter().filter_map(|record| {
        let Body::Profile(source) = &record.body else {
            return None;
        };
        let from = usize::try_from(source.data.offset).unwrap();
        let len = usize::try_from(source.data.len_bytes).unwrap();
        Some(Profile::read(&file[from..from + len]).unwrap())
    });
    let profiles: Vec<_> = profiles.collect();
    assert_eq!(profiles.len(), 2);
    let trace = spans_to_trace(profiles.iter());
    let slices = (0..trace.slices.len()).map(|index| trace.slices.get(index).unwrap());
    let found: Vec<_> = slices
        .map(|slice| {
            let lane = &trace.lanes[usize::from(slice.lane)];
            let name = trace.texts.get(slice.name);
            let category = &trace.categories[usize::from(slice.category)];
            (name, &*category.name, lane.kind)
        })
        .collect();
    assert_eq!(
        found,
        [
            ("copy", "copy", trace::LaneKind::Host),
            ("wait", "idle", trace::LaneKind::Host),
            ("copy", "", trace::LaneKind::Host),
            ("kernel", "", trace::LaneKind::Device),
            ("kernel", "compute", trace::LaneKind::Device),
        ]
    );
    let flows = trace.flows.iter().map(|flow| (flow.from, flow.to));
    assert_eq!(flows.collect::<Vec<_>>(), [(1, 0), (4, 3)]);
}
