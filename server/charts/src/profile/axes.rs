//! Linear axes of times, sizes and counts: their ticks, and labels in one unit.

use crate::label;
use crate::scale::Scale;
use crate::ticks;

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
    fn shown(self, most: f64) -> (f64, &'static str) {
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
pub(crate) struct Ruler {
    values: (f64, f64),
    pixels: (f64, f64),
    /// Values and labels; the last label has the unit.
    pub(crate) ticks: Vec<(f64, String)>,
}

impl Ruler {
    /// From the minimum to the maximum, without ticks beyond them.
    pub(crate) fn exact(values: (f64, f64), pixels: (f64, f64), most: u32, unit: Unit) -> Self {
        let (from, to) = ordered(values);
        let (factor, name) = unit.shown(from.abs().max(to.abs()));
        let ticks = ticks::linear(from / factor, to / factor, most);
        Self {
            values: (from, to),
            pixels,
            ticks: labelled(&ticks, factor, name),
        }
    }

    /// From 0 to the first tick at or above `most_value`.
    pub(super) fn from_zero(most_value: f64, pixels: (f64, f64), most: u32, unit: Unit) -> Self {
        let (_, to) = ordered((0.0, most_value));
        let (factor, name) = unit.shown(to);
        let (axis, ticks) = ticks::widen(0.0, to / factor, Scale::Linear, most);
        Self {
            values: (0.0, axis.hi() * factor),
            pixels,
            ticks: labelled(&ticks, factor, name),
        }
    }

    /// Position of a value, within the axis; that of the start for NaN.
    pub(crate) fn at(&self, value: f64) -> f64 {
        let (from, to) = self.values;
        let share = ((value - from) / (to - from)).clamp(0.0, 1.0);
        let share = if share.is_nan() { 0.0 } else { share };
        self.pixels.0 + share * (self.pixels.1 - self.pixels.0)
    }

    /// The value at a position.
    pub(crate) fn value(&self, pixel: f64) -> f64 {
        let share = (pixel - self.pixels.0) / (self.pixels.1 - self.pixels.0);
        self.values.0 + share.clamp(0.0, 1.0) * (self.values.1 - self.values.0)
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

fn labelled(ticks: &ticks::Ticks, factor: f64, name: &str) -> Vec<(f64, String)> {
    let labels = label::ticks(&ticks.values, ticks.step);
    let values = ticks.values.iter().map(|value| value * factor);
    let mut all: Vec<(f64, String)> = values.zip(labels).collect();
    if let Some((_, last)) = all.last_mut()
        && !name.is_empty()
    {
        *last = format!("{last} {name}");
    }
    all
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
}
