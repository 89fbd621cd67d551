//! Map of a loss landscape: areas between levels, lines at the levels, cells without a surface, and paths of trainings.
//!
//! A [`Map`] is plain data in the coordinates of the plane; [`Layout`] computes its place on the screen.

pub(crate) mod draw;
mod labels;

use crate::label;
use crate::profile::axes::{Ruler, Unit};
use crate::profile::{Rect, Size};
use crate::theme::{Rgb, Theme};

/// A point of the plane.
pub type Point = (f64, f64);

/// Margins of the plot, CSS pixels: left, right, top, and bottom with and without the key of the colours.
const MARGINS: (f64, f64, f64) = (44.0, 14.0, 12.0);
const BOTTOM: (f64, f64) = (54.0, 30.0);
/// Room for a label along each axis, CSS pixels.
const TICK_PIXELS: (f64, f64) = (90.0, 60.0);

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

/// Places of a map on the screen.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    /// The plot.
    pub plot: Rect,
    x: Ruler,
    y: Ruler,
}

impl Layout {
    /// The layout of a map in a size.
    pub fn new(map: &Map, size: Size) -> Self {
        let size = size.clamped();
        let (left, right, top) = MARGINS;
        let bottom = if map.key.is_some() {
            BOTTOM.0
        } else {
            BOTTOM.1
        };
        let (mut wide, mut high) = (
            (size.width - left - right).max(1.0),
            (size.height - top - bottom).max(1.0),
        );
        let (x, y) = (map.x.1 - map.x.0, map.y.1 - map.y.0);
        if map.is_equal && x > 0.0 && y > 0.0 {
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
        Self {
            x: Ruler::exact(
                map.x,
                (left, plot.right),
                most(wide, TICK_PIXELS.0),
                Unit::Count,
            ),
            y: Ruler::exact(
                map.y,
                (plot.bottom, top),
                most(high, TICK_PIXELS.1),
                Unit::Count,
            ),
            plot,
        }
    }

    /// Position of a point of the plane, within the plot.
    pub fn place(&self, (x, y): Point) -> (f64, f64) {
        (self.x.at(x), self.y.at(y))
    }

    /// The point of the plane at a position; `None` outside of the plot.
    pub fn point(&self, (x, y): (f64, f64)) -> Option<Point> {
        self.plot
            .has(x, y)
            .then(|| (self.x.value(x), self.y.value(y)))
    }
}

/// Number of ticks that have room.
fn most(length: f64, each: f64) -> u32 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 2 and 12"
    )]
    let most = (length / each).clamp(2.0, 12.0) as u32;
    most
}

/// Width of a text on a plate.
fn plate(text: &str) -> f64 {
    label::width(text) + 6.0
}
