//! What is computed of a tensor on the caller's thread: a summary in one pass, and a histogram in a second one.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use trainscope_format::Histogram;
use trainscope_format::statistics::{Role, TensorSummary};
use trainscope_format::tensor::{self, ChannelStats, DType, Select, TensorStats};

use crate::policy::SamplePolicy;
use crate::tensor::TensorView;

/// A tensor as it was when it was last looked at.
#[derive(Debug)]
struct Snapshot {
    dtype: DType,
    bytes: Vec<u8>,
}

/// What tensors were, for comparing them with what they are; bounded by bytes.
#[derive(Debug)]
pub(crate) struct Snapshots {
    kept: Mutex<Kept>,
    limit_bytes: usize,
}

#[derive(Debug, Default)]
struct Kept {
    by_name: HashMap<String, Snapshot>,
    len_bytes: usize,
}

impl Snapshots {
    pub(crate) fn new(limit_bytes: usize) -> Self {
        Self {
            kept: Mutex::default(),
            limit_bytes,
        }
    }

    fn take(&self, name: &str) -> Option<Snapshot> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let snapshot = kept.by_name.remove(name)?;
        kept.len_bytes -= snapshot.bytes.len();
        Some(snapshot)
    }

    /// Keeps the bytes in the memory of an earlier snapshot. `false` if there is no room.
    fn keep(&self, name: &str, dtype: DType, bytes: &[u8], earlier: Option<Snapshot>) -> bool {
        {
            let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            if kept.len_bytes + bytes.len() > self.limit_bytes {
                return false;
            }
            kept.len_bytes += bytes.len();
        }
        let mut memory = earlier.map_or_else(Vec::new, |earlier| earlier.bytes);
        memory.clear();
        // What was larger before gives its memory back.
        memory.shrink_to(bytes.len());
        memory.extend_from_slice(bytes);
        let snapshot = Snapshot {
            dtype,
            bytes: memory,
        };
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(replaced) = kept.by_name.insert(name.to_owned(), snapshot) {
            // Another thread has recorded a tensor of this name at the same time.
            kept.len_bytes -= replaced.bytes.len();
        }
        true
    }
}

/// A summary, and whether the change that was asked for could not be kept for the next one.
pub(crate) struct Seen {
    pub(crate) summary: TensorSummary,
    pub(crate) is_change_skipped: bool,
}

/// Looks at elements once.
pub(crate) fn summary(
    policy: &SamplePolicy,
    snapshots: &Snapshots,
    name: &str,
    role: Role,
    view: &TensorView<'_>,
    bytes: &[u8],
) -> Seen {
    let dtype = view.dtype();
    let mut select = Select::new();
    if policy.exponents {
        select = select.exponents();
    }
    if policy.hash {
        select = select.hash();
    }
    let before = policy.change.and_then(|_| snapshots.take(name));
    // Of another type or length it is another tensor.
    let comparable = before
        .as_ref()
        .filter(|before| before.dtype == dtype && before.bytes.len() == bytes.len());
    if let (Some(tolerance), Some(before)) = (policy.change, comparable) {
        select = select.change(&before.bytes, tolerance);
    }
    let selected = select.read(dtype, bytes);
    let is_change_skipped = policy.change.is_some() && !snapshots.keep(name, dtype, bytes, before);
    let shape = view.file_shape();
    let channels = policy
        .channel_axis(role)
        .and_then(|axis| ChannelStats::of(dtype, &shape, bytes, axis));
    Seen {
        summary: TensorSummary {
            role,
            dtype,
            shape,
            stats: selected.stats,
            hash: selected.hash,
            change: selected.change,
            channels,
        },
        is_change_skipped,
    }
}

/// Counts elements in bins from the smallest to the largest, which `stats` knows.
pub(crate) fn histogram(stats: &TensorStats, dtype: DType, bytes: &[u8]) -> Histogram {
    let mut histogram = Histogram {
        nan: stats.nan,
        pos_inf: stats.pos_inf,
        neg_inf: stats.neg_inf,
        count: stats.finite_count() as f64,
        ..Histogram::default()
    };
    let Some(finite) = stats.finite else {
        return histogram;
    };
    let (min, max) = (finite.min, finite.max);
    let bins = if min < max {
        tensor::Histogram::BINS
    } else {
        1
    };
    let mut counted = tensor::Histogram::new(min, max, bins);
    counted.add(dtype, bytes);
    // So that no difference exceeds an `f64`.
    let edge = |bin: usize| {
        let share = bin as f64 / bins as f64;
        min * (1.0 - share) + max * share
    };
    histogram.lefts = (0..bins).map(edge).collect();
    histogram.rights = (1..=bins).map(edge).collect();
    histogram.counts = counted.bins.iter().map(|&count| count as f64).collect();
    histogram.min = Some(min);
    histogram.max = Some(max);
    histogram.sum = Some(finite.mean * histogram.count);
    histogram.sum_squares = Some(finite.l2 * finite.l2);
    histogram
}

#[cfg(test)]
mod tests {
    use super::{Role, SamplePolicy, Snapshots, TensorStats, TensorSummary, TensorView};
    use trainscope_format::tensor::DType;

    fn seen(
        snapshots: &Snapshots,
        policy: &SamplePolicy,
        numbers: &[f32],
    ) -> (TensorSummary, bool) {
        let shape = [numbers.len()];
        let view = TensorView::of(numbers, &shape);
        let bytes = view.elements().unwrap();
        let seen = super::summary(policy, snapshots, "w", Role::Weight, &view, &bytes);
        (seen.summary, seen.is_change_skipped)
    }

    #[test]
    fn change_is_from_when_it_was_last_looked_at() {
        let snapshots = Snapshots::new(1 << 10);
        let policy = SamplePolicy::every(1).change();
        assert_eq!(seen(&snapshots, &policy, &[1.0, 2.0]).0.change, None);
        let change = seen(&snapshots, &policy, &[1.0, 3.0]).0.change.unwrap();
        assert_eq!((change.count, change.changed), (2, 1));
        let change = seen(&snapshots, &policy, &[1.0, 3.0]).0.change.unwrap();
        assert_eq!(change.changed, 0);
        assert_eq!(
            seen(&snapshots, &policy, &[1.0]).0.change,
            None,
            "another tensor"
        );
    }

    #[test]
    fn snapshots_are_bounded() {
        let snapshots = Snapshots::new(8);
        let policy = SamplePolicy::every(1).change();
        assert!(!seen(&snapshots, &policy, &[1.0, 2.0]).1);
        assert!(seen(&snapshots, &policy, &[1.0, 2.0, 3.0]).1);
        assert_eq!(snapshots.kept.lock().unwrap().len_bytes, 0);
    }

    #[test]
    fn histograms_hold_every_finite_element() {
        for numbers in [
            &[][..],
            &[f64::NAN, f64::INFINITY],
            &[2.5, 2.5],
            &[f64::MIN, 0.0, f64::MAX, f64::NEG_INFINITY],
            &[-1.0, 0.5, 1.0],
        ] {
            let bytes: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
            let stats = TensorStats::of(DType::F64, &bytes);
            let histogram = super::histogram(&stats, DType::F64, &bytes);
            let finite = numbers.iter().filter(|x| x.is_finite()).count();
            let counted: f64 = histogram.counts.iter().sum();
            assert!((counted - finite as f64).abs() < 0.5);
            assert!(histogram.lefts.iter().all(|edge| edge.is_finite()));
        }
    }
}
