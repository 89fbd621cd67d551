//! Judgements of runs as they grow, compared with judgements of the same files at once.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use trainscope_format::sniff;

use super::*;
use crate::discovery::find::find;
use crate::index::Index;
use crate::ingest::{IngestSettings, Ingester};
use crate::judging::judge::judge;
use crate::profiles::Profiles;
use crate::reader::Feeds;

/// Files below a folder, relative to it, in order.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut folders = vec![folder.to_owned()];
    let mut files = Vec::new();
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_none_or(|extension| extension != "toml") {
                files.push(path.strip_prefix(folder).unwrap().to_owned());
            }
        }
    }
    // Step 45 before step 100.
    files.sort_by_key(|path| (path.as_os_str().len(), path.clone()));
    files
}

fn sample_run(sample: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sample-runs");
    folder.join(sample)
}

/// Copies the first `part` of six parts of a sample run: event files grow, other files come one after another.
fn copy_part(from: &Path, to: &Path, part: usize) {
    let all = files(from);
    let is_stream = |path: &Path| sniff(&path.to_string_lossy(), Vec::new).is_some();
    let whole: Vec<&PathBuf> = all.iter().filter(|path| !is_stream(path)).collect();
    for path in &all {
        let bytes = fs::read(from.join(path)).unwrap();
        let target = to.join(path);
        let upto = if is_stream(path) {
            bytes.len() * part / 6
        } else {
            let place = whole.iter().position(|file| *file == path).unwrap();
            if place * 6 >= whole.len() * part {
                continue;
            }
            bytes.len()
        };
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        let has =
            fs::metadata(&target).map_or(0, |metadata| usize::try_from(metadata.len()).unwrap());
        if has < upto {
            let mut file = File::options()
                .create(true)
                .append(true)
                .open(&target)
                .unwrap();
            file.write_all(&bytes[has..upto]).unwrap();
            // Long ago, so that no file counts as incomplete.
            let then = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 + part as u64);
            file.set_modified(then).unwrap();
        }
    }
}

/// Source of the blocks of a growing run.
#[derive(Clone, Copy, PartialEq)]
enum Input {
    /// The files, read on after each walk.
    Walks,
    /// The ingest loop, which hands on all of its blocks.
    Blocks,
    /// The ingest loop, of whose blocks many are dropped.
    DroppedBlocks,
}

/// Lets a sample run grow in six parts and compares each judgement with one of the same files at once; returns the
/// number of times it had to be judged again, and of parts that were judged without a walk.
fn grow(sample: &str, input: Input) -> (usize, usize) {
    let from = sample_run(sample);
    let to = tempfile::tempdir().unwrap();
    let cache = tempfile::tempdir().unwrap();
    let watchpoints = Watchpoints::recommended();
    let (ingester, index) = Ingester::start(IngestSettings {
        base_dirs: vec![to.path().canonicalize().unwrap()],
        cache_dir: cache.path().to_owned(),
        reload_interval: Duration::from_millis(5),
        file_events: false,
    })
    .unwrap();
    let feeds = match input {
        Input::Walks => Feeds::default(),
        Input::Blocks => ingester.feeds().clone(),
        Input::DroppedBlocks => ingester.feeds().with_room(2_000),
    };
    let shared = SharedFiles {
        feeds,
        profiles: Profiles::new(&index),
    };
    let mut ongoing: Option<Ongoing> = None;
    let (mut anew, mut live) = (0, 0);
    for part in 1..=6 {
        copy_part(&from, to.path(), part);
        let run = find(&to.path().canonicalize().unwrap(), 1)
            .unwrap()
            .runs
            .remove(0);
        if input != Input::Walks {
            let expected: u64 = event_files(&run)
                .filter(|(_, is_beside, _)| !is_beside)
                .map(|(.., source)| source.stamp.len_bytes)
                .sum();
            let begun = Instant::now();
            let is_read = || index.ingest().idle && index.ingest().bytes >= expected;
            while !is_read() {
                assert!(begun.elapsed() < Duration::from_mins(1), "{sample}");
                std::thread::sleep(Duration::from_millis(2));
            }
        }
        let expected = judge(&run, &watchpoints, 1, |_| {});
        if let Some(Ok(Some(judged))) = ongoing.as_mut().map(Ongoing::follow)
            && run.ranks.values().all(|rank| rank.steps.is_empty())
        {
            live += 1;
            assert_eq!(judged.findings, expected.findings, "{sample}, part {part}");
        }
        let gone_on = ongoing
            .as_mut()
            .and_then(|ongoing| ongoing.resume(&run, 1, &mut |_| {}));
        let judged = gone_on.unwrap_or_else(|| {
            let (made, judged) = Ongoing::begin(&run, &watchpoints, &shared, 1, &mut |_| {});
            anew += usize::from(ongoing.is_some());
            ongoing = Some(made);
            judged
        });
        assert_eq!(judged.findings, expected.findings, "{sample}, part {part}");
        assert_eq!(judged.damaged, expected.damaged, "{sample}, part {part}");
        assert_eq!(
            judged.truncated, expected.truncated,
            "{sample}, part {part}"
        );
        assert!(part < 6 || judged.findings.judged.steps > 0);
    }
    ingester.stop();
    (anew, live)
}

