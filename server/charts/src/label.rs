//! Labels of axes: ticks of one notation, durations and times of day. Single numbers are written by [`digits`].

use trainscope_format::digits::{self, exponent};

use digits::scientific;
pub use digits::{exact, fixed, integer as step, non_finite, value};

/// A name cut to a maximum number of characters, in its middle: whole scopes if they suffice (`val/…/top5`), else
/// characters.
pub fn middle_cut(name: &str, most: usize) -> String {
    let chars: Vec<char> = name.chars().collect();
    if chars.len() <= most {
        return name.to_owned();
    }
    let scopes: Vec<&str> = name.split('/').collect();
    let length = |text: &str| text.chars().count();
    if let [first, .., last] = &*scopes
        && length(first) + length(last) + 3 <= most
    {
        let mut end = (*last).to_owned();
        for scope in scopes[1..scopes.len() - 1].iter().rev() {
            let longer = format!("{scope}/{end}");
            if length(first) + length(&longer) + 3 > most {
                break;
            }
            end = longer;
        }
        return format!("{first}/…/{end}");
    }
    let kept = most.saturating_sub(1);
    let (head, tail) = (kept / 3, kept - kept / 3);
    let text = |chars: &[char]| chars.iter().collect::<String>();
    format!(
        "{}…{}",
        text(&chars[..head]),
        text(&chars[chars.len() - tail..])
    )
}

/// Labels of ticks with the same distance (`step` above 0), or of powers (`step` 0); all in one notation: `5e−4`,
/// `1e−3`.
pub fn ticks(values: &[f64], step: f64) -> Vec<String> {
    let largest = values.iter().fold(0.0_f64, |most, v| most.max(v.abs()));
    if step <= 0.0 {
        return values.iter().map(|&v| power(v)).collect();
    }
    let decimals_of = |step: f64| usize::try_from((-exponent(step)).max(0)).unwrap_or_default();
    if largest >= 1e6 || (largest < 1e-2 && largest > 0.0) {
        return values.iter().map(|&v| power_of_ten(v, step)).collect();
    }
    let decimals = decimals_of(step).min(12);
    values.iter().map(|&v| fixed(v, decimals)).collect()
}

/// A tick with as many digits as its distance to the next one needs.
fn power_of_ten(value: f64, step: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let decimals = usize::try_from((exponent(value.abs()) - exponent(step)).clamp(0, 9));
    let text = scientific(value, decimals.unwrap_or_default());
    match text.split_once('e') {
        Some((mantissa, power)) if mantissa.contains('.') => {
            let mantissa = mantissa.trim_end_matches('0').trim_end_matches('.');
            format!("{mantissa}e{power}")
        }
        _ => text,
    }
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

/// A time of day, `secs` since 1970 in local time: `11-21` for daily and longer ticks, otherwise `13:22`, `13:22:05`.
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

/// Width of the widest label.
pub(crate) fn widest<'a>(texts: impl IntoIterator<Item = &'a String>) -> f64 {
    let widths = texts.into_iter().map(|text| width(text));
    widths.fold(0.0, f64::max)
}

/// Names up to this length are cut at their end.
const NAME_SHORT: usize = 24;
/// Characters that stay at the end of a name without a separator, or with a long last part.
const NAME_END: usize = 20;

/// The part of a name that may be cut, and the end that stays: the last part of a path, or its last characters.
pub fn halves(text: &str) -> (&str, &str) {
    let chars = text.chars().count();
    if chars <= NAME_SHORT {
        return (text, "");
    }
    let last = ["/", "::", "."]
        .iter()
        .filter_map(|between| text.rfind(between));
    let latest = text
        .char_indices()
        .nth(chars - NAME_END)
        .map_or(0, |(at, _)| at);
    let at = last.max().unwrap_or(0).max(latest);
    text.split_at(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_in_the_middle() {
        let cut = |name: &str| middle_cut(name, 16);
        assert_eq!(cut("val/loss"), "val/loss");
        let [one, five] = ["top1", "top5"].map(|end| cut(&format!("val/metrics/accuracy/{end}")));
        assert_eq!([one, five], ["val/…/top1", "val/…/top5"]);
        assert_eq!(cut("a/bb/cc/dd/ee/ff/gg"), "a/…/dd/ee/ff/gg");
        let long = cut("hyperparameter_of_the_optimizer");
        assert_eq!((long.chars().count(), &*long), (16, "hyper…_optimizer"));
        let scoped = cut("gradients_of_layers/normalization_of_layers");
        assert_eq!(scoped.chars().count(), 16, "{scoped}");
        assert_eq!(middle_cut("ab", 0), "…");
    }

    #[test]
    fn ticks_share_one_notation() {
        assert_eq!(ticks(&[0.0, 0.2, 0.4], 0.2), ["0.0", "0.2", "0.4"]);
        assert_eq!(ticks(&[0.0, 1e-4, 2e-4], 1e-4), ["0", "1e−4", "2e−4"]);
        assert_eq!(
            ticks(&[5e-4, 1e-3, 1.5e-3], 5e-4),
            ["5e−4", "1e−3", "1.5e−3"]
        );
        assert_eq!(ticks(&[1e6, 1.2e6, 1.4e6], 2e5), ["1e6", "1.2e6", "1.4e6"]);
        assert_eq!(ticks(&[0.0, 500.0, 1000.0], 500.0), ["0", "500", "1,000"]);
        assert_eq!(ticks(&[0.0, 5e5, 1e6], 5e5), ["0", "5e5", "1e6"]);
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
        assert_eq!(clock(f64::INFINITY, 1.0), "+∞");
        assert_eq!(date(f64::MAX).1, date(7.3e7).1);
    }

    #[test]
    fn the_end_of_a_path_stays() {
        let path = "Gradients/Default/network-WithLossCell/Conv2d-op12";
        assert_eq!(
            halves(path),
            ("Gradients/Default/network-WithLossCell", "/Conv2d-op12")
        );
        let long = "aten::convolution_backward_overrideable";
        assert_eq!(
            halves(long),
            ("aten::convolution_b", "ackward_overrideable")
        );
        assert_eq!(halves("aten::mm"), ("aten::mm", ""));
        assert_eq!(halves(&"é".repeat(30)).1, "é".repeat(20));
    }
}
