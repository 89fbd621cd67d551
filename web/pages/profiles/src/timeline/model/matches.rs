//! Search: the next and the previous match, and the framed cells.

use std::collections::HashSet;
use std::time::Duration;

use leptos::task::spawn_local_scoped_with_cancellation;
use trainscope_api::timeline::{SliceEntry, TimelineSearchAnswer, TimelineSearchQuery};

use super::{Model, Source};
use crate::timeline::view::nanos;
use trainscope_web_kit::client;
use trainscope_web_kit::prelude::*;

/// Term about arguments, for which the server reads the files of the profile.
const ARGUMENTS: &str = "args:";
/// Time without typing after which a search of arguments is requested.
const PAUSE: Duration = Duration::from_millis(500);
/// Terms about something other than names.
const OTHER_TERMS: [&str; 5] = ["kind:", "lane:", "dur:", "step:", ARGUMENTS];

/// Framed matches: all cells of some names, or some slices.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::timeline) struct Frames {
    pub(in crate::timeline) names: HashSet<u32>,
    pub(in crate::timeline) slices: HashSet<u32>,
}

impl Frames {
    /// Frames all cells with the names of a search by name, else the slices around the view.
    pub(in crate::timeline) fn new(query: &str, answer: &TimelineSearchAnswer) -> Self {
        let has_others = OTHER_TERMS.iter().any(|term| query.contains(term));
        if has_others {
            Self {
                names: HashSet::new(),
                slices: answer.nearest.iter().map(|slice| slice.index).collect(),
            }
        } else {
            Self {
                names: answer.name_ids.iter().copied().collect(),
                slices: HashSet::new(),
            }
        }
    }

    /// `true` if no cell is framed.
    pub(in crate::timeline) fn is_empty(&self) -> bool {
        self.names.is_empty() && self.slices.is_empty()
    }

    /// `true` if a cell is framed.
    pub(in crate::timeline) fn has(&self, name: u32, index: u32) -> bool {
        self.names.contains(&name) || self.slices.contains(&index)
    }
}

/// The match after or before `at`, in the order of the answer; `None` if the answer does not have it.
fn beside(nearest: &[SliceEntry], at: (i64, u32), is_next: bool) -> Option<&SliceEntry> {
    let key = |slice: &SliceEntry| (slice.begin_nanos, slice.index);
    let here = nearest.iter().position(|slice| key(slice) == at);
    match here {
        Some(here) if is_next => nearest.get(here + 1),
        Some(here) => nearest.get(here.checked_sub(1)?),
        None if is_next => nearest.iter().find(|slice| key(slice) > at),
        None => nearest.iter().rev().find(|slice| key(slice) < at),
    }
}

impl Model {
    /// Requests the matches of the search. A search of arguments waits for a pause in typing.
    pub(super) fn ask_matches(self) {
        let typed = StoredValue::new(0_u64);
        let wanted = RwSignal::new(String::new());
        Effect::new(move || {
            let text = self.search.get();
            let number = typed.get_value() + 1;
            typed.set_value(number);
            if !text.contains(ARGUMENTS) || wanted.with_untracked(|wanted| *wanted == text) {
                wanted.set(text);
                return;
            }
            set_timeout(
                move || {
                    if typed.try_get_value() == Some(number) {
                        wanted.set(text);
                    }
                },
                PAUSE,
            );
        });
        let source = self.source;
        let events = Memo::new(move |_| self.frame.with(|frame| (frame.events, frame.state)));
        self.found.start(
            move || {
                let text = wanted.get();
                let view = self.rested.get();
                let is_wanted = !text.trim().is_empty() && view.to > view.from;
                is_wanted.then(|| {
                    (
                        source.get(),
                        text,
                        nanos(view.from),
                        nanos(view.to),
                        events.get(),
                    )
                })
            },
            |(source, query, from, to, _): (Source, String, i64, i64, _)| async move {
                client::timeline_search(&TimelineSearchQuery {
                    run: source.run,
                    session: source.session,
                    rank: source.rank,
                    query,
                    from: Some(from),
                    to: Some(to),
                    width: None,
                })
                .await
            },
        );
    }

    /// `true` while the arguments of slices are read for a search; reactive.
    pub(in crate::timeline) fn is_reading_arguments(self) -> bool {
        self.found.is_fetching.get() && self.search.with(|text| text.contains(ARGUMENTS))
    }

    /// Framed matches; reactive.
    pub(in crate::timeline) fn frames(self) -> Frames {
        match self.found.answer.get() {
            Some(answer) => self.search.with(|query| Frames::new(query, &answer)),
            None => Frames::default(),
        }
    }

    /// Selects the match after or before the selected slice, else from the edge of the view. The first match
    /// follows the last one.
    pub(in crate::timeline) fn step_match(self, is_next: bool) {
        let query = self.search.get_untracked();
        if query.trim().is_empty() {
            return;
        }
        let slice = self.slice.answer.get_untracked();
        let view = self.view.get_untracked();
        let edge = if is_next { view.from } else { view.to };
        let at = slice
            .filter(|_| self.selected.with_untracked(Option::is_some))
            .map_or((nanos(edge) - 1, 0), |answer| {
                (answer.slice.begin_nanos, answer.slice.index)
            });
        let extent = nanos(self.extent.get_untracked());
        let source = self.source.get_untracked();
        spawn_local_scoped_with_cancellation(async move {
            let ask = |from: i64| {
                let query = TimelineSearchQuery {
                    run: source.run.clone(),
                    session: source.session.clone(),
                    rank: source.rank,
                    query: query.clone(),
                    from: Some(from),
                    to: Some(extent),
                    width: None,
                };
                async move { client::timeline_search(&query).await }
            };
            let Ok(answer) = ask(at.0.max(0)).await else {
                return;
            };
            let mut found = beside(&answer.nearest, at, is_next).cloned();
            if found.is_none() && answer.count > 0 {
                let from = if is_next { 0 } else { extent };
                let Ok(answer) = ask(from).await else { return };
                found = if is_next {
                    answer.nearest.into_iter().next()
                } else {
                    answer.nearest.into_iter().next_back()
                };
            }
            if let Some(slice) = found {
                self.go_to(&slice);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slice(index: u32, begin_nanos: i64) -> SliceEntry {
        SliceEntry {
            index,
            begin_nanos,
            ..SliceEntry::default()
        }
    }

    #[test]
    fn matches_follow_each_other_in_time() {
        let all = [slice(4, 10), slice(2, 20), slice(9, 20), slice(1, 30)];
        let of = |at, is_next| beside(&all, at, is_next).map(|entry| entry.index);
        assert_eq!(of((20, 2), true), Some(9), "of the same begin");
        assert_eq!(of((20, 2), false), Some(4));
        assert_eq!(of((30, 1), true), None);
        assert_eq!(of((5, 0), true), Some(4));
        assert_eq!(of((10, 4), false), None);
    }

    #[test]
    fn only_a_search_by_name_frames_all_cells_of_a_name() {
        let answer = TimelineSearchAnswer {
            name_ids: vec![7],
            nearest: vec![slice(3, 0)],
            ..TimelineSearchAnswer::default()
        };
        let by_name = Frames::new("soft", &answer);
        assert!(by_name.has(7, 99) && !by_name.has(8, 3));
        let by_length = Frames::new("soft dur:>1ms", &answer);
        assert!(by_length.has(8, 3) && !by_length.has(7, 99));
    }
}
