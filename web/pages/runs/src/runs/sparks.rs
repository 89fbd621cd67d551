//! Fetches the small curves: all rows in view in one request, again when a run has grown.

use std::collections::HashMap;
use std::sync::Arc;

use leptos::task::spawn_local;
use trainscope_api::runs::Run;
use trainscope_api::scalars::{Field, ScalarsRequest, SeriesKey};

use super::spark::{POINTS, Spark};
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::state::{AppState, use_app_state};
use trainscope_web_kit::{client, format};

/// Minimum pause between requests for curves of growing runs.
const PAUSE_MILLIS: f64 = 1_500.0;

/// A curve, with the state of its run at the time of the request.
#[derive(Clone, Default)]
struct SparkEntry {
    /// Not in the arena, since it outlives the row that requests it first.
    spark: ArcRwSignal<Option<Arc<Spark>>>,
    at: Option<Stamp>,
    /// Time of the request, milliseconds since 1970.
    asked_millis: f64,
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
    asked: RwSignal<bool>,
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
            asked: RwSignal::new(false),
        };
        provide_context(sparks);
        Effect::new(move || {
            sparks.in_view.track();
            sparks.state.runs.track();
            if !sparks.asked.get() {
                sparks.ask();
            }
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

    /// Requests all curves in view that are missing or old. There is one request at a time; its end
    /// requests later changes.
    fn ask(self) {
        let now = format::now_millis();
        let wanted: Vec<(Run, Stamp)> = self.in_view.with_untracked(|ids| {
            let known = |id: &String| {
                let run = untrack(|| self.state.run(id))?;
                let stamp = stamp(&run)?;
                let fresh = self.held.with_value(|held| {
                    held.get(id).is_some_and(|held| {
                        held.at.as_ref() == Some(&stamp) || now - held.asked_millis < PAUSE_MILLIS
                    })
                });
                (!fresh).then_some((run, stamp))
            };
            ids.iter().filter_map(known).collect()
        });
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
        self.asked.set(true);
        spawn_local(async move {
            let answer = client::scalars_many(&request).await;
            // The page can be closed by now.
            if self.asked.try_get_untracked().is_none() {
                return;
            }
            for ((run, stamp), position) in wanted.into_iter().zip(0..) {
                // A failed request is not repeated before the run changes; the lost connection is displayed elsewhere.
                let signal = self.get(&run.id);
                let series = answer
                    .as_ref()
                    .ok()
                    .and_then(|answer| answer.series.get::<usize>(position)?.as_ref());
                if let Some(series) = series {
                    signal.set(Some(Arc::new(Spark::new(series, stamp.last_step))));
                }
                self.held.update_value(|held| {
                    if let Some(held) = held.get_mut(&run.id) {
                        (held.at, held.asked_millis) = (Some(stamp), now);
                    }
                });
            }
            self.asked.set(false);
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
