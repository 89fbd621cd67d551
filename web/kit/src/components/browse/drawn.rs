//! Points that cards have drawn: newer than the list of tags, which is requested less often.

use std::collections::HashMap;

use super::{Browse, TagEntry};
use crate::prelude::*;

/// Totals of the last answer of a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CardTotals {
    /// Points of all its series; `None` if the card leaves some out.
    points: Option<u64>,
    /// Highest step.
    last_step: Option<i64>,
    /// Points and last step in the list of tags at that time.
    listed: (u64, Option<i64>),
}

impl CardTotals {
    /// True if the list of tags has not changed since the answer of the card, which is then the newer one.
    fn is_newer(self, points: u64, last_step: Option<i64>) -> bool {
        self.listed == (points, last_step)
    }
}

/// Totals by tag.
pub(super) type DrawnTags = RwSignal<HashMap<String, CardTotals>>;

impl Browse {
    /// Takes the totals of an answer about all steps of a tag.
    pub fn set_drawn(self, tag: &str, points: Option<u64>, last_step: Option<i64>) {
        let entry = untrack(|| self.entry(tag));
        let Some(listed) = entry.map(|entry| (entry.points, entry.last_step)) else {
            return;
        };
        let now = CardTotals {
            points,
            last_step,
            listed,
        };
        // The page may have been left.
        let before = self.drawn.try_with_untracked(|all| all.get(tag).copied());
        if before.is_some_and(|before| before != Some(now)) {
            self.drawn.update(|all| {
                all.insert(tag.to_owned(), now);
            });
        }
    }

    /// Totals of a tag that are newer than its entry; reactive.
    fn newer(self, entry: &TagEntry) -> Option<CardTotals> {
        let drawn = self.drawn.with(|all| all.get(&entry.tag).copied());
        drawn.filter(|drawn| drawn.is_newer(entry.points, entry.last_step))
    }

    /// Number of points of a tag, drawn by its card or listed; reactive.
    pub fn points_of(self, entry: &TagEntry) -> u64 {
        let drawn = self.newer(entry).and_then(|drawn| drawn.points);
        drawn.unwrap_or(entry.points)
    }

    /// Points of all tags; reactive.
    pub fn all_points(self) -> u64 {
        self.entries
            .with(|entries| entries.iter().map(|entry| self.points_of(entry)).sum())
    }

    /// First and last step of all tags and of drawn points; reactive.
    pub fn steps(self) -> Option<(i64, i64)> {
        self.entries.with(|entries| {
            let first = entries.iter().filter_map(|entry| entry.first_step).min()?;
            let last = entries.iter().filter_map(|entry| {
                let drawn = self.newer(entry).and_then(|drawn| drawn.last_step);
                drawn.or(entry.last_step)
            });
            Some((first, last.max()?))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::CardTotals;

    #[test]
    fn a_card_is_newer_until_the_list_changes() {
        let drawn = CardTotals {
            points: Some(2_800),
            last_step: Some(2_799),
            listed: (2_420, Some(2_419)),
        };
        assert!(drawn.is_newer(2_420, Some(2_419)));
        assert!(!drawn.is_newer(2_900, Some(2_899)));
        // Fewer points than before: a run was hidden, or its files were replaced.
        assert!(!drawn.is_newer(120, Some(119)));
    }
}
