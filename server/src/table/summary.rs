//! Summaries of a scalar over its points that count. All except `first` skip NaN and infinities.

use std::sync::Arc;

use trainscope_analysis::columns::CellValue;
use trainscope_api::scalars::{MAX_POINTS, ScalarsQuery, Series};
use trainscope_format::Kind;

use crate::index::{Index, ReadError};

/// Scalars of the lowest rank of a run.
pub(super) fn scalars(index: &Index, run: &str) -> Result<Vec<(Arc<str>, u32)>, ReadError> {
    let mut tags = index.tags_of(run, Kind::Scalars)?;
    let lowest = tags.iter().map(|(_, rank)| *rank).min();
    tags.retain(|(_, rank)| Some(*rank) == lowest);
    Ok(tags)
}

/// Points of a scalar in up to `points` buckets; `None` if several writers recorded it, or none.
pub(super) fn series(
    index: &Index,
    run: &str,
    tag: &str,
    rank: u32,
    points: usize,
) -> Result<Option<Series>, ReadError> {
    between(index, run, tag, rank, points, None)
}

fn between(
    index: &Index,
    run: &str,
    tag: &str,
    rank: u32,
    points: usize,
    steps: Option<(i64, i64)>,
) -> Result<Option<Series>, ReadError> {
    let query = ScalarsQuery {
        run: run.to_owned(),
        tag: tag.to_owned(),
        rank,
        points: Some(points),
        from: steps.map(|(from, _)| from),
        to: steps.map(|(_, to)| to),
        ..ScalarsQuery::default()
    };
    let Ok(selection) = index.series(&query) else {
        return Ok(None);
    };
    selection.read().map(Some)
}

/// A summary of a scalar in a run, by its name in [`SUMMARIES`](trainscope_api::table::SUMMARIES).
pub(super) fn summary(
    index: &Index,
    run: &str,
    tag: &str,
    name: &str,
) -> Result<CellValue, ReadError> {
    let scalars = match scalars(index, run) {
        Ok(scalars) => scalars,
        Err(ReadError::UnknownRun(_)) => return Ok(CellValue::Missing),
        Err(error) => return Err(error),
    };
    let found = scalars.into_iter().find(|(name, _)| **name == *tag);
    let Some((_, rank)) = found else {
        return Ok(CellValue::Missing);
    };
    let Some(series) = series(index, run, tag, rank, MAX_POINTS)? else {
        return Ok(CellValue::Missing);
    };
    let is_min = name.ends_with("min");
    let value = match name {
        "first" => match series.steps.first() {
            // The first bucket ends later than the first point.
            Some(step) if series.cut => {
                let head = between(index, run, tag, rank, MAX_POINTS, Some((i64::MIN, *step)))?;
                head.and_then(|head| head.values.first().copied())
            }
            _ => series.values.first().copied(),
        },
        "mean10" => mean_of_last(&newest(index, run, tag, rank, &series)?),
        "min" | "max" => extreme(&series, is_min).map(|(_, value)| value),
        "step_of_min" | "step_of_max" => match extreme(&series, is_min) {
            Some((at, value)) if series.cut => {
                let before = at.checked_sub(1).and_then(|at| series.steps.get(at));
                let from = before.map_or(i64::MIN, |step| step.saturating_add(1));
                let to = series.steps.get(at).copied().unwrap_or(i64::MAX);
                let part = between(index, run, tag, rank, MAX_POINTS, Some((from, to)))?;
                let step = part.and_then(|part| {
                    let mut points = part.steps.iter().zip(&part.values);
                    let same = points.find(|(_, known)| known.to_bits() == value.to_bits());
                    same.map(|(step, _)| *step)
                });
                step.map(|step| step as f64)
            }
            Some((at, _)) => series.steps.get(at).map(|step| *step as f64),
            None => None,
        },
        _ => None,
    };
    Ok(match value {
        // Steps and means are not numbers of single precision.
        Some(value) if matches!(name, "min" | "max" | "first") => CellValue::of_single(value),
        Some(value) => CellValue::Number(value),
        None => CellValue::Missing,
    })
}

/// Position and value of the minimum or maximum finite value, the first of equal ones.
fn extreme(series: &Series, is_min: bool) -> Option<(usize, f64)> {
    let values = if is_min { &series.min } else { &series.max };
    let finite = values.iter().copied().enumerate();
    let finite = finite.filter(|(_, value)| value.is_finite());
    finite.reduce(|best, point| {
        let is_better = if is_min {
            point.1 < best.1
        } else {
            point.1 > best.1
        };
        if is_better { point } else { best }
    })
}

/// The last ten values.
fn newest(
    index: &Index,
    run: &str,
    tag: &str,
    rank: u32,
    series: &Series,
) -> Result<Vec<f64>, ReadError> {
    let last = |values: &[f64]| values.iter().rev().take(10).copied().collect::<Vec<f64>>();
    if !series.cut {
        return Ok(last(&series.values));
    }
    // Ten buckets hold at least ten points.
    let at = series.steps.len().saturating_sub(10);
    let from = series.steps.get(at).copied().unwrap_or(i64::MIN);
    let part = between(index, run, tag, rank, MAX_POINTS, Some((from, i64::MAX)))?;
    Ok(part.map(|part| last(&part.values)).unwrap_or_default())
}

fn mean_of_last(values: &[f64]) -> Option<f64> {
    let finite: Vec<f64> = values
        .iter()
        .copied()
        .filter(|value| value.is_finite())
        .collect();
    (!finite.is_empty()).then(|| finite.iter().sum::<f64>() / finite.len() as f64)
}
