//! Pages about the judgement of a run: overview, debugger, tensors, graph, data pipeline.

#![expect(
    unreachable_pub,
    reason = "`#[component]` makes its props `pub` in modules that are not"
)]

mod advice;
mod debugger;
mod excerpt;
mod graph;
mod overview;
mod pipeline;
mod session_nodes;
mod shades;
mod tensors;

pub use debugger::{DebuggerPage, SessionBar};
pub use graph::GraphPage;
pub use overview::OverviewPage;
pub use pipeline::PipelinePage;
pub use tensors::TensorsPage;
