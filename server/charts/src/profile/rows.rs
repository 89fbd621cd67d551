//! Steps as rows of phases from a common start, with a labelled key on top.

use super::{Chart, Hit, Shade};
use crate::frame::{Anchor, Bands, Point, Rect, Ruler, Size, Unit};
use crate::label;
use crate::pen::{Ink, Pen};

/// Ticks of the axis of time.
const TICKS: u32 = 6;
/// Maximum height of a row, CSS pixels.
const TALLEST: f64 = 22.0;
/// Minimum height of a row, CSS pixels.
const LOWEST: f64 = 3.0;
/// Top of the key and of the rows below it, CSS pixels.
const KEY: (f64, f64) = (22.0, 48.0);
/// Distance of labels of rows, CSS pixels.
const LABELS: f64 = 16.0;
/// Space below the rows for the axis, CSS pixels.
const BELOW: f64 = 20.0;

/// Rows of phases.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    /// Rows from top to bottom.
    pub rows: Vec<Row>,
    /// The row on top, with labels.
    pub key: Vec<Key>,
    /// Texts at the left and at the right end of the key.
    pub key_texts: (String, String),
    /// Position of the line through all rows.
    pub line: Option<f64>,
}

/// One row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// Text at its left.
    pub text: String,
    /// Phases in order of time.
    pub segments: Vec<Segment>,
    /// Text at its end, for outliers.
    pub note: String,
    /// True for a step that is not complete.
    pub is_pale: bool,
}

/// A stretch of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Segment {
    /// Its colour.
    pub shade: Shade,
    /// Start, from the common start of all rows.
    pub begin: f64,
    /// End.
    pub end: f64,
}

/// A stretch of the key.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Key {
    /// The stretch.
    pub segment: Segment,
    /// Text above it.
    pub name: String,
    /// Text in it.
    pub value: String,
}

struct Layout {
    plot: Rect,
    ruler: Ruler,
    rows: Bands,
}

impl Rows {
    /// Height in CSS pixels that shows every row.
    pub fn least_height(rows: usize) -> f64 {
        KEY.1 + 14.0 + BELOW + LOWEST * rows as f64
    }

    fn layout(&self, size: Size) -> Layout {
        let top = if self.key.is_empty() {
            8.0
        } else {
            KEY.1 + 14.0
        };
        let texts = label::widest(self.rows.iter().map(|row| &row.text));
        let plot = Rect::within(size, [(texts + 12.0).max(52.0), 52.0, top, BELOW]);
        let segments = self.rows.iter().flat_map(|row| &row.segments);
        let segments = segments.chain(self.key.iter().map(|key| &key.segment));
        let (mut from, mut to) = (0.0_f64, 0.0_f64);
        for segment in segments {
            from = from.min(segment.begin);
            to = to.max(segment.end);
        }
        let across = (plot.left, plot.right);
        let ruler = if from < 0.0 {
            Ruler::exact((from, to), across, TICKS, Unit::Nanos)
        } else {
            Ruler::from_zero(to, across, TICKS, Unit::Nanos)
        };
        Layout {
            rows: Bands::new((plot.top, plot.bottom), self.rows.len(), TALLEST),
            plot,
            ruler,
        }
    }

    fn outline_in(&self, at: &Layout, index: usize) -> Option<Rect> {
        let row = self.rows.get(index)?;
        let top = at.rows.begin(index);
        let begin = row.segments.iter().map(|segment| segment.begin);
        let end = row.segments.iter().map(|segment| segment.end);
        Some(Rect {
            left: at.ruler.at(begin.fold(f64::INFINITY, f64::min)),
            right: at.ruler.at(end.fold(f64::NEG_INFINITY, f64::max)),
            top,
            bottom: top + at.rows.pitch,
        })
    }

