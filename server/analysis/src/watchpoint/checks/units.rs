//! Units without information: dead, saturated, or attending to a single key.

use std::cell::LazyCell;
use std::collections::BTreeMap;

use trainscope_format::Severity;

use super::{Evidence, Judgement};
use crate::watchpoint::model::condition::Watchpoint;
use crate::watchpoint::model::history::Digest;
use crate::watchpoint::model::key::Key;
use crate::watchpoint::model::missing::Missing;
use crate::watchpoint::model::new_hit::{NewHit, number, percent, warning_if};
use crate::watchpoint::model::run::{Flow, HIGH_SHARE, Run, high_level};
use crate::watchpoint::model::subject::{Class, Family};
use crate::watchpoint::model::tensor::Tensor;

/// Share of zeros of a layer that was alive at its first record. Chosen: half of the elements of a `ReLU` are zero with
/// the usual initialization.
const ALIVE_ZEROS: f32 = 0.7;
/// Mean input of a `ReLU` that is far below zero: its units are negative for all samples. Chosen.
const FAR_BELOW: f64 = -1.0;
/// Mean slope that counts as none. Chosen.
const NO_SLOPE: f64 = 1e-3;
/// Multiple of the limit of the slope above which a layer was well. Chosen.
const GOOD_SLOPE: f64 = 4.0;
/// Minimum number of keys of an attention: with two, one of them may well get all.
const MIN_KEYS: u64 = 3;
/// Concentration above which extreme logits collapse an attention: two equal keys get half each.
const TWO_KEYS: f64 = 0.5;

/// `ReLU` layers with most units at zero for every sample, at a number of consecutive steps, until the end.
pub(crate) fn dead(run: &Run<'_>, _: u32, watchpoint: &Watchpoint) -> Judgement {
    let units_limit = watchpoint.limits.value(Key::UnitsGt);
    let zeros_limit = watchpoint.limits.value(Key::ZerosGt);
    let outputs = LazyCell::new(|| Outputs::of(run));
    let mut judged = Judgement::default();
    for layer in layers(run, watchpoint, |family| family == Family::Relu) {
        let knows_units = layer.history.iter().any(|d| !d.idle_units.is_nan());
        let share = |d: &Digest| {
            if knows_units {
                f64::from(d.idle_units)
            } else {
                f64::from(d.zero_share)
            }
        };
        let (key, limit) = if knows_units {
            (Key::UnitsGt, units_limit)
        } else {
            (Key::ZerosGt, zeros_limit)
        };
        let Some((first, last)) = final_stretch(layer, watchpoint.patience, |d| share(d) > limit)
        else {
            if !knows_units {
                let first = layer.history.first().map_or(0, |d| d.step);
                let why = (Missing::NoChannels, first, layer.history.seen);
                judged.missing.push((layer.rank, layer.name.clone(), why));
            }
            continue;
        };
        let dead = percent(share(first));
        // In a deep and narrow model many units are silent from the start, which is harmless.
        let is_whole = share(first) >= 1.0;
        let was_alive = layer
            .history
            .first()
            .is_some_and(|d| d.zero_share < ALIVE_ZEROS);
        let is_far = outputs
            .before(run, layer)
            .and_then(|t| t.history.at(first.step))
            .is_some_and(|d| d.mean < FAR_BELOW);
        let is_bad = is_whole || was_alive || is_far;
        let severity = if is_bad {
            watchpoint.severity
        } else {
            Severity::Info
        };
        let evidence = Evidence::of(key, share(first));
        let hit = NewHit::at(run, layer, first.step, evidence).until(last);
        let (hit, name, dead) = (hit.called(severity), &layer.name, dead);
        judged.found.push(hit.saying(
            format!("{dead} of the units of {name} output 0 for every sample"),
            format!("{name} 中 {dead} 的单元对所有样本都输出 0"),
        ));
    }
    judged
}

