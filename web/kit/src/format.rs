//! Formats of durations and moments; numbers and sizes are written by [`digits`](trainscope_format::digits).

use std::time::Duration;

pub use trainscope_format::digits::{
    brief, bytes, cell, count, integer, nanos, number, percent, short_step, trimmed,
};

use crate::prelude::*;

/// A duration as `h:mm:ss`, so that columns line up; in hours above a thousand of them; an en dash if unknown.
pub fn duration(secs: f64) -> String {
    if !secs.is_finite() || secs < 0.0 {
        return "–".to_owned();
    }
    let whole = whole(secs);
    let (hours, minutes, seconds) = (whole / 3_600, whole / 60 % 60, whole % 60);
    // For months, seconds do not matter, and there is no room for them.
    if hours >= 1_000 {
        return format!("{} h", count(hours));
    }
    format!("{hours}:{minutes:02}:{seconds:02}")
}

/// Maximum length of a name in a sentence, in characters; longer ones are cut to their last scopes.
const NAME_CHARS: usize = 40;

/// The last scopes of a long name that fit, at least one: `…/fc1-Dense/MatMul-op0`.
pub fn short_name(name: &str) -> String {
    if name.chars().count() <= NAME_CHARS {
        return name.to_owned();
    }
    let cuts = name.match_indices('/').map(|(at, _)| &name[at + 1..]);
    let fits = |end: &&str| end.chars().count() <= NAME_CHARS;
    let last = name
        .rsplit('/')
        .next()
        .filter(|last| last.len() < name.len());
    let end = cuts
        .clone()
        .find(fits)
        .filter(|end| !end.is_empty())
        .or(last);
    end.map_or_else(|| name.to_owned(), |end| format!("…/{end}"))
}

/// A moment in full, for titles: `2026-11-21 02:20:07`.
pub fn moment(secs: f64) -> String {
    if !secs.is_finite() {
        return "–".to_owned();
    }
    let at = CivilTime::local(secs);
    format!(
        "{:04}-{:02}-{:02} {:02}:{:02}:{:02}",
        at.year, at.month, at.day, at.hour, at.minute, at.second
    )
}

/// The clock of a moment: `02:38`.
pub fn clock(secs: f64) -> String {
    CivilTime::local(secs).clock()
}

/// Milliseconds since 1970 by the browser's clock.
pub fn now_millis() -> f64 {
    js_sys::Date::now()
}

/// One clock for all ages of the page.
#[derive(Clone, Copy)]
struct Clock(RwSignal<f64>);

/// Starts the clock that [`use_now_secs`] reads.
pub fn provide_clock() {
    let clock = Clock(RwSignal::new(now_millis() / 1_000.0));
    provide_context(clock);
    let tick = move || clock.0.set(now_millis() / 1_000.0);
    if let Ok(handle) = set_interval_with_handle(tick, Duration::from_secs(1)) {
        on_cleanup(move || handle.clear());
    }
}

/// Now, in seconds since 1970, as a signal that ticks once a second.
pub fn use_now_secs() -> Signal<f64> {
    expect_context::<Clock>().0.into()
}

/// Whole seconds, nanoseconds or bytes of a number that is finite and not negative. In the browser `usize` has 32 bits:
/// it holds no more than 4.29 s in nanoseconds, or 4.29 GB.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "callers pass numbers that are finite and not negative; `as` saturates"
)]
pub fn whole(number: f64) -> u64 {
    number as u64
}

/// A local date and time, in the browser's time zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CivilTime {
    /// Days since 1970-01-01.
    pub day_number: u64,
    pub year: u32,
    /// 1 is January.
    pub month: u32,
    pub day: u32,
    /// 0 is Sunday.
    pub weekday: u32,
    hour: u32,
    minute: u32,
    second: u32,
}

impl CivilTime {
    /// The time at a number of seconds since 1970.
    pub fn local(secs: f64) -> Self {
        let date = js_sys::Date::new(&(secs * 1_000.0).into());
        let local_secs = secs - date.get_timezone_offset() * 60.0;
        Self {
            day_number: whole(local_secs / 86_400.0),
            year: date.get_full_year(),
            month: date.get_month() + 1,
            day: date.get_date(),
            weekday: date.get_day(),
            hour: date.get_hours(),
            minute: date.get_minutes(),
            second: date.get_seconds(),
        }
    }

    /// Hours and minutes: `02:38`.
    pub fn clock(self) -> String {
        format!("{:02}:{:02}", self.hour, self.minute)
    }
}

/// The number in an input text; `None` if the text is something else, or not finite.
pub fn parse_number(text: &str) -> Option<f64> {
    text.trim()
        .parse()
        .ok()
        .filter(|number: &f64| number.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_keep_their_last_scopes() {
        let long = "Default/network-WithLossCell/_backbone-Lenet/fc1-Dense/MatMul-op0";
        assert_eq!(short_name(long), "…/_backbone-Lenet/fc1-Dense/MatMul-op0");
        let last = "Default/_loss_fn-SoftmaxCrossEntropyWithLogits/SparseSoftmaxCrossEntropyWithLogits-op0";
        assert_eq!(
            short_name(last),
            "…/SparseSoftmaxCrossEntropyWithLogits-op0"
        );
        assert_eq!(short_name("train/grad_norm"), "train/grad_norm");
        let without_scopes = "model.layers.0.self_attention.query.weight.grad";
        assert_eq!(short_name(without_scopes), without_scopes);
    }

    #[test]
    fn durations_line_up() {
        assert_eq!(duration(5_200.9), "1:26:40");
        assert_eq!(duration(48.0), "0:00:48");
        assert_eq!(duration(3_599_999.0), "999:59:59");
        assert_eq!(duration(10_000_020.0), "2,777 h");
        assert_eq!(duration(f64::NAN), "–");
    }

    #[test]
    fn numbers_are_read_as_people_type_them() {
        for (text, value) in [
            ("5", 5.0),
            (" .5 ", 0.5),
            ("-.5", -0.5),
            ("+5.", 5.0),
            ("007", 7.0),
            ("1e-3", 1e-3),
            ("1.5E+3", 1500.0),
            ("-0", 0.0),
            ("0.1", 0.1),
        ] {
            assert_eq!(parse_number(text), Some(value), "{text}");
        }
        for text in [
            "", ".", "-", "e5", "1e", "0x10", "1 2", "NaN", "inf", "1e999", "--1", "1.2.3",
        ] {
            assert_eq!(parse_number(text), None, "{text}");
        }
    }
}
