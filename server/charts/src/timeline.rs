//! Rows of a timeline as pixels, for one `putImageData`: nothing about a single slice crosses from here to the browser.
//!
//! Four lines of pixels are painted for each row, one for each quarter of its height, and repeated over its height: a
//! slice is in all of them, several slices in one cell only in the number of lines for their busy share.

use crate::theme::Rgb;

/// Number of kinds of time.
pub const KINDS: usize = 6;
/// Heights of merged cells.
const HEIGHTS: usize = 4;
/// Minimum length in device pixels of a slice that leaves one pixel free at its end, which separates neighbours.
const GAP_FROM: f64 = 3.0;
/// Distance and thickness of the lines of the hatching, device pixels at a ratio of 1.
const HATCH: (usize, usize) = (6, 1);
/// Share of the colour of its kind in a faint cell; the rest is the surface.
const FAINT: f64 = 0.3;

/// Red, green, blue and opacity, in the order of a canvas.
pub type Pixel = [u8; 4];

/// Colours of a timeline, as the page's design tokens have them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ink {
    /// Kinds of time, in the order of their numbers.
    pub kinds: [Rgb; KINDS],
    /// Background of rows.
    pub surface: Rgb,
    /// Background of heads of groups.
    pub surface_2: Rgb,
    /// Grid lines.
    pub grid: Rgb,
    /// Hatching of missing stretches.
    pub hatch: Rgb,
}

impl Ink {
    /// Colour of a cell; kinds that do not exist have the last one's.
    pub fn kind(&self, kind: u8, is_faint: bool) -> Rgb {
        let colour = self.kinds[usize::from(kind).min(KINDS - 1)];
        if is_faint {
            mix(colour, self.surface, FAINT)
        } else {
            colour
        }
    }
}

/// A slice, or several neighbours that are too short to be apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    /// Begin in nanoseconds.
    pub begin: i64,
    /// Length in nanoseconds.
    pub length: i64,
    /// Number of its kind of time.
    pub kind: u8,
    /// Share of the length that slices cover, in 1/255.
    pub busy: u8,
    /// `true` for several slices.
    pub is_merged: bool,
}

/// Horizontal scale: the time at the left edge, and the time that one device pixel shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// Time at the left edge in nanoseconds.
    pub from: f64,
    /// Nanoseconds of a device pixel, above 0.
    pub each: f64,
}

impl Scale {
    /// Position of a time in device pixels.
    pub fn x(&self, nanos: f64) -> f64 {
        (nanos - self.from) / self.each
    }
}

/// A buffer of pixels, kept from frame to frame.
#[derive(Clone, Debug, Default)]
pub struct Picture {
    width: usize,
    height: usize,
    pixels: Vec<Pixel>,
    /// A line of the background.
    ground: Vec<Pixel>,
    row: RowLines,
    /// Thickness of a line, device pixels.
    hair: usize,
}

/// The lines of pixels of one row, from the lowest quarter to the highest.
#[derive(Clone, Debug, Default)]
pub struct RowLines {
    lines: [Vec<Pixel>; HEIGHTS],
    /// `false` if all quarters are the same.
    is_uneven: bool,
    /// Stretches that are hatched, in device pixels.
    missing: Vec<(usize, usize)>,
}

impl Picture {
    /// Begins a picture of a size in device pixels with grid lines at these columns.
    pub fn begin(
        &mut self,
        (width, height): (usize, usize),
        dpr: f64,
        ink: &Ink,
        grid: impl IntoIterator<Item = f64>,
    ) {
        (self.width, self.height) = (width, height);
        self.hair = place(dpr, 16).max(1);
        self.ground.clear();
        self.ground.resize(width, pixel(ink.surface));
        for x in grid {
            let at = place(x, width);
            let end = (at + self.hair).min(width);
            self.ground[at..end].fill(pixel(ink.grid));
        }
        self.pixels.resize(width * height, [0; 4]);
        for line in self.pixels.chunks_exact_mut(width.max(1)) {
            line.copy_from_slice(&self.ground);
        }
    }

