//! Fresh hits: the judgement of a training at a step equals the findings about all records up to this step.
//!
//! All event files of the sample runs are replayed step by step.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use trainscope_analysis::watchpoint::config::{Value, WatchpointConfig, WatchpointsFile};
use trainscope_analysis::watchpoint::{
    CONDITIONS, Context, Evaluator, Findings, FreshHit, Hit, Observation, Watchpoint, Watchpoints,
};
use trainscope_format::tensor::Tolerance;
use trainscope_format::{Body, RecordBatch, Severity, TagId, sniff};

/// Records of a run in the order of their steps; context first.
#[derive(Default)]
struct Replay {
    context: Vec<(String, String)>,
    steps: BTreeMap<i64, Vec<Entry>>,
}

enum Entry {
    Scalar(Arc<str>, f64, f64),
    Body(Arc<str>, Body),
}

fn event_files(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            event_files(&path, found);
        } else if path.to_string_lossy().contains("tfevents") {
            found.push(path);
        }
    }
}

impl Replay {
    /// Reads one event file. A training judges only the records of its file.
    fn of(path: &Path) -> Self {
        let file_name = path.file_name().unwrap().to_string_lossy();
        let mut batch = RecordBatch::default();
        let mut decoder = sniff(&file_name, Vec::new).unwrap().decoder(&file_name);
        decoder.push(&fs::read(path).unwrap(), &mut batch);
        let name = |tag: TagId| Arc::clone(&batch.new_tags[tag.0 as usize].name);
        let mut replay = Self::default();
        let scalars = &batch.scalars;
        for (index, step) in scalars.steps.iter().enumerate() {
            let tag = name(scalars.tags[index]);
            let entry = Entry::Scalar(tag, scalars.wall_times_secs[index], scalars.values[index]);
            replay.steps.entry(*step).or_default().push(entry);
        }
        for record in &batch.records {
            let tag = name(record.tag);
            match record.body.clone() {
                Body::Text(text) => replay.context.push((tag.to_string(), text.items.concat())),
                body => {
                    let entry = Entry::Body(tag, body);
                    replay.steps.entry(record.step).or_default().push(entry);
                }
            }
        }
        replay
    }

    fn play(&self, evaluator: &mut Evaluator, mut after: impl FnMut(&mut Evaluator, i64)) {
        for (tag, text) in &self.context {
            evaluator.context(0, Context::Text { tag, text });
        }
        for (step, entries) in &self.steps {
            for entry in entries {
                match entry {
                    Entry::Scalar(tag, secs, value) => {
                        evaluator.scalar(0, tag, *step, *secs, *value);
                    }
                    Entry::Body(name, Body::Statistics(summary)) => {
                        evaluator.observe(&Observation {
                            rank: 0,
                            step: *step,
                            name,
                            op: "",
                            summary,
                            tolerance: Tolerance::default(),
                        });
                    }
                    Entry::Body(name, Body::Histogram(histogram)) => {
                        evaluator.histogram(0, name, *step, histogram);
                    }
                    Entry::Body(..) => {}
                }
            }
            after(evaluator, *step);
        }
    }
}

