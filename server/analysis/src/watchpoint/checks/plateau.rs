//! A loss that stagnates, improves slowly, or oscillates.

use trainscope_format::{Severity, digits};

use super::Judgement;
use super::loss::is_relative;
use crate::watchpoint::model::condition::Watchpoint;
use crate::watchpoint::model::key::Key;
use crate::watchpoint::model::missing::Missing;
use crate::watchpoint::model::new_hit::{NewHit, number, percent, warning_if};
use crate::watchpoint::model::run::{LOSS_FLOW, LOW_LOSS, PARTS, Run, chance};
use crate::watchpoint::model::scalars::{FEWEST, Meaning, Series, TINY, median};

/// Distance from guessing of a loss without a slope, if an accuracy confirms the comparison: labels that are not
/// equally frequent take the loss a little below. Chosen.
const NEAR_GUESSING: f64 = 0.15;
/// The same distance if only the first loss identifies a classifier: a language that is hard to predict gets below it
/// within a few steps. Chosen.
const CERTAINLY_GUESSING: f64 = 0.05;
/// Multiple of its beginning above which a loss rises rather than stays. Chosen.
const RISES: f64 = 1.2;
/// Part of a curve, as a divisor of its length, whose median is its first or last level. Chosen.
const END_DIVISOR: usize = 5;

/// A loss without a slope over a number of points; a warning at the level of guessing.
pub(crate) fn flat(run: &Run<'_>, _: u32, watchpoint: &Watchpoint) -> Judgement {
    let window = watchpoint.limits.count(Key::Points);
    let share = watchpoint.limits.value(Key::ChangeLt);
    let mut judged = Judgement::default();
    for series in run.scalars(Meaning::Loss) {
        let finite: Vec<f64> = series
            .values
            .iter()
            .copied()
            .filter(|v| v.is_finite())
            .collect();
        if finite.len() < window {
            let first = series.steps.first().copied().unwrap_or(0);
            let why = (Missing::TooShort, first, finite.len() as u64);
            judged.missing.push((series.rank, series.tag.clone(), why));
            continue;
        }
        // Thirds of the whole curve: a loss that has fallen and is flat since is another matter.
        let third = finite.len() / PARTS;
        let thirds = finite.chunks(third.max(1)).take(PARTS);
        let levels: Vec<f64> = thirds.filter_map(|c| median(c.iter().copied())).collect();
        let (Some(first), Some(last)) = (levels.first(), levels.last()) else {
            continue;
        };
        let change = (first - last).abs() / first.abs().max(TINY);
        if change > share || *last > RISES * first {
            continue;
        }
        let guessing = chance(run, series.rank).filter(|_| !is_relative(run, series));
        let margin = if run.has_accuracy(series.rank) {
            NEAR_GUESSING
        } else {
            CERTAINLY_GUESSING
        };
        let is_near = |level: f64, c: f64, margin: f64| (level / c - 1.0).abs() < margin;
        let at_chance = guessing.is_some_and(|c| {
            levels.iter().all(|l| is_near(*l, c, NEAR_GUESSING)) && is_near(*last, c, margin)
        });
        let severity = warning_if(at_chance);
        let step = series.steps.first().copied().unwrap_or(0);
        let until = series.steps.last().copied().unwrap_or(step);
        let hit = NewHit::of_scalar(series, step, LOSS_FLOW, (Key::ChangeLt, change)).until(until);
        let (tag, level, points) = (
            &series.tag,
            number(*last),
            digits::count(finite.len() as u64),
        );
        judged.found.push(hit.called(severity).saying(
            format!("{tag} stays at {level} over all {points} points"),
            format!("{tag} 在全部 {points} 个点上停留在 {level}"),
        ));
    }
    judged
}

/// A loss that has come down by less than a share over a number of points, and is neither flat nor low.
pub(crate) fn slow(run: &Run<'_>, _: u32, watchpoint: &Watchpoint) -> Judgement {
    let window = watchpoint.limits.count(Key::Points);
    let share = watchpoint.limits.value(Key::FallLt);
    let mut found = Vec::new();
    for series in run.scalars(Meaning::Loss).filter(|s| s.len() >= window) {
        let Some((first, last)) = ends(series) else {
            continue;
        };
        let fallen = (first - last) / first.abs().max(TINY);
        let loss = run.loss(series.rank);
        if fallen > 0.0 && fallen < share && loss.is_some_and(|l| l.initial > LOW_LOSS) {
            let step = series.steps.first().copied().unwrap_or(0);
            let hit = NewHit::of_scalar(series, step, LOSS_FLOW, (Key::FallLt, fallen));
            let (tag, fallen) = (&series.tag, percent(fallen));
            found.push(hit.saying(
                format!("{tag} has fallen by only {fallen}"),
                format!("{tag} 只下降了 {fallen}"),
            ));
        }
    }
    found.into()
}

/// The medians of the first and the last points.
fn ends(series: &Series) -> Option<(f64, f64)> {
    let fifth = (series.len() / END_DIVISOR).max(1);
    let first = median(series.values.iter().copied().take(fifth))?;
    Some((
        first,
        median(series.values.iter().rev().copied().take(fifth))?,
    ))
}

/// A loss whose slope changes sign at more than a share of the last points, smoothed over [`FEWEST`].
pub(crate) fn swinging(run: &Run<'_>, _: u32, watchpoint: &Watchpoint) -> Judgement {
    let window = watchpoint.limits.count(Key::Points);
    let share = watchpoint.limits.value(Key::ShareGt);
    let mut found = Vec::new();
    for series in run.scalars(Meaning::Loss).filter(|s| s.len() >= window) {
        let values = &series.values[series.len() - window..];
        let smooth: Vec<f64> = values
            .windows(FEWEST)
            .map(|w| w.iter().sum::<f64>() / w.len() as f64)
            .collect();
        let slopes: Vec<f64> = smooth.windows(2).map(|w| w[1] - w[0]).collect();
        let turns = slopes.windows(2).filter(|w| w[0] * w[1] < 0.0).count();
        let turned = turns as f64 / slopes.len().max(1) as f64;
        if turned > share {
            let step = series.steps[series.len() - window];
            let hit = NewHit::of_scalar(series, step, LOSS_FLOW, (Key::ShareGt, turned));
            let tag = &series.tag;
            found.push(hit.saying(
                format!("{tag} reverses direction {turns} times in {window} points"),
                format!("{tag} 来回震荡，{window} 个点中 {turns} 次转向"),
            ));
        }
    }
    found.into()
}

/// A held-out accuracy or loss that is as bad as the training's own, which stays high: the model is too small, or was
/// trained too briefly.
pub(crate) fn underfit(run: &Run<'_>, _: u32, watchpoint: &Watchpoint) -> Judgement {
    let window = watchpoint.limits.count(Key::Points);
    let share = watchpoint.limits.value(Key::LeftGt);
    let mut found = Vec::new();
    for series in run.scalars(Meaning::Loss).filter(|s| s.len() >= window) {
        let (Some(guessing), Some((_, last))) = (chance(run, series.rank), ends(series)) else {
            continue;
        };
        let left = last / guessing;
        if left > share {
            let step = series.steps.last().copied().unwrap_or(0);
            let hit = NewHit::of_scalar(series, step, LOSS_FLOW, (Key::LeftGt, left));
            let (tag, left) = (&series.tag, percent(left));
            found.push(hit.called(Severity::Info).saying(
                format!("{tag} ends at {left} of chance level"),
                format!("{tag} 结束时仍为随机猜测水平的 {left}"),
            ));
        }
    }
    found.into()
}
