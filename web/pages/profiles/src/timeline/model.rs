//! State of the page: the view, the fetched cells, and the choices of the address.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use trainscope_api::findings::{Findings, FindingsQuery};
use trainscope_api::profile::{FlameAnswer, FlameQuery, ProfileState};
use trainscope_api::timeline::{
    AreaAnswer, AreaQuery, PathAnswer, SliceAnswer, SliceQuery, TimelineCounter, TimelineLanes,
    TimelineSearchAnswer,
};
use trainscope_format::Severity;

use super::cache::Cache;
use super::layout::{Choices, Layout};
use super::times::WallClock;
use super::view::{View, nanos};
use crate::parameters::PATH;
use trainscope_web_kit::client;
use trainscope_web_kit::components::profile_tabs::Profiles;
use trainscope_web_kit::location::{Address, use_address};
use trainscope_web_kit::parameters::{
    Area, HIDDEN_LANES, PINNED_LANES, SEARCH, SLICE, TIMELINE_AREA, TIMELINE_FROM, TIMELINE_TO,
    TURNED_LANES,
};
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::query::{Query, query};
use trainscope_web_kit::url_state::{History, Key, Setting, UrlState};

mod curves;
mod loading;
mod marks;
mod matches;
mod moves;
mod other;
mod path;
mod steps;

pub(super) use curves::MAX_CURVES;
pub(super) use marks::{Mark, Marks};
pub(super) use other::{Below, Others};
pub(super) use steps::ChosenStep;

const TAB: Setting<Tab> = Key::of_words(
    "tab",
    &[
        (Tab::Area, "area"),
        (Tab::Flame, "flame"),
        (Tab::Slice, "slice"),
    ],
)
.or(Tab::Area);
/// The bottom panel is closed.
const IS_CLOSED: Setting<bool> =
    Key::with("panel", |_| Some(true), |_| "closed".to_owned()).or(false);
/// The stacks of the flame graph grow upwards.
const IS_UP: Setting<bool> = Setting::mark("up");
/// Wall time instead of the time since the start of the session.
const IS_WALL: Setting<bool> = Key::with("clock", |_| Some(true), |_| "wall".to_owned()).or(false);
/// Tags of the curves.
const CURVES: Setting<Vec<String>> = Key::new("curves").or(Vec::new());

/// Time without movement after which the view is written to the address and its totals are requested.
const REST: Duration = Duration::from_millis(300);
/// Maximum number of hits marked at their steps.
const MAX_HITS: usize = 500;

/// Tabs of the bottom panel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Tab {
    /// Totals of the area.
    #[default]
    Area,
    /// Summed stacks of the area.
    Flame,
    /// Arguments, parents and launches of the slice.
    Slice,
}

impl Tab {
    pub(super) const ALL: [Self; 3] = [Self::Area, Self::Flame, Self::Slice];
}

/// Run, session and rank of the address.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Source {
    pub(super) run: String,
    pub(super) session: Option<String>,
    pub(super) rank: Option<u32>,
}

/// State of the page; see [`use_model`].
#[derive(Clone, Copy)]
pub(super) struct Model {
    pub(super) profiles: Profiles,
    pub(super) url: UrlState,
    address: Address,
    pub(super) source: Memo<Source>,
    pub(super) lanes: Query<TimelineLanes>,
    pub(super) frame: Memo<Arc<TimelineLanes>>,
    /// Length of the session, ns.
    pub(super) extent: Memo<f64>,
    pub(super) view: RwSignal<View>,
    /// The view when it rested last.
    pub(super) rested: RwSignal<View>,
    /// Scroll position of the lanes, CSS pixels.
    pub(super) scroll: RwSignal<f64>,
    /// Width and height of the lanes, CSS pixels, and device pixels per CSS pixel.
    pub(super) size: RwSignal<(f64, f64, f64)>,
    pub(super) choices: Memo<Choices>,
    pub(super) layout: Memo<Arc<Layout>>,
    /// Tags whose curves are shown.
    pub(super) curve_tags: Memo<Vec<String>>,
    pub(super) curves: Query<Vec<Arc<TimelineCounter>>>,
    /// The sessions below the first one.
    pub(super) others: Others,
    pub(super) cache: StoredValue<Cache>,
    /// Incremented when the cache has changed.
    pub(super) version: RwSignal<u64>,
    /// Index of the selected slice.
    pub(super) selected: Memo<Option<u32>>,
    pub(super) slice: Query<SliceAnswer>,
    /// The clicked cell: its slice, and the number of slices in it.
    pub(super) merged: RwSignal<Option<(u32, u32)>>,
    pub(super) area: Memo<Option<Area>>,
    /// The area while it is dragged.
    pub(super) dragged: RwSignal<Option<Area>>,
    pub(super) totals: Query<AreaAnswer>,
    pub(super) search: Memo<String>,
    pub(super) found: Query<TimelineSearchAnswer>,
    /// `true` if the critical path is shown.
    pub(super) has_path: Memo<bool>,
    pub(super) path: Query<PathAnswer>,
    pub(super) marks: Marks,
    pub(super) tab: Memo<Tab>,
    /// `true` if the bottom panel is open.
    pub(super) has_panel: Memo<bool>,
    pub(super) flame: Query<FlameAnswer>,
    pub(super) is_up: Memo<bool>,
    /// The wall clock, if it is shown and known.
    pub(super) wall: Memo<Option<WallClock>>,
    /// Starts of steps with hits of watchpoints, and the worst severity of each.
    pub(super) hits: Memo<Vec<(i64, Severity)>>,
    /// Place of the pointer, CSS pixels from the top left of the time axis.
    pub(super) pointer: RwSignal<Option<(f64, f64)>>,
    /// Incremented to focus the search field.
    pub(super) focus_search: RwSignal<u64>,
    /// Sentence for screen readers about the last change.
    pub(super) news: RwSignal<String>,
}

