//! Watches folders of training runs, indexes what they record and serves it.

pub mod alarm;
pub mod cli;
pub mod colours;
pub mod diagnosis;
mod files;
pub mod http;
pub mod index;
pub mod ingest;
pub mod notebook;
mod recording;
pub mod settings;
mod tail;
pub mod tensors;
mod watch;
pub mod watchpoints;
