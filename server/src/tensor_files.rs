//! Files that hold tensors: the tensors in each, and their bytes, read by range.

pub(crate) mod catalog;
pub(crate) mod contents;
pub(crate) mod dumps;
pub(crate) mod listing;
pub(crate) mod read;
mod shared;
pub(crate) mod stored;