pub(super) fn use_model() -> Model {
    expect_context()
}

impl Model {
    pub(super) fn provide() -> Self {
        let profiles = Profiles::of_address();
        let url = profiles.url;
        let source = Memo::new(move |_| {
            profiles.query.with(|wanted| Source {
                run: wanted.run.clone(),
                session: wanted.session.clone(),
                rank: wanted.rank,
            })
        });
        // The lanes are requested again while their files are read.
        let read = Memo::new(move |_| {
            profiles.chosen.with(|chosen| {
                let chosen = chosen.as_ref()?;
                (chosen.state != ProfileState::Unreadable)
                    .then(|| (chosen.state, chosen.read_bytes))
            })
        });
        let lanes = query(
            move || read.get().map(|read| (profiles.query.get(), read)),
            |(wanted, _)| async move { client::timeline_lanes(&wanted).await },
        )
        .cleared_with(move || source.get());
        let frame = Memo::new(move |_| lanes.answer.get().unwrap_or_default());
        let extent = Memo::new(move |_| frame.with(|frame| frame.extent_nanos as f64));
        let (turned, hidden) = (url.setting(TURNED_LANES), url.setting(HIDDEN_LANES));
        let (pins, curve_tags) = (url.setting(PINNED_LANES), url.setting(CURVES));
        let curve_tags = Memo::new(move |_| {
            let mut tags = curve_tags.get();
            tags.truncate(MAX_CURVES);
            tags
        });
        let others = Others::new(profiles, frame);
        let choices = Memo::new(move |_| Choices {
            turned: turned.get().into_iter().collect(),
            pins: pins.get(),
            hidden: hidden.get().into_iter().collect(),
            // Without a clock the curves have no place.
            curves: if frame.with(|frame| frame.unix_nanos.is_some()) {
                curve_tags.with(Vec::len)
            } else {
                0
            },
            is_compact: others.is_all.get(),
        });
        let layout = Memo::new(move |_| {
            let layout = frame.with(|frame| choices.with(|choices| Layout::new(frame, choices)));
            let with = |frames: &Vec<Arc<TimelineLanes>>| {
                let numbered = (1..).zip(frames);
                choices.with(|choices| {
                    numbered.fold(layout, |layout, (session, frame)| {
                        layout.with_other(frame, choices, session)
                    })
                })
            };
            Arc::new(others.frames.with(with))
        });
        let (is_wall, is_closed) = (url.setting(IS_WALL), url.setting(IS_CLOSED));
        let wall = Memo::new(move |_| {
            is_wall.get().then_some(())?;
            frame.with(|frame| {
                let ahead = js_sys::Date::new_0().get_timezone_offset();
                WallClock::new(frame.unix_nanos.as_ref()?, ahead)
            })
        });
        let run = profiles.run;
        let findings: Query<Findings> = query(
            move || Some(run.get()),
            |run| async move {
                let limit = Some(MAX_HITS);
                client::findings(&FindingsQuery {
                    run,
                    limit,
                    ..FindingsQuery::default()
                })
                .await
            },
        );
        let hits = Memo::new(move |_| {
            let mut hits: BTreeMap<i64, Severity> = BTreeMap::new();
            for hit in findings.answer.get().iter().flat_map(|all| &all.hits) {
                let worst = hits.entry(hit.step).or_insert(hit.severity);
                *worst = (*worst).max(hit.severity);
            }
            frame.with(|frame| {
                let steps = frame.steps.iter();
                let number = |step: i64| step.saturating_add(frame.step_offset);
                let steps =
                    steps.map(|step| (step.begin_nanos, hits.get(&number(step.number)).copied()));
                let steps = steps.filter_map(|(begin, severity)| Some((begin, severity?)));
                steps.collect::<Vec<_>>()
            })
        });
        let model = Self {
            profiles,
            url,
            address: use_address(),
            source,
            lanes,
            frame,
            extent,
            view: RwSignal::new(View::default()),
            rested: RwSignal::new(View::default()),
            scroll: RwSignal::new(0.0),
            size: RwSignal::new((0.0, 0.0, 1.0)),
            choices,
            layout,
            curve_tags,
            curves: Query::idle(),
            others,
            cache: StoredValue::new(Cache::default()),
            version: RwSignal::new(0),
            selected: url.param(SLICE),
            slice: Query::idle(),
            merged: RwSignal::new(None),
            area: url.param(TIMELINE_AREA),
            dragged: RwSignal::new(None),
            totals: Query::idle(),
            search: url.setting(SEARCH),
            found: Query::idle(),
            has_path: url.setting(PATH),
            path: Query::idle(),
            marks: Marks::new(profiles, source),
            tab: url.setting(TAB),
            has_panel: Memo::new(move |_| !is_closed.get()),
            flame: Query::idle(),
            is_up: url.setting(IS_UP),
            wall,
            hits,
            pointer: RwSignal::new(None),
            focus_search: RwSignal::new(0),
            news: RwSignal::new(String::new()),
        };
        provide_context(model);
        model.ask();
        model.ask_curves(model.curves);
        model.ask_matches();
        model.ask_path(model.path);
        model.keep_view();
        model.keep_loading();
        model
    }

