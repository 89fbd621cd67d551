//! The toolbar: runs with the base first, alignment, tolerance, tabs.

use super::choose::RunMenu;
use super::model::{ALIGNS, Tab, use_model};
use trainscope_api::compare::MAX_RUNS;
use trainscope_web_kit::components::{IconButton, IconName, RunChip, SegOption, Segmented};
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::route;

#[component]
pub(super) fn Toolbar() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let runs = move || {
        let runs = model.runs.get();
        let is_pair = runs.len() == 2;
        runs
            .into_iter()
            .enumerate()
            .map(|(at, run)| view! { <RunField run=run is_base={at == 0} has_swap={is_pair && at == 0} /> })
            .collect_view()
    };
    let can_add = Memo::new(move |_| model.runs.with(|runs| (1..MAX_RUNS).contains(&runs.len())));
    let has_pair = Memo::new(move |_| model.runs.with(|runs| runs.len() > 1));
    let too_many = move || {
        let asked = model.asked.get();
        (asked.len() > MAX_RUNS).then(|| {
            view! {
                <p class="small ink2" role="status">
                    {(i18n.texts().compare().many)(asked.len(), MAX_RUNS)} " "
                    <a class="link" href=route::lineage_of_href(&asked)>
                        {i18n.text(|t| t.compare().in_lineage)}
                    </a>
                </p>
            }
        })
    };
    let tab = move |at: usize| SegOption {
        value: Tab::ALL[at],
        label: Signal::derive(move || i18n.texts().compare().tabs[at].to_owned()),
    };
    view! {
        <div class="toolbar wraps" data-part="runs">
            {runs}
            <Show when=move || can_add.get()>
                <RunMenu />
            </Show>
            <span class="grow"></span>
            <Show when=move || has_pair.get()>
                <Options />
            </Show>
        </div>
        <Show when=move || has_pair.get()>
            <div class="toolbar">
                <Segmented
                    label=i18n.label(|t| t.titles().compare)
                    options=(0..Tab::ALL.len()).map(tab).collect()
                    value=model.tab
                    on_choose=move |tab| model.show_tab(tab)
                />
            </div>
        </Show>
        {too_many}
    }
}

/// A compared run with its buttons.
#[component]
fn RunField(run: String, is_base: bool, has_swap: bool) -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let stored = StoredValue::new(run.clone());
    let is_shown = Memo::new(move |_| {
        model
            .other
            .with(|other| stored.with_value(|run| other.as_ref() == Some(run)))
    });
    let remove = move || {
        let mut runs = model.runs.get_untracked();
        runs.retain(|known| stored.with_value(|run| known != run));
        model.set_runs(&runs);
    };
    let name = Signal::derive(move || stored.with_value(|run| model.name(run)));
    let face = view! {
        <RunChip run=run.clone() />
        <span class="val cut" dir="auto">{move || name.get()}</span>
    };
    let face = if is_base {
        view! {
            <span class="flex" title=run>
                {face}
                <span class="tok small-tok">{i18n.text(|t| t.compare().base)}</span>
            </span>
        }
        .into_any()
    } else {
        view! {
            <button
                type="button"
                class="run-button flex"
                title=run
                aria-pressed=move || is_shown.get().to_string()
                on:click=move |_| stored.with_value(|run| model.show_other(run))
            >
                {face}
            </button>
        }
        .into_any()
    };
    view! {
        <span class="field run-field" class:current=move || !is_base && is_shown.get() data-part="run">
            {face}
            {(!is_base)
                .then(|| {
                    view! {
                        <IconButton
                            icon=IconName::Baseline
                            class="small-icon"
                            label=Signal::derive(move || (i18n.texts().compare().make_base)(&name.get()))
                            on_press=move || stored.with_value(|run| model.make_base(run))
                        />
                    }
                })}
            <IconButton
                icon=IconName::Close
                class="small-icon"
                label=Signal::derive(move || (i18n.texts().compare().remove)(&name.get()))
                on_press=remove
            />
        </span>
        {has_swap
            .then(|| {
                view! {
                    <IconButton
                        icon=IconName::Recheck
                        label=i18n.label(|t| t.compare().swap)
                        on_press=move || {
                            model.key("s");
                        }
                    />
                }
            })}
    }
}

/// Alignment, first step and tolerance.
#[component]
fn Options() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let choices = move || {
        let names = i18n.texts().compare().aligns;
        let chosen = model.align.get();
        ALIGNS
            .into_iter()
            .zip(names)
            .map(|(align, name)| view! { <option value=name selected={align == chosen}>{name}</option> })
            .collect_view()
    };
    let choose = move |event: web_sys::Event| {
        let wanted = event_target_value(&event);
        let names = i18n.texts().compare().aligns;
        if let Some(at) = names.iter().position(|name| *name == wanted) {
            model.set_align(ALIGNS[at]);
        }
    };
    view! {
        <label class="ctl hide-narrow">
            {i18n.text(|t| t.compare().align)} <select class="field" on:change=choose>{choices}</select>
        </label>
        <label class="ctl hide-small">
            {i18n.text(|t| t.compare().since)}
            <input
                class="field short"
                inputmode="numeric"
                prop:value=move || model.since.get().map(|step| step.to_string()).unwrap_or_default()
                on:change=move |event| model.set_since(&event_target_value(&event))
            />
        </label>
        <label class="ctl" title=i18n.text(|t| t.compare().relative)>
            {i18n.text(|t| t.compare().tolerance)}
            <input
                class="field short"
                inputmode="decimal"
                data-part="tolerance"
                prop:value=move || model.tolerance.get().to_string()
                on:change=move |event| model.set_tolerance(&event_target_value(&event))
            />
        </label>
    }
}
