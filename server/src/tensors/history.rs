//! A tensor over steps: recorded statistics, and those of recorded elements, which are computed for a limited time per
//! request and cached.

use std::collections::BTreeMap;
use std::hash::{Hash as _, Hasher as _};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rustc_hash::{FxHashMap, FxHasher};
use trainscope_api::records::RecordsQuery;
use trainscope_api::tensors::{
    HistoryPoint, MAX_HISTORY, TensorHistory, TensorHistoryQuery, TensorSource,
};
use trainscope_format::tensor::TensorStats;
use trainscope_format::{Body, Kind};

use super::Memory;
use super::find::{Steps, TensorError};
use super::summary::stats;
use crate::index::Index;
use crate::tensor_files::contents::Content;

/// Time for reading per request.
const BUDGET: Duration = Duration::from_millis(200);
/// Size above which tensors are read only if their statistics are requested explicitly.
const MAX_READ_BYTES: u64 = 1 << 28;
/// Maximum number of cached statistics, about 200 bytes each; above it, the cache is cleared.
const MAX_REMEMBERED: usize = 200_000;
/// Maximum number of sentences in one answer.
const MAX_UNREAD: usize = 5;

/// Cached statistics of elements, or read errors, by their source. Cloning is cheap.
#[derive(Clone, Default)]
pub(super) struct HistoryCache(Arc<Mutex<FxHashMap<u64, Outcome>>>);

type Outcome = Result<TensorStats, Arc<str>>;

/// The part of the history of a tensor that is known when the time of a request is over.
pub(crate) fn history(
    index: &Index,
    memory: &Memory,
    query: &TensorHistoryQuery,
) -> Result<TensorHistory, TensorError> {
    let steps = Steps::find(index, &query.run, &query.tensor, query.rank)?;
    if query.elements {
        return Ok(where_elements_are(&steps));
    }
    let mut recorded = statistics(index, query)?;
    let mut all: BTreeMap<i64, TensorSource> = steps.elements.clone();
    let known = recorded.keys().chain(&steps.statistics);
    for &step in known {
        all.entry(step).or_insert(TensorSource::Statistics);
    }
    if all.is_empty() {
        let TensorHistoryQuery {
            run, tensor, rank, ..
        } = query;
        return Err(TensorError::Unknown(format!(
            "run `{run}` has no tensor `{tensor}` of rank {rank}"
        )));
    }
    let is_wanted = |step: &i64| {
        query.from.is_none_or(|from| *step >= from) && query.to.is_none_or(|to| *step <= to)
    };
    all.retain(|step, _| is_wanted(step));
    let began = Instant::now();
    let total = all.len();
    // Among many steps those with elements are preferred: their elements can be displayed.
    let elements = steps.elements.len();
    let kept = if elements * 2 <= MAX_HISTORY {
        elements
    } else {
        0
    };
    let recording = index.recording(&query.run);
    let mut answer = TensorHistory {
        total: total as u64,
        cut: total > MAX_HISTORY,
        ..TensorHistory::default()
    };
    for (number, (step, source)) in all.into_iter().enumerate() {
        let is_kept = kept > 0 && source != TensorSource::Statistics;
        if !is_kept && !is_among(number, total, MAX_HISTORY - kept) {
            continue;
        }
        let mut stats = recorded.remove(&step);
        if stats.is_none() {
            let stamp = recording
                .as_ref()
                .map_or(0, |recorded| recorded.catalog().stamp(query.rank, step));
            let mut hasher = FxHasher::default();
            (&query.run, &query.tensor, query.rank, step, source, stamp).hash(&mut hasher);
            let key = hasher.finish();
            let remembered = memory.statistics.0.lock().get(&key).cloned();
            let read = match remembered {
                Some(read) => Some(read),
                // The first one is always read: each request makes progress.
                None if began.elapsed() < BUDGET => {
                    Some(memory.statistics.read(key, &steps, step, source))
                }
                None => None,
            };
            match read {
                Some(Ok(read)) => stats = Some(read),
                Some(Err(reason)) if answer.unread.len() < MAX_UNREAD => {
                    answer.unread.push(reason.to_string());
                }
                Some(Err(_)) => {}
                None => answer.pending_bytes += 1,
            }
        }
        answer.points.push(HistoryPoint {
            step,
            source,
            stats,
        });
    }
    if answer.pending_bytes > 0 {
        // All steps are assumed to have the size of the last one, which saves opening files.
        let last = *steps.elements.keys().next_back().unwrap_or(&0);
        let len_bytes = steps
            .open(last, None)
            .map_or(1, |opened| opened.place.len_bytes);
        answer.pending_bytes = answer.pending_bytes.saturating_mul(len_bytes.max(1));
    }
    Ok(answer)
}

