//! The bar: run, status, search, age of the last update, language, theme.

use trainscope_api::runs::{Run, RunStatus};

use super::FrameState;
use super::search::Search;
use super::switcher::Switcher;
use trainscope_web_kit::components::{IconButton, IconName, RunChip, RunStatusLabel};
use trainscope_web_kit::format::{self, use_now_secs};
use trainscope_web_kit::i18n::{self, I18n, LANGUAGE, Locale, use_i18n};
use trainscope_web_kit::live::use_live;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::registry::Page;
use trainscope_web_kit::route::{Place, SitePage, use_place};
use trainscope_web_kit::run_name::split_name;
use trainscope_web_kit::sessions::use_sessions;
use trainscope_web_kit::state::use_app_state;
use trainscope_web_kit::theme::{THEME, Theme, use_theme};
use trainscope_web_kit::url_state::{History, use_url_state};

/// The bar over the content.
#[component]
pub(super) fn Bar() -> impl IntoView {
    let place = use_place();
    let state = use_app_state();
    let frame: FrameState = expect_context();
    let i18n = use_i18n();
    let run = Memo::new(move |_| {
        let run = place.with(|place| place.run().map(str::to_owned));
        run.filter(|run| state.may_exist(run))
    });
    view! {
        <header class="bar" class:searching=move || frame.searching.get()>
            {move || match run.get() {
                Some(run) => view! { <RunTitle run=run place=place /> }.into_any(),
                None => view! { <SiteTitle place=place /> }.into_any(),
            }}
            <span class="grow"></span>
            <Search />
            <IconButton
                icon=IconName::Search
                label=i18n.label(|t| t.frame().search)
                size=16
                class="show-small"
                on_press=move || {
                    frame.searching.set(true);
                    frame.focus_search.update(|count| *count += 1);
                }
            />
            <LiveAge run=run />
            <span class="flex gap4">
                <LanguageButton />
                <ThemeButton />
            </span>
        </header>
    }
}

/// Title of the browser's tab; a training that waits comes first.
fn set_title(title: &str, waits: bool, i18n: I18n) {
    let waiting = i18n.texts().frame().waiting;
    document().set_title(&if waits {
        format!("● {waiting} · {title}")
    } else {
        title.to_owned()
    });
}

#[component]
fn RunTitle(run: String, place: Memo<Place>) -> impl IntoView {
    let i18n = use_i18n();
    let state = use_app_state();
    let sessions = use_sessions();
    let (watched, named) = (run.clone(), run.clone());
    let waits = Memo::new(move |_| sessions.is_waiting(Some(&watched)));
    Effect::new(move || {
        let page = match place.with(Place::page) {
            Some(Page::Run(page)) => (page.entry().title)(i18n.texts()),
            _ => "",
        };
        set_title(&format!("{page} · {named} · trainscope"), waits.get(), i18n);
    });
    let (folder, name) = split_name(&run);
    let folder = if folder.is_empty() {
        String::new()
    } else {
        format!("{} / ", folder.replace('/', " / "))
    };
    let name = if run == "." {
        i18n.label(|t| t.frame().base_run)
    } else {
        Signal::stored(name.to_owned())
    };
    let (id, full) = (run.clone(), run.clone());
    // A growing run has a new step a few times a second, and no other status.
    let entry = Memo::new(move |_| state.run(&id).map(|run| (run.status, run.last_step)));
    let status = Memo::new(move |_| entry.get().map(|(status, _)| status));
    let status = move || {
        status.get().map(|status| {
            view! {
                <span class="sep hide-small"></span>
                <span class="small">
                    <RunStatusLabel status=Signal::stored(status) waits />
                </span>
            }
        })
    };
    let step = move || {
        entry.get().and_then(|(_, step)| step).map(|step| {
            view! {
                <span class="small ink2 hide-small step-count">
                    {i18n.texts().frame().step} " " <b class="med">{format::integer(step)}</b>
                </span>
            }
        })
    };
    view! {
        <span class="name" title=full>
            <RunChip run=run.clone() />
            <h1 class="cut">
                <span class="dir cut hide-small">{folder}</span>
                <span class="cut">{move || name.get()}</span>
            </h1>
            <Switcher run=run />
        </span>
        {status}
        {step}
    }
}

