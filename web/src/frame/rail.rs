//! The navigation rail: pages for all runs and for this one.

use trainscope_api::sessions::SessionState;
use web_sys::{ScrollIntoViewOptions, ScrollLogicalPosition};

use trainscope_web_kit::components::{Icon, IconName, RunChip};
use trainscope_web_kit::format;
use trainscope_web_kit::frame_state::{FramePanel, FrameState};
use trainscope_web_kit::frames::after_paint;
use trainscope_web_kit::i18n::{I18n, use_i18n};
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::registry::{Count, PAGES, Page, PageEntry, SITE_PAGES, SiteEntry};
use trainscope_web_kit::route::{self, Place, RunPage, use_place};
use trainscope_web_kit::sessions::use_sessions;
use trainscope_web_kit::state::{AppState, use_app_state};

/// Maximum number of sessions in the list.
const MAX_SESSIONS: usize = 8;

/// The rail at the left edge.
#[component]
pub(super) fn Rail() -> impl IntoView {
    let i18n = use_i18n();
    let state = use_app_state();
    let place = use_place();
    let frame: FrameState = expect_context();
    let run = Memo::new(move |_| {
        let run = place.with(|place| place.run().map(str::to_owned));
        run.filter(|run| state.may_exist(run))
    });
    let runs = Memo::new(move |_| state.runs.with(|list| list.runs.len()));
    // On small screens the rail is a row that is wider than the window.
    Effect::new(move || {
        place.track();
        after_paint(|| {
            let current = document().query_selector(".rail [aria-current]");
            if let Ok(Some(current)) = current {
                let nearest = ScrollIntoViewOptions::new();
                nearest.set_block(ScrollLogicalPosition::Nearest);
                nearest.set_inline(ScrollLogicalPosition::Nearest);
                current.scroll_into_view_with_scroll_into_view_options(&nearest);
            }
        });
    });
    let site_nav = |entry: &'static SiteEntry| {
        let number = move || Some(runs.get() as u64).filter(|runs| entry.has_count && *runs > 0);
        let is_current = move || place.with(|place| place.page() == Some(Page::Site(entry.page)));
        view! {
            <a
                class="nav"
                href=route::site_href(entry.page)
                title=i18n.text(entry.title)
                aria-current=move || is_current().then_some("page")
                hidden=move || runs.get() < entry.least_runs && !is_current()
            >
                <Icon name=entry.icon />
                <span>{i18n.text(entry.title)}</span>
                <span class="count">{move || number().map(format::count)}</span>
            </a>
        }
    };
    let panel_button = |panel, icon, title: Signal<String>, key: &'static str| {
        let is_open = move || frame.panel.get() == Some(panel);
        view! {
            <button
                type="button"
                class="nav"
                title=move || title.get()
                aria-pressed=move || is_open().to_string()
                on:click=move |_| frame.toggle(panel)
            >
                <Icon name=icon />
                <span>{move || title.get()}</span>
                <span class="count">{(!key.is_empty()).then(|| view! { <kbd>{key}</kbd> })}</span>
            </button>
        }
    };
    view! {
        <nav class="rail" aria-label=i18n.text(|t| t.frame().main_navigation)>
            <a class="brand" href=route::runs_href()>
                <Icon name=IconName::Brand size=18 />
                <span>"trainscope"</span>
            </a>
            <div class="group">{SITE_PAGES.iter().map(site_nav).collect_view()}</div>
            {move || run.get().map(|run| run_group(&run, state, place, i18n))}
            <div class="foot">
                <LiveSessions />
                {panel_button(FramePanel::Settings, IconName::Sliders, i18n.label(|t| t.frame().settings), "")}
                {panel_button(FramePanel::Help, IconName::Help, i18n.label(|t| t.frame().help), "?")}
            </div>
        </nav>
    }
}

