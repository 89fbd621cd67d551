//! Watches folders of training runs, indexes what they record and serves it.

pub mod alarm;
mod allocator;
pub mod cli;
pub mod colours;
pub mod comparison;
mod discovery;
mod files;
pub mod http;
pub mod index;
pub mod ingest;
pub mod judging;
pub mod notebook;
pub mod notices;
mod packed;
pub mod people;
pub mod profiles;
mod pulse;
pub mod queries;
pub mod reader;
pub mod session;
pub mod settings;
mod suggest;
pub mod table;
mod tensor_files;
pub mod tensors;
mod watched_file;
pub mod watchpoints;
