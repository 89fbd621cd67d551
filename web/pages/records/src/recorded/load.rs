//! The records of a card: all recorded steps of its runs, and for each the record nearest to the wanted step.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use trainscope_api::records::{At, Records, RecordsQuery};

use super::settings::Settings;
use trainscope_web_kit::client::{self, ClientError};
use trainscope_web_kit::components::browse::SeriesId;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::query::query;

/// One run's record at the step of its card.
#[derive(Clone)]
pub(super) struct SeriesRecord<T> {
    pub(super) id: SeriesId,
    /// `None` while a request is pending, and without a record.
    pub(super) record: Option<Arc<At<T>>>,
    /// First recorded step of the series.
    pub(super) first_step: Option<i64>,
    /// Recorded step before that of the record.
    pub(super) step_before: Option<i64>,
}

/// Loading state of a card's runs.
pub(super) struct CardRecords<T: Send + Sync + 'static> {
    /// In the order of the runs.
    pub(super) shown: Signal<Vec<SeriesRecord<T>>>,
    /// Recorded steps of all runs.
    pub(super) steps: Memo<Arc<Vec<i64>>>,
    /// `true` while a request is pending.
    pub(super) is_fetching: Signal<bool>,
    /// `true` if the last request failed.
    pub(super) has_failed: Signal<bool>,
}

/// Series with their wanted steps; `None` is the last one, with the list of all.
type Want = Vec<(SeriesId, Option<i64>)>;

/// One answer per wanted record, in the same order, with its wanted step.
type Answers<T> = Vec<(Option<i64>, Records<T>)>;

/// The recorded step to show for a wanted one: the last one up to it, otherwise the first.
pub(super) fn nearest(steps: &[i64], wanted: Option<i64>) -> Option<i64> {
    let Some(wanted) = wanted else {
        return steps.last().copied();
    };
    let behind = steps.partition_point(|step| *step <= wanted);
    steps.get(behind.saturating_sub(1)).copied()
}

impl<T: DeserializeOwned + Clone + PartialEq + Send + Sync + 'static> CardRecords<T> {
    /// Requests the records of a tag.
    pub(super) fn start(
        settings: Settings,
        tag: StoredValue<String>,
        series: Memo<Vec<SeriesId>>,
        path: &'static str,
    ) -> Self {
        let runs = Signal::derive(move || {
            let runs = series.with(|series| series.iter().map(|id| id.run.clone()).collect());
            Arc::new(runs)
        });
        let ask = move |want: Want| ask::<T>(path, tag.get_value(), want);
        let all = move || {
            Some(
                series
                    .get()
                    .into_iter()
                    .map(|id| (id, None))
                    .collect::<Want>(),
            )
        };
        let last = query(all, ask).again_with_runs(runs);
        let one = Memo::new(move |_| {
            let wanted = tag.with_value(|tag| settings.step_of(tag));
            let last = last.answer.get()?;
            let series = series.get();
            let wanted = series
                .into_iter()
                .zip(last.iter())
                .map(|(id, (_, records))| {
                    let step = nearest(&records.steps, wanted);
                    let is_last = records.records.last().map(|record| record.step) == step;
                    (id, step.filter(|_| !is_last))
                });
            Some(wanted.collect::<Want>())
        });
        // Only records other than the last one need a request.
        let other = move || one.get().filter(|want| want.iter().any(|w| w.1.is_some()));
        let other = query(other, ask);
        let shown = Signal::derive(move || {
            let (Some(last), Some(want)) = (last.answer.get(), one.get()) else {
                return Vec::new();
            };
            let other = other.answer.get();
            let found = want.into_iter().enumerate().zip(last.iter());
            let shown = found.map(|((index, (id, step)), (_, records))| {
                let steps = &records.steps;
                let at = step.or_else(|| steps.last().copied());
                let before = at.map_or(0, |at| steps.partition_point(|step| *step < at));
                let (first_step, step_before) = (
                    steps.first().copied(),
                    before.checked_sub(1).map(|before| steps[before]),
                );
                let record = match step {
                    None => records.records.last(),
                    Some(step) => other
                        .as_ref()
                        .and_then(|other| other.get(index))
                        .filter(|(asked, _)| *asked == Some(step))
                        .and_then(|(_, records)| records.records.last()),
                };
                SeriesRecord {
                    id,
                    record: record.cloned().map(Arc::new),
                    first_step,
                    step_before,
                }
            });
            shown.collect::<Vec<_>>()
        });
        let steps = Memo::new(move |_| {
            let Some(last) = last.answer.get() else {
                return Arc::new(Vec::new());
            };
            let mut steps: Vec<i64> = last
                .iter()
                .flat_map(|(_, records)| records.steps.iter().copied())
                .collect();
            steps.sort_unstable();
            steps.dedup();
            Arc::new(steps)
        });
        Effect::new(move || {
            let Some(last) = last.answer.get() else {
                return;
            };
            settings.known.update(|known| {
                for (id, (_, records)) in series.get_untracked().into_iter().zip(last.iter()) {
                    let steps = known.entry(id.run).or_default();
                    steps.extend(records.steps.iter().copied());
                }
            });
        });
        Self {
            shown,
            steps,
            is_fetching: Signal::derive(move || last.is_fetching.get() || other.is_fetching.get()),
            has_failed: Signal::derive(move || {
                last.error.with(Option::is_some) || other.error.with(Option::is_some)
            }),
        }
    }
}

/// Single records of some series, each at one of its recorded steps.
pub(super) fn at_steps<T: DeserializeOwned + Clone + PartialEq + Send + Sync + 'static>(
    tag: StoredValue<String>,
    want: impl Fn() -> Vec<(SeriesId, i64)> + Send + Sync + 'static,
    path: &'static str,
) -> Signal<Vec<(SeriesId, Arc<At<T>>)>> {
    let want = Memo::new(move |_| {
        let want: Want = want()
            .into_iter()
            .map(|(id, step)| (id, Some(step)))
            .collect();
        (!want.is_empty()).then_some(want)
    });
    let answers = query(
        move || want.get(),
        move |want| ask::<T>(path, tag.get_value(), want),
    );
    Signal::derive(move || {
        let (Some(want), Some(answers)) = (want.get(), answers.answer.get()) else {
            return Vec::new();
        };
        let records = want.into_iter().zip(answers.iter());
        let records = records.filter(|((_, wanted), (asked, _))| wanted == asked);
        let records =
            records.filter_map(|((id, _), (_, records))| Some((id, records.records.last()?)));
        records
            .map(|(id, record)| (id, Arc::new(record.clone())))
            .collect()
    })
}

async fn ask<T: DeserializeOwned>(
    path: &'static str,
    tag: String,
    want: Want,
) -> Result<Answers<T>, ClientError> {
    let mut answers = Vec::with_capacity(want.len());
    for (id, step) in want {
        let query = RecordsQuery {
            run: id.run,
            tag: tag.clone(),
            rank: id.rank,
            from: step,
            to: step,
            points: Some(1),
            writer: id.writer,
            ..RecordsQuery::default()
        };
        answers.push((step, client::records(path, &query).await?));
    }
    Ok(answers)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_step_between_two_shows_the_one_before() {
        let steps = [0, 100, 200];
        assert_eq!(nearest(&steps, None), Some(200));
        assert_eq!(nearest(&steps, Some(199)), Some(100));
        assert_eq!(nearest(&steps, Some(-5)), Some(0));
        assert_eq!(nearest(&[], Some(1)), None);
    }
}
