//! Gradients that explode.

use std::collections::BTreeMap;

use super::{Evidence, Judgement};
use crate::text::Text;
use crate::watchpoint::model::condition::Watchpoint;
use crate::watchpoint::model::key::Key;
use crate::watchpoint::model::new_hit::{NewHit, number, percent, warning_if};
use crate::watchpoint::model::run::{
    Flow, HIGH_SHARE, LOW_LOSS, Loss, Phase, Run, chance, high_level, is_flat,
};
use crate::watchpoint::model::scalars::{FEWEST, Meaning, Series, median, spread};
use crate::watchpoint::model::subject::Class;
use trainscope_format::Severity;
use trainscope_format::digits::{Operator, Unit};

/// The gradient norm is known after all gradients.
pub(super) const NORM_FLOW: Flow = (Phase::Backward, i64::MAX);
/// Gradient norm that is large if the first points are above it. Chosen: clipping to norms of 0.25 to 10 is usual.
const LARGE: f64 = 100.0;
/// Multiple of the loss of guessing at which a model with such norms starts, if it is at fault. Chosen.
const FAR_FROM_GUESSING: f64 = 3.0;
/// Minimum number of earlier points for an outlier. Chosen.
const ENOUGH: usize = 5;
/// Minimum number of earlier points for an extreme outlier, and the factor by which it must exceed the limit. Chosen.
const FEW: usize = 2;
const FEW_FACTOR: f64 = 100.0;
/// Number of points before a norm with whose median it is compared. Chosen.
const WINDOW: usize = 128;
/// Multiple of all earlier norms at which a norm is a leap. Chosen.
const LEAP: f64 = 3.0;
/// Number of points within which a jump rises by [`LEAP`]. Chosen: an explosion by a factor of 1.5 from step to step is
/// one.
const JUMP_POINTS: usize = 3;
/// Multiple of the limit at which one jump counts for two, and the number of jumps at a high loss that are a fault.
/// Chosen.
const STRONG: f64 = 3.0;
const JUMPS: usize = 2;
/// Number of points of the loss after a jump that show its effect, and the factor by which they exceed all earlier
/// ones. Chosen.
const EFFECT_POINTS: usize = 4;
const HURT: f64 = 1.5;
/// Share of the limit that repeatedly growing or leaping norms must exceed. Chosen.
const LASTING_SHARE: f64 = 0.5;

/// The norm of all gradients of a rank by step, and its name.
struct Norms {
    rank: u32,
    name: std::sync::Arc<str>,
    points: Vec<(i64, f64)>,
}

/// The recorded norm; otherwise computed from the gradients, if the loss is not scaled.
fn norms(run: &Run<'_>, rank: u32) -> Option<Norms> {
    let recorded = run
        .scalars(Meaning::GradientNorm)
        .filter(|s| s.rank == rank);
    if let Some(series) = recorded.min_by_key(|s| (s.doubt, &s.tag)) {
        return Some(Norms {
            rank,
            name: series.tag.clone(),
            points: series.points().collect(),
        });
    }
    if run.scalar(rank, Meaning::LossScale).is_some() {
        return None;
    }
    let mut squares: BTreeMap<i64, f64> = BTreeMap::new();
    for gradient in run.of_class(rank, Class::Gradient) {
        for digest in gradient.history.iter() {
            let square = if digest.is_finite() {
                digest.l2 * digest.l2
            } else {
                f64::NAN
            };
            *squares.entry(digest.step).or_default() += square;
        }
    }
    let points: Vec<(i64, f64)> = squares.into_iter().map(|(s, v)| (s, v.sqrt())).collect();
    (!points.is_empty()).then(|| Norms {
        rank,
        name: "gradients".into(),
        points,
    })
}

