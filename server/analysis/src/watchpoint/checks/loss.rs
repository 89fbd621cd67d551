//! A loss that is no number, jumps, or runs away.

use trainscope_format::Severity;

use super::explosion::whole;
use super::{Evidence, Judgement};
use crate::watchpoint::config::Watchpoint;
use crate::watchpoint::finding::Missing;
use crate::watchpoint::report::{Found, number};
use crate::watchpoint::run::{LATE_FLOW, LOSS_FLOW, Run, high_level};
use crate::watchpoint::scalars::{Meaning, median, spread};

/// Losses that are NaN or infinite. Of a held-out loss, only one that stays so: some programs write NaN for *not measured*.
pub(crate) fn not_finite(run: &Run<'_>, _: u32, _: &Watchpoint) -> Judgement {
    let mut found = Vec::new();
    let all = run.scalars(Meaning::Loss).map(|s| (s, LOSS_FLOW));
    for (series, flow) in all.chain(run.scalars(Meaning::HeldOutLoss).map(|s| (s, LATE_FLOW))) {
        let Some((step, value)) = series.points().find(|p| !p.1.is_finite()) else {
            continue;
        };
        let stays = series.since(step).all(|p| !p.1.is_finite());
        if series.meaning == Meaning::HeldOutLoss && !stays {
            continue;
        }
        let last = series
            .points()
            .rfind(|p| !p.1.is_finite())
            .map_or(step, |p| p.0);
        let count = series.values.iter().filter(|v| !v.is_finite()).count();
        let hit = Found::of_scalar(series, step, flow, Evidence::one(0, count as f64));
        let (tag, value) = (&series.tag, number(value));
        found.push(
            hit.until(last)
                .saying(format!("{tag} is {value}"), format!("{tag} 为 {value}")),
        );
    }
    found.into()
}

/// Points that stand out from the window before them by so many spreads, and by factors from its middle and its highest.
pub(crate) fn spike(run: &Run<'_>, _: u32, watchpoint: &Watchpoint) -> Judgement {
    let [limit, window, factor, ..] = watchpoint.limits;
    let window = whole(window);
    let mut judged = Judgement::default();
    for series in run.scalars(Meaning::Loss) {
        if series.len() < ENOUGH {
            let first = series.steps.first().copied().unwrap_or(0);
            let why = (Missing::TooShort, first, series.len() as u64);
            judged.missing.push((series.rank, series.tag.clone(), why));
        }
        let level = high_level(run, series);
        let mut quiet_until = 0;
        for (index, (step, value)) in series.points().enumerate() {
            let before = &series.values[index.saturating_sub(window)..index];
            let highest = before.iter().copied().filter(|v| v.is_finite());
            let highest = highest.fold(f64::NEG_INFINITY, f64::max);
            if !value.is_finite() || index < quiet_until || value <= 2.0 * highest {
                continue;
            }
            let before: Vec<f64> = before.iter().copied().filter(|v| v.is_finite()).collect();
            if before.len() < ENOUGH {
                continue;
            }
            let Some(middle) = median(before.iter().copied()) else {
                continue;
            };
            let width = spread(&before, middle);
            let score = (value - middle) / width.max(0.02 * middle.abs()).max(1e-12);
            let stands_out = score > limit && value > factor * middle;
            // Near zero a loss is made of few samples: what counts then is whether it is high at all.
            let is_calm = width < 0.15 * middle.abs();
            let is_high = value > 1.3 * level && value > 3.0 * highest;
            let is_far = value > level || before.len() >= 16 && value - middle > 0.2 * level;
            if stands_out && (is_calm && is_far || is_high) {
                quiet_until = index + window;
                let hit = Found::of_scalar(series, step, LOSS_FLOW, Evidence::one(0, score));
                let (tag, value, middle) = (&series.tag, number(value), number(middle));
                judged.found.push(hit.saying(
                    format!("{tag} jumps from {middle} to {value}"),
                    format!("{tag} 从 {middle} 跃升到 {value}"),
                ));
            }
        }
    }
    judged
}

/// Points before one can stand out.
const ENOUGH: usize = 5;

/// Losses that lie at a multiple of the best, and above where they began, at so many points in a row, or until they are no
/// numbers any more.
pub(crate) fn divergence(run: &Run<'_>, _: u32, watchpoint: &Watchpoint) -> Judgement {
    let factor = watchpoint.limits[0];
    let patience = watchpoint.patience as usize;
    let mut found = Vec::new();
    for series in run.scalars(Meaning::Loss) {
        let values = &series.values;
        let highest = values.iter().take(3).copied().filter(|v| v.is_finite());
        let begun_at = highest
            .fold(f64::NEG_INFINITY, f64::max)
            .max(high_level(run, series));
        let mut best = f64::INFINITY;
        let mut since: Option<(usize, f64)> = None;
        for index in 0..values.len() {
            let value = values[index];
            let is_high = !value.is_finite() || value > factor * best && value > 1.2 * begun_at;
            if is_high {
                since.get_or_insert((index, best));
            } else {
                since = None;
                // One lucky batch is not what the model can do.
                let recent = values[index.saturating_sub(2)..=index].iter().copied();
                best = best.min(median(recent.filter(|v| v.is_finite())).unwrap_or(best));
            }
            let Some((first, best)) = since.filter(|_| value.is_finite()) else {
                continue;
            };
            let ends = index + 1 == values.len() || !values[index + 1].is_finite();
            let steps = index + 1 - first;
            if best.is_finite() && (steps >= patience || ends && steps >= 2) {
                let last = series.steps.last().copied().unwrap_or(series.steps[first]);
                let at = values[first];
                let evidence = Evidence::one(0, at / best);
                let hit = Found::of_scalar(series, series.steps[first], LOSS_FLOW, evidence);
                let (tag, at, best) = (&series.tag, number(at), number(best));
                found.push(hit.until(last).called(Severity::Warning).saying(
                    format!("{tag} diverges: {at}, after a best of {best}"),
                    format!("{tag} 发散：{at}，此前最好为 {best}"),
                ));
                break;
            }
        }
    }
    found.into()
}
