//! Split points of the pages, and the pages without a crate.

mod chunks;
mod not_found;
mod run;

pub use chunks::{Chunks, PageOnDemand, PartOnDemand};
pub use not_found::NotFoundPage;
pub use run::RunPages;
