//! Limits of half precision: overflow, underflow, and loss scales that do not settle.

use trainscope_api::Sentence;
use trainscope_format::Severity;
use trainscope_format::tensor::DType;

use super::{Evidence, FormulaInput, Judgement, Limits, Verdict, any_of, by_formula, not_finite};
use crate::watchpoint::model::condition::Watchpoint;
use crate::watchpoint::model::key::Key;
use crate::watchpoint::model::new_hit::{NewHit, percent, warning_if};
use crate::watchpoint::model::run::{Flow, Phase, Run};
use crate::watchpoint::model::scalars::Meaning;
use crate::watchpoint::model::subject::Class;

/// A loss scale is known before a step.
const SCALE_FLOW: Flow = (Phase::Backward, i64::MIN);

/// Limit: the share of the type's largest number above which max |x| is too close to it. A minimum or maximum that is
/// exactly the type's lowest or largest number was written as a mask or a start value (`torch.finfo(dtype).min`), not
/// computed: the other one is judged alone.
pub(crate) fn near_overflow(limits: &Limits, seen: &FormulaInput<'_>) -> Verdict {
    if let Some(missing) = not_finite(seen.digest) {
        return Verdict::Inconclusive(missing);
    }
    let Some(largest) = largest(seen.now.summary.dtype) else {
        return Verdict::Pass;
    };
    let size = |extreme: f64| {
        let is_written = extreme.abs().to_bits() == largest.to_bits();
        if is_written { 0.0 } else { extreme.abs() }
    };
    let share = size(seen.digest.min).max(size(seen.digest.max)) / largest;
    any_of([(Key::ShareGt, share, limits.is_above(Key::ShareGt, share))])
}

/// Largest finite numbers of IEEE 754 binary16 and of bfloat16: (2 − 2^-10) · 2^15 and (2 − 2^-7) · 2^127.
const F16_MAX: f64 = 65_504.0;
const BF16_MAX: f64 = 3.389_531_389_251_535_5e38;

/// The largest number of a type that has infinities or NaN beyond it. Eight-bit floats come with a scale, chosen so
/// that their largest element is the type's (NVIDIA's Transformer Engine, delayed scaling): they are not judged.
fn largest(dtype: DType) -> Option<f64> {
    Some(match dtype {
        DType::F16 => F16_MAX,
        DType::Bf16 => BF16_MAX,
        DType::F32 => f64::from(f32::MAX),
        DType::F64 => f64::MAX,
        _ => return None,
    })
}

/// The name of a floating-point type as frameworks print it.
fn written(dtype: DType) -> &'static str {
    match dtype {
        DType::F16 => "fp16",
        DType::Bf16 => "bf16",
        DType::F8E4m3 | DType::F8E5m2 => "fp8",
        DType::F64 => "fp64",
        _ => "fp32",
    }
}

/// Gradients of a scaled loss are supposed to come close.
pub(crate) fn near_overflow_judge(run: &Run<'_>, index: u32, watchpoint: &Watchpoint) -> Judgement {
    let mut judged = by_formula(run, index, watchpoint);
    judged.missing.clear();
    let scaled = |rank| run.scalar(rank, Meaning::LossScale).is_some();
    let tensors = run
        .memories(index)
        .flat_map(|(t, episodes, _)| episodes.iter().map(move |_| t));
    for (found, tensor) in judged.found.iter_mut().zip(tensors) {
        let class = tensor.subject.class;
        let is_gradient = matches!(class, Class::Gradient | Class::ActivationGradient);
        if is_gradient && scaled(tensor.rank) {
            found.severity = Some(Severity::Info);
        }
        let (name, share) = (
            &tensor.name,
            percent(found.evidence.get(Key::ShareGt).unwrap_or(f64::NAN)),
        );
        let dtype = written(tensor.dtype);
        found.sentence = Some(Sentence {
            en: format!("{name}: max |x| is {share} of the {dtype} maximum"),
            zh: format!("{name}：max |x| 达到 {dtype} 最大值的 {share}"),
        });
    }
    judged
}

/// Limit: the share of non-zero elements below the smallest normal number; gradients in half precision.
pub(crate) fn underflow(limits: &Limits, seen: &FormulaInput<'_>) -> Verdict {
    if seen.now.summary.dtype != DType::F16 {
        return Verdict::Pass;
    }
    if let Some(missing) = not_finite(seen.digest) {
        return Verdict::Inconclusive(missing);
    }
    let share = f64::from(seen.digest.subnormal_share);
    any_of([(Key::ShareGt, share, limits.is_above(Key::ShareGt, share))])
}

/// Share of underflowing elements above which gradients of a model that does not learn are a fault. Chosen.
const BAD_SHARE: f64 = 0.2;

