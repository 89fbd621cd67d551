//! The first cause: the hit that explains most of the others.
//!
//! Within a run it is the earliest alarm; within a step it is the worst one, then the first in data-flow order: its
//! inputs were healthy, or they would be hits themselves. A curve that is judged as a whole, such as a plateau, comes
//! last. A fact of the program that explains the alarm comes first: it needs no threshold. Data flow comes from a
//! graph, whose edges also show independent hits; else from the execution order of the layers, else from the order in a
//! printed model, else from the order of recording.

mod advice;
mod edges;

use std::cmp::Reverse;
use std::collections::BTreeMap;

use edges::{Edges, Reach};

use trainscope_api::Sentence;
use trainscope_format::{Severity, digits};

use crate::diagnosis::{Causes, Rule};
use crate::watchpoint::catalogue::answers::{CONSTANT_LOSS, CONSTANT_OUTPUT, LOSS_CONTRADICTION};
use crate::watchpoint::catalogue::gradients::{
    EXPLODING_NORM, GRAD_NORM_ZSCORE, GRADIENT_EXPLODING, GRADIENT_TOO_LARGE, GRADIENT_VANISHING,
};
use crate::watchpoint::catalogue::program::numbers::OPERATION_NOT_FINITE;
use crate::watchpoint::catalogue::results::{
    CONSTANT_ENTROPY, CONSTANT_METRIC, POSTERIOR_COLLAPSE, REWARD_FALLS,
};
use crate::watchpoint::catalogue::scalars::{
    INITIAL_LOSS, LEARNING_RATE_JUMP, LEARNING_RATE_RANGE, LOSS_DIVERGENCE, LOSS_NAN,
    LOSS_OSCILLATION, LOSS_PLATEAU, LOSS_SPIKE, SCALAR_NOT_FINITE, SLOW_CONVERGENCE, UNDERFIT,
};
use crate::watchpoint::catalogue::tensors::{
    CLASS_IMBALANCE, INPUT_RANGE, NEAR_OVERFLOW, TENSOR_ALL_ZERO, TENSOR_OVERFLOW,
};
use crate::watchpoint::catalogue::weights::{
    BAD_INITIALIZATION, FROZEN_BUT_TRAINABLE, WEIGHT_CHANGE_TOO_LARGE, WEIGHT_CHANGE_TOO_SMALL,
    WEIGHT_NOT_CHANGED, WEIGHT_OVERFLOW,
};
use crate::watchpoint::config::Watchpoints;
use crate::watchpoint::model::condition::Condition;
use crate::watchpoint::model::finding::{Cause, FirstCause, Hit};
use crate::watchpoint::model::run::{Flow, Phase, Run};
use crate::watchpoint::model::subject::{Class, Family};

/// Distance in steps of two hits with one cause: an update affects the next step, and a step may not be recorded.
/// Chosen.
const NEAR_STEPS: i64 = 2;

/// Number of finite steps after which initial weights have not caused a NaN. Chosen.
const SOUND_STEPS: i64 = 10;

