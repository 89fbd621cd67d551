//! Weights that do not change although they should learn.

use trainscope_format::Severity;

use super::Judgement;
use crate::watchpoint::model::condition::Watchpoint;
use crate::watchpoint::model::key::Key;
use crate::watchpoint::model::missing::Missing;
use crate::watchpoint::model::new_hit::NewHit;
use crate::watchpoint::model::run::{Run, high_level};
use crate::watchpoint::model::scalars::{Meaning, median};
use crate::watchpoint::model::subject::Class;
use crate::watchpoint::model::tensor::Tensor;

/// An interval of steps in which a weight is bit-identical to its previous step.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Still {
    first: i64,
    last: i64,
    steps: usize,
}

/// Weights that no longer change, until the end of the recording, although they have a gradient or nothing shows that
/// they have none.
pub(crate) fn judge(run: &Run<'_>, _: u32, watchpoint: &Watchpoint) -> Judgement {
    still_weights(run, watchpoint, false)
}

/// The same weights, only those with a recorded gradient.
pub(crate) fn with_gradient(run: &Run<'_>, _: u32, watchpoint: &Watchpoint) -> Judgement {
    still_weights(run, watchpoint, true)
}

fn still_weights(run: &Run<'_>, watchpoint: &Watchpoint, needs_gradient: bool) -> Judgement {
    let mut judged = Judgement::default();
    let moves = ranks_with_changes(run);
    for &rank in &run.ranks {
        if !needs_gradient {
            judged
                .found
                .extend(unchanged_histograms(run, rank, watchpoint));
        }
        let knows_gradients = run.of_class(rank, Class::Gradient).next().is_some();
        let of_rank = watchpoint.tensors_of(run).filter(|t| t.rank == rank);
        let learns = |t: &&Tensor| t.subject.class == Class::Weight && !t.is_frozen;
        for weight in of_rank.filter(learns) {
            let gradient = run.partner(weight, Class::Gradient);
            if knows_gradients && gradient.is_none() || needs_gradient && gradient.is_none() {
                continue;
            }
            let Some(still) = final_standstill(weight, watchpoint.patience as usize) else {
                continue;
            };
            // Without any recorded gradients, a weight that never changes while others do is likely frozen on purpose.
            if !knows_gradients && never_changes(weight) && moves.contains(&rank) {
                continue;
            }
            let is_excused =
                gradient.is_some_and(|g| is_excused(g, &still) || is_negligible(run, g, &still));
            let is_lost = gradient.is_some_and(|g| is_rounded_away(run, weight, g, &still));
            if is_excused
                || is_lost
                || has_faded_out(run, rank, &still)
                || is_below(run, rank, CONVERGED)
            {
                continue;
            }
            let found = NewHit::at(run, weight, still.first, (Key::Count, 0.0)).until(still.last);
            let name = &weight.name;
            let steps = still.steps;
            judged.found.push(found.saying(
                format!("{name} was not updated in the last {steps} recorded steps"),
                format!("{name} 在最近 {steps} 个记录的迭代中没有更新"),
            ));
        }
    }
    judged
}

/// Minimum number of consecutive equal histograms. Chosen: Keras records one per epoch, with many updates between two.
const UNCHANGED_HISTOGRAMS: usize = 3;

/// Share of its highest value below which a loss is solved: its gradient may be exactly zero, as that of a hinge loss.
/// Chosen.
const SOLVED: f64 = 0.01;
/// The same for an update that is lost in rounding: the squares of errors at the resolution of half of the digits of
/// single precision. Chosen.
const CONVERGED: f64 = 1e-7;

/// True if the loss has come below a share of its highest value.
fn is_below(run: &Run<'_>, rank: u32, share: f64) -> bool {
    run.loss(rank).is_some_and(|loss| {
        let sizes = loss.series.values.iter().map(|v| v.abs());
        let highest = sizes.filter(|v| v.is_finite()).fold(0.0, f64::max);
        loss.last.abs() < share * highest
    })
}

