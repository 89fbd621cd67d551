//! Statistics of a tensor, computed on the caller's thread: a summary in one pass, and a histogram in a second one.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use trainscope_format::Histogram;
use trainscope_format::statistics::{Role, TensorSummary};
use trainscope_format::tensor::{self, ChannelStats, DType, Select, TensorStats};

use crate::policy::SamplePolicy;
use crate::ranges::{self, Ranges};
use crate::tensor::TensorView;

/// Copy of a tensor at its previous sample.
#[derive(Debug)]
struct Snapshot {
    dtype: DType,
    bytes: Vec<u8>,
}

/// Copies of tensors for computing changes, bounded in bytes.
#[derive(Debug)]
pub(crate) struct Snapshots {
    kept: Mutex<SnapshotStore>,
    limit_bytes: usize,
}

#[derive(Debug, Default)]
struct SnapshotStore {
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

    /// Stores the bytes in the memory of an earlier snapshot. `false` if the limit is reached.
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
        // A smaller tensor releases the excess memory.
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

/// State between samples of tensors.
#[derive(Debug)]
pub(crate) struct Memory {
    pub(crate) snapshots: Snapshots,
    pub(crate) ranges: Ranges,
}

pub(crate) struct SampleResult {
    pub(crate) summary: TensorSummary,
    pub(crate) histogram: Option<Histogram>,
    /// `true` if the tensor could not be stored for its next change.
    pub(crate) is_change_skipped: bool,
}

/// Computes the selected figures in one pass, or in two if the range of the histogram has to change.
pub(crate) fn look(
    policy: &SamplePolicy,
    memory: &Memory,
    (name, role): (&str, Role),
    view: &TensorView<'_>,
    bytes: &[u8],
) -> SampleResult {
    let dtype = view.dtype();
    let range = memory.ranges.get(name).filter(|_| policy.histograms);
    let before = policy.change.and_then(|_| memory.snapshots.take(name));
    // With a different type or length it is another tensor.
    let comparable = before
        .as_ref()
        .filter(|before| before.dtype == dtype && before.bytes.len() == bytes.len());
    let read = |bytes: &[u8]| {
        let mut select = Select::new();
        if policy.exponents {
            select = select.exponents();
        }
        if policy.hash {
            select = select.hash();
        }
        if let Some((low, high)) = range {
            select = select.histogram(low, high, tensor::Histogram::BINS);
        }
        if let (Some(tolerance), Some(before)) = (policy.change, comparable) {
            select = select.change(&before.bytes, tolerance);
        }
        select.read(dtype, bytes)
    };
    let mut selected = read(bytes);
    let copy;
    let mut bytes = bytes;
    if !selected.stats.adds_up() {
        // Another thread writes to the tensor while it is read, in more than one pass: a copy stays as it is.
        copy = bytes.to_vec();
        bytes = &copy;
        selected = read(bytes);
    }
    let is_change_skipped =
        policy.change.is_some() && !memory.snapshots.keep(name, dtype, bytes, before);
    let shape = view.file_shape();
    let channels = policy
        .channel_axis(role)
        .and_then(|axis| ChannelStats::of(dtype, &shape, bytes, axis));
    let histogram = policy.histograms.then(|| {
        let counted = selected.histogram.filter(|counted| {
            let finite = selected.stats.finite;
            finite.is_some_and(|finite| ranges::fits((counted.low, counted.high), &finite))
        });
        let counted = counted.or_else(|| {
            let finite = selected
                .stats
                .finite
                .filter(|finite| finite.min < finite.max)?;
            let range = ranges::around(&finite);
            memory.ranges.keep(name, range);
            Some(count(range, dtype, bytes))
        });
        match counted {
            Some(counted) => of_counts(&selected.stats, &counted),
            None => histogram(&selected.stats, dtype, bytes),
        }
    });
    SampleResult {
        summary: TensorSummary {
            role,
            dtype,
            shape,
            stats: selected.stats,
            hash: selected.hash,
            change: selected.change,
            channels,
        },
        histogram,
        is_change_skipped,
    }
}

/// Histogram from the minimum to the maximum, which `stats` holds.
pub(crate) fn histogram(stats: &TensorStats, dtype: DType, bytes: &[u8]) -> Histogram {
    let counted = match stats.finite {
        Some(finite) if finite.min < finite.max => count((finite.min, finite.max), dtype, bytes),
        // All elements are equal: a bin without width.
        Some(finite) => tensor::Histogram {
            bins: vec![stats.finite_count()],
            ..tensor::Histogram::new(finite.min, finite.max, 1)
        },
        None => tensor::Histogram::new(0.0, 0.0, 0),
    };
    of_counts(stats, &counted)
}

fn count((low, high): (f64, f64), dtype: DType, bytes: &[u8]) -> tensor::Histogram {
    let mut counted = tensor::Histogram::new(low, high, tensor::Histogram::BINS);
    counted.add(dtype, bytes);
    counted
}

/// Converts counts of a tensor with these statistics into a record.
fn of_counts(stats: &TensorStats, counted: &tensor::Histogram) -> Histogram {
    let bins = counted.bins.len();
    // Ordered so that no difference overflows an `f64`.
    let edge = |bin: usize| {
        let share = bin as f64 / bins as f64;
        counted.low * (1.0 - share) + counted.high * share
    };
    let finite = stats.finite;
    let count = stats.finite_count() as f64;
    Histogram {
        lefts: (0..bins).map(edge).collect(),
        rights: (1..=bins).map(edge).collect(),
        counts: counted.bins.iter().map(|&count| count as f64).collect(),
        nan: stats.nan,
        pos_inf: stats.pos_inf,
        neg_inf: stats.neg_inf,
        min: finite.map(|finite| finite.min),
        max: finite.map(|finite| finite.max),
        sum: finite.map(|finite| finite.mean * count),
        sum_squares: finite.map(|finite| finite.l2 * finite.l2),
        count,
    }
}

#[cfg(test)]
mod tests {
    use super::{
        Histogram, Memory, Ranges, Role, SamplePolicy, Snapshots, TensorStats, TensorSummary,
        TensorView,
    };
    use trainscope_format::tensor::DType;

