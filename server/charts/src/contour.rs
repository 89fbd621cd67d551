//! Map of a loss landscape: areas between levels, lines at the levels, cells without a surface, and paths of trainings.
//!
//! A [`Map`] is plain data in the coordinates of the plane; its [`Frame`] has the places on the screen.

pub(crate) mod draw;
mod labels;

use crate::frame::{Frame, Rect, Ruler, Size, Unit};
use crate::label;
use crate::theme::{Rgb, Theme};
use crate::ticks;

/// A point of the plane.
pub type Point = (f64, f64);

/// Margins of the plot, CSS pixels: left, right, top, and bottom with and without the key of the colours.
const MARGINS: (f64, f64, f64) = (44.0, 14.0, 12.0);
const BOTTOM: (f64, f64) = (54.0, 30.0);
/// Room for a label along each axis, CSS pixels, and the minimum and maximum number of labels.
const TICK_PIXELS: (f64, f64) = (90.0, 60.0);
const TICKS: (f64, f64) = (2.0, 12.0);

/// Points of an outline, or of a line.
pub type Outline = Vec<Point>;
/// A cell without a surface: its lower and upper corner, and `true` for NaN, `false` for infinities.
pub type Gap = (Point, Point, bool);

/// States of a training in the plane.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Path {
    /// Colour of the run.
    pub colour: Rgb,
    /// The states, in order, with their labels. Those that are not finite are left out.
    pub states: Vec<(Point, String)>,
    /// End of the training.
    pub end: Option<Point>,
}

/// Content of a map.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Map {
    /// Extent along the first direction.
    pub x: (f64, f64),
    /// Extent along the second direction.
    pub y: (f64, f64),
    /// Texts at the ends of both axes.
    pub names: [String; 2],
    /// `true` if a unit is as long along both axes.
    pub is_equal: bool,
    /// Outlines of the area with a surface: counter-clockwise, of holes clockwise.
    pub area: Vec<Outline>,
    /// For each level, ascending, the outlines of the area at or above it, in the same way.
    pub above: Vec<Vec<Outline>>,
    /// For each level its lines.
    pub lines: Vec<Vec<Outline>>,
    /// For each level its value as text.
    pub texts: Vec<String>,
    /// `true` if lines and texts of the levels are drawn.
    pub has_lines: bool,
    /// Text and lines of the level that bounds the basin of the end.
    pub limit: Option<(String, Vec<Outline>)>,
    /// Cells without a surface.
    pub gaps: Vec<Gap>,
    /// Paths, the first on top.
    pub paths: Vec<Path>,
    /// Minimum value as text, for the key of the colours below the map, and the name of the values. `None` for no key.
    pub key: Option<(String, String)>,
    /// A chosen point.
    pub mark: Option<Point>,
}

/// Number of shades: reports have a dark one for each.
const SHADES: f64 = 48.0;

/// Colour of the area between two levels, from 0 for the lowest: the lower the loss, the further from the surface.
pub(crate) fn tone(theme: &Theme, band: usize, bands: usize) -> Rgb {
    let height = band as f64 / (bands.max(2) - 1) as f64;
    let share = 0.02 + 0.82 * (1.0 - height).max(0.0).powf(1.15);
    theme.sequence((share * SHADES).round() / SHADES)
}

impl Map {
    /// The frame of the map in a size.
    pub fn frame(&self, size: Size) -> Frame {
        let size = size.clamped();
        let (left, right, top) = MARGINS;
        let bottom = if self.key.is_some() {
            BOTTOM.0
        } else {
            BOTTOM.1
        };
        let (mut wide, mut high) = (
            (size.width - left - right).max(1.0),
            (size.height - top - bottom).max(1.0),
        );
        let (x, y) = (self.x.1 - self.x.0, self.y.1 - self.y.0);
        if self.is_equal && x > 0.0 && y > 0.0 {
            let unit = (wide / x).min(high / y);
            if unit.is_finite() && unit > 0.0 {
                (wide, high) = (x * unit, y * unit);
            }
        }
        let plot = Rect {
            left,
            top,
            right: left + wide,
            bottom: top + high,
        };
        let across = (left, plot.right);
        let most = ticks::room(wide, TICK_PIXELS.0, TICKS);
        let x = Ruler::exact(self.x, across, most, Unit::Count);
        let up = (plot.bottom, top);
        let most = ticks::room(high, TICK_PIXELS.1, TICKS);
        let y = Ruler::exact(self.y, up, most, Unit::Count);
        Frame { plot, x, y }
    }
}

/// Width of a text on a plate.
fn plate(text: &str) -> f64 {
    label::width(text) + 6.0
}
