//! Range of x of each card, common or separate; applied at once and written to the address a moment later.

use std::time::Duration;

use super::choices::{OwnRanges, Range};
use super::settings::{Settings, rounded};
use trainscope_web_kit::prelude::*;

/// Rest after a move before the address is written.
const REST: Duration = Duration::from_millis(250);
/// Maximum number of ranges in the history.
const MAX_STEPS: usize = 100;

/// The ranges of all cards.
type Ranges = (Option<Range>, OwnRanges);

/// Zoomed ranges. `Copy`.
#[derive(Clone, Copy)]
pub(super) struct Zoom {
    settings: Settings,
    /// Ranges moved by wheel or drag that are not in the address yet.
    moving: RwSignal<Option<Ranges>>,
    before: RwSignal<Vec<Ranges>>,
    round: StoredValue<u64>,
}

impl Zoom {
    pub(super) fn new(settings: Settings) -> Self {
        let zoom = Self {
            settings,
            moving: RwSignal::new(None),
            before: RwSignal::new(Vec::new()),
            round: StoredValue::new(0),
        };
        // The history of another axis is not valid on this one.
        Effect::new(move || {
            settings.x.track();
            settings.x_tag.track();
            zoom.before.set(Vec::new());
            zoom.moving.set(None);
        });
        zoom
    }

    /// The range of a card; `None` if it shows everything; reactive.
    pub(super) fn range(self, tag: &str) -> Option<Range> {
        // Ranges of steps do not apply to time.
        let is_apart = self.settings.is_by_time_instead(tag);
        self.moving.with(|moving| {
            if let Some((range, own_ranges)) = moving {
                let shared = range.filter(|_| !is_apart);
                return own_ranges.get(tag).copied().unwrap_or(shared);
            }
            let own_range = self
                .settings
                .own_ranges
                .with(|ranges| ranges.get(tag).copied());
            own_range.unwrap_or_else(|| self.settings.range.get().filter(|_| !is_apart))
        })
    }

    /// The range of all cards without a separate one; reactive.
    pub(super) fn shared(self) -> Option<Range> {
        self.moving.with(|moving| match moving {
            Some((range, _)) => *range,
            None => self.settings.range.get(),
        })
    }

    /// `true` if a card has a separate range; reactive.
    pub(super) fn is_own(self, tag: &str) -> bool {
        self.moving.with(|moving| match moving {
            Some((_, own_ranges)) => own_ranges.contains_key(tag),
            None => self
                .settings
                .own_ranges
                .with(|ranges| ranges.contains_key(tag)),
        })
    }

    /// `true` if any range is zoomed; reactive.
    pub(super) fn is_zoomed(self) -> bool {
        self.shared().is_some() || self.settings.own_ranges.with(|ranges| !ranges.is_empty())
    }

    /// `true` if there is a previous range; reactive.
    pub(super) fn has_before(self) -> bool {
        self.before.with(|before| !before.is_empty())
    }

    /// Zooms one card, or all if they are linked.
    pub(super) fn set(self, tag: &str, range: Option<Range>) {
        let ranges = self.with(tag, range);
        self.keep(&ranges);
    }

    /// Moves to a range at once, and writes the address after [`REST`].
    pub(super) fn go(self, tag: &str, range: Option<Range>) {
        // Rounded as in the address, so that nothing moves then.
        let range = range.map(|range| rounded(range, untrack(|| self.settings.x_of(tag))));
        self.moving.set(Some(self.with(tag, range)));
        self.round.update_value(|round| *round += 1);
        let round = self.round.get_value();
        set_timeout(
            move || {
                if self.round.try_get_value() == Some(round)
                    && let Some(ranges) = self.moving.get_untracked()
                {
                    self.keep(&ranges);
                }
            },
            REST,
        );
    }

    /// Shows everything on all cards.
    pub(super) fn fit(self) {
        self.keep(&(None, OwnRanges::new()));
    }

    /// Returns to the previous ranges.
    pub(super) fn back(self) {
        let before = self.before.try_update(Vec::pop).flatten();
        if let Some((range, own_ranges)) = before {
            self.moving.set(None);
            self.settings.set_ranges(range, &own_ranges);
        }
    }

    fn kept(self) -> Ranges {
        let own_ranges = self.settings.own_ranges.get_untracked();
        (self.settings.range.get_untracked(), own_ranges)
    }

    fn with(self, tag: &str, range: Option<Range>) -> Ranges {
        let now = self.moving.get_untracked();
        let (shared, mut own_ranges) = now.unwrap_or_else(|| self.kept());
        let is_apart = untrack(|| self.settings.is_by_time_instead(tag));
        if self.settings.is_linked.get_untracked() && !is_apart {
            return (range, OwnRanges::new());
        }
        if range == shared.filter(|_| !is_apart) {
            own_ranges.remove(tag);
        } else {
            own_ranges.insert(tag.to_owned(), range);
        }
        (shared, own_ranges)
    }

    fn keep(self, ranges: &Ranges) {
        self.round.update_value(|round| *round += 1);
        let before = self.kept();
        if before != *ranges {
            self.before.update(|all| {
                if all.len() == MAX_STEPS {
                    all.remove(0);
                }
                all.push(before);
            });
            self.settings.set_ranges(ranges.0, &ranges.1);
        }
        self.moving.set(None);
    }
}

/// Moves a range into the whole; `None` if it is not narrower.
pub(super) fn within((lo, hi): Range, whole: Range) -> Option<Range> {
    let width = hi - lo;
    if width.is_nan() || width <= 0.0 || width >= whole.1 - whole.0 {
        return None;
    }
    let lo = lo.min(whole.1 - width).max(whole.0);
    Some((lo, lo + width))
}

#[cfg(test)]
mod tests {
    use super::within;

    #[test]
    fn ranges_stop_at_the_ends() {
        let whole = (0.0, 100.0);
        assert_eq!(within((-20.0, 30.0), whole), Some((0.0, 50.0)));
        assert_eq!(within((70.0, 120.0), whole), Some((50.0, 100.0)));
        assert_eq!(within((20.0, 30.0), whole), Some((20.0, 30.0)));
        assert_eq!(within((-20.0, 130.0), whole), None);
        assert_eq!(within((5.0, f64::NAN), whole), None);
    }
}
