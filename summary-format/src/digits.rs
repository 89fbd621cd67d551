//! Numbers formatted the same way in sentences, tables and on pages: thousands separators, a real minus sign, powers
//! of ten for very small and very large values.

use serde::{Deserialize, Serialize};

/// The unit of a measured value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Unit {
    /// No unit: `3e−8`.
    #[default]
    Number,
    /// A whole number of elements, points or steps.
    Count,
    /// A share of 1, shown as a percentage.
    Share,
    /// A percentage.
    Percent,
    /// A ratio: `×10,000`.
    Times,
    /// A duration in seconds.
    Seconds,
}

impl Unit {
    /// Formats a value with this unit.
    pub fn text(self, value: f64) -> String {
        match self {
            _ if !value.is_finite() => brief(value),
            Self::Number => brief(value),
            Self::Count => number(value, 6),
            Self::Share => percent(value),
            Self::Percent => percent(value / 100.0),
            Self::Times => format!("×{}", brief(value)),
            Self::Seconds => span(value),
        }
    }
}

/// Comparison of a value with a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Operator {
    /// `>`
    #[default]
    Above,
    /// `≥`
    AtLeast,
    /// `<`
    Below,
    /// `≤`
    AtMost,
}

impl Operator {
    /// Its symbol.
    pub const fn sign(self) -> &'static str {
        match self {
            Self::Above => ">",
            Self::AtLeast => "≥",
            Self::Below => "<",
            Self::AtMost => "≤",
        }
    }

    /// `true` if `value` meets the comparison with `limit`.
    pub fn holds(self, value: f64, limit: f64) -> bool {
        match self {
            Self::Above => value > limit,
            Self::AtLeast => value >= limit,
            Self::Below => value < limit,
            Self::AtMost => value <= limit,
        }
    }
}

/// An integer with thousands separators: `31,280`, `−7`.
pub fn integer(value: i64) -> String {
    let digits = value.unsigned_abs().to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3 + 3);
    if value < 0 {
        out.push('−');
    }
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A count with thousands separators.
pub fn count(value: u64) -> String {
    integer(i64::try_from(value).unwrap_or(i64::MAX))
}

/// A measured value with `digits` significant digits: `1.987`, `2.47e−4`, `31,280`, `NaN`, `+∞`, `−∞`.
///
/// Below 10⁻³ and from 10⁶ on in powers of ten; trailing zeros stay, so that columns line up, except for whole numbers.
pub fn number(value: f64, digits: usize) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "+∞" } else { "−∞" }.to_owned();
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    let digits = digits.max(1);
    // `{:e}` rounds, so 9.9996 becomes 1.000e1: the exponent is only known after rounding.
    let scientific = format!("{:.*e}", digits - 1, value.abs());
    let (mantissa, power) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let power: i32 = power.parse().unwrap_or(0);
    let sign = if value < 0.0 { "−" } else { "" };
    if !(-3..6).contains(&power) {
        let mantissa = trim_zeros(mantissa);
        let power_sign = if power < 0 { "−" } else { "" };
        return format!("{sign}{mantissa}e{power_sign}{}", power.abs());
    }
    let whole_digits = usize::try_from(power + 1).unwrap_or(0);
    let decimals = if power >= 0 {
        digits.saturating_sub(whole_digits)
    } else {
        digits - 1 + usize::try_from(-power).unwrap_or(0)
    };
    let plain = format!("{:.decimals$}", value.abs());
    let (whole, fraction) = plain.split_once('.').unwrap_or((&plain, ""));
    let whole = count(whole.parse().unwrap_or(0));
    if fraction.bytes().all(|digit| digit == b'0') {
        format!("{sign}{whole}")
    } else {
        format!("{sign}{whole}.{fraction}")
    }
}

/// A measured value within a sentence: three significant digits without trailing zeros, `0.44`, `26.8`, `10,000`.
pub fn brief(value: f64) -> String {
    let text = number(value, 3);
    if text.contains('e') {
        text
    } else {
        trim_zeros(&text).to_owned()
    }
}

