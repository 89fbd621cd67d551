//! Lines, bands and axes on a plotters backend.

use plotters::prelude::{DrawResult, DrawingBackend};

use super::{Lane, LaneNames, Layout, PlacedAxis, ease};
use crate::frame::{Anchor, Point};
use crate::pen::{DASH, Ink, Pen, paint};
use crate::theme::{Rgb, Theme};

/// Straight pieces of a curve between two axes.
const PIECES: usize = 14;
/// Width and opacity of the surface around a line.
const CASING: (f64, f64) = (2.25, 0.8);
/// Maximum opacity of a band.
const BAND: f64 = 0.18;
/// Maximum opacity of overlapping bands: lines stay visible on them.
const BANDS: f64 = 0.45;
/// Half the width of a cross of NaN.
const CROSS: f64 = 3.5;

/// A line with its look.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Stroke {
    pub row: usize,
    pub colour: Rgb,
    /// Opacity, 0 to 1.
    pub alpha: f64,
    /// Width in CSS pixels.
    pub width: f64,
    /// `true` if the surface shines around it, so that lines below it end there.
    pub has_casing: bool,
}

/// Draws the lines of rows, the last one on top. Curves to and from a lane are dashed; those of NaN and infinities have
/// their colours.
///
/// # Errors
/// Errors of the backend.
pub fn draw_lines<DB: DrawingBackend>(
    backend: DB,
    layout: &Layout,
    strokes: &[Stroke],
    theme: &Theme,
) -> DrawResult<(), DB> {
    paint(backend, layout.size(), theme, 1.0, |pen| {
        lines(pen, layout, strokes);
    })
}

fn lines(pen: &Pen<'_>, layout: &Layout, strokes: &[Stroke]) {
    let eased = eased();
    for stroke in strokes {
        for part in parts(layout, stroke.row, &eased) {
            let colour = match part.lane {
                Some(Lane::Nan) => pen.theme.nan,
                Some(Lane::PosInf | Lane::NegInf) => pen.theme.inf,
                _ => stroke.colour,
            };
            if stroke.has_casing {
                let casing = Ink(pen.theme.surface, CASING.1);
                pen.path(&part.points, stroke.width + CASING.0, casing);
            }
            let ink = Ink(colour, stroke.alpha);
            if part.lane.is_some() {
                pen.dashed(&part.points, DASH, stroke.width, ink);
            } else {
                pen.path(&part.points, stroke.width, ink);
            }
        }
    }
}

/// Draws the bands of rows on axes that have them.
///
/// # Errors
/// Errors of the backend.
pub fn draw_bands<DB: DrawingBackend>(
    backend: DB,
    layout: &Layout,
    strokes: &[Stroke],
    theme: &Theme,
) -> DrawResult<(), DB> {
    paint(backend, layout.size(), theme, 1.0, |pen| {
        bands(pen, layout, strokes);
    })
}

fn bands(pen: &Pen<'_>, layout: &Layout, strokes: &[Stroke]) {
    let eased = eased();
    let opacity = BAND.min(1.0 - (1.0 - BANDS).powf(1.0 / strokes.len().max(1) as f64));
    for stroke in strokes {
        for pair in layout.axes.windows(2) {
            let edges = |axis: &PlacedAxis| {
                let y = *axis.y.get(stroke.row)?;
                let band = axis
                    .bands
                    .as_ref()
                    .and_then(|bands| bands.get(stroke.row).copied());
                Some(band.unwrap_or((y, y)))
            };
            let (Some(from), Some(to)) = (edges(&pair[0]), edges(&pair[1])) else {
                continue;
            };
            let along = |from: f32, to: f32| curve((pair[0].x, from), (pair[1].x, to), &eased);
            let mut outline = along(from.0, to.0);
            outline.extend(along(from.1, to.1).into_iter().rev());
            pen.polygon(&outline, Ink(stroke.colour, opacity));
        }
    }
}

