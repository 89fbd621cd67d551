//! The frame of a chart: its size, the plot area within margins, axes on the screen with their ticks, and the way from
//! pixels back to data.

use crate::label;
use crate::scale::{Axis, Scale};
use crate::ticks::{self, Ticks};

/// Maximum side of a plot, CSS pixels.
const MAX_SIDE: f64 = 32_768.0;
/// Farthest position outside of an axis, in lengths of the axis.
pub(crate) const FARTHEST: f64 = 1e6;

/// A point in CSS pixels from the upper left corner.
pub(crate) type Point = (f64, f64);

/// Size of a plot.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Size {
    /// Width in CSS pixels.
    pub width: f64,
    /// Height in CSS pixels.
    pub height: f64,
    /// Device pixels for one CSS pixel.
    pub dpr: f64,
}

impl Size {
    /// A size within the limits of screens: sides that are NaN become 0, and an invalid ratio 1.
    pub(crate) fn new(width: f64, height: f64, dpr: f64) -> Self {
        let side = |side: f64| if side > 0.0 { side.min(MAX_SIDE) } else { 0.0 };
        let is_ratio = dpr.is_finite() && dpr > 0.0;
        Self {
            width: side(width),
            height: side(height),
            dpr: if is_ratio { dpr.clamp(0.25, 16.0) } else { 1.0 },
        }
    }

    /// This size within the limits of screens.
    pub(crate) fn clamped(self) -> Self {
        Self::new(self.width, self.height, self.dpr)
    }
}

/// A rectangle in CSS pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rect {
    /// Left edge.
    pub left: f64,
    /// Upper edge.
    pub top: f64,
    /// Right edge.
    pub right: f64,
    /// Lower edge.
    pub bottom: f64,
}

impl Rect {
    /// The part of a picture within margins at its left, right, top and bottom.
    pub(crate) fn within(size: Size, [left, right, top, bottom]: [f64; 4]) -> Self {
        Self {
            left,
            top,
            right: size.width - right,
            bottom: size.height - bottom,
        }
    }

    /// The square around a point.
    pub(crate) fn around((x, y): Point, reach: f64) -> Self {
        Self {
            left: x - reach,
            top: y - reach,
            right: x + reach,
            bottom: y + reach,
        }
    }

    /// Width, not negative.
    pub fn width(&self) -> f64 {
        (self.right - self.left).max(0.0)
    }

    /// Height, not negative.
    pub fn height(&self) -> f64 {
        (self.bottom - self.top).max(0.0)
    }

    /// True if a point is inside.
    pub fn contains(&self, x: f64, y: f64) -> bool {
        (self.left..=self.right).contains(&x) && (self.top..=self.bottom).contains(&y)
    }

    pub(crate) fn middle(&self) -> Point {
        (
            f64::midpoint(self.left, self.right),
            f64::midpoint(self.top, self.bottom),
        )
    }
}

/// Horizontal alignment of a text at its point; vertically it is always centred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// It begins at the point.
    Start,
    /// It is centred at the point.
    Middle,
    /// It ends at the point.
    End,
}

impl Anchor {
    /// Both ends of a text of a width.
    pub(crate) fn span(self, x: f64, width: f64) -> (f64, f64) {
        match self {
            Self::Start => (x, x + width),
            Self::Middle => (x - width / 2.0, x + width / 2.0),
            Self::End => (x - width, x),
        }
    }
}

/// A tick with its label.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// Position along the axis.
    pub at: f64,
    /// Its label.
    pub text: String,
    /// Alignment of the label: centred, unless it would leave the card.
    pub anchor: Anchor,
}

impl Tick {
    /// Both ends of the label.
    pub fn extent(&self) -> (f64, f64) {
        self.anchor.span(self.at, label::width(&self.text))
    }
}

/// Unit of the values of an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds, shown as ns, µs, ms or s.
    #[default]
    Nanos,
    /// Bytes, shown as B, kB, MB, GB or TB.
    Bytes,
    /// Plain numbers.
    Count,
}