/// One finding if the histograms of all weight matrices of a rank are bit-identical, edges and counts, in its last
/// records. Biases are left out: below a dead layer, that of the output still learns the mean of the targets. Weights
/// with recorded elements are judged by these.
fn unchanged_histograms(run: &Run<'_>, rank: u32, watchpoint: &Watchpoint) -> Option<NewHit> {
    let weights = run.histograms.iter().filter(|weight| {
        weight.rank == rank
            && weight.subject.class == Class::Weight
            && !weight.subject.is_vector()
            && watchpoint.watches(&weight.name, &weight.subject)
            && run.in_full(weight).is_none()
    });
    let weights: Vec<&Tensor> = weights.collect();
    if let Some(one) = one_unchanged_histogram(run, rank, &weights) {
        return Some(one);
    }
    let of_each = weights
        .iter()
        .map(|weight| final_standstill(weight, UNCHANGED_HISTOGRAMS - 1));
    let of_each: Vec<Still> = of_each.collect::<Option<_>>()?;
    let latest = of_each.iter().max_by_key(|still| still.first)?;
    if is_below(run, rank, SOLVED) || has_faded_out(run, rank, latest) {
        return None;
    }
    let first = weights.iter().min_by_key(|weight| run.flow(weight))?;
    let (count, records) = (weights.len(), latest.steps + 1);
    let found = NewHit::at(run, first, latest.first, (Key::Count, 0.0)).until(latest.last);
    let (of, of_zh) = if count == 1 {
        (format!("{} is", first.name), first.name.to_string())
    } else {
        (
            format!("each of the {count} weights is"),
            format!("全部 {count} 个权重"),
        )
    };
    Some(found.saying(
        format!(
            "nothing is learned: the histogram of {of} bit-identical in its last {records} records"
        ),
        format!("没有学到任何东西：{of_zh}的直方图在最近 {records} 次记录中逐位相同"),
    ))
}

/// Minimum number of records of a weight whose histogram stays the same while its gradient's changes. Chosen.
const STILL_RECORDS: usize = 4;

/// A weight whose histogram is bit-identical in all records but the first, while the histogram of its gradient changes
/// and other weights are trained. A checkpoint may be loaded, or a layer replaced, after the first record.
fn one_unchanged_histogram(run: &Run<'_>, rank: u32, weights: &[&Tensor]) -> Option<NewHit> {
    let stays = |weight: &Tensor| {
        let mut pairs = weight.history.pairs().skip(1);
        weight.history.len() >= STILL_RECORDS && pairs.all(|(a, b)| b.is_identical(a) == Some(true))
    };
    let changes = |weight: &Tensor| {
        let mut pairs = weight.history.pairs();
        pairs.any(|(a, b)| b.is_identical(a) == Some(false))
    };
    let has_gradient = |weight: &Tensor| {
        let mut gradients = run.histograms.iter().filter(|other| {
            other.rank == rank
                && other.subject.class == Class::Gradient
                && other.subject.module == weight.subject.module
                && other.subject.leaf == weight.subject.leaf
        });
        gradients.any(|other| {
            let mut pairs = other.history.pairs();
            other.history.len() >= STILL_RECORDS - 1
                && pairs.all(|(a, b)| b.is_identical(a) == Some(false))
        })
    };
    let still = weights
        .iter()
        .filter(|weight| stays(weight) && has_gradient(weight));
    let still: Vec<&&Tensor> = still.collect();
    let others_move = weights
        .iter()
        .any(|weight| !stays(weight) && changes(weight));
    let first = still.iter().min_by_key(|weight| run.flow(weight))?;
    if !others_move || is_below(run, rank, SOLVED) {
        return None;
    }
    let (count, records) = (still.len(), first.history.len());
    let begun = first.history.iter().nth(1).map_or(0, |digest| digest.step);
    let last = first.history.last().map_or(begun, |digest| digest.step);
    let found = NewHit::at(run, first, begun, (Key::Count, 0.0)).until(last);
    let name = &first.name;
    let (more, more_zh) = match count - 1 {
        0 => (String::new(), String::new()),
        more => (
            format!(" (and of {more} more)"),
            format!("（另有 {more} 个）"),
        ),
    };
    Some(found.saying(
        format!(
            "the histogram of {name}{more} is the same in {records} records while that of its gradient changes: the optimizer does \
             not hold this weight"
        ),
        format!("{name}{more_zh} 的直方图在 {records} 次记录中相同，而其梯度的直方图在变化：优化器没有持有该权重"),
    ))
}

/// Minimum number of recorded steps for a judgement about weights that never change. Chosen.
const FROZEN_STEPS: usize = 3;

