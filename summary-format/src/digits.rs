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
    let sign = if value < 0 { "−" } else { "" };
    format!("{sign}{}", grouped(&value.unsigned_abs().to_string()))
}

/// A count with thousands separators.
pub fn count(value: u64) -> String {
    integer(i64::try_from(value).unwrap_or(i64::MAX))
}

/// A measured value with `digits` significant digits: `1.987`, `2.47e−4`, `31,280`, `NaN`, `+∞`, `−∞`.
///
/// Values below 10⁻³ or of at least 10⁶ are in powers of ten. Trailing zeros stay, so that columns line up, except for
/// whole numbers.
pub fn number(value: f64, digits: usize) -> String {
    if let Some(name) = non_finite(value) {
        return name.to_owned();
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

/// Digits with a comma every three.
fn grouped(digits: &str) -> String {
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Formats with a number of decimals, grouped; NaN and infinities by name.
pub fn fixed(value: f64, decimals: usize) -> String {
    if let Some(name) = non_finite(value) {
        return name.to_owned();
    }
    let text = format!("{:.*}", decimals, value.abs());
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let sign = if value < 0.0 && text.bytes().any(|b| (b'1'..=b'9').contains(&b)) {
        "−"
    } else {
        ""
    };
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{sign}{}{point}{fraction}", grouped(whole))
}

/// The name of a non-finite value.
pub fn non_finite(value: f64) -> Option<&'static str> {
    if value.is_nan() {
        Some("NaN")
    } else if value == f64::INFINITY {
        Some("+∞")
    } else if value == f64::NEG_INFINITY {
        Some("−∞")
    } else {
        None
    }
}

/// `−2.47e−4`: mantissa with a number of decimals, exponent with a real minus sign.
pub fn scientific(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$e}");
    text.replace('-', "−")
}

/// A value for a readout, four significant digits: `4.969`, `1,184`, `2.470e−4`, `NaN`.
pub fn value(value: f64) -> String {
    if let Some(name) = non_finite(value) {
        return name.to_owned();
    }
    let size = value.abs();
    if size == 0.0 {
        "0".to_owned()
    } else if !(1e-3..1e7).contains(&size) {
        scientific(value, 2)
    } else if size >= 1e4 {
        fixed(value, 0)
    } else {
        let decimals = (3 - exponent(size)).clamp(0, 6);
        fixed(value, usize::try_from(decimals).unwrap_or_default())
    }
}

/// A number typed by a user, with all its digits and no more: `10`, `0.25`, `1e−6`.
pub fn exact(value: f64) -> String {
    if let Some(name) = non_finite(value) {
        return name.to_owned();
    }
    let size = value.abs();
    if size != 0.0 && !(1e-4..1e15).contains(&size) {
        return format!("{value:e}").replace('-', "−");
    }
    let digits = size.to_string();
    let decimals = digits
        .split_once('.')
        .map_or(0, |(_, fraction)| fraction.len());
    fixed(value, decimals)
}

/// Power of ten of the first digit.
pub fn exponent(size: f64) -> i32 {
    if size == 0.0 || !size.is_finite() {
        return 0;
    }
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the exponent of an f64 is at most three digits"
    )]
    let exponent = (size.log10() + 1e-9).floor() as i32;
    exponent
}

/// A measured value for a table cell: three decimals if that is enough, so that columns line up; otherwise as
/// [`number`].
pub fn cell(value: f64) -> String {
    if (0.01..1_000.0).contains(&value.abs()) {
        format!("{value:.3}").replace('-', "−")
    } else {
        number(value, 3)
    }
}

/// A size: `412 MB`, `1.1 GB`; powers of 1,000, as usual for disks and downloads.
pub fn bytes(len_bytes: u64) -> String {
    const UNITS: [&str; 5] = ["kB", "MB", "GB", "TB", "PB"];
    if len_bytes < 1_000 {
        return format!("{len_bytes} B");
    }
    let mut value = len_bytes as f64 / 1_000.0;
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1_000.0;
        unit += 1;
    }
    let decimals = usize::from(value < 9.95);
    format!("{value:.decimals$} {}", UNITS[unit])
}