/// Hidden tanh and sigmoid layers with most units at the ends, where the slope is next to nothing.
pub(crate) fn saturated(run: &Run<'_>, _: u32, watchpoint: &Watchpoint) -> Judgement {
    let units_limit = watchpoint.limits.value(Key::UnitsGt);
    let slope_limit = watchpoint.limits.value(Key::SlopeLt);
    let outputs = LazyCell::new(|| Outputs::of(run));
    let mut found = Vec::new();
    for layer in layers(run, watchpoint, |f| {
        matches!(f, Family::Tanh | Family::Sigmoid)
    }) {
        if outputs.is_last(run, layer) {
            continue;
        }
        let slope = |d: &Digest| mean_slope(d, run.family(layer));
        let is_stuck =
            |d: &Digest| f64::from(d.stuck_units) > units_limit || slope(d) < slope_limit;
        let Some((first, last)) = final_stretch(layer, watchpoint.patience, is_stuck) else {
            continue;
        };
        let learns = run.loss(layer.rank).is_some_and(|l| l.has_learned());
        // Learning saturates units gradually; units saturated at the beginning, or suddenly, were put there.
        let before = || layer.history.iter().take_while(|d| d.step < first.step);
        let is_good = |d: &Digest| slope(d) > GOOD_SLOPE * slope_limit;
        let is_sudden = match before().last() {
            Some(last) if is_good(last) => true,
            _ => {
                let begins = run.loss(layer.rank);
                let begins =
                    begins.is_some_and(|l| l.initial > HIGH_SHARE * high_level(run, l.series));
                begins && !before().any(is_good)
            }
        };
        let is_bad = slope(first) < NO_SLOPE || !learns || is_sudden;
        let severity = warning_if(is_bad);
        let is_flat = slope(first) < slope_limit;
        let stuck = f64::from(first.stuck_units);
        let evidence = if is_flat {
            Evidence::of(Key::SlopeLt, slope(first))
        } else {
            Evidence::of(Key::UnitsGt, stuck)
        };
        let hit = NewHit::at(run, layer, first.step, evidence).until(last);
        let (name, left, stuck) = (&layer.name, percent(slope(first)), percent(stuck));
        found.push(hit.called(severity).saying(
            if is_flat {
                format!("{name} is saturated: mean slope is {left} of the maximum")
            } else {
                format!("{name} is saturated: {stuck} of its units")
            },
            if is_flat {
                format!("{name} 已饱和：平均斜率为最大斜率的 {left}")
            } else {
                format!("{name} 已饱和：占其单元的 {stuck}")
            },
        ));
    }
    found.into()
}

/// Attention in which each query attends to one key only: the mean of the squared weights, summed over keys, is close
/// to 1.
pub(crate) fn collapsed_attention(run: &Run<'_>, _: u32, watchpoint: &Watchpoint) -> Judgement {
    let limit = watchpoint.limits.value(Key::ConcentrationGt);
    let logit_limit = watchpoint.limits.value(Key::LogitGt);
    let outputs = LazyCell::new(|| Outputs::of(run));
    let mut found = Vec::new();
    for layer in layers(run, watchpoint, |family| family == Family::Softmax) {
        let keys = layer.shape.last().copied().unwrap_or(0);
        if keys < MIN_KEYS || outputs.is_last(run, layer) {
            continue;
        }
        let logits = outputs.before(run, layer);
        let is_extreme = |d: &Digest| {
            let before = logits.and_then(|t| t.history.at(d.step));
            before.is_some_and(|l| l.is_finite() && l.max > logit_limit)
                && concentration(d) > TWO_KEYS
        };
        let is_one = |d: &Digest| concentration(d) > limit || is_extreme(d);
        let Some((first, last)) = final_stretch(layer, watchpoint.patience, is_one) else {
            continue;
        };
        let value = concentration(first);
        let largest = logits.and_then(|t| t.history.at(first.step)).map(|l| l.max);
        let evidence = match largest {
            Some(largest) if value <= limit => Evidence::of(Key::LogitGt, largest),
            _ => Evidence::of(Key::ConcentrationGt, value),
        };
        let hit = NewHit::at(run, layer, first.step, evidence).until(last);
        let (name, value) = (&layer.name, number(value));
        found.push(hit.called(Severity::Warning).saying(
            format!("{name} collapses: attention concentration {value} (1 = a single key)"),
            format!("{name} 的注意力坍缩：集中度 {value}（1 表示只关注一个键）"),
        ));
    }
    found.into()
}

