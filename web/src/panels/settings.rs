//! The settings panel: theme, language and live update of this browser, and facts of the server.

use trainscope_web_kit::components::{RightPanel, SegOption, Segmented};
use trainscope_web_kit::format;
use trainscope_web_kit::frame_state::FrameState;
use trainscope_web_kit::i18n::{LANGUAGE, Locale, use_i18n};
use trainscope_web_kit::live::use_live;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::state::use_app_state;
use trainscope_web_kit::theme::{THEME, Theme, use_theme};
use trainscope_web_kit::url_state::{History, use_url_state};

/// The panel of the button *Settings*.
#[component]
pub(super) fn SettingsPanel() -> impl IntoView {
    let i18n = use_i18n();
    let frame: FrameState = expect_context();
    view! {
        <RightPanel
            title=i18n.label(|t| t.frame().settings)
            on_close=move || frame.panel.set(None)
        >
            <section class="settings-group">
                <h3>{i18n.text(|t| t.settings().in_this_browser)}</h3>
                <ThemeChoice />
                <LanguageChoice />
                <LiveChoice />
            </section>
            <ServerFacts />
        </RightPanel>
    }
}

/// A setting under its name.
#[component]
fn Setting(label: Signal<String>, children: Children) -> impl IntoView {
    view! {
        <div class="setting">
            <span class="small ink2" aria-hidden="true">
                {move || label.get()}
            </span>
            {children()}
        </div>
    }
}

#[component]
fn ThemeChoice() -> impl IntoView {
    let i18n = use_i18n();
    let theme = use_theme();
    let url = use_url_state();
    let label = i18n.label(|t| t.settings().theme);
    let options = [None, Some(Theme::Light), Some(Theme::Dark)];
    let options = options.into_iter().enumerate();
    let options = options.map(move |(at, value)| SegOption {
        value,
        label: Signal::derive(move || i18n.texts().settings().themes[at].to_owned()),
    });
    view! {
        <Setting label>
            <Segmented
                label
                options=options.collect()
                value=Signal::derive(move || theme.chosen())
                on_choose=move |chosen| {
                    // A link may have set a theme; the choice is newer.
                    url.set(&[THEME.clear()], History::Replace);
                    theme.choose(chosen);
                }
            />
        </Setting>
    }
}

#[component]
fn LanguageChoice() -> impl IntoView {
    let i18n = use_i18n();
    let url = use_url_state();
    let label = i18n.label(|t| t.settings().language);
    let option = |value, label| SegOption { value, label };
    let options = vec![
        option(None, i18n.label(|t| t.settings().of_browser)),
        option(Some(Locale::En), Signal::stored("English".to_owned())),
        option(Some(Locale::Zh), Signal::stored("中文".to_owned())),
    ];
    view! {
        <Setting label>
            <Segmented
                label
                options
                value=Signal::derive(move || i18n.chosen())
                on_choose=move |chosen| {
                    url.set(&[LANGUAGE.clear()], History::Replace);
                    i18n.choose(chosen);
                }
            />
        </Setting>
    }
}

#[component]
fn LiveChoice() -> impl IntoView {
    let i18n = use_i18n();
    let live = use_live();
    let label = i18n.label(|t| t.settings().live_update);
    let options = [false, true].into_iter().enumerate();
    let options = options.map(move |(at, value)| SegOption {
        value,
        label: Signal::derive(move || i18n.texts().settings().live_updates[at].to_owned()),
    });
    view! {
        <Setting label>
            <Segmented
                label
                options=options.collect()
                value=live.paused
                on_choose=move |paused| live.pause(paused)
            />
        </Setting>
    }
}

/// Version, folders and files of the server.
#[component]
fn ServerFacts() -> impl IntoView {
    let i18n = use_i18n();
    let state = use_app_state();
    let live = use_live();
    let facts = move || {
        let status = state.status.get()?;
        let texts = i18n.texts().settings();
        let ingest = live.ingest.get().unwrap_or(status.ingest);
        let runs = state.runs.with(|list| list.runs.len()) as u64;
        let read = (texts.files_read)(ingest.files, &format::bytes(ingest.bytes));
        let folders = status.base_dirs.iter();
        let folders =
            folders.map(|folder| view! { <span class="mono folder">{folder.clone()}</span> });
        Some(view! {
            <dl class="kv">
                <dt>{texts.version}</dt>
                <dd>{status.version.clone()}</dd>
                <dt>{texts.folders}</dt>
                <dd>{folders.collect_view()}</dd>
                <dt>{texts.runs}</dt>
                <dd>{format::count(runs)}</dd>
                <dt>{texts.files}</dt>
                <dd>{read}</dd>
            </dl>
        })
    };
    view! {
        <section class="settings-group" data-part="server">
            <h3>{i18n.text(|t| t.settings().server)}</h3>
            {facts}
        </section>
    }
}
