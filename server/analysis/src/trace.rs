//! Traces of profilers: nesting, steps, and everything that is computed from them.
//!
//! A [`Model`] is a [`Trace`] in order, with derived columns for its slices. Every other module here is a pure
//! function over a model; answers are in the types of [`trainscope_api`]. Ranges of time are half-open; times are
//! those of the file's clock inside, and nanoseconds since [`Model::origin`] in answers.

use std::ops::Range;

use trainscope_api::profile::{PhaseKind, StepSource};
use trainscope_api::timeline::TimeKind;
use trainscope_format::trace::Trace;

pub mod advice;
pub mod area;
pub mod calls;
mod clip;
pub mod counters;
pub mod critical;
pub mod diff;
pub mod export_json;
pub mod figures;
pub mod flame;
pub mod flops;
pub mod idle;
pub mod kernels;
pub mod lane;
pub mod lanes;
pub mod levels;
pub mod meaning;
pub mod memory;
pub mod nest;
pub mod numbering;
pub mod operators;
pub mod outline;
pub mod parts;
mod peaks;
pub mod ranges;
pub mod ranks;
mod recomputation;
pub mod robust;
mod roofline;
mod rows;
pub mod rules;
pub mod scopes;
pub mod search;
pub mod slice;
pub mod step_phases;
pub mod steps;
pub mod summary;
pub mod view;
pub mod work;

/// A trace in order.
///
/// Slices are sorted by lane, then begin, then longer first, then place in the file; flows use the new numbers. All
/// columns here have an entry for each slice, [`NONE`](trainscope_format::trace::NONE) if it is missing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Model {
    /// The trace; its slices are sorted.
    pub trace: Trace,
    /// Slices of each lane, in the order of [`Trace::lanes`].
    pub lanes: Vec<LaneSlices>,
    /// Position of each slice in its file, and the slice of each position; see [`Model::number`].
    numbers: nest::Numbers,
    /// Row of each slice in its lane: 1 + the highest row of the slices that are open when it begins.
    pub rows: Vec<u16>,
    /// The innermost slice of the lane that is open at the start of each slice and contains all of it.
    pub parents: Vec<u32>,
    /// Kind of time of each slice.
    pub kinds: Vec<TimeKind>,
    /// Part of a step that each slice counts for.
    pub roles: Vec<Role>,
    /// Phase of each slice; a device slice has that of its launch.
    pub phases: Vec<PhaseKind>,
    /// The runtime call that launched each device slice; [`NONE`](trainscope_format::trace::NONE) for all others.
    pub launches: Vec<u32>,
    /// Start of the first and end of the last slice that is work or host.
    pub extent: Range<i64>,
    /// Slices that begin within another one of their lane and end after it.
    pub unnested: u64,
    /// Steps in order.
    pub steps: Steps,
    /// Operators that the user describes.
    pub operator_rules: Vec<rules::OperatorRule>,
    /// Memory by purpose, from a file next to the trace.
    pub memory_purposes: Option<memory::timeline::Purposes>,
}

/// Slices of a lane.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LaneSlices {
    /// Their numbers.
    pub slices: Range<u32>,
    /// Number of rows.
    pub rows: u16,
}

/// Part of a step that a slice counts for, in the order in which parts are subtracted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Kernels, without collectives.
    Kernel,
    /// Copies.
    Memcpy,
    /// Fills.
    Memset,
    /// Communication on a device or a host.
    Communication,
    /// Calls of the runtime.
    Runtime,
    /// Waiting for data.
    Data,
    /// Operators and annotations, and spans of programs without them.
    Operators,
    /// Nothing: steps, Python frames, projections, waiting, the profiler itself.
    #[default]
    None,
}

/// Steps of a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Steps {
    /// Source of the steps.
    pub source: StepSource,
    /// Name of the annotation that begins each step, if steps are guessed from annotations.
    pub by: Option<String>,
    /// The steps in order. Without any, the extent counts as one, which is not in this list.
    pub list: Vec<Step>,
}

/// A step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// Number in the count of the profiler.
    pub number: i64,
    /// Begin.
    pub begin: i64,
    /// End: the latest of its end on the host and the ends of the work that was launched within it.
    pub end: i64,
    /// End of its slice on the host.
    pub host_end: i64,
    /// Number of launches within it.
    pub launched: u32,
    /// `false` if the recording ended before all of its work did: it is left out of means.
    pub is_whole: bool,
}

impl Model {
    /// Time 0 of all answers.
    pub fn origin(&self) -> i64 {
        self.extent.start
    }

    /// Name of a slice.
    pub fn name(&self, slice: u32) -> &str {
        let id = self.trace.slices.names.get(slice as usize);
        id.map_or("", |id| self.trace.texts.get(*id))
    }
}
