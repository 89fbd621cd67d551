//! Lines, bands and axes on a plotters backend.

use plotters::prelude::{DrawResult, DrawingBackend};

use super::{Lane, LaneNames, Layout, ease};
use crate::label;
use crate::paint::{Anchor, Ink, Painter, Point};
use crate::path::dash;
use crate::theme::{Rgb, Theme};

/// Straight pieces of a curve between two axes.
const PIECES: usize = 14;
/// Width and opacity of the surface around a line.
const CASING: (f64, f64) = (2.25, 0.8);
/// Dash and gap of a line through a lane.
const DASH: (f64, f64) = (4.0, 3.0);
/// Opacity of the ground of texts.
const GROUND: f64 = 0.88;
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
    let painter = Painter::new(backend, layout.dpr, &theme.font, 1.0);
    lines(&painter, layout, strokes, theme)?;
    painter.present()
}

fn lines<DB: DrawingBackend>(
    painter: &Painter<'_, DB>,
    layout: &Layout,
    strokes: &[Stroke],
    theme: &Theme,
) -> DrawResult<(), DB> {
    let eased = eased();
    for stroke in strokes {
        for part in parts(layout, stroke.row, &eased) {
            let colour = match part.lane {
                Some(Lane::Nan) => theme.nan,
                Some(Lane::PosInf | Lane::NegInf) => theme.inf,
                _ => stroke.colour,
            };
            if stroke.has_casing {
                let casing = Ink(theme.surface, CASING.1);
                painter.path(&part.points, stroke.width + CASING.0, casing)?;
            }
            let ink = Ink(colour, stroke.alpha);
            if part.lane.is_some() {
                for piece in dash(&part.points, DASH.0, DASH.1, 0.0) {
                    painter.path(&piece, stroke.width, ink)?;
                }
            } else {
                painter.path(&part.points, stroke.width, ink)?;
            }
        }
    }
    Ok(())
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
    let painter = Painter::new(backend, layout.dpr, &theme.font, 1.0);
    bands(&painter, layout, strokes)?;
    painter.present()
}

fn bands<DB: DrawingBackend>(
    painter: &Painter<'_, DB>,
    layout: &Layout,
    strokes: &[Stroke],
) -> DrawResult<(), DB> {
    let eased = eased();
    let opacity = BAND.min(1.0 - (1.0 - BANDS).powf(1.0 / strokes.len().max(1) as f64));
    for stroke in strokes {
        for pair in layout.axes.windows(2) {
            let edges = |axis: &super::PlacedAxis| {
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
            painter.polygon(&outline, Ink(stroke.colour, opacity))?;
        }
    }
    Ok(())
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
    let painter = Painter::new(backend, layout.dpr, &theme.font, 1.0);
    axes(&painter, layout, names, theme)?;
    painter.present()
}

/// Draws bands, lines below and above, axes, captions and names on the surface.
pub(crate) fn draw_whole<DB: DrawingBackend>(
    backend: DB,
    layout: &Layout,
    (below, above): (&[Stroke], &[Stroke]),
    names: LaneNames,
    theme: &Theme,
    font_scale: f64,
) -> DrawResult<(), DB> {
    let painter = Painter::new(backend, layout.dpr, &theme.font, font_scale);
    painter.rect((0.0, 0.0), (layout.width, layout.height), theme.surface)?;
    bands(&painter, layout, above)?;
    lines(&painter, layout, below, theme)?;
    lines(&painter, layout, above, theme)?;
    axes(&painter, layout, names, theme)?;
    heads(&painter, layout, theme)?;
    painter.present()
}

fn axes<DB: DrawingBackend>(
    painter: &Painter<'_, DB>,
    layout: &Layout,
    names: LaneNames,
    theme: &Theme,
) -> DrawResult<(), DB> {
    for axis in &layout.axes {
        let x = painter.snap(axis.x - 0.5);
        let to = (x + painter.hair(), layout.bottom);
        painter.rect((x, layout.top), to, theme.ink_3)?;
        for (y, text) in &axis.ticks {
            caption(painter, (x + 10.0, *y), text, theme.ink_2, theme)?;
        }
        for lane in &axis.used {
            mark(painter, (axis.x, layout.lane_y(*lane)), *lane, names, theme)?;
        }
    }
    Ok(())
}

/// Captions over neighbours of one group, and the names of axes.
fn heads<DB: DrawingBackend>(
    painter: &Painter<'_, DB>,
    layout: &Layout,
    theme: &Theme,
) -> DrawResult<(), DB> {
    for axis in &layout.axes {
        painter.text((axis.x, 31.0), Anchor::Middle, &axis.name, theme.ink)?;
    }
    for (group, from, to) in layout.groups() {
        painter.horizontal((from, to), 16.0, theme.base)?;
        painter.text((from, 7.0), Anchor::Start, group, theme.ink_2)?;
    }
    Ok(())
}

/// The mark of a lane on an axis, with its name.
fn mark<DB: DrawingBackend>(
    painter: &Painter<'_, DB>,
    (x, y): Point,
    lane: Lane,
    names: LaneNames,
    theme: &Theme,
) -> DrawResult<(), DB> {
    let colour = match lane {
        Lane::Nan => theme.nan,
        Lane::PosInf | Lane::NegInf => theme.inf,
        Lane::Missing | Lane::OffScale | Lane::Text => theme.ink_3,
    };
    match lane {
        Lane::Nan => {
            let (left, right) = (x - CROSS, x + CROSS);
            painter.path(&[(left, y - CROSS), (right, y + CROSS)], 1.75, colour)?;
            painter.path(&[(left, y + CROSS), (right, y - CROSS)], 1.75, colour)?;
        }
        _ => painter.ring((x, y), 2.5, 1.25, colour)?,
    }
    caption(painter, (x + 8.0, y), lane.label(names), colour, theme)
}

/// Text beside an axis, on a ground that lines do not show through.
fn caption<DB: DrawingBackend>(
    painter: &Painter<'_, DB>,
    (x, y): Point,
    text: &str,
    colour: Rgb,
    theme: &Theme,
) -> DrawResult<(), DB> {
    let (at, end) = ((x - 2.0, y - 7.0), (x + 2.0 + label::width(text), y + 7.0));
    painter.rect(at, end, Ink(theme.surface, GROUND))?;
    painter.text((x, y), Anchor::Start, text, colour)
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
        let lane_of = |axis: &super::PlacedAxis| axis.lanes.get(row).copied().flatten();
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
