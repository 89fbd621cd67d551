//! The tab bar of the pages about profiles: views, data pipeline and timeline, with the choice of session, rank and
//! steps. The choice is in the address, and the links of the tabs keep it.

use std::sync::Arc;
use std::time::Duration;

use trainscope_api::profile::{ProfileEntry, ProfileList, ProfileQuery, ProfileState};
use trainscope_format::Kind;

use super::{Icon, IconName, Popover, StepRange};
use crate::client;
use crate::format;
use crate::i18n::{Texts, use_i18n};
use crate::parameters::{
    HIDDEN_LANES, MARKS, PINNED_LANES, PROFILE_VIEW, ProfileView, RANK, SEARCH, SESSION, SINCE,
    SLICE, TIMELINE_AREA, TIMELINE_FROM, TIMELINE_TO, TURNED_LANES, UNTIL,
};
use crate::prelude::*;
use crate::query::{Query, query};
use crate::route::{self, RunPage, use_run};
use crate::state::use_app_state;
use crate::url_state::{Change, History, UrlState, use_url_state};

/// Pause between two requests for the list while a profile is being read.
pub const READING_PAUSE: Duration = Duration::from_millis(700);

/// A tab: a view of the page of profiles, or another page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProfileTab {
    View(ProfileView),
    Pipeline,
    Timeline,
}

impl ProfileTab {
    /// In the order of the bar.
    const ALL: [Self; 9] = [
        Self::View(ProfileView::Overview),
        Self::View(ProfileView::Steps),
        Self::View(ProfileView::Operators),
        Self::Pipeline,
        Self::View(ProfileView::Memory),
        Self::View(ProfileView::Cluster),
        Self::View(ProfileView::Compare),
        Self::View(ProfileView::Sql),
        Self::Timeline,
    ];

    const fn page(self) -> RunPage {
        match self {
            Self::View(_) => RunPage::Profile,
            Self::Pipeline => RunPage::Pipeline,
            Self::Timeline => RunPage::Timeline,
        }
    }

    fn title(self, texts: Texts) -> &'static str {
        match self {
            Self::View(view) => texts.profile().views[view as usize],
            Self::Pipeline => texts.titles().pipeline,
            Self::Timeline => texts.titles().timeline,
        }
    }
}

/// The profiles of the run of the address, and the choice among them. `Copy`.
#[derive(Clone, Copy)]
pub struct Profiles {
    pub url: UrlState,
    pub run: Memo<String>,
    /// Sessions and ranks.
    pub list: Query<ProfileList>,
    /// Session and rank of the address; if they are missing there or in the run, the newest session and its lowest
    /// rank.
    pub chosen: Memo<Option<Arc<ProfileEntry>>>,
    /// The query of every resource of the chosen profile.
    pub query: Memo<ProfileQuery>,
}

impl Profiles {
    /// Follows the address, and requests the list whenever the run grows.
    pub fn of_address() -> Self {
        let url = use_url_state();
        let run = use_run();
        let run = Memo::new(move |_| run.get().unwrap_or_default());
        let runs = Signal::derive(move || Arc::new(vec![run.get()]));
        let ask = |run: String| async move { client::profile(&run).await };
        let list = query(move || Some(run.get()), ask)
            .cleared_with(move || run.get())
            .again_with_list()
            .again_with_runs(runs);
        // A profile is read at the first request for one of its resources; its facts are in the list afterwards.
        Effect::new(move || {
            let is_reading = |list: &Arc<ProfileList>| {
                let mut sessions = list.sessions.iter();
                sessions.any(|entry| entry.state == ProfileState::Reading)
            };
            if list
                .answer
                .with(|list| list.as_ref().is_some_and(is_reading))
            {
                set_timeout(move || list.ask_again(), READING_PAUSE);
            }
        });
        let (session, rank) = (url.param(SESSION), url.param(RANK));
        let (since, until) = (url.param(SINCE), url.param(UNTIL));
        let chosen = Memo::new(move |_| {
            let wanted = session.get();
            let rank = rank.get();
            let list = list.answer.get()?;
            let first = list.sessions.first()?;
            let has = |id: &String| list.sessions.iter().any(|entry| entry.session == *id);
            let session = wanted.filter(has).unwrap_or_else(|| first.session.clone());
            let ranks = || {
                list.sessions
                    .iter()
                    .filter(|entry| entry.session == session)
            };
            let of_rank = ranks().find(|entry| Some(entry.rank) == rank);
            of_rank.or_else(|| ranks().next()).cloned().map(Arc::new)
        });
        let query = Memo::new(move |_| ProfileQuery {
            run: run.get(),
            session: session.get(),
            rank: rank.get(),
            since_step: since.get(),
            until_step: until.get(),
        });
        Self {
            url,
            run,
            list,
            chosen,
            query,
        }
    }

    /// Run, session and rank of the address, whatever the steps; reactive.
    pub fn subject(self) -> (String, Option<String>, Option<u32>) {
        self.query
            .with(|query| (query.run.clone(), query.session.clone(), query.rank))
    }

