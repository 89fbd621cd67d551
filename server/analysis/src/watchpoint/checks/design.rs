//! Findings of the guided diagnosis about the program: its settings, its graph, its data pipeline.

use trainscope_format::Severity;

use super::{Evidence, Judgement};
use crate::diagnosis::State;
use crate::watchpoint::model::condition::Watchpoint;
use crate::watchpoint::model::new_hit::NewHit;
use crate::watchpoint::model::run::{PROGRAM_FLOW, Run};

/// The fault or note of the rule of the condition. It applies to all steps of the run.
pub(crate) fn remarked(run: &Run<'_>, _: u32, watchpoint: &Watchpoint) -> Judgement {
    let rule = watchpoint.condition.rule;
    let remark = run.remarks.iter().find(|own| Some(own.rule) == rule);
    let Some(remark) = remark.filter(|own| own.state >= State::Note) else {
        return Judgement::default();
    };
    let tensor = remark.node.as_deref().unwrap_or(remark.rule.object());
    if !watchpoint.covers(tensor) {
        return Judgement::default();
    }
    let step = run.steps.first().unwrap_or(0);
    let rank = run.ranks.first().copied().unwrap_or(0);
    let hit = NewHit {
        last_step: run.steps.last().unwrap_or(step),
        node: remark.node.as_deref().map(Into::into),
        severity: match remark.state {
            State::Note => Some(Severity::Info),
            State::Error => Some(Severity::Error),
            _ => None,
        },
        sentence: Some(remark.sentence.clone()),
        ..NewHit::of_name(&tensor.into(), (rank, step), PROGRAM_FLOW, Evidence::NONE)
    };
    vec![hit].into()
}