/// Condition and tensor.
type Name = (&'static str, Arc<str>);

fn name_of(hit: &Hit) -> Name {
    (hit.condition.id, hit.tensor.clone())
}

/// Hits of instant conditions that begin at a step.
fn at_step(findings: &Findings, watchpoints: &Watchpoints, step: i64) -> BTreeSet<Name> {
    let all = findings.hits.iter();
    let instant = all.filter(|hit| {
        let watchpoint = &watchpoints.all()[hit.watchpoint as usize];
        watchpoint.is_instant() && hit.step == step
    });
    instant.map(name_of).collect()
}

fn confirmed(findings: &Findings, fresh: &[FreshHit]) -> BTreeSet<Name> {
    let all = fresh.iter();
    let hits = all.filter_map(|hit| findings.confirms(hit, Severity::Info));
    hits.map(name_of).collect()
}

/// Every formula with its limits, without context.
fn bare_formulas() -> Watchpoints {
    let instant = CONDITIONS.iter();
    let watchpoint = instant.filter_map(|condition| {
        if !Watchpoint::of(condition, false).is_instant() {
            return None;
        }
        let mut keys = BTreeMap::from([("condition".to_owned(), Value::Text(condition.id.into()))]);
        let file = |keys: &BTreeMap<_, _>| WatchpointsFile {
            watchpoint: vec![WatchpointConfig(keys.clone())],
        };
        // A condition without a default limit gets one that tensors of the sample runs exceed now and then.
        if Watchpoints::from_file(&file(&keys)).is_err() {
            let limit = condition
                .parameters
                .iter()
                .find(|parameter| parameter.is_limit)?;
            keys.insert(limit.name.as_str().to_owned(), Value::Float(0.05));
        }
        Watchpoints::from_file(&file(&keys)).ok()?;
        Some(WatchpointConfig(keys))
    });
    let file = WatchpointsFile {
        watchpoint: watchpoint.collect(),
    };
    Watchpoints::from_file(&file).unwrap()
}

/// Number of fresh hits, after comparing them with the findings at each step.
///
/// Findings take milliseconds: they are computed at fresh hits whose step is a multiple of `every`, and now and then.
fn compare(path: &Path, watchpoints: &Watchpoints, every: i64) -> usize {
    let replay = Replay::of(path);
    let mut count = 0;
    let mut evaluator = Evaluator::new(watchpoints.clone()).with_fresh_hits();
    replay.play(&mut evaluator, |evaluator, step| {
        let fresh = evaluator.fresh();
        count += fresh.len();
        if (fresh.is_empty() || step % every != 0) && step % 50 != 0 {
            return;
        }
        let findings = evaluator.findings();
        let begun: BTreeSet<Name> = confirmed(&findings, &fresh);
        let wanted = at_step(&findings, watchpoints, step);
        let missing: Vec<&Name> = wanted.difference(&begun).collect();
        assert!(
            missing.is_empty(),
            "{}, step {step}: {missing:?}",
            path.display()
        );
        // A hit after several matching steps is dated to the first of them.
        let other: Vec<&Name> = begun
            .difference(&wanted)
            .filter(|name| {
                let mut hits = findings.hits.iter();
                !hits
                    .any(|hit| name_of(hit) == **name && (hit.step..=hit.last_step).contains(&step))
            })
            .collect();
        assert!(
            other.is_empty(),
            "{}, step {step}: {other:?}",
            path.display()
        );
    });
    count
}

fn sample_files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sample-runs");
    let mut files = Vec::new();
    event_files(&folder, &mut files);
    files
}

#[test]
fn fresh_hits_equal_the_findings_at_each_step() {
    let files = sample_files();
    assert!(files.len() > 20, "{}", files.len());
    let recommended = (Watchpoints::recommended(), 1, 20);
    for (watchpoints, every, least) in [recommended, (bare_formulas(), 20, 200)] {
        let counts = files.iter().map(|path| compare(path, &watchpoints, every));
        let total: usize = counts.sum();
        assert!(total > least, "{total} fresh hits");
    }
}

#[test]
fn hits_are_fresh_once_and_only_if_they_are_collected() {
    let mut silent = Evaluator::new(Watchpoints::recommended());
    let mut evaluator = silent.clone().with_fresh_hits();
    for (step, value) in [(0, 1.0), (1, f64::NAN), (2, f64::NAN)] {
        silent.scalar(0, "loss", step, 0.0, value);
        evaluator.scalar(0, "loss", step, 0.0, value);
        evaluator.scalar(0, "speed", step, 0.0, value);
        let fresh = evaluator.fresh();
        let ids: Vec<(&str, &str)> = fresh
            .iter()
            .map(|hit| (hit.condition.id, &*hit.tensor))
            .collect();
        let wanted: &[(&str, &str)] = match step {
            1 => &[
                ("loss_nan", "loss"),
                ("scalar_not_finite", "loss"),
                ("scalar_not_finite", "speed"),
            ],
            _ => &[],
        };
        assert_eq!(ids, wanted, "step {step}");
    }
    assert_eq!(silent.fresh(), []);
}

#[test]
fn a_short_history_takes_little_memory_and_finds_the_same_faults_at_once() {
    for path in sample_files() {
        let replay = Replay::of(&path);
        let watchpoints = Watchpoints::recommended();
        let mut full = Evaluator::new(watchpoints.clone()).with_fresh_hits();
        let mut short = full.clone().with_history(2, 4);
        let mut of_full = Vec::new();
        let mut of_short = Vec::new();
        replay.play(&mut full, |evaluator, _| of_full.extend(evaluator.fresh()));
        replay.play(&mut short, |evaluator, _| {
            of_short.extend(evaluator.fresh());
        });
        assert_eq!(of_short, of_full, "{}", path.display());
        let tensors = short.findings().judged;
        let most = 10 * (tensors.tensors + tensors.unwatched + tensors.histograms);
        assert!(short.remembered() as u64 <= 2 * most, "{}", path.display());
    }
}
