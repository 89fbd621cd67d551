//! Last values of the scalars with a column, in one request for all runs; repeated when runs have grown.

use std::collections::HashMap;
use std::sync::Arc;

use leptos::task::spawn_local;
use trainscope_api::scalars::{Field, MAX_SERIES, ScalarsRequest, SeriesKey};

use super::columns::Column;
use super::pace::Pace;
use trainscope_web_kit::client;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::state::AppState;

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
    state: AppState,
    columns: Memo<Vec<Column>>,
    values: RwSignal<Arc<Values>>,
    pace: Pace,
}

impl Metrics {
    /// Requests the values of `columns`, again when runs change.
    pub(super) fn new(state: AppState, columns: Memo<Vec<Column>>) -> Self {
        let metrics = Self {
            state,
            columns,
            values: RwSignal::new(Arc::default()),
            pace: Pace::new(),
        };
        Effect::new(move || {
            columns.track();
            state.runs.track();
            metrics.pace.track();
            metrics.ask();
        });
        metrics
    }

    /// Loaded values; reactive.
    pub(super) fn known(self) -> MetricValues {
        MetricValues(self.values.get())
    }

    /// Requests all values that are missing or old.
    fn ask(self) {
        if self.pace.is_asking() {
            return;
        }
        let known = self.values.get_untracked();
        let list = self.state.runs.get_untracked();
        let columns = self.columns.get_untracked();
        let tags = columns.iter().filter_map(|column| match column {
            Column::Metric(tag) => Some(tag.as_str()),
            Column::Hparam(_) => None,
        });
        let mut needed = Vec::new();
        for tag in tags {
            for run in &list.runs {
                let held = known.get(tag).and_then(|runs| runs.get(&run.id));
                if held.is_none_or(|held| held.last_step != run.last_step) {
                    needed.push(((tag, run), held.is_none()));
                }
            }
        }
        let wanted = self.pace.begin(needed, move || self.ask());
        if wanted.is_empty() {
            return;
        }
        let wanted = wanted.into_iter().take(MAX_SERIES).map(|(tag, run)| {
            let key = SeriesKey {
                run: run.id.clone(),
                rank: run.ranks.first().copied().unwrap_or_default(),
                tag: tag.to_owned(),
                writer: None,
            };
            (key, run.last_step)
        });
        let wanted: Vec<(SeriesKey, Option<i64>)> = wanted.collect();
        spawn_local(async move {
            let request = ScalarsRequest {
                series: wanted.iter().map(|(key, _)| key.clone()).collect(),
                // One bucket, placed at the last step.
                points: Some(1),
                fields: vec![Field::Values],
                ..ScalarsRequest::default()
            };
            let answer = client::scalars_many(&request).await;
            // The page can be closed by now.
            let Some(mut values) = self.values.try_get_untracked() else {
                return;
            };
            let is_answered = answer.is_ok();
            if let Ok(answer) = answer {
                let all = Arc::make_mut(&mut values);
                let mut series = answer.series.into_iter();
                for (key, last_step) in wanted {
                    let series = series.next().flatten();
                    let value = series.and_then(|series| series.values.last().copied());
                    let runs = all.entry(key.tag).or_default();
                    runs.insert(key.run, MetricEntry { value, last_step });
                }
                self.values.set(values);
            }
            self.pace.end(is_answered, move || self.ask());
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
