//! Judgements and summaries over records: pure functions, no files, no threads.
//!
//! The caller provides the records (the server's index, `check` on the command line); nothing here depends on their
//! storage.
//!
//! ```
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
//! ```

pub mod columns;
pub mod comparison;
mod context;
pub mod diagnosis;
pub mod dump;
pub mod graph;
pub mod groups;
pub mod guide;
pub mod headline;
pub mod histogram;
pub mod importance;
pub mod landscape;
pub mod pipeline;
pub mod restart;
pub mod series;
pub mod text;
pub mod trace;
pub mod watchpoint;
