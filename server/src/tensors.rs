//! The values of recorded tensors: list, and slices, read in place.
//!
//! Nothing is copied: a catalogue stores names and steps, and each answer reads the bytes that it needs from the
//! recorded file. Tensor names are compared with listed ones, never joined to a path.

pub(crate) mod export;
pub(crate) mod find;
pub(crate) mod history;
pub(crate) mod list;
pub(crate) mod summary;
pub(crate) mod values;

/// Cached results of reading tensors, which never change. Cloning is cheap.
#[derive(Clone, Default)]
pub struct Memory {
    statistics: history::HistoryCache,
    forms: list::Forms,
}