#[component]
fn SiteTitle(place: Memo<Place>) -> impl IntoView {
    let i18n = use_i18n();
    let state = use_app_state();
    let live = use_live();
    let title = move || match place.with(Place::page) {
        Some(Page::Site(page)) => (page.entry().title)(i18n.texts()),
        _ => "",
    };
    let sessions = use_sessions();
    let waits = Memo::new(move |_| sessions.is_waiting(None));
    Effect::new(move || set_title(&format!("{} · trainscope", title()), waits.get(), i18n));
    let reading = Memo::new(move |_| live.ingest.get().filter(|ingest| !ingest.idle));
    let summary = move || {
        let texts = i18n.texts().frame();
        if let Some(ingest) = reading.get() {
            let read = format::bytes(ingest.bytes);
            let total = format::bytes(ingest.total_bytes);
            return Some((texts.reading)(&read, &total, ingest.files));
        }
        let list = state.runs.get();
        if list.runs.is_empty() {
            return None;
        }
        let mut folders: Vec<_> = list.runs.iter().map(|run| split_name(&run.id).0).collect();
        folders.dedup();
        folders.sort_unstable();
        folders.dedup();
        let size = list.runs.iter().map(|run| run.len_bytes).sum();
        let runs = list.runs.len() as u64;
        let mut text = (texts.runs_summary)(runs, folders.len() as u64, &format::bytes(size));
        if list.cut {
            text.push_str(" · ");
            text.push_str(texts.runs_cut);
        }
        Some(text)
    };
    let dirs = move || state.status.get().map(|status| status.base_dirs.join(", "));
    view! {
        <h1 class="name">{title}</h1>
        <span class="small ink3 hide-small cut" title=dirs>
            {move || {
                let parts = [dirs(), summary()].into_iter().flatten().collect::<Vec<_>>();
                (place.get() == Place::Site(SitePage::Runs)).then(|| parts.join(" · "))
            }}
        </span>
    }
}

/// The connection, and the age of the last record: of the run of the page, or of all runs.
#[component]
fn LiveAge(run: Memo<Option<String>>) -> impl IntoView {
    let i18n = use_i18n();
    let live = use_live();
    let now = use_now_secs();
    let state = use_app_state();
    let is_any_live = Memo::new(move |_| {
        let is_live = |run: &Run| run.status == RunStatus::Live;
        state.runs.with(|list| list.runs.iter().any(is_live))
    });
    let last = Memo::new(move |_| match run.get() {
        Some(run) => state
            .run(&run)?
            .last_wall_time_secs
            .filter(|secs| secs.is_finite()),
        None => state.runs.with(|list| {
            let all = list.runs.iter().filter_map(|run| run.last_wall_time_secs);
            all.filter(|secs| secs.is_finite()).reduce(f64::max)
        }),
    });
    let text = move || {
        let texts = i18n.texts().frame();
        if live.is_lost() {
            return texts.offline.to_owned();
        }
        if live.paused.get() {
            return texts.paused.to_owned();
        }
        last.get().map_or_else(String::new, |last| {
            // Clocks of other machines may be ahead.
            let now = now.get();
            (texts.updated)(&i18n::age(last.min(now), now, i18n.locale()))
        })
    };
    let dot = move || {
        if live.is_lost() {
            "dot small-dot wait"
        } else if is_any_live.get() && !live.paused.get() {
            "dot small-dot live"
        } else {
            "dot small-dot"
        }
    };
    view! {
        <span class="ctl hide-narrow live-age">
            <i class=dot></i>
            <span>{text}</span>
            <IconButton
                icon=Signal::derive(move || {
                    if live.paused.get() { IconName::Play } else { IconName::Pause }
                })
                label=Signal::derive(move || {
                    let texts = i18n.texts().frame();
                    let label = if live.paused.get() { texts.resume } else { texts.pause };
                    format!("{label} (.)")
                })
                size=12
                on_press=move || live.pause(!live.paused.get_untracked())
            />
        </span>
    }
}

#[component]
fn LanguageButton() -> impl IntoView {
    let i18n = use_i18n();
    let is = move |locale| i18n.locale() == locale;
    let url = use_url_state();
    let flip = move |_| {
        // A link may have set a language; the choice is newer.
        url.set(&[LANGUAGE.clear()], History::Replace);
        i18n.choose(Some(match i18n.locale() {
            Locale::En => Locale::Zh,
            Locale::Zh => Locale::En,
        }));
    };
    // The visible letters are a part of the name, so that the button can be called by voice.
    let name = move || format!("EN/中 {}", i18n.texts().frame().other_language);
    view! {
        <button
            type="button"
            class="btn bare language"
            aria-label=name
            title=i18n.text(|t| t.frame().other_language)
            on:click=flip
        >
            <b class:on=move || is(Locale::En)>"EN"</b>
            <span class="ink3">"/"</span>
            <b class:on=move || is(Locale::Zh)>"中"</b>
        </button>
    }
}

#[component]
fn ThemeButton() -> impl IntoView {
    let i18n = use_i18n();
    let theme = use_theme();
    let url = use_url_state();
    view! {
        <IconButton
            icon=Signal::derive(move || match theme.get() {
                Theme::Light => IconName::Moon,
                Theme::Dark => IconName::Sun,
            })
            label=Signal::derive(move || {
                let texts = i18n.texts().frame();
                match theme.get() {
                    Theme::Light => texts.dark_theme.to_owned(),
                    Theme::Dark => texts.light_theme.to_owned(),
                }
            })
            size=16
            on_press=move || {
                url.set(&[THEME.clear()], History::Replace);
                theme.toggle();
            }
        />
    }
}
