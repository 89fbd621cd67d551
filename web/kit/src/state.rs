//! State of all pages: the list of runs, the server's status and requested tags, each kept up to date.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;
use std::time::Duration;

use leptos::task::spawn_local;
use trainscope_api::live::ChangeNotice;
use trainscope_api::runs::{Run, RunList};
use trainscope_api::status::Status;
use trainscope_api::tags::{MAX_RUNS, TagList, TagsRequest};
use trainscope_format::Kind;

use crate::client;
use crate::format;
use crate::live::{Connection, Live, use_live};
use crate::notebook::Notes;
use crate::prelude::*;
use crate::query::Load;
use crate::registry::{Count, PageEntry};
use crate::run_colour::RunColours;
use crate::run_name::{longer_names, short_name};

/// Minimum interval of requests for the list of runs while runs come and go.
const LIST_PAUSE_MILLIS: f64 = 2_000.0;
/// Time from new points in known runs to the list with their last values; their steps are shown at once.
const GROWTH_PAUSE: Duration = Duration::from_secs(2);
/// Maximum share of time for lists: one that takes 0.3 s is requested every 6 s.
const LIST_SHARE: f64 = 0.05;

/// The shared state. `Copy`: take it with [`use_app_state`].
#[derive(Clone, Copy)]
pub struct AppState {
    /// All runs in the order of the server; empty before the first answer.
    pub runs: RwSignal<Arc<RunList>>,
    /// State of the first load of `runs`.
    pub load: RwSignal<Load<()>>,
    /// Identity of the server; `None` before its first answer.
    pub status: RwSignal<Option<Status>>,
    index: Memo<Arc<BTreeMap<String, usize>>>,
    names: Memo<Arc<BTreeMap<String, String>>>,
    tags: RwSignal<BTreeMap<String, Arc<TagList>>>,
    /// Runs with a pending request for their tags.
    asked_tags: StoredValue<HashSet<String>>,
    asked: StoredValue<bool>,
    again: StoredValue<bool>,
    is_due: StoredValue<bool>,
}

/// The shared state of this page.
pub fn use_app_state() -> AppState {
    expect_context()
}

/// All runs as the server knows them, ordered by name; empty before the first answer.
pub fn use_runs() -> Signal<Arc<RunList>> {
    use_app_state().runs.into()
}

impl AppState {
    /// Creates the state, requests it, and requests it again after changes.
    pub fn provide(live: Live, colours: RunColours) -> Self {
        let runs = RwSignal::new(Arc::new(RunList::default()));
        let index = Memo::new(move |_| {
            let positions = runs.with(|list| {
                let ids = list.runs.iter().map(|run| run.id.clone());
                ids.enumerate()
                    .map(|(position, id)| (id, position))
                    .collect()
            });
            Arc::new(positions)
        });
        let state = Self {
            runs,
            load: RwSignal::new(Load::Loading),
            status: RwSignal::new(None),
            index,
            names: Memo::new(move |_| {
                index.with(|index| Arc::new(longer_names(index.keys().map(String::as_str))))
            }),
            tags: RwSignal::new(BTreeMap::new()),
            asked_tags: StoredValue::new(HashSet::new()),
            asked: StoredValue::new(false),
            again: StoredValue::new(false),
            is_due: StoredValue::new(false),
        };
        provide_context(state);
        Effect::new(move || {
            live.list_version.track();
            state.refresh(live, colours);
        });
        Effect::new(move || {
            let has_grown = live.last_notice.with(|notice| {
                state.apply(notice);
                !notice.runs.is_empty()
            });
            if has_grown && !state.is_due.get_value() {
                state.is_due.set_value(true);
                set_timeout(
                    move || {
                        state.is_due.set_value(false);
                        state.refresh(live, colours);
                    },
                    GROWTH_PAUSE,
                );
            }
        });
        Effect::new(move || {
            let failed = state
                .load
                .with_untracked(|load| matches!(load, Load::Failed(_)));
            if live.connection.get() == Connection::Open && failed {
                state.refresh(live, colours);
            }
        });
        state
    }

    /// One run by its name; reactive.
    pub fn run(self, id: &str) -> Option<Run> {
        let position = self.index.with(|index| index.get(id).copied())?;
        self.runs.with(|list| list.runs.get(position).cloned())
    }

    /// The runs before and after one in the list; reactive.
    pub fn beside(self, id: &str) -> (Option<String>, Option<String>) {
        let Some(position) = self.index.with(|index| index.get(id).copied()) else {
            return (None, None);
        };
        self.runs.with(|list| {
            let at = |position: Option<usize>| Some(list.runs.get(position?)?.id.clone());
            (at(position.checked_sub(1)), at(position.checked_add(1)))
        })
    }

    /// Short name of a run: its last segment, with earlier ones until it is unique; reactive.
    pub fn short_name(self, run: &str) -> String {
        let longer = self.names.with(|names| names.get(run).cloned());
        longer.unwrap_or_else(|| short_name(run).to_owned())
    }

    /// `true` if the run exists or the list is still loading; reactive.
    pub fn may_exist(self, id: &str) -> bool {
        self.index.with(|index| index.contains_key(id)) || self.load.get() != Load::Ready(())
    }

    /// The tags of a run, requested with [`AppState::load_tags`]; reactive.
    pub fn tags(self, run: &str) -> Option<Arc<TagList>> {
        self.tags.with(|tags| tags.get(run).cloned())
    }

