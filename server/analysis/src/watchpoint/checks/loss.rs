//! A loss that is not finite, jumps, or diverges.

use super::{Evidence, Judgement};
use crate::watchpoint::model::condition::Watchpoint;
use crate::watchpoint::model::key::Key;
use crate::watchpoint::model::missing::Missing;
use crate::watchpoint::model::new_hit::{NewHit, number, warning_if};
use crate::watchpoint::model::run::{
    FEW_SAMPLES_SHARE, Flow, LATE_FLOW, LOSS_FLOW, Run, high_level,
};
use crate::watchpoint::model::scalars::{
    FEWEST, Meaning, NotFinite, Series, TINY, median, noise, outruns_walk, spread,
};

/// Losses that are NaN or infinite. For a held-out loss, only if it stays so: some programs write NaN for *not
/// measured*.
pub(crate) fn not_finite(run: &Run<'_>, _: u32, _: &Watchpoint) -> Judgement {
    let mut found = Vec::new();
    let all = run.scalars(Meaning::Loss).map(|s| (s, LOSS_FLOW));
    for (series, flow) in all.chain(run.scalars(Meaning::HeldOutLoss).map(|s| (s, LATE_FLOW))) {
        let Some((step, value)) = series.points().find(|p| !p.1.is_finite()) else {
            found.extend(not_finite_beside(series, flow));
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
        let hit = NewHit::of_scalar(series, step, flow, (Key::Count, count as f64));
        let (tag, value) = (&series.tag, number(value));
        found.push(
            hit.until(last)
                .saying(format!("{tag} is {value}"), format!("{tag} 为 {value}")),
        );
    }
    found.into()
}

/// NaN and infinities among the points of a loss that are not part of its curve: those of an attempt that was
/// abandoned because of them, for example.
fn not_finite_beside(series: &Series, flow: Flow) -> Option<NewHit> {
    let bad = NotFinite::among(series.beside.iter().copied())?;
    if series.meaning == Meaning::HeldOutLoss {
        return None;
    }
    let evidence = Evidence::of(Key::Count, bad.points as f64);
    let hit = NewHit::of_scalar(series, bad.first_step, flow, evidence);
    let (tag, value) = (&series.tag, number(bad.first));
    Some(hit.until(bad.last_step).saying(
        format!("{tag} is {value} at steps that were overwritten or that another writer recorded"),
        format!("{tag} 在被覆盖或由另一写入者记录的点上为 {value}"),
    ))
}

/// Points of any scalar that are NaN or infinite.
pub(crate) fn scalar_not_finite(run: &Run<'_>, _: u32, watchpoint: &Watchpoint) -> Judgement {
    let series = run.series().map(|s| {
        let not_finite = NotFinite::among(s.points().chain(s.beside.iter().copied()));
        let points = s.len() + s.beside.len();
        (s.rank, &s.tag, points as u64, not_finite)
    });
    let others = run
        .others()
        .map(|o| (o.rank, &o.tag, o.points, o.not_finite));
    let mut found = Vec::new();
    for (rank, tag, points, not_finite) in series.chain(others) {
        let Some(bad) = not_finite.filter(|_| watchpoint.covers(tag)) else {
            continue;
        };
        let (value, count) = (number(bad.first), bad.points);
        let evidence = Evidence::of(Key::Count, count as f64);
        let hit = NewHit::of_name(tag, (rank, bad.first_step), LATE_FLOW, evidence);
        found.push(hit.until(bad.last_step).saying(
            format!("{tag} is NaN or infinite at {count} of {points} points (first: {value})"),
            format!("{tag} 的 {points} 个点中有 {count} 个为 NaN 或无穷（首个：{value}）"),
        ));
    }
    found.into()
}

/// Minimum number of earlier points for an outlier. Chosen: a spread of fewer is mostly chance.
const ENOUGH: usize = 5;
/// Minimum number of earlier points whose range is that of ordinary batches. Chosen.
const MANY: usize = 16;
/// Multiple of the maximum of the window that a spike exceeds in any case. Chosen.
const ABOVE_MAXIMUM: f64 = 2.0;
/// Minimum spread of the window, as a share of its median: points that are all but equal have none. Chosen.
const MIN_SPREAD: f64 = 0.02;
/// Spread of the window, as a share of its median, below which it is calm. Chosen: losses of batches of a few samples
/// scatter by more.
const CALM: f64 = 0.15;
/// In a window that is not calm, a spike exceeds this multiple of the level of guessing, and this multiple of the
/// maximum. Chosen.
const ABOVE_LEVEL: f64 = 1.3;
const FAR_ABOVE_MAXIMUM: f64 = 3.0;
/// In a calm window of many points, rise in units of the level of guessing that is a spike below that level. Chosen.
const MIN_RISE: f64 = 0.2;
/// Rise above the maximum in units of the range of the window, for losses with negative values. Chosen.
const RANGES: f64 = 3.0;

/// Outliers of the window before them, by a number of spreads, and by factors of its median and maximum.
pub(crate) fn spike(run: &Run<'_>, _: u32, watchpoint: &Watchpoint) -> Judgement {
    let limit = watchpoint.limits.value(Key::ZGt);
    let window = watchpoint.limits.count(Key::Window);
    let factor = watchpoint.limits.value(Key::FactorGt);
    let mut judged = Judgement::default();
    for series in run.scalars(Meaning::Loss) {
        if series.len() < ENOUGH {
            let first = series.steps.first().copied().unwrap_or(0);
            let why = (Missing::TooShort, first, series.len() as u64);
            judged.missing.push((series.rank, series.tag.clone(), why));
        }
        let level = high_level(run, series);
        let severity = warning_if(!(is_relative(run, series)));
        let mut quiet_until = 0;
        for (index, (step, value)) in series.points().enumerate() {
            let before = &series.values[index.saturating_sub(window)..index];
            let highest = before.iter().copied().filter(|v| v.is_finite());
            let highest = highest.fold(f64::NEG_INFINITY, f64::max);
            if !value.is_finite()
                || index < quiet_until
                || value <= highest.max(ABOVE_MAXIMUM * highest)
            {
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
            let score = (value - middle) / width.max(MIN_SPREAD * middle.abs()).max(TINY);
            let lowest = before.iter().copied().fold(f64::INFINITY, f64::min);
            // Near zero a loss is made of few samples: only its level counts.
            let is_calm = width < CALM * middle.abs();
            let is_high = value > ABOVE_LEVEL * level && value > FAR_ABOVE_MAXIMUM * highest;
            let is_far = value > level || before.len() >= MANY && value - middle > MIN_RISE * level;
            let is_spike = if lowest < 0.0 {
                // Factors of negative numbers are meaningless: the range of all points before counts.
                before.len() >= MANY && value - highest > RANGES * (highest - lowest)
            } else {
                value > factor * middle && (is_calm && is_far || is_high)
            };
            if score > limit && is_spike {
                quiet_until = index + window;
                let hit = NewHit::of_scalar(series, step, LOSS_FLOW, (Key::ZGt, score));
                let (tag, value, middle) = (&series.tag, number(value), number(middle));
                judged.found.push(hit.called(severity).saying(
                    format!("{tag} jumps from {middle} to {value}"),
                    format!("{tag} 从 {middle} 跃升到 {value}"),
                ));
            }
        }
    }
    judged
}

/// Losses that diverge, or lose the progress made. Losses that may rise in a healthy training do not, up to
/// [`EXPLOSION`].
pub(crate) fn divergence(run: &Run<'_>, _: u32, watchpoint: &Watchpoint) -> Judgement {
    let mut found = Vec::new();
    for series in run.scalars(Meaning::Loss) {
        let Some(rise) = rise_of(run, series, watchpoint) else {
            continue;
        };
        let may_rise = is_relative(run, series) || is_outweighed(run, series, watchpoint);
        if may_rise && rise.to <= EXPLOSION * rise.begun.abs().max(1.0) {
            continue;
        }
        let last = series.steps.last().copied().unwrap_or(rise.step);
        let hit = NewHit::of_scalar(series, rise.step, LOSS_FLOW, (Key::FactorGt, rise.times));
        let hit = NewHit {
            limit: rise.limit,
            ..hit
        };
        let (tag, to, best) = (&series.tag, number(rise.to), number(rise.best));
        found.push(hit.until(last).saying(
            format!("{tag} diverges: {to}, after a best of {best}"),
            format!("{tag} 发散：{to}，此前最好为 {best}"),
        ));
    }
    found.into()
}

/// A rise that a random walk would not make. A walk is smooth: neighbouring points of single batches differ by more.
fn rise_of(run: &Run<'_>, series: &Series, watchpoint: &Watchpoint) -> Option<Rise> {
    let rise = if series.has_negative() {
        climb(series).or_else(|| loss_of_progress(run, series))
    } else {
        runaway(run, series, watchpoint).or_else(|| relapse(run, series))
    };
    rise.filter(|rise| {
        let lowest = series.before(rise.step).filter(|p| p.1.is_finite());
        let lowest = lowest.min_by(|a, b| a.1.total_cmp(&b.1));
        let from = lowest.map_or(i64::MIN, |point| point.0);
        let since = series.since(from).map(|p| p.1).filter(|v| v.is_finite());
        let since: Vec<f64> = since.collect();
        let is_rough = !series.has_negative() && scatter(&since) > ROUGH;
        is_rough || outruns_walk(&since)
    })
}

/// True for a part of a loss whose total does not rise: `loss_box_reg` next to `total_loss`.
fn is_outweighed(run: &Run<'_>, series: &Series, watchpoint: &Watchpoint) -> bool {
    let total = run.scalar(series.rank, Meaning::Loss);
    total.is_some_and(|total| {
        total.doubt < series.doubt && rise_of(run, total, watchpoint).is_none()
    })
}

/// Factor that no policy loss reaches: it rises with the square of the returns, which grow from 1 to 1000 at most.
/// Chosen.
const EXPLOSION: f64 = 1e6;

/// True for a loss that may rise in a healthy training: by its name, because rewards are recorded with it, because its
/// targets are of the training's own making, or because models with losses of their own are trained against each other.
pub(crate) fn is_relative(run: &Run<'_>, series: &Series) -> bool {
    let course = &run.knowledge.course;
    let of_rank = || {
        run.scalars(Meaning::Loss)
            .filter(|other| other.rank == series.rank)
    };
    series.is_relative()
        || run.scalar(series.rank, Meaning::Return).is_some()
        || course.moves(series.rank)
        || course.has_several(series.rank) && of_rank().count() > 1
}

/// A rise of a loss: first step, value, the minimum before, and the start.
struct Rise {
    step: i64,
    to: f64,
    best: f64,
    begun: f64,
    /// Quantity compared with the limit.
    times: f64,
    /// The limit, if it is not that of the condition.
    limit: Option<f64>,
}

/// Scatter of neighbouring points, relative to their size, above which single points are insignificant: batches of a
/// few samples. Chosen.
const ROUGH: f64 = 0.2;
/// Multiple of its start that a loss exceeds when it runs away. Chosen.
const ABOVE_START: f64 = 1.2;
/// Multiple of the patience for a loss of single batches that scatters. Chosen.
const ROUGH_PATIENCE: usize = 3;
/// Minimum number of high points before the recording ends or the loss is NaN: one may be a single batch.
const ENDING_POINTS: usize = 2;

/// A loss at a multiple of its minimum, and above its start, for a number of consecutive points, or until it is NaN or
/// infinite. [`ROUGH_PATIENCE`] times as many points if losses of single batches scatter.
fn runaway(run: &Run<'_>, series: &Series, watchpoint: &Watchpoint) -> Option<Rise> {
    let factor = watchpoint.limits.value(Key::FactorGt);
    let patience = watchpoint.patience as usize;
    let values = &series.values;
    let highest = values
        .iter()
        .take(FEWEST)
        .copied()
        .filter(|v| v.is_finite());
    let begun = highest
        .fold(f64::NEG_INFINITY, f64::max)
        .max(high_level(run, series));
    let mut best = f64::INFINITY;
    let mut since: Option<(usize, f64)> = None;
    for index in 0..values.len() {
        let value = values[index];
        let is_high = !value.is_finite() || value > factor * best && value > ABOVE_START * begun;
        if is_high {
            since.get_or_insert((index, best));
        } else {
            since = None;
            // One lucky batch does not measure the model.
            let recent = values[index.saturating_sub(FEWEST - 1)..=index]
                .iter()
                .copied();
            best = best.min(median(recent.filter(|v| v.is_finite())).unwrap_or(best));
        }
        let Some((first, best)) = since.filter(|_| value.is_finite()) else {
            continue;
        };
        let is_rough = scatter(&values[..first]) > ROUGH;
        let is_last = index + 1 == values.len() && !is_rough;
        let ends = is_last || values.get(index + 1).is_some_and(|v| !v.is_finite());
        let needed = if is_rough {
            ROUGH_PATIENCE * patience
        } else {
            patience
        };
        let points = index + 1 - first;
        if best.is_finite() && (points >= needed || ends && points >= ENDING_POINTS) {
            let to = values[first..]
                .iter()
                .copied()
                .filter(|v| v.is_finite())
                .fold(values[first], f64::max);
            return Some(Rise {
                step: series.steps[first],
                to,
                best,
                begun,
                times: values[first] / best,
                limit: None,
            });
        }
    }
    None
}

/// Scatter of points around their trend, relative to their size.
fn scatter(values: &[f64]) -> f64 {
    let logs = values.iter().map(|v| v.ln()).filter(|v| v.is_finite());
    noise(&logs.collect::<Vec<f64>>())
}

/// Multiple of its minimum that a loss reaches when all progress is lost. Chosen.
const RELAPSE: f64 = 3.0;
/// Minimum distance from the minimum, in units of its noise: beyond four standard deviations is one of 16,000 normally
/// distributed numbers.
const NOISES: f64 = 4.0;
/// Share of the points, in percent, that are the end of a curve. Chosen.
const TAIL_PERCENT: usize = 15;
/// Minimum length of a curve in units of its end, or of a window. Chosen.
const MIN_TAILS: usize = 4;
/// Multiple of its minimum up to which a loss is still near it. Chosen.
const NEAR_BEST: f64 = 1.5;
/// Factor by which a learning rate that rises is a warm restart. Chosen: cosine schedules restart at a multiple.
const WARM_RESTART: f64 = 1.5;

/// A loss that was good and ends above half the way back to its start, at [`RELAPSE`] times its minimum, and still
/// does not fall, unless the learning rate was raised since (a warm restart). Medians of the last points count:
/// [`TAIL_PERCENT`], at least [`FEWEST`].
fn relapse(run: &Run<'_>, series: &Series) -> Option<Rise> {
    let (steps, values): (Vec<i64>, Vec<f64>) = series.points().filter(|p| p.1.is_finite()).unzip();
    let tail = (values.len() * TAIL_PERCENT / 100).max(FEWEST);
    if values.len() < MIN_TAILS * tail {
        return None;
    }
    let smooth: Vec<f64> = values
        .windows(FEWEST)
        .filter_map(|w| median(w.iter().copied()))
        .collect();
    let (at, best) = smooth
        .iter()
        .copied()
        .enumerate()
        .min_by(|a, b| a.1.total_cmp(&b.1))?;
    let begun = median(values.iter().copied().take(FEWEST))?;
    let ends = values.len() - tail;
    let level = median(values[ends..].iter().copied())?;
    let before = median(values[ends - tail..ends].iter().copied())?;
    let is_lost = level > RELAPSE * best && level > f64::midpoint(best, begun);
    let is_certain = level - best > NOISES * noise(&values) && scatter(&values) < ROUGH;
    let is_high = level > FEW_SAMPLES_SHARE * high_level(run, series) && at + FEWEST < ends;
    if !(is_lost && is_certain && is_high && level >= before)
        || is_restarted(run, series, steps[at])
    {
        return None;
    }
    let first = smooth.iter().rposition(|v| *v <= NEAR_BEST * best)? + 1;
    Some(Rise {
        step: *steps.get(first + 1)?,
        to: level,
        best,
        begun,
        times: level / best,
        limit: Some(RELAPSE),
    })
}

/// True if the learning rate was raised after a step.
fn is_restarted(run: &Run<'_>, series: &Series, step: i64) -> bool {
    run.scalar(series.rank, Meaning::LearningRate)
        .is_some_and(|rate| {
            let then = rate.until(step).next_back().map_or(f64::INFINITY, |p| p.1);
            rate.after(step).any(|p| p.1 > WARM_RESTART * then)
        })
}

/// Length of a curve in units of the window over which its level is taken. Chosen.
const WINDOWS: usize = 10;
/// Minimum rise of a loss with negative values, in units of its noise: a policy loss scatters around 0 indefinitely.
/// Chosen.
const CLIMB_NOISES: f64 = 10.0;
/// Rise of such a loss, as a share of its size, below which it is rounding.
const MIN_CLIMB: f64 = 1e-6;
/// Multiple of the fall to the minimum that it rises above its start.
const CLIMB: f64 = 1.0;

/// A loss with negative values is measured by differences: it ends above its start by at least its fall to the minimum,
/// and [`CLIMB_NOISES`] above both, and does not fall.
fn climb(series: &Series) -> Option<Rise> {
    let (steps, values): (Vec<i64>, Vec<f64>) = series.points().filter(|p| p.1.is_finite()).unzip();
    let window = (values.len() / WINDOWS).max(FEWEST);
    if values.len() < MIN_TAILS * window {
        return None;
    }
    let level = |of: &[f64]| median(of.iter().copied());
    let levels: Vec<f64> = values.windows(window).filter_map(level).collect();
    let (begun, ended) = (*levels.first()?, *levels.last()?);
    let best = levels.iter().copied().fold(f64::INFINITY, f64::min);
    let before = *levels.get(levels.len().checked_sub(1 + window)?)?;
    let least = CLIMB_NOISES * noise(&values);
    let is_up = ended > begun + (begun - best).max(least) && ended > best + least;
    let is_moving = ended > best + MIN_CLIMB * best.abs() && ended >= before;
    if !(is_up && is_moving) {
        return None;
    }
    let first = levels.iter().rposition(|v| *v <= begun)? + 1;
    Some(Rise {
        step: *steps.get(first)?,
        to: ended,
        best,
        begun,
        times: (ended - best) / (begun - best).max(least).max(f64::MIN_POSITIVE),
        limit: Some(CLIMB),
    })
}

/// Share of the fall from its start to its minimum that a loss with negative values loses again.
const LOST: f64 = 0.5;

/// A loss with negative values that loses [`LOST`] of its fall, and does not fall again: the fall and the rise are
/// [`CLIMB_NOISES`] of its noise each. Medians of the last points count, as in [`relapse`].
fn loss_of_progress(run: &Run<'_>, series: &Series) -> Option<Rise> {
    let (steps, values): (Vec<i64>, Vec<f64>) = series.points().filter(|p| p.1.is_finite()).unzip();
    let window = (values.len() / WINDOWS).max(FEWEST);
    let tail = (values.len() * TAIL_PERCENT / 100).max(FEWEST);
    if values.len() < MIN_TAILS * window.max(tail) {
        return None;
    }
    let level = |of: &[f64]| median(of.iter().copied());
    let levels: Vec<f64> = values.windows(window).filter_map(level).collect();
    let begun = *levels.first()?;
    let (at, best) = levels
        .iter()
        .copied()
        .enumerate()
        .min_by(|a, b| a.1.total_cmp(&b.1))?;
    let ends = values.len() - tail;
    let (before, ended) = (level(&values[ends - tail..ends])?, level(&values[ends..])?);
    let least = CLIMB_NOISES * noise(&values);
    let (fall, rise) = (begun - best, ended - best);
    let is_lost = fall > least && rise > (LOST * fall).max(least) && at + window < ends;
    if !(is_lost && ended >= before) || is_restarted(run, series, *steps.get(at)?) {
        return None;
    }
    let first = levels
        .iter()
        .rposition(|v| *v - best <= LOST * rise)
        .map(|last| last + 1)?;
    Some(Rise {
        step: *steps.get(first)?,
        to: ended,
        best,
        begun,
        times: rise / fall.max(f64::MIN_POSITIVE),
        limit: Some(LOST),
    })
}
