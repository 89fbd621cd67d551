//! Ranges of the histograms of a tensor: they are reused for the next sample as long as they fit.
//!
//! A known range needs one pass instead of two, and makes the histograms of one tensor comparable.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use trainscope_format::tensor::FiniteStats;

/// Margin of a new range beyond minimum and maximum, as a share of half their distance.
const MARGIN: f64 = 0.2;

/// Minimum share of a range that the elements must cover.
const MIN_FILLED: f64 = 0.4;

/// Ranges by name of the tensor.
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

/// `true` if all finite elements are within the range and cover enough of it.
pub(crate) fn fits((low, high): (f64, f64), finite: &FiniteStats) -> bool {
    // Halves: the distances may exceed an `f64`.
    low <= finite.min
        && finite.max <= high
        && finite.max / 2.0 - finite.min / 2.0 >= MIN_FILLED * (high / 2.0 - low / 2.0)
}

/// A range with some margin.
pub(crate) fn around(finite: &FiniteStats) -> (f64, f64) {
    let room = MARGIN * (finite.max / 2.0 - finite.min / 2.0);
    let low = (finite.min - room).max(f64::MIN);
    let high = (finite.max + room).min(f64::MAX);
    (low, high)
}
