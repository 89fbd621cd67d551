//! State common to the parts of the page: tags of the displayed runs, cards, and the crosshair.

use std::collections::HashMap;
use std::sync::Arc;

use trainscope_api::notebook::Threshold;
use trainscope_api::runs::{Run, RunStatus};

use super::choices::{GroupBy, ScaleChoice, XChoice};
use super::data::CardLines;
use super::groups::group_of;
use super::settings::Settings;
use super::turns::Turns;
use super::zoom::Zoom;
use trainscope_web_kit::components::browse::{Browse, Filter, TagEntry};
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::notebook::{Notes, use_notebook};
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::state::use_app_state;

/// Answers of cards that were scrolled away, kept for their return.
const CACHED: usize = 64;

/// Position of the crosshair.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Pointer {
    /// Recorded place, in units of the x axis.
    pub(super) x: f64,
    /// Tag of the card on which it was set.
    pub(super) tag: String,
}

/// Panel next to the cards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Panel {
    /// The points as a table.
    Table,
    Limits,
}

/// Properties of a displayed run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct RunFacts {
    /// `true` if it grows.
    pub(super) is_live: bool,
    /// Wall time of its first record.
    pub(super) start: Option<f64>,
}

/// The state of the page. `Copy`: take it from the context.
#[derive(Clone, Copy)]
pub(super) struct PageState {
    pub(super) settings: Settings,
    /// Runs and tags.
    pub(super) browse: Browse,
    /// Zoomed ranges.
    pub(super) zoom: Zoom,
    /// Notes about runs and cards.
    pub(super) notes: Notes,
    /// All tags of the shown runs, by name.
    pub(super) entries: Memo<Arc<Vec<TagEntry>>>,
    /// Tags that have a card, in the order of the cards.
    pub(super) cards: Memo<Arc<Vec<String>>>,
    /// Pinned tags, in the order of pinning.
    pub(super) pins: Memo<Vec<String>>,
    /// First and last step of all tags.
    pub(super) extent: Memo<Option<(i64, i64)>>,
    /// The crosshair.
    pub(super) pointer: RwSignal<Option<Pointer>>,
    /// A request of the keyboard to move the crosshair by some points; the first number makes equal requests differ.
    pub(super) key_steps: RwSignal<(u64, i32)>,
    /// A request of the keyboard: shift of the range as a fraction of its width, then the scale of the width. The first
    /// number makes equal requests differ.
    pub(super) key_zoom: RwSignal<(u64, (f64, f64))>,
    /// Tag of the current card of the keyboard.
    pub(super) current: RwSignal<Option<String>>,
    /// Open panel next to the cards, and its tag.
    pub(super) panel: RwSignal<Option<(Panel, String)>>,
    /// The group of each shown run, if runs are grouped.
    pub(super) groups: Memo<Option<Arc<HashMap<String, String>>>>,
    /// Progress of a download in cards: done, total; `None` without a download.
    pub(super) saving: RwSignal<Option<(usize, usize)>>,
    /// Turns of cards to refresh while runs grow.
    pub(super) turns: Turns,
    /// Properties of the runs.
    pub(super) facts: Memo<Arc<HashMap<String, RunFacts>>>,
    cache: StoredValue<HashMap<String, Arc<CardLines>>>,
}

impl PageState {
    /// Creates the state, requests the tags of shown runs, and provides it as a context.
    pub(super) fn provide(browse: Browse, settings: Settings) -> Self {
        let state = use_app_state();
        let notes = use_notebook();
        let entries = browse.entries;
        let i18n = use_i18n();
        let page = Self {
            settings,
            zoom: Zoom::new(settings),
            notes,
            browse,
            entries,
            cards: browse.cards,
            pins: browse.pins,
            extent: Memo::new(move |_| {
                entries.with(|entries| {
                    let first = entries.iter().filter_map(|entry| entry.first_step).min()?;
                    let last = entries.iter().filter_map(|entry| entry.last_step).max()?;
                    Some((first, last))
                })
            }),
            pointer: RwSignal::new(None),
            key_steps: RwSignal::new((0, 0)),
            key_zoom: RwSignal::new((0, (0.0, 1.0))),
            current: RwSignal::new(None),
            panel: RwSignal::new(None),
            groups: Memo::new(move |_| {
                let by = settings.group.get()?;
                let pattern = match &by {
                    GroupBy::Pattern(pattern) => Filter::new(pattern),
                    GroupBy::Hparam(_) | GroupBy::Folder => Filter::default(),
                };
                let not_recorded = i18n.texts().scalars().not_recorded;
                let shown = settings.shown.get();
                let groups = shown.iter().map(|name| {
                    let run = state.run(name);
                    let hparams = run.as_ref().map(|run| &run.hparams);
                    let group = group_of(&by, &pattern, name, hparams, not_recorded);
                    (name.clone(), group)
                });
                Some(Arc::new(groups.collect()))
            }),
            saving: RwSignal::new(None),
            turns: Turns::new(),
            facts: Memo::new(move |_| {
                let shown = settings.shown.get();
                let facts = shown
                    .iter()
                    .filter_map(|run| Some((run.clone(), facts(&state.run(run)?))));
                Arc::new(facts.collect())
            }),
            cache: StoredValue::new(HashMap::new()),
        };
        provide_context(page);
        page
    }

    /// The state of the page; call it in a component.
    pub(super) fn get() -> Self {
        expect_context()
    }