/// The same over all gradients of a rank together, at a number of consecutive steps: a single gradient is
/// insignificant. A warning above [`BAD_SHARE`], unless the loss has become small, which makes gradients small too.
pub(crate) fn underflow_judge(run: &Run<'_>, _: u32, watchpoint: &Watchpoint) -> Judgement {
    let limit = watchpoint.limits.value(Key::ShareGt);
    let mut found = Vec::new();
    for &rank in &run.ranks {
        let of_rank = || {
            let all = watchpoint.tensors_of(run).filter(move |t| t.rank == rank);
            all.filter(|t| t.dtype == DType::F16 && t.subject.class == Class::Gradient)
        };
        let mut streak: Option<(i64, i64, f64, u32)> = None;
        let mut done = None;
        for step in run.steps.iter() {
            let digests = of_rank()
                .filter_map(|t| t.history.at(step))
                .filter(|d| d.is_finite());
            let (mut lost, mut all) = (0.0, 0.0);
            for digest in digests {
                let count = digest.count as f64 * (1.0 - f64::from(digest.zero_share));
                lost += count * f64::from(digest.subnormal_share);
                all += count;
            }
            if all <= 0.0 {
                continue;
            }
            let share: f64 = lost / all;
            if share <= limit {
                streak = None;
                continue;
            }
            let open = streak.get_or_insert((step, step, share, 0));
            open.1 = step;
            open.2 = open.2.max(share);
            open.3 += 1;
            if open.3 >= watchpoint.patience {
                done = Some(*open);
            }
        }
        let worst = done.and_then(|(first, last, share, _)| {
            let at_first = |t: &&_| share_at(t, first);
            let all = of_rank().filter(|t| share_at(t, first) > 0.0);
            let tensor = all.max_by(|a, b| at_first(a).total_cmp(&at_first(b)))?;
            Some((tensor, first, last, share))
        });
        let Some((tensor, first, last, share)) = worst else {
            continue;
        };
        let learns = run.loss(rank).is_some_and(|l| l.has_learned());
        let severity = warning_if(share > BAD_SHARE && !learns);
        let hit = NewHit::at(run, tensor, first, (Key::ShareGt, share)).until(last);
        let share = percent(share);
        found.push(hit.called(severity).saying(
            format!("{share} of the nonzero fp16 gradients underflow (below 2^-14)"),
            format!("{share} 的非零 fp16 梯度下溢（小于 2^-14）"),
        ));
    }
    found.into()
}

fn share_at(tensor: &crate::watchpoint::model::tensor::Tensor, step: i64) -> f64 {
    tensor
        .history
        .at(step)
        .map_or(0.0, |d| f64::from(d.subnormal_share))
}

/// A loss scale that does not settle: first and last step, and number of falls.
pub(crate) struct Thrash {
    first: i64,
    last: i64,
    falls: usize,
}

/// Number of falls after a rise that are too many within a number of points. Chosen: dynamic scaling tries a larger
/// scale every 2,000 steps (`GradScaler` of `PyTorch`).
const AGAIN_FALLS: usize = 3;
const AGAIN_POINTS: usize = 50;
/// Number of falls of a scale that falls at most points. Chosen: 2^16 is the usual first scale, and gradients of fp16
/// rarely need less than 2^8.
const ENDLESS_FALLS: usize = 8;
/// Scale below which gradients are made smaller, and the number of falls to it. Chosen.
const SPENT: f64 = 1.0;
const SPENT_FALLS: usize = 3;

/// A loss scale is found from above: it falls until it fits, and then grows slowly. It does not settle if it falls
/// repeatedly after it has risen or held, or never stops falling.
pub(crate) fn thrash(run: &Run<'_>, rank: u32) -> Option<Thrash> {
    let scale = run.scalar(rank, Meaning::LossScale)?;
    let points: Vec<(i64, f64)> = scale.points().collect();
    let falls: Vec<usize> = (1..points.len())
        .filter(|i| points[*i].1 < points[i - 1].1)
        .collect();
    // The search at the beginning: nothing but falls, with a few steps in between.
    let risen = (1..points.len()).find(|i| points[*i].1 > points[i - 1].1);
    let again: Vec<usize> = match risen {
        Some(risen) => falls.iter().copied().filter(|i| *i > risen).collect(),
        None => Vec::new(),
    };
    let of = |indices: &[usize]| {
        let (first, last) = (*indices.first()?, *indices.last()?);
        Some(Thrash {
            first: points[first].0,
            last: points[last].0,
            falls: indices.len(),
        })
    };
    let is_often = again
        .windows(AGAIN_FALLS)
        .any(|w| w[AGAIN_FALLS - 1] - w[0] <= AGAIN_POINTS);
    if is_often {
        return of(&again);
    }
    let never_stops = falls.len() >= ENDLESS_FALLS && falls.len() * 2 >= points.len() - 1;
    let is_spent = points.last().is_some_and(|p| p.1 < SPENT) && falls.len() >= SPENT_FALLS;
    (never_stops || is_spent).then(|| of(&falls)).flatten()
}

/// Loss scales that do not settle.
pub(crate) fn thrash_judge(run: &Run<'_>, _: u32, _: &Watchpoint) -> Judgement {
    let mut found = Vec::new();
    for series in run.scalars(Meaning::LossScale) {
        let Some(thrash) = thrash(run, series.rank) else {
            continue;
        };
        let evidence = Evidence::of(Key::Count, thrash.falls as f64);
        let hit = NewHit::of_scalar(series, thrash.first, SCALE_FLOW, evidence);
        let (tag, falls) = (&series.tag, thrash.falls);
        found.push(hit.until(thrash.last).called(Severity::Warning).saying(
            format!("{tag} is unstable: it fell {falls} times, and each time a step was skipped"),
            format!("{tag} 不稳定：下降了 {falls} 次，每次都会跳过一个迭代"),
        ));
    }
    found.into()
}
