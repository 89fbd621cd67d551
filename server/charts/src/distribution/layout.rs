//! Layout of distribution charts in CSS pixels, and hit testing.

use super::{Spec, View};
use crate::frame::{Anchor, Rect, Ruler, Size, Tick};
use crate::geometry::x_labels;
use crate::label;
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
    /// The horizontal axis: of values, or of steps.
    pub(super) x: Ruler,
    /// The vertical axis: of steps for ridges, of shares for curves, otherwise of values.
    pub(super) y: Ruler,
    /// The greatest share of a bin.
    pub(super) greatest: f64,
    /// Height of the highest ridge.
    pub(super) ridge: f64,
    /// True for a lane of NaN, and for one of infinities.
    pub(super) lanes: (bool, bool),
    /// Labels below.
    pub x_ticks: Vec<Tick>,
}

impl Layout {
    /// Computes the layout; sizes that leave no room give a plot without extent, never an error.
    pub fn new(spec: &Spec) -> Self {
        let Size { width, height, dpr } = Size::new(spec.width, spec.height, spec.dpr);
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
        let is_ridges = spec.view == View::Offset;
        let has_lanes = !is_ridges;
        let lane = |is: bool| if is && has_lanes { LANE } else { 0.0 };
        let top = (TOP + lane(lanes.0) + lane(lanes.1)).min(height);
        let bottom = (height - LABELS).max(top);
        let (up, y_labels) = match spec.view {
            View::Overlay => {
                let (shares, found) = ticks::widen(0.0, greatest, Scale::Linear, 5);
                (shares, found.labelled())
            }
            View::Offset => (steps, x_labels(&steps, spec.kind, 7)),
            View::HeatMap | View::Percentiles => (values, ticks::of(&values, 7).labelled()),
        };
        let widest = label::widest(y_labels.iter().map(|(_, text)| text));
        let left = (widest + 12.0).clamp(36.0, 84.0).min(width);
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
        let ridge = RIDGE.min(plot.height() * RIDGE_SHARE);
        let along_y = if is_ridges {
            (top + ridge, bottom)
        } else {
            (bottom, top)
        };
        let across = if spec.view.has_values_across() {
            values
        } else {
            steps
        };
        let mut layout = Self {
            width,
            height,
            dpr,
            plot,
            x: Ruler::new(across, (left, right), Vec::new()),
            y: Ruler::new(up, along_y, Vec::new()),
            greatest,
            ridge,
            lanes: if has_lanes { lanes } else { (false, false) },
            x_ticks: Vec::new(),
        };
        if spec.edges.len() > 1 {
            layout.y.ticks = layout.apart(y_labels);
            layout.x_ticks = layout.spread(layout.fewer(spec));
        } else if rows().next().is_some() && !spec.view.has_values_across() {
            layout.x_ticks = layout.spread(x_labels(&steps, spec.kind, 5));
        }
        layout
    }

    pub(super) fn size(&self) -> Size {
        Size::new(self.width, self.height, self.dpr)
    }

    /// The labels at the left that do not overlap, as they would around the zero of a symmetric logarithm.
    fn apart(&self, mut labels: Vec<(f64, String)>) -> Vec<(f64, String)> {
        let (top, bottom) = (self.plot.top - 1.0, self.plot.bottom + 1.0);
        let mut last = f64::INFINITY;
        labels.retain(|(value, _)| {
            let at = self.y.px(*value).unwrap_or(f64::NAN);
            let fits = (top..=bottom).contains(&at) && (last - at).abs() >= LABEL_GAP;
            if fits {
                last = at;
            }
            fits
        });
        labels
    }

    /// As many labels as fit side by side.
    fn fewer(&self, spec: &Spec) -> Vec<(f64, String)> {
        let labels = |most| {
            if spec.view.has_values_across() {
                ticks::of(&self.x.axis, most).labelled()
            } else {
                x_labels(&self.x.axis, spec.kind, most)
            }
        };
        let mut found = labels(7);
        for most in (2..7).rev() {
            let widths = found.iter().map(|(_, text)| label::width(text) + 10.0);
            if widths.sum::<f64>() <= self.plot.width() {
                break;
            }
            found = labels(most);
        }
        found
    }

    /// Labels at their positions with a minimum distance.
    fn spread(&self, labels: Vec<(f64, String)>) -> Vec<Tick> {
        let mut free = f64::NEG_INFINITY;
        let ticks = labels.into_iter().filter_map(|(value, text)| {
            let at = self.x.px(value)?;
            let half = label::width(&text) / 2.0;
            let anchor = if at + half > self.width - 2.0 {
                Anchor::End
            } else if at - half < 2.0 {
                Anchor::Start
            } else {
                Anchor::Middle
            };
            let tick = Tick { at, text, anchor };
            let (from, to) = tick.extent();
            let fits = from >= free && (self.plot.left - 1.0..=self.plot.right + 1.0).contains(&at);
            if fits {
                free = to + 8.0;
            }
            fits.then_some(tick)
        });
        ticks.collect()
    }

    /// Vertical pixel of a share.
    pub(super) fn share_y(&self, share: f64) -> f64 {
        self.y.px(share).unwrap_or(self.plot.bottom)
    }

    /// Horizontal pixel of a position on the axis of steps.
    pub fn step_x(&self, at: f64) -> f64 {
        self.x.px(at).unwrap_or(f64::NAN)
    }

    /// Position on the axis of steps of a horizontal pixel.
    pub fn step_at(&self, x: f64) -> f64 {
        self.x.value(x)
    }

    /// Base line of the ridge at a position on the axis of steps.
    pub(super) fn row_y(&self, at: f64) -> f64 {
        self.y.px(at).unwrap_or(f64::NAN)
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
                let is_inside = (self.plot.top..=self.plot.bottom).contains(&y);
                is_inside.then(|| self.y.value(y))
            }
            View::Offset | View::Overlay => Some(self.x.value(x)),
        };
        let bin = bin.and_then(|value| bin_of(spec, value));
        Some(Hit { stack, row, bin })
    }

    fn nearest_curve(&self, spec: &Spec, x: f64, y: f64) -> Option<(usize, usize)> {
        let bin = bin_of(spec, self.x.value(x))?;
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