    /// The entry of a tag; reactive.
    pub(super) fn entry(self, tag: &str) -> Option<TagEntry> {
        self.browse.entry(tag)
    }

    /// Pins or unpins a tag; stored next to the runs.
    pub(super) fn toggle_pin(self, tag: &str) {
        self.browse.toggle_pin(tag);
    }

    /// Scale of the y axis of a card; reactive.
    pub(super) fn y_scale(self, tag: &str) -> ScaleChoice {
        let scale = self.settings.own_y.with(|scales| scales.get(tag).copied());
        scale.unwrap_or_else(|| self.settings.y.get())
    }

    /// Limits of a tag noted with a run; reactive.
    pub(super) fn threshold(self, run: &str, tag: &str) -> Option<Threshold> {
        self.notes
            .with(|book| book.runs.get(run)?.thresholds.get(tag).copied())
    }

    /// The last answer for a card.
    pub(super) fn cached(self, tag: &str) -> Option<Arc<CardLines>> {
        self.cache.with_value(|cache| cache.get(tag).cloned())
    }

    /// Keeps the last answer for a card.
    pub(super) fn keep(self, tag: &str, loaded: &Arc<CardLines>) {
        self.browse.card_arrived();
        let is_per_epoch = loaded.curves.iter().any(|curve| curve.series.per_epoch);
        self.settings.set_per_epoch(tag, is_per_epoch);
        self.cache.update_value(|cache| {
            if cache.len() >= CACHED {
                cache.clear();
            }
            cache.insert(tag.to_owned(), Arc::clone(loaded));
        });
    }

    /// The range of steps of a card without zoom: that of all tags, so that cards line up. A tag with less than half of
    /// that range keeps its range: epochs would be squeezed into a corner.
    pub(super) fn steps_of(self, entry: &TagEntry) -> (f64, f64) {
        let steps = entry.first_step.zip(entry.last_step).unwrap_or((0, 1));
        let all = self.extent.get().unwrap_or(steps);
        let span = |(first, last): (i64, i64)| last as f64 - first as f64;
        let (first, last) = if span(steps) * 2.0 >= span(all) {
            all
        } else {
            steps
        };
        (first as f64, last as f64)
    }

    /// Position of the crosshair on the card of a tag, if it has the x axis of the card under the pointer; reactive.
    pub(super) fn pointer_x(self, tag: &str) -> Option<f64> {
        let x_of = |tag: &str| self.settings.x_of(tag);
        self.pointer.with(|pointer| {
            let pointer = pointer.as_ref()?;
            (pointer.tag == tag || x_of(&pointer.tag) == x_of(tag)).then_some(pointer.x)
        })
    }

    /// Puts the crosshair at the last step of the current or first card, as a start for the keyboard; `false` without a
    /// card.
    pub(super) fn point_at_end(self) -> bool {
        let first = || self.cards.with_untracked(|cards| cards.first().cloned());
        let entry = self
            .current
            .get_untracked()
            .or_else(first)
            .and_then(|tag| untrack(|| self.entry(&tag)));
        let Some(entry) = entry.filter(|_| self.settings.x.get_untracked() == XChoice::Step) else {
            return false;
        };
        self.pointer.set(entry.last_step.map(|last| Pointer {
            x: last as f64,
            tag: entry.tag,
        }));
        true
    }

    /// Makes the next or the previous card the current one; `false` if there is none.
    pub(super) fn go_to_card(self, by: isize) -> bool {
        let current = self.current.get_untracked();
        let next = self.cards.with_untracked(|cards| {
            let at = cards.iter().position(|tag| Some(tag) == current.as_ref());
            let next = match at {
                Some(at) => at
                    .saturating_add_signed(by)
                    .min(cards.len().saturating_sub(1)),
                None => 0,
            };
            cards.get(next).cloned()
        });
        let is_there = next.is_some();
        self.current.set(next);
        is_there
    }

    /// The target card of keys: the one under the crosshair, otherwise the current or the first one; reactive.
    pub(super) fn key_card(self) -> Option<String> {
        let pointed = self
            .pointer
            .with(|pointer| pointer.as_ref().map(|p| p.tag.clone()));
        let first = || self.cards.with(|cards| cards.first().cloned());
        pointed.or_else(|| self.current.get()).or_else(first)
    }

    /// Puts the crosshair at the target of a link: on the card of its tag, otherwise on the first one.
    pub(super) fn point_at_target(self) {
        let first = Memo::new(move |_| self.cards.with(|cards| cards.first().cloned()));
        Effect::new(move |before: Option<Option<(f64, Option<String>)>>| {
            let (x, target) = (self.settings.at.get(), self.settings.target.get());
            let x = x?;
            let is_done = before.flatten() == Some((x, target.clone()));
            let tag = target.clone().or_else(|| first.get());
            // Cards that come later do not take the crosshair back.
            if let Some(tag) = tag.filter(|_| !is_done) {
                self.pointer.set(Some(Pointer { x, tag }));
                return Some((x, target));
            }
            is_done.then_some((x, target))
        });
    }

    /// Removes the crosshair when the x axis changes.
    pub(super) fn follow_axis(self) {
        Effect::new(move |before: Option<(XChoice, Option<String>)>| {
            let now = (self.settings.x.get(), self.settings.x_tag.get());
            if before.is_some_and(|before| before != now) {
                self.pointer.set(None);
            }
            now
        });
    }
}

fn facts(run: &Run) -> RunFacts {
    RunFacts {
        is_live: run.status == RunStatus::Live,
        start: run.first_wall_time_secs,
    }
}