/// Weights that never change and have no gradient, while others change: one note per rank. With fewer than
/// [`FROZEN_STEPS`] steps the note says that they are too few, and the weights count as not judged.
pub(crate) fn frozen(run: &Run<'_>, _: u32, watchpoint: &Watchpoint) -> Judgement {
    let mut judged = Judgement::default();
    for rank in ranks_with_changes(run) {
        let of_rank = watchpoint.tensors_of(run).filter(|t| t.rank == rank);
        let weights: Vec<&Tensor> = of_rank
            .filter(|t| t.subject.class == Class::Weight && t.history.len() > 1)
            .collect();
        let is_frozen =
            |t: &&&Tensor| never_changes(t) && run.partner(t, Class::Gradient).is_none();
        let frozen: Vec<&&Tensor> = weights.iter().filter(is_frozen).collect();
        let Some(first) = frozen.iter().min_by_key(|t| run.flow(t)) else {
            continue;
        };
        let (count, all) = (frozen.len(), weights.len());
        let begins = first.history.first().map_or(0, |d| d.step);
        let last = first.history.last().map_or(begins, |d| d.step);
        let hit = NewHit::at(run, first, begins, (Key::Count, count as f64)).until(last);
        let (mut names, left) = (String::new(), count.saturating_sub(NAMED));
        for (at, tensor) in frozen.iter().take(NAMED).enumerate() {
            names.push_str(if at > 0 { ", " } else { "" });
            names.push_str(&tensor.name);
        }
        let (more, more_zh) = match left {
            0 => (String::new(), String::new()),
            left => (format!(" and {left} more"), format!(" 等另外 {left} 个")),
        };
        let steps = first.history.len();
        if steps < FROZEN_STEPS {
            for tensor in &frozen {
                let why = (Missing::TooShort, begins, steps as u64);
                judged.missing.push((rank, tensor.name.clone(), why));
            }
            let is = if count == 1 {
                "weight is"
            } else {
                "weights are"
            };
            judged.found.push(hit.called(Severity::Info).saying(
                format!(
                    "{count} of {all} {is} the same in all {steps} recorded steps: frozen, or too few steps to judge \
                     ({names}{more})"
                ),
                format!(
                    "{all} 个权重中有 {count} 个在全部 {steps} 个记录的迭代中相同：已冻结，或迭代数过少而无法判断（{names}{more_zh}）"
                ),
            ));
            continue;
        }
        let (en, zh) = if count == 1 {
            (
                "weight never changes and nothing updates it",
                "个权重从未变化，也没有更新它们的算子",
            )
        } else {
            (
                "weights never change and nothing updates them",
                "个权重从未变化，也没有更新它们的算子",
            )
        };
        judged.found.push(hit.called(Severity::Info).saying(
            format!("{count} of {all} {en}: frozen? ({names}{more})"),
            format!("{all} 个权重中有 {count} {zh}：是否已冻结？（{names}{more_zh}）"),
        ));
    }
    judged
}

/// Number of frozen weights listed by name; the others are counted.
const NAMED: usize = 3;

/// Ranks with at least one weight that changes.
fn ranks_with_changes(run: &Run<'_>) -> Vec<u32> {
    let changes = |t: &Tensor| {
        let mut pairs = t.history.pairs();
        pairs.any(|(a, b)| b.is_identical(a) == Some(false))
    };
    let ranks = run.ranks.iter().copied();
    ranks
        .filter(|rank| run.of_class(*rank, Class::Weight).any(changes))
        .collect()
}

/// True if a weight is bit-identical at all of its steps.
fn never_changes(weight: &Tensor) -> bool {
    let mut pairs = weight.history.pairs();
    weight.history.len() > 1 && pairs.all(|(a, b)| b.is_identical(a) == Some(true))
}

/// Multiple of the longest earlier interval without changes that the last one exceeds. Chosen.
const MUCH_LONGER: usize = 2;

