//! Search: the next and the previous match, and the cells that are framed.

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
/// Time for which a search of arguments rests before it is asked for.
const PAUSE: Duration = Duration::from_millis(500);
/// Terms about something other than names.
const OTHER_TERMS: [&str; 5] = ["kind:", "lane:", "dur:", "step:", ARGUMENTS];

/// Matches that are framed: all cells of some names, or some slices.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::timeline) struct Frames {
    pub(in crate::timeline) names: HashSet<u32>,
    pub(in crate::timeline) slices: HashSet<u32>,
}

impl Frames {
    /// Of a search by name all cells with these names, of others the slices around the view.
    pub(in crate::timeline) fn new(query: &str, answer: &TimelineSearchAnswer) -> Self {
        let has_others = OTHER_TERMS.iter().any(|term| query.contains(term));
        if has_others {
            Self {
                names: HashSet::new(),
                slices: answer.nearest.iter().map(|own| own.index).collect(),
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

/// The match after, or before, the one at a time, in the order of the answer; `None` if it is not among those.
fn beside(nearest: &[SliceEntry], at: (i64, u32), is_next: bool) -> Option<&SliceEntry> {
    let key = |own: &SliceEntry| (own.begin_nanos, own.index);
    let here = nearest.iter().position(|own| key(own) == at);
    match here {
        Some(here) if is_next => nearest.get(here + 1),
        Some(here) => nearest.get(here.checked_sub(1)?),
        None if is_next => nearest.iter().find(|own| key(own) > at),
        None => nearest.iter().rev().find(|own| key(own) < at),
    }
}

impl Model {
    /// Asks for the matches of the search; where arguments are searched, once nothing is typed any more.
    pub(super) fn ask_matches(self) {
        let typed = StoredValue::new(0_u64);
        let wanted = RwSignal::new(String::new());
        Effect::new(move || {
            let text = self.search.get();
            let number = typed.get_value() + 1;
            typed.set_value(number);
            if !text.contains(ARGUMENTS) || wanted.with_untracked(|own| *own == text) {
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
            |(own, query, from, to, _): (Source, String, i64, i64, _)| async move {
                client::timeline_search(&TimelineSearchQuery {
                    run: own.run,
                    session: own.session,
                    rank: own.rank,
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

    /// Matches that are framed; reactive.
    pub(in crate::timeline) fn frames(self) -> Frames {
        match self.found.answer.get() {
            Some(answer) => self.search.with(|query| Frames::new(query, &answer)),
            None => Frames::default(),
        }
    }

    /// Selects the next or the previous match, from the selected slice on, else from the start of the view; after the
    /// last one the first.
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
            .map_or((nanos(edge) - 1, 0), |own| {
                (own.slice.begin_nanos, own.slice.index)
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
            if let Some(own) = found {
                self.go_to(&own);
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
        let of = |at, is_next| beside(&all, at, is_next).map(|own| own.index);
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
