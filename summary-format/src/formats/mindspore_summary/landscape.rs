//! Loss landscapes.

use super::super::event_file::Fault;
use super::tensor::grid;
use crate::body::Body;
use crate::surface::{Landscape, Points};
use crate::wire::{Fields, Value, WireError, int32, text, varints};

/// A `LossLandscape`: surface 1, path 2 (intervals 1, points 2), metadata 3 (decomposition 1, unit 2, steps per epoch
/// 3), convergence point 4.
pub(super) fn read(message: &[u8]) -> Result<Body, Fault> {
    let mut landscape = Landscape::default();
    for field in Fields::of(message) {
        match field? {
            (1, Value::Bytes(message)) => landscape.surface = Some(points(message)?),
            (2, Value::Bytes(path)) => {
                for field in Fields::of(path) {
                    match field? {
                        (1, value) => {
                            varints(value, |bits| landscape.intervals.push(int32(bits).into()))?;
                        }
                        (2, Value::Bytes(message)) => landscape.path = Some(points(message)?),
                        _ => {}
                    }
                }
            }
            (3, Value::Bytes(metadata)) => {
                for field in Fields::of(metadata) {
                    match field? {
                        (1, Value::Bytes(bytes)) => landscape.decomposition = text(bytes),
                        (2, Value::Bytes(bytes)) => landscape.unit = text(bytes),
                        (3, Value::Varint(bits)) => landscape.steps_per_epoch = int32(bits).into(),
                        _ => {}
                    }
                }
            }
            (4, Value::Bytes(message)) => landscape.convergence_point = Some(points(message)?),
            _ => {}
        }
    }
    match landscape.fault() {
        Some(fault) => Err(Fault(fault)),
        None => Ok(Body::Landscape(Box::new(landscape))),
    }
}

/// A `Point`, which holds many: x 1, y 2, z 3.
fn points(message: &[u8]) -> Result<Points, WireError> {
    let mut points = Points::default();
    for field in Fields::of(message) {
        match field? {
            (1, Value::Bytes(tensor)) => points.x = grid(tensor)?,
            (2, Value::Bytes(tensor)) => points.y = grid(tensor)?,
            (3, Value::Bytes(tensor)) => points.z = grid(tensor)?,
            _ => {}
        }
    }
    Ok(points)
}
