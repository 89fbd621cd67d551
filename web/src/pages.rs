//! The pages: one file or folder each.

mod chunks;
mod compare;
mod debugger;
mod graph;
mod histograms;
mod landscape;
mod lineage;
mod not_found;
mod overview;
mod pipeline;
mod profile;
mod recorded;
mod run;
mod runs;
mod scalars;
mod tensors;
mod timeline;

pub use chunks::{Chunks, PageOnDemand};
pub use not_found::NotFoundPage;
pub use run::RunPages;
