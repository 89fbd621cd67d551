//! Layout of plots in CSS pixels, for drawing, hit testing and zoom.
//!
//! From the top: 6 px, the plot, a lane of 22 px for values that cannot be drawn (always present, so that adjacent
//! plots line up), 22 px of x labels. Marks of infinite values have 14 px above or below the plot: no point of a curve
//! is hidden by them.

use crate::bounds;
use crate::label;
use crate::paint::device_pixels;
use crate::path::Rect;
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

/// A tick with its label.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// Position along the axis.
    pub at: f64,
    /// Its label.
    pub text: String,
    /// True if the label begins here instead of being centred, because it would leave the card otherwise.
    pub starts_at: bool,
    /// True if the label ends here.
    pub ends_at: bool,
}

impl Tick {
    /// Both ends of the label.
    pub fn extent(&self) -> (f64, f64) {
        let width = label::width(&self.text);
        if self.ends_at {
            (self.at - width, self.at)
        } else if self.starts_at {
            (self.at, self.at + width)
        } else {
            (self.at - width / 2.0, self.at + width / 2.0)
        }
    }
}

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
    pub x: Axis,
    /// The y axis.
    pub y: Axis,
    /// Labels of the x axis.
    pub x_ticks: Vec<Tick>,
    /// Labels of the y axis; empty without values.
    pub y_ticks: Vec<Tick>,
}

impl Geometry {
    /// Computes the layout; sizes that leave no room give a plot without extent, never an error.
    pub fn new(spec: &Spec) -> Self {
        let dpr = device_pixels(spec.dpr);
        let size = |length: f64| {
            if length.is_finite() {
                length.clamp(0.0, 32_768.0)
            } else {
                0.0
            }
        };
        let (width, height) = (size(spec.width), size(spec.height));
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
        let room = (bottom - top) / Y_TICK_PIXELS;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "from 3 to 6"
        )]
        let most = room.clamp(Y_TICKS.0, Y_TICKS.1) as u32;
        let (y, y_values) = ticks::widen(lo, hi, scale, most);
        let y_labels = if bounds.is_some() {
            label::ticks(&y_values.values, y_values.step)
        } else {
            vec![String::new(); y_values.values.len()]
        };
        let widest = y_labels.iter().map(|l| label::width(l)).fold(0.0, f64::max);
        let left = (widest + 12.0).clamp(LEFT.0, LEFT.1).min(width);
        let plot = Rect {
            left,
            top,
            right: (width - RIGHT).max(left),
            bottom,
        };
        let mut geometry = Self {
            width,
            height,
            dpr,
            plot,
            x,
            y,
            x_ticks: Vec::new(),
            y_ticks: Vec::new(),
        };
        geometry.y_ticks = y_values
            .values
            .iter()
            .zip(y_labels)
            .filter_map(|(&value, text)| {
                Some(Tick {
                    at: geometry.y_px(value)?,
                    text,
                    starts_at: false,
                    ends_at: false,
                })
            })
            .collect();
        if spec.lines.iter().any(|line| !line.x.is_empty()) {
            geometry.x_ticks = geometry.place_x(spec.x_kind);
        }
        geometry
    }

    /// As many labels as fit, at most seven.
    fn place_x(&self, kind: XKind) -> Vec<Tick> {
        let mut placed = Vec::new();
        for most in (2..=7).rev() {
            let (values, labels) = x_labels(&self.x, kind, most);
            placed = values
                .iter()
                .zip(labels)
                .map(|(&value, text)| self.x_tick(value, text))
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
        let ends_at = at + half > self.plot.right + RIGHT - 2.0;
        let starts_at = !ends_at && at - half < 2.0;
        Tick {
            at: if ends_at {
                at.max(self.plot.right).min(self.plot.right)
            } else {
                at
            },
            text,
            starts_at,
            ends_at,
        }
    }

    /// Pixel of an x value; infinite for values far outside, NaN for values without a position.
    pub fn x_px(&self, value: f64) -> f64 {
        let fraction = match self.x.fraction(value) {
            Some(fraction) => fraction,
            // Zero and below are before the beginning of any logarithmic axis.
            None if value.is_finite() => f64::NEG_INFINITY,
            None => f64::NAN,
        };
        self.plot.left + self.plot.width() * fraction.clamp(-1e6, 1e6)
    }

    /// x value at a pixel.
    pub fn x_at(&self, px: f64) -> f64 {
        let width = self.plot.width().max(f64::MIN_POSITIVE);
        self.x.value((px - self.plot.left) / width)
    }

    /// Pixel of a y value; `None` if the axis cannot show it.
    pub fn y_px(&self, value: f64) -> Option<f64> {
        let fraction = self.y.fraction(value)?;
        Some(self.plot.bottom - self.plot.height() * fraction.clamp(-1e6, 1e6))
    }

    /// y value at a pixel.
    pub fn y_at(&self, px: f64) -> f64 {
        let height = self.plot.height().max(f64::MIN_POSITIVE);
        self.y.value((self.plot.bottom - px) / height)
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

    /// Columns of device pixels of the plot: the useful number of points to request.
    pub fn columns(&self) -> usize {
        let columns = (self.plot.width() * self.dpr).ceil().clamp(1.0, 1e6);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "clamped to 1 … 1,000,000"
        )]
        let columns = columns as usize;
        columns
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

pub(crate) fn x_labels(axis: &Axis, kind: XKind, most: u32) -> (Vec<f64>, Vec<String>) {
    let (ticks, offset) = x_values(axis, kind, most);
    if kind == XKind::Value {
        let labels = label::ticks(&ticks.values, ticks.step);
        return (ticks.values, labels);
    }
    let text = |&value: &f64| match kind {
        XKind::Step | XKind::Value => label::fixed(value, 0),
        XKind::Relative => label::duration(value, ticks.step),
        XKind::Wall { .. } => label::clock(value + offset, ticks.step),
    };
    let labels = ticks.values.iter().map(text).collect();
    (ticks.values, labels)
}
