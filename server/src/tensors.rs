//! The values of recorded tensors: which there are, and slices of them, read where they lie.
//!
//! Nothing is copied: a catalogue keeps names and steps, and each answer reads the bytes that it needs from the file
//! that holds them. Tensors are looked up among those that were found, never joined to a path.

pub(crate) mod export;
pub(crate) mod find;
pub(crate) mod history;
pub(crate) mod list;
pub(crate) mod summary;
pub(crate) mod values;

/// What was read of tensors and never changes. Cloning is cheap.
#[derive(Clone, Default)]
pub struct Memory {
    statistics: history::Remembered,
    forms: list::Forms,
}