/// A norm many times the median of earlier ones; a warning if the loss then gets worse than ever, or if norms are large
/// from the start and the loss is far from that of guessing.
pub(crate) fn norm(run: &Run<'_>, _: u32, watchpoint: &Watchpoint) -> Judgement {
    let factor = watchpoint.limits.value(Key::FactorGt);
    let mut found = Vec::new();
    for &rank in &run.ranks {
        let Some(norms) = norms(run, rank) else {
            continue;
        };
        let loss = run.loss(rank);
        // Harm is measured by the loss, which says nothing where its targets grow.
        let is_comparable = !run.knowledge.course.moves(rank);
        let mut best: Option<NewHit> = None;
        let mut highest: f64 = 0.0;
        let mut jumps = 0;
        for (index, &(step, norm)) in norms.points.iter().enumerate() {
            let before = &norms.points[index.saturating_sub(WINDOW)..index];
            let is_new = norm > LEAP * highest;
            if norm.is_finite() {
                highest = highest.max(norm);
            }
            let needed = if index < ENOUGH {
                FEW_FACTOR * factor
            } else {
                factor
            };
            if index < FEW || !norm.is_finite() || !exceeds_most(norm / needed, before) {
                continue;
            }
            let finite = before.iter().map(|p| p.1).filter(|v| v.is_finite());
            let Some(usual) = median(finite).filter(|usual| norm > needed * usual) else {
                continue;
            };
            let hurts = |l: &Loss<'_>| l.is_hurt_after(step.saturating_sub(1), EFFECT_POINTS, HURT);
            // While there is much left to learn, norms are of one size: the model itself explodes repeatedly.
            let is_high =
                is_jump(norm, before) && loss.as_ref().is_some_and(|l| is_high_at(run, l, step));
            let is_strong = norm > STRONG * factor * usual;
            jumps += usize::from(is_high) * (1 + usize::from(is_strong));
            let is_harmful =
                is_comparable && (is_new && loss.as_ref().is_some_and(hurts) || jumps >= JUMPS);
            let severity = warning_if(is_harmful);
            if best.as_ref().is_none_or(|b| b.severity < Some(severity)) {
                best = Some(hit(
                    &norms,
                    step,
                    Evidence::of(Key::FactorGt, norm / usual),
                    severity,
                    norm,
                ));
            }
        }
        let mut begun = norms.points.iter().take(FEWEST);
        let large = begun.all(|p| p.1 > LARGE) && norms.points.len() >= FEWEST;
        if let (None, true, Some(loss)) = (&best, large, &loss) {
            let far =
                chance(run, rank).is_some_and(|chance| loss.initial > FAR_FROM_GUESSING * chance);
            let (step, norm) = norms.points[0];
            let severity = warning_if(far);
            let name = Text {
                en: "gradient norm",
                zh: "梯度范数",
            };
            best = Some(hit(&norms, step, Evidence::NONE, severity, norm).measuring(
                (Key::Norm, name),
                (Operator::Above, Unit::Number),
                norm,
                LARGE,
            ));
        }
        let is_alarm = best
            .as_ref()
            .is_some_and(|b| b.severity >= Some(Severity::Warning));
        let growth = steady_growth(&norms, factor).map(|growth| (growth, factor));
        let lasting = growth.or_else(|| Some((unrest(&norms, factor)?, LASTING_SHARE * factor)));
        if let (false, Some(((step, norm, times), limit))) = (is_alarm, lasting)
            && is_comparable
            && loss.as_ref().is_some_and(|l| !l.has_learned())
        {
            best = Some(
                hit(
                    &norms,
                    step,
                    Evidence::of(Key::FactorGt, times),
                    Severity::Warning,
                    norm,
                )
                .against(limit),
            );
        }
        found.extend(best);
    }
    found.into()
}

/// True if the norm is far above one of the last ones: norms that climb do not jump.
fn is_jump(norm: f64, before: &[(i64, f64)]) -> bool {
    let last = before.iter().rev().take(JUMP_POINTS).map(|point| point.1);
    let lowest = last
        .filter(|earlier| earlier.is_finite())
        .fold(f64::INFINITY, f64::min);
    !lowest.is_finite() || norm > LEAP * lowest
}

/// True if the loss at a step is close to that of guessing, or to its beginning.
fn is_high_at(run: &Run<'_>, loss: &Loss<'_>, step: i64) -> bool {
    let now = loss.series.until(step).map(|p| p.1).next_back();
    now.is_some_and(|now| now > HIGH_SHARE * high_level(run, loss.series) && now > LOW_LOSS)
}

