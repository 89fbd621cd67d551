//! Pace of requests for values of growing runs: one at a time, with a pause before values are requested again.

use std::time::Duration;

use trainscope_web_kit::format;
use trainscope_web_kit::live::use_live;
use trainscope_web_kit::prelude::*;

/// Minimum pause between requests for values of growing runs.
const PAUSE_MILLIS: f64 = 1_500.0;

/// State of the requests for one kind of value.
#[derive(Clone, Copy)]
pub(super) struct Pace {
    is_asking: StoredValue<bool>,
    /// `true` while a timer is set.
    is_due: StoredValue<bool>,
    /// Time of the last request, milliseconds since 1970.
    asked_millis: StoredValue<f64>,
    has_failed: StoredValue<bool>,
    is_lost: Memo<bool>,
}

impl Pace {
    pub(super) fn new() -> Self {
        let live = use_live();
        Self {
            is_asking: StoredValue::new(false),
            is_due: StoredValue::new(false),
            asked_millis: StoredValue::new(0.0),
            has_failed: StoredValue::new(false),
            is_lost: Memo::new(move |_| live.is_lost()),
        }
    }

    /// Tracks the connection: what failed is requested again once the server is back.
    pub(super) fn track(self) {
        self.is_lost.track();
    }

    /// `true` while a request is in progress; its end asks for later changes.
    pub(super) fn is_asking(self) -> bool {
        self.is_asking.get_value()
    }

    /// Begins a request for the values it returns, unless there are none. `needed` are all values that are missing or
    /// old, with `true` for missing ones. If some have to wait, `ask` is called after the pause.
    pub(super) fn begin<T>(self, needed: Vec<(T, bool)>, ask: impl FnOnce() + 'static) -> Vec<T> {
        let now = format::now_millis();
        let since = now - self.asked_millis.get_value();
        // The clock can be set back.
        let is_pause = (0.0..PAUSE_MILLIS).contains(&since);
        let (wanted, has_more) = due(needed, is_pause, self.has_failed.get_value());
        if has_more && !self.is_due.get_value() {
            self.is_due.set_value(true);
            set_timeout(
                move || {
                    if self.is_due.try_set_value(false).is_none() {
                        ask();
                    }
                },
                Duration::from_secs_f64((PAUSE_MILLIS - since) / 1_000.0),
            );
        }
        if !wanted.is_empty() {
            self.is_asking.set_value(true);
            self.asked_millis.set_value(now);
        }
        wanted
    }

    /// Ends a request. `ask` is called for the changes since its begin; after a failure the next change or connection
    /// does that, or the requests would follow each other without end.
    pub(super) fn end(self, is_answered: bool, ask: impl FnOnce()) {
        self.is_asking.set_value(false);
        self.has_failed.set_value(!is_answered);
        if is_answered {
            ask();
        }
    }
}

/// Values to request now, and `true` if others wait for the end of the pause. Missing ones do not wait, unless the last
/// request failed.
fn due<T>(needed: Vec<(T, bool)>, is_pause: bool, has_failed: bool) -> (Vec<T>, bool) {
    let count = needed.len();
    let is_due = |is_missing: bool| !is_pause || (is_missing && !has_failed);
    let wanted = needed
        .into_iter()
        .filter(|(_, is_missing)| is_due(*is_missing));
    let wanted: Vec<T> = wanted.map(|(value, _)| value).collect();
    let has_more = wanted.len() < count;
    (wanted, has_more)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_values_come_at_once_and_old_ones_after_the_pause() {
        let needed = || vec![("old", false), ("missing", true)];
        assert_eq!(due(needed(), true, false), (vec!["missing"], true));
        assert_eq!(due(needed(), false, false), (vec!["old", "missing"], false));
        assert_eq!(
            due(needed(), true, true),
            (Vec::new(), true),
            "after a failure"
        );
        assert_eq!(due(needed(), false, true), (vec!["old", "missing"], false));
        assert_eq!(
            due(Vec::<((), bool)>::new(), true, true),
            (Vec::new(), false)
        );
    }
}
