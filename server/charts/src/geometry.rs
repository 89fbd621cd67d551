//! Layout of plots in CSS pixels, for drawing, hit testing and zoom.
//!
//! From the top: 6 px, the plot, a lane of 22 px for values that cannot be drawn (always present, so that adjacent
//! plots line up), 22 px of x labels. Marks of infinite values have 14 px above or below the plot: no point of a curve
//! is hidden by them.

use crate::bounds;
use crate::frame::{Anchor, FARTHEST, Rect, Ruler, Size, Tick};
use crate::label;
use crate::scale::{Axis, Scale};
use crate::spec::{Class, Spec, XKind};
use crate::ticks;

const TOP: f64 = 6.0;
const RIGHT: f64 = 10.0;
const LEFT: (f64, f64) = (40.0, 76.0);
const LANE: f64 = 22.0;
const LABELS: f64 = 22.0;
/// Room for the marks of infinities at one edge.
pub(crate) const MARKS: f64 = 14.0;
/// Distance of rows in the lane.
pub(crate) const LANE_ROW: f64 = 7.0;
/// Room for a label of the y axis.
const Y_TICK_PIXELS: f64 = 18.0;
/// Minimum and maximum number of labels of the y axis.
const Y_TICKS: (f64, f64) = (3.0, 6.0);

/// The layout of one plot.
#[derive(Clone, Debug, PartialEq)]
pub struct Geometry {
    /// Total width, CSS pixels.
    pub width: f64,
    /// Total height.
    pub height: f64,
    /// Device pixels for one CSS pixel.
    pub dpr: f64,
    /// Plot area.
    pub plot: Rect,
    /// The x axis.
    pub x: Ruler,
    /// The y axis; its labels are empty without values.
    pub y: Ruler,
    /// Labels of the x axis.
    pub x_ticks: Vec<Tick>,
}

impl Geometry {
    /// Computes the layout; sizes that leave no room give a plot without extent, never an error.
    pub fn new(spec: &Spec) -> Self {
        let Size { width, height, dpr } = Size::new(spec.width, spec.height, spec.dpr);
        let all_x = spec.lines.iter().flat_map(|line| line.x.iter().copied());
        let x_scale = bounds::with_linear_part(spec.x_scale, all_x);
        let (from, to) = bounds::of_x(spec.x, x_scale, &spec.lines);
        let x = Axis::new(from, to, x_scale);
        let drawn = spec.lines.iter().flat_map(|line| {
            let values = line.values.iter().chain(&line.low).chain(&line.high);
            values.copied()
        });
        let scale = bounds::with_linear_part(spec.scale, drawn);
        let bounds = bounds::of(&spec.lines, &x, scale, spec.y_range, &spec.limits);
        let (lo, hi) = bounds.unwrap_or((0.0, 1.0));
        let marks_of = |class| {
            let mut stretches = spec.lines.iter().flat_map(|line| &line.stretches);
            if stretches.any(|stretch| stretch.class == class) {
                MARKS
            } else {
                0.0
            }
        };
        let top = (TOP + marks_of(Class::PosInf)).min(height);
        let bottom = (height - LANE - LABELS - marks_of(Class::NegInf)).max(top);
        let most = ticks::room(bottom - top, Y_TICK_PIXELS, Y_TICKS);
        let (y, y_ticks) = ticks::widen(lo, hi, scale, most);
        let mut y_ticks = y_ticks.labelled();
        if bounds.is_none() {
            for (_, text) in &mut y_ticks {
                text.clear();
            }
        }
        let widest = label::widest(y_ticks.iter().map(|(_, text)| text));
        let left = (widest + 12.0).clamp(LEFT.0, LEFT.1).min(width);
        let right = (width - RIGHT).max(left);
        let mut geometry = Self {
            width,
            height,
            dpr,
            plot: Rect {
                left,
                top,
                right,
                bottom,
            },
            x: Ruler::new(x, (left, right), Vec::new()),
            y: Ruler::new(y, (bottom, top), y_ticks),
            x_ticks: Vec::new(),
        };
        if spec.lines.iter().any(|line| !line.x.is_empty()) {
            geometry.x_ticks = geometry.place_x(spec.x_kind);
        }
        geometry
    }