/// True if the norm is above at least half of the points: below the median it is harmless.
fn exceeds_most(norm: f64, points: &[(i64, f64)]) -> bool {
    let below = points.iter().filter(|p| p.1 < norm).count();
    2 * below >= points.iter().filter(|p| p.1.is_finite()).count()
}

/// Distance in points over which norms are compared: a single batch must not hide their growth. Chosen.
const GROWTH_DISTANCE: usize = 3;
/// Minimum number of points of growing norms, and minimum share of them above the previous one. Chosen.
const GROWTH_POINTS: usize = 12;
const GROWTH_SHARE: f64 = 0.9;

/// First step at which a norm that grows at almost every step exceeds its beginning by the factor: gradients that are
/// never reset grow like that, and so does a diverging training.
fn steady_growth(norms: &Norms, factor: f64) -> Option<(i64, f64, f64)> {
    let points: Vec<(i64, f64)> = norms
        .points
        .iter()
        .copied()
        .filter(|p| p.1.is_finite())
        .collect();
    let begun = median(points.iter().take(FEWEST).map(|p| p.1))?;
    let ended = median(points.iter().rev().take(FEWEST).map(|p| p.1))?;
    let pairs = points.iter().zip(points.iter().skip(GROWTH_DISTANCE));
    let rises = pairs.clone().filter(|(old, new)| new.1 > old.1).count();
    let grows =
        points.len() >= GROWTH_POINTS && rises as f64 >= GROWTH_SHARE * pairs.count() as f64;
    let (step, norm) = points
        .iter()
        .copied()
        .find(|p| p.1 > LASTING_SHARE * factor * begun)?;
    (grows && ended > factor * begun).then_some((step, norm, ended / begun))
}

/// Minimum number of leaps of unrest. Chosen.
const LEAPS: usize = 3;

/// First of repeated leaps of norms: one far above all earlier norms, followed by more of that size. The median follows
/// them.
fn unrest(norms: &Norms, factor: f64) -> Option<(i64, f64, f64)> {
    let points = &norms.points;
    let mut highest: f64 = 0.0;
    for (index, &(step, norm)) in points.iter().enumerate() {
        if !norm.is_finite() {
            return None;
        }
        if index >= ENOUGH && norm > LEAP * highest {
            let usual = median(points[..index].iter().map(|p| p.1))?;
            let leaps = points[index..].iter().filter(|p| p.1 > LEAP * highest);
            if norm > LASTING_SHARE * factor * usual && leaps.count() >= LEAPS {
                return Some((step, norm, norm / usual));
            }
        }
        highest = highest.max(norm);
    }
    None
}

fn hit(norms: &Norms, step: i64, evidence: Evidence, severity: Severity, norm: f64) -> NewHit {
    let (name, norm) = (&norms.name, number(norm));
    let hit = NewHit::of_name(name, (norms.rank, step), NORM_FLOW, evidence);
    hit.called(severity).saying(
        format!("{name} jumps to {norm} (gradient norm)"),
        format!("{name} 跃升到 {norm}（梯度范数）"),
    )
}

/// Multiple of most earlier norms that an outlier exceeds. Chosen.
const ABOVE_MOST: f64 = 1.3;
/// Minimum number of earlier norms for a spread. Chosen.
const SPREAD_POINTS: usize = 16;
/// Minimum spread of the logarithms of norms: 5 % of their size. Chosen.
const MIN_SPREAD: f64 = 0.05;

