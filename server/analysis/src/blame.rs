//! The first cause: which of many hits the others follow from.

use std::cmp::Reverse;

use trainscope_format::Severity;

use crate::watchpoint::config::Watchpoints;
use crate::watchpoint::finding::{FirstCause, Hit, Sentence};
use crate::watchpoint::run::{Flow, Run};

/// The first hit in the order of steps and of data flow, among those that are a warning or worse.
pub(crate) fn first_cause(
    hits: &[Hit],
    flows: &[Flow],
    run: &Run<'_>,
    watchpoints: &Watchpoints,
) -> Option<FirstCause> {
    let _ = run;
    let alarms = hits
        .iter()
        .zip(flows)
        .enumerate()
        .filter(|(_, (hit, _))| hit.severity >= Severity::Warning);
    let (first, (hit, _)) =
        alarms.min_by_key(|(_, (hit, flow))| (hit.step, **flow, Reverse(hit.severity)))?;
    let advice = watchpoints
        .all()
        .get(hit.watchpoint as usize)
        .map(|w| w.condition.advice);
    let advice = advice.unwrap_or_default();
    let explains = hits.iter().enumerate().filter(|(index, other)| {
        *index != first && other.severity >= Severity::Warning && other.step >= hit.step
    });
    Some(FirstCause {
        hit: first,
        explains: explains.map(|(index, _)| index).collect(),
        sentence: hit.sentence.clone(),
        advice: Sentence {
            en: advice.en.to_owned(),
            zh: advice.zh.to_owned(),
        },
    })
}