/// A tensor with its position in a step.
type LayerPlaces<'a> = (Flow, &'a Tensor);

/// Outputs of layers in the order of their computation, by rank and shape: a table of dumps may have 100,000 layers to
/// judge.
struct Outputs<'a> {
    by_shape: BTreeMap<(u32, &'a [u64]), Vec<LayerPlaces<'a>>>,
    /// Position of the last layer with weights of each rank.
    last_weights: BTreeMap<u32, Flow>,
}

impl<'a> Outputs<'a> {
    fn of(run: &Run<'a>) -> Self {
        let mut outputs = Self {
            by_shape: BTreeMap::new(),
            last_weights: BTreeMap::new(),
        };
        for &rank in &run.ranks {
            for tensor in run.of_class(rank, Class::Activation) {
                let flow = run.flow(tensor);
                let alike = outputs.by_shape.entry((rank, &*tensor.shape)).or_default();
                alike.push((flow, tensor));
                let layer = &tensor.subject.module;
                if run.find(rank, Class::Weight, layer, "weight").is_some()
                    || run.family(tensor) == Family::Linear
                {
                    let last = outputs.last_weights.entry(rank).or_insert(flow);
                    *last = flow.max(*last);
                }
            }
        }
        for alike in outputs.by_shape.values_mut() {
            alike.sort_by_key(|(flow, _)| *flow);
        }
        outputs
    }

    /// The output computed right before a tensor with its shape: the input of a softmax or `ReLU`.
    fn before(&self, run: &Run<'_>, tensor: &Tensor) -> Option<&'a Tensor> {
        let alike = self.by_shape.get(&(tensor.rank, &*tensor.shape))?;
        let flow = run.flow(tensor);
        let before = alike.partition_point(|(other, _)| *other < flow);
        Some(alike.get(before.checked_sub(1)?)?.1)
    }

    /// True if no layer with weights follows: its output is that of the model, and may be certain.
    fn is_last(&self, run: &Run<'_>, layer: &Tensor) -> bool {
        let last = self.last_weights.get(&layer.rank);
        last.is_none_or(|last| *last <= run.flow(layer))
    }
}

fn layers<'a>(
    run: &'a Run<'a>,
    watchpoint: &'a Watchpoint,
    is_it: impl Fn(Family) -> bool + 'a,
) -> impl Iterator<Item = &'a Tensor> {
    let all = watchpoint.tensors_of(run);
    all.filter(move |t| t.subject.class == Class::Activation && is_it(run.family(t)))
}

/// The longest run of matching observations at the end, if it is long enough: its first digest and last step.
fn final_stretch(
    tensor: &Tensor,
    patience: u32,
    holds: impl Fn(&Digest) -> bool,
) -> Option<(&Digest, i64)> {
    let mut first = None;
    let mut steps = 0;
    for digest in tensor.history.iter() {
        if digest.is_finite() && holds(digest) {
            first.get_or_insert(digest);
            steps += 1;
        } else if digest.is_finite() {
            first = None;
            steps = 0;
        }
    }
    let last = tensor.history.last()?.step;
    first
        .filter(|_| steps >= patience)
        .map(|first| (first, last))
}

/// Largest derivative of the logistic function: ¼ at 0, where that of tanh is 1.
const LOGISTIC_SLOPE: f64 = 0.25;

/// The mean derivative divided by the largest one: 1 − y² of tanh, y − y² of the logistic function.
fn mean_slope(digest: &Digest, family: Family) -> f64 {
    let square = digest.l2 * digest.l2 / digest.count.max(1) as f64;
    match family {
        Family::Tanh => 1.0 - square,
        _ => (digest.mean - square) / LOGISTIC_SLOPE,
    }
}

/// Mean over distributions of the sum of squares. 1 if all of each is in one place.
fn concentration(digest: &Digest) -> f64 {
    let total = digest.mean * digest.count as f64;
    if total > 0.0 {
        digest.l2 * digest.l2 / total
    } else {
        0.0
    }
}