const TIMES: [(f64, &str); 4] = [(1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")];
const SIZES: [(f64, &str); 5] = [
    (1e12, "TB"),
    (1e9, "GB"),
    (1e6, "MB"),
    (1e3, "kB"),
    (1.0, "B"),
];

impl Unit {
    /// Factor and name of the unit that shows `most` with at least one digit before the point.
    pub(crate) fn shown(self, most: f64) -> (f64, &'static str) {
        let units = match self {
            Self::Nanos => &TIMES[..],
            Self::Bytes => &SIZES[..],
            Self::Count => return (1.0, ""),
        };
        let fits = units.iter().find(|(factor, _)| most >= *factor);
        fits.or_else(|| units.last()).copied().unwrap_or((1.0, ""))
    }
}

/// An axis with its position on the screen.
#[derive(Clone, Debug, PartialEq)]
pub struct Ruler {
    /// Range and scale.
    pub axis: Axis,
    /// Positions of its start and of its end.
    pixels: (f64, f64),
    /// Values and labels.
    pub(crate) ticks: Vec<(f64, String)>,
}

impl Ruler {
    pub(crate) fn new(axis: Axis, pixels: (f64, f64), ticks: Vec<(f64, String)>) -> Self {
        Self {
            axis,
            pixels,
            ticks,
        }
    }

    /// From the minimum to the maximum, without ticks beyond them; the last label has the unit.
    pub(crate) fn exact(values: (f64, f64), pixels: (f64, f64), most: u32, unit: Unit) -> Self {
        let (from, to) = ordered(values);
        let (factor, name) = unit.shown(from.abs().max(to.abs()));
        let ticks = ticks::linear(from / factor, to / factor, most);
        Self::in_unit((from, to), pixels, ticks, (factor, name))
    }

    /// From 0 to the first tick at or above `most_value`; the last label has the unit.
    pub(crate) fn from_zero(most_value: f64, pixels: (f64, f64), most: u32, unit: Unit) -> Self {
        let (_, to) = ordered((0.0, most_value));
        let (factor, name) = unit.shown(to);
        let (axis, ticks) = ticks::widen(0.0, to / factor, Scale::Linear, most);
        Self::in_unit((0.0, axis.hi() * factor), pixels, ticks, (factor, name))
    }

    fn in_unit(
        (from, to): (f64, f64),
        pixels: (f64, f64),
        ticks: Ticks,
        (factor, name): (f64, &str),
    ) -> Self {
        let mut ticks = ticks.labelled();
        for (value, _) in &mut ticks {
            *value = (*value * factor).clamp(from, to);
        }
        if let Some((_, last)) = ticks.last_mut()
            && !name.is_empty()
        {
            *last = format!("{last} {name}");
        }
        Self::new(Axis::new(from, to, Scale::Linear), pixels, ticks)
    }

    /// Position of a value, also outside of the axis; `None` if the scale cannot show it.
    pub(crate) fn px(&self, value: f64) -> Option<f64> {
        let share = self.axis.fraction(value)?.clamp(-FARTHEST, FARTHEST);
        Some(self.pixels.0 + share * (self.pixels.1 - self.pixels.0))
    }

    /// Position of a value, within the axis; that of the start for NaN.
    pub(crate) fn at(&self, value: f64) -> f64 {
        let share = self.axis.fraction(value.clamp(f64::MIN, f64::MAX));
        let share = share.unwrap_or(0.0).clamp(0.0, 1.0);
        self.pixels.0 + share * (self.pixels.1 - self.pixels.0)
    }

    /// The value at a position, within the axis.
    pub(crate) fn value(&self, pixel: f64) -> f64 {
        let share = (pixel - self.pixels.0) / (self.pixels.1 - self.pixels.0);
        self.axis.value(share.clamp(0.0, 1.0))
    }

    /// Positions and labels of the ticks.
    pub(crate) fn places(&self) -> impl Iterator<Item = (f64, &str)> {
        let ticks = self.ticks.iter();
        ticks.filter_map(|(value, text)| Some((self.px(*value)?, &**text)))
    }
}

/// Two finite values with a distance.
fn ordered((from, to): (f64, f64)) -> (f64, f64) {
    let from = if from.is_finite() { from } else { 0.0 };
    let to = if to.is_finite() { to } else { from };
    if to > from {
        (from, to)
    } else {
        (from, from + 1.0)
    }
}

/// The plot area with both axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// The plot area.
    pub plot: Rect,
    pub(crate) x: Ruler,
    pub(crate) y: Ruler,
}

impl Frame {
    /// Position of values, within the plot.
    pub fn place(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (self.x.at(x), self.y.at(y))
    }

    /// The values at a position; `None` outside of the plot.
    pub fn point(&self, (x, y): (f64, f64)) -> Option<(f64, f64)> {
        let is_inside = self.plot.contains(x, y);
        is_inside.then(|| (self.x.value(x), self.y.value(y)))
    }

    /// The outline of everything at an x: a vertical line.
    pub(crate) fn outline_at(&self, x: f64) -> Rect {
        let at = self.x.at(x);
        Rect {
            left: at,
            right: at,
            ..self.plot
        }
    }
}

/// Places of equal size side by side: bars, rows or columns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bands {
    from: f64,
    /// Size of a place.
    pub(crate) pitch: f64,
    pub(crate) count: usize,
}

