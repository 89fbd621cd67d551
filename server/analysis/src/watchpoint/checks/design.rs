//! Findings of the guided diagnosis about the program: its settings, its graph, its data pipeline, and the facts of its
//! training.

use trainscope_format::Severity;

use super::{Evidence, Judgement};
use crate::diagnosis::{Remark, Rule, State};
use crate::watchpoint::model::condition::Watchpoint;
use crate::watchpoint::model::new_hit::NewHit;
use crate::watchpoint::model::run::{PROGRAM_FLOW, Run};
use crate::watchpoint::model::subject::{Class, Family};

/// The faults and notes of the rule of the condition. All but those about an event apply to all steps of the run.
pub(crate) fn remarked(run: &Run<'_>, _: u32, watchpoint: &Watchpoint) -> Judgement {
    let rule = watchpoint.condition.rule;
    let remarks = run
        .remarks
        .iter()
        .filter(|remark| Some(remark.rule) == rule);
    let found = remarks.filter(|remark| remark.state >= State::Note);
    let hits = found.filter_map(|remark| hit_of(run, remark, watchpoint));
    hits.collect::<Vec<_>>().into()
}

fn hit_of(run: &Run<'_>, remark: &Remark, watchpoint: &Watchpoint) -> Option<NewHit> {
    let rule = remark.rule;
    let node = remark.node.as_deref();
    let tensor = match node.filter(|_| !rule.is_event()) {
        Some(node) => node,
        None => &remark.object,
    };
    if !watchpoint.covers(tensor) {
        return None;
    }
    let (first, last) = (run.steps.first(), run.steps.last());
    let (rank, step, last_step) = match remark.at {
        Some(at) if rule.is_event() => at,
        Some((rank, from, to)) => {
            let step = first.map_or(from, |first| first.min(from));
            (rank, step, last.map_or(to, |last| last.max(to)))
        }
        None => {
            let step = first.unwrap_or(0);
            (
                run.ranks.first().copied().unwrap_or(0),
                step,
                last.unwrap_or(step),
            )
        }
    };
    // A model that normalises its inputs accepts any range.
    let is_excused = rule == Rule::InputScale && normalises_inputs(run, rank);
    Some(NewHit {
        last_step,
        node: node.map(Into::into),
        severity: match remark.state {
            State::Note => Some(Severity::Info),
            _ if is_excused => Some(Severity::Info),
            State::Error => Some(Severity::Error),
            _ => None,
        },
        sentence: Some(remark.sentence.clone()),
        source: remark.source.clone(),
        ..NewHit::of_name(&tensor.into(), (rank, step), PROGRAM_FLOW, Evidence::NONE)
    })
}

/// True if the first layer of the model is a normalisation.
pub(crate) fn normalises_inputs(run: &Run<'_>, rank: u32) -> bool {
    let layers = run.of_class(rank, Class::Activation);
    let first = layers
        .filter(|t| !matches!(run.family(t), Family::Identity | Family::Dropout))
        .min_by_key(|t| run.flow(t));
    first.is_some_and(|t| matches!(run.family(t), Family::BatchNorm | Family::OtherNorm))
}