/// A share as a percentage: `83 %`, `4.6 %`, `0.02 %`. Only exactly 0 and 1 read as 0 % and 100 %.
pub fn percent(share: f64) -> String {
    let percentage = 100.0 * share;
    let distance = (100.0 - percentage).abs();
    let text = if distance > 0.0 && distance < 0.5 {
        // Two digits of the distance to the whole.
        let missing: f64 = format!("{distance:.1e}").parse().unwrap_or(distance);
        let decimals = format!("{missing}")
            .split_once('.')
            .map_or(0, |(_, d)| d.len());
        format!("{percentage:.decimals$}")
    } else if percentage.abs() >= 10.0 {
        number(percentage.round(), 3)
    } else {
        let text = number(percentage, 2);
        if text.contains('e') {
            text
        } else {
            trim_zeros(&text).to_owned()
        }
    };
    format!("{text} %")
}

/// A duration in seconds, in at most two units: `7 ms`, `41 s`, `12 min`, `1 h 10 min`, `2 d 4 h`.
pub fn span(secs: f64) -> String {
    const UNITS: [(f64, &str); 3] = [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs")];
    if !(60.0..1e15).contains(&secs) {
        let unit = UNITS.into_iter().find(|(size, _)| secs >= *size);
        let (size, unit) = unit.unwrap_or((1.0, "s"));
        return format!("{} {unit}", brief(secs / size));
    }
    let units = |of: f64, size: f64| {
        let minor = (secs / of).round();
        (number((minor / size).floor(), 6), minor % size)
    };
    let (major, (minor, unit)) = if secs.round() < 3_600.0 {
        let (major, minor) = units(1.0, 60.0);
        (format!("{major} min"), (minor, "s"))
    } else if (secs / 60.0).round() < 1_440.0 {
        let (major, minor) = units(60.0, 60.0);
        (format!("{major} h"), (minor, "min"))
    } else {
        let (major, minor) = units(3_600.0, 24.0);
        (format!("{major} d"), (minor, "h"))
    };
    if minor > 0.0 {
        format!("{major} {minor} {unit}")
    } else {
        major
    }
}

fn trim_zeros(text: &str) -> &str {
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_like_numbers() {
        for (value, text) in [
            (1.987, "1.987"),
            (0.000_247, "2.47e−4"),
            (0.0001, "1e−4"),
            (-0.0001, "−1e−4"),
            (0.05, "0.05000"),
            (31_280.0, "31,280"),
            (1_234.56, "1,235"),
            (9.999_96, "10"),
            (12_345_678.0, "1.235e7"),
            (1e308, "1e308"),
            (999_999.9, "1e6"),
            (0.0, "0"),
            (-2.5, "−2.500"),
            (f64::NAN, "NaN"),
            (f64::INFINITY, "+∞"),
            (f64::NEG_INFINITY, "−∞"),
            (5e-324, "4.941e−324"),
            (f64::MAX, "1.798e308"),
        ] {
            assert_eq!(number(value, 4), text, "{value}");
        }
    }

    #[test]
    fn integers_have_separators() {
        assert_eq!(integer(0), "0");
        assert_eq!(integer(-1_234), "−1,234");
        assert_eq!(integer(i64::MIN), "−9,223,372,036,854,775,808");
        assert_eq!(count(1_000_000), "1,000,000");
    }

    #[test]
    fn numbers_in_sentences_have_three_digits_and_no_zeros_behind() {
        for (value, text) in [
            (0.4399, "0.44"),
            (26.784, "26.8"),
            (6.92e-9, "6.92e−9"),
            (31_987.3, "31,987"),
            (10_000.0, "10,000"),
            (1e8, "1e8"),
            (f64::NEG_INFINITY, "−∞"),
        ] {
            assert_eq!(brief(value), text, "{value}");
        }
    }

    #[test]
    fn a_part_never_reads_as_the_whole_or_as_nothing() {
        for (share, text) in [
            (0.833_33, "83 %"),
            (0.046, "4.6 %"),
            (0.000_2, "0.02 %"),
            (1e-9, "1e−7 %"),
            (0.999_7, "99.97 %"),
            (0.999_999_9, "99.99999 %"),
            (1.0, "100 %"),
            (0.0, "0 %"),
            (0.5, "50 %"),
            (12.0, "1,200 %"),
        ] {
            assert_eq!(percent(share), text, "{share}");
        }
    }

    #[test]
    fn durations_have_two_units_at_most() {
        for (secs, text) in [
            (0.0, "0 s"),
            (0.0068, "6.8 ms"),
            (41.0, "41 s"),
            (61.0, "1 min 1 s"),
            (720.0, "12 min"),
            (3_599.7, "1 h"),
            (4_189.0, "1 h 10 min"),
            (187_200.0, "2 d 4 h"),
        ] {
            assert_eq!(span(secs), text, "{secs}");
        }
    }
}
