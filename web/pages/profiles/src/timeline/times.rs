//! Texts of times: ticks of the ruler, moments, stretches; since the start of the session, or by the wall clock.

use trainscope_format::digits;

use super::view::View;

/// Minimum distance of two ticks, CSS pixels.
const TICK_PIXELS: f64 = 96.0;
/// Maximum number of decimals of a tick.
const MAX_DECIMALS: usize = 9;
/// Nanoseconds in a day.
const DAY: i128 = 86_400_000_000_000;

/// Start of the session by the wall clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WallClock {
    /// Nanoseconds since midnight, in the time zone of the browser.
    since_midnight: i128,
}

impl WallClock {
    /// The clock of a session that began `unix_nanos` after 1970. UTC is `utc_ahead_minutes` ahead of the time zone
    /// of the browser.
    pub(super) fn new(unix_nanos: &str, utc_ahead_minutes: f64) -> Option<Self> {
        let nanos: i128 = unix_nanos.parse().ok()?;
        #[expect(
            clippy::cast_possible_truncation,
            reason = "less than a day; NaN becomes 0"
        )]
        let ahead = (utc_ahead_minutes * 60e9) as i128;
        Some(Self {
            since_midnight: (nanos - ahead).rem_euclid(DAY),
        })
    }

    /// The clock after a number of nanoseconds, with a number of decimals of a second: `14:03:27.412`.
    fn text(self, nanos: f64, decimals: usize) -> String {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "times of a session are below 2^53"
        )]
        let all = (self.since_midnight + nanos.round() as i128).rem_euclid(DAY);
        let (secs, rest) = (all / 1_000_000_000, all % 1_000_000_000);
        let clock = format!("{:02}:{:02}:{:02}", secs / 3_600, secs / 60 % 60, secs % 60);
        let fraction = format!("{rest:09}");
        match fraction.get(..decimals.min(9)) {
            Some(digits) if !digits.is_empty() => format!("{clock}.{digits}"),
            _ => clock,
        }
    }
}

/// Ticks of a ruler: their times, and the distance between two.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Ticks {
    pub(super) times: Vec<f64>,
    pub(super) step: f64,
}

/// Ticks at 1, 2 or 5 times a power of ten of nanoseconds.
pub(super) fn ticks(view: View, width: f64) -> Ticks {
    let least = view.span() / (width / TICK_PIXELS).max(1.0);
    let power = 10_f64.powf(least.max(1.0).log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
    let step = steps.into_iter().find(|step| *step >= least);
    let step = step.unwrap_or(power * 10.0).max(1.0);
    let first = (view.from / step).ceil();
    let times = (0..200).map(|index| (first + f64::from(index)) * step);
    Ticks {
        times: times.take_while(|time| *time <= view.to).collect(),
        step,
    }
}

/// Unit for times up to `largest`: its nanoseconds, its name, and its number of decimals down to a nanosecond.
const fn unit(largest: f64) -> (f64, &'static str, usize) {
    if largest >= 1e9 {
        (1e9, "s", 9)
    } else if largest >= 1e6 {
        (1e6, "ms", 6)
    } else if largest >= 1e3 {
        (1e3, "µs", 3)
    } else {
        (1.0, "ns", 0)
    }
}

/// Number of decimals that distinguishes times at a distance of `step`.
fn decimals(step: f64, unit: f64) -> usize {
    let power = (step / unit).log10();
    // Rounding must not add a second decimal to 0.1.
    let needed = (-(power + 1e-9).floor()).max(0.0);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "at most the digits of a nanosecond"
    )]
    let needed = needed as usize;
    needed.min(MAX_DECIMALS)
}

/// Label of a tick, in the unit of the largest time in view.
pub(super) fn tick_label(time: f64, step: f64, largest: f64, wall: Option<WallClock>) -> String {
    if let Some(wall) = wall {
        return wall.text(time, decimals(step, 1e9));
    }
    let (size, name, most) = unit(largest);
    let decimals = decimals(step, size).min(most);
    format!("{} {name}", digits::fixed(time / size, decimals))
}

/// Both ends of a stretch, with enough digits to distinguish them: `0.412 – 0.566 s`.
pub(super) fn stretch(from: f64, to: f64, wall: Option<WallClock>) -> String {
    let step = ((to - from) / 100.0).max(1.0);
    if let Some(wall) = wall {
        let decimals = decimals(step, 1e9);
        return format!(
            "{} – {}",
            wall.text(from, decimals),
            wall.text(to, decimals)
        );
    }
    let (size, name, most) = unit(to.abs());
    let decimals = decimals(step, size).min(most);
    let text = |time: f64| digits::fixed(time / size, decimals);
    format!("{} – {} {name}", text(from), text(to))
}

