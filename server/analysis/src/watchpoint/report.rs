//! Report: turns the results of watchpoints into ordered findings with sentences and first causes.

use std::collections::BTreeMap;
use std::sync::Arc;

use trainscope_api::Sentence;
use trainscope_api::findings::Coverage;
use trainscope_format::Severity;
use trainscope_format::float::Float;

use super::catalogue::activations::{DEAD_RELU, SATURATED_ACTIVATION};
use super::catalogue::scalars::SCALAR_NOT_FINITE;
use super::catalogue::tensors::{INPUT_RANGE, NEAR_OVERFLOW, TENSOR_ALL_ZERO};
use super::checks::{judge, profile};
use super::config::Watchpoints;
use super::first_cause;
use super::histograms;
use super::model::condition::{Condition, Watchpoint};
use super::model::finding::{Figures, Findings, FirstCause, Hit, Inconclusive};
use super::model::key::Key;
use super::model::new_hit::NewHit;
use super::model::profile::Outcome;
use super::model::run::{Flow, Phase, Run};
use super::model::subject::{Class, Target};
use super::model::tensor::Tensor;
use crate::diagnosis::State;

pub(crate) fn findings(watchpoints: &Watchpoints, run: &Run<'_>) -> Findings {
    let mut hits: Vec<(Flow, Hit)> = Vec::new();
    let mut inconclusive = Vec::new();
    for (index, watchpoint) in (0..).zip(watchpoints.all()).filter(|(_, w)| w.on) {
        let mut judged = judge(run, index, watchpoint);
        histograms::judge(run, index, watchpoint, &mut judged);

        hits.extend(judged.found.into_iter().map(|found| {
            let flow = found.flow;
            (flow, told(index, watchpoint, found))
        }));
        inconclusive.extend(judged.missing.into_iter().map(
            |(rank, tensor, (reason, step, steps))| Inconclusive {
                condition: watchpoint.condition,
                watchpoint: index,
                rank,
                step,
                tensor,
                reason,
                steps,
            },
        ));
    }
    raise_inputs(run, watchpoints, &mut hits);
    drop_repeated(&mut hits);
    let order =
        |(flow, hit): &(Flow, Hit)| (hit.step, *flow, std::cmp::Reverse(hit.severity), hit.rank);
    let gain = |hit: &Hit| hit.values.of(Key::GainSecs).unwrap_or(0.0);
    hits.sort_by(|a, b| {
        order(a)
            .cmp(&order(b))
            .then_with(|| gain(&b.1).total_cmp(&gain(&a.1)))
            .then_with(|| a.1.tensor.cmp(&b.1.tensor))
    });
    let (flows, mut hits): (Vec<Flow>, Vec<Hit>) = hits.into_iter().unzip();
    let (series, others) = run.scalar_counts();
    let is_without_data = |index: u32, watchpoint: &Watchpoint| match watchpoint.condition.target {
        Target::Scalar if watchpoint.condition.is_of_any_scalar() => series + others == 0,
        Target::Scalar => !has_scalar_of(run, watchpoint),
        Target::Run => !has_data_of(run, watchpoint),
        Target::Profile => profile::outcomes(run, index, watchpoint).next().is_none(),
        Target::Tensor | Target::Weight | Target::Gradient | Target::Activation => {
            let mut histograms = run.histograms.iter();
            let reads = |tensor: &Tensor| {
                watchpoint.condition.reads_histograms
                    && watchpoint.watches(&tensor.name, &tensor.subject)
            };
            watchpoint.tensors_of(run).next().is_none() && !histograms.any(reads)
        }
    };
    let without_data = (0..).zip(watchpoints.all());
    let has_hit = |index: u32| hits.iter().any(|hit| hit.watchpoint == index);
    let without_data = without_data.filter(|(index, watchpoint)| {
        watchpoint.on && is_without_data(*index, watchpoint) && !has_hit(*index)
    });
    let without_data = without_data.map(|(index, _)| index).collect();
    let first_cause = first_cause::first_cause(&hits, &flows, run, watchpoints);
    if let Some(cause) = &first_cause {
        raise(&mut hits, cause, watchpoints);
    }
    let is_watched = |tensor: &&Tensor| {
        let mut all = watchpoints.all().iter();
        all.any(|watchpoint| watchpoint.watches(&tensor.name, &tensor.subject))
    };
    let tensors = run.tensors.iter().filter(is_watched).count() as u64;
    let histograms = run.histograms.iter();
    let histograms = histograms.filter(|histogram| run.in_full(histogram).is_none());
    let (read, unread): (Vec<&Tensor>, Vec<&Tensor>) =
        histograms.partition(|histogram| !histogram.watching.is_empty());
    let histograms = read.len() as u64;
    let reads_all_scalars = watchpoints
        .all()
        .iter()
        .any(|watchpoint| watchpoint.on && watchpoint.condition.is_of_any_scalar());
    let scalars = series + if reads_all_scalars { others } else { 0 };
    let inputs = run.tensors.iter();
    let inputs = inputs.filter(|tensor| run.class(tensor) == Class::Input);
    let causes = first_cause::causes(&hits, &flows, run);
    // A profile counts as judged if any rule could be judged.
    let profiles: BTreeMap<u32, u64> = (0..)
        .zip(watchpoints.all())
        .filter(|(_, watchpoint)| watchpoint.on)
        .flat_map(|(index, watchpoint)| profile::outcomes(run, index, watchpoint))
        .filter(|(_, outcome)| !matches!(outcome, Outcome::NotJudged(_)))
        .map(|(profile, _)| (profile.rank, profile.steps))
        .collect();
    Findings {
        first_cause,
        causes,
        hits,
        inconclusive,
        without_data,
        unread: Vec::new(),
        inputs: inputs.count() as u64,
        damage: None,
        about_files: Vec::new(),
        has_one_look: false,
        is_of_training: false,
        judged: Coverage {
            tensors,
            histograms,
            scalars,
            overwritten: run.series().map(|scalar| scalar.beside.len() as u64).sum(),
            unwatched: (run.tensors.len() + unread.len()) as u64 - tensors,
            profiles: profiles.len() as u64,
            steps: if tensors + histograms + scalars == 0 {
                profiles.into_values().max().unwrap_or(0)
            } else {
                run.steps.len()
            },
            ranks: run.ranks.len() as u64,
        },
    }
}

