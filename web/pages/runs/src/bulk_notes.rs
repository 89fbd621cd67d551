//! Tags and a note for several runs at once.

use std::collections::BTreeMap;

use trainscope_api::notebook::{MAX_NOTE_CHARS, RunNotes};

use trainscope_web_kit::components::{IconName, Popover, TextField, fixed_icon, tags_of};
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::notebook::use_notebook;
use trainscope_web_kit::prelude::*;

/// Button that opens a form for tags and a note. The tags are added to those of each run; the note replaces theirs.
/// All runs change at once.
#[component]
pub(crate) fn BulkNotes(#[prop(into)] runs: Signal<Vec<String>>) -> impl IntoView {
    let notebook = use_notebook();
    let i18n = use_i18n();
    let is_open = RwSignal::new(false);
    let (words, note) = (RwSignal::new(String::new()), RwSignal::new(String::new()));
    let save = move || {
        let (added, text) = (tags_of(&words.get_untracked()), note.get_untracked());
        let change = runs.get_untracked().into_iter().map(|run| {
            let notes = untrack(|| notebook.notes(&run));
            let notes = noted(notes, &added, text.trim());
            (run, notes)
        });
        notebook.set_many(change.collect::<BTreeMap<_, _>>());
        words.set(String::new());
        note.set(String::new());
        is_open.set(false);
    };
    let content = move || {
        view! {
            <form
                class="flex column"
                data-part="bulk"
                on:submit=move |event| {
                    event.prevent_default();
                    save();
                }
            >
                <TextField label=i18n.label(|t| t.runs().add_tags) name="tags" value=words />
                <TextField
                    label=i18n.label(|t| t.runs().note_for_all)
                    name="note"
                    value=note
                    maxlength=MAX_NOTE_CHARS
                />
                <button type="submit" class="btn primary">
                    {i18n.text(|t| t.runs().save_notes)}
                </button>
            </form>
        }
    };
    view! {
        <Popover
            is_open=is_open
            label=i18n.label(|t| t.runs().note_selected)
            class="btn bare"
            panel_class="popover up"
            face=ViewFn::from(move || view! { {fixed_icon(IconName::Tag, 14)} {i18n.text(|t| t.runs().note_label)} })
        >
            {content}
        </Popover>
    }
}

/// Adds missing tags, and replaces the note unless `note` is empty.
fn noted(mut notes: RunNotes, added: &[String], note: &str) -> RunNotes {
    for tag in added {
        if !notes.tags.contains(tag) {
            notes.tags.push(tag.clone());
        }
    }
    if !note.is_empty() {
        note.clone_into(&mut notes.note);
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_added_once_and_an_empty_note_changes_nothing() {
        let before = RunNotes {
            note: "first".to_owned(),
            tags: vec!["best".to_owned()],
            ..RunNotes::default()
        };
        let added = ["best".to_owned(), "paper".to_owned()];
        let after = noted(before.clone(), &added, "");
        assert_eq!((&*after.note, &*after.tags), ("first", &added[..]));
        assert_eq!(noted(before, &[], "second").note, "second");
    }
}
