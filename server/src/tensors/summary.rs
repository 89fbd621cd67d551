//! Summary of a slice: counts, moments, minimum and maximum with positions, and a histogram. One pass, and a second
//! one for a histogram, whose range the first has to find.

use std::cmp::Ordering;

use tokio_util::sync::CancellationToken;
use trainscope_api::tensors::{
    Bins, MAX_BINS, MAX_SUMMARY_BYTES, Positions, Slice, TensorQuery, TensorSlice,
};
use trainscope_format::tensor::{ChangeStats, DType, Histogram, Select, TensorStats};

use super::find::{OpenTensor, TensorError};
use super::values::{other, slice_or_whole, tolerance};
use crate::index::Index;
use crate::tensor_files::read::TensorReadError;
use crate::tensor_files::stored::{Plan, ReadableTensor};

/// Summary of a query's slice of an opened tensor.
///
/// It ends early, with an error, once `gone` is cancelled because the client has disconnected.
pub(crate) fn summary(
    index: &Index,
    query: &TensorQuery,
    mut opened: OpenTensor,
    gone: &CancellationToken,
) -> Result<TensorSlice, TensorError> {
    let bins = query.bins.unwrap_or(0);
    if bins > MAX_BINS {
        return Err(TensorError::BadRequest(format!(
            "`bins` wants 0 to {MAX_BINS}, not {bins}"
        )));
    }
    opened.stored.end_with(gone);
    let slice = slice_or_whole(query, &opened.stored.shape)?;
    let size = opened.stored.dtype.size_bytes() as u64;
    if slice.len().saturating_mul(size) > MAX_SUMMARY_BYTES {
        return Err(TensorError::TooLarge(format!(
            "the slice `{slice}` takes more than {MAX_SUMMARY_BYTES} bytes, which is more than one answer reads"
        )));
    }
    let other = other(index, query, &opened.place)?.map(|(_, other)| other);
    let other = other.filter(|other| other.stored.is_alike(&opened.stored));
    let unread = |unread| TensorError::unread(&opened.place.file, unread);
    let mut seen = ElementSummary::default();
    let mut read_bytes = seen
        .look(&opened, &slice, other.as_ref(), query)
        .map_err(unread)?;
    let mut histogram = None;
    if let (1.., Some(finite)) = (bins, seen.stats.finite) {
        let (low, high) = (
            query.low.unwrap_or(finite.min),
            query.high.unwrap_or(finite.max),
        );
        let is_range = low <= high && low.is_finite() && high.is_finite();
        if !is_range {
            return Err(TensorError::BadRequest(format!(
                "bins from {low} to {high} hold nothing"
            )));
        }
        let mut counted = Histogram::new(low, high, bins);
        let mut blocks = opened.stored.blocks(&slice);
        while let Some((_, block)) = blocks.next().map_err(unread)? {
            counted.add(opened.stored.dtype, block);
        }
        read_bytes += blocks.read_bytes;
        histogram = Some(Bins {
            low,
            high,
            counts: counted.bins,
            below: counted.below,
            above: counted.above,
        });
    }
    Ok(TensorSlice {
        place: opened.place,
        slice: slice.to_string(),
        stats: seen.stats,
        positions: seen.positions,
        histogram,
        change: seen.change,
        read_bytes,
    })
}

/// Counts and moments of all elements.
pub(crate) fn stats(stored: &ReadableTensor) -> Result<TensorStats, TensorReadError> {
    let mut stats = TensorStats::default();
    let mut blocks = stored.blocks(&Slice::whole(&stored.shape));
    while let Some((_, block)) = blocks.next()? {
        stats.merge(&Select::new().read(stored.dtype, block).stats);
    }
    Ok(stats)
}

#[derive(Default)]
struct ElementSummary {
    stats: TensorStats,
    positions: Positions,
    change: Option<ChangeStats>,
}

