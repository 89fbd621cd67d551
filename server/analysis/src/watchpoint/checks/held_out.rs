//! Held-out data: overfitting, or measurements unlike those of the training.

use trainscope_format::Severity;

use super::{Evidence, Judgement};
use crate::meaning::BOOSTED_DOUBT;
use crate::watchpoint::model::condition::Watchpoint;
use crate::watchpoint::model::key::Key;
use crate::watchpoint::model::new_hit::{NewHit, number, warning_if};
use crate::watchpoint::model::run::{FEW_SAMPLES_SHARE, LATE_FLOW, Run, high_level};
use crate::watchpoint::model::scalars::{FEWEST, Meaning, Series, TINY, median, outruns_walk};
use crate::watchpoint::model::subject::{Class, Family};
use crate::watchpoint::model::tensor::Tensor;

/// Multiple of its minimum that a held-out loss exceeds when it has risen. Chosen.
const RISEN: f64 = 1.1;
/// Number of training points before a measurement whose median is compared with it. Chosen.
const TRAINING_POINTS: usize = 5;
/// Bounds of certain overfitting: multiple of the minimum, rise in units of the level of guessing, measurements since
/// the minimum, and training loss as a share of its value at the minimum. Chosen.
const CERTAIN_RISE: f64 = 1.5;
const CERTAIN_DISTANCE: f64 = 0.25;
const CERTAIN_POINTS: usize = 3;
const CERTAIN_PROGRESS: f64 = 0.7;

/// A held-out loss that has risen from its minimum while the training loss kept falling; a warning if it has risen by
/// half at several measurements.
pub(crate) fn overfit(run: &Run<'_>, _: u32, watchpoint: &Watchpoint) -> Judgement {
    let gap = watchpoint.limits.value(Key::GapGt);
    let patience = watchpoint.patience as usize;
    let mut found = Vec::new();
    for held_out in run.scalars(Meaning::HeldOutLoss) {
        if held_out.has_negative() {
            continue;
        }
        // The same tag if both were recorded by one program: `epoch_loss` counts epochs, and `batch_loss` batches.
        let of_same = run.scalars(Meaning::Loss).find(|training| {
            training.rank == held_out.rank && held_out.tag.ends_with(&*training.tag)
        });
        // An error such as RMSE has no other loss as its counterpart.
        let is_loss = held_out.doubt < BOOSTED_DOUBT;
        let any = || run.scalar(held_out.rank, Meaning::Loss).filter(|_| is_loss);
        let Some(training) = of_same.or_else(any) else {
            continue;
        };
        let points: Vec<(i64, f64)> = held_out.points().filter(|p| p.1.is_finite()).collect();
        let best = points
            .iter()
            .enumerate()
            .min_by(|a, b| a.1.1.total_cmp(&b.1.1));
        let Some((at, &(best_step, best))) = best else {
            continue;
        };
        let after = &points[at + 1..];
        let Some(now) = median(after.iter().rev().take(FEWEST).map(|p| p.1)) else {
            continue;
        };
        let near = |step: i64| median(last_of(training.until(step), TRAINING_POINTS));
        let (Some(then), Some(trained)) = (near(best_step), near(i64::MAX)) else {
            continue;
        };
        let distance = (now - trained) / trained.max(TINY);
        let has_risen = after.iter().filter(|p| p.1 > RISEN * best).count() >= patience;
        let risen: Vec<f64> = points[at..].iter().map(|p| p.1).collect();
        if !(has_risen && distance > gap && trained < then && outruns_walk(&risen)) {
            continue;
        }
        let level = high_level(run, held_out);
        let is_certain = now > CERTAIN_RISE * best
            && now - best > CERTAIN_DISTANCE * level
            && after.len() >= CERTAIN_POINTS
            && trained < CERTAIN_PROGRESS * then.max(best);
        let severity = warning_if(is_certain);
        let step = after
            .iter()
            .find(|p| p.1 > RISEN * best)
            .map_or(best_step, |p| p.0);
        let hit = NewHit::of_scalar(held_out, step, LATE_FLOW, (Key::GapGt, distance));
        let (tag, best, now) = (&held_out.tag, number(best), number(now));
        found.push(hit.called(severity).saying(
            format!("{tag} has risen from {best} to {now} while the training loss keeps falling"),
            format!("训练损失继续下降，而 {tag} 从 {best} 升到 {now}"),
        ));
    }
    found.into()
}

/// The last finite values of points, at most `count`.
fn last_of(
    points: impl DoubleEndedIterator<Item = (i64, f64)>,
    count: usize,
) -> impl Iterator<Item = f64> {
    let values = points.rev().map(|p| p.1).filter(|v| v.is_finite());
    values.take(count)
}

/// Minimum number of measurements for a usual gap. Chosen.
const GAPS: usize = 2;
/// Multiple of the limit above which a gap is a fault. Chosen.
const BAD_GAP: f64 = 2.0;
/// Minimum number of steps of running statistics that never change. Chosen.
const STILL_STEPS: usize = 4;

