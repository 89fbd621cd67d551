//! Left panel of a card page: selection of runs and tags, all of it in the URL.
#![expect(
    clippy::large_types_passed_by_value,
    reason = "signals are handles of a word or two; only debug builds add where each was made"
)]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use trainscope_api::order::{importance, natural};
use trainscope_format::{Kind, Role};

use crate::frames::after_paint;
use crate::live::use_live;
use crate::notebook::{Notes, use_notebook};
use crate::parameters::{RUNS, SEARCH, TAG};
use crate::prelude::*;
use crate::route::use_run;
use crate::run_colour::{COLOURS, use_run_colours};
use crate::run_name::{longer_names, short_name};
use crate::state::{AppState, use_app_state};
use crate::url_state::{History, Key, Setting, UrlState, use_url_state};

mod drawn;
mod filter;
mod notes;
mod run_row;
mod selection;
mod shown;
mod side;
mod tag_tree;
mod tags;
mod tree;

pub use filter::Filter;
pub use notes::{DamageNote, Nothing, NothingView};
pub use selection::Selection;
pub use shown::RunNames;
pub use side::Side;
pub use tags::{SeriesId, TagEntry};

/// Minimum interval of requests for tag lists while runs grow.
const TAGS_PAUSE: Duration = Duration::from_secs(5);
/// Maximum wait of other cards and the left panel for the first card.
const PATIENCE: Duration = Duration::from_millis(500);

/// Selectable roles with their words in the URL.
const ROLES: [(Role, &str); 3] = [
    (Role::Weight, "weight"),
    (Role::Gradient, "gradient"),
    (Role::Activation, "activation"),
];
const ROLE: Key<Role> = Key::of_words("role", &ROLES);
/// Listed runs without lines.
const HIDE: Setting<Vec<String>> = Key::new("hide").or(Vec::new());
const BASELINE: Key<String> = Key::new("baseline");
/// Checked and unchecked tags, as items of [`Selection`].
const TAGS: Setting<Vec<String>> = Key::new("tags").or(Vec::new());

/// Selected runs and tags, as signals. `Copy`.
#[derive(Clone, Copy)]
pub struct Browse {
    pub url: UrlState,
    /// The run of the page.
    pub own: Memo<String>,
    /// Displayed runs, by name.
    pub shown: RunNames,
    /// Listed runs that are not displayed, by name.
    pub hidden: RunNames,
    /// Baseline run.
    pub baseline: Memo<Option<String>>,
    pub filter_text: Memo<String>,
    pub filter: Memo<Filter>,
    /// Tag selection by checkboxes.
    pub selection: Memo<Selection>,
    /// Role of tensors to show; `None` for all.
    pub role: Memo<Option<Role>>,
    /// The tag that a link points to.
    pub target: Memo<Option<String>>,
    /// Names of listed runs whose last segment is ambiguous.
    names: Memo<BTreeMap<String, String>>,
    /// All tags of the displayed runs, by name.
    pub entries: Memo<Arc<Vec<TagEntry>>>,
    /// Indices of those that match the filter.
    pub passing: Memo<Arc<Vec<usize>>>,
    /// Tags with a card: checked ones that match the filter; pinned ones first, then those of the page's run.
    pub cards: Memo<Arc<Vec<String>>>,
    /// True once the tags of every displayed run have arrived.
    pub is_loaded: Memo<bool>,
    /// Pinned tags, in the order of pinning.
    pub pins: Memo<Vec<String>>,
    /// Totals of the answers of cards, by tag.
    drawn: drawn::DrawnTags,
    /// True once the first card has been drawn: everything else waits for it.
    is_first_drawn: RwSignal<bool>,
    /// True if the left panel exists.
    has_side: RwSignal<bool>,
    notes: Notes,
}

