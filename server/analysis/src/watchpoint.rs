//! Watchpoints: judgement of a training from its records.
//!
//! A [`Watchpoint`] is a condition of the [`catalogue`] with limits. An
//! [`Evaluator`] receives all records of one run, of all its ranks, and returns
//! [`Findings`]. The result depends on the order of steps within one tensor of one rank, and not on
//! the interleaving of tensors, ranks and scalars.

mod about_files;
pub mod catalogue;
mod checks;
pub mod config;
mod evaluator;
mod first_cause;
mod fresh;
mod histograms;
mod model;
mod report;
mod surroundings;
mod verdict;

pub use crate::context::Context;
pub use crate::text::Text;
pub use catalogue::CONDITIONS;
pub use config::{ConfigError, WatchpointConfig, Watchpoints};
pub use evaluator::{Evaluator, SCALAR_POINTS};
pub use fresh::FreshHit;
pub use model::condition::{Condition, Watchpoint};
pub use model::finding::{Cause, Damage, Figures, Findings, FirstCause, Hit, Inconclusive};
pub use model::key::Key;
pub use model::missing::Missing;
pub use model::observation::{Needs, Observation, channel_axis};
pub use model::parameter::Limits;
pub use model::profile::ProfileJudgement;
pub use model::subject::{layer_of_name, role_of, role_of_name};
pub use surroundings::{Around, Layer, Surroundings};
