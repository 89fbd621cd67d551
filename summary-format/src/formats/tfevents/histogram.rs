//! Histograms of both generations.

use super::super::event_file::Fault;
use crate::body::Body;
use crate::formats::tensor_proto::TensorProto;
use crate::histogram::Histogram;
use crate::wire::{Fields, Value, doubles};

const WRONG_LEN: Fault = Fault("a histogram has different numbers of edges and counts");
const WRONG_SHAPE: Fault = Fault("a histogram is not a tensor of three columns");

/// A `HistogramProto`: min 1, max 2, number of values 3, sum 4, sum of squares 5, upper edges 6, counts 7.
///
/// A bin begins at the end of the one before. The outermost bins reach to the limits of `f64`; as in `TensorBoard`,
/// the first non-empty bin is cut to begin at the smallest value, and the last one to end at the largest.
pub(super) fn first_generation(message: &[u8]) -> Result<Body, Fault> {
    let mut stated = [0.0; 5];
    let mut rights = Vec::new();
    let mut counts = Vec::new();
    for field in Fields::of(message) {
        match field? {
            (number @ 1..=5, Value::Fixed64(bits)) => {
                stated[number as usize - 1] = f64::from_bits(bits);
            }
            (6, value) => doubles(value, &mut rights)?,
            (7, value) => doubles(value, &mut counts)?,
            _ => {}
        }
    }
    if rights.len() != counts.len() {
        return Err(WRONG_LEN);
    }
    let [min, max, count, sum, sum_squares] = stated;
    // The smallest value is NaN if any value is: those are in no bin.
    let binned: f64 = counts.iter().sum();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a number of values, at least 1"
    )]
    let beside = (count - binned).max(1.0) as u64;
    let nan = if min.is_nan() || max.is_nan() {
        beside
    } else {
        0
    };
    let mut lefts = Vec::with_capacity(rights.len());
    // Some writers put an empty bin in front, which ends below the smallest value.
    lefts.extend(
        rights
            .first()
            .map(|&right| if min <= right { min } else { right }),
    );
    lefts.extend(rights.split_last().map_or(&[][..], |(_, inner)| inner));
    let holds_any = |count: &f64| *count > 0.0;
    if let Some(first) = counts.iter().position(holds_any)
        && (lefts[first]..=rights[first]).contains(&min)
    {
        lefts[first] = min;
    }
    let last = counts.iter().rposition(holds_any);
    for last in last.into_iter().chain(counts.len().checked_sub(1)) {
        if lefts[last] <= max && max < rights[last] {
            rights[last] = max;
        }
    }
    Ok(Body::Histogram(Histogram {
        lefts,
        rights,
        counts,
        min: Some(min),
        max: Some(max),
        sum: Some(sum),
        sum_squares: Some(sum_squares),
        count,
        nan,
        ..Histogram::default()
    }))
}

/// A tensor with a row for each bin: left edge, right edge, count. `exact` is field 1001: NaN 1, +∞ 2, −∞ 3, min 4,
/// max 5, sum 6, sum of squares 7, number of values 8.
pub(super) fn second_generation(
    tensor: &TensorProto<'_>,
    exact: Option<&[u8]>,
) -> Result<Body, Fault> {
    let [_, 3] = tensor.shape[..] else {
        return Err(WRONG_SHAPE);
    };
    let numbers = tensor.numbers()?;
    let (rows, _) = numbers.as_chunks::<3>();
    let mut histogram = Histogram {
        lefts: rows.iter().map(|row| row[0]).collect(),
        rights: rows.iter().map(|row| row[1]).collect(),
        counts: rows.iter().map(|row| row[2]).collect(),
        count: rows.iter().map(|row| row[2]).sum(),
        ..Histogram::default()
    };
    for field in Fields::of(exact.unwrap_or_default()) {
        match field? {
            (1, Value::Varint(number)) => histogram.nan = number,
            (2, Value::Varint(number)) => histogram.pos_inf = number,
            (3, Value::Varint(number)) => histogram.neg_inf = number,
            (4, Value::Fixed64(bits)) => histogram.min = Some(f64::from_bits(bits)),
            (5, Value::Fixed64(bits)) => histogram.max = Some(f64::from_bits(bits)),
            (6, Value::Fixed64(bits)) => histogram.sum = Some(f64::from_bits(bits)),
            (7, Value::Fixed64(bits)) => histogram.sum_squares = Some(f64::from_bits(bits)),
            (8, Value::Fixed64(bits)) => histogram.count = f64::from_bits(bits),
            _ => {}
        }
    }
    Ok(Body::Histogram(histogram))
}
