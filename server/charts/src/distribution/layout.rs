//! Layout of distribution charts in CSS pixels, and hit testing.

use super::{Spec, View};
use crate::geometry::{Tick, x_labels};
use crate::label;
use crate::paint::device_pixels;
use crate::path::Rect;
use crate::scale::{Axis, Scale};
use crate::ticks;

const TOP: f64 = 8.0;
const RIGHT: f64 = 10.0;
/// Room at the right for the labels of percentiles.
const RIGHT_SHARES: f64 = 30.0;
/// Room at the right for non-finite values, beside ridges.
const RIGHT_NAMES: f64 = 62.0;
const LABELS: f64 = 22.0;
/// Minimum vertical distance of labels.
const LABEL_GAP: f64 = 12.0;
/// Height of a lane of non-finite values.
pub(super) const LANE: f64 = 14.0;
/// The highest ridge, and the share of the plot that it may take.
const RIDGE: f64 = 46.0;
const RIDGE_SHARE: f64 = 0.3;

/// Element under the pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    /// Index of the run.
    pub stack: usize,
    /// Index of the row.
    pub row: usize,
    /// Index of the bin, if bins are side by side under the pointer.
    pub bin: Option<usize>,
}

/// The layout of one chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    /// Total width, CSS pixels.
    pub width: f64,
    /// Total height.
    pub height: f64,
    /// Device pixels for one CSS pixel.
    pub dpr: f64,
    /// Plot area.
    pub plot: Rect,
    /// The axis of values.
    pub values: Axis,
    /// The axis of steps.
    pub steps: Axis,
    /// The axis of shares, for curves.
    pub(super) shares: Axis,
    /// The greatest share of a bin.
    pub(super) greatest: f64,
    /// Height of the highest ridge.
    pub(super) ridge: f64,
    /// True for a lane of NaN, and for one of infinities.
    pub(super) lanes: (bool, bool),
    /// Labels below.
    pub x_ticks: Vec<Tick>,
    /// Labels at the left.
    pub y_ticks: Vec<Tick>,
}

impl Layout {
    /// Computes the layout; sizes that leave no room give a plot without extent, never an error.
    pub fn new(spec: &Spec) -> Self {
        let size = |length: f64| {
            if length.is_finite() {
                length.clamp(0.0, 32_768.0)
            } else {
                0.0
            }
        };
        let (width, height) = (size(spec.width), size(spec.height));
        let rows = || spec.stacks.iter().flat_map(|stack| &stack.rows);
        let lanes = (rows().any(|row| row.nan > 0), rows().any(|row| row.inf > 0));
        let bound = |edge: Option<&f64>| edge.copied().unwrap_or(0.0);
        let values = Axis::new(
            bound(spec.edges.first()),
            bound(spec.edges.last()),
            spec.scale,
        );
        let places = || rows().map(|row| row.at).filter(|at| at.is_finite());
        let first = places().reduce(f64::min).unwrap_or(0.0);
        let last = places().reduce(f64::max).unwrap_or(1.0);
        let steps = Axis::new(first, last, Scale::Linear);
        let greatest = rows()
            .flat_map(|row| (0..row.counts.len()).map(|bin| row.share(bin)))
            .fold(0.0, f64::max);
        let (shares, share_ticks) = ticks::widen(0.0, greatest, Scale::Linear, 5);
        let is_ridges = spec.view == View::Offset;
        let has_lanes = !is_ridges;
        let lane = |is: bool| if is && has_lanes { LANE } else { 0.0 };
        let top = (TOP + lane(lanes.0) + lane(lanes.1)).min(height);
        let bottom = (height - LABELS).max(top);
        let y_labels = match spec.view {
            View::Overlay => label::ticks(&share_ticks.values, share_ticks.step),
            View::Offset => x_labels(&steps, spec.kind, 7).1,
            View::HeatMap | View::Percentiles => value_ticks(&values, 7).1,
        };
        let widest = y_labels.iter().map(|text| label::width(text));
        let left = (widest.fold(0.0, f64::max) + 12.0)
            .clamp(36.0, 84.0)
            .min(width);
        let names = is_ridges && (lanes.0 || lanes.1);
        let room = match spec.view {
            View::Offset if names => RIGHT_NAMES,
            View::HeatMap | View::Percentiles => RIGHT_SHARES,
            View::Offset | View::Overlay => RIGHT,
        };
        let right = (width - room).max(left);
        let plot = Rect {
            left,
            top,
            right,
            bottom,
        };
        let mut layout = Self {
            width,
            height,
            dpr: device_pixels(spec.dpr),
            plot,
            values,
            steps,
            shares,
            greatest,
            ridge: RIDGE.min(plot.height() * RIDGE_SHARE),
            lanes: if has_lanes { lanes } else { (false, false) },
            x_ticks: Vec::new(),
            y_ticks: Vec::new(),
        };
        if spec.edges.len() > 1 {
            layout.place_ticks(spec, (&share_ticks.values, y_labels));
        } else if rows().next().is_some() && !matches!(spec.view, View::Offset | View::Overlay) {
            layout.x_ticks = layout.across(&x_labels(&layout.steps, spec.kind, 5));
        }
        layout
    }

