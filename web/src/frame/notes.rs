//! Notes at the foot of the page: no connection, paused. They take room from the content instead of covering it.

use trainscope_web_kit::components::{IconName, Note, NoteKind};
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::live::{Connection, use_live};
use trainscope_web_kit::notebook::{Refusal, use_notebook};
use trainscope_web_kit::prelude::*;

/// The notes of the connection.
#[component]
pub(super) fn Notes() -> impl IntoView {
    let i18n = use_i18n();
    let live = use_live();
    let lost = Memo::new(move |_| match live.connection.get() {
        Connection::Lost {
            since_millis,
            retry_in_secs,
        } => Some((since_millis, retry_in_secs)),
        Connection::Opening | Connection::Open => None,
    });
    let lost_title = Signal::derive(move || {
        let since = lost.get().map_or(0.0, |(since, _)| since);
        (i18n.texts().states().no_connection)(&format::clock(since / 1_000.0))
    });
    let lost_next = Signal::derive(move || match lost.get() {
        Some((_, secs)) if secs > 0 => (i18n.texts().states().trying_in)(secs),
        _ => i18n.texts().states().trying.to_owned(),
    });
    let paused_title = i18n.label(|t| t.states().paused);
    let paused_next = Signal::derive(move || (i18n.texts().states().waiting)(live.waiting.get()));
    let notebook = use_notebook();
    let refused_title = Signal::derive(move || {
        let texts = i18n.texts().states();
        match notebook.refusal.get() {
            Some(Refusal::Conflict) => texts.note_conflict[0].to_owned(),
            _ => texts.note_refused.to_owned(),
        }
    });
    let refused_next = Signal::derive(move || {
        let texts = i18n.texts().states();
        match notebook.refusal.get() {
            Some(Refusal::Conflict) => texts.note_conflict[1].to_owned(),
            Some(Refusal::Refused(reason)) => reason,
            _ => texts.note_unreachable.to_owned(),
        }
    });
    view! {
        <Show when=move || notebook.refusal.with(Option::is_some)>
            <div class="notes-foot">
                <Note
                    kind=NoteKind::Warning
                    icon=IconName::Warning
                    title=refused_title
                    next=refused_next
                >
                    <button
                        type="button"
                        class="link"
                        on:click=move |_| notebook.refusal.set(None)
                    >
                        {i18n.text(|t| t.frame().close)}
                    </button>
                </Note>
            </div>
        </Show>
        <Show when=move || lost.with(Option::is_some)>
            <div class="notes-foot">
                <Note
                    kind=NoteKind::Warning
                    icon=IconName::Warning
                    title=lost_title
                    next=lost_next
                >
                    <button type="button" class="link" on:click=move |_| live.retry_now()>
                        {i18n.text(|t| t.states().try_now)}
                    </button>
                </Note>
            </div>
        </Show>
        <Show when=move || live.paused.get() && lost.with(Option::is_none)>
            <div class="notes-foot">
                <Note icon=IconName::Pause title=paused_title next=paused_next>
                    <button
                        type="button"
                        class="link"
                        hidden=move || live.waiting.get() == 0
                        on:click=move |_| live.show_waiting()
                    >
                        {i18n.text(|t| t.states().show_them)}
                    </button>
                    <button type="button" class="link" on:click=move |_| live.pause(false)>
                        {i18n.text(|t| t.frame().resume)}
                    </button>
                </Note>
            </div>
        </Show>
    }
}
