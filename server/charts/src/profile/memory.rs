//! Memory over time: layers by category, the longest-lived at the bottom, with the peak, limits and phases.

use super::{Chart, Hit, Shade};
use crate::frame::{Anchor, Frame, Point, Rect, Ruler, Size, Unit};
use crate::label;
use crate::pen::{Ink, Pen};

/// Ticks of both axes.
const TICKS: (u32, u32) = (7, 6);
/// Width of the line between two layers, CSS pixels.
const SEAM: f64 = 0.75;

/// Error of a position that came from a time, CSS pixels.
const ROUNDING: f64 = 0.01;

/// Layers over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Memory {
    /// Times of the points, ascending.
    pub times: Vec<f64>,
    /// Layers from below.
    pub layers: Vec<Layer>,
    /// Reserved bytes at the points; empty if unknown.
    pub reserved: Vec<f64>,
    /// Size of the device with its text.
    pub limit: Option<(f64, String)>,
    /// Moment and bytes of the peak with its text.
    pub peak: Option<(f64, f64, String)>,
    /// Starts of phases with their names.
    pub phases: Vec<(f64, String)>,
}

/// Bytes of a category.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Layer {
    /// Its colour.
    pub shade: Shade,
    /// Bytes at the points.
    pub bytes: Vec<f64>,
}

impl Memory {
    /// Upper edge of each layer at each point.
    fn edges(&self) -> Vec<Vec<f64>> {
        let mut below = vec![0.0; self.times.len()];
        let edges = self.layers.iter().map(|layer| {
            for (sum, bytes) in below.iter_mut().zip(&layer.bytes) {
                *sum += if bytes.is_finite() { *bytes } else { 0.0 };
            }
            below.clone()
        });
        edges.collect()
    }

    fn frame(&self, size: Size) -> Frame {
        let plot = Rect::within(size, [54.0, 10.0, 14.0, 22.0]);
        let mut most = 0.0_f64;
        for index in 0..self.times.len() {
            let bytes = self
                .layers
                .iter()
                .filter_map(|layer| layer.bytes.get(index));
            most = most.max(bytes.filter(|bytes| bytes.is_finite()).sum());
        }
        let lines = self.reserved.iter().copied();
        let lines = lines.chain(self.limit.iter().map(|limit| limit.0));
        let most = lines
            .chain(self.peak.iter().map(|peak| peak.1))
            .fold(most, f64::max);
        let first = self.times.first().copied().unwrap_or(0.0);
        let last = self.times.last().copied().unwrap_or(1.0);
        let across = (plot.left, plot.right);
        Frame {
            plot,
            x: Ruler::exact((first, last), across, TICKS.0, Unit::Nanos),
            y: Ruler::from_zero(most, (plot.bottom, plot.top), TICKS.1, Unit::Bytes),
        }
    }
}

impl Chart for Memory {
    fn draw(&self, pen: &Pen<'_>) {
        let frame = self.frame(pen.size);
        let Frame { plot, x, y } = &frame;
        pen.frame(&frame);
        let edges = self.edges();
        // Bytes change at an event and stay until the next one.
        let stairs = |bytes: &[f64]| -> Vec<Point> {
            let mut corners: Vec<Point> = Vec::with_capacity(2 * bytes.len());
            for (time, bytes) in self.times.iter().zip(bytes) {
                let at = x.at(*time);
                corners.extend(corners.last().map(|before| (at, before.1)));
                corners.push((at, y.at(*bytes)));
            }
            corners
        };
        let floor = vec![0.0; self.times.len()];
        for (index, layer) in self.layers.iter().enumerate() {
            let below = index.checked_sub(1).and_then(|below| edges.get(below));
            let below = below.unwrap_or(&floor);
            let Some(above) = edges.get(index) else {
                continue;
            };
            let upper = stairs(above);
            let lower = stairs(below).into_iter().rev();
            let outline: Vec<Point> = upper.iter().copied().chain(lower).collect();
            if upper.len() > 1 {
                pen.polygon(&outline, layer.shade.colour(pen.theme));
                pen.path(&upper, SEAM, pen.theme.surface);
            }
        }
        for (time, name) in &self.phases {
            let at = x.at(*time);
            pen.dashed_down(at, (plot.top, plot.bottom), pen.theme.ink_3);
            if at + label::width(name) + 8.0 < plot.right {
                let at = (at + 5.0, plot.top + 60.0);
                pen.over(at, Anchor::Start, name, pen.theme.ink_2);
            }
        }
        let reserved = stairs(&self.reserved);
        if reserved.len() > 1 {
            pen.path(&reserved, 1.0, Ink(pen.theme.ink_2, 0.7));
        }
        if let Some((bytes, text)) = &self.limit {
            let at = y.at(*bytes);
            pen.dashed_across((plot.left, plot.right), at, pen.theme.error);
            let at = (plot.right, (at - 8.0).max(7.0));
            pen.over(at, Anchor::End, text, pen.theme.error);
        }
        if let Some((time, bytes, text)) = &self.peak {
            let (at, top) = (x.at(*time), y.at(*bytes));
            pen.dashed_down(at, (top, plot.bottom), pen.theme.ink);
            pen.disc((at, top), 5.0, pen.theme.surface);
            pen.disc((at, top), 3.5, pen.theme.ink);
            let is_left = at - 12.0 - label::width(text) > plot.left;
            let (place, anchor) = if is_left {
                (at - 9.0, Anchor::End)
            } else {
                (at + 9.0, Anchor::Start)
            };
            let y = (top - 2.0).max(8.0);
            pen.over((place, y), anchor, text, pen.theme.ink);
        }
    }

    fn hit(&self, size: Size, at: Point) -> Option<Hit> {
        let frame = self.frame(size);
        // A point at the very position counts, though it was rounded.
        let (time, bytes) = (frame.x.value(at.0 + ROUNDING), frame.point(at)?.1);
        let after = self.times.partition_point(|moment| *moment <= time);
        let index = after.saturating_sub(1);
        let edges = self.edges();
        let part = edges
            .iter()
            .position(|edge| edge.get(index) >= Some(&bytes));
        self.times.get(index)?;
        Some(Hit { index, part })
    }

    fn outline(&self, size: Size, hit: Hit) -> Option<Rect> {
        let time = *self.times.get(hit.index)?;
        Some(self.frame(size).outline_at(time))
    }
}