    /// Starts the requests about the selected slice and the area.
    fn ask(self) {
        let source = self.source;
        // Requested again when more of the session was read.
        let events = Memo::new(move |_| self.frame.with(|frame| (frame.events, frame.state)));
        self.slice.start(
            move || {
                let index = self.selected.get()?;
                Some((source.get(), index, events.get()))
            },
            |(source, index, _): (Source, u32, _)| async move {
                client::timeline_slice(&SliceQuery {
                    run: source.run,
                    session: source.session,
                    rank: source.rank,
                    index,
                })
                .await
            },
        );
        self.totals.start(
            move || {
                let area = self.summed()?;
                (self.has_panel.get()).then(|| (source.get(), area, events.get()))
            },
            |(source, area, _): (Source, Area, _)| async move {
                client::timeline_area(&AreaQuery {
                    run: source.run,
                    session: source.session,
                    rank: source.rank,
                    from: area.from,
                    to: area.to,
                    lanes: area.lanes_text(),
                })
                .await
            },
        );
        self.flame.start(
            move || {
                let area = self.summed()?;
                let is_open = self.has_panel.get() && self.tab.get() == Tab::Flame;
                is_open.then(|| (source.get(), area, self.is_up.get(), events.get()))
            },
            |(source, area, up, _): (Source, Area, bool, _)| async move {
                client::profile_flame(&FlameQuery {
                    run: source.run,
                    session: source.session,
                    rank: source.rank,
                    from_nanos: area.from,
                    to_nanos: area.to,
                    lanes: area.lanes_text(),
                    up,
                })
                .await
            },
        );
    }

    /// The stretch of time of the totals: the area, else the resting view; reactive.
    pub(super) fn summed(self) -> Option<Area> {
        self.area.get().or_else(|| {
            let view = self.rested.get();
            (view.to > view.from).then(|| Area {
                from: nanos(view.from),
                to: nanos(view.to),
                lanes: Vec::new(),
            })
        })
    }