impl ElementSummary {
    /// Passes over all elements; returns the number of bytes read.
    fn look(
        &mut self,
        opened: &OpenTensor,
        slice: &Slice,
        other: Option<&OpenTensor>,
        query: &TensorQuery,
    ) -> Result<u64, TensorReadError> {
        let stored = &opened.stored;
        let mut blocks = stored.blocks(slice);
        let mut others = other.map(|other| other.stored.blocks(slice));
        loop {
            let before = match &mut others {
                Some(others) => others.next()?.map(|(_, block)| block),
                None => None,
            };
            let Some((first, block)) = blocks.next()? else {
                break;
            };
            let mut select = Select::new();
            if let Some(before) = before {
                select = select.change(before, tolerance(query));
            }
            let seen = select.read(stored.dtype, block);
            let block = Block {
                dtype: stored.dtype,
                bytes: block,
                stats: &seen.stats,
            };
            let wanted = block.wanted(&self.stats, &self.positions, stored.is_column_major());
            let found = block.find(wanted);
            self.stats.merge(&seen.stats);
            match (&mut self.change, seen.change) {
                (Some(sofar), Some(change)) => sofar.merge(&change),
                (None, change) => self.change = change,
                (Some(_), None) => {}
            }
            for (class, place) in found {
                self.keep(
                    &blocks.plan,
                    class,
                    first + place,
                    wanted[class] == SearchReason::New,
                );
            }
        }
        Ok(blocks.read_bytes + others.map_or(0, |others| others.read_bytes))
    }

    /// Stores the position of an element, if its indices come first among equals.
    fn keep(&mut self, plan: &Plan, class: usize, counter: u64, is_new: bool) {
        let positions = &mut self.positions;
        let kept = [
            &mut positions.min,
            &mut positions.max,
            &mut positions.nan,
            &mut positions.pos_inf,
            &mut positions.neg_inf,
        ];
        let indices = plan.indices(counter);
        if let Some(kept) = kept.into_iter().nth(class)
            && (is_new
                || kept
                    .as_ref()
                    .is_none_or(|kept| indices.cmp(kept) == Ordering::Less))
        {
            *kept = Some(indices);
        }
    }
}

/// Reason for searching a block for an element.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SearchReason {
    No,
    /// An equal one, which may come before in the order of indices.
    Equal,
    /// A better one.
    New,
}

/// Elements of one block.
struct Block<'a> {
    dtype: DType,
    bytes: &'a [u8],
    stats: &'a TensorStats,
}

impl Block<'_> {
    /// Classes to search for: minimum, maximum, NaN, +∞ and −∞.
    fn wanted(&self, sofar: &TensorStats, kept: &Positions, any_order: bool) -> [SearchReason; 5] {
        let equal = if any_order {
            SearchReason::Equal
        } else {
            SearchReason::No
        };
        let extreme = |is_better: fn(f64, f64) -> bool, of: fn(&TensorStats) -> Option<f64>| match (
            of(self.stats),
            of(sofar),
        ) {
            (None, _) => SearchReason::No,
            (Some(_), None) => SearchReason::New,
            (Some(value), Some(best)) if is_better(value, best) => SearchReason::New,
            (Some(value), Some(best)) if is_better(best, value) => SearchReason::No,
            _ => equal,
        };
        let first = |count: u64, kept: &Option<Vec<u64>>| match (count, kept) {
            (0, _) => SearchReason::No,
            (_, None) => SearchReason::New,
            _ => equal,
        };
        [
            extreme(|a, b| a < b, |stats| Some(stats.finite?.min)),
            extreme(|a, b| a > b, |stats| Some(stats.finite?.max)),
            first(self.stats.nan, &kept.nan),
            first(self.stats.pos_inf, &kept.pos_inf),
            first(self.stats.neg_inf, &kept.neg_inf),
        ]
    }

    /// Positions within the block: of each class the first element, or all if any may come first.
    fn find(&self, wanted: [SearchReason; 5]) -> Vec<(usize, u64)> {
        let mut found = Vec::new();
        if wanted.iter().all(|wanted| *wanted == SearchReason::No) {
            return found;
        }
        let is_ordered = !wanted.contains(&SearchReason::Equal);
        let extremes = self.stats.finite.map(|finite| (finite.min, finite.max));
        let mut seen = [false; 5];
        let elements = self.bytes.chunks_exact(self.dtype.size_bytes());
        for (place, element) in (0..).zip(elements) {
            let number = self.dtype.number(element);
            let is = [
                extremes.is_some_and(|(min, _)| number <= min && number.is_finite()),
                extremes.is_some_and(|(_, max)| number >= max && number.is_finite()),
                number.is_nan(),
                number == f64::INFINITY,
                number == f64::NEG_INFINITY,
            ];
            for class in 0..5 {
                if is[class] && wanted[class] != SearchReason::No && !(is_ordered && seen[class]) {
                    seen[class] = true;
                    found.push((class, place));
                }
            }
        }
        found
    }
}
