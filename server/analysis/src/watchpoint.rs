//! Watchpoints: judgement of a training from its records.
//!
//! A [`Watchpoint`](config::Watchpoint) is a condition of the [`catalogue`] with limits. An
//! [`Evaluator`](evaluator::Evaluator) receives all records of one run, of all its ranks, and returns
//! [`Findings`](finding::Findings). The result depends on the order of steps within one tensor of one rank, and not on
//! the interleaving of tensors, ranks and scalars.

mod attempts;
pub mod catalogue;
mod checks;
pub mod config;
pub mod evaluator;
pub mod finding;
mod histograms;
mod history;
pub(crate) mod knowledge;
mod labels;
pub mod measure;
mod named;
pub mod observation;
mod report;
pub(crate) mod run;
pub(crate) mod scalars;
mod steps;
mod surroundings;
pub(crate) mod target;
mod verdict;

pub use catalogue::{CONDITIONS, Condition};
pub use config::{ConfigError, Watchpoint, WatchpointConfig, Watchpoints};
pub use evaluator::Evaluator;
pub use finding::{
    Cause, Figures, Findings, FirstCause, Hit, Inconclusive, Judged, Missing, UnreadTensor,
};
pub use observation::{Context, Needs, Observation, channel_axis};
pub use surroundings::{Around, Layer, Surroundings};
pub use target::{role_of, role_of_name};
pub use verdict::Verdict;
