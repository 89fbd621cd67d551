//! What a comparison of ranks needs of one trace: a small part of it, so that the trace can be released.

use trainscope_format::trace::Link;

use super::super::parts::RoleRanges;
use super::super::ranges::Span;
use super::super::steps::{StepRange, whole_in, whole_of as whole};
use super::super::{Model, Step};
use super::collectives::{self, Collective};
use super::compute;

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
    pub(super) ranges: RoleRanges,
    /// Time during which it computes.
    pub(super) compute: Vec<Span>,
    pub(super) collectives: Vec<Collective>,
    pub(super) links: Vec<Link>,
    /// Maximum bytes allocated on one device.
    pub(super) peak_len_bytes: u64,
}

impl RankDigest {
    /// Of the trace of a rank.
    pub fn of(rank: u32, model: &Model) -> Self {
        let ranges = RoleRanges::new(model);
        let memory = model.trace.memory.iter();
        let head = &model.trace.head;
        Self {
            rank,
            host: head.host.clone(),
            unix_offset_nanos: head.unix_offset_nanos,
            origin: model.origin(),
            steps: model.steps.list.clone(),
            whole: whole(model),
            compute: compute(&ranges),
            ranges,
            collectives: collectives::of_model(model),
            links: model.trace.links.clone(),
            peak_len_bytes: memory.map(|event| event.allocated).max().unwrap_or(0),
        }
    }

    /// Whole steps in a range, for means; all steps if none is whole.
    pub(super) fn whole_steps_in(&self, range: StepRange) -> Vec<Step> {
        whole_in(&self.steps, self.whole, range)
    }
}
