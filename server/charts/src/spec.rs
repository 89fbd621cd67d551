//! Content of a line plot: plain data in the units of the axes.

use crate::scale::Scale;
use crate::theme::Rgb;

/// Widths of strokes, CSS pixels.
const LINE_WIDTH: f64 = 1.5;
const MAIN_WIDTH: f64 = 2.0;

/// Unit of the x axis.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum XKind {
    /// Training steps.
    #[default]
    Step,
    /// Seconds since the run began.
    Relative,
    /// Seconds since 1970.
    Wall {
        /// Offset of local time from UTC.
        offset_secs: f64,
    },
    /// Values of another scalar: points are joined in the order of their steps, in any direction.
    Value,
}

/// Range of the y axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum YRange {
    /// All values drawn.
    #[default]
    All,
    /// All values but outliers, which leave the plot.
    Robust,
    /// 0 to 1 for any data, for shares that are compared between plots.
    Unit,
}

/// A horizontal line at a value set by the user.
#[derive(Clone, Debug, PartialEq)]
pub struct LimitLine {
    /// The value.
    pub value: f64,
    /// Text above it; may be empty.
    pub text: String,
    /// True if a value is beyond it, which makes it red.
    pub is_passed: bool,
}

/// Stroke style of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stroke {
    /// Without gaps.
    #[default]
    Solid,
    /// 5 on, 4 off: the second ten of the run colours.
    Dashed,
    /// Every `of`-th dash, beginning with the `index`-th: equal runs share one line.
    Shared {
        /// Index of the dash, below `of`.
        index: u8,
        /// Number of runs that share the line.
        of: u8,
    },
}

/// Classes of non-finite values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Not a number.
    Nan,
    /// Positive infinity.
    PosInf,
    /// Negative infinity.
    NegInf,
}

/// A range of consecutive points with values of one class.
#[derive(Clone, Debug, PartialEq)]
pub struct Stretch {
    /// Class.
    pub class: Class,
    /// x of the first such value.
    pub first: f64,
    /// x of the last such value.
    pub last: f64,
    /// Text next to the mark of an infinity (`+Inf at 411`); may be empty.
    pub label: String,
}

/// One curve. Each non-empty list has the length of `x`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    /// The run's colour.
    pub colour: Rgb,
    /// Stroke style.
    pub stroke: Stroke,
    /// True for the run of the page: drawn last and wider.
    pub is_main: bool,
    /// True for a growing run: its end is marked.
    pub is_live: bool,
    /// Positions, ascending; the line is interrupted wherever they go back.
    pub x: Vec<f64>,
    /// Values of the line, smoothed or not. A non-finite value is a gap.
    pub values: Vec<f64>,
    /// The recorded values, if they are drawn with a smoothed line.
    pub raw: Vec<f64>,
    /// Lower edge of the envelope, NaN without one.
    pub low: Vec<f64>,
    /// Upper edge of the envelope.
    pub high: Vec<f64>,
    /// Ranges of non-finite values.
    pub stretches: Vec<Stretch>,
    /// True if every recorded point is included: points may then be drawn as dots if there is room.
    pub is_raw: bool,
    /// Ranges of values to highlight in red.
    pub beyond: Vec<(f64, f64)>,
}

impl Line {
    /// Width of its stroke in CSS pixels.
    pub(crate) fn width(&self) -> f64 {
        if self.is_main { MAIN_WIDTH } else { LINE_WIDTH }
    }
}

/// Content of a plot.
#[derive(Clone, Debug, PartialEq)]
pub struct Spec {
    /// Width in CSS pixels.
    pub width: f64,
    /// Height in CSS pixels.
    pub height: f64,
    /// Device pixels for one CSS pixel.
    pub dpr: f64,
    /// Range of the x axis.
    pub x: (f64, f64),
    /// Unit of the x axis.
    pub x_kind: XKind,
    /// Scale of the x axis; a logarithmic one begins at the first positive x if the range begins before it.
    pub x_scale: Scale,
    /// Scale of the y axis; a symmetric one with `linear` 0 takes it from the data.
    pub scale: Scale,
    /// Range of the y axis.
    pub y_range: YRange,
    /// Limits set by the user.
    pub limits: Vec<LimitLine>,
    /// The curves.
    pub lines: Vec<Line>,
}
