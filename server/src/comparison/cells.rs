//! Differences of tensors at steps, kept by the fingerprint of their files, and reasons of those that are missing.

use parking_lot::Mutex;
use rustc_hash::FxHashMap;

/// Maximum number of differences in memory, 32 bytes each; above it, all are dropped.
const MAX_CELLS: usize = 2_000_000;

/// A stored difference at a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Cell {
    Difference {
        value: f64,
        by_statistics: bool,
        /// True if the elements are equal to the bit.
        is_same: bool,
    },
    OtherShape,
    /// It cannot be read; the reason is a [`Fault`].
    Fault,
}

/// Reason why a tensor was not compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// Path of the file for display, or name of the tensor.
    pub(super) place: String,
    pub(super) offset: u64,
    pub(super) reason: String,
}

/// Kept differences.
#[derive(Default)]
pub(super) struct Cells(Mutex<FxHashMap<u64, Cell>>);

impl Cells {
    pub(super) fn get(&self, key: u64) -> Option<Cell> {
        self.0.lock().get(&key).copied()
    }

    pub(super) fn keep(&self, key: u64, cell: Cell) {
        let mut cells = self.0.lock();
        if cells.len() >= MAX_CELLS {
            cells.clear();
        }
        cells.insert(key, cell);
    }
}
