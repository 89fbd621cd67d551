//! The pages: one file or folder each.

mod debugger;
mod graph;
mod histograms;
mod not_found;
mod overview;
mod pipeline;
mod recorded;
mod run;
mod runs;
mod scalars;
mod tensors;

pub use debugger::DebuggerPage;
pub use graph::GraphPage;
pub use histograms::HistogramsPage;
pub use not_found::NotFoundPage;
pub use overview::OverviewPage;
pub use pipeline::PipelinePage;
pub use recorded::{RecordedPage, Shelf};
pub use run::RunPages;
pub use runs::RunsPage;
pub use scalars::ScalarsPage;
pub use tensors::TensorsPage;