/// The interval without changes at the end, if it is long, and much longer than any before: weights also rest between
/// two updates if gradients are accumulated, or if another part is being trained.
fn final_standstill(weight: &Tensor, patience: usize) -> Option<Still> {
    let mut stretches: Vec<Still> = Vec::new();
    let mut is_open = false;
    for (before, now) in weight.history.pairs() {
        let is_still = now.is_finite() && now.is_identical(before) == Some(true);
        match stretches.last_mut().filter(|_| is_still && is_open) {
            Some(still) => {
                still.last = now.step;
                still.steps += 1;
            }
            None if is_still => stretches.push(Still {
                first: now.step,
                last: now.step,
                steps: 1,
            }),
            None => {}
        }
        is_open = is_still;
    }
    let last = stretches.pop().filter(|_| is_open)?;
    let longest_before = stretches.iter().map(|s| s.steps).max().unwrap_or(0);
    (last.steps >= patience.max(MUCH_LONGER * longest_before + 1)).then_some(last)
}

/// Without a gradient, or with a gradient of zeros, a weight has no reason to change; after a non-finite one an
/// optimizer with loss scaling skips the step.
fn is_excused(gradient: &Tensor, still: &Still) -> bool {
    let (mut steps, mut without) = (0, 0);
    for digest in gradient.history.iter() {
        // The gradient of a step affects the weight of the next.
        if digest.step >= still.first.saturating_sub(1) && digest.step < still.last {
            steps += 1;
            without += usize::from(digest.is_zero() || !digest.is_finite());
        }
    }
    steps * 2 < still.steps || without * 2 > steps
}

/// Share of the usual gradient below which rounding removes the update: the steps of Adam are the same for any size,
/// but its epsilon of 1e-8 is larger then. Chosen.
const NEGLIGIBLE: f64 = 1e-5;

/// True if its gradient is far below all others: rounding removes the update. A bias before a batch norm has such a
/// gradient.
fn is_negligible(run: &Run<'_>, gradient: &Tensor, still: &Still) -> bool {
    let size = |t: &Tensor| {
        let meanwhile = t.history.iter().filter(|d| {
            d.step >= still.first.saturating_sub(1)
                && d.step < still.last
                && d.is_finite()
                && !d.is_zero()
        });
        median(meanwhile.map(|d| d.mean_abs))
    };
    let usual = median(
        run.of_class(gradient.rank, Class::Gradient)
            .filter_map(size),
    );
    match (size(gradient), usual) {
        (Some(actual), Some(usual)) => actual < NEGLIGIBLE * usual,
        _ => false,
    }
}

/// Share of the level of guessing, or of 1 if that is lower, below which there is next to nothing left to learn.
/// Chosen.
const LITTLE_LEFT: f64 = 0.1;

/// True if its updates are too small for its type, while there is next to nothing left to learn: a good model, trained
/// further at a tiny learning rate. If there is something to learn, [`super::update::too_small`] reports it.
fn is_rounded_away(run: &Run<'_>, weight: &Tensor, gradient: &Tensor, still: &Still) -> bool {
    let rate = run.scalar(weight.rank, Meaning::LearningRate);
    let rate = rate.and_then(|r| r.since(still.first).map(|p| p.1).find(|v| *v > 0.0));
    let (Some(rate), Some(loss)) = (rate, run.loss(weight.rank)) else {
        return false;
    };
    let Some(size) = weight.history.at(still.first).map(|d| d.mean_abs) else {
        return false;
    };
    let meanwhile = gradient.history.iter();
    let meanwhile = meanwhile.filter(|d| d.step >= still.first.saturating_sub(1) && d.is_finite());
    let largest = meanwhile.map(|d| rate * d.mean_abs).fold(0.0, f64::max);
    let is_small = {
        let level = high_level(run, loss.series).max(1.0);
        loss.initial.abs() < LITTLE_LEFT * level
    };
    is_small && largest < f64::from(f32::EPSILON) * size
}

/// Share of its highest value below which a learning rate has decayed. Chosen.
const DECAYED: f64 = 0.05;

/// True if the learning rate had decayed to next to nothing.
fn has_faded_out(run: &Run<'_>, rank: u32, still: &Still) -> bool {
    let Some(rate) = run.scalar(rank, Meaning::LearningRate) else {
        return false;
    };
    let highest = rate.values.iter().copied().fold(0.0, f64::max);
    let before = rate
        .before(still.first)
        .map(|p| p.1)
        .filter(|v| *v > 0.0)
        .last();
    let now = rate.since(still.first).map(|p| p.1).fold(0.0, f64::max);
    before.is_some_and(|before| before < DECAYED * highest && now <= before)
}
