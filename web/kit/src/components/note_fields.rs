//! Fields for notes about a run: tags, colour, note.

use trainscope_api::notebook::{MAX_COLOUR, MAX_NOTE_CHARS, RunNotes};
use trainscope_api::status::AccessRole;

use super::needs::use_may;
use crate::i18n::use_i18n;
use crate::notebook::use_notebook;
use crate::prelude::*;
use crate::run_colour::{RunColour, use_run_colours};

/// The fields of a run's panel. Input is stored when its field is left.
#[component]
pub fn NoteFields(run: StoredValue<String>) -> impl IntoView {
    let notebook = use_notebook();
    let i18n = use_i18n();
    let notes = Memo::new(move |_| run.with_value(|run| notebook.notes(run)));
    let keep = move |change: &dyn Fn(&mut RunNotes)| {
        let before = notes.get_untracked();
        let mut after = before.clone();
        change(&mut after);
        if after != before {
            run.with_value(|run| notebook.set_notes(run, after));
        }
    };
    let all_colours = use_run_colours();
    let is_chosen = move || notes.with(|notes| notes.colour.is_some());
    let colours = (1..=MAX_COLOUR)
        .map(|number| {
            let colour = RunColour::of(number);
            let is_own = move || run.with_value(|run| all_colours.get(run)) == colour;
            // A second press leaves the choice to the page again.
            let press = move |_| {
                let wanted = (!(is_own() && is_chosen())).then_some(number);
                keep(&|notes| notes.colour = wanted);
            };
            view! {
                <button
                    type="button"
                    class="colour"
                    aria-pressed=move || is_own().to_string()
                    aria-label=move || format!("{} {number}", i18n.texts().runs().colour_label)
                    on:click=press
                >
                    <i class=colour.chip_class()></i>
                </button>
            }
        })
        .collect_view();
    let may = use_may(AccessRole::Annotate);
    view! {
        <fieldset class="plain-fields" prop:disabled=move || !may.get()>
        <label class="field-label">
            <span class="small ink2">{i18n.text(|t| t.runs().tags_label)}</span>
            <input
                class="field"
                type="text"
                name="tags"
                prop:value=move || notes.with(|notes| notes.tags.join(", "))
                on:change=move |event| keep(&|notes| notes.tags = tags_of(&event_target_value(&event)))
            />
        </label>
        <fieldset class="colours">
            <legend class="small ink2">{i18n.text(|t| t.runs().colour_label)}</legend>
            {colours}
        </fieldset>
        <label class="field-label">
            <span class="small ink2">{i18n.text(|t| t.runs().note_label)}</span>
            <textarea
                class="field area"
                name="note"
                rows="3"
                maxlength=MAX_NOTE_CHARS.to_string()
                prop:value=move || notes.with(|notes| notes.note.clone())
                on:change=move |event| {
                    keep(&|notes| event_target_value(&event).trim().clone_into(&mut notes.note));
                }
            ></textarea>
        </label>
        </fieldset>
    }
}

/// Words between commas, each once, in their order.
pub fn tags_of(text: &str) -> Vec<String> {
    let mut tags: Vec<String> = Vec::new();
    for word in text.split(',').map(str::trim) {
        if !word.is_empty() && tags.iter().all(|tag| tag != word) {
            tags.push(word.to_owned());
        }
    }
    tags
}

#[cfg(test)]
mod tests {
    use super::tags_of;

    #[test]
    fn words_between_commas() {
        assert_eq!(tags_of(" best, baseline ,,best"), ["best", "baseline"]);
        assert_eq!(tags_of(" "), [""; 0]);
    }
}