/// The first cause, if any hit is a warning or an error.
pub(crate) fn first_cause(
    hits: &[Hit],
    flows: &[Flow],
    run: &Run<'_>,
    watchpoints: &Watchpoints,
) -> Option<FirstCause> {
    let placed = || hits.iter().zip(flows).enumerate();
    let is_alarm = |hit: &Hit| hit.severity >= Severity::Warning;
    let first_nan = hits
        .iter()
        .filter(|hit| is_alarm(hit) && is_not_finite(hit));
    let first_nan = first_nan.map(|hit| hit.step).min();
    // Initial weights followed by a number of sound steps are not the cause of a NaN.
    let is_overcome = |hit: &Hit| {
        is(hit, &[&BAD_INITIALIZATION])
            && first_nan.is_some_and(|nan| nan > hit.step.saturating_add(SOUND_STEPS))
    };
    let alarms = placed().filter(|(_, (hit, _))| is_alarm(hit) && !is_overcome(hit));
    // A fault of the program exists from the start, but it is the first cause only if it can cause the rest: see
    // below.
    let earliest = |(_, (hit, flow)): &(usize, (&Hit, &Flow))| {
        (
            is_of_profile(hit),
            is_of_program(hit),
            lateness(hit),
            hit.step,
            Reverse(hit.severity),
            **flow,
            hit.rank,
        )
    };
    let (mut first, (mut hit, mut flow)) = alarms.min_by_key(earliest)?;
    if is_of_profile(hit) {
        return Some(FirstCause {
            hit: first,
            explains: Vec::new(),
            sentence: hit.sentence.clone(),
            advice: hit.condition.text(|prose| prose.advice).into(),
        });
    }
    let edges = Edges::of(run.knowledge);
    // Edges take precedence over a guessed order.
    let others: Vec<usize> = (0..hits.len()).collect();
    if let Some((index, fed_by)) = edges.source(first, &others, hits, flows) {
        (first, hit, flow) = (index, fed_by, &flows[index]);
    }
    // Signals that vanish in the forward pass make gradients vanish in the backward pass: the former hits name the
    // layers at fault.
    let mut vanishing = placed().filter(|(_, (other, _))| {
        let is_vanishing = is(other, &[&GRADIENT_VANISHING]);
        is_vanishing && other.severity >= Severity::Warning && other.step <= hit.step
    });
    if let Some((index, (other, _))) = vanishing.next().filter(|_| is(hit, &[&CONSTANT_OUTPUT])) {
        (first, hit, flow) = (index, other, &flows[index]);
    }
    // An update far beyond the size of a bias is the effect of an input that jumped at the same time.
    let jumped_input = placed().find(|(_, (other, _))| {
        let near = hit.step.saturating_sub(NEAR_STEPS)..=hit.step.saturating_add(NEAR_STEPS);
        is(other, &[&INPUT_RANGE])
            && other.severity >= Severity::Warning
            && near.contains(&other.step)
    });
    if let Some((index, (jump, _))) = jumped_input.filter(|_| is_update_of_offset(hit, run)) {
        (first, hit) = (index, jump);
        flow = &flows[index];
    }
    // Nothing passes a layer whose only ReLU unit is negative, whatever the size of the inputs.
    let blocked = placed().find(|(_, (other, _))| {
        is(hit, &[&INPUT_RANGE]) && other.step <= hit.step && is_bottleneck(other, run)
    });
    if let Some((index, (bottleneck, _))) = blocked {
        (first, hit, flow) = (index, bottleneck, &flows[index]);
    }
    if let Some((index, rate)) = learning_rate_before(hit, *flow, hits) {
        (first, hit) = (index, rate);
    }
    let has_sound_numbers = !hits
        .iter()
        .any(|other| is_alarm(other) && is_about_not_finite(other));
    let explains = |fault: &Hit| match fault.condition.rule.map(Rule::causes) {
        Some(Causes::Everything) => may_follow(hit, *flow, fault),
        // The logarithm of a number outside of 0 to 1 is NaN or infinite.
        Some(Causes::NoProgress) => {
            !is_about_not_finite(hit) || fault.severity == Severity::Error && flow.0 >= Phase::Loss
        }
        Some(Causes::NotFinite) => makes_not_finite(fault, hit, run),
        // An exception may be raised because of NaN.
        Some(Causes::End) => has_sound_numbers,
        Some(Causes::Nothing) | None => false,
    };
    let program = placed().filter(|(_, (fault, _))| is_alarm(fault) && explains(fault));
    let order = |(_, (fault, _)): &(usize, (&Hit, &Flow))| {
        let rule = fault.condition.rule.map_or(usize::MAX, Rule::place);
        (rule, Reverse(fault.severity), fault.step, fault.rank)
    };
    if let Some((index, (fault, _))) = program.min_by_key(order) {
        (first, hit) = (index, fault);
    }
    let reach = Reach::of(&edges, hit, flows[first]);
    let explains: Vec<usize> = placed()
        .filter(|(index, (other, other_flow))| {
            *index != first
                && other.severity >= Severity::Warning
                && !is_of_profile(other)
                && reach.holds(other, **other_flow)
        })
        .map(|(index, _)| index)
        .collect();
    Some(FirstCause {
        hit: first,
        sentence: sentence(hit, flows[first], run, &edges, explains.len()),
        explains,
        advice: advice::advice(hit, hits, run, watchpoints),
    })
}

/// The first cause in each step of each rank with a warning or an error: of the worst hits the first in data-flow
/// order, or a hit in its inputs.
pub(crate) fn causes(hits: &[Hit], flows: &[Flow], run: &Run<'_>) -> Vec<Cause> {
    let edges = Edges::of(run.knowledge);
    let mut alarms: BTreeMap<(i64, u32), Vec<usize>> = BTreeMap::new();
    for (index, hit) in hits.iter().enumerate() {
        if hit.severity >= Severity::Warning && !is_of_profile(hit) {
            alarms.entry((hit.step, hit.rank)).or_default().push(index);
        }
    }
    let cause = |alarms: &Vec<usize>| {
        let worst = |&&index: &&usize| {
            let hit = &hits[index];
            let is_late = is_of_program(hit) && !is(hit, &[&OPERATION_NOT_FINITE]);
            (is_late, lateness(hit), Reverse(hit.severity), flows[index])
        };
        let mut first = *alarms.iter().min_by_key(worst)?;
        if let Some((index, _)) = edges.source(first, alarms, hits, flows) {
            first = index;
        }
        let hit = &hits[first];
        let explains: Vec<usize> = if alarms.len() > 1 {
            let reach = Reach::of(&edges, hit, flows[first]);
            let follows =
                |&index: &usize| index != first && reach.holds(&hits[index], flows[index]);
            alarms.iter().copied().filter(follows).collect()
        } else {
            Vec::new()
        };
        Some(Cause {
            hit: first,
            sentence: sentence(hit, flows[first], run, &edges, explains.len()),
            explains,
        })
    };
    alarms.values().filter_map(cause).collect()
}