    fn key(&self, pen: &Pen<'_>, at: &Layout) {
        let (Some(first), Some(last)) = (self.key.first(), self.key.last()) else {
            return;
        };
        let middle = f64::midpoint(KEY.0, KEY.1);
        for key in &self.key {
            let Segment { shade, begin, end } = key.segment;
            let (left, right) = (at.ruler.at(begin), at.ruler.at(end));
            let to = ((right - 0.6).max(left), KEY.1);
            pen.rect((left, KEY.0), to, shade.colour(pen.theme));
            let centre = f64::midpoint(left, right);
            if label::width(&key.value) + 8.0 < right - left {
                let ink = match shade {
                    Shade::Time(5) => pen.theme.ink_2,
                    Shade::Pale(_, part) if part < 0.6 => pen.theme.ink,
                    _ => pen.theme.on_time,
                };
                let at = (centre, middle);
                pen.text(at, Anchor::Middle, &key.value, ink);
            }
        }
        for (centre, name) in self.names(at) {
            let at = (centre, KEY.0 - 9.0);
            let ink = pen.theme.ink_2;
            pen.text(at, Anchor::Middle, name, ink);
        }
        let (left, right) = &self.key_texts;
        let x = at.ruler.at(first.segment.begin).min(at.plot.left) - 6.0;
        let ink = pen.theme.ink_2;
        pen.text((x, middle), Anchor::End, left, ink);
        let x = at.ruler.at(last.segment.end) + 6.0;
        let ink = pen.theme.ink;
        pen.text((x, middle), Anchor::Start, right, ink);
    }

    /// Middles and names of the stretches of the key that have room, the longest first.
    fn names(&self, at: &Layout) -> Vec<(f64, &str)> {
        let mut keys: Vec<&Key> = self.key.iter().collect();
        keys.sort_by(|a, b| {
            let length = |key: &Key| key.segment.end - key.segment.begin;
            length(b).total_cmp(&length(a))
        });
        let mut placed: Vec<(f64, &str)> = Vec::new();
        for key in keys {
            let Segment { begin, end, .. } = key.segment;
            let centre = f64::midpoint(at.ruler.at(begin), at.ruler.at(end));
            let width = label::width(&key.name);
            let is_free = |(other, name): &(f64, &str)| {
                (other - centre).abs() > f64::midpoint(width, label::width(name)) + 6.0
            };
            if placed.iter().all(is_free) {
                placed.push((centre, &key.name));
            }
        }
        placed
    }
}

impl Chart for Rows {
    fn draw(&self, pen: &Pen<'_>) {
        let layout = self.layout(pen.size);
        let Layout { plot, ruler, rows } = &layout;
        let pitch = rows.pitch;
        pen.along(plot, ruler, true);
        let gap = if pitch >= 6.0 { 0.7 } else { 0.0 };
        let stride = rows.stride(LABELS);
        for (index, row) in self.rows.iter().enumerate() {
            let top = rows.begin(index);
            let alpha = if row.is_pale { 0.4 } else { 1.0 };
            for segment in &row.segments {
                let (left, right) = (ruler.at(segment.begin), ruler.at(segment.end));
                let right = (right - 0.3).max(left);
                let ink = Ink(segment.shade.colour(pen.theme), alpha);
                let to = (right, top + pitch - gap);
                pen.rect((left, top + gap), to, ink);
            }
            let middle = top + pitch / 2.0;
            if index % stride == 0 {
                let at = (plot.left - 6.0, middle);
                let ink = pen.theme.ink_3;
                pen.text(at, Anchor::End, &row.text, ink);
            }
            if let (false, Some(outline)) = (row.note.is_empty(), self.outline_in(&layout, index)) {
                let at = (outline.right + 6.0, middle);
                pen.over(at, Anchor::Start, &row.note, pen.theme.warning);
            }
        }
        self.key(pen, &layout);
        if let Some(line) = self.line {
            let x = ruler.at(line);
            let ink = Ink(pen.theme.ink, 0.7);
            pen.dashed_down(x, (KEY.1 + 2.0, rows.end()), ink);
        }
    }

    fn hit(&self, size: Size, (x, y): Point) -> Option<Hit> {
        let Layout { ruler, rows, .. } = self.layout(size);
        let index = rows.hit(y)?;
        let value = ruler.value(x);
        let mut segments = self.rows.get(index)?.segments.iter();
        let part = segments.position(|segment| (segment.begin..segment.end).contains(&value));
        let is_inside = (0.0..=size.width).contains(&x);
        is_inside.then_some(Hit { index, part })
    }

    fn outline(&self, size: Size, hit: Hit) -> Option<Rect> {
        self.outline_in(&self.layout(size), hit.index)
    }
}