/// Raises the first cause to the worst severity of the hits that follow from it, unless its watchpoint fixes one.
fn raise(hits: &mut [Hit], cause: &FirstCause, watchpoints: &Watchpoints) {
    let follow = cause.explains.iter().filter_map(|index| hits.get(*index));
    let worst = follow.map(|hit| hit.severity).max();
    if let (Some(hit), Some(worst)) = (hits.get_mut(cause.hit), worst) {
        let watchpoint = watchpoints.all().get(hit.watchpoint as usize);
        if watchpoint.is_some_and(|watchpoint| watchpoint.may_raise) {
            hit.severity = hit.severity.max(worst);
        }
    }
}

/// Raises a note about an input to the severity of hits in the layers up to the second one with weights at the same
/// step, which are dead, saturated or near an overflow because of it.
fn raise_inputs(run: &Run<'_>, watchpoints: &Watchpoints, hits: &mut [(Flow, Hit)]) {
    let mut places: Vec<i64> = run
        .tensors
        .iter()
        .filter(|t| t.subject.class == Class::Weight)
        .map(|t| run.place_of(t))
        .collect();
    places.sort_unstable();
    places.dedup();
    let second = places.get(1).copied().unwrap_or(i64::MAX);
    let symptoms: [&Condition; 4] = [
        &DEAD_RELU,
        &SATURATED_ACTIVATION,
        &TENSOR_ALL_ZERO,
        &NEAR_OVERFLOW,
    ];
    let follows = |(flow, hit): &&(Flow, Hit)| {
        let is_first_layer = flow.0 == Phase::Forward && flow.1 < second;
        is_first_layer && symptoms.contains(&hit.condition) && hit.severity >= Severity::Warning
    };
    let worst: Vec<(i64, u32, Severity)> = hits
        .iter()
        .filter(follows)
        .map(|(_, hit)| (hit.step, hit.rank, hit.severity))
        .collect();
    for (_, hit) in hits.iter_mut().filter(|(_, h)| h.condition == &INPUT_RANGE) {
        let may_raise = watchpoints
            .all()
            .get(hit.watchpoint as usize)
            .is_some_and(|w| w.may_raise);
        let of_step = worst.iter().filter(|w| (w.0, w.1) == (hit.step, hit.rank));
        if let Some(severity) = of_step.map(|w| w.2).max().filter(|_| may_raise) {
            hit.severity = hit.severity.max(severity);
        }
    }
}

