//! Marks: for now in the address, for good in the notebook of the run.

use std::collections::BTreeMap;
use std::sync::Arc;

use leptos::task::spawn_local_scoped_with_cancellation;
use trainscope_api::notebook::SliceMark;
use trainscope_api::timeline::{SliceEntry, SliceQuery};

use super::{Model, Source, turned};
use trainscope_web_kit::client;
use trainscope_web_kit::notebook::{Notes, use_notebook};
use trainscope_web_kit::parameters::MARKS;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::url_state::History;

/// A marked slice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::timeline) struct Mark {
    pub(in crate::timeline) index: u32,
    pub(in crate::timeline) begin_nanos: i64,
    /// Its text; `None` for a mark in the address.
    pub(in crate::timeline) text: Option<String>,
}

/// Marks of the session of the page.
#[derive(Clone, Copy)]
pub(in crate::timeline) struct Marks {
    /// Those for good, then those for now.
    pub(in crate::timeline) all: Memo<Vec<Mark>>,
    /// `true` while the user enters the text of a mark.
    pub(in crate::timeline) is_noting: RwSignal<bool>,
    for_now: Memo<Vec<u32>>,
    /// Known slices that are marked for now.
    known: RwSignal<BTreeMap<u32, SliceEntry>>,
    notebook: Notes,
}

impl Marks {
    pub(super) fn new(
        profiles: trainscope_web_kit::components::profile_tabs::Profiles,
        source: Memo<Source>,
    ) -> Self {
        let notebook = use_notebook();
        let for_now = profiles.url.setting(MARKS);
        let known = RwSignal::new(BTreeMap::<u32, SliceEntry>::new());
        let all = Memo::new(move |_| {
            let chosen = profiles.chosen.get();
            let for_good = profiles.run.with(|run| notebook.notes(run).marks);
            let is_own = |mark: &SliceMark| {
                let chosen = chosen.as_deref();
                chosen.is_some_and(|entry| entry.session == mark.session && entry.rank == mark.rank)
            };
            let for_good = for_good.into_iter().filter(is_own).map(|mark| Mark {
                index: mark.index,
                begin_nanos: mark.begin_nanos,
                text: Some(mark.text),
            });
            let mut all: Vec<Mark> = for_good.collect();
            known.with(|known| {
                for index in for_now.get() {
                    all.extend(known.get(&index).map(|slice| Mark {
                        index,
                        begin_nanos: slice.begin_nanos,
                        text: None,
                    }));
                }
            });
            all
        });
        let marks = Self {
            all,
            is_noting: RwSignal::new(false),
            for_now,
            known,
            notebook,
        };
        marks.keep_known(source);
        marks
    }

    /// Requests the slices of the marks in the address.
    fn keep_known(self, source: Memo<Source>) {
        Effect::new(move |before: Option<Source>| {
            let current = source.get();
            if before.is_some_and(|before| before != current) {
                self.known.set(BTreeMap::new());
            }
            let missing = |index: &u32| self.known.with_untracked(|all| !all.contains_key(index));
            for index in self.for_now.get().into_iter().filter(missing) {
                let query = SliceQuery {
                    run: current.run.clone(),
                    session: current.session.clone(),
                    rank: current.rank,
                    index,
                };
                spawn_local_scoped_with_cancellation(async move {
                    // A missing slice is a mark of an older file.
                    if let Ok(answer) = client::timeline_slice(&query).await {
                        self.known.update(|all| {
                            all.insert(index, answer.slice);
                        });
                    }
                });
            }
            current
        });
    }
}

impl Model {
    /// Marks the selected slice for now, or removes its mark.
    pub(in crate::timeline) fn turn_mark(self) {
        let Some(slice) = self.chosen_slice() else {
            return;
        };
        let marks = self.marks.for_now.get_untracked();
        let index = slice.index;
        self.marks.known.update(|all| {
            all.insert(index, slice);
        });
        let marks = MARKS.to(turned(marks, index));
        self.url.set(&[marks], History::Replace);
    }

    /// Asks the user for the text of a mark for good.
    pub(in crate::timeline) fn begin_note(self) {
        if self.chosen_slice().is_some() {
            self.marks.is_noting.set(true);
        }
    }

    /// Stores the selected slice with a text in the notebook.
    pub(in crate::timeline) fn mark_for_good(self, text: &str) {
        self.marks.is_noting.set(false);
        let (Some(slice), Some(entry)) =
            (self.chosen_slice(), self.profiles.chosen.get_untracked())
        else {
            return;
        };
        let mark = SliceMark {
            session: entry.session.clone(),
            rank: entry.rank,
            index: slice.index,
            begin_nanos: slice.begin_nanos,
            name: slice.name,
            text: text.trim().to_owned(),
        };
        self.change_marks(&mark.clone(), Some(mark));
    }

    /// Removes a mark from the notebook.
    pub(in crate::timeline) fn drop_mark(self, index: u32) {
        if let Some(entry) = self.profiles.chosen.get_untracked() {
            let mark = SliceMark {
                session: entry.session.clone(),
                rank: entry.rank,
                index,
                ..SliceMark::default()
            };
            self.change_marks(&mark, None);
        }
    }

    fn change_marks(self, old: &SliceMark, new: Option<SliceMark>) {
        let run = self.profiles.run.get_untracked();
        let mut notes = untrack(|| self.marks.notebook.notes(&run));
        notes.marks = changed(notes.marks, old, new);
        self.marks.notebook.set_notes(&run, notes);
    }

    /// The selected slice, once it is known.
    fn chosen_slice(self) -> Option<SliceEntry> {
        let index = self.selected.get_untracked()?;
        let answer: Arc<_> = self.slice.answer.get_untracked()?;
        (answer.slice.index == index).then(|| answer.slice.clone())
    }

    /// Goes to a mark by its number, starting at 1.
    pub(super) fn jump(self, text: &str) -> bool {
        let place: Option<usize> = text.parse().ok();
        let mark = place.and_then(|place| {
            let all = self.marks.all.get_untracked();
            all.get(place.checked_sub(1)?).map(|mark| mark.index)
        });
        let Some(index) = mark else { return false };
        let source = self.source.get_untracked();
        spawn_local_scoped_with_cancellation(async move {
            let query = SliceQuery {
                run: source.run,
                session: source.session,
                rank: source.rank,
                index,
            };
            if let Ok(answer) = client::timeline_slice(&query).await {
                self.go_to(&answer.slice);
            }
        });
        true
    }
}

/// The marks with that of a slice replaced, or removed without a new one.
fn changed(marks: Vec<SliceMark>, old: &SliceMark, new: Option<SliceMark>) -> Vec<SliceMark> {
    let key = |mark: &SliceMark| (mark.session.clone(), mark.rank, mark.index);
    let old = key(old);
    let others = marks.into_iter().filter(|mark| key(mark) != old);
    others.chain(new).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(rank: u32, index: u32, text: &str) -> SliceMark {
        SliceMark {
            rank,
            index,
            text: text.to_owned(),
            ..SliceMark::default()
        }
    }

    #[test]
    fn a_slice_has_one_mark() {
        let marks = vec![mark(0, 7, "old"), mark(1, 7, "other rank")];
        let new = mark(0, 7, "new");
        let replaced = changed(marks.clone(), &new, Some(new.clone()));
        assert_eq!(replaced, [mark(1, 7, "other rank"), new.clone()]);
        assert_eq!(changed(marks, &new, None), [mark(1, 7, "other rank")]);
    }
}
