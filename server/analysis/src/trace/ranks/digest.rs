//! Data for a comparison of ranks from one trace: a small part of it, so that the trace can be released.

use std::collections::BTreeMap;

use trainscope_api::profile::Parts;
use trainscope_format::trace::Link;

use super::super::parts::RoleRanges;
use super::super::ranges::{self, Span};
use super::super::steps::{StepRange, whole_in, whole_of as whole};
use super::super::{Model, Step};
use super::collectives::{self, Collective, ends_before};
use super::compute;
use super::groups::{self, GroupPart};

/// One rank in brief.
#[derive(Clone, Debug)]
pub struct RankDigest {
    /// Number of the rank.
    pub rank: u32,
    pub(super) host: Option<String>,
    /// Time since 1970 at 0 of its clock, if the file has it.
    pub(super) unix_offset_nanos: Option<i64>,
    pub(super) origin: i64,
    pub(super) steps: Vec<Step>,
    /// The whole trace as a step, if it has no steps.
    whole: Step,
    /// Parts of steps, and of the time from the end of a collective, or the start of a step, to the next collective.
    parts: BTreeMap<Span, Parts>,
    /// Time during which it computes, in steps and during collectives.
    compute: BTreeMap<Span, i64>,
    pub(super) collectives: Vec<Collective>,
    pub(super) groups: Vec<GroupPart>,
    pub(super) links: Vec<Link>,
    /// Maximum bytes allocated on one device.
    pub(super) peak_len_bytes: u64,
}

impl RankDigest {
    /// Of the trace of a rank.
    pub fn of(rank: u32, model: &Model) -> Self {
        let ranges = RoleRanges::new(model);
        let compute = compute(&ranges);
        let collectives = collectives::of_model(model);
        let steps = model.steps.list.clone();
        let whole = whole(model);
        let of_steps = steps.iter().chain([&whole]);
        let mut spans: Vec<Span> = of_steps.map(|step| (step.begin, step.end)).collect();
        let of_collectives = collectives.iter().map(|one| (one.begin, one.end));
        let computes = spans.iter().copied().chain(of_collectives);
        let computes = computes.map(|(begin, end)| {
            let time = ranges::total(&ranges::cut(&compute, begin, end));
            ((begin, end), time)
        });
        let computes = computes.collect();
        spans.extend(windows(&collectives, &steps));
        let parts = spans.into_iter().map(|(begin, end)| {
            let window = Step {
                begin,
                end,
                ..Step::default()
            };
            ((begin, end), ranges.time(&window).parts)
        });
        let memory = model.trace.memory.iter();
        let head = &model.trace.head;
        Self {
            rank,
            host: head.host.clone(),
            unix_offset_nanos: head.unix_offset_nanos,
            origin: model.origin(),
            steps,
            whole,
            parts: parts.collect(),
            compute: computes,
            groups: groups::parts(&collectives, &compute),
            collectives,
            links: model.trace.links.clone(),
            peak_len_bytes: memory.map(|event| event.allocated).max().unwrap_or(0),
        }
    }

    /// Whole steps in a range, for means; all steps if none is whole.
    pub(super) fn whole_steps_in(&self, range: StepRange) -> Vec<Step> {
        whole_in(&self.steps, self.whole, range)
    }

    /// Parts of a step, or of the time before a collective since the one before it or since the start of a step.
    pub(super) fn parts_of(&self, span: Span) -> Parts {
        let known = self.parts.get(&span).copied();
        debug_assert!(known.is_some() || span.0 == span.1, "{span:?}");
        known.unwrap_or_default()
    }

    /// Time during which it computes, in a step or during a collective.
    pub(super) fn compute_of(&self, span: Span) -> i64 {
        let known = self.compute.get(&span).copied();
        debug_assert!(known.is_some(), "{span:?}");
        known.unwrap_or_default()
    }
}

/// Times before collectives: since the end of the one before, and since the start of each step in between. They do not
/// overlap but for these begins, so there are not more than collectives and steps.
fn windows(collectives: &[Collective], steps: &[Step]) -> Vec<Span> {
    let mut begins: Vec<i64> = steps.iter().map(|step| step.begin).collect();
    begins.sort_unstable();
    let mut windows = Vec::new();
    for (one, before) in collectives.iter().zip(ends_before(collectives)) {
        if before > i64::MIN {
            windows.push((before, one.begin));
        }
        let from = begins.partition_point(|begin| *begin <= before);
        let until = begins.partition_point(|begin| *begin < one.begin);
        let between = begins.get(from..until).unwrap_or_default();
        windows.extend(between.iter().map(|begin| (*begin, one.begin)));
    }
    windows
}
