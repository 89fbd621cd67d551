//! Turns of cards to refresh while runs grow: one after the other, and only those in view. A page full of cards thus
//! leaves the CPU to the training. The pause after a card grows with its drawing time.

use std::collections::VecDeque;
use std::time::Duration;

use trainscope_web_kit::format;
use trainscope_web_kit::prelude::*;

/// Minimum and maximum time between two turns.
const MIN_PAUSE: Duration = Duration::from_millis(250);
const MAX_PAUSE: Duration = Duration::from_secs(5);
/// Maximum share of time for frames that redraw a card; request and parsing take about the same again.
const SHARE: f64 = 0.03;

/// The order of turns. Cards are named by their tags.
#[derive(Clone, Copy)]
pub(super) struct Turns {
    /// Card to refresh now; the number distinguishes two turns of one card.
    pub(super) now: RwSignal<(u64, String)>,
    in_view: StoredValue<Vec<String>>,
    waiting: StoredValue<VecDeque<String>>,
    is_pausing: StoredValue<bool>,
    /// Duration of the last frame in which a card was redrawn.
    frame: StoredValue<Duration>,
}

impl Turns {
    pub(super) fn new() -> Self {
        Self {
            now: RwSignal::new((0, String::new())),
            in_view: StoredValue::new(Vec::new()),
            waiting: StoredValue::new(VecDeque::new()),
            is_pausing: StoredValue::new(false),
            frame: StoredValue::new(Duration::ZERO),
        }
    }

    /// Sets the cards in view; waiting ones get their turns.
    pub(super) fn show(self, tags: Vec<String>) {
        self.in_view.set_value(tags);
        self.next();
    }

    /// Queues a card with new data.
    pub(super) fn wait(self, tag: &str) {
        self.waiting.update_value(|waiting| {
            if !waiting.iter().any(|other| other == tag) {
                waiting.push_back(tag.to_owned());
            }
        });
        self.next();
    }

    /// Measures the next frame, in which a card is redrawn, including the work of the browser.
    pub(super) fn look(self) {
        request_animation_frame(move || {
            let begun = format::now_millis();
            set_timeout(
                move || {
                    let millis = (format::now_millis() - begun).max(0.0);
                    // The page may have been left meanwhile.
                    self.frame
                        .try_update_value(|frame| *frame = Duration::from_secs_f64(millis / 1e3));
                },
                Duration::ZERO,
            );
        });
    }

    /// Gives the first waiting card in view its turn, unless a pause is pending.
    fn next(self) {
        if self.is_pausing.get_value() {
            return;
        }
        let in_view = self.in_view.get_value();
        let next = self.waiting.try_update_value(|waiting| {
            let at = waiting.iter().position(|tag| in_view.contains(tag))?;
            waiting.remove(at)
        });
        let Some(tag) = next.flatten() else {
            return;
        };
        self.is_pausing.set_value(true);
        let pause = self.frame.get_value().div_f64(SHARE);
        set_timeout(
            move || {
                // The page may have been left meanwhile.
                if self.is_pausing.try_set_value(false).is_none() {
                    self.next();
                }
            },
            pause.clamp(MIN_PAUSE, MAX_PAUSE),
        );
        self.now
            .update(|(number, now)| (*number, *now) = (*number + 1, tag));
    }
}
