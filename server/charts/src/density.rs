//! Parallel coordinates of many rows: the number of lines in each device pixel, and the mean of their colours. When the
//! selection changes, only the lines that enter or leave are added or subtracted.

use crate::parallel::{Layout, ease};
use crate::theme::Rgb;

/// Opacity of a pixel with one line.
const FAINT: f64 = 0.42;
/// Number of lines that makes a pixel opaque, as a share of all rows, and the minimum of this number.
const FULL_SHARE: f64 = 0.01;
const MIN_FULL: f64 = 6.0;
/// Number of shades of colour.
pub const SHADES: usize = 256;

/// Counts of lines by device pixel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Density {
    width: usize,
    height: usize,
    counts: Vec<i32>,
    /// Sums of the shades of all lines in a pixel.
    sums: Vec<i32>,
    /// First column of each gap between two axes, and the vertical share at each of its columns.
    gaps: Vec<(usize, Vec<f32>)>,
    dpr: f32,
    rows: usize,
}

impl Density {
    /// Counts without lines, at the size of a plot.
    pub fn new(layout: &Layout) -> Self {
        let (width, height) = (
            pixels(layout.width * layout.dpr),
            pixels(layout.height * layout.dpr),
        );
        let gap = |pair: &[crate::parallel::PlacedAxis]| {
            let (from, to) = (
                pixels(pair[0].x * layout.dpr),
                pixels(pair[1].x * layout.dpr),
            );
            let columns = to.saturating_sub(from);
            let share = |column: usize| {
                #[expect(clippy::cast_possible_truncation, reason = "a share")]
                let share = ease(column as f64 / columns.max(1) as f64) as f32;
                share
            };
            (from, (0..=columns).map(share).collect())
        };
        #[expect(clippy::cast_possible_truncation, reason = "at most 16")]
        let dpr = layout.dpr as f32;
        Self {
            width,
            height,
            counts: vec![0; width * height],
            sums: vec![0; width * height],
            gaps: layout.axes.windows(2).map(gap).collect(),
            dpr,
            rows: layout.rows,
        }
    }

    /// Width and height in device pixels.
    pub const fn size(&self) -> (usize, usize) {
        (self.width, self.height)
    }

    /// Adds the line of a row.
    pub fn add(&mut self, layout: &Layout, row: usize, shade: u8) {
        self.change(layout, row, i32::from(shade), 1);
    }

    /// Subtracts the line of a row that was added with this shade.
    pub fn subtract(&mut self, layout: &Layout, row: usize, shade: u8) {
        self.change(layout, row, i32::from(shade), -1);
    }

    fn change(&mut self, layout: &Layout, row: usize, shade: i32, sign: i32) {
        if self.width == 0 || self.height == 0 {
            return;
        }
        let last = self.height - 1;
        let Self {
            width,
            counts,
            sums,
            gaps,
            dpr,
            ..
        } = self;
        for (pair, (first, shares)) in layout.axes.windows(2).zip(gaps.iter()) {
            let (Some(from), Some(to)) = (pair[0].y.get(row), pair[1].y.get(row)) else {
                continue;
            };
            let (from, rise) = (from * *dpr, (to - from) * *dpr);
            let mut before = line_of(from).min(last);
            for (column, share) in shares.iter().enumerate() {
                let x = first + column;
                if x >= *width {
                    break;
                }
                let at = line_of(from + rise * share).min(last);
                // A steep line covers all pixels of its column; the pixel that it comes from belongs to the previous
                // column.
                let (low, high) = match before.cmp(&at) {
                    std::cmp::Ordering::Less => (before + 1, at),
                    std::cmp::Ordering::Equal => (at, at),
                    std::cmp::Ordering::Greater => (at, before - 1),
                };
                for y in low..=high {
                    let index = y * *width + x;
                    counts[index] += sign;
                    sums[index] += sign * shade;
                }
                before = at;
            }
        }
    }

    /// Red, green, blue and opacity of each pixel. `colours` has one for each shade.
    pub fn pixels(&self, colours: &[Rgb; SHADES]) -> Vec<u8> {
        let full = (self.rows as f64 * FULL_SHARE).max(MIN_FULL);
        let opacity = |count: usize| {
            let share = (count as f64).ln_1p() / full.ln_1p();
            let alpha = FAINT + (1.0 - FAINT) * share.min(1.0);
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "from 0 to 255"
            )]
            let alpha = (alpha * 255.0).round() as u8;
            alpha
        };
        let opacities: Vec<u8> = (0..=pixels(full).saturating_add(1)).map(opacity).collect();
        let mut out = vec![0; self.counts.len() * 4];
        let cells = self.counts.iter().zip(&self.sums);
        for ((count, sum), pixel) in cells.zip(out.chunks_exact_mut(4)) {
            if *count <= 0 {
                continue;
            }
            let shade = usize::try_from(sum / count).unwrap_or(0).min(SHADES - 1);
            let Rgb(r, g, b) = colours[shade];
            let lines = usize::try_from(*count).unwrap_or(0);
            let alpha = opacities.get(lines).copied().unwrap_or(u8::MAX);
            pixel.copy_from_slice(&[r, g, b, alpha]);
        }
        out
    }

    /// Number of lines through a pixel; 0 outside.
    pub fn count_at(&self, x: usize, y: usize) -> i32 {
        let inside = x < self.width && y < self.height;
        if inside {
            self.counts[y * self.width + x]
        } else {
            0
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a cast of floats saturates, and sides are at most half a million pixels"
)]
fn pixels(side: f64) -> usize {
    side.round().clamp(0.0, 524_288.0) as usize
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a cast of floats saturates at 0"
)]
const fn line_of(y: f32) -> usize {
    y as usize
}