/// Batch norm whose running statistics do not follow the training, or are impossible; or a held-out loss that is a
/// multiple of the training loss from the start, in a model with batch norm.
pub(crate) fn batch_norm(run: &Run<'_>, _: u32, watchpoint: &Watchpoint) -> Judgement {
    let least = watchpoint.limits.value(Key::VarianceLt);
    let most = watchpoint.limits.value(Key::VarianceGt);
    let factor = watchpoint.limits.value(Key::GapGt);
    let mut found = Vec::new();
    for &rank in &run.ranks {
        let held_out = run.scalars(Meaning::HeldOutLoss).find(|s| s.rank == rank);
        let gap = held_out.and_then(|h| usual_gap(run, h));
        for buffer in run.of_class(rank, Class::Buffer) {
            let is_variance = matches!(&*buffer.subject.leaf, "running_var" | "moving_variance");
            let is_mean = matches!(&*buffer.subject.leaf, "running_mean" | "moving_mean");
            let is_still = (is_mean || is_variance) && is_unchanged(buffer) && learns(run, buffer);
            let Some(first) = buffer.history.first() else {
                continue;
            };
            let until = buffer.history.last().map_or(first.step, |d| d.step);
            let name = &buffer.name;
            if is_still {
                let hit = NewHit::at(run, buffer, first.step, Evidence::NONE).until(until);
                found.push(hit.called(Severity::Warning).saying(
                    format!(
                        "{name} never changes during training: evaluation uses its initial values"
                    ),
                    format!("训练过程中 {name} 始终不变：评估使用其初始值"),
                ));
            } else if let Some(bad) = buffer.history.iter().find(|d| {
                is_variance && d.is_finite() && d.count > 0 && (d.max < least || d.max > most)
            }) {
                let beyond = if bad.max > most {
                    Key::VarianceGt
                } else {
                    Key::VarianceLt
                };
                let hit = NewHit::at(run, buffer, bad.step, (beyond, bad.max));
                let value = number(bad.max);
                found.push(hit.called(Severity::Info).saying(
                    format!("{name} is {value}: the previous layer outputs almost nothing, or far too much"),
                    format!("{name} 为 {value}：前一层几乎没有输出，或输出过大"),
                ));
            }
        }
        let has_norm = run
            .of_class(rank, Class::Activation)
            .any(|t| run.family(t) == Family::BatchNorm);
        if let (true, Some(held_out), Some(gap)) = (has_norm, held_out, gap)
            && gap > factor
        {
            let begins = gaps(run, held_out).find(|(_, gap)| *gap > factor);
            let step = begins.map_or(0, |(step, _)| step);
            let hit = NewHit::of_scalar(held_out, step, LATE_FLOW, (Key::GapGt, gap));
            // A tiny training loss is a fraction of any other.
            let ended = median(last_of(held_out.points(), FEWEST)).unwrap_or(0.0);
            let is_high = ended > FEW_SAMPLES_SHARE * high_level(run, held_out);
            let is_bad = gap > BAD_GAP * factor && is_high;
            let severity = warning_if(is_bad);
            let (tag, gap) = (&held_out.tag, number(gap));
            found.push(hit.called(severity).saying(
                format!(
                    "{tag} is {gap} times the training loss: check train() and eval() modes of BatchNorm"
                ),
                format!("{tag} 是训练损失的 {gap} 倍：请检查 BatchNorm 的 train()/eval() 模式"),
            ));
        }
    }
    found.into()
}

/// Median ratio of held-out loss and training loss at the same time.
fn usual_gap(run: &Run<'_>, held_out: &Series) -> Option<f64> {
    let gaps: Vec<f64> = gaps(run, held_out).map(|(_, gap)| gap).collect();
    (gaps.len() >= GAPS)
        .then(|| median(gaps.into_iter()))
        .flatten()
}

/// The same ratio at each step.
fn gaps(run: &Run<'_>, held_out: &Series) -> impl Iterator<Item = (i64, f64)> {
    let training = run.scalar(held_out.rank, Meaning::Loss);
    held_out.points().filter_map(move |(step, value)| {
        let near = median(last_of(training?.until(step), FEWEST))?;
        (near > 0.0 && value.is_finite()).then_some((step, value / near))
    })
}

fn is_unchanged(buffer: &Tensor) -> bool {
    let mut pairs = buffer.history.pairs();
    buffer.history.len() >= STILL_STEPS && pairs.all(|(a, b)| b.is_identical(a) == Some(true))
}

/// True if the weights of the layer are trained: a norm that is frozen on purpose keeps its statistics.
fn learns(run: &Run<'_>, buffer: &Tensor) -> bool {
    let weights = ["weight", "gamma"].iter();
    let mut of_layer = weights
        .filter_map(|leaf| run.find(buffer.rank, Class::Weight, &buffer.subject.module, leaf));
    of_layer.any(|w| {
        w.history
            .pairs()
            .any(|(a, b)| b.is_identical(a) == Some(false))
    })
}
