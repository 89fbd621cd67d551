//! Fetches the small curves: all rows in view in one request, again when a run has grown.

use std::collections::HashMap;
use std::sync::Arc;

use leptos::task::spawn_local;
use trainscope_api::runs::Run;
use trainscope_api::scalars::{Field, ScalarsRequest, SeriesKey};

use super::pace::Pace;
use super::spark::{POINTS, Spark};
use trainscope_web_kit::client;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::state::{AppState, use_app_state};

/// A curve, with the state of its run at the time of the request.
#[derive(Clone, Default)]
struct SparkEntry {
    /// Not in the arena, since it outlives the row that requests it first.
    spark: ArcRwSignal<Option<Arc<Spark>>>,
    at: Option<Stamp>,
}

/// Inputs of a run's loss curve.
#[derive(Clone, Debug, PartialEq)]
struct Stamp {
    tag: String,
    step: i64,
    value_bits: u64,
    last_step: i64,
}

/// The curves of this page; [`use_sparks`] returns a copy.
#[derive(Clone, Copy)]
pub(super) struct Sparks {
    state: AppState,
    held: StoredValue<HashMap<String, SparkEntry>>,
    /// Names of the runs in view.
    in_view: RwSignal<Vec<String>>,
    pace: Pace,
}

pub(super) fn use_sparks() -> Sparks {
    expect_context()
}

impl Sparks {
    pub(super) fn provide() {
        let sparks = Self {
            state: use_app_state(),
            held: StoredValue::new(HashMap::new()),
            in_view: RwSignal::new(Vec::new()),
            pace: Pace::new(),
        };
        provide_context(sparks);
        Effect::new(move || {
            sparks.in_view.track();
            sparks.state.runs.track();
            sparks.pace.track();
            sparks.ask();
        });
    }

    /// Sets the runs in view.
    pub(super) fn show(self, runs: Vec<String>) {
        self.in_view.set(runs);
    }

    /// The curve of a run; `None` until it has been read.
    pub(super) fn get(self, run: &str) -> ArcRwSignal<Option<Arc<Spark>>> {
        let held = self
            .held
            .with_value(|held| held.get(run).map(|held| held.spark.clone()));
        held.unwrap_or_else(|| {
            let new = SparkEntry::default();
            let spark = new.spark.clone();
            self.held.update_value(|held| {
                held.insert(run.to_owned(), new);
            });
            spark
        })
    }

    /// Requests all curves in view that are missing or old.
    fn ask(self) {
        if self.pace.is_asking() {
            return;
        }
        let needed = self.in_view.with_untracked(|ids| {
            let needed = |id: &String| {
                let run = untrack(|| self.state.run(id))?;
                let stamp = stamp(&run)?;
                let is_fresh = self.held.with_value(|held| {
                    let at = held.get(id)?.at.as_ref()?;
                    Some(*at == stamp)
                });
                (is_fresh != Some(true)).then_some(((run, stamp), is_fresh.is_none()))
            };
            ids.iter().filter_map(needed).collect()
        });
        let wanted = self.pace.begin(needed, move || self.ask());
        if wanted.is_empty() {
            return;
        }
        let key = |(run, stamp): &(Run, Stamp)| SeriesKey {
            run: run.id.clone(),
            rank: run.loss.as_ref().map_or(0, |loss| loss.rank),
            tag: stamp.tag.clone(),
            writer: None,
        };
        let request = ScalarsRequest {
            series: wanted.iter().map(key).collect(),
            points: Some(POINTS),
            fields: vec![Field::Values],
            ..ScalarsRequest::default()
        };
        spawn_local(async move {
            let answer = client::scalars_many(&request).await;
            // The page can be closed by now.
            if self.in_view.is_disposed() {
                return;
            }
            // A lost connection is displayed elsewhere.
            let is_answered = answer.is_ok();
            if let Ok(answer) = answer {
                for ((run, stamp), position) in wanted.into_iter().zip(0_usize..) {
                    let signal = self.get(&run.id);
                    if let Some(Some(series)) = answer.series.get(position) {
                        signal.set(Some(Arc::new(Spark::new(series, stamp.last_step))));
                    }
                    self.held.update_value(|held| {
                        if let Some(held) = held.get_mut(&run.id) {
                            held.at = Some(stamp);
                        }
                    });
                }
            }
            self.pace.end(is_answered, move || self.ask());
        });
    }
}

fn stamp(run: &Run) -> Option<Stamp> {
    let loss = run.loss.as_ref()?;
    Some(Stamp {
        tag: loss.tag.clone(),
        step: loss.step,
        value_bits: loss.value.to_bits(),
        last_step: run.last_step.unwrap_or(loss.step),
    })
}
