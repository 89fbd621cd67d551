//! Row of a run in the left panel: display, isolate, baseline, remove.

use leptos::ev;
use trainscope_api::runs::RunStatus;

use super::Browse;
use crate::components::{IconButton, IconName};
use crate::i18n::{ScalarsTexts, use_i18n};
use crate::live::use_live;
use crate::prelude::*;
use crate::run_colour::use_run_colours;
use crate::state::use_app_state;

/// Row of a run: a click shows or hides it, a double click isolates it; further buttons appear on hover or focus.
#[component]
pub fn RunRow(browse: Browse, run: String) -> impl IntoView {
    let i18n = use_i18n();
    let colours = use_run_colours();
    let state = use_app_state();
    let live = use_live();
    let name = StoredValue::new(run);
    let is_shown =
        Memo::new(move |_| name.with_value(|name| browse.shown.with(|shown| shown.contains(name))));
    let is_own = move || name.with_value(|name| browse.own.with(|page_run| page_run == name));
    let is_baseline = Signal::derive(move || {
        let baseline = browse.baseline.get();
        name.with_value(|name| baseline.as_ref() == Some(name))
    });
    let lists = move || {
        let shown = browse.shown.get_untracked().to_vec();
        (shown, browse.hidden.get_untracked().to_vec())
    };
    let toggle = move |event: ev::MouseEvent| {
        // The second click of a double click is part of the isolation.
        if event.detail() > 1 {
            return;
        }
        let run = name.get_value();
        let (mut shown, mut hidden) = lists();
        if is_shown.get_untracked() {
            shown.retain(|other| *other != run);
            hidden.push(run);
        } else {
            hidden.retain(|other| *other != run);
            shown.push(run);
        }
        browse.set_runs(&shown, &hidden);
    };
    let is_alone =
        Signal::derive(move || is_shown.get() && browse.shown.with(|shown| shown.len() == 1));
    let alone = move || {
        let run = name.get_value();
        let (mut shown, mut hidden) = lists();
        if is_alone.get_untracked() {
            // Isolated already: all listed runs come back.
            shown.append(&mut hidden);
        } else {
            hidden.append(&mut shown);
            hidden.retain(|other| *other != run);
            shown.push(run);
        }
        browse.set_runs(&shown, &hidden);
    };
    let set_baseline = move || {
        let run = name.get_value();
        let baseline = (!is_baseline.get_untracked()).then_some(&*run);
        browse.set_baseline(baseline);
    };
    let remark = move || {
        let texts = i18n.texts().scalars();
        if !is_shown.get() {
            return (texts.hidden, "");
        }
        let status = name
            .with_value(|name| state.run(name))
            .map(|run| run.status);
        match status {
            Some(RunStatus::Live) if live.is_lost() => (i18n.texts().frame().unknown, ""),
            Some(RunStatus::Live) => (texts.live, "live"),
            Some(RunStatus::Gone) => (texts.gone, "gone"),
            Some(RunStatus::Stopped) | None => ("", ""),
        }
    };
    let description = move || {
        if is_baseline.get() {
            i18n.texts().scalars().baseline
        } else {
            remark().0
        }
    };
    let chip_class = move || {
        let class = name.with_value(|name| colours.get(name)).chip_class();
        // A hidden run has a hollow chip and a word.
        if is_shown.get() {
            class
        } else {
            format!("{class} hollow")
        }
    };
    let title = move || {
        name.with_value(|name| {
            let texts = i18n.texts().scalars();
            let title = (texts.run_row)(name);
            if colours.is_changed(name) {
                format!("{title}\n{}", texts.other_colour)
            } else {
                title
            }
        })
    };
    let word = move |word: fn(&ScalarsTexts) -> &'static str| {
        Signal::derive(move || word(i18n.texts().scalars()).to_owned())
    };
    view! {
        <li class="run-row">
            <button
                type="button"
                class="rr"
                role="checkbox"
                aria-checked=move || is_shown.get().to_string()
                aria-current=move || is_own().then_some("true")
                aria-label=name.get_value()
                aria-description=description
                title=title
                on:click=toggle
                on:dblclick=move |_| alone()
            >
                <i class=chip_class data-colour=move || name.with_value(|name| colours.get(name)).index()></i>
                <span class="cut" data-part="name" class:ink3=move || !is_shown.get() class:bold=is_own>
                    {move || name.with_value(|name| browse.name_of(name))}
                </span>
                <Show
                    when=move || is_baseline.get()
                    fallback=move || view! { <span class="v" aria-hidden="true">{move || remark().0}</span> }
                >
                    <span class="badge" aria-hidden="true">{i18n.text(|t| t.scalars().baseline)}</span>
                </Show>
                <i class:dot=move || remark().1 == "live" class:live=move || remark().1 == "live"></i>
            </button>
            <span class="row-acts">
                <IconButton
                    icon=IconName::Baseline
                    size=12
                    pressed=is_baseline
                    label=word(|t| t.make_baseline)
                    on_press=set_baseline
                />
                <IconButton
                    icon=IconName::Only
                    size=12
                    pressed=is_alone
                    label=word(|t| t.only_this)
                    on_press=alone
                />
            </span>
        </li>
    }
}