    /// Paints a band over the whole width, for heads of groups and lines between lanes.
    pub fn band(&mut self, top: i64, height: usize, colour: Rgb) {
        let (from, to) = self.clip(top, height);
        self.pixels[from * self.width..to * self.width].fill(pixel(colour));
    }

    /// Paints a row: `paint` puts its cells into lines of pixels.
    pub fn row(&mut self, top: i64, height: usize, ink: &Ink, paint: impl FnOnce(&mut RowLines)) {
        let (from, to) = self.clip(top, height);
        if from >= to || self.width == 0 {
            return;
        }
        for line in &mut self.row.lines {
            line.clear();
            line.extend_from_slice(&self.ground);
        }
        self.row.is_uneven = false;
        self.row.missing.clear();
        paint(&mut self.row);
        let bottom = top + i64::try_from(height).unwrap_or(i64::MAX / 2);
        for y in from..to {
            // Quarters are counted from below.
            let below = bottom - 1 - i64::try_from(y).unwrap_or(0);
            let quarter = usize::try_from(below).unwrap_or(0) * HEIGHTS / height.max(1);
            let quarter = if self.row.is_uneven { quarter } else { 0 };
            let line = &self.row.lines[quarter.min(HEIGHTS - 1)];
            self.pixels[y * self.width..(y + 1) * self.width].copy_from_slice(line);
        }
        let (step, thick) = (HATCH.0 * self.hair, HATCH.1 * self.hair);
        for &(left, right) in &self.row.missing {
            for y in from..to {
                let line = &mut self.pixels[y * self.width..(y + 1) * self.width];
                for (x, target) in line.iter_mut().enumerate().take(right).skip(left) {
                    if (x + y) % step < thick {
                        *target = pixel(ink.hatch);
                    }
                }
            }
        }
    }

    /// Width and height in device pixels.
    pub fn size(&self) -> (usize, usize) {
        (self.width, self.height)
    }

    /// The pixels, line by line.
    pub fn pixels(&self) -> &[Pixel] {
        &self.pixels
    }

    /// Their bytes, for the browser.
    pub fn bytes(&self) -> &[u8] {
        self.pixels.as_flattened()
    }

    /// The part of a band that is in the picture.
    fn clip(&self, top: i64, height: usize) -> (usize, usize) {
        let end = top.saturating_add(i64::try_from(height).unwrap_or(i64::MAX));
        let inside = |y: i64| usize::try_from(y).unwrap_or(0).min(self.height);
        (inside(top), inside(end))
    }
}

impl RowLines {
    /// Paints the parts of cells between two times; the cells come in order of time.
    pub fn cells(
        &mut self,
        scale: &Scale,
        (from, to): (f64, f64),
        ink: &Ink,
        is_faint: bool,
        cells: impl IntoIterator<Item = Cell>,
    ) {
        let width = self.lines[0].len();
        let (low, high) = (place(scale.x(from), width), place(scale.x(to), width));
        if low >= high {
            return;
        }
        let mut colours = [[0; 4]; KINDS];
        for (kind, colour) in (0_u8..).zip(&mut colours) {
            *colour = pixel(ink.kind(kind, is_faint));
        }
        for cell in cells {
            let begin = cell.begin as f64;
            let (left, right) = (scale.x(begin), scale.x(begin + cell.length as f64));
            let first = place(left, width).max(low);
            if left > high as f64 {
                break;
            }
            let gap = if right - left >= GAP_FROM { 1.0 } else { 0.0 };
            let last = place(right - gap, width).max(first + 1).min(high);
            // Cells that end before the stretch are at its left edge now.
            if first >= last || right < low as f64 {
                continue;
            }
            let colour = colours[usize::from(cell.kind).min(KINDS - 1)];
            let quarters = if cell.is_merged {
                quarters(cell.busy)
            } else {
                HEIGHTS
            };
            self.is_uneven |= quarters < HEIGHTS;
            for line in &mut self.lines[..quarters] {
                line[first..last].fill(colour);
            }
        }
    }

