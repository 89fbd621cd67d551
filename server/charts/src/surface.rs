//! Perspective view of a loss landscape that can be turned: cells from back to front (painter's algorithm), with the
//! path on them.

use plotters::prelude::{DrawResult, DrawingBackend};

use crate::contour::draw::class_colour;
use crate::contour::tone;
use crate::frame::Size;
use crate::pen::{Ink, Pen, paint};
use crate::theme::{Rgb, Theme};

/// Maximum number of patches along each axis: smaller ones cannot be distinguished.
const MAX_PATCHES: usize = 96;
/// Height of the greatest loss, as a share of the width of the ground.
const HEIGHT: f64 = 0.62;
/// Lift of the path above the surface, so that no patch covers it.
const LIFT: f64 = 0.02;

/// A path on the surface.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Track {
    /// Colour of the run.
    pub colour: Rgb,
    /// Points on the surface: shares of the extent along both directions, and of the height.
    pub points: Vec<(f64, f64, f64)>,
}

/// Content of the view.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Relief {
    /// Places of the columns, as shares of the extent, 0 to 1.
    pub columns: Vec<f64>,
    /// Places of the rows.
    pub rows: Vec<f64>,
    /// Heights from 0 to 1, row by row; NaN and infinities for points without a surface.
    pub heights: Vec<f64>,
    /// Number of colours.
    pub bands: usize,
    /// Paths.
    pub tracks: Vec<Track>,
    /// Turn around the vertical in radians.
    pub yaw: f64,
    /// Height of the eye in radians: 0 is level with the ground.
    pub pitch: f64,
}

/// A part of the picture with its distance.
enum Part {
    Patch {
        corners: [(f64, f64); 4],
        ink: Rgb,
        is_gap: bool,
    },
    Piece {
        from: (f64, f64),
        to: (f64, f64),
        ink: Rgb,
    },
}

/// Position of points on the screen.
struct Eye {
    yaw: (f64, f64),
    pitch: (f64, f64),
    middle: (f64, f64),
    unit: f64,
}

impl Eye {
    fn new(relief: &Relief, size: Size) -> Self {
        let angle = |angle: f64| {
            if angle.is_finite() {
                angle.sin_cos()
            } else {
                (0.0, 1.0)
            }
        };
        Self {
            yaw: angle(relief.yaw),
            pitch: angle(relief.pitch),
            middle: (size.width / 2.0, size.height / 2.0),
            unit: (size.width * 0.7).min(size.height * 0.95),
        }
    }

    /// Position on the screen, and nearness.
    fn see(&self, (x, y, height): (f64, f64, f64)) -> ((f64, f64), f64) {
        let (x, y) = (x - 0.5, 0.5 - y);
        let (sin, cos) = self.yaw;
        let (right, near) = (x * cos - y * sin, x * sin + y * cos);
        let up = (height - 0.5) * HEIGHT;
        let down = near * self.pitch.0 - up * self.pitch.1;
        let at = (
            self.middle.0 + right * self.unit,
            self.middle.1 + down * self.unit,
        );
        (at, near)
    }
}

impl Relief {
    /// Draws the view. `font_scale` is 1 for a canvas.
    ///
    /// # Errors
    /// Errors of the backend.
    pub fn draw<DB: DrawingBackend>(
        &self,
        backend: DB,
        size: Size,
        theme: &Theme,
        font_scale: f64,
    ) -> DrawResult<(), DB> {
        paint(backend, size, theme, font_scale, |pen| self.paint(pen))
    }

