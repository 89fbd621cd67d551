//! Histograms.

use super::super::event_file::{Fault, detailed};
use crate::body::Body;
use crate::histogram::Histogram;
use crate::wire::{Fields, Value, WireError};

/// A `Histogram`: buckets 1 (in them left edge 1, width 2, count 3), NaN 2, +∞ 3, −∞ 4, max 5, min 6, sum 7, count 8.
pub(super) fn read(message: &[u8]) -> Result<Body, Fault> {
    let mut histogram = Histogram::default();
    let mut count = None;
    for field in Fields::of(detailed(message)?) {
        match field? {
            (1, Value::Bytes(message)) => bucket(message, &mut histogram)?,
            (2, Value::Varint(number)) => histogram.nan = positive(number),
            (3, Value::Varint(number)) => histogram.pos_inf = positive(number),
            (4, Value::Varint(number)) => histogram.neg_inf = positive(number),
            (5, Value::Fixed64(bits)) => histogram.max = Some(f64::from_bits(bits)),
            (6, Value::Fixed64(bits)) => histogram.min = Some(f64::from_bits(bits)),
            (7, Value::Fixed64(bits)) => histogram.sum = Some(f64::from_bits(bits)),
            (8, Value::Varint(number)) => count = Some(number.cast_signed() as f64),
            _ => {}
        }
    }
    histogram.count = count.unwrap_or_else(|| histogram.counts.iter().sum());
    Ok(Body::Histogram(histogram))
}

fn bucket(message: &[u8], histogram: &mut Histogram) -> Result<(), WireError> {
    let [mut left, mut width, mut count] = [0.0; 3];
    for field in Fields::of(message) {
        match field? {
            (1, Value::Fixed64(bits)) => left = f64::from_bits(bits),
            (2, Value::Fixed64(bits)) => width = f64::from_bits(bits),
            (3, Value::Varint(number)) => count = number.cast_signed() as f64,
            _ => {}
        }
    }
    histogram.lefts.push(left);
    histogram.rights.push(left + width);
    histogram.counts.push(count);
    Ok(())
}

/// A count; negative numbers become 0.
fn positive(number: u64) -> u64 {
    u64::try_from(number.cast_signed()).unwrap_or(0)
}