    /// Hatches a stretch of time of which nothing is known yet.
    pub fn missing(&mut self, scale: &Scale, (from, to): (f64, f64)) {
        let width = self.lines[0].len();
        let (left, right) = (place(scale.x(from), width), place(scale.x(to), width));
        if left < right {
            self.missing.push((left, right));
        }
    }
}

/// The pixel of a colour.
pub const fn pixel(Rgb(red, green, blue): Rgb) -> Pixel {
    [red, green, blue, 255]
}

/// Quarters of the height for a busy share: at least one.
const fn quarters(busy: u8) -> usize {
    match busy {
        0..=63 => 1,
        64..=127 => 2,
        128..=191 => 3,
        192.. => HEIGHTS,
    }
}

/// Nearest whole pixel between 0 and the width.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped to the width; NaN becomes 0"
)]
fn place(x: f64, width: usize) -> usize {
    x.round().clamp(0.0, width as f64) as usize
}

/// A share of one colour, and the rest of another one.
fn mix(Rgb(r0, g0, b0): Rgb, Rgb(r1, g1, b1): Rgb, share: f64) -> Rgb {
    let channel = |one: u8, other: u8| {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between two bytes"
        )]
        let mixed = (f64::from(one) * share + f64::from(other) * (1.0 - share)).round() as u8;
        mixed
    };
    Rgb(channel(r0, r1), channel(g0, g1), channel(b0, b1))
}

#[cfg(test)]
mod tests {
    use super::*;

    const INK: Ink = Ink {
        kinds: [
            Rgb(1, 0, 0),
            Rgb(2, 0, 0),
            Rgb(3, 0, 0),
            Rgb(4, 0, 0),
            Rgb(5, 0, 0),
            Rgb(6, 0, 0),
        ],
        surface: Rgb(10, 0, 0),
        surface_2: Rgb(11, 0, 0),
        grid: Rgb(12, 0, 0),
        hatch: Rgb(13, 0, 0),
    };
    const SCALE: Scale = Scale {
        from: 100.0,
        each: 10.0,
    };

    fn cell(begin: i64, length: i64, kind: u8) -> Cell {
        Cell {
            begin,
            length,
            kind,
            busy: 255,
            is_merged: false,
        }
    }

    fn merged(begin: i64, length: i64, busy: u8) -> Cell {
        Cell {
            busy,
            is_merged: true,
            ..cell(begin, length, 2)
        }
    }

    /// One letter a pixel: kinds are `c o y d h i`, background `.`, group `=`, grid `|`, hatching `/`.
    fn letters(picture: &Picture) -> Vec<String> {
        let letter = |pixel: &Pixel| match pixel[0] {
            1 => 'c',
            2 => 'o',
            3 => 'y',
            4 => 'd',
            5 => 'h',
            6 => 'i',
            10 => '.',
            11 => '=',
            12 => '|',
            13 => '/',
            _ => '?',
        };
        let (width, _) = picture.size();
        let lines = picture.pixels().chunks(width);
        lines
            .map(|line| line.iter().map(letter).collect())
            .collect()
    }

    fn one_row(width: usize, paint: impl FnOnce(&mut RowLines)) -> Vec<String> {
        let mut picture = Picture::default();
        picture.begin((width, 4), 1.0, &INK, []);
        picture.row(0, 4, &INK, paint);
        letters(&picture)
    }

    #[test]
    fn slices_are_runs_of_their_colour_with_a_gap_where_there_is_room() {
        let cells = [cell(110, 50, 0), cell(160, 20, 4), cell(190, 1, 1)];
        let lines = one_row(12, |row| {
            row.cells(&SCALE, (100.0, 220.0), &INK, false, cells);
        });
        assert_eq!(lines, [".cccc.hh.o.."; 4]);
    }