    /// The session of the address, if the run does not have it; reactive.
    pub fn gone(self) -> Option<String> {
        let wanted = self.query.with(|query| query.session.clone())?;
        let list = self.list.answer.get()?;
        let mut sessions = list.sessions.iter();
        (!sessions.any(|entry| entry.session == wanted)).then_some(wanted)
    }

    /// `true` once the run has a profile; reactive.
    pub fn is_there(self) -> bool {
        self.chosen.with(Option::is_some)
    }

    /// `true` if the run has records of a kind; reactive.
    pub fn has_kind(self, kind: Kind) -> bool {
        let runs = use_app_state().runs;
        self.run.with(|name| {
            runs.with(|list| {
                let mut runs = list.runs.iter();
                runs.any(|run| run.id == *name && run.kinds.contains_key(kind.as_str()))
            })
        })
    }

    /// The address of a tab with the current choices, and with other keys changed; reactive.
    pub fn tab_href(self, tab: ProfileTab, changes: &[Change]) -> String {
        let view = match tab {
            ProfileTab::View(view) => view,
            ProfileTab::Pipeline | ProfileTab::Timeline => ProfileView::default(),
        };
        let mut all = vec![PROFILE_VIEW.to(view)];
        all.extend_from_slice(changes);
        let here = self.url.href(&all);
        let search = here.split_once('?').map_or("", |(_, search)| search);
        let href = self.run.with(|run| route::run_href(run, tab.page()));
        if search.is_empty() {
            href
        } else {
            format!("{href}?{search}")
        }
    }

    /// The address of the timeline with a stretch of time, nanoseconds since the start of the session, and slices that
    /// a search frames; reactive.
    pub fn timeline_href(self, range: Option<(i64, i64)>, search: Option<&str>) -> String {
        let (from, to) = range.unzip();
        let changes = [
            TIMELINE_FROM.to_option(from),
            TIMELINE_TO.to_option(to),
            SLICE.clear(),
            SEARCH.to(search.unwrap_or_default()),
        ];
        self.tab_href(ProfileTab::Timeline, &changes)
    }
}

/// The tab bar, as soon as the run has a profile.
#[component]
pub fn ProfileTabs(
    #[prop(into)] current: Signal<ProfileTab>,
    profiles: Profiles,
    /// `false` if the page is about all steps.
    #[prop(default = true.into(), into)]
    has_steps: Signal<bool>,
    /// `false` if the page is about all ranks.
    #[prop(default = true.into(), into)]
    has_ranks: Signal<bool>,
    /// Elements at the right, before the choices.
    #[prop(optional)]
    children: Option<ChildrenFn>,
) -> impl IntoView {
    let i18n = use_i18n();
    let tab = move |tab: ProfileTab| {
        let operators = move || {
            let is_own = tab == ProfileTab::View(ProfileView::Operators);
            let count = profiles
                .chosen
                .with(|chosen| Some(chosen.as_ref()?.operators))?;
            (is_own && count > 0)
                .then(|| view! { <span class="ink3">{format::count(count)}</span> })
        };
        view! {
            <a
                href=move || profiles.tab_href(tab, &[])
                aria-current=move || (current.get() == tab).then_some("page")
            >
                {move || tab.title(i18n.texts())}
                {operators}
            </a>
        }
    };
    let children = StoredValue::new(children);
    move || {
        profiles.is_there().then(|| {
            view! {
                <section class="ptabs" aria-label=i18n.text(|t| t.profile().recording)>
                    <nav class="tabs" aria-label=i18n.text(|t| t.titles().profile)>
                        {ProfileTab::ALL.map(tab).into_iter().collect_view()}
                    </nav>
                    <span class="grow"></span>
                    {children.with_value(|children| children.as_ref().map(|children| children()))}
                    <Show when=move || has_steps.get()>
                        <StepsChoice profiles />
                    </Show>
                    <SessionChoice profiles />
                    <Show when=move || has_ranks.get()>
                        <RankChoice profiles />
                    </Show>
                </section>
            }
        })
    }
}

