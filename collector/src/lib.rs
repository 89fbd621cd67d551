//! Records a training from within: scalars, tensors, images, spans and more, into files that trainscope and
//! TensorBoard open.
//!
//! One thread writes; everything else happens on the recording thread, which never blocks, fails or panics because of
//! it. Memory is bounded in bytes, and lost records are counted and reported.
//!
//! ```
//! use trainscope_collector::{Collector, Role, TensorView};
//!
//! # let run = tempfile::tempdir()?;
//! # let run = run.path();
//! let collector = Collector::builder(run).start()?;
//! let mut weights = [1.0_f32, -1.0];
//! for number in 0..100 {
//!     weights.iter_mut().for_each(|w| *w *= 0.9);
//!     let mut step = collector.step(number);
//!     step.scalars(&[("loss", f64::from(weights[0]))]);
//!     step.tensor("layer/weight", Role::Weight, TensorView::of(&weights, &[2]));
//! }
//! let report = collector.finish();
//! assert!(report.is_complete(), "{report:?}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod adapters;
mod builder;
mod clock;
mod collector;
mod dataset;
mod dump;
mod entry;
mod file;
mod fork;
#[cfg(feature = "live")]
mod gate;
mod graph;
mod hook;
mod hyperparameters;
mod landscape;
#[cfg(feature = "live")]
mod live;
mod media;
mod notes;
mod panics;
mod policy;
mod profile;
mod queue;
mod ranges;
mod report;
mod shared;
mod span;
mod statistics;
mod step;
mod tensor;
#[cfg(all(test, unix))]
mod tests;
mod writer;

pub use builder::{CollectorBuilder, CollectorError};
pub use collector::Collector;
pub use dataset::{DatasetPipeline, ParameterValue};
#[cfg(feature = "live")]
pub use gate::matches_pattern;
pub use graph::GraphBuilder;
pub use hook::{EpochContext, NamedTensor, StepContext, TensorSource, TrainingHook};
pub use hyperparameters::Hyperparameters;
pub use landscape::{LandscapeGrid, MAX_SNAPSHOTS, Normalisation, Plane, PlaneError, Snapshot};
#[cfg(feature = "live")]
pub use live::{AtHit, ConfigError, Flow, Live, PauseSeverity, Place, Watchpoints};
pub use media::Picture;
pub use policy::{DumpPolicy, SamplePolicy};
pub use queue::Overflow;
pub use report::{CollectorReport, LostRecords};
pub use shared::StepTime;
pub use span::{FlowBegin, SpanGuard, SpanNames};
pub use step::StepRecorder;
pub use tensor::{Element, TensorView};
pub use trainscope_format::graph::Graph;
pub use trainscope_format::hparams::SessionStatus;
pub use trainscope_format::lineage;
pub use trainscope_format::profile::{LaneKind, SpanKind};
pub use trainscope_format::statistics::Role;
pub use trainscope_format::tensor::{DType, Tolerance};
pub use trainscope_format::{Landscape, Lineage};

/// Compiles and runs the examples of the documents.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
#[doc = include_str!("../../docs/src/recording/rust.md")]
#[cfg_attr(feature = "live", doc = include_str!("../../docs/src/live.md"))]
struct Documents;