/// The learning rate hit that explains this hit, if any. A learning rate alone does no harm, so this is the only rule
/// that decides it.
fn learning_rate_before<'h>(hit: &Hit, flow: Flow, hits: &'h [Hit]) -> Option<(usize, &'h Hit)> {
    // Data and initial weights do not depend on the learning rate.
    let is_given = is(
        hit,
        &[
            &INPUT_RANGE,
            &CLASS_IMBALANCE,
            &BAD_INITIALIZATION,
            &INITIAL_LOSS,
        ],
    );
    let stands_still = is(
        hit,
        &[
            &LOSS_PLATEAU,
            &WEIGHT_NOT_CHANGED,
            &FROZEN_BUT_TRAINABLE,
            &WEIGHT_CHANGE_TOO_SMALL,
            &GRADIENT_VANISHING,
        ],
    );
    let jumped = |rate: &Hit| {
        let near = hit.step.saturating_sub(NEAR_STEPS)..=hit.step;
        is(rate, &[&LEARNING_RATE_JUMP]) && near.contains(&rate.step)
    };
    let is_implausible = |rate: &Hit| {
        is(rate, &[&LEARNING_RATE_RANGE])
            && rate.severity >= Severity::Warning
            && (rate.step <= hit.step || stands_still)
    };
    let find = |is_it: &dyn Fn(&Hit) -> bool| {
        let mut all = hits.iter().enumerate();
        all.find(|(_, rate)| is_it(rate) && !is_given && may_follow(hit, flow, rate))
    };
    find(&jumped).or_else(|| find(&is_implausible))
}

/// True if the training may have caused a hit after a step. An overflow in a batch existed before, and so did one in a
/// weight before its update.
fn may_follow(hit: &Hit, flow: Flow, cause: &Hit) -> bool {
    !is_overflow(hit) || flow.0 > Phase::Inputs || flow.0 == Phase::State && hit.step > cause.step
}

fn is(hit: &Hit, conditions: &[&Condition]) -> bool {
    conditions.contains(&hit.condition)
}

fn is_update_of_offset(hit: &Hit, run: &Run<'_>) -> bool {
    let mut tensors = run.tensors.iter();
    is(hit, &[&WEIGHT_CHANGE_TOO_LARGE])
        && tensors.any(|t| t.name == hit.tensor && t.subject.is_vector())
}

/// True for a hidden layer of one `ReLU` unit that is zero for every sample. If all inputs have one sign, it begins
/// like this with a probability of 1/2, and without a gradient it stays so.
fn is_bottleneck(hit: &Hit, run: &Run<'_>) -> bool {
    let layers = || run.of_class(hit.rank, Class::Activation);
    let bottleneck = layers().find(|layer| layer.name == hit.tensor);
    bottleneck.is_some_and(|bottleneck| {
        is(hit, &[&TENSOR_ALL_ZERO])
            && hit.severity >= Severity::Warning
            && run.family(bottleneck) == Family::Relu
            && bottleneck.shape.len() > 1
            && bottleneck.shape.last() == Some(&1)
            && layers().any(|layer| run.flow(layer) > run.flow(bottleneck))
    })
}

fn is_overflow(hit: &Hit) -> bool {
    is(
        hit,
        &[&TENSOR_OVERFLOW, &WEIGHT_OVERFLOW, &GRADIENT_EXPLODING],
    )
}

/// True for a hit about NaN or infinities.
fn is_not_finite(hit: &Hit) -> bool {
    is_overflow(hit) || is(hit, &[&LOSS_NAN])
}

/// True for a hit about NaN or infinities, that of the operation that makes them included.
fn is_about_not_finite(hit: &Hit) -> bool {
    is_not_finite(hit) || is(hit, &[&SCALAR_NOT_FINITE, &OPERATION_NOT_FINITE])
}