/// All sample runs, by their folders.
const SAMPLES: [&str; 19] = [
    "candle",
    "keras",
    "mindspore/healthy",
    "mindspore/overflow",
    "mlp/dead-relu",
    "mlp/diverging",
    "mlp/frozen",
    "mlp/healthy",
    "mlp/overflow",
    "mlp/restarted",
    "mlp/torn",
    "mlp/vanishing",
    "torch/hp0",
    "torch/hp1",
    "torch/hp2",
    "torch/run1",
    "transformer-small/bf16",
    "transformer-small/fp16",
    "transformer-small/fp16-loss-scale",
];

#[test]
fn what_is_judged_in_parts_is_what_is_judged_at_once() {
    for sample in SAMPLES {
        let (anew, _) = grow(sample, Input::Walks);
        match sample {
            // Ranks that grow apart.
            "mlp/diverging" => assert!(anew < 2),
            // Two files of one training, written at the same time: judged again instead of resumed.
            "mlp/restarted" | "mlp/torn" => {}
            _ => assert_eq!(anew, 0, "{sample}"),
        }
    }
}

#[test]
fn blocks_of_the_index_are_judged_like_the_files() {
    let mut live = 0;
    for sample in SAMPLES {
        live += grow(sample, Input::Blocks).1;
    }
    assert!(live > 20, "{live}");
}

#[test]
fn dropped_blocks_are_read_again() {
    for sample in ["candle", "mlp/restarted", "torch/run1"] {
        grow(sample, Input::DroppedBlocks);
    }
}

#[test]
fn a_dump_that_may_still_be_written_waits_and_one_written_again_begins_anew() {
    let from = sample_run("mlp/overflow");
    let to = tempfile::tempdir().unwrap();
    let all = files(&from);
    for path in &all {
        let target = to.path().join(path);
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::copy(from.join(path), &target).unwrap();
    }
    let look = || find(to.path(), 1).unwrap().runs.remove(0);
    let watchpoints = Watchpoints::recommended();
    let index = Index::open(&to.path().join("cache"), &[to.path().to_owned()]).unwrap();
    let shared = SharedFiles {
        feeds: Feeds::default(),
        profiles: Profiles::new(&index),
    };
    let (mut ongoing, _) = Ongoing::begin(&look(), &watchpoints, &shared, 1, &mut |_| {});
    assert!(ongoing.is_waiting());
    let dump = all
        .iter()
        .find(|path| path.ends_with("step_100.safetensors"))
        .unwrap();
    let dump = File::options()
        .append(true)
        .open(to.path().join(dump))
        .unwrap();
    let then = SystemTime::now()
        .checked_sub(Duration::from_mins(1))
        .unwrap();
    dump.set_modified(then).unwrap();
    let seen = ongoing.resume(&look(), 1, &mut |_| {}).unwrap();
    assert!(!ongoing.is_waiting());
    assert_eq!(
        seen.findings,
        judge(&look(), &watchpoints, 1, |_| {}).findings
    );
    // Without new files there is nothing to do; a rewritten dump is a new one.
    assert_eq!(
        ongoing.resume(&look(), 1, &mut |_| {}).unwrap().findings,
        seen.findings
    );
    dump.set_modified(then + Duration::from_secs(1)).unwrap();
    assert!(ongoing.resume(&look(), 1, &mut |_| {}).is_none());
}
