//! Loss landscapes.

use super::super::event_file::Fault;
use crate::message::Message;
use crate::surface::{Grid, Landscape, Points};
use crate::wire::{Fields, Value, WireError, doubles, text, varints, zigzags};

/// Surface 1, path 2, convergence point 3, intervals 4, decomposition 5, unit 6, steps per epoch 7, plane 8, variance
/// 9, normalisation 10, samples 11.
pub(crate) fn write(landscape: &Landscape) -> Message {
    let mut message = Message::default();
    for (number, points) in [
        (1, &landscape.surface),
        (2, &landscape.path),
        (3, &landscape.convergence_point),
    ] {
        if let Some(points) = points {
            message.message(number, &write_points(points));
        }
    }
    message.packed_zigzags(4, landscape.intervals.iter().copied());
    message.text(5, &landscape.decomposition);
    message.text(6, &landscape.unit);
    message.count(7, u64::try_from(landscape.steps_per_epoch).unwrap_or(0));
    message.text(8, &landscape.plane);
    message.packed_doubles(9, landscape.variance.iter().copied());
    message.text(10, &landscape.normalisation);
    message.count(11, landscape.samples);
    message
}

/// x 1, y 2, z 3: sizes 1, numbers 2.
fn write_points(points: &Points) -> Message {
    let mut message = Message::default();
    for (number, grid) in [(1, &points.x), (2, &points.y), (3, &points.z)] {
        let mut nested = Message::default();
        nested.packed_varints(1, grid.shape.iter().copied());
        nested.packed_doubles(2, grid.values.iter().copied());
        message.message(number, &nested);
    }
    message
}

pub(super) fn read(message: &[u8]) -> Result<Landscape, Fault> {
    let mut landscape = Landscape::default();
    for field in Fields::of(message) {
        match field? {
            (1, Value::Bytes(points)) => landscape.surface = Some(read_points(points)?),
            (2, Value::Bytes(points)) => landscape.path = Some(read_points(points)?),
            (3, Value::Bytes(points)) => landscape.convergence_point = Some(read_points(points)?),
            (4, value) => zigzags(value, |interval| landscape.intervals.push(interval))?,
            (5, Value::Bytes(bytes)) => landscape.decomposition = text(bytes),
            (6, Value::Bytes(bytes)) => landscape.unit = text(bytes),
            (7, Value::Varint(steps)) => landscape.steps_per_epoch = steps.cast_signed().max(0),
            (8, Value::Bytes(bytes)) => landscape.plane = text(bytes),
            (9, value) => doubles(value, &mut landscape.variance)?,
            (10, Value::Bytes(bytes)) => landscape.normalisation = text(bytes),
            (11, Value::Varint(samples)) => landscape.samples = samples,
            _ => {}
        }
    }
    match landscape.fault() {
        Some(fault) => Err(Fault(fault)),
        None => Ok(landscape),
    }
}

fn read_points(message: &[u8]) -> Result<Points, WireError> {
    let mut points = Points::default();
    for field in Fields::of(message) {
        match field? {
            (1, Value::Bytes(grid)) => points.x = read_grid(grid)?,
            (2, Value::Bytes(grid)) => points.y = read_grid(grid)?,
            (3, Value::Bytes(grid)) => points.z = read_grid(grid)?,
            _ => {}
        }
    }
    Ok(points)
}

fn read_grid(message: &[u8]) -> Result<Grid, WireError> {
    let mut grid = Grid::default();
    for field in Fields::of(message) {
        match field? {
            (1, value) => varints(value, |size| grid.shape.push(size))?,
            (2, value) => doubles(value, &mut grid.values)?,
            _ => {}
        }
    }
    Ok(grid)
}
