//! Which card asks next while runs grow: one after the other, and only what is in view, so that a page full of cards
//! leaves the machine to the training.

use std::collections::VecDeque;
use std::time::Duration;

use leptos::prelude::*;

/// Time between two turns of cards with few lines, and with many.
const PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_millis(1250);
/// Lines that the shorter time is for.
const FEW_LINES: u32 = 4;

/// The order of turns. Cards are named by their tags.
#[derive(Clone, Copy)]
pub(super) struct Turns {
    /// Whose turn it is; the number makes two turns of one card differ.
    pub(super) now: RwSignal<(u64, String)>,
    in_view: StoredValue<Vec<String>>,
    waiting: StoredValue<VecDeque<(String, u32)>>,
    is_pausing: StoredValue<bool>,
}

impl Turns {
    pub(super) fn new() -> Self {
        Self {
            now: RwSignal::new((0, String::new())),
            in_view: StoredValue::new(Vec::new()),
            waiting: StoredValue::new(VecDeque::new()),
            is_pausing: StoredValue::new(false),
        }
    }

    /// Says which cards are in view; those that waited to be seen have their turns.
    pub(super) fn show(self, tags: Vec<String>) {
        self.in_view.set_value(tags);
        self.next();
    }

    /// A card of so many lines has news.
    pub(super) fn wait(self, tag: &str, lines: usize) {
        self.waiting.update_value(|waiting| {
            if !waiting.iter().any(|(other, _)| other == tag) {
                waiting.push_back((tag.to_owned(), u32::try_from(lines).unwrap_or(u32::MAX)));
            }
        });
        self.next();
    }

    /// The first of those in view has its turn, unless the last one was a moment ago.
    fn next(self) {
        if self.is_pausing.get_value() {
            return;
        }
        let in_view = self.in_view.get_value();
        let next = self.waiting.try_update_value(|waiting| {
            let at = waiting.iter().position(|(tag, _)| in_view.contains(tag))?;
            waiting.remove(at)
        });
        let Some((tag, lines)) = next.flatten() else {
            return;
        };
        self.is_pausing.set_value(true);
        let pause = (PAUSE / FEW_LINES).saturating_mul(lines);
        set_timeout(
            move || {
                // The page may have been left meanwhile.
                if self.is_pausing.try_set_value(false).is_none() {
                    self.next();
                }
            },
            pause.clamp(PAUSE, LONGEST_PAUSE),
        );
        self.now
            .update(|(number, now)| (*number, *now) = (*number + 1, tag));
    }
}