/// Connected trainings, waiting ones first.
#[component]
fn LiveSessions() -> impl IntoView {
    let i18n = use_i18n();
    let state = use_app_state();
    let sessions = use_sessions();
    // Without their steps, so that links stay while trainings run.
    let open = Memo::new(move |_| {
        let open = sessions.open().into_iter();
        let mut open: Vec<_> = open
            .map(|session| (session.state, session.run, session.name))
            .collect();
        open.sort_by_key(|(state, ..)| *state != SessionState::Waiting);
        open
    });
    let waiting = move || {
        let count = open.with(|open| {
            let waiting = open
                .iter()
                .filter(|(state, ..)| *state == SessionState::Waiting);
            waiting.count() as u64
        });
        (count > 0).then(|| (i18n.texts().frame().number_waiting)(count))
    };
    let rows = move || {
        let texts = i18n.texts().session();
        let all = open.get();
        let more = all.len().saturating_sub(MAX_SESSIONS) as u64;
        let rows = all
            .into_iter()
            .take(MAX_SESSIONS)
            .map(|(own_state, run, name)| {
                let word = texts.states[own_state as usize];
                let (dot, key) = match own_state {
                    SessionState::Waiting => ("dot wait", "waiting"),
                    SessionState::Lost => ("dot", "lost"),
                    _ => ("dot live", "live"),
                };
                let short = match &run {
                    Some(run) => state.short_name(run),
                    None => name.clone(),
                };
                let href = run.map(|run| route::run_href(&run, RunPage::Debugger));
                view! {
                    <a class="nav session-link" href=href title=name data-state=key>
                        <i class=dot aria-hidden="true"></i>
                        <span class="cut">{short}</span>
                        <span class="count">{word}</span>
                    </a>
                }
            });
        view! {
            {rows.collect_view()}
            {(more > 0).then(|| view! { <span class="micro ink3 cap">{format!("+{}", format::count(more))}</span> })}
        }
    };
    view! {
        <Show when=move || open.with(|open| !open.is_empty())>
            <div class="live-sessions" role="group" aria-label=i18n.text(|t| t.frame().live_sessions) data-part="sessions">
                <div class="cap">
                    <span class="cut">{i18n.text(|t| t.frame().live_sessions)}</span>
                    <span class="count" role="status">{waiting}</span>
                </div>
                {rows}
            </div>
        </Show>
    }
}

/// The pages of a run under its name; those without records are hidden.
fn run_group(run: &str, state: AppState, place: Memo<Place>, i18n: I18n) -> impl IntoView + use<> {
    let id = run.to_owned();
    let info = Memo::new(move |_| state.run(&id));
    let has_errors = Memo::new(move |_| {
        let health = info.with(|info| info.as_ref()?.health.clone());
        health.is_some_and(|health| health.counts.error > 0)
    });
    let nav = |entry: &'static PageEntry| {
        let count = Memo::new(move |_| info.with(|info| state.page_count(info.as_ref()?, entry)));
        let has_number = !matches!(entry.count, Count::Always | Count::Hidden);
        let number = move || count.get().filter(|count| has_number && *count > 0);
        view! {
            <a
                class="nav"
                href=route::run_href(run, entry.page)
                title=i18n.text(entry.title)
                aria-current=move || {
                    let is_current = |page| matches!(page, Page::Run(page) if entry.is_current(page));
                    place.with(|place| place.page().is_some_and(is_current)).then_some("page")
                }
                hidden=move || entry.count != Count::Always && count.with(Option::is_none)
            >
                <Icon name=entry.icon />
                <span>{i18n.text(entry.title)}</span>
                <span class="count" class:bad=move || entry.count == Count::Hits && has_errors.get()>
                    {move || number().map(format::count)}
                </span>
            </a>
        }
    };
    view! {
        <div class="group">
            <div class="cap" title=run.to_owned()>
                <RunChip run=run.to_owned() />
                <span class="cut">{state.short_name(run)}</span>
            </div>
            {PAGES.iter().filter(|entry| entry.parent.is_none()).map(nav).collect_view()}
        </div>
    }
}
