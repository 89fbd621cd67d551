//! Turns of cards to refresh while runs grow: one after the other, and only those in view, so that a page full of
//! cards leaves the CPU to the training. The pause after a card grows with the time it took to draw.

use std::collections::VecDeque;
use std::time::Duration;

use trainscope_web_kit::format;
use trainscope_web_kit::prelude::*;

/// Time between two turns at least and at most.
const LEAST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// Share of the time that frames may take in which a card is drawn anew; asking and reading take about as much again.
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

    /// Says which cards are in view; those that waited to be seen have their turns.
    pub(super) fn show(self, tags: Vec<String>) {
        self.in_view.set_value(tags);
        self.next();
    }

    /// A card has news.
    pub(super) fn wait(self, tag: &str) {
        self.waiting.update_value(|waiting| {
            if !waiting.iter().any(|other| other == tag) {
                waiting.push_back(tag.to_owned());
            }
        });
        self.next();
    }

    /// A card is about to be drawn anew: looks how long the frame takes that does it, the browser's part included.
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

    /// The first of those in view has its turn, unless the last one was a moment ago.
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
            pause.clamp(LEAST_PAUSE, LONGEST_PAUSE),
        );
        self.now
            .update(|(number, now)| (*number, *now) = (*number + 1, tag));
    }
}