/// True if there are data for a condition about the run as a whole.
fn has_data_of(run: &Run<'_>, watchpoint: &Watchpoint) -> bool {
    if let Some(rule) = watchpoint.condition.rule {
        let mut remarks = run.remarks.iter();
        let is_judged = remarks.any(|remark| remark.rule == rule && remark.state > State::Unknown);
        let reads_scalars = !watchpoint.condition.reads_scalars.is_empty();
        return is_judged || reads_scalars && has_scalar_of(run, watchpoint);
    }
    run.scalar_counts().0 > 0 || watchpoint.tensors_of(run).next().is_some()
}

/// True if a scalar was recorded that the condition judges.
fn has_scalar_of(run: &Run<'_>, watchpoint: &Watchpoint) -> bool {
    let wanted = watchpoint.condition.reads_scalars;
    run.series()
        .any(|series| wanted.is_empty() || wanted.contains(&series.meaning))
}

/// The condition about NaN in any scalar.
const ANY_SCALAR: &Condition = &SCALAR_NOT_FINITE;

/// Removes hits of non-finite scalars if a warning or error about the same scalar begins no later and ends no earlier.
fn drop_repeated(hits: &mut Vec<(Flow, Hit)>) {
    let notes = hits.iter().filter(|(_, hit)| hit.condition == ANY_SCALAR);
    let is_repeated = |note: &Hit| {
        hits.iter().any(|(_, other)| {
            other.severity >= Severity::Warning
                && other.condition != ANY_SCALAR
                && (other.rank, &other.tensor) == (note.rank, &note.tensor)
                && (other.step..=other.last_step).contains(&note.step)
        })
    };
    let repeated = notes.filter(|(_, note)| is_repeated(note));
    let repeated: Vec<(u32, Arc<str>)> = repeated
        .map(|(_, note)| (note.rank, note.tensor.clone()))
        .collect();
    hits.retain(|(_, hit)| {
        hit.condition != ANY_SCALAR || !repeated.contains(&(hit.rank, hit.tensor.clone()))
    });
}

fn told(index: u32, watchpoint: &Watchpoint, found: NewHit) -> Hit {
    // The limit of a count is 0: a single one is a hit.
    let limit = |key: Key| {
        let mut parameters = watchpoint.condition.parameters.iter();
        let is_limit = parameters.any(|parameter| parameter.name == key && parameter.is_limit);
        let limit = watchpoint.limits.get(key).filter(|_| is_limit);
        (is_limit || key == Key::Count).then(|| found.limit.or(limit).unwrap_or(0.0))
    };
    let figures = |value: Option<(Key, Float)>| value.into_iter().collect::<Figures>();
    let (values, thresholds) = match found.measure.as_deref() {
        Some((name, measure)) => (
            figures(Some((*name, measure.value))),
            figures(measure.limit.map(|limit| (*name, limit))),
        ),
        None => (
            found
                .evidence
                .iter()
                .map(|(key, value)| (key, Float(value)))
                .collect(),
            found
                .evidence
                .iter()
                .filter_map(|(key, _)| Some((key, Float(limit(key)?))))
                .collect(),
        ),
    };
    let severity = match found.severity {
        Some(severity) if watchpoint.may_raise => severity,
        _ => watchpoint.severity,
    };
    let mut hit = Hit {
        condition: watchpoint.condition,
        watchpoint: index,
        severity,
        rank: found.rank,
        step: found.step,
        last_step: found.last_step,
        tensor: found.tensor,
        node: found.node,
        values,
        thresholds,
        measure: found.measure.map(|measure| measure.1.into()),
        sentence: found.sentence.unwrap_or_default(),
        source: found.source,
    };
    if hit.sentence.en.is_empty() {
        hit.sentence = plain(watchpoint, &hit);
    }
    hit
}

/// The condition's title, the tensor, and the quantities with the limits exceeded.
fn plain(watchpoint: &Watchpoint, hit: &Hit) -> Sentence {
    let (says, tensor) = (watchpoint.condition.text(|prose| prose.says), &hit.tensor);
    let measures = hit.measures();
    let joined = |of: fn(&Sentence) -> &str, comma: &str| {
        let all = measures.iter().map(|measure| {
            let text = format!("{} {}", of(&measure.found), measure.threshold);
            text.trim_end().to_owned()
        });
        all.collect::<Vec<_>>().join(comma)
    };
    let (en, zh) = (
        joined(|sentence| &sentence.en, ", "),
        joined(|sentence| &sentence.zh, "，"),
    );
    Sentence {
        en: format!("{tensor}: {} ({en})", says.en),
        zh: format!("{tensor}：{}（{zh}）", says.zh),
    }
}
