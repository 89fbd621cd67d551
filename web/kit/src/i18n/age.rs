//! Time since a moment in words.

use super::Locale;
use crate::format::{CivilTime, whole};

/// Age: relative up to an hour, then clock, weekday, date. `then` and `now` in seconds since 1970.
pub fn age(then_secs: f64, now_secs: f64, locale: Locale) -> String {
    if !then_secs.is_finite() {
        return "–".to_owned();
    }
    let texts = locale.texts();
    let ago = (now_secs - then_secs).max(0.0);
    if ago < 60.0 {
        return (texts.time().secs_ago)(whole(ago));
    }
    if ago < 3_600.0 {
        return (texts.time().minutes_ago)(whole(ago / 60.0));
    }
    let then = CivilTime::local(then_secs);
    let now = CivilTime::local(now_secs);
    if then.day_number == now.day_number {
        (texts.time().today_at)(&then.clock())
    } else if then.day_number + 1 == now.day_number {
        (texts.time().yesterday_at)(&then.clock())
    } else if now.day_number - then.day_number < 7 {
        let day = texts.time().weekdays[then.weekday as usize % 7];
        format!("{day} {}", then.clock())
    } else {
        (texts.time().date)(then.year, then.month, then.day, then.year != now.year)
    }
}

/// The date of a moment, with the year unless it is that of `now_secs`, and its time of day.
pub fn date_and_clock(secs: f64, now_secs: f64, locale: Locale) -> [String; 2] {
    let at = CivilTime::local(secs);
    let has_year = at.year != CivilTime::local(now_secs).year;
    let date = (locale.texts().time().date)(at.year, at.month, at.day, has_year);
    [date, at.clock()]
}