    #[test]
    fn the_shortest_slice_has_a_pixel() {
        let cells = [cell(140, 0, 3), cell(171, 1, 9)];
        let lines = one_row(10, |row| {
            row.cells(&SCALE, (100.0, 200.0), &INK, false, cells);
        });
        assert_eq!(lines[0], "....d..i..");
    }

    #[test]
    fn merged_cells_are_as_high_as_they_are_busy() {
        let cells = [
            merged(100, 20, 0),
            merged(120, 20, 64),
            merged(140, 20, 191),
            merged(160, 20, 255),
            cell(180, 20, 0),
        ];
        let lines = one_row(10, |row| {
            row.cells(&SCALE, (100.0, 200.0), &INK, false, cells);
        });
        assert_eq!(
            lines,
            ["......yycc", "....yyyycc", "..yyyyyycc", "yyyyyyyycc"]
        );
    }

    #[test]
    fn slices_are_cut_at_both_edges_of_their_stretch() {
        let cells = [
            cell(0, 60, 1),
            cell(50, 80, 0),
            cell(180, 900, 4),
            cell(950, 5, 1),
        ];
        let lines = one_row(10, |row| {
            row.cells(&SCALE, (100.0, 190.0), &INK, false, cells);
            row.missing(&SCALE, (190.0, 200.0));
        });
        assert_eq!(lines[0], "cc......h.");
        let whole = one_row(10, |row| {
            row.cells(&SCALE, (100.0, 200.0), &INK, false, [cell(-900, 9_000, 0)]);
        });
        assert_eq!(whole[0], "cccccccccc");
    }

    #[test]
    fn what_is_not_there_is_hatched() {
        let lines = one_row(14, |row| {
            row.cells(&SCALE, (100.0, 120.0), &INK, false, [cell(100, 20, 0)]);
            row.missing(&SCALE, (120.0, 240.0));
        });
        assert_eq!(
            lines,
            [
                "cc..../...../.",
                "cc.../...../..",
                "cc../...../...",
                "cc./...../...."
            ]
        );
    }

    #[test]
    fn rows_are_cut_at_the_edges_of_the_picture() {
        let mut picture = Picture::default();
        picture.begin((4, 6), 1.0, &INK, [2.0]);
        picture.band(-1, 2, INK.surface_2);
        let paint = |row: &mut RowLines| {
            row.cells(&SCALE, (100.0, 110.0), &INK, false, [merged(100, 10, 130)]);
        };
        picture.row(-2, 4, &INK, paint);
        picture.row(3, 8, &INK, paint);
        picture.row(90, 8, &INK, paint);
        picture.row(-90, 8, &INK, paint);
        assert_eq!(
            letters(&picture),
            ["y.|.", "y.|.", "..|.", "..|.", "..|.", "y.|."]
        );
        picture.begin((0, 3), 2.0, &INK, [0.0]);
        picture.row(0, 3, &INK, paint);
        assert_eq!(picture.pixels().len(), 0);
    }

    #[test]
    fn a_picture_is_begun_again_in_another_size() {
        let mut picture = Picture::default();
        picture.begin((4, 2), 1.0, &INK, []);
        picture.band(0, 2, INK.surface_2);
        picture.begin((3, 3), 1.0, &INK, [1.0, 99.0, f64::NAN]);
        assert_eq!(letters(&picture), ["||.", "||.", "||."]);
        assert_eq!(picture.bytes().len(), 36);
        assert!(picture.bytes().chunks(4).all(|pixel| pixel[3] == 255));
    }

    #[test]
    fn faint_cells_are_nearer_to_the_surface() {
        let ink = Ink {
            kinds: [Rgb(100, 0, 255); KINDS],
            surface: Rgb(0, 0, 255),
            ..INK
        };
        assert_eq!(ink.kind(0, true), Rgb(30, 0, 255));
        assert_eq!(ink.kind(200, false), Rgb(100, 0, 255));
    }
}
