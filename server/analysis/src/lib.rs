//! Judgements and summaries over records: pure functions, no files, no threads.
//!
//! The caller provides the records (the server's index, `check` on the command line); nothing here depends on their
//! storage.
//!
//! ```
//! # #[cfg(feature = "judging")] {
//! use trainscope_analysis::watchpoint::{Evaluator, Watchpoints};
//!
//! let mut evaluator = Evaluator::new(Watchpoints::recommended());
//! for step in 0..20 {
//!     let loss = if step < 15 { 0.9_f64.powi(step) } else { f64::NAN };
//!     evaluator.scalar(0, "train/loss", step.into(), f64::from(step), loss);
//! }
//! let findings = evaluator.findings();
//! let first = findings.first_hit().expect("the loss is NaN");
//! assert_eq!((&*first.tensor, first.step), ("train/loss", 15));
//! # }
//! ```

pub mod columns;
#[cfg(feature = "judging")]
pub mod comparison;
#[cfg(feature = "judging")]
mod context;
#[cfg(feature = "judging")]
pub mod diagnosis;
#[cfg(feature = "judging")]
pub mod dump;
#[cfg(feature = "judging")]
pub mod graph;
pub mod groups;
#[cfg(feature = "judging")]
pub mod guide;
pub mod headline;
#[cfg(feature = "judging")]
pub mod histogram;
#[cfg(feature = "judging")]
pub mod importance;
pub mod landscape;
mod meaning;
#[cfg(feature = "judging")]
pub mod pipeline;
#[cfg(feature = "judging")]
pub mod restart;
#[cfg(feature = "judging")]
pub mod series;
pub mod text;
#[cfg(feature = "judging")]
pub mod trace;
#[cfg(feature = "judging")]
pub mod watchpoint;
