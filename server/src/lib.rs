//! Watches folders of training runs, indexes what they record and serves it.

pub mod index;
pub mod ingest;
