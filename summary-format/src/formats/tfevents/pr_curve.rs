//! Precision and recall over thresholds.

use super::super::event_file::Fault;
use crate::body::{Body, PrCurve};
use crate::formats::tensor_proto::TensorProto;

const WRONG_SHAPE: Fault = Fault("precision and recall are not a tensor of six rows");

/// A tensor with a column for each threshold and these rows: true positives, false positives, true negatives, false
/// negatives, precision, recall.
pub(super) fn read(tensor: &TensorProto<'_>) -> Result<Body, Fault> {
    let [6, len] = tensor.shape[..] else {
        return Err(WRONG_SHAPE);
    };
    let numbers = tensor.numbers()?;
    let columns = numbers.len() / 6;
    if columns as u64 != len {
        return Err(WRONG_SHAPE);
    }
    let row = |index: usize| numbers[index * columns..(index + 1) * columns].to_vec();
    let last = columns.saturating_sub(1).max(1) as f64;
    Ok(Body::PrCurve(PrCurve {
        thresholds: (0..columns).map(|index| index as f64 / last).collect(),
        true_positives: row(0),
        false_positives: row(1),
        true_negatives: row(2),
        false_negatives: row(3),
        precision: row(4),
        recall: row(5),
    }))
}