impl Browse {
    /// Reads the URL, and requests the tags of displayed runs.
    pub fn from_address(kinds: &'static [Kind]) -> Self {
        let url = use_url_state();
        let state = use_app_state();
        let run = use_run();
        let page_run = Memo::new(move |_| run.get().unwrap_or_default());
        let (shown, hidden) = shown::chosen_runs(url, page_run);
        draw_together(page_run, shown, hidden);
        keep_tags(shown, state);
        let filter_text = url.setting(SEARCH);
        let filter = Memo::new(move |_| filter_text.with(|text| Filter::new(text)));
        let tags = url.setting(TAGS);
        let selection = Memo::new(move |_| tags.with(|items| Selection::from_items(items)));
        let names = Memo::new(move |_| {
            let listed = shown
                .get()
                .iter()
                .chain(&*hidden.get())
                .cloned()
                .collect::<Vec<_>>();
            longer_names(listed.iter().map(String::as_str))
        });
        let entries = Memo::new(move |_| {
            let shown = shown.get();
            let name = |run: &str| names.with(|names| name_among(names, run));
            Arc::new(state.with_tags(|tags| tags::merge(&shown, tags, kinds, &name)))
        });
        let role = url.param(ROLE);
        let passing = Memo::new(move |_| {
            let (filter, role) = (filter.get(), role.get());
            entries.with(|entries| {
                let all = entries.iter().enumerate();
                let passing = all.filter(|(_, entry)| {
                    filter.passes(&entry.tag) && (role.is_none() || entry.role == role)
                });
                Arc::new(passing.map(|(index, _)| index).collect::<Vec<_>>())
            })
        });
        let notes = use_notebook();
        let pins = Memo::new(move |_| notes.pinned());
        let browse = Self {
            url,
            own: page_run,
            shown,
            hidden,
            baseline: url.param(BASELINE),
            filter_text,
            filter,
            selection,
            role,
            target: url.param(TAG),
            names,
            entries,
            passing,
            cards: Memo::new(move |_| Arc::new(cards(page_run, selection, entries, passing, pins))),
            is_loaded: Memo::new(move |_| {
                let shown = shown.get();
                state.with_tags(|tags| shown.iter().all(|run| tags.contains_key(run)))
            }),
            pins,
            drawn: RwSignal::new(std::collections::HashMap::new()),
            is_first_drawn: RwSignal::new(false),
            has_side: RwSignal::new(false),
            notes,
        };
        Effect::new(move || {
            if !matches!(Nothing::of(browse), None | Some(Nothing::Loading)) {
                browse.show_rest();
            }
        });
        set_timeout(move || browse.show_rest(), PATIENCE);
        browse
    }

    /// Called when a part of a card has arrived: after the next paint the other cards are created, then the left panel.
    pub fn card_arrived(self) {
        if self.is_first_drawn.try_get_untracked() == Some(false) {
            after_paint(move || self.show_rest());
        }
    }

    /// Creates everything that waits for the first card; the page may have been left.
    pub fn show_rest(self) {
        if self.is_first_drawn.try_get_untracked() == Some(false) {
            self.is_first_drawn.set(true);
            after_paint(move || {
                self.has_side.try_set(true);
            });
        }
    }

    /// True once the other cards may be created.
    pub fn is_first_drawn(self) -> Signal<bool> {
        self.is_first_drawn.into()
    }

    /// The entry of a tag; reactive.
    pub fn entry(self, tag: &str) -> Option<TagEntry> {
        self.entries.with(|entries| {
            let index = entries
                .binary_search_by(|entry| natural(&entry.tag, tag))
                .ok()?;
            entries.get(index).cloned()
        })
    }

    /// Short name of a run: its last segment, with earlier ones until it is unique in the list; reactive.
    pub fn name_of(self, run: &str) -> String {
        self.names.with(|names| name_among(names, run))
    }

    /// Displays these runs, and lists those without their lines.
    pub fn set_runs(self, shown: &[String], hidden: &[String]) {
        let changes = [RUNS.to(shown), HIDE.to(hidden)];
        self.url.set(&changes, History::Push);
    }

    /// Sets or clears the baseline run.
    pub fn set_baseline(self, run: Option<&str>) {
        self.url.set(&[BASELINE.to_option(run)], History::Push);
    }

    pub fn set_filter(self, text: &str) {
        self.url.set(&[SEARCH.to(text)], History::Replace);
    }