    /// Number of tags, tensors or hits that a page shows of a run; `None` without records for it; reactive.
    pub fn page_count(self, run: &Run, page: &PageEntry) -> Option<u64> {
        let count = |kind: Kind| run.kinds.get(kind.as_str()).copied().unwrap_or(0);
        let counts = page.all_kinds().map(count);
        let count = match page.count {
            Count::Always => return Some(0),
            Count::Hits => {
                return Some(run.health.as_ref()?.counts.problems());
            }
            Count::Tags | Count::Hidden => counts.sum(),
            Count::Names => match self.tags(&run.id) {
                Some(list) => names_of(&list, &page.all_kinds().collect::<Vec<_>>()),
                // One kind mostly holds the tensors of the other.
                None => counts.max().unwrap_or(0),
            },
            Count::Tensors => counts.max().unwrap_or(0),
        };
        Some(count).filter(|count| *count > 0)
    }

    /// Looks at all tags that are known, without copying them; reactive.
    pub fn with_tags<T>(self, look: impl FnOnce(&BTreeMap<String, Arc<TagList>>) -> T) -> T {
        self.tags.with(look)
    }

    /// Requests the tags of runs in one request: of those that are not known, or with `fresh` of all.
    pub fn load_tags(self, runs: impl IntoIterator<Item = String>, fresh: bool) {
        let is_wanted = |run: &String| {
            let is_known = || self.tags.with_untracked(|tags| tags.contains_key(run));
            let is_asked = self.asked_tags.with_value(|asked| asked.contains(run));
            !is_asked && (fresh || !is_known())
        };
        let runs: Vec<String> = runs.into_iter().filter(is_wanted).take(MAX_RUNS).collect();
        if runs.is_empty() {
            return;
        }
        self.asked_tags
            .update_value(|asked| asked.extend(runs.iter().cloned()));
        spawn_local(async move {
            let request = TagsRequest { runs };
            let answer = client::tags(&request).await;
            self.asked_tags.update_value(|asked| {
                for run in &request.runs {
                    asked.remove(run);
                }
            });
            // An error means a lost connection or a deleted run: both are displayed elsewhere.
            let Ok(answer) = answer else { return };
            let found = request.runs.into_iter().zip(answer.lists);
            let found = found.filter_map(|(run, list)| Some((run, Arc::new(list?))));
            self.tags.update(|tags| tags.extend(found));
        });
    }

    /// Puts the steps of a notice into the list, and requests known tags again if there are more.
    fn apply(self, notice: &ChangeNotice) {
        let changed = notice.runs.iter().filter(|change| change.tags_changed);
        let known = self.tags.with_untracked(|tags| {
            let known = changed.filter(|change| tags.contains_key(&change.run));
            known.map(|change| change.run.clone()).collect::<Vec<_>>()
        });
        self.load_tags(known, true);
        if notice.runs.is_empty() || self.load.get_untracked() != Load::Ready(()) {
            return;
        }
        let index = self.index.get_untracked();
        self.runs.update(|list| {
            let list = Arc::make_mut(list);
            for change in &notice.runs {
                let run = index
                    .get(&change.run)
                    .and_then(|&position| list.runs.get_mut(position))
                    .filter(|run| run.id == change.run);
                if let (Some(run), Some(step)) = (run, change.last_step) {
                    run.last_step = Some(step);
                }
            }
        });
    }

    /// At most one request is pending; changes meanwhile lead to one more after a pause, which grows with the duration
    /// of a request. Steps follow the notices without it.
    fn refresh(self, live: Live, colours: RunColours) {
        if self.asked.get_value() {
            self.again.set_value(true);
            return;
        }
        self.asked.set_value(true);
        spawn_local(async move {
            if let Ok(status) = client::status().await {
                if live.ingest.with_untracked(Option::is_none) {
                    live.ingest.set(Some(status.ingest));
                }
                self.status.set(Some(status));
            }
        });
        spawn_local(async move {
            let began = format::now_millis();
            let list = client::runs().await;
            live.start(list.as_ref().ok().map(|list| list.seq));
            match list {
                Ok(list) => {
                    colours.give(&list);
                    self.runs.set(Arc::new(list));
                    self.load.set(Load::Ready(()));
                }
                Err(error) if self.load.get_untracked() != Load::Ready(()) => {
                    self.load.set(Load::Failed(error));
                }
                // The old list stays on the page; the event stream reports the lost connection.
                Err(_) => {}
            }
            let pause = ((format::now_millis() - began) / LIST_SHARE).max(LIST_PAUSE_MILLIS);
            set_timeout(
                move || {
                    self.asked.set_value(false);
                    if self.again.try_update_value(std::mem::take) == Some(true) {
                        self.refresh(live, colours);
                    }
                },
                Duration::from_secs_f64(pause / 1_000.0),
            );
        });
    }
}

/// Provides the live stream and the state, in the order of their dependencies.
pub fn provide_all() {
    let colours = RunColours::provide();
    let live = Live::provide();
    live.watch_visibility();
    let notes = Notes::provide(live);
    Effect::new(move || {
        let chosen = notes.with(|book| {
            let runs = book.runs.iter();
            let chosen = runs.filter_map(|(run, notes)| Some((run.clone(), notes.colour?)));
            chosen.collect()
        });
        colours.choose(chosen);
    });
    AppState::provide(live, colours);
}

/// The version of a run's points, see [`Live::run_version`].
pub fn use_run_version(run: &str) -> Signal<u64> {
    use_live().run_version(run)
}

/// Number of distinct names among the tags of some kinds.
fn names_of(list: &TagList, kinds: &[Kind]) -> u64 {
    let tags = list.tags.iter().filter(|tag| kinds.contains(&tag.kind));
    let names: BTreeSet<&str> = tags.map(|tag| tag.tag.as_str()).collect();
    names.len() as u64
}
