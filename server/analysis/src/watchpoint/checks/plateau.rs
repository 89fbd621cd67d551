//! A loss that stagnates, improves slowly, or oscillates.

use trainscope_format::{Severity, digits};

use super::Judgement;
use super::loss::is_relative;
use crate::watchpoint::model::condition::Watchpoint;
use crate::watchpoint::model::key::Key;
use crate::watchpoint::model::missing::Missing;
use crate::watchpoint::model::new_hit::{NewHit, number, percent, warning_if};
use crate::watchpoint::model::run::{LOSS_FLOW, LOW_LOSS, Run, chance};
use crate::watchpoint::model::scalars::{Meaning, Series, TINY, median, outruns_walk};

/// Distance from guessing of a loss without a slope, if an accuracy confirms the comparison: labels that are not
/// equally frequent take the loss a little below. Chosen.
const NEAR_GUESSING: f64 = 0.15;
/// The same distance if only the first loss identifies a classifier: a language that is hard to predict gets below it
/// within a few steps. Chosen.
const CERTAINLY_GUESSING: f64 = 0.05;
/// Multiple of its beginning above which a loss rises rather than stays. Chosen.
const RISES: f64 = 1.2;
/// Number of parts of a curve whose medians are its levels. Chosen.
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
        // Parts of the whole curve: a loss that has fallen and is flat since is another matter.
        let part = (finite.len() / END_DIVISOR).max(1);
        let parts = finite.chunks(part).take(END_DIVISOR);
        let levels: Vec<f64> = parts.filter_map(|c| median(c.iter().copied())).collect();
        let (Some(first), Some(last)) = (levels.first(), levels.last()) else {
            continue;
        };
        let changes = levels[1..].iter().map(|level| (first - level).abs());
        let change = changes.fold(0.0, f64::max) / first.abs().max(TINY);
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
        // A fall from the end backwards is a rise.
        let backwards: Vec<f64> = series.values.iter().rev().copied().collect();
        let falls = fallen > 0.0 && fallen < share && outruns_walk(&backwards);
        if falls && loss.is_some_and(|l| l.initial > LOW_LOSS) {
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
pub(crate) fn ends(series: &Series) -> Option<(f64, f64)> {
    let fifth = (series.len() / END_DIVISOR).max(1);
    let first = median(series.values.iter().copied().take(fifth))?;
    Some((
        first,
        median(series.values.iter().rev().copied().take(fifth))?,
    ))
}

/// Swing from point to point, as a share of the level of the loss, below which an oscillation does not matter. Chosen.
const MIN_SWING: f64 = 0.01;

/// Share of inner points at which independent noise reverses its direction: the middle one of three is the highest or
/// the lowest (turning point test, Bienaymé 1874). Of 50 points the standard deviation is 6 %.
const NOISE_TURNS: f64 = 2.0 / 3.0;

/// A loss that reverses its direction at more than a share of the last points.
pub(crate) fn swinging(run: &Run<'_>, _: u32, watchpoint: &Watchpoint) -> Judgement {
    let window = watchpoint.limits.count(Key::Points);
    let share = watchpoint.limits.value(Key::ShareGt);
    let mut found = Vec::new();
    for series in run.scalars(Meaning::Loss).filter(|s| s.len() >= window) {
        let values = &series.values[series.len() - window..];
        let slopes: Vec<f64> = values.windows(2).map(|w| w[1] - w[0]).collect();
        let turns = slopes.windows(2).filter(|w| w[0] * w[1] < 0.0).count();
        let inner = slopes.len().saturating_sub(1);
        let turned = turns as f64 / inner.max(1) as f64;
        let swing = median(slopes.iter().map(|slope| slope.abs()));
        let level = median(values.iter().map(|value| value.abs()));
        let is_large = swing.zip(level).is_some_and(|(s, l)| s > MIN_SWING * l);
        if turned > share && is_large {
            let step = series.steps[series.len() - window];
            let hit = NewHit::of_scalar(series, step, LOSS_FLOW, (Key::ShareGt, turned));
            let tag = &series.tag;
            let by_noise = (NOISE_TURNS * inner as f64).round();
            found.push(hit.saying(
                format!("{tag} reverses direction at {turns} of {window} points, where noise does at {by_noise}"),
                format!("{tag} 来回震荡：{window} 个点中 {turns} 次转向，而噪声约为 {by_noise} 次"),
            ));
        }
    }
    found.into()
}

/// A loss that ends above a share of chance level: the model is too small, or was trained too briefly.
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