/// A moment to the nanosecond, digits in groups of three: `0.463 900 125 s`.
pub(super) fn moment(nanos: i64) -> String {
    let (size, name, most) = unit(nanos.unsigned_abs() as f64);
    let text = digits::fixed(nanos as f64 / size, most);
    let Some((whole, fraction)) = text.split_once('.') else {
        return format!("{text} {name}");
    };
    let mut groups: Vec<&str> = Vec::new();
    let mut rest = fraction;
    while !rest.is_empty() {
        let (group, after) = rest.split_at(rest.len().min(3));
        groups.push(group);
        rest = after;
    }
    while groups.len() > 1 && groups.last() == Some(&"000") {
        groups.pop();
    }
    format!("{whole}.{} {name}", groups.join("\u{202f}"))
}

/// A length: `1.84 ms`.
pub(super) fn length(nanos: i64) -> String {
    let text = digits::nanos(nanos.unsigned_abs());
    if nanos < 0 {
        format!("−{text}")
    } else {
        text
    }
}

/// A part of a whole: `12 %`. A dash without a whole, and for calls within their own name, which take more than all of it.
pub(super) fn share(part: i64, whole: i64) -> String {
    if (0..=whole).contains(&part) && whole > 0 {
        digits::percent(part as f64 / whole as f64)
    } else {
        "–".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(from: f64, to: f64) -> Vec<String> {
        let view = View { from, to };
        let ticks = ticks(view, 600.0);
        let text = |time: &f64| tick_label(*time, ticks.step, to, None);
        ticks.times.iter().map(text).collect()
    }

    #[test]
    fn ticks_are_round_and_far_enough_apart() {
        assert_eq!(
            labels(412e6, 566e6),
            ["450 ms", "500 ms", "550 ms"],
            "30 ms would be too narrow"
        );
        assert_eq!(labels(1.412e9, 1.566e9), ["1.45 s", "1.50 s", "1.55 s"]);
        assert_eq!(
            labels(0.0, 900.0),
            ["0 ns", "200 ns", "400 ns", "600 ns", "800 ns"]
        );
        assert_eq!(
            labels(7.0, 60.0),
            ["10 ns", "20 ns", "30 ns", "40 ns", "50 ns", "60 ns"]
        );
        let close = labels(5e9, 5e9 + 60.0);
        assert_eq!(close[1], "5.00000001 s");
        assert!(ticks(View { from: 0.0, to: 1.0 }, 0.0).times.len() <= 2);
    }

    #[test]
    fn stretches_have_the_digits_that_matter() {
        assert_eq!(stretch(1_412e6, 1_566e6, None), "1.412 – 1.566 s");
        assert_eq!(stretch(0.0, 5.64e9, None), "0.00 – 5.64 s");
        assert_eq!(stretch(0.0, 10.0, None), "0 – 10 ns");
    }

    #[test]
    fn moments_are_exact() {
        assert_eq!(moment(463_900_000), "463.900 ms");
        assert_eq!(moment(1_463_900_125), "1.463\u{202f}900\u{202f}125 s");
        assert_eq!(moment(2_000_000_000), "2.000 s");
        assert_eq!(moment(17), "17 ns");
        assert_eq!(moment(0), "0 ns");
        assert_eq!(length(-1_840_000), "−1.84 ms");
    }

    #[test]
    fn a_part_that_is_no_part_has_no_share() {
        assert_eq!(share(1, 4), "25 %");
        assert_eq!(share(4, 4), "100 %");
        for (part, whole) in [(1_000_000_000, 1), (5, 4), (0, 0), (1, 0), (-1, 4), (1, -4)] {
            assert_eq!(share(part, whole), "–", "{part} of {whole}");
        }
    }

    #[test]
    fn wall_times_follow_the_time_zone() {
        // 2026-11-21 01:20:07.5 UTC, in a zone one hour ahead of it.
        let clock = WallClock::new("1795224007500000000", -60.0).unwrap();
        assert_eq!(clock.text(0.0, 3), "02:20:07.500");
        assert_eq!(clock.text(86_400e9, 0), "02:20:07");
        assert_eq!(clock.text(-3.0 * 3_600e9, 1), "23:20:07.5");
        assert_eq!(WallClock::new("", 0.0), None);
        assert_eq!(tick_label(1e9, 1e8, 2e9, Some(clock)), "02:20:08.5");
    }
}
