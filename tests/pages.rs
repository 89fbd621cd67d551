//! The pages in a browser.

mod accessibility;
mod basics;
mod compare;
mod debugger;
mod distributions_and_media;
mod graph;
mod hits;
mod landscape;
mod layout;
mod lineage;
mod odd_recordings;
mod overview;
mod pipeline;
mod profile;
mod run_controls;
mod runs;
mod scalar_controls;
mod scalars;
mod sharing;
mod symptoms;
pub(crate) mod tensors;
