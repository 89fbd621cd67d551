//! Answers to questions about runs, in the types of the API: for HTTP, the command line, reports and alarms.

pub(crate) mod distributions;
pub(crate) mod error;
pub(crate) mod findings;
pub(crate) mod graph;
mod hit_page;
pub(crate) mod media;
pub(crate) mod neighbours;
mod numbering;
pub(crate) mod pipeline;
mod pipeline_queues;
pub(crate) mod profile;
pub(crate) mod program;
pub(crate) mod timeline;

pub use graph::Graphs;