/// A duration with three digits in the most readable unit.
pub fn nanos(nanos: u64) -> String {
    let nanos = nanos as f64;
    let units = [(1e9, "s"), (1e6, "ms"), (1e3, "µs")];
    let unit = units.into_iter().find(|(size, _)| nanos >= *size);
    let (size, unit) = unit.unwrap_or((1.0, "ns"));
    format!("{} {unit}", number(nanos / size, 3))
}

/// A step for a narrow column: all its digits up to seven, else in powers of ten.
pub fn short_step(step: i64) -> String {
    if step.unsigned_abs() < 10_000_000 {
        integer(step)
    } else {
        number(step as f64, 4)
    }
}

/// A measured value within a sentence: three significant digits without trailing zeros, `0.44`, `26.8`, `10,000`.
pub fn brief(value: f64) -> String {
    trimmed(value, 3)
}

/// A measured value with at most `digits` significant digits, without trailing zeros.
pub fn trimmed(value: f64, digits: usize) -> String {
    let text = number(value, digits);
    if text.contains('e') {
        text
    } else {
        trim_zeros(&text).to_owned()
    }
}

/// A share as a percentage: `83 %`, `4.6 %`, `0.02 %`, `> 99.99 %`. Only exactly 0 and 1 read as 0 % and 100 %.
pub fn percent(share: f64) -> String {
    /// Percentages between it and 100 get the same text.
    const NEARLY_ALL: f64 = 99.99;
    let percentage = 100.0 * share;
    let distance = (100.0 - percentage).abs();
    if percentage > NEARLY_ALL && percentage < 100.0 {
        return format!("> {NEARLY_ALL} %");
    }
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
        trimmed(percentage, 2)
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
            (0.999_999_9, "> 99.99 %"),
            (0.999_89, "99.989 %"),
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

    #[test]
    fn written_numbers_keep_their_digits() {
        for (number, text) in [
            (10.0, "10"),
            (-0.25, "−0.25"),
            (12_500.5, "12,500.5"),
            (1e-6, "1e−6"),
            (0.0, "0"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(exact(number), text);
        }
    }

    #[test]
    fn read_outs_keep_four_digits() {
        for (number, text) in [
            (4.9694, "4.969"),
            (0.1834, "0.1834"),
            (-1184.0, "−1,184"),
            (2.4721e-4, "2.47e−4"),
            (0.0, "0"),
            (f64::NAN, "NaN"),
            (f64::INFINITY, "+∞"),
            (f64::NEG_INFINITY, "−∞"),
            (1.0e308, "1.00e308"),
            (5e-324, "4.94e−324"),
            (40_123.7, "40,124"),
        ] {
            assert_eq!(value(number), text);
        }
    }

    #[test]
    fn short_times_read_well() {
        assert_eq!(nanos(0), "0 ns");
        assert_eq!(nanos(999), "999 ns");
        assert_eq!(nanos(1_500), "1.50 µs");
        assert_eq!(nanos(12_340_000), "12.3 ms");
        assert_eq!(nanos(250_000_000_000), "250 s");
    }

    #[test]
    fn a_long_step_is_short() {
        assert_eq!(short_step(9_999_999), "9,999,999");
        assert_eq!(short_step(-12), "−12");
        assert_eq!(short_step(9_007_199_254_740_992), "9.007e15");
    }

    #[test]
    fn cells_line_up() {
        for (value, text) in [
            (1.6041, "1.604"),
            (-0.0975, "−0.098"),
            (0.004, "0.00400"),
            (12_345.6, "12,346"),
            (0.0, "0"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(cell(value), text);
        }
    }

    #[test]
    fn sizes_have_two_or_three_digits() {
        assert_eq!(bytes(999), "999 B");
        assert_eq!(bytes(1_100_000_000), "1.1 GB");
        assert_eq!(bytes(412_000_000), "412 MB");
        assert_eq!(bytes(999_600), "1.0 MB");
    }

    #[test]
    fn one_spelling_of_what_is_no_number() {
        for (value, name) in [
            (f64::NAN, "NaN"),
            (f64::INFINITY, "+∞"),
            (f64::NEG_INFINITY, "−∞"),
        ] {
            let texts = [
                brief(value),
                cell(value),
                exact(value),
                fixed(value, 2),
                number(value, 4),
                super::value(value),
            ];
            assert!(texts.iter().all(|text| text == name), "{texts:?}");
        }
    }
}
