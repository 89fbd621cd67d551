//! Values that no axis can show: NaN and values without a logarithm in a lane below the plot, infinities at its edges.

use crate::frame::{Anchor, Point};
use crate::geometry::{LANE_ROW, MARKS};
use crate::label;
use crate::line::{CROSS, Class, Line, Plot};
use crate::pen::Ink;
use crate::scale::Scale;
use crate::theme::Rgb;

/// Distance of the labels of the lane from its middle, if there are both.
const NAMES: f64 = 5.0;
/// Half of the height of a bar along an edge of the plot.
const EDGE_BAR: f64 = 1.5;
/// Rows of the lane before "+2".
const LANE_ROWS: usize = 3;

impl Plot<'_> {
    /// The lane below the plot: a cross at the first value of each range, and a bar along its length.
    pub(crate) fn lane(&self, lines: &[Line]) {
        let pen = self.pen;
        let at = self.geometry;
        let marks: Vec<(&Line, Vec<Mark>)> = lines
            .iter()
            .map(|line| (line, self.lane_marks(line)))
            .filter(|(_, marks)| !marks.is_empty())
            .collect();
        if marks.is_empty() {
            return;
        }
        let rows = marks.len().min(LANE_ROWS);
        let has = |is_nan: bool| {
            let mut all = marks.iter().flat_map(|(_, marks)| marks);
            all.any(|mark| mark.is_nan == is_nan)
        };
        let middle = at.lane_middle();
        // The same lane holds values that a logarithmic axis cannot show.
        let apart = if has(true) && has(false) { NAMES } else { 0.0 };
        for (name, ink, is_nan, y) in [
            ("NaN", pen.theme.nan, true, middle - apart),
            ("≤ 0", pen.theme.ink_3, false, middle + apart),
        ] {
            if has(is_nan) {
                pen.text((at.plot.left - 6.0, y), Anchor::End, name, ink);
            }
        }
        let bar = if rows == 1 { 3.0 } else { 2.5 };
        for (row, (line, marks)) in marks.iter().take(rows).enumerate() {
            let y = middle + (row as f64 - (rows as f64 - 1.0) / 2.0) * LANE_ROW;
            for mark in marks {
                let (left, right) = mark.bar;
                let colour = Ink(line.colour, 0.25);
                pen.rect((left, y - bar), (right, y + bar), colour);
            }
            let mut free_from = f64::NEG_INFINITY;
            let size = if rows == 1 { CROSS } else { 2.5 };
            for mark in marks {
                // Crosses that would overlap are left out; their bars stay.
                let Some(x) = mark.at.filter(|&x| x >= free_from) else {
                    continue;
                };
                free_from = x + 2.0 * size + 2.0;
                if mark.is_nan {
                    pen.cross((x, y), size, pen.theme.nan);
                } else {
                    self.triangle((x, y), size, 1.0, line.colour);
                }
            }
        }
        if marks.len() > rows {
            let text = format!("+{}", marks.len() - rows);
            let left = at.plot.right - label::width(&text) - 4.0;
            let (top, bottom) = (middle - 8.0, middle + 8.0);
            let ground = Ink(pen.theme.surface, 0.88);
            pen.rect((left, top), (at.plot.right, bottom), ground);
            let point = (at.plot.right - 2.0, middle);
            pen.text(point, Anchor::End, &text, pen.theme.ink_3);
        }
    }

    /// Marks of a line in the lane, in pixels.
    fn lane_marks(&self, line: &Line) -> Vec<Mark> {
        let mut stretches: Vec<(f64, f64, bool)> = line
            .stretches
            .iter()
            .filter(|stretch| stretch.class == Class::Nan)
            .map(|stretch| (stretch.first, stretch.last, true))
            .collect();
        if self.geometry.y.axis.scale() == Scale::Log {
            stretches.extend(not_positive(line).map(|(first, last)| (first, last, false)));
        }
        // Marks are placed from left to right, across lines.
        stretches.sort_by(|a, b| a.0.total_cmp(&b.0));
        stretches
            .into_iter()
            .filter_map(|(first, last, is_nan)| {
                let (left, right) = self.seen(first, last)?;
                let begins = [first, last].map(|x| self.geometry.x_px(x));
                Some(Mark {
                    at: (begins[0].min(begins[1]) >= left).then_some(left),
                    bar: (left, right.max(left + 1.0)),
                    is_nan,
                })
            })
            .collect()
    }

    /// Visible part of a range, in pixels.
    fn seen(&self, first: f64, last: f64) -> Option<(f64, f64)> {
        let plot = &self.geometry.plot;
        let ends = (self.geometry.x_px(first), self.geometry.x_px(last));
        // If x is another scalar, a later point may be further left.
        let (from, to) = (ends.0.min(ends.1), ends.0.max(ends.1));
        let is_seen = to >= plot.left && from <= plot.right;
        is_seen.then(|| {
            let left = from.max(plot.left);
            (left, to.clamp(left, plot.right))
        })
    }

    /// Triangles beyond the edge at which values become infinite, each with its step if there is room: at its right,
    /// else at its left; along the edge a bar for the length of the range. If the range began before the view, the
    /// mark is at the left. Later marks of the same line are left out on overlap, those of other lines are not.
    pub(crate) fn infinities(&self, lines: &[Line]) {
        let pen = self.pen;
        let plot = &self.geometry.plot;
        for (class, up, edge) in [
            (Class::PosInf, 1.0, plot.top),
            (Class::NegInf, -1.0, plot.bottom),
        ] {
            let y = edge - up * MARKS / 2.0;
            let mut marks: Vec<(f64, usize, &str)> = Vec::new();
            for (index, line) in lines.iter().enumerate() {
                for stretch in line.stretches.iter().filter(|s| s.class == class) {
                    let Some((from, to)) = self.seen(stretch.first, stretch.last) else {
                        continue;
                    };
                    if to > from {
                        let bar = ((from, edge - EDGE_BAR), (to, edge + EDGE_BAR));
                        pen.rect(bar.0, bar.1, pen.theme.inf);
                    }
                    marks.push((from, index, &stretch.label));
                }
            }
            marks.sort_by(|a, b| a.0.total_cmp(&b.0));
            let (mut mark_from, mut free_from) = (f64::NEG_INFINITY, plot.left);
            let mut beside = (usize::MAX, f64::NEG_INFINITY);
            for (at, &(x, index, text)) in marks.iter().enumerate() {
                if x < mark_from || (index == beside.0 && x < beside.1) {
                    continue;
                }
                self.triangle((x, y), CROSS, up, pen.theme.inf);
                mark_from = x + 2.0 * CROSS + 1.0;
                let width = label::width(text);
                let next = marks.iter().skip(at + 1).find(|mark| mark.1 != index);
                let room = next.map_or(plot.right, |mark| mark.0 - 2.0 * CROSS);
                let left = if x + 8.0 + width <= room {
                    beside = (index, x + width + 20.0);
                    Some(x + 8.0)
                } else {
                    Some(x - 8.0 - width).filter(|left| *left >= free_from)
                };
                free_from = x + 8.0;
                if let Some(left) = left {
                    free_from = free_from.max(left + width + 8.0);
                    pen.text((left, y), Anchor::Start, text, pen.theme.inf);
                }
            }
        }
    }

    fn triangle(&self, (x, y): Point, size: f64, up: f64, colour: Rgb) {
        let outline = [
            (x, y - size * up),
            (x + size, y + 0.8 * size * up),
            (x - size, y + 0.8 * size * up),
        ];
        self.pen.polygon(&outline, colour);
    }
}

struct Mark {
    at: Option<f64>,
    bar: (f64, f64),
    is_nan: bool,
}

/// Ranges of finite values that a logarithmic axis cannot show.
fn not_positive(line: &Line) -> impl Iterator<Item = (f64, f64)> {
    let values = if line.raw.is_empty() {
        &line.values
    } else {
        &line.raw
    };
    let mut out: Vec<(f64, f64)> = Vec::new();
    let mut open = false;
    for (&x, &value) in line.x.iter().zip(values) {
        if value.is_finite() && value <= 0.0 {
            match out.last_mut() {
                Some(last) if open => last.1 = x,
                _ => out.push((x, x)),
            }
            open = true;
        } else {
            open = false;
        }
    }
    out.into_iter()
}
