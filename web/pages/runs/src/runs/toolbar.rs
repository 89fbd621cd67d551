//! The toolbar of the list: filter, state buttons, grouping, hidden runs, instructions for recording.

use std::sync::Arc;

use leptos::html::Input;

use super::filter;
use super::model::use_model;
use super::run_state::Only;
use super::suggestions::{Suggestions, next_row};
use trainscope_web_kit::components::{Icon, IconName, ToolButton};
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::parameters::RunsPanel;
use trainscope_web_kit::prelude::*;

#[component]
pub(super) fn Toolbar() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let hidden = Memo::new(move |_| {
        model.hidden.with(|hidden| {
            let list = model.state.runs.get();
            let count = list
                .runs
                .iter()
                .filter(|run| hidden.contains(&run.id))
                .count();
            count as u64
        })
    });
    let columns_open = Signal::derive(move || model.panel.get() == Some(RunsPanel::Columns));
    let record_open = Signal::derive(move || model.panel.get() == Some(RunsPanel::Record));
    view! {
        <div class="toolbar">
            <FilterField />
            <StateButtons />
            <Show when=move || { hidden.get() > 0 }>
                <button
                    type="button"
                    class="tok"
                    aria-pressed=move || model.shows_hidden.get().to_string()
                    on:click=move |_| model.toggle_hidden()
                >
                    {move || (i18n.texts().runs().hidden)(hidden.get())}
                    <span class="link">
                        {move || {
                            let texts = i18n.texts().runs();
                            if model.shows_hidden.get() { texts.hide } else { texts.show }
                        }}
                    </span>
                </button>
            </Show>
            <span class="grow"></span>
            <ToolButton
                icon=IconName::Folder
                class="bare hide-narrow"
                pressed=model.grouped
                label=i18n.label(|t| t.runs().grouped)
                on_press=move || model.toggle_grouped()
            />
            <ToolButton
                icon=IconName::Columns
                class="bare hide-narrow"
                pressed=columns_open
                label=i18n.label(|t| t.runs().columns)
                on_press=move || {
                    let panel = RunsPanel::Columns;
                    model.open_panel((!columns_open.get_untracked()).then_some(panel.clone()));
                }
            />
            <ToolButton
                icon=IconName::Plus
                class="how-to"
                pressed=record_open
                label=i18n.label(|t| t.runs().how_to_record)
                on_press=move || {
                    let panel = RunsPanel::Record;
                    model.open_panel((!record_open.get_untracked()).then_some(panel.clone()));
                }
            />
        </div>
    }
}