/// True if the operation of a fact explains a hit: NaN and infinities, and anything after it. An operation with inputs
/// outside of its domain needs no other cause. An operation that overflows may be the end of a growth that was seen
/// before.
fn makes_not_finite(operation: &Hit, hit: &Hit, run: &Run<'_>) -> bool {
    let mut remarks = run.remarks.iter();
    let is_of_domain = remarks.any(|remark| {
        remark.rule == Rule::OperationNotFinite
            && remark.places > 0
            && remark.object == *operation.tensor
    });
    let grew = hit.step < operation.step
        && is(
            hit,
            &[
                &EXPLODING_NORM,
                &GRAD_NORM_ZSCORE,
                &GRADIENT_TOO_LARGE,
                &WEIGHT_CHANGE_TOO_LARGE,
                &LOSS_DIVERGENCE,
                &LOSS_SPIKE,
                &NEAR_OVERFLOW,
                &INPUT_RANGE,
                &LEARNING_RATE_JUMP,
                &LEARNING_RATE_RANGE,
            ],
        );
    is_of_domain || !grew
}

/// Place among alarms, whatever their steps: a curve that is judged as a whole is dated to its first point, and follows
/// from any other alarm. A loss that does not fall comes last.
fn lateness(hit: &Hit) -> u8 {
    if is(
        hit,
        &[
            &LOSS_PLATEAU,
            &SLOW_CONVERGENCE,
            &LOSS_OSCILLATION,
            &UNDERFIT,
        ],
    ) {
        2
    } else {
        u8::from(is(
            hit,
            &[
                &CONSTANT_LOSS,
                &CONSTANT_METRIC,
                &CONSTANT_ENTROPY,
                &LOSS_CONTRADICTION,
                &REWARD_FALLS,
                &POSTERIOR_COLLAPSE,
            ],
        ))
    }
}

/// True for a hit about the program itself, not about its results.
fn is_of_program(hit: &Hit) -> bool {
    hit.condition.rule.is_some()
}

/// True for a hit about the time or memory that a training takes: it neither causes nor follows from others.
fn is_of_profile(hit: &Hit) -> bool {
    hit.condition.profile_rule.is_some()
}

/// Sentence of a first cause: the finding, its inputs, and the number of hits that follow.
fn sentence(hit: &Hit, flow: Flow, run: &Run<'_>, edges: &Edges<'_>, explained: usize) -> Sentence {
    let mut said = hit.sentence.clone();
    if let Some(source) = &hit.source {
        let place = format!("{}:{}", source.file, source.line);
        if !said.en.contains(&place) {
            let (en, zh) = (format!(" ({place})"), format!("（{place}）"));
            said.en.push_str(&en);
            said.zh.push_str(&zh);
        }
    }
    if is_overflow(hit) && are_inputs_finite(hit, flow, run, edges) {
        said.en.push_str("; all of its inputs are finite");
        said.zh.push_str("；其全部输入都是有限值");
    } else if is_overflow(hit) && is_all_finite_before(hit, flow, run) {
        said.en
            .push_str("; all earlier tensors of this step are finite");
        said.zh.push_str("；该迭代中此前的张量都是有限值");
    }
    let (en, zh) = match explained {
        0 => (String::new(), String::new()),
        1 => (
            "; 1 later hit follows".to_owned(),
            "；后续 1 个命中由此引起".to_owned(),
        ),
        more => (
            format!("; {} later hits follow", digits::count(more as u64)),
            format!("；后续 {} 个命中由此引起", digits::count(more as u64)),
        ),
    };
    said.en.push_str(&en);
    said.zh.push_str(&zh);
    said
}

/// True if, along the edges of a graph, all recorded inputs of the tensor were finite and there is at least one.
fn are_inputs_finite(hit: &Hit, flow: Flow, run: &Run<'_>, edges: &Edges<'_>) -> bool {
    if flow.0 != Phase::Forward {
        return false;
    }
    let inputs: Vec<&str> = edges.inputs(hit).collect();
    let of_inputs = run.tensors.iter().filter(|t| {
        let is_output = run.flow(t).0 <= Phase::Forward;
        is_output && t.rank == hit.rank && inputs.contains(&&*t.subject.module)
    });
    let mut seen = of_inputs.filter_map(|t| t.history.at(hit.step)).peekable();
    seen.peek().is_some() && seen.all(|d| !d.has_nan && !d.has_pos_inf)
}

fn is_all_finite_before(hit: &Hit, flow: Flow, run: &Run<'_>) -> bool {
    let of_rank = run.tensors.iter().filter(|t| t.rank == hit.rank);
    let mut before = of_rank
        .filter(|t| run.flow(t) < flow)
        .filter_map(|t| t.history.at(hit.step))
        .peekable();
    before.peek().is_some() && before.all(|d| !d.has_nan && !d.has_pos_inf)
}