    fn place_ticks(&mut self, spec: &Spec, shares: (&[f64], Vec<String>)) {
        let values = value_ticks(&self.values, 7);
        let steps = |most| x_labels(&self.steps, spec.kind, most);
        let (across, up) = match spec.view {
            View::Offset => (self.fewer(|most| value_ticks(&self.values, most)), steps(7)),
            View::Overlay => (
                self.fewer(|most| value_ticks(&self.values, most)),
                (shares.0.to_vec(), shares.1),
            ),
            View::HeatMap | View::Percentiles => (self.fewer(steps), values),
        };
        let y_px = |value: f64| match spec.view {
            View::Offset => self.row_y(value),
            View::Overlay => self.share_y(value),
            View::HeatMap | View::Percentiles => self.value_y(value).unwrap_or(f64::NAN),
        };
        let up = up.0.iter().zip(up.1).map(|(&value, text)| Tick {
            at: y_px(value),
            text,
            starts_at: false,
            ends_at: false,
        });
        let (top, bottom) = (self.plot.top - 1.0, self.plot.bottom + 1.0);
        // Around the zero of a symmetric logarithm labels would overlap.
        let mut last = f64::INFINITY;
        let y_ticks = up
            .filter(|tick| {
                let fits = (top..=bottom).contains(&tick.at) && (last - tick.at).abs() >= LABEL_GAP;
                if fits {
                    last = tick.at;
                }
                fits
            })
            .collect();
        self.x_ticks = match spec.view {
            View::Offset | View::Overlay => self.across_values(&across),
            View::HeatMap | View::Percentiles => self.across(&across),
        };
        self.y_ticks = y_ticks;
    }

    /// As many labels as fit side by side.
    fn fewer(&self, labels: impl Fn(u32) -> (Vec<f64>, Vec<String>)) -> (Vec<f64>, Vec<String>) {
        let mut found = labels(7);
        for most in (2..7).rev() {
            let widths: f64 = found.1.iter().map(|text| label::width(text) + 10.0).sum();
            if widths <= self.plot.width() {
                break;
            }
            found = labels(most);
        }
        found
    }

    fn across(&self, (values, labels): &(Vec<f64>, Vec<String>)) -> Vec<Tick> {
        let places = values.iter().map(|&value| self.step_x(value));
        self.spread(places, labels)
    }

    fn across_values(&self, (values, labels): &(Vec<f64>, Vec<String>)) -> Vec<Tick> {
        let places = values
            .iter()
            .map(|&value| self.value_x(value).unwrap_or(f64::NAN));
        self.spread(places, labels)
    }

    /// Labels at their positions with a minimum distance.
    fn spread(&self, places: impl Iterator<Item = f64>, labels: &[String]) -> Vec<Tick> {
        let mut free = f64::NEG_INFINITY;
        let ticks = places.zip(labels).filter_map(|(at, text)| {
            let half = label::width(text) / 2.0;
            let tick = Tick {
                at,
                text: text.clone(),
                starts_at: at - half < 2.0,
                ends_at: at + half > self.width - 2.0,
            };
            let (from, to) = tick.extent();
            let fits = at.is_finite()
                && from >= free
                && (self.plot.left - 1.0..=self.plot.right + 1.0).contains(&at);
            if fits {
                free = to + 8.0;
            }
            fits.then_some(tick)
        });
        ticks.collect()
    }

    /// Horizontal pixel of a value, if the axis of values is horizontal.
    pub(super) fn value_x(&self, value: f64) -> Option<f64> {
        let fraction = self.values.fraction(value)?;
        Some(self.plot.left + self.plot.width() * fraction.clamp(-1e3, 1e3))
    }

    /// Vertical pixel of a value, if the axis of values is vertical.
    pub(super) fn value_y(&self, value: f64) -> Option<f64> {
        let fraction = self.values.fraction(value)?;
        Some(self.plot.bottom - self.plot.height() * fraction.clamp(-1e3, 1e3))
    }

    /// Vertical pixel of a share.
    pub(super) fn share_y(&self, share: f64) -> f64 {
        let fraction = self.shares.fraction(share).unwrap_or(0.0);
        self.plot.bottom - self.plot.height() * fraction.clamp(-1e3, 1e3)
    }

    /// Horizontal pixel of a position on the axis of steps.
    pub fn step_x(&self, at: f64) -> f64 {
        let fraction = self.steps.fraction(at).unwrap_or(f64::NAN);
        self.plot.left + self.plot.width() * fraction.clamp(-1e3, 1e3)
    }