/// The steps with recorded elements.
fn where_elements_are(steps: &Steps<'_>) -> TensorHistory {
    let total = steps.elements.len();
    let all = steps.elements.iter().enumerate();
    let among = all.filter(|(number, _)| is_among(*number, total, MAX_HISTORY));
    let point = |(&step, &source): (&i64, &TensorSource)| HistoryPoint {
        step,
        source,
        stats: None,
    };
    TensorHistory {
        points: among.map(|(_, entry)| point(entry)).collect(),
        total: total as u64,
        cut: total > MAX_HISTORY,
        ..TensorHistory::default()
    }
}

impl HistoryCache {
    fn read(&self, key: u64, steps: &Steps<'_>, step: i64, source: TensorSource) -> Outcome {
        let read = if source == TensorSource::Statistics {
            steps.known(step)
        } else {
            steps.open(step, None).and_then(|opened| {
                let (file, len_bytes) = (&opened.place.file, opened.place.len_bytes);
                if len_bytes > MAX_READ_BYTES {
                    return Err(TensorError::TooLarge(format!(
                        "the {len_bytes} bytes of step {step} are only read when their summary is asked for"
                    )));
                }
                stats(&opened.stored).map_err(|unread| TensorError::unread(file, unread))
            })
        };
        let read = read.map_err(|error| error.to_string().into());
        let mut known = self.0.lock();
        if known.len() >= MAX_REMEMBERED {
            known.clear();
        }
        known.insert(key, read.clone());
        read
    }
}

impl Steps<'_> {
    /// Statistics in a file without the elements.
    fn known(&self, step: i64) -> Result<TensorStats, TensorError> {
        let recorded = self.index().recording(self.run);
        let found = recorded.and_then(|found| found.locate(self.tensor, self.rank, step));
        match found.map(|found| found.content) {
            Some(Content::Known(figures)) => Ok(figures.summary().stats),
            _ => Err(TensorError::Unknown(format!(
                "the table with step {step} is gone"
            ))),
        }
    }
}

/// Statistics recorded by the program, by step.
fn statistics(
    index: &Index,
    query: &TensorHistoryQuery,
) -> Result<BTreeMap<i64, TensorStats>, TensorError> {
    let tags = index.tags_of(&query.run, Kind::Statistics)?;
    let is_it = |(tag, rank): &(Arc<str>, u32)| **tag == *query.tensor && *rank == query.rank;
    if !tags.iter().any(is_it) {
        return Ok(BTreeMap::new());
    }
    let query = RecordsQuery {
        run: query.run.clone(),
        tag: query.tensor.clone(),
        rank: query.rank,
        from: query.from,
        to: query.to,
        points: Some(MAX_HISTORY),
        ..RecordsQuery::default()
    };
    let found = index.records(Kind::Statistics, &query, |found| {
        Ok(match found.body {
            Body::Statistics(mut summary) => {
                summary.stats.exponents = None;
                Some(summary.stats)
            }
            _ => None,
        })
    })?;
    let records = found.records.into_iter();
    Ok(records.map(|record| (record.step, record.body)).collect())
}

/// True if the item is among `most` of `total` evenly spaced ones, including the first and the last.
fn is_among(number: usize, total: usize, most: usize) -> bool {
    if total <= most {
        return true;
    }
    let slot = |number: usize| number * (most - 1) / (total - 1);
    number == 0 || number + 1 == total || slot(number) != slot(number - 1)
}

#[cfg(test)]
mod tests {
    use super::is_among;

    #[test]
    fn the_first_and_the_last_are_never_left_out() {
        for (total, most) in [(1, 10), (10, 10), (11, 10), (1_000, 7), (2_001, 2_000)] {
            let taken: Vec<usize> = (0..total).filter(|n| is_among(*n, total, most)).collect();
            assert!(
                taken.len() <= most.max(1),
                "{total} {most}: {}",
                taken.len()
            );
            assert!(
                taken.len() * 2 > most.min(total),
                "{total} {most}: {}",
                taken.len()
            );
            assert_eq!((taken[0], taken[taken.len() - 1]), (0, total - 1));
        }
    }
}