    /// Shows tensors of one role, or all.
    pub fn set_role(self, role: Option<Role>) {
        self.url.set(&[ROLE.to_option(role)], History::Push);
    }

    /// Changes the tag selection.
    pub fn change_selection(self, change: impl FnOnce(&mut Selection)) {
        let mut selection = self.selection.get_untracked();
        change(&mut selection);
        let tags = TAGS.to(selection.to_items());
        self.url.set(&[tags], History::Push);
    }

    /// Pins or unpins a tag; stored next to the runs.
    pub fn toggle_pin(self, tag: &str) {
        let mut pins = self.pins.get_untracked();
        if pins.iter().any(|pin| pin == tag) {
            pins.retain(|pin| pin != tag);
        } else {
            pins.push(tag.to_owned());
        }
        self.notes.set_pinned(pins);
    }
}

/// Pinned tags first, then those of the page's run, then those of its neighbours only; losses before others, and clocks
/// last; otherwise in tree order.
fn cards(
    page_run: Memo<String>,
    selection: Memo<Selection>,
    entries: Memo<Arc<Vec<TagEntry>>>,
    passing: Memo<Arc<Vec<usize>>>,
    pins: Memo<Vec<String>>,
) -> Vec<String> {
    let (page_run, selection, pins) = (page_run.get(), selection.get(), pins.get());
    entries.with(|entries| {
        passing.with(|passing| {
            let passing = passing.iter().filter_map(|&index| entries.get(index));
            let mut ticked: Vec<_> = passing.filter(|entry| selection.has(&entry.tag)).collect();
            // Stable, so that equal ones keep their order.
            ticked.sort_by_cached_key(|entry| {
                let pin = pins.iter().position(|pin| *pin == entry.tag);
                let is_foreign = entry.series.iter().all(|id| id.run != page_run);
                (
                    pin.unwrap_or(usize::MAX),
                    is_foreign,
                    importance(&entry.tag),
                )
            });
            ticked.into_iter().map(|entry| entry.tag.clone()).collect()
        })
    })
}

fn name_among(names: &BTreeMap<String, String>, run: &str) -> String {
    let longer = names.get(run).cloned();
    longer.unwrap_or_else(|| short_name(run).to_owned())
}

/// Assigns unique hues to the runs of the page while it is open: among all listed runs, so that showing one changes no
/// other; among the displayed runs alone, if there are more listed runs than hues.
fn draw_together(page_run: Memo<String>, shown: RunNames, hidden: RunNames) {
    let colours = use_run_colours();
    Effect::new(move || {
        let (page_run, shown, hidden) = (page_run.get(), shown.get(), hidden.get());
        let mut runs: Vec<String> = shown.to_vec();
        if shown.len() + hidden.len() <= usize::from(COLOURS) {
            runs.extend(hidden.iter().cloned());
        }
        // The page's run keeps its colour. Displaying others does not change their order.
        runs.sort_by(|a, b| {
            (*a != page_run)
                .cmp(&(*b != page_run))
                .then_with(|| natural(a, b))
        });
        colours.draw_together(runs);
    });
    on_cleanup(move || colours.draw_together(Vec::new()));
}

/// Requests the tags of displayed runs, repeatedly while they grow.
fn keep_tags(shown: RunNames, state: AppState) {
    Effect::new(move || {
        let shown = shown.get();
        state.load_tags(shown.iter().cloned(), false);
    });
    let live = use_live();
    let is_waiting = StoredValue::new(false);
    Effect::new(move |before: Option<u64>| {
        let runs = shown.get();
        let versions = runs.iter().map(|run| live.version(run));
        let now: u64 = versions.sum();
        if before.is_some_and(|before| before != now) && !is_waiting.get_value() {
            is_waiting.set_value(true);
            set_timeout(
                move || {
                    // The page may have been left in the meantime.
                    if is_waiting.try_set_value(false).is_none()
                        && let Some(shown) = shown.try_get_untracked()
                    {
                        state.load_tags(shown.iter().cloned(), true);
                    }
                },
                TAGS_PAUSE,
            );
        }
        now
    });
}