    /// Sets the first view of a session, follows changes of the address, and writes the view to it.
    fn keep_view(self) {
        let from = self.url.param(TIMELINE_FROM);
        let to = self.url.param(TIMELINE_TO);
        let in_address = Memo::new(move |_| {
            let (from, to) = (from.get()?, to.get()?);
            (from < to).then_some(View {
                from: from as f64,
                to: to as f64,
            })
        });
        let written = StoredValue::new(None::<View>);
        let origin = Memo::new(move |_| {
            let text = self.frame.with(|frame| frame.origin_nanos.parse());
            text.unwrap_or(0_i64)
        });
        Effect::new(move |before: Option<(Source, f64, i64)>| {
            let (source, extent) = (self.source.get(), self.extent.get());
            let origin = origin.get();
            let wanted = in_address.get();
            if extent <= 0.0 {
                return before.unwrap_or_default();
            }
            let (old, old_extent, old_origin) = before.unwrap_or_default();
            let is_new = old != source || old_extent <= 0.0;
            let view = self.view.get_untracked();
            let was_whole = !is_new && view.is_like(View::whole(old_extent));
            let next = match wanted {
                Some(wanted) if is_new || written.get_value() != Some(wanted) => wanted,
                None if is_new || was_whole || written.get_value().is_some() => View::whole(extent),
                // The start of a session that is being read may move.
                _ if !is_new => view.shifted(old_origin.saturating_sub(origin) as f64),
                _ => view,
            };
            written.set_value(wanted);
            let next = next.inside(extent);
            if next != view {
                self.view.set(next);
            }
            if is_new {
                self.rested.set(next);
            }
            (source, extent, origin)
        });
        let moved = StoredValue::new(0_u64);
        Effect::new(move || {
            let view = self.view.get();
            let extent = self.extent.get_untracked();
            let number = moved.get_value() + 1;
            moved.set_value(number);
            if extent <= 0.0 {
                return;
            }
            set_timeout(
                move || {
                    if moved.try_get_value() != Some(number) {
                        return;
                    }
                    if self.rested.get_untracked() != view {
                        self.rested.set(view);
                    }
                    let is_whole = view.is_like(View::whole(extent));
                    let (from, to) = (nanos(view.from), nanos(view.to));
                    let part = (!is_whole).then_some(View {
                        from: from as f64,
                        to: to as f64,
                    });
                    if in_address.get_untracked().is_none() && part.is_none() {
                        return;
                    }
                    written.set_value(part);
                    let changes = [
                        TIMELINE_FROM.to_option(part.map(|_| from)),
                        TIMELINE_TO.to_option(part.map(|_| to)),
                    ];
                    self.url.set(&changes, History::Replace);
                },
                REST,
            );
        });
        // A shorter list of lanes is scrolled to its end.
        Effect::new(move || {
            let (_, height, _) = self.size.get();
            let most = self.layout.with(|layout| layout.most_scroll(height));
            if height > 0.0 && self.scroll.get() > most {
                self.scroll.set(most);
            }
        });
    }

    /// Selects a slice, or clears the selection.
    pub(super) fn select(self, index: Option<u32>) {
        self.url.set(&[SLICE.to_option(index)], History::Replace);
    }

    pub(super) fn set_area(self, area: Option<&Area>) {
        let area = TIMELINE_AREA.to_option(area.cloned());
        self.url.set(&[area], History::Push);
    }

    pub(super) fn set_search(self, text: &str) {
        self.url.set(&[SEARCH.to(text)], History::Replace);
    }

    pub(super) fn show_tab(self, tab: Tab) {
        let changes = [TAB.to(tab), IS_CLOSED.clear()];
        self.url.set(&changes, History::Replace);
    }

    pub(super) fn turn_panel(self) {
        let closed = IS_CLOSED.to(self.has_panel.get_untracked());
        self.url.set(&[closed], History::Replace);
    }

    pub(super) fn set_up(self, is_up: bool) {
        self.url.set(&[IS_UP.to(is_up)], History::Replace);
    }

    /// Shows wall time, or the time since the start of the session.
    pub(super) fn turn_clock(self) {
        let is_wall = self.wall.with_untracked(Option::is_some);
        self.url.set(&[IS_WALL.to(!is_wall)], History::Replace);
    }

    /// Folds or unfolds a group or a lane.
    pub(super) fn turn_fold(self, key: &str) {
        let mut turned = self.choices.get_untracked().turned;
        if !turned.remove(key) {
            turned.insert(key.to_owned());
        }
        let all: Vec<String> = turned.into_iter().collect();
        self.url.set(&[TURNED_LANES.to(all)], History::Replace);
    }

    pub(super) fn turn_pin(self, lane: u32) {
        let pins = PINNED_LANES.to(turned(self.choices.get_untracked().pins, lane));
        self.url.set(&[pins], History::Replace);
    }

    pub(super) fn turn_hidden(self, lane: u32) {
        let hidden = self.choices.get_untracked().hidden.into_iter().collect();
        let hidden = HIDDEN_LANES.to(turned(hidden, lane));
        self.url.set(&[hidden], History::Replace);
    }

    pub(super) fn show_all_lanes(self) {
        self.url.set(&[HIDDEN_LANES.clear()], History::Replace);
    }
}

/// The list with a number added, or removed if it was present.
fn turned(mut numbers: Vec<u32>, number: u32) -> Vec<u32> {
    match numbers.iter().position(|known| *known == number) {
        Some(at) => {
            numbers.remove(at);
        }
        None => numbers.push(number),
    }
    numbers
}