/// The filter: whole `key:value` terms become chips once a space follows them.
#[component]
fn FilterField() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let input = NodeRef::<Input>::new();
    let chips = RwSignal::new(Vec::<String>::new());
    let draft = RwSignal::new(String::new());
    let joined = move || {
        let mut words = chips.get_untracked();
        words.push(draft.get_untracked().trim().to_owned());
        words.join(" ").trim().to_owned()
    };
    // The address may change without this field: back button, a link, "clear the filter".
    Effect::new(move || {
        let text = model.filter.get();
        if text != joined() {
            let (terms, rest) = filter::chips(&text);
            chips.set(terms);
            draft.set(rest);
        }
    });
    let accept = move || {
        let (terms, rest) = filter::chips(&draft.get_untracked());
        if !terms.is_empty() {
            chips.update(|chips| chips.extend(terms));
            draft.set(rest);
        }
    };
    let remove = move |position: usize| {
        chips.update(|chips| {
            chips.remove(position);
        });
        model.set_filter(&joined());
    };
    let is_open = RwSignal::new(false);
    let chosen = RwSignal::new(None::<usize>);
    let suggested = Memo::new(move |_| {
        let words = if is_open.get() {
            draft.with(|draft| model.suggestions(draft))
        } else {
            Vec::new()
        };
        Arc::new(words)
    });
    let take = UnsyncCallback::new(move |word: String| {
        let before = draft.with_untracked(|draft| {
            let at = draft.rfind(char::is_whitespace).map_or(0, |at| at + 1);
            draft[..at].to_owned()
        });
        draft.set(before + &word);
        chosen.set(None);
        // A key waits for its value.
        if !word.ends_with(':') {
            accept();
        }
        model.set_filter(&joined());
    });
    let on_input = move |event: web_sys::Event| {
        let text = event_target_value(&event);
        let ended = text.ends_with(' ');
        chosen.set(None);
        // An emptied field does not cover the table with suggestions.
        is_open.set(!text.is_empty());
        draft.set(text);
        if ended {
            accept();
        }
        model.set_filter(&joined());
    };
    let on_keydown = move |event: web_sys::KeyboardEvent| match event.key().as_str() {
        "ArrowDown" | "ArrowUp" => {
            is_open.set(true);
            let rows = suggested.with_untracked(|all| all.len());
            chosen.update(|chosen| *chosen = next_row(*chosen, rows, event.key() == "ArrowDown"));
            event.prevent_default();
        }
        "Enter" if chosen.with_untracked(Option::is_some) => {
            let row = chosen.get_untracked().unwrap_or_default();
            if let Some(word) = suggested.with_untracked(|all| all.get(row).cloned()) {
                take.run(word);
            }
        }
        "Enter" => {
            is_open.set(false);
            accept();
        }
        "Backspace" if draft.with_untracked(String::is_empty) => {
            if let Some(last) = chips.with_untracked(Vec::len).checked_sub(1) {
                remove(last);
            }
        }
        "Escape" if suggested.with_untracked(|all| !all.is_empty()) => {
            is_open.set(false);
            event.prevent_default();
            event.stop_propagation();
        }
        "Escape" => {
            if let Some(input) = input.get_untracked() {
                // Nothing to do if the field does not have the focus.
                let _ignored = input.blur();
            }
            event.prevent_default();
        }
        _ => {}
    };
    let shown = move || {
        chips
            .get()
            .into_iter()
            .enumerate()
            .map(|(position, term)| {
                let (key, value) = term.split_once(':').unwrap_or(("", &term));
                let label = (i18n.texts().runs().remove_term)(&term);
                view! {
                    <span class="tok">
                        <b>{format!("{key}:")}</b>
                        {value.to_owned()}
                        <button
                            type="button"
                            class="tok-x"
                            aria-label=label
                            on:click=move |_| remove(position)
                        >
                            <Icon name=IconName::Close size=10 />
                        </button>
                    </span>
                }
            })
            .collect_view()
    };
    view! {
        <div class="filter-field">
        <label class="field">
            <Icon name=IconName::Filter size=14 />
            {shown}
            <input
                class="bare-input"
                type="text"
                autocomplete="off"
                spellcheck="false"
                node_ref=input
                placeholder=move || {
                    chips.with(Vec::is_empty).then(|| i18n.texts().runs().filter_placeholder)
                }
                aria-label=i18n.text(|t| t.runs().filter)
                prop:value=move || draft.get()
                on:input=on_input
                on:keydown=on_keydown
                on:focus=move |_| is_open.set(true)
                on:blur=move |_| {
                    is_open.set(false);
                    accept();
                }
                role="combobox"
                aria-controls="filter-suggestions"
                aria-expanded=move || suggested.with(|all| !all.is_empty()).to_string()
                aria-activedescendant=move || chosen.get().map(|row| format!("suggested-{row}"))
            />
        </label>
            <Suggestions suggested=suggested chosen=chosen take=take />
        </div>
    }
}

/// Buttons for all runs and for the states, each with a count.
#[component]
fn StateButtons() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let pressed = move |only: Only| (model.only.get() == only).to_string();
    let button = move |only: Only| {
        let (class, icon) = match only {
            Only::Errors => ("err", IconName::Error),
            Only::Warnings => ("warn", IconName::Warning),
            Only::Damaged => ("ink2", IconName::File),
            Only::Healthy => ("okc", IconName::Ok),
            // The same icon as in the rows of these runs.
            _ => ("ink3", IconName::Info),
        };
        let title = move || {
            let texts = i18n.texts().runs();
            match only {
                Only::Errors => texts.only_errors,
                Only::Warnings => texts.only_warnings,
                Only::Damaged => texts.only_damaged,
                Only::Healthy => texts.only_healthy,
                _ => texts.only_unjudged,
            }
        };
        let count = move || format::count(model.counts.get().of_state(only));
        view! {
            <button
                type="button"
                title=title
                aria-label=move || format!("{}: {}", title(), count())
                aria-pressed=move || pressed(only)
                on:click=move |_| model.press_only(only)
            >
                <span class=format!("sev {class}")>
                    <Icon name=icon size=14 />
                </span>
                {count}
            </button>
        }
    };
    view! {
        <div class="seg" role="group" aria-label=i18n.text(|t| t.runs().state)>
            <button
                type="button"
                aria-pressed=move || pressed(Only::All)
                on:click=move |_| model.press_only(Only::All)
            >
                {move || (i18n.texts().runs().all)(model.counts.get().all)}
            </button>
            {Only::STATES.map(button)}
            <button
                type="button"
                title=i18n.text(|t| t.runs().only_live)
                aria-label=move || {
                    let live = format::count(model.counts.get().live);
                    format!("{}: {live}", i18n.texts().runs().only_live)
                }
                aria-pressed=move || pressed(Only::Live)
                on:click=move |_| model.press_only(Only::Live)
            >
                <i class="dot small-dot" class:live=move || { model.counts.get().live > 0 }></i>
                {move || format::count(model.counts.get().live)}
            </button>
        </div>
    }
}