    pub(crate) fn paint(&self, pen: &Pen<'_>) {
        let (eye, theme) = (Eye::new(self, pen.size), pen.theme);
        let mut parts = self.patches(&eye, theme);
        let depth = 1.0 / self.columns.len().max(2) as f64;
        parts.extend(self.pieces(&eye, depth));
        parts.sort_by(|one, other| one.0.total_cmp(&other.0));
        for (_, part) in &parts {
            match part {
                Part::Patch {
                    corners,
                    ink,
                    is_gap,
                } => {
                    pen.polygon(corners, *ink);
                    let outline = [corners[0], corners[1], corners[2], corners[3], corners[0]];
                    let edge = if *is_gap {
                        Ink(*ink, 1.0)
                    } else {
                        Ink(theme.surface, 0.5)
                    };
                    pen.path(&outline, 0.5, edge);
                    if *is_gap {
                        let across = [corners[0], corners[2]];
                        pen.path(&across, 0.75, Ink(theme.ink, 0.4));
                    }
                }
                Part::Piece { from, to, ink } => {
                    pen.path(&[*from, *to], 4.0, theme.halo());
                    pen.path(&[*from, *to], 2.0, *ink);
                }
            }
        }
        for track in &self.tracks {
            let (Some(first), Some(last)) = (track.points.first(), track.points.last()) else {
                continue;
            };
            if track.points.len() > 1 {
                let at = eye.see(lifted(*first)).0;
                pen.disc(at, 4.0, theme.surface);
                pen.ring(at, 3.5, 1.5, theme.ink);
            }
            let at = eye.see(lifted(*last)).0;
            pen.disc(at, 5.5, theme.halo());
            pen.disc(at, 4.0, track.colour);
        }
    }

    fn patches(&self, eye: &Eye, theme: &Theme) -> Vec<(f64, Part)> {
        let (columns, rows) = (kept(self.columns.len()), kept(self.rows.len()));
        let height = |row: usize, column: usize| {
            let at = row * self.columns.len() + column;
            self.heights.get(at).copied().unwrap_or(f64::NAN)
        };
        let mut parts = Vec::new();
        for up in rows.windows(2) {
            for right in columns.windows(2) {
                let corners = [
                    (up[0], right[0]),
                    (up[0], right[1]),
                    (up[1], right[1]),
                    (up[1], right[0]),
                ];
                let heights = corners.map(|(row, column)| height(row, column));
                // Points that are not corners of a coarse patch count as well.
                let inside = (up[0]..=up[1])
                    .flat_map(|row| (right[0]..=right[1]).map(move |column| (row, column)))
                    .map(|(row, column)| height(row, column))
                    .filter(|height| !height.is_finite())
                    .fold(None, |any: Option<bool>, height| {
                        Some(any.unwrap_or(false) || height.is_nan())
                    });
                let mean = heights.iter().sum::<f64>() / 4.0;
                let ink = match inside {
                    Some(is_nan) => theme.surface.mixed(class_colour(theme, is_nan), 0.55),
                    None => tone(theme, band(mean, self.bands), self.bands),
                };
                let mut near = 0.0;
                let mut seen = [(0.0, 0.0); 4];
                for (seen, ((row, column), height)) in
                    seen.iter_mut().zip(corners.into_iter().zip(heights))
                {
                    let ground = if inside.is_some() { 0.0 } else { height };
                    let (at, own_near) = eye.see((self.columns[column], self.rows[row], ground));
                    *seen = at;
                    near += own_near / 4.0;
                }
                parts.push((
                    near,
                    Part::Patch {
                        corners: seen,
                        ink,
                        is_gap: inside.is_some(),
                    },
                ));
            }
        }
        parts
    }

    fn pieces(&self, eye: &Eye, depth: f64) -> Vec<(f64, Part)> {
        let mut parts = Vec::new();
        for track in &self.tracks {
            for pair in track.points.windows(2) {
                let (from, near_from) = eye.see(lifted(pair[0]));
                let (to, near_to) = eye.see(lifted(pair[1]));
                let near = near_from.max(near_to) + depth;
                let ink = track.colour;
                parts.push((near, Part::Piece { from, to, ink }));
            }
        }
        parts
    }
}

fn lifted((x, y, height): (f64, f64, f64)) -> (f64, f64, f64) {
    let height = if height.is_finite() { height } else { 0.0 };
    (x, y, height + LIFT)
}

/// Index of the colour of a height.
fn band(height: f64, bands: usize) -> usize {
    let last = bands.saturating_sub(1);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 0 and the number of colours; NaN becomes 0"
    )]
    let band = (height.clamp(0.0, 1.0) * bands as f64) as usize;
    band.min(last)
}

/// Indices of the points that are drawn: all up to a limit, then every second, third and so on, and the last.
fn kept(len: usize) -> Vec<usize> {
    let stride = len.div_ceil(MAX_PATCHES + 1).max(1);
    let mut all: Vec<usize> = (0..len).step_by(stride).collect();
    if all.last().is_some_and(|last| last + 1 < len) {
        all.push(len - 1);
    }
    all
}
