//! Content below the toolbar: the table, or the reason for its absence.

use super::model::use_model;
use super::record::EmptyPage;
use super::table::RunsTable;
use trainscope_web_kit::client::ClientError;
use trainscope_web_kit::components::{IconName, Note, StatePage};
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::live::use_live;
use trainscope_web_kit::notebook::use_notebook;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::query::Load;
use trainscope_web_kit::state::use_app_state;

/// Maximum number of notes shown at once.
const NOTES: usize = 3;

#[derive(Clone, PartialEq)]
enum PageState {
    /// Nothing has arrived yet. An empty card avoids flicker before a fast answer.
    First,
    /// The server reads a cold start and has no run yet.
    Reading,
    Empty,
    NothingMatches,
    Table,
    Failed(ClientError),
}

#[component]
pub(super) fn Content() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let live = use_live();
    let shown = Memo::new(move |_| {
        let no_runs = model.state.runs.with(|list| list.runs.is_empty());
        match model.state.load.get() {
            Load::Loading => PageState::First,
            Load::Failed(error) => PageState::Failed(error),
            Load::Ready(()) if no_runs => {
                if live.ingest.get().is_none_or(|ingest| ingest.idle) {
                    PageState::Empty
                } else {
                    PageState::Reading
                }
            }
            Load::Ready(()) if model.items.with(|items| items.is_empty()) => {
                PageState::NothingMatches
            }
            Load::Ready(()) => PageState::Table,
        }
    });
    let reading = move || {
        let ingest = live.ingest.get().unwrap_or_default();
        let read = format::bytes(ingest.bytes);
        let total = format::bytes(ingest.total_bytes);
        (i18n.texts().frame().reading)(&read, &total, ingest.files)
    };
    let share = move || {
        let ingest = live.ingest.get().unwrap_or_default();
        let share = ingest.bytes as f64 / (ingest.total_bytes as f64).max(1.0);
        format!("{:.1}%", share.clamp(0.0, 1.0) * 100.0)
    };
    move || match shown.get() {
        PageState::Table => view! { <RunsTable /> }.into_any(),
        PageState::First => view! { <section class="card runs-card"></section> }.into_any(),
        PageState::Empty => view! { <EmptyPage /> }.into_any(),
        PageState::Reading => view! {
            <StatePage
                icon=IconName::Clock
                title=i18n.label(|t| t.states().loading)
                next=i18n.label(|t| t.states().loading_next)
            >
                <div class="track">
                    <i class="read" style:width=share></i>
                </div>
                <p class="small">{reading}</p>
            </StatePage>
        }
        .into_any(),
        PageState::NothingMatches => view! {
            <Note
                icon=IconName::Filter
                title=i18n.label(|t| t.runs().nothing_matches)
                next=Signal::derive(move || {
                    let unknown = model.unknown_key();
                    unknown.map_or_else(String::new, |(key, keys)| {
                        (i18n.texts().runs().no_key)(&key, &keys.join(", "))
                    })
                })
            >
                <button type="button" class="link" on:click=move |_| model.clear_filters()>
                    {i18n.text(|t| t.runs().clear_filter)}
                </button>
            </Note>
        }
        .into_any(),
        PageState::Failed(error) => view! { <FailedPage error=error /> }.into_any(),
    }
}

/// Reason for the missing list of runs, with a button to try again.
#[component]
fn FailedPage(error: ClientError) -> impl IntoView {
    let i18n = use_i18n();
    let live = use_live();
    let unreachable = error == ClientError::Unreachable;
    let title = Signal::derive(move || {
        let states = i18n.texts().states();
        if unreachable {
            states.unreachable.to_owned()
        } else {
            states.refused.to_owned()
        }
    });
    let next = Signal::derive(move || {
        let states = i18n.texts().states();
        match &error {
            ClientError::Unreachable => states.unreachable_next.to_owned(),
            ClientError::Refused(reason) => reason.message.clone(),
            ClientError::Misunderstood => states.misunderstood_next.to_owned(),
        }
    });
    view! {
        <StatePage icon=IconName::Warning title=title next=next>
            <div class="acts">
                <button
                    type="button"
                    class="btn primary"
                    on:click=move |_| {
                        live.retry_now();
                        live.list_version.update(|version| *version += 1);
                    }
                >
                    {i18n.text(|t| t.states().try_now)}
                </button>
            </div>
        </StatePage>
    }
}

/// Notes of the server about itself: an unreadable folder, a rebuilt index.
#[component]
pub(super) fn ServerNotes() -> impl IntoView {
    let state = use_app_state();
    let notes = Memo::new(move |_| {
        state.status.with(|status| {
            status
                .as_ref()
                .map(|status| status.notes.clone())
                .unwrap_or_default()
        })
    });
    move || {
        let notes = notes.get().into_iter().take(NOTES);
        notes
            .map(|note| {
                view! {
                    <Note icon=IconName::Info title=note next="" />
                }
            })
            .collect_view()
    }
}

/// Notes of runs that do not exist, with the offer to move them to a run with a similar name.
#[component]
pub(super) fn StrayNotes() -> impl IntoView {
    let notebook = use_notebook();
    let i18n = use_i18n();
    let strays = Memo::new(move |_| notebook.with(|book| book.without_run.clone()));
    move || {
        let strays = strays.get().into_iter().take(NOTES);
        strays
            .map(|stray| {
                let texts = i18n.texts();
                let (from, gone) = (stray.run.clone(), stray.run.clone());
                let offer = stray.similar.map(|to| {
                    let label = (texts.runs().move_notes)(&to);
                    view! {
                        <button
                            type="button"
                            class="link"
                            on:click=move |_| notebook.move_notes(&from, Some(&to))
                        >
                            {label}
                        </button>
                    }
                });
                view! {
                    <Note
                        icon=IconName::Tag
                        title=(texts.runs().stray_notes)(&stray.run)
                        next=texts.runs().stray_next
                    >
                        {offer}
                        <button
                            type="button"
                            class="link"
                            on:click=move |_| notebook.move_notes(&gone, None)
                        >
                            {texts.runs().delete_notes}
                        </button>
                    </Note>
                }
            })
            .collect_view()
    }
}
