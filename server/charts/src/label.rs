//! Number formats of axes and readouts: real minus sign, grouped thousands, `2.47e−4`, `10⁻³`.

/// A whole number with a comma every three digits.
pub fn grouped(digits: &str) -> String {
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A step: `1,184`, `−3`.
pub fn step(step: i64) -> String {
    let digits = grouped(&step.unsigned_abs().to_string());
    if step < 0 {
        format!("−{digits}")
    } else {
        digits
    }
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
        Some("+Inf")
    } else if value == f64::NEG_INFINITY {
        Some("−Inf")
    } else {
        None
    }
}

/// `−2.47e−4`: mantissa with a number of decimals, exponent with a real minus sign.
fn scientific(value: f64, decimals: usize) -> String {
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
fn exponent(size: f64) -> i32 {
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

/// Labels of ticks with the same distance (`step` above 0), or of powers (`step` 0); all in one notation.
pub fn ticks(values: &[f64], step: f64) -> Vec<String> {
    let largest = values.iter().fold(0.0_f64, |most, v| most.max(v.abs()));
    if step <= 0.0 {
        return values.iter().map(|&v| power(v)).collect();
    }
    let decimals_of = |step: f64| usize::try_from((-exponent(step)).max(0)).unwrap_or_default();
    if largest >= 1e6 || (largest < 1e-2 && largest > 0.0) {
        let top = exponent(largest);
        let scale = 10_f64.powi(top);
        // A power beyond the range of f64 (subnormal values) cannot be divided by.
        if scale > 0.0 && scale.is_finite() {
            let decimals = decimals_of(step / scale).min(9);
            return values
                .iter()
                .map(|&v| {
                    if v == 0.0 {
                        "0".to_owned()
                    } else {
                        let sign = if top < 0 { "−" } else { "" };
                        format!("{}e{sign}{}", fixed(v / scale, decimals), top.abs())
                    }
                })
                .collect();
        }
        return values.iter().map(|&v| scientific(v, 1)).collect();
    }
    let decimals = decimals_of(step).min(12);
    values.iter().map(|&v| fixed(v, decimals)).collect()
}

/// A tick of a logarithmic axis: plain from 0.01 to 10,000, otherwise `10⁻³`, `5·10⁻³`.
fn power(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let exponent = exponent(value.abs());
    if (-2..=4).contains(&exponent) {
        return fixed(
            value,
            usize::try_from((-exponent).max(0)).unwrap_or_default(),
        );
    }
    let mantissa = (value.abs() / 10_f64.powi(exponent)).round();
    let raised: String = exponent
        .to_string()
        .chars()
        .map(|c| match c {
            '-' => '⁻',
            '0' => '⁰',
            '1' => '¹',
            '2' => '²',
            '3' => '³',
            other => char::from_u32(0x2070 + u32::from(other) - u32::from('0')).unwrap_or(other),
        })
        .collect();
    let sign = if value < 0.0 { "−" } else { "" };
    if mantissa > 1.0 && mantissa.is_finite() {
        format!("{sign}{mantissa}·10{raised}")
    } else {
        format!("{sign}10{raised}")
    }
}

/// A duration in seconds: `0:42`, `13:22`, `2:05:00`, `3 d 4 h`. `step` is the distance of ticks, for decimals.
pub fn duration(secs: f64, step: f64) -> String {
    if let Some(name) = non_finite(secs) {
        return name.to_owned();
    }
    let sign = if secs < 0.0 { "−" } else { "" };
    let size = secs.abs();
    if step < 1.0 && size < 60.0 {
        let decimals = usize::try_from((-exponent(step)).clamp(1, 6)).unwrap_or(1);
        return format!("{sign}{} s", fixed(size, decimals));
    }
    let total = size.round();
    let (days, hours) = ((total / 86_400.0).floor(), (total / 3_600.0).floor());
    let (minutes, seconds) = ((total / 60.0).floor() % 60.0, total % 60.0);
    if days >= 1.0 && step >= 3_600.0 {
        let hours = hours % 24.0;
        if hours == 0.0 {
            format!("{sign}{} d", fixed(days, 0))
        } else {
            format!("{sign}{} d {hours} h", fixed(days, 0))
        }
    } else if hours >= 1.0 {
        format!("{sign}{hours}:{minutes:02}:{seconds:02}")
    } else {
        format!("{sign}{minutes}:{seconds:02}")
    }
}

/// A time of day, `secs` since 1970 in local time: `11-21` from daily ticks on, otherwise `13:22`, `13:22:05`.
pub fn clock(secs: f64, step: f64) -> String {
    if let Some(name) = non_finite(secs) {
        return name.to_owned();
    }
    let day = (secs / 86_400.0).floor();
    let second = secs - day * 86_400.0;
    let (hours, minutes) = ((second / 3_600.0).floor(), (second / 60.0).floor() % 60.0);
    if step >= 86_400.0 {
        let (_, month, day) = date(day);
        format!("{month:02}-{day:02}")
    } else if step >= 60.0 {
        format!("{hours:02}:{minutes:02}")
    } else if step >= 1.0 {
        format!("{hours:02}:{minutes:02}:{:02}", (second % 60.0).floor())
    } else {
        let decimals = usize::try_from((-exponent(step)).clamp(1, 6)).unwrap_or(1);
        format!(
            "{minutes:02}:{:0w$.decimals$}",
            second % 60.0,
            w = decimals + 3
        )
    }
}

/// Year, month and day of a day since 1970-01-01 in the Gregorian calendar, limited to years up to 200,000. After
/// Howard Hinnant, `chrono`-compatible low-level date algorithms (`civil_from_days`).
pub fn date(days_since_1970: f64) -> (i64, i64, i64) {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "clamped to a range far inside of i64"
    )]
    let days = days_since_1970.clamp(-7.3e7, 7.3e7) as i64 + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 {
        shifted_month + 3
    } else {
        shifted_month - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

/// Approximate width of a label in CSS pixels, for margins and collisions.
pub fn width(text: &str) -> f64 {
    text.chars()
        .map(|c| match c {
            ',' | '.' | ':' | '·' | ' ' | 'i' | 'l' | 'I' => 3.2,
            '⁰' | '¹' | '²' | '³' | '⁴' | '⁵' | '⁶' | '⁷' | '⁸' | '⁹' | '⁻' => {
                4.2
            }
            'm' | 'w' | 'M' | 'W' | 'N' => 8.0,
            c if u32::from(c) >= 0x2e80 => 11.0,
            _ => 6.5,
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

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
            (f64::INFINITY, "+Inf"),
            (f64::NEG_INFINITY, "−Inf"),
            (1.0e308, "1.00e308"),
            (5e-324, "4.94e−324"),
            (40_123.7, "40,124"),
        ] {
            assert_eq!(value(number), text);
        }
    }

    #[test]
    fn ticks_share_one_notation() {
        assert_eq!(ticks(&[0.0, 0.2, 0.4], 0.2), ["0.0", "0.2", "0.4"]);
        assert_eq!(ticks(&[0.0, 1e-4, 2e-4], 1e-4), ["0", "1e−4", "2e−4"]);
        assert_eq!(ticks(&[0.0, 500.0, 1000.0], 500.0), ["0", "500", "1,000"]);
        assert_eq!(ticks(&[0.0, 5e5, 1e6], 5e5), ["0", "0.5e6", "1.0e6"]);
        assert_eq!(
            ticks(&[0.1, 1.0, 1e-3, 1e5, 5e-7], 0.0),
            ["0.1", "1", "10⁻³", "10⁵", "5·10⁻⁷"]
        );
        assert_eq!(ticks(&[-5.0, 0.0], 5.0), ["−5", "0"]);
        assert_eq!(ticks(&[-0.0], 0.5), ["0.0"]);
    }

    #[test]
    fn times_read_as_clocks_and_days() {
        assert_eq!(duration(42.0, 1.0), "0:42");
        assert_eq!(duration(802.0, 60.0), "13:22");
        assert_eq!(duration(7_500.0, 900.0), "2:05:00");
        assert_eq!(duration(273_600.0, 7_200.0), "3 d 4 h");
        assert_eq!(duration(0.25, 0.05), "0.25 s");
        assert_eq!(duration(f64::NAN, 1.0), "NaN");
    }

    #[test]
    fn clocks_and_dates() {
        // 2026-11-21 13:22:05.25
        let secs = 20_778.0 * 86_400.0 + 48_125.25;
        assert_eq!(date(20_778.0), (2026, 11, 21));
        assert_eq!(date(0.0), (1970, 1, 1));
        assert_eq!(date(11_016.0), (2000, 2, 29));
        assert_eq!(clock(secs, 86_400.0), "11-21");
        assert_eq!(clock(secs, 900.0), "13:22");
        assert_eq!(clock(secs, 5.0), "13:22:05");
        assert_eq!(clock(secs, 0.1), "22:05.2");
        assert_eq!(clock(f64::INFINITY, 1.0), "+Inf");
        assert_eq!(date(f64::MAX).1, date(7.3e7).1);
    }

    #[test]
    fn steps_are_grouped_to_their_extremes() {
        assert_eq!(step(1_184), "1,184");
        assert_eq!(step(i64::MIN), "−9,223,372,036,854,775,808");
    }
}
