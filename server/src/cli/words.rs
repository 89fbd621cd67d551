//! Human-readable numbers, sizes, times and paths.

use std::path::Path;
use std::time::Duration;

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use trainscope_format::digits;

use crate::settings::{UserDirs, short_path};

pub(super) use trainscope_format::digits::{bytes as size, count, integer as step};

/// `3.1 of 8.4 GB`, `412 MB of 8.4 GB`.
pub(super) fn size_of(part: u64, whole: u64) -> String {
    let (part, whole) = (size(part), size(whole));
    let unit = whole.rsplit(' ').next().unwrap_or_default();
    format!("{} of {whole}", part.trim_end_matches(unit).trim_end())
}

/// `41 s`, `12 min 5 s`, `3 h 12 min`, `2 d 4 h`; whole seconds.
pub(super) fn span(time: Duration) -> String {
    digits::span(time.as_secs() as f64)
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
    use super::{beginning, name, size_of, span};
    use std::time::Duration;

    #[test]
    fn parts_of_sizes_name_the_unit_once() {
        assert_eq!(size_of(3_100_000_000, 8_400_000_000), "3.1 of 8.4 GB");
        assert_eq!(size_of(412_000_000, 8_400_000_000), "412 MB of 8.4 GB");
        assert_eq!(size_of(0, 0), "0 of 0 B");
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