    /// As many labels as fit, at most seven.
    fn place_x(&self, kind: XKind) -> Vec<Tick> {
        let mut placed = Vec::new();
        for most in (2..=7).rev() {
            let labels = x_labels(&self.x.axis, kind, most).into_iter();
            placed = labels
                .map(|(value, text)| self.x_tick(value, text))
                .collect();
            let fits = placed
                .windows(2)
                .all(|pair: &[Tick]| pair[0].extent().1 + 10.0 <= pair[1].extent().0);
            if fits {
                return placed;
            }
        }
        placed.truncate(1);
        placed
    }

    fn x_tick(&self, value: f64, text: String) -> Tick {
        let at = self.x_px(value);
        let half = label::width(&text) / 2.0;
        // A label may extend beyond the plot by the width of the margin.
        let (at, anchor) = if at + half > self.plot.right + RIGHT - 2.0 {
            (self.plot.right, Anchor::End)
        } else if at - half < 2.0 {
            (at, Anchor::Start)
        } else {
            (at, Anchor::Middle)
        };
        Tick { at, text, anchor }
    }

    /// Pixel of an x value; infinite for values far outside, NaN for values without a position.
    pub fn x_px(&self, value: f64) -> f64 {
        match self.x.px(value) {
            Some(x) => x,
            // Zero and below are before the beginning of any logarithmic axis.
            None if value.is_finite() => self.plot.left - self.plot.width() * FARTHEST,
            None => f64::NAN,
        }
    }

    /// x value at a pixel, within the plot.
    pub fn x_at(&self, px: f64) -> f64 {
        self.x.value(px)
    }

    pub(crate) fn size(&self) -> Size {
        Size::new(self.width, self.height, self.dpr)
    }

    /// Width of a column of device pixels.
    pub(crate) fn column(&self) -> f64 {
        1.0 / self.dpr
    }

    /// Bottom of the lane, above the x labels.
    pub fn lane_bottom(&self) -> f64 {
        (self.height - LABELS).max(self.plot.bottom)
    }

    pub(crate) fn lane_middle(&self) -> f64 {
        self.lane_bottom() - LANE / 2.0 + 2.0
    }

    /// Middle of the x labels.
    pub(crate) fn label_y(&self) -> f64 {
        self.lane_bottom() + 12.0
    }
}

/// The end of a range of x that shows everything. For a growing run it is the next half tick, so that the axis moves
/// only when that is passed; otherwise a nearly reached tick is included with its label.
pub fn end_of(lo: f64, hi: f64, kind: XKind, is_growing: bool) -> f64 {
    let axis = Axis::new(lo, hi, Scale::Linear);
    let (ticks, _) = x_values(&axis, kind, 6);
    let half = ticks.step / 2.0;
    let grown = (axis.hi() / half).ceil() * half;
    let is_near = grown - hi <= 0.02 * (hi - lo);
    if grown.is_finite() && half > 0.0 && (is_growing || is_near) {
        grown.max(hi)
    } else {
        hi
    }
}

fn x_values(axis: &Axis, kind: XKind, most: u32) -> (ticks::Ticks, f64) {
    // Times that are not evenly spaced have no clock to follow.
    if axis.scale() != Scale::Linear {
        return (ticks::of(axis, most), 0.0);
    }
    match kind {
        XKind::Value => (ticks::of(axis, most), 0.0),
        XKind::Step => {
            let mut ticks = ticks::linear(axis.lo(), axis.hi(), most);
            if ticks.step < 1.0 {
                // Steps are integers.
                ticks.values.retain(|value| value.fract().abs() < 1e-9);
                ticks.step = 1.0;
            }
            (ticks, 0.0)
        }
        XKind::Relative => (ticks::time(axis.lo(), axis.hi(), most, 0.0), 0.0),
        XKind::Wall { offset_secs } => (
            ticks::time(axis.lo(), axis.hi(), most, offset_secs),
            offset_secs,
        ),
    }
}

pub(crate) fn x_labels(axis: &Axis, kind: XKind, most: u32) -> Vec<(f64, String)> {
    let (ticks, offset) = x_values(axis, kind, most);
    let text = |value: f64| match kind {
        XKind::Step => label::fixed(value, 0),
        XKind::Relative => label::duration(value, ticks.step),
        XKind::Wall { .. } => label::clock(value + offset, ticks.step),
        XKind::Value => String::new(),
    };
    match kind {
        XKind::Value => ticks.labelled(),
        _ => ticks.values.iter().map(|&at| (at, text(at))).collect(),
    }
}
