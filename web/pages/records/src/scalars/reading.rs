//! Values of a card's lines at a position.

use super::picture::{Picture, extent_of};

/// Value of a line at a position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Reading {
    /// Index of the line.
    pub(super) line: usize,
    /// Step of the point or bucket.
    pub(super) step: i64,
    /// Height of the drawn line.
    pub(super) smoothed: f64,
    /// Recorded value; of a bucket its last.
    pub(super) value: f64,
    /// Minimum and maximum finite value of a bucket.
    pub(super) bounds: Option<(f64, f64)>,
    /// Number of runs in the mean of a group.
    pub(super) count: Option<u32>,
}

impl Picture {
    /// The x of the nearest recorded point.
    pub(super) fn nearest(&self, x: f64) -> Option<f64> {
        let candidates = self.lines.iter().filter_map(|line| {
            let index = nearest_index(&line.x, x)?;
            line.x.get(index).copied()
        });
        candidates.min_by(|a, b| (a - x).abs().total_cmp(&(b - x).abs()))
    }

    /// The recorded x `count` points further (or back, if negative) over all lines.
    pub(super) fn beside(&self, x: f64, count: i32) -> Option<f64> {
        let mut at = x;
        for _ in 0..count.unsigned_abs() {
            let next = self.lines.iter().filter_map(|line| {
                let index = if count > 0 {
                    line.x.partition_point(|&other| other <= at)
                } else {
                    line.x.partition_point(|&other| other < at).checked_sub(1)?
                };
                line.x.get(index).copied()
            });
            let next = if count > 0 {
                next.min_by(f64::total_cmp)
            } else {
                next.max_by(f64::total_cmp)
            };
            let Some(next) = next else { break };
            at = next;
        }
        self.nearest(at)
    }

    /// Value of each line at x; `None` before its first and after its last point.
    pub(super) fn readings(&self, x: f64) -> Vec<Option<Reading>> {
        (0..self.lines.len())
            .map(|index| self.reading(index, x))
            .collect()
    }

    /// Last value of each line.
    pub(super) fn last_readings(&self) -> Vec<Option<Reading>> {
        (0..self.lines.len())
            .map(|line| self.read(line, self.lines[line].x.len().checked_sub(1)?))
            .collect()
    }

    fn reading(&self, line: usize, x: f64) -> Option<Reading> {
        let points = &self.lines.get(line)?.x;
        let index = nearest_index(points, x)?;
        // A line has no value outside of its range; one mean distance is tolerated as rounding.
        let (first, last) = extent_of(std::iter::once(points))?;
        let slack = (last - first) / (points.len().saturating_sub(1).max(1) as f64);
        if x < first - slack || x > last + slack {
            return None;
        }
        self.read(line, index)
    }

    fn read(&self, line: usize, index: usize) -> Option<Reading> {
        let curve = self.loaded.curves.get(line)?;
        let series = &curve.series;
        let bounds = series
            .min
            .get(index)
            .zip(series.max.get(index))
            .filter(|_| curve.has_bounds());
        Some(Reading {
            line,
            step: *series.steps.get(index)?,
            smoothed: *self.lines.get(line)?.values.get(index)?,
            value: *series.values.get(index)?,
            bounds: bounds.map(|(&lo, &hi)| (lo, hi)),
            count: curve
                .group
                .as_ref()
                .and_then(|group| group.counts.get(index).copied()),
        })
    }

    /// The line to compare another one with: that of the baseline with the same rank and writer, or its first.
    pub(super) fn baseline_of(&self, line: usize, baseline: &str) -> Option<usize> {
        let curves = &self.loaded.curves;
        let curve = curves.get(line)?;
        let of_baseline = || (0..curves.len()).filter(|&other| curves[other].shows(baseline));
        let same = of_baseline().find(|&other| {
            let id = &curves[other].id;
            id.rank == curve.id.rank && id.writer == curve.id.writer
        });
        same.or_else(|| of_baseline().next())
    }
}

/// Index of the nearest x in a list that ascends except at restarts.
fn nearest_index(points: &[f64], x: f64) -> Option<usize> {
    if points.is_sorted() {
        let behind = points.partition_point(|&other| other < x);
        let before = behind.saturating_sub(1);
        return match (points.get(before), points.get(behind)) {
            (Some(a), Some(b)) if (x - a).abs() > (b - x).abs() => Some(behind),
            (Some(_), _) => Some(before),
            (None, _) => None,
        };
    }
    let distances = points.iter().map(|other| (other - x).abs()).enumerate();
    distances
        .filter(|(_, distance)| !distance.is_nan())
        .min_by(|a, b| a.1.total_cmp(&b.1))
        .map(|(index, _)| index)
}