    fn memory(snapshot_bytes: usize) -> Memory {
        Memory {
            snapshots: Snapshots::new(snapshot_bytes),
            ranges: Ranges::default(),
        }
    }

    fn look(memory: &Memory, policy: &SamplePolicy, numbers: &[f32]) -> super::SampleResult {
        let shape = [numbers.len()];
        let view = TensorView::of(numbers, &shape);
        let bytes = view.elements().unwrap();
        super::look(policy, memory, ("w", Role::Weight), &view, &bytes)
    }

    fn seen(memory: &Memory, policy: &SamplePolicy, numbers: &[f32]) -> (TensorSummary, bool) {
        let seen = look(memory, policy, numbers);
        (seen.summary, seen.is_change_skipped)
    }

    fn histogram(memory: &Memory, numbers: &[f32]) -> Histogram {
        let policy = SamplePolicy::every(1).histograms();
        let histogram = look(memory, &policy, numbers).histogram.unwrap();
        let counted: f64 = histogram.counts.iter().sum();
        let finite = numbers.iter().filter(|x| x.is_finite()).count();
        assert!((counted - finite as f64).abs() < 0.5, "{histogram:?}");
        histogram
    }

    #[test]
    fn bins_stay_until_they_do_not_fit() {
        let memory = memory(0);
        let first = histogram(&memory, &[-1.0, 0.5, 1.0]).lefts;
        for still in [
            &[-1.05, 0.0, 1.1][..],
            &[-0.5, 0.5],
            &[1.0, -1.0, f32::NAN, f32::INFINITY],
        ] {
            assert_eq!(histogram(&memory, still).lefts, first);
        }
        let wider = histogram(&memory, &[-1.0, 1.5]).lefts;
        assert!(wider != first);
        let narrower = histogram(&memory, &[-0.1, 0.1]).lefts;
        assert!(narrower != wider);
        assert_eq!(histogram(&memory, &[f32::NAN]).lefts.len(), 0);
        assert_eq!(histogram(&memory, &[0.05, 0.05]).lefts.len(), 1);
        assert_eq!(histogram(&memory, &[-0.1, 0.1]).lefts, narrower);
    }

    #[test]
    fn change_is_from_when_it_was_last_looked_at() {
        let memory = memory(1 << 10);
        let policy = SamplePolicy::every(1).change();
        assert_eq!(seen(&memory, &policy, &[1.0, 2.0]).0.change, None);
        let change = seen(&memory, &policy, &[1.0, 3.0]).0.change.unwrap();
        assert_eq!((change.count, change.changed), (2, 1));
        let change = seen(&memory, &policy, &[1.0, 3.0]).0.change.unwrap();
        assert_eq!(change.changed, 0);
        assert_eq!(
            seen(&memory, &policy, &[1.0]).0.change,
            None,
            "another tensor"
        );
    }

    #[test]
    fn snapshots_are_bounded() {
        let memory = memory(8);
        let policy = SamplePolicy::every(1).change();
        assert!(!seen(&memory, &policy, &[1.0, 2.0]).1);
        assert!(seen(&memory, &policy, &[1.0, 2.0, 3.0]).1);
        assert_eq!(memory.snapshots.kept.lock().unwrap().len_bytes, 0);
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