/// Outliers of a norm, measured by the spread of earlier ones.
pub(crate) fn zscore(run: &Run<'_>, _: u32, watchpoint: &Watchpoint) -> Judgement {
    let limit = watchpoint.limits.value(Key::ZGt);
    let window = watchpoint.limits.count(Key::Window);
    let mut found = Vec::new();
    for &rank in &run.ranks {
        let Some(norms) = norms(run, rank) else {
            continue;
        };
        let logs: Vec<f64> = norms.points.iter().map(|p| p.1.ln()).collect();
        for (index, &(step, norm)) in norms.points.iter().enumerate() {
            let start = index.saturating_sub(window);
            if !exceeds_most(norm / ABOVE_MOST, &norms.points[start..index]) {
                continue;
            }
            let before: Vec<f64> = logs[start..index]
                .iter()
                .copied()
                .filter(|v| v.is_finite())
                .collect();
            if before.len() < SPREAD_POINTS || !norm.is_finite() || norm <= 0.0 {
                continue;
            }
            let Some(middle) = median(before.iter().copied()) else {
                continue;
            };
            let score = (norm.ln() - middle) / spread(&before, middle).max(MIN_SPREAD);
            // Norms that wander get far from their median in small steps.
            let steps: Vec<f64> = before.windows(2).map(|w| w[1] - w[0]).collect();
            let jump = norm.ln() - before.last().copied().unwrap_or(middle);
            if score > limit && jump > limit * spread(&steps, 0.0) {
                found.push(hit(
                    &norms,
                    step,
                    Evidence::of(Key::ZGt, score),
                    Severity::Info,
                    norm,
                ));
            }
        }
    }
    found.into()
}

/// Maximum share of its norm that a clipped gradient keeps; more is rounding.
const CLIPPED: f64 = 0.99;
/// Minimum number of norms recorded before and after clipping. Chosen.
const CLIPPED_STEPS: usize = 8;
/// Shares of the norm of which hardly anything is left, and too little for a loss that has not moved: by less than
/// [`FLAT_SHARE`] over [`FLAT_POINTS`] points. Chosen.
const HARDLY_LEFT: f64 = 1e-3;
const LITTLE_LEFT: f64 = 0.05;
const FLAT_SHARE: f64 = 0.05;
const FLAT_POINTS: usize = 50;

/// Gradients that are clipped at almost every step; a warning if clipping almost removes them.
pub(crate) fn always_clipped(run: &Run<'_>, _: u32, watchpoint: &Watchpoint) -> Judgement {
    let share = watchpoint.limits.value(Key::ShareGt);
    let mut found = Vec::new();
    for &rank in &run.ranks {
        let recorded = run.scalars(Meaning::GradientNorm).find(|s| s.rank == rank);
        if run.scalar(rank, Meaning::LossScale).is_some() {
            continue;
        }
        let Some(recorded) = recorded else { continue };
        let mut after: BTreeMap<i64, f64> = BTreeMap::new();
        for gradient in run.of_class(rank, Class::Gradient) {
            for digest in gradient.history.iter().filter(|d| d.is_finite()) {
                *after.entry(digest.step).or_default() += digest.l2 * digest.l2;
            }
        }
        let kept = recorded.points().filter_map(|(step, norm)| {
            let left = after.get(&step)?.sqrt();
            (norm.is_finite() && norm > 0.0).then_some(left / norm)
        });
        let kept: Vec<f64> = kept.collect();
        let clipped = kept.iter().filter(|k| **k < CLIPPED).count();
        if kept.len() < CLIPPED_STEPS || (clipped as f64) < share * kept.len() as f64 {
            continue;
        }
        let Some(usual) = median(kept.iter().copied()) else {
            continue;
        };
        let is_flat = || {
            let loss = run.scalar(rank, Meaning::Loss);
            loss.is_some_and(|l| {
                !l.is_relative() && is_flat(l, FLAT_POINTS, FLAT_SHARE) && starts_at_zero(l)
            })
        };
        let severity = warning_if(usual < HARDLY_LEFT || usual < LITTLE_LEFT && is_flat());
        let step = recorded.steps.first().copied().unwrap_or(0);
        let evidence = Evidence::of(Key::ShareGt, clipped as f64 / kept.len() as f64);
        let hit = NewHit::of_scalar(recorded, step, NORM_FLOW, evidence).called(severity);
        let left = percent(usual);
        found.push(hit.saying(
            format!("gradients are clipped at almost every step, to {left} of their norm"),
            format!("几乎每个迭代都在裁剪梯度，只保留其范数的 {left}"),
        ));
    }
    found.into()
}

/// True if the recording covers the beginning of the training: a resumed one may be at its best already.
fn starts_at_zero(loss: &Series) -> bool {
    loss.steps
        .first()
        .is_some_and(|step| (0..=1).contains(step))
}
