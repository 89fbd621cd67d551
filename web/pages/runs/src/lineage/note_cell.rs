//! The last cell of a row: tags and note of its run, edited in place.

use leptos::html::Input;
use trainscope_api::notebook::MAX_NOTE_CHARS;
use trainscope_api::status::AccessRole;

use super::model::{EditedNote, use_model};
use trainscope_web_kit::components::{tags_of, use_may};
use trainscope_web_kit::prelude::*;

/// Tags and note of a run. A press edits them; Enter saves, Escape cancels.
#[component]
pub(super) fn NoteCell(run: Memo<String>) -> impl IntoView {
    let model = use_model();
    let i18n = model.i18n;
    let notes = Memo::new(move |_| run.with(|run| model.notebook.notes(run)));
    let edited = Memo::new(move |_| {
        model.edited_note.with(|edited| {
            edited
                .as_ref()
                .filter(|(noted, _)| run.with(|run| noted == run))
                .map(|(_, part)| *part)
        })
    });
    let may = use_may(AccessRole::Annotate);
    let edit = move |part| {
        if may.get_untracked() {
            model.edited_note.set(Some((run.get_untracked(), part)));
        }
    };
    let texts = move || {
        let tags = notes.with(|notes| notes.tags.clone());
        let has_tags = !tags.is_empty();
        let tags = tags
            .into_iter()
            .map(|tag| view! { <span class="tok" data-part="word">{tag}</span> })
            .collect_view();
        let tags = has_tags.then(|| {
            view! {
                <button
                    type="button"
                    class="note-link"
                    title=i18n.texts().runs().tags_label
                    on:click=move |_| edit(EditedNote::Tags)
                >
                    {tags}
                </button>
            }
        });
        let is_empty = notes.with(|notes| notes.note.is_empty());
        view! {
            {tags}
            <button
                type="button"
                class="note-link"
                title=move || notes.with(|notes| if notes.note.is_empty() { i18n.texts().runs().add_note.to_owned() } else { notes.note.clone() })
                on:click=move |_| edit(EditedNote::Note)
            >
                <span class="cut ink2">{move || notes.with(|notes| notes.note.clone())}</span>
                {(is_empty && may.get()).then(|| view! { <span class="add ink3">{i18n.text(|t| t.runs().add_note)}</span> })}
            </button>
        }
    };
    move || match edited.get() {
        Some(part) => view! { <NoteField run=run.get_untracked() part=part /> }.into_any(),
        None => texts().into_any(),
    }
}

/// Field for the tags or the note. It saves on Enter, on a change and when it loses the focus.
#[component]
fn NoteField(run: String, part: EditedNote) -> impl IntoView {
    let model = use_model();
    let i18n = model.i18n;
    let field = NodeRef::<Input>::new();
    let before = untrack(|| model.notebook.notes(&run));
    let text = match part {
        EditedNote::Note => before.note.clone(),
        EditedNote::Tags => before.tags.join(", "),
    };
    let run = StoredValue::new(run);
    let keep = move || {
        // The field loses the focus when it is removed, too. Then its state is gone, or another field is edited.
        let is_edited = run.try_with_value(|run| {
            let is_this = |edited: &(String, EditedNote)| edited.0 == *run && edited.1 == part;
            model
                .edited_note
                .with_untracked(|edited| edited.as_ref().is_some_and(is_this))
        });
        let field = field.try_get_untracked().flatten();
        let (Some(true), Some(field)) = (is_edited, field) else {
            return;
        };
        let text = field.value();
        let before = untrack(|| run.with_value(|run| model.notebook.notes(run)));
        let mut after = before.clone();
        match part {
            EditedNote::Note => text.trim().clone_into(&mut after.note),
            EditedNote::Tags => after.tags = tags_of(&text),
        }
        model.edited_note.set(None);
        if after != before {
            run.with_value(|run| model.notebook.set_notes(run, after));
        }
    };
    Effect::new(move || {
        if let Some(field) = field.get() {
            // A new field takes the focus.
            let _ignored = field.focus();
            field.select();
        }
    });
    let label = move || match part {
        EditedNote::Note => i18n.texts().runs().note_label,
        EditedNote::Tags => i18n.texts().runs().tags_label,
    };
    view! {
        <input
            class="field lt-note-field"
            data-part="note-field"
            type="text"
            node_ref=field
            aria-label=label
            placeholder=label
            maxlength=MAX_NOTE_CHARS.to_string()
            value=text
            on:change=move |_| keep()
            on:blur=move |_| keep()
            on:keydown=move |event| match event.key().as_str() {
                "Enter" => keep(),
                "Escape" => model.edited_note.set(None),
                _ => {}
            }
        />
    }
}
