//! Messages above the cards of a page: no such tags, no selection, no match, damaged files.

use trainscope_api::runs::{File, FileStatus, RunStatus};

use super::Browse;
use crate::components::{IconName, Note, NoteKind, StatePage};
use crate::format;
use crate::i18n::{ScalarsTexts, use_i18n};
use crate::parameters::{FULL, RUNS};
use crate::prelude::*;
use crate::state::use_app_state;

/// Reason for an empty page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nothing {
    /// The tags have not arrived yet.
    Loading,
    /// No run is displayed.
    NoRun,
    /// No displayed run has such a tag.
    NoTags,
    /// The filter hides every tag.
    NoMatch,
    /// No tag is checked.
    NoTick,
}

impl Nothing {
    /// `None` if there are cards.
    pub fn of(browse: Browse) -> Option<Self> {
        if !browse.cards.with(|cards| cards.is_empty()) {
            return None;
        }
        Some(if browse.shown.with(|shown| shown.is_empty()) {
            Self::NoRun
        } else if !browse.is_loaded.get() {
            Self::Loading
        } else if browse.entries.with(|entries| entries.is_empty()) {
            Self::NoTags
        } else if browse.passing.with(|passing| passing.is_empty()) {
            Self::NoMatch
        } else {
            Self::NoTick
        })
    }
}

/// State page in place of the cards.
#[component]
pub fn NothingView(
    browse: Browse,
    reason: Nothing,
    /// The icon of the page.
    icon: IconName,
    /// No displayed run has such a tag: title.
    #[prop(into)]
    none: Signal<String>,
    /// No displayed run has such a tag: next step.
    #[prop(into)]
    none_next: Signal<String>,
) -> impl IntoView {
    let i18n = use_i18n();
    let texts = move || i18n.texts().scalars();
    let text = move |text: fn(&ScalarsTexts) -> &'static str| {
        Signal::derive(move || text(texts()).to_owned())
    };
    match reason {
        Nothing::Loading => view! {
            <p class="loading small ink3" role="status">
                {move || texts().loading}
            </p>
        }
        .into_any(),
        Nothing::NoRun => view! {
            <div class="in-cards">
                <Note icon=IconName::Runs title=text(|t| t.none_shown) next=text(|t| t.none_shown_next)>
                    ""
                </Note>
            </div>
        }
        .into_any(),
        Nothing::NoTags => view! {
            <div class="in-cards">
                <StatePage icon=icon title=none next=none_next>
                    ""
                </StatePage>
            </div>
        }
        .into_any(),
        Nothing::NoMatch => {
            let title = Signal::derive(move || {
                (texts().nothing_matches)(browse.entries.with(|entries| entries.len() as u64))
            });
            view! {
                <div class="in-cards">
                    <Note icon=IconName::Filter title=title next=text(|t| t.nothing_matches_next)>
                        <button type="button" class="link" on:click=move |_| browse.set_filter("")>
                            {move || texts().clear_filter}
                        </button>
                    </Note>
                </div>
            }
            .into_any()
        }
        Nothing::NoTick => {
            let tick = move |_| browse.change_selection(|chosen| chosen.set_group("", true));
            view! {
                <div class="in-cards">
                    <Note
                        icon=IconName::Tick
                        title=text(|t| t.none_ticked)
                        next=text(|t| t.none_ticked_next)
                    >
                        <button type="button" class="link" on:click=tick>
                            {move || texts().tick_all}
                        </button>
                    </Note>
                </div>
            }
            .into_any()
        }
    }
}

/// Lines above the cards: missing targets of a link, and the first incomplete file of a displayed run.
#[component]
pub fn DamageNote(browse: Browse) -> impl IntoView {
    let i18n = use_i18n();
    let state = use_app_state();
    let (asked, full) = (browse.url.setting(RUNS), browse.url.param(FULL));
    let missing = Memo::new(move |_| {
        let mut names = asked.get();
        names.extend(browse.baseline.get());
        names.retain(|run| !state.may_exist(run));
        names.sort();
        names.dedup();
        // A truncated list cannot prove that a run is missing.
        if names.is_empty() || state.runs.with(|list| list.cut) {
            let is_missing = |tag: &String| {
                let is_known = browse.is_loaded.get() && !browse.entries.with(|all| all.is_empty());
                is_known && browse.entry(tag).is_none()
            };
            let tag = full.get().or_else(|| browse.target.get());
            return tag.filter(is_missing).map(|tag| (tag, false));
        }
        Some((names.join(", "), true))
    });
    let absent = move || {
        let texts = i18n.texts();
        missing.get().map_or_else(String::new, |(name, is_run)| {
            let sentence = if is_run {
                texts.states().no_run
            } else {
                texts.scalars().no_tag
            };
            sentence(&name)
        })
    };
    let absent_next = move || {
        let is_run = missing.with(|missing| missing.as_ref().is_some_and(|one| one.1));
        let next = if is_run {
            i18n.texts().states().no_run_next
        } else {
            ""
        };
        next.to_owned()
    };
    let bad = Memo::new(move |_| {
        let shown = browse.shown.get();
        let runs = shown.iter().filter_map(|run| state.run(run));
        let files = runs.flat_map(|run| {
            let may_grow = run.status == RunStatus::Live;
            let files = run.files.into_iter();
            files
                .filter(move |file| is_bad(file, may_grow))
                .collect::<Vec<_>>()
        });
        files.collect::<Vec<_>>()
    });
    let title = move || {
        let texts = i18n.texts().scalars();
        bad.with(|bad| {
            bad.first()
                .map(|file| sentence(file, texts))
                .unwrap_or_default()
        })
    };
    let next = move || {
        let texts = i18n.texts().scalars();
        let more = bad.with(Vec::len).saturating_sub(1) as u64;
        if more > 0 {
            format!("{}. {}", (texts.and_more)(more), texts.damaged_next)
        } else if bad.with(|bad| bad.iter().all(|file| file.status == FileStatus::Truncated)) {
            String::new()
        } else {
            texts.damaged_next.to_owned()
        }
    };
    view! {
        <Show when=move || missing.with(Option::is_some)>
            <div class="over-cards">
                <Note icon=IconName::Gone title=Signal::derive(absent) next=Signal::derive(absent_next)>
                    ""
                </Note>
            </div>
        </Show>
        <Show when=move || !bad.with(Vec::is_empty)>
            <div class="over-cards">
                <Note
                    kind=NoteKind::Warning
                    icon=IconName::File
                    title=Signal::derive(title)
                    next=Signal::derive(next)
                >
                    ""
                </Note>
            </div>
        </Show>
    }
}

/// A truncated end is harmless while the writer may still complete it.
fn is_bad(file: &File, may_grow: bool) -> bool {
    match file.status {
        FileStatus::Damaged | FileStatus::Unreadable => true,
        FileStatus::Truncated => !may_grow,
        FileStatus::Live | FileStatus::Complete | FileStatus::Gone => false,
    }
}

fn sentence(file: &File, texts: &ScalarsTexts) -> String {
    let byte = format::count(file.offset.unwrap_or_default());
    match file.status {
        FileStatus::Damaged => (texts.damaged)(&file.path, &byte),
        FileStatus::Truncated => (texts.torn)(&file.path, &byte),
        _ => (texts.unreadable)(&file.path),
    }
}
