//! Human-readable numbers, sizes, times and paths.

use std::path::Path;
use std::time::Duration;

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::settings::{UserDirs, short_path};

/// Formats a number with a comma between thousands.
pub(super) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a step, which may be negative.
pub(super) fn step(step: i64) -> String {
    let sign = if step < 0 { "-" } else { "" };
    format!("{sign}{}", count(step.unsigned_abs()))
}

const UNITS: [(&str, f64); 5] = [
    ("TB", 1e12),
    ("GB", 1e9),
    ("MB", 1e6),
    ("kB", 1e3),
    ("bytes", 1.0),
];

fn unit(len_bytes: u64) -> (&'static str, f64) {
    UNITS
        .into_iter()
        // A value that rounds up to 1,000 of a unit is 1 of the next.
        .find(|(_, size)| len_bytes as f64 >= size * 0.9995)
        .unwrap_or(("bytes", 1.0))
}

fn in_unit(len_bytes: u64, (name, size): (&str, f64)) -> String {
    let number = len_bytes as f64 / size;
    if name == "bytes" {
        count(len_bytes)
    } else if number < 9.95 {
        format!("{number:.1}")
    } else {
        format!("{number:.0}")
    }
}

/// `8.4 GB`, `412 MB`, `17 bytes`.
pub(super) fn size(len_bytes: u64) -> String {
    let unit = unit(len_bytes);
    format!("{} {}", in_unit(len_bytes, unit), unit.0)
}

/// `3.1 of 8.4 GB`, both in the unit of the whole.
pub(super) fn size_of(part: u64, whole: u64) -> String {
    let unit = unit(whole);
    format!(
        "{} of {} {}",
        in_unit(part, unit),
        in_unit(whole, unit),
        unit.0
    )
}

/// `41 s`, `12 min`, `3 h 12 min`, `2 d 4 h`.
pub(super) fn span(time: Duration) -> String {
    let secs = time.as_secs();
    let (mins, hours, days) = (secs / 60, secs / 3_600, secs / 86_400);
    if mins == 0 {
        format!("{secs} s")
    } else if hours == 0 {
        format!("{mins} min")
    } else if days == 0 {
        format!("{hours} h {} min", mins % 60)
    } else {
        format!("{} d {} h", count(days), hours % 24)
    }
}

/// `1 run`, `2 runs`.
pub(super) fn plural(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { many })
}

/// A path with the home folder as `~`.
pub(super) fn path(path: &Path) -> String {
    let home = UserDirs::find().ok().map(|dirs| dirs.home);
    short_path(path, home.as_deref())
}

/// A name for a terminal: control characters are replaced. A name wider than `width` loses its front, because its end
/// is the distinctive part.
pub(super) fn name(name: &str, width: Option<usize>) -> String {
    let name = name.replace(char::is_control, "\u{fffd}");
    let Some(width) = width.filter(|width| name.width() > *width) else {
        return name;
    };
    let mut left = width.saturating_sub(1);
    let kept = name.char_indices().rev().take_while(|(_, letter)| {
        let columns = letter.width().unwrap_or(0);
        let fits = columns <= left;
        left = left.saturating_sub(columns);
        fits
    });
    let start = kept.last().map_or(name.len(), |(start, _)| start);
    format!("…{}", &name[start..])
}

/// The beginning of a text that is wider than `width`.
pub(super) fn beginning(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut left = width.saturating_sub(1);
    let kept = text.chars().take_while(|letter| {
        let columns = letter.width().unwrap_or(0);
        let fits = columns <= left;
        left = left.saturating_sub(columns);
        fits
    });
    let kept: String = kept.collect();
    format!("{}…", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use super::{beginning, count, name, size, size_of, span, step};
    use std::time::Duration;

    #[test]
    fn numbers_have_commas() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_000), "1,000");
        assert_eq!(count(8_388_608), "8,388,608");
        assert_eq!(step(-1_234), "-1,234");
    }

    #[test]
    fn sizes_keep_two_or_three_digits() {
        for (len, text) in [
            (0, "0 bytes"),
            (17, "17 bytes"),
            (999, "999 bytes"),
            (6_200, "6.2 kB"),
            (412_000_000, "412 MB"),
            (999_999_999, "1.0 GB"),
            (8_400_000_000, "8.4 GB"),
        ] {
            assert_eq!(size(len), text);
        }
        assert_eq!(size_of(3_100_000_000, 8_400_000_000), "3.1 of 8.4 GB");
        assert_eq!(size_of(0, 0), "0 of 0 bytes");
    }

    #[test]
    fn names_lose_their_front_and_what_moves_the_cursor() {
        assert_eq!(name("a/b/c", Some(5)), "a/b/c");
        assert_eq!(name("encoder/layer3/weight", Some(9)), "…3/weight");
        assert_eq!(name("encoder/layer3/weight", None), "encoder/layer3/weight");
        assert_eq!(name("abc", Some(0)), "…");
        assert_eq!(name("编码器/卷积", Some(8)), "…器/卷积");
        assert_eq!(name("编码器/卷积", Some(7)), "…/卷积");
        assert_eq!(beginning("卷积层 的梯度", 8), "卷积层…");
        assert_eq!(name("a\x1b[2J\n", None), "a\u{fffd}[2J\u{fffd}");
    }

    #[test]
    fn times_have_two_units_at_most() {
        for (secs, text) in [
            (0, "0 s"),
            (59, "59 s"),
            (720, "12 min"),
            (11_520, "3 h 12 min"),
            (187_200, "2 d 4 h"),
        ] {
            assert_eq!(span(Duration::from_secs(secs)), text);
        }
    }
}
