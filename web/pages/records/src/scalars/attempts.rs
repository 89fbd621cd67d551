//! Attempts of one training: the attempt that wrote a value, and its start.

use std::collections::BTreeMap;

use trainscope_api::scalars::{Attempt, Series};

use super::data::Curve;
use trainscope_web_kit::format::now_millis;
use trainscope_web_kit::i18n::{Locale, date_and_clock};

/// Number of the attempt that wrote the curve at a step; `None` if there was only one.
pub(super) fn attempt_at(series: &Series, step: i64) -> Option<u64> {
    // Steps that restart with each epoch do not identify an attempt.
    let mut newest = series.attempts.iter().rev().filter(|_| !series.per_epoch);
    newest
        .find(|attempt| (attempt.from..=attempt.to).contains(&step))
        .map(|attempt| attempt.number)
}

/// Overwritten values at a step with their attempts, oldest first; empty without their wall times.
pub(super) fn overwritten_at(curve: &Curve, step: i64) -> Vec<(u64, f64)> {
    let Some(live) = attempt_at(&curve.series, step) else {
        return Vec::new();
    };
    let old = &curve.superseded;
    let points = old.steps.iter().zip(&old.values).zip(&old.wall_times_secs);
    let mut found = BTreeMap::new();
    for ((_, value), wall) in points.filter(|((at, _), _)| **at == step) {
        let began = |attempt: &&Attempt| {
            attempt
                .first_wall_time_secs
                .is_some_and(|first| first <= *wall)
        };
        let all = curve.series.attempts.iter().filter(began);
        if let Some(attempt) = all
            .max_by_key(|attempt| attempt.number)
            .filter(|attempt| attempt.number != live)
        {
            found.insert(attempt.number, *value);
        }
    }
    found.into_iter().collect()
}

/// The name of an attempt: with the date on which it began, and with the time of day if another one began on that date.
/// `when` gives date and time of day of seconds since 1970.
fn name_of(
    number: u64,
    attempts: &[Attempt],
    when: &dyn Fn(f64) -> [String; 2],
    text: fn(u64, Option<&str>) -> String,
) -> String {
    let began = |number: u64| {
        let same = attempts.iter().filter(|attempt| attempt.number == number);
        same.filter_map(|attempt| attempt.first_wall_time_secs)
            .reduce(f64::min)
    };
    let Some([date, clock]) = began(number).map(when) else {
        return text(number, None);
    };
    let is_shared = attempts
        .iter()
        .filter(|other| other.number != number)
        .filter_map(|other| began(other.number))
        .any(|other| when(other)[0] == date);
    if is_shared {
        text(number, Some(&format!("{date} {clock}")))
    } else {
        text(number, Some(&date))
    }
}

/// Name of an attempt in the time zone of the browser.
pub(super) fn label_of(number: u64, series: &Series, locale: Locale) -> String {
    let now_secs = now_millis() / 1_000.0;
    let when = |secs: f64| date_and_clock(secs, now_secs, locale);
    let text = locale.texts().scalars().attempt;
    name_of(number, &series.attempts, &when, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: f64 = 86_400.0;

    fn attempt(number: u64, first: Option<f64>, (from, to): (i64, i64)) -> Attempt {
        Attempt {
            number,
            first_wall_time_secs: first,
            from,
            to,
        }
    }

    fn curve() -> Curve {
        let series = Series {
            attempts: vec![
                attempt(1, Some(DAY), (0, 99)),
                attempt(2, Some(5.0 * DAY), (0, 3)),
                attempt(3, Some(5.1 * DAY), (0, 0)),
                attempt(3, Some(6.0 * DAY), (200, 299)),
            ],
            ..Series::default()
        };
        let superseded = Series {
            steps: vec![0, 1, 0],
            values: vec![10.0, 11.0, 20.0],
            wall_times_secs: vec![DAY, DAY + 1.0, 5.0 * DAY],
            ..Series::default()
        };
        Curve {
            series,
            superseded,
            ..Curve::default()
        }
    }

    #[test]
    fn a_step_is_of_the_newest_attempt_that_has_it() {
        let mut curve = curve();
        let at = |curve: &Curve, step| attempt_at(&curve.series, step);
        assert_eq!(
            [0, 3, 4, 250].map(|step| at(&curve, step)),
            [Some(3), Some(2), Some(1), Some(3)]
        );
        assert_eq!(at(&curve, 150), None);
        assert_eq!(overwritten_at(&curve, 0), [(1, 10.0), (2, 20.0)]);
        assert_eq!(overwritten_at(&curve, 1), [(1, 11.0)]);
        assert_eq!(overwritten_at(&curve, 4), []);
        curve.superseded.wall_times_secs.clear();
        assert_eq!(overwritten_at(&curve, 0), []);
        curve.series.per_epoch = true;
        assert_eq!(at(&curve, 0), None);
    }

    #[test]
    fn an_attempt_has_its_date_and_the_time_where_two_have_one_date() {
        let when = |secs: f64| {
            let day = (secs / DAY).floor();
            let hours = ((secs - day * DAY) / 3_600.0).floor();
            [format!("{day} May"), format!("{hours:02}:00")]
        };
        let attempts = curve().series.attempts;
        let name = |number, locale: Locale| {
            name_of(number, &attempts, &when, locale.texts().scalars().attempt)
        };
        assert_eq!(name(1, Locale::En), "attempt 1, 1 May");
        assert_eq!(name(2, Locale::En), "attempt 2, 5 May 00:00");
        assert_eq!(name(3, Locale::En), "attempt 3, 5 May 02:00");
        assert_eq!(name(1, Locale::Zh), "第 1 次尝试，1 May");
        let unknown = [attempt(1, None, (0, 9)), attempt(2, None, (0, 1))];
        let text = Locale::En.texts().scalars().attempt;
        assert_eq!(name_of(2, &unknown, &when, text), "attempt 2");
    }
}