impl Bands {
    /// Places between two positions, none larger than `most`.
    pub(crate) fn new((from, to): (f64, f64), count: usize, most: f64) -> Self {
        Self {
            from,
            pitch: ((to - from).max(0.0) / count.max(1) as f64).min(most),
            count,
        }
    }

    pub(crate) fn begin(&self, index: usize) -> f64 {
        self.from + index as f64 * self.pitch
    }

    pub(crate) fn middle(&self, index: usize) -> f64 {
        self.from + (index as f64 + 0.5) * self.pitch
    }

    pub(crate) fn end(&self) -> f64 {
        self.begin(self.count)
    }

    /// Index of the place at a position; `None` outside.
    pub(crate) fn hit(&self, at: f64) -> Option<usize> {
        let index = ((at - self.from) / self.pitch).floor();
        if !(0.0..self.count as f64).contains(&index) {
            return None;
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "checked to be within the count"
        )]
        let index = index as usize;
        Some(index)
    }

    /// Distance of labels, in places, for a minimum distance in pixels: 1, 2 or 5 times a power of ten.
    pub(crate) fn stride(&self, apart: f64) -> usize {
        let least = apart / self.pitch.max(1e-3);
        let mut power = 1_usize;
        for _ in 0..9 {
            for factor in [1, 2, 5] {
                let stride = power * factor;
                if stride as f64 >= least {
                    return stride;
                }
            }
            power *= 10;
        }
        power
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(ruler: &Ruler) -> Vec<&str> {
        ruler.ticks.iter().map(|(_, text)| &**text).collect()
    }

    #[test]
    fn the_last_label_has_the_unit() {
        let ruler = Ruler::from_zero(192.3e6, (100.0, 0.0), 6, Unit::Nanos);
        assert_eq!(labels(&ruler), ["0", "50", "100", "150", "200 ms"]);
        assert!((ruler.at(100e6) - 50.0).abs() < 1e-9);
        let ruler = Ruler::from_zero(21.4e9, (100.0, 0.0), 6, Unit::Bytes);
        assert_eq!(labels(&ruler), ["0", "5", "10", "15", "20", "25 GB"]);
        let ruler = Ruler::exact((-1_500.0, 2_500.0), (0.0, 80.0), 5, Unit::Nanos);
        assert_eq!(labels(&ruler), ["−1", "0", "1", "2 µs"]);
    }

    #[test]
    fn any_values_make_an_axis() {
        for most in [f64::NAN, f64::INFINITY, -1.0, 0.0, f64::MAX] {
            for unit in [Unit::Nanos, Unit::Bytes, Unit::Count] {
                let ruler = Ruler::from_zero(most, (0.0, 100.0), 5, unit);
                for value in [f64::NAN, f64::NEG_INFINITY, 0.0, 1.0, f64::MAX] {
                    assert!((0.0..=100.0).contains(&ruler.at(value)), "{most} {value}");
                }
                let ruler = Ruler::exact((most, most), (0.0, 100.0), 5, unit);
                assert!(ruler.at(most).is_finite());
            }
        }
    }

    #[test]
    fn labels_are_as_far_apart_as_they_must() {
        let stride = |pitch, apart| Bands::new((0.0, pitch), 1, f64::INFINITY).stride(apart);
        assert_eq!((stride(20.0, 60.0), stride(1.4, 60.0)), (5, 50));
        assert_eq!(stride(100.0, 60.0), 1);
        assert_eq!(stride(0.0, 60.0), 100_000);
        assert_eq!(stride(f64::NAN, 60.0), 100_000);
    }

    #[test]
    fn places_end_where_they_end() {
        let hit = |at, pitch: f64| Bands::new((10.0, 10.0 + 3.0 * pitch), 3, 9.0).hit(at);
        assert_eq!(hit(10.0, 2.0), Some(0));
        assert_eq!(hit(15.9, 2.0), Some(2));
        assert_eq!(hit(16.0, 2.0), None);
        assert_eq!(hit(9.9, 2.0), None);
        assert_eq!(hit(12.0, 0.0), None);
    }
}