/// The range of steps, if the profile has more than one.
#[component]
fn StepsChoice(profiles: Profiles) -> impl IntoView {
    let i18n = use_i18n();
    let is_open = RwSignal::new(false);
    let range = Memo::new(move |_| profiles.chosen.with(|chosen| chosen.as_ref()?.step_range));
    let whole = Signal::derive(move || range.get().unwrap_or_default());
    let chosen = Signal::derive(move || {
        let (since, until) = profiles
            .query
            .with(|query| (query.since_step, query.until_step));
        (since.is_some() || until.is_some())
            .then(|| (since.unwrap_or(i64::MIN), until.unwrap_or(i64::MAX)))
    });
    let text = Memo::new(move |_| {
        let (first, last) = whole.get();
        let (since, until) = chosen.get().unwrap_or((first, last));
        let (since, until) = (since.clamp(first, last), until.clamp(first, last));
        format!("{} – {}", format::integer(since), format::integer(until))
    });
    // The label begins with the visible text, for control by voice.
    let label = move || format!("{}: {}", text.get(), i18n.texts().profile().choose_steps);
    let face = move || {
        view! {
            <span class="val">{text}</span>
            <Icon name=IconName::Down size=12 />
        }
        .into_any()
    };
    let on_choose = Callback::new(move |range: Option<(i64, i64)>| {
        let (since, until) = range.unwrap_or((i64::MIN, i64::MAX));
        let changes = [
            SINCE.to_option((since > i64::MIN).then_some(since)),
            UNTIL.to_option((until < i64::MAX).then_some(until)),
        ];
        profiles.url.set(&changes, History::Push);
    });
    move || {
        let has_many = range.get().is_some_and(|(first, last)| first < last);
        has_many.then(|| {
            view! {
                <span class="ctl">
                    <span class="hide-narrow">{i18n.text(|t| t.profile().steps)}</span>
                    <Popover
                        is_open
                        label=Signal::derive(label)
                        class="field"
                        panel_class="popover step-choice"
                        face=ViewFn::from(face)
                    >
                        <StepRange whole chosen on_choose />
                    </Popover>
                </span>
            }
        })
    }
}

/// The session, if there are several.
#[component]
fn SessionChoice(profiles: Profiles) -> impl IntoView {
    let i18n = use_i18n();
    let all = Memo::new(move |_| {
        let mut all: Vec<String> = Vec::new();
        let list = profiles.list.answer.get().unwrap_or_default();
        for entry in &list.sessions {
            if !all.contains(&entry.session) {
                all.push(entry.session.clone());
            }
        }
        all
    });
    let now = Memo::new(move |_| {
        profiles
            .chosen
            .with(|chosen| Some(chosen.as_ref()?.session.clone()))
    });
    let on_choose = move |id: String| {
        let is_newest = all.with_untracked(|all| all.first() == Some(&id));
        // Steps and moments of one session mean nothing in another.
        let changes = [
            SESSION.to_option((!is_newest).then_some(id)),
            SINCE.clear(),
            UNTIL.clear(),
            TIMELINE_FROM.clear(),
            TIMELINE_TO.clear(),
            SLICE.clear(),
            TIMELINE_AREA.clear(),
            MARKS.clear(),
            PINNED_LANES.clear(),
            TURNED_LANES.clear(),
            HIDDEN_LANES.clear(),
        ];
        profiles.url.set(&changes, History::Push);
    };
    move || {
        let all = all.get();
        (all.len() > 1).then(|| {
            choice(
                i18n.texts().profile().session,
                all,
                now.get().as_deref(),
                on_choose,
            )
        })
    }
}

/// The rank, if the session has several.
#[component]
fn RankChoice(profiles: Profiles) -> impl IntoView {
    let i18n = use_i18n();
    let all = Memo::new(move |_| {
        let list = profiles.list.answer.get().unwrap_or_default();
        let session = profiles
            .chosen
            .with(|chosen| Some(chosen.as_ref()?.session.clone()));
        let entries = list.sessions.iter();
        let entries = entries.filter(|entry| Some(&entry.session) == session.as_ref());
        entries
            .map(|entry| entry.rank.to_string())
            .collect::<Vec<_>>()
    });
    let now = Memo::new(move |_| {
        profiles
            .chosen
            .with(|chosen| Some(chosen.as_ref()?.rank.to_string()))
    });
    let on_choose = move |rank: String| {
        let is_lowest = all.with_untracked(|all| all.first() == Some(&rank));
        let rank = RANK.typed((!is_lowest).then_some(rank));
        profiles.url.set(&[rank, SLICE.clear()], History::Push);
    };
    move || {
        let all = all.get();
        (all.len() > 1).then(|| {
            choice(
                i18n.texts().profile().rank,
                all,
                now.get().as_deref(),
                on_choose,
            )
        })
    }
}

fn choice(
    label: &'static str,
    all: Vec<String>,
    now: Option<&str>,
    on_choose: impl Fn(String) + 'static,
) -> AnyView {
    let options = all.into_iter().map(|id| {
        let is_now = now == Some(&*id);
        view! {
            <option value=id.clone() selected=is_now>
                {id.clone()}
            </option>
        }
    });
    let options = options.collect::<Vec<_>>();
    view! {
        <label class="ctl">
            <span class="hide-narrow">{label}</span>
            <select
                class="field"
                aria-label=label
                on:change=move |event| on_choose(event_target_value(&event))
            >
                {options}
            </select>
        </label>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::i18n::Locale;

    #[test]
    fn every_tab_has_a_title() {
        for locale in [Locale::En, Locale::Zh] {
            let titles = ProfileTab::ALL.map(|tab| tab.title(locale.texts()));
            assert!(titles.iter().all(|title| !title.is_empty()), "{titles:?}");
        }
    }
}
