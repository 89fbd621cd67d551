//! Files that other programs and the collector write.

mod event_files;
pub(crate) mod graphs;
mod records;
mod stores;
mod tensor_files;
mod tensorboard;