    /// Position on the axis of steps of a horizontal pixel.
    pub fn step_at(&self, x: f64) -> f64 {
        let width = self.plot.width().max(f64::MIN_POSITIVE);
        self.steps.value((x - self.plot.left) / width)
    }

    /// Base line of the ridge at a position on the axis of steps.
    pub(super) fn row_y(&self, at: f64) -> f64 {
        let fraction = self.steps.fraction(at).unwrap_or(f64::NAN);
        let (from, to) = (self.plot.top + self.ridge, self.plot.bottom);
        from + (to - from) * fraction.clamp(-1e3, 1e3)
    }

    /// Left and right edge of a column of the heat map: half way to its neighbours.
    pub(super) fn column(&self, places: &[f64], index: usize) -> (f64, f64) {
        let at = |index: usize| places.get(index).map(|&at| self.step_x(at));
        let Some(here) = at(index) else {
            return (0.0, 0.0);
        };
        let before = index.checked_sub(1).and_then(at);
        let behind = at(index + 1);
        let (left, right) = match (before, behind) {
            (Some(before), Some(behind)) => {
                (f64::midpoint(before, here), f64::midpoint(here, behind))
            }
            (Some(before), None) => (f64::midpoint(before, here), here + (here - before) / 2.0),
            (None, Some(behind)) => (here - (behind - here) / 2.0, f64::midpoint(here, behind)),
            (None, None) => (self.plot.left, self.plot.right),
        };
        (left.max(self.plot.left), right.min(self.plot.right))
    }

    /// Element under a point.
    pub fn hit(&self, spec: &Spec, x: f64, y: f64) -> Option<Hit> {
        let is_inside = self.plot.left - 2.0 <= x
            && x <= self.plot.right + 2.0
            && (0.0..=self.plot.bottom + 6.0).contains(&y);
        if !is_inside {
            return None;
        }
        let nearest = |distance: &dyn Fn(f64) -> f64| {
            let all = spec.stacks.iter().enumerate().flat_map(|(stack, of)| {
                let rows = of.rows.iter().enumerate();
                rows.map(move |(row, r)| (stack, row, distance(r.at)))
            });
            let found = all.filter(|(.., distance)| distance.is_finite());
            found.min_by(|a, b| a.2.total_cmp(&b.2))
        };
        let (stack, row) = match spec.view {
            // The ridge with the nearest base line below the pointer.
            View::Offset => {
                let below = |at: f64| {
                    let distance = self.row_y(at) - y;
                    if distance < -3.0 {
                        f64::INFINITY
                    } else {
                        distance.abs()
                    }
                };
                let last = || {
                    spec.stacks
                        .first()
                        .map(|of| (0, of.rows.len().saturating_sub(1)))
                };
                nearest(&below).map(|hit| (hit.0, hit.1)).or_else(last)?
            }
            View::HeatMap | View::Percentiles => {
                let hit = nearest(&|at| (self.step_x(at) - x).abs())?;
                (hit.0, hit.1)
            }
            View::Overlay => self.nearest_curve(spec, x, y)?,
        };
        let bin = match spec.view {
            View::Percentiles => None,
            View::HeatMap => {
                let fraction = (self.plot.bottom - y) / self.plot.height().max(1.0);
                (0.0..=1.0).contains(&fraction).then_some(fraction)
            }
            View::Offset | View::Overlay => {
                Some(((x - self.plot.left) / self.plot.width().max(1.0)).clamp(0.0, 1.0))
            }
        };
        let bin = bin.and_then(|fraction| bin_of(spec, self.values.value(fraction)));
        Some(Hit { stack, row, bin })
    }

    fn nearest_curve(&self, spec: &Spec, x: f64, y: f64) -> Option<(usize, usize)> {
        let fraction = ((x - self.plot.left) / self.plot.width().max(1.0)).clamp(0.0, 1.0);
        let bin = bin_of(spec, self.values.value(fraction))?;
        let all = spec.stacks.iter().enumerate().flat_map(|(stack, of)| {
            let rows = of.rows.iter().enumerate();
            rows.map(move |(row, r)| (stack, row, (self.share_y(r.share(bin)) - y).abs()))
        });
        // Of overlapping curves, the newest.
        all.min_by(|a, b| a.2.total_cmp(&b.2).then(b.1.cmp(&a.1)))
            .map(|hit| (hit.0, hit.1))
    }
}

/// Index of the bin that contains a value.
fn bin_of(spec: &Spec, value: f64) -> Option<usize> {
    let bins = spec.edges.len().checked_sub(2)?;
    let above = spec.edges.partition_point(|edge| *edge <= value);
    Some(above.saturating_sub(1).min(bins))
}

fn value_ticks(axis: &Axis, most: u32) -> (Vec<f64>, Vec<String>) {
    let found = ticks::of(axis, most);
    let labels = label::ticks(&found.values, found.step);
    (found.values, labels)
}
