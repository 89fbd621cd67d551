//! Where the bins of a tensor's histograms are: they stay from one look to the next for as long as they fit.
//!
//! A range that is known beforehand lets one pass do what takes two otherwise, and histograms of one tensor can be laid
//! over each other.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use trainscope_format::tensor::FiniteStats;

/// How far a new range reaches beyond the extremes, as a share of half their distance.
const MARGIN: f64 = 0.2;

/// How much of a range the elements must fill.
const LEAST_FILLED: f64 = 0.4;

/// From where to where the bins are, by the name of the tensor.
#[derive(Debug, Default)]
pub(crate) struct Ranges {
    known: Mutex<HashMap<String, (f64, f64)>>,
}

impl Ranges {
    pub(crate) fn get(&self, name: &str) -> Option<(f64, f64)> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(name).copied()
    }

    pub(crate) fn keep(&self, name: &str, range: (f64, f64)) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(name.to_owned(), range);
    }
}

/// Whether all finite elements lie in a range, and are not crowded in a part of it.
pub(crate) fn fits((low, high): (f64, f64), finite: &FiniteStats) -> bool {
    // Halves: the distances may exceed an `f64`.
    low <= finite.min
        && finite.max <= high
        && finite.max / 2.0 - finite.min / 2.0 >= LEAST_FILLED * (high / 2.0 - low / 2.0)
}

/// A range with some room for what comes.
pub(crate) fn around(finite: &FiniteStats) -> (f64, f64) {
    let room = MARGIN * (finite.max / 2.0 - finite.min / 2.0);
    let low = (finite.min - room).max(f64::MIN);
    let high = (finite.max + room).min(f64::MAX);
    (low, high)
}
