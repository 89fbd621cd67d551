//! One style for the numbers of a column, so that they can be compared at a glance.

use trainscope_api::table::CellValue;
use trainscope_charts::label;

/// Digits of a number in a cell.
const DIGITS: usize = 3;
/// Decimals at most; smaller numbers make the whole column one of powers.
const MOST_DECIMALS: usize = 6;
/// Numbers from this size on do the same.
const LARGE: f64 = 1e6;

/// Style of all numbers of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NumberStyle {
    /// All with this number of decimals.
    Fixed(usize),
    /// All as mantissa and power of ten.
    Powers,
}

impl NumberStyle {
    /// The style that shows three digits of each number, without zeros that none of them needs.
    pub(super) fn of(values: impl Iterator<Item = CellValue>) -> Self {
        let numbers = values.filter_map(|value| value.number());
        let sizes = numbers
            .map(f64::abs)
            .filter(|own| own.is_finite() && *own > 0.0);
        let mut most = 0;
        for size in sizes {
            let decimals = decimals(size);
            if size >= LARGE || decimals > MOST_DECIMALS {
                return Self::Powers;
            }
            most = most.max(decimals);
        }
        Self::Fixed(most)
    }

    /// Text of a number; `None` for one that is not finite, and for one that would read as zero.
    pub(super) fn text(self, number: f64) -> Option<String> {
        if !number.is_finite() {
            return None;
        }
        match self {
            Self::Fixed(most) => {
                let is_lost = number != 0.0 && decimals(number.abs()) > most;
                (!is_lost).then(|| label::fixed(number, most))
            }
            Self::Powers if number.to_bits() << 1 == 0 => Some("0".to_owned()),
            Self::Powers => Some(powers(number)),
        }
    }
}

/// Decimals that three digits of a number need.
fn decimals(size: f64) -> usize {
    let text = format!("{size:.*e}", DIGITS - 1);
    let (mantissa, power) = text.split_once('e').unwrap_or((&text, "0"));
    let fraction = mantissa
        .split_once('.')
        .map_or("", |(_, fraction)| fraction);
    let digits = fraction.trim_end_matches('0').len();
    let power: i64 = power.parse().unwrap_or(0);
    let own = i64::try_from(digits).unwrap_or(0) - power;
    usize::try_from(own.max(0)).unwrap_or(0)
}

fn powers(number: f64) -> String {
    let text = format!("{number:.*e}", DIGITS - 1);
    let (mantissa, power) = text.split_once('e').unwrap_or((&text, "0"));
    let mantissa = mantissa.trim_end_matches('0').trim_end_matches('.');
    format!("{mantissa}e{power}").replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(values: &[f64]) -> Vec<String> {
        let style = NumberStyle::of(values.iter().copied().map(CellValue::Number));
        let text = |own: &f64| style.text(*own).unwrap_or_else(|| "none".to_owned());
        values.iter().map(text).collect()
    }

    #[test]
    fn numbers_of_a_column_have_one_style() {
        assert_eq!(texts(&[0.001, 3e-4, 0.1]), ["0.0010", "0.0003", "0.1000"]);
        assert_eq!(texts(&[16.0, 128.0]), ["16", "128"]);
        assert_eq!(texts(&[0.5, 0.0, f64::NAN]), ["0.5", "0.0", "none"]);
        assert_eq!(texts(&[1e-9, 0.1, 0.0]), ["1e−9", "1e−1", "0"]);
        assert_eq!(texts(&[1e8, -0.05]), ["1e8", "−5e−2"]);
        // A number that none of the measured ones is like is not written as zero.
        assert_eq!(NumberStyle::Fixed(1).text(0.001), None);
    }
}
