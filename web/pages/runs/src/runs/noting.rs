//! Notes about a run: the cell in its row.

use trainscope_api::notebook::RunNotes;

use super::model::use_model;
use trainscope_web_kit::components::{IconName, fixed_icon};
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::parameters::RunsPanel;
use trainscope_web_kit::prelude::*;

/// Tags and note of a run, with a link to the panel that edits them.
#[component]
pub(super) fn NoteCell(run: Signal<String>) -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let notes = Memo::new(move |_| run.with(|run| model.notebook.notes(run)));
    let words = move || {
        let tags = notes.with(|notes| notes.tags.clone());
        tags.into_iter()
            .map(|tag| view! { <span class="tok" data-part="word">{tag}</span> })
            .collect_view()
    };
    let title = move || {
        notes.with(|notes| match &*notes.note {
            "" => i18n.texts().runs().add_note.to_owned(),
            note => note.to_owned(),
        })
    };
    view! {
        <td role="cell" class="c-note" data-column="note">
            <a
                class="note-link"
                href=move || {
                    let _ = model.panel.get();
                    run.with(|run| model.panel_href(RunsPanel::Files(run.clone())))
                }
                title=title
            >
                {words}
                <span class="cut ink2">{move || notes.with(|notes| notes.note.clone())}</span>
                <span
                    class="add ink3"
                    role="img"
                    aria-label=i18n.text(|t| t.runs().add_note)
                    hidden=move || notes.with(|notes| *notes != empty(notes))
                >
                    {fixed_icon(IconName::Plus, 12)}
                </span>
            </a>
        </td>
    }
}

/// The same notes without note and tags.
fn empty(notes: &RunNotes) -> RunNotes {
    RunNotes {
        note: String::new(),
        tags: Vec::new(),
        ..notes.clone()
    }
}
