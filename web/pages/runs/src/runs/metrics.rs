//! Last values of the scalars with a column, in one request for all runs; repeated when runs have grown.

use std::collections::HashMap;
use std::sync::Arc;

use leptos::task::spawn_local;
use trainscope_api::scalars::{Field, MAX_SERIES, ScalarsRequest, SeriesKey};

use super::columns::Column;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::state::AppState;
use trainscope_web_kit::{client, format};

/// Minimum pause between requests for values of growing runs.
const PAUSE_MILLIS: f64 = 1_500.0;

/// A value, and the last step of its run at the time of the request.
#[derive(Clone, Copy, Debug, PartialEq)]
struct MetricEntry {
    value: Option<f64>,
    last_step: Option<i64>,
}

type Values = HashMap<String, HashMap<String, MetricEntry>>;

/// Known values, by tag and run.
#[derive(Clone, Copy)]
pub(super) struct Metrics {
    values: RwSignal<Arc<Values>>,
    is_asking: RwSignal<bool>,
    asked_millis: StoredValue<f64>,
}

impl Metrics {
    /// Requests the values of `columns`, again when runs change.
    pub(super) fn new(state: AppState, columns: Memo<Vec<Column>>) -> Self {
        let metrics = Self {
            values: RwSignal::new(Arc::default()),
            is_asking: RwSignal::new(false),
            asked_millis: StoredValue::new(0.0),
        };
        Effect::new(move || {
            let columns = columns.get();
            let tags = columns.iter().filter_map(|column| match column {
                Column::Metric(tag) => Some(tag.as_str()),
                Column::Hparam(_) => None,
            });
            state.runs.track();
            if !metrics.is_asking.get() {
                metrics.ask(state, tags);
            }
        });
        metrics
    }

    /// Loaded values; reactive.
    pub(super) fn known(self) -> MetricValues {
        MetricValues(self.values.get())
    }

    fn ask<'a>(self, state: AppState, tags: impl Iterator<Item = &'a str>) {
        let known = self.values.get_untracked();
        let is_early = format::now_millis() - self.asked_millis.get_value() < PAUSE_MILLIS;
        let list = state.runs.get_untracked();
        let mut wanted = Vec::new();
        for tag in tags {
            for run in &list.runs {
                let held = known.get(tag).and_then(|runs| runs.get(&run.id));
                // Values that were never requested are requested at once.
                let is_wanted =
                    held.is_none_or(|held| held.last_step != run.last_step && !is_early);
                if is_wanted && wanted.len() < MAX_SERIES {
                    let key = SeriesKey {
                        run: run.id.clone(),
                        rank: run.ranks.first().copied().unwrap_or_default(),
                        tag: tag.to_owned(),
                        writer: None,
                    };
                    wanted.push((key, run.last_step));
                }
            }
        }
        if wanted.is_empty() {
            return;
        }
        self.is_asking.set(true);
        self.asked_millis.set_value(format::now_millis());
        spawn_local(async move {
            let request = ScalarsRequest {
                series: wanted.iter().map(|(key, _)| key.clone()).collect(),
                // One bucket, placed at the last step.
                points: Some(1),
                fields: vec![Field::Values],
                ..ScalarsRequest::default()
            };
            let answer = client::scalars_many(&request).await;
            // The page can be closed by now. A failed request is repeated when a run changes.
            let Some(mut values) = self.values.try_get_untracked() else {
                return;
            };
            if let Ok(answer) = answer {
                let all = Arc::make_mut(&mut values);
                for ((key, last_step), series) in wanted.into_iter().zip(answer.series) {
                    let value = series.and_then(|series| series.values.last().copied());
                    let runs = all.entry(key.tag).or_default();
                    runs.insert(key.run, MetricEntry { value, last_step });
                }
                self.values.set(values);
            }
            self.is_asking.set(false);
        });
    }
}

/// Snapshot of the known values.
#[derive(Clone)]
pub(super) struct MetricValues(Arc<Values>);

impl MetricValues {
    /// The last value of a scalar.
    pub(super) fn get(&self, run: &str, tag: &str) -> Option<f64> {
        self.0.get(tag)?.get(run)?.value
    }
}