/// Draws axes with labels and marks of lanes, without heads.
///
/// # Errors
/// Errors of the backend.
pub fn draw_axes<DB: DrawingBackend>(
    backend: DB,
    layout: &Layout,
    names: LaneNames,
    theme: &Theme,
) -> DrawResult<(), DB> {
    paint(backend, layout.size(), theme, 1.0, |pen| {
        axes(pen, layout, names);
    })
}

/// Draws bands, lines below and above, axes, captions and names on the surface.
pub(crate) fn paint_whole(
    pen: &Pen<'_>,
    layout: &Layout,
    (below, above): (&[Stroke], &[Stroke]),
    names: LaneNames,
) {
    let whole = (layout.width, layout.height);
    pen.rect((0.0, 0.0), whole, pen.theme.surface);
    bands(pen, layout, above);
    lines(pen, layout, below);
    lines(pen, layout, above);
    axes(pen, layout, names);
    heads(pen, layout);
}

fn axes(pen: &Pen<'_>, layout: &Layout, names: LaneNames) {
    for axis in &layout.axes {
        let x = pen.snap(axis.x - 0.5);
        pen.vertical(x, (layout.top, layout.bottom), pen.theme.ink_3);
        for (y, text) in &axis.ticks {
            pen.over((x + 10.0, *y), Anchor::Start, text, pen.theme.ink_2);
        }
        for lane in &axis.used {
            mark(pen, (axis.x, layout.lane_y(*lane)), *lane, names);
        }
    }
}

/// Captions over neighbours of one group, and the names of axes.
fn heads(pen: &Pen<'_>, layout: &Layout) {
    for axis in &layout.axes {
        pen.text((axis.x, 31.0), Anchor::Middle, &axis.name, pen.theme.ink);
    }
    for (group, from, to) in layout.groups() {
        pen.horizontal((from, to), 16.0, pen.theme.base);
        pen.text((from, 7.0), Anchor::Start, group, pen.theme.ink_2);
    }
}

/// The mark of a lane on an axis, with its name.
fn mark(pen: &Pen<'_>, (x, y): Point, lane: Lane, names: LaneNames) {
    let colour = match lane {
        Lane::Nan => pen.theme.nan,
        Lane::PosInf | Lane::NegInf => pen.theme.inf,
        Lane::Missing | Lane::OffScale | Lane::Text => pen.theme.ink_3,
    };
    match lane {
        Lane::Nan => pen.cross((x, y), CROSS, colour),
        _ => pen.ring((x, y), 2.5, 1.25, colour),
    }
    pen.over((x + 8.0, y), Anchor::Start, lane.label(names), colour);
}

/// A connected part of a line with one look.
struct Part {
    points: Vec<Point>,
    /// The lane that it begins or ends in.
    lane: Option<Lane>,
}

/// Parts of the line of a row.
fn parts(layout: &Layout, row: usize, eased: &[f64]) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for pair in layout.axes.windows(2) {
        let (Some(from), Some(to)) = (pair[0].y.get(row), pair[1].y.get(row)) else {
            continue;
        };
        let lane_of = |axis: &PlacedAxis| axis.lanes.get(row).copied().flatten();
        let lane = [lane_of(&pair[0]), lane_of(&pair[1])]
            .into_iter()
            .flatten()
            .min();
        let points = curve((pair[0].x, *from), (pair[1].x, *to), eased);
        match parts.last_mut() {
            Some(last) if last.lane == lane => last.points.extend(points.into_iter().skip(1)),
            _ => parts.push(Part { points, lane }),
        }
    }
    parts
}

fn curve((x, y): (f64, f32), (to_x, to_y): (f64, f32), eased: &[f64]) -> Vec<Point> {
    let (y, to_y) = (f64::from(y), f64::from(to_y));
    let last = eased.len().saturating_sub(1).max(1) as f64;
    let at = |(index, share): (usize, &f64)| {
        (x + (to_x - x) * index as f64 / last, y + (to_y - y) * share)
    };
    eased.iter().enumerate().map(at).collect()
}

/// Vertical shares at the ends of the pieces of a curve.
fn eased() -> Vec<f64> {
    (0..=PIECES)
        .map(|piece| ease(piece as f64 / PIECES as f64))
        .collect()
}
