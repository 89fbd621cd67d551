//! Search, the visible stretch, lanes, fit.

use leptos::html;
use wasm_bindgen::JsCast;

use super::curves_button::CurvesButton;
use super::model::use_model;
use super::other_button::OtherButton;
use super::step_links::step_links;
use super::times;
use trainscope_web_kit::components::{Check, Icon, IconButton, IconName, Popover};
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;

#[component]
pub(super) fn Toolbar() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let stretch = move || {
        let view = model.view.get();
        times::stretch(view.from, view.to, model.wall.get())
    };
    let of_all = move || {
        let view = model.view.get();
        let texts = i18n.texts().timeline();
        let length = |nanos: f64| times::length(super::view::nanos(nanos));
        (texts.part)(&length(view.span()), &length(model.extent.get()))
    };
    // The links of the selected step replace the hints.
    let hint = move || {
        let texts = i18n.texts().timeline();
        if let Some(step) = model.chosen_step() {
            let number = (texts.step)(step.number);
            return view! {
                <span class="small ink2 chosen-step">{number} {step_links(step, texts)}</span>
            }
            .into_any();
        }
        let [zoom, pan, fit, drag] = texts.hints;
        view! {
            <span class="micro ink3 hints hide-narrow">
                <kbd>"W"</kbd>
                <kbd>"S"</kbd>
                {zoom}
                <kbd>"A"</kbd>
                <kbd>"D"</kbd>
                {pan}
                <kbd>"F"</kbd>
                {fit}
                <span>{drag}</span>
            </span>
        }
        .into_any()
    };
    // Reason for a missing or incomplete path.
    let path_note = move || {
        let path = model.path.answer.get().filter(|_| model.has_path.get())?;
        let texts = i18n.texts().timeline();
        let is_whole = path.has_launches && !path.cut;
        let text = if path.has_launches {
            texts.path_cut
        } else {
            texts.no_path
        };
        (!is_whole).then(|| view! { <span class="small ink2" role="status">{text}</span> })
    };
    view! {
        <div class="tool">
            <SearchField />
            <span class="small ink2 stretch">
                {stretch} <span class="ink3 hide-small">" · " {of_all}</span>
            </span>
            <span class="grow"></span>
            {hint}
            {path_note}
            <IconButton
                icon=IconName::Path
                label=i18n.label(|t| t.timeline().path)
                pressed=Signal::derive(move || model.has_path.get())
                on_press=move || model.turn_path()
            />
            <CurvesButton />
            <OtherButton />
            <LanesButton />
            <IconButton
                icon=IconName::Copy
                label=i18n.label(|t| t.timeline().copy)
                on_press=move || model.copy_link(i18n)
            />
            <IconButton
                icon=IconName::Fit
                label=i18n.label(|t| t.timeline().fit)
                on_press=move || {
                    model.press_key("f", i18n);
                }
            />
        </div>
    }
}

#[component]
fn SearchField() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let input = NodeRef::<html::Input>::new();
    Effect::new(move |before: Option<u64>| {
        let now = model.focus_search.get();
        if before.is_some_and(|before| before != now)
            && let Some(input) = input.get_untracked()
        {
            // An existing field takes the focus.
            let _ignored = input.focus();
            input.select();
        }
        now
    });
    let on_key = move |event: web_sys::KeyboardEvent| match event.key().as_str() {
        "Enter" => {
            event.prevent_default();
            model.step_match(!event.shift_key());
        }
        "Escape" => {
            event.stop_propagation();
            let target = event.target();
            let field = target.and_then(|target| target.dyn_into::<web_sys::HtmlElement>().ok());
            if let Some(field) = field {
                let _ignored = field.blur();
            }
        }
        _ => {}
    };
    let has_text = Memo::new(move |_| model.search.with(|text| !text.is_empty()));
    let count = move || {
        let texts = i18n.texts().timeline();
        if let Some(error) = model.found.error.get() {
            return match error {
                trainscope_web_kit::client::ClientError::Refused(error) => Some(error.message),
                _ => None,
            };
        }
        if model.is_reading_arguments() {
            return Some(texts.searching.to_owned());
        }
        let found = model.found.answer.get()?;
        let text = (texts.matches)(found.in_view, found.count);
        Some(if found.cut {
            (texts.not_all)(&text)
        } else {
            text
        })
    };
    let is_wrong = Memo::new(move |_| model.found.error.with(Option::is_some));
    view! {
        <div
            class="field find"
            class:wrong=move || is_wrong.get()
            role="search"
            aria-label=i18n.text(|t| t.timeline().search)
        >
            <Icon name=IconName::Search size=14 />
            <input
                node_ref=input
                type="search"
                name="slices"
                autocomplete="off"
                spellcheck="false"
                aria-label=i18n.text(|t| t.timeline().search)
                title=i18n.text(|t| t.timeline().search_help)
                placeholder=i18n.text(|t| t.timeline().search)
                prop:value=move || model.search.get()
                on:input=move |event| model.set_search(&event_target_value(&event))
                on:keydown=on_key
            />
            <span class="micro ink3 found" role="status">
                {count}
            </span>
            <Show when=move || has_text.get()>
                <IconButton
                    icon=IconName::Up
                    size=12
                    label=i18n.label(|t| t.timeline().previous_match)
                    on_press=move || model.step_match(false)
                />
                <IconButton
                    icon=IconName::Down
                    size=12
                    label=i18n.label(|t| t.timeline().next_match)
                    on_press=move || model.step_match(true)
                />
            </Show>
        </div>
    }
}

/// The choice of shown lanes.
#[component]
fn LanesButton() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let is_open = RwSignal::new(false);
    let all = Memo::new(move |_| {
        model.frame.with(|frame| {
            let groups = frame.groups.iter().map(|group| group.lanes.len() as u64);
            groups.sum::<u64>()
        })
    });
    let has_hidden = Memo::new(move |_| model.choices.with(|choices| !choices.hidden.is_empty()));
    let text = Memo::new(move |_| {
        let shown = model.layout.with(|layout| layout.lane_count() as u64);
        (i18n.texts().timeline().lanes_of)(shown, all.get())
    });
    let label = move || format!("{}: {}", text.get(), i18n.texts().timeline().choose_lanes);
    let face = move || {
        view! {
            <Icon name=IconName::Filter size=14 />
            <span class="hide-small">{text}</span>
        }
        .into_any()
    };
    let list = move || {
        let frame = model.frame.get();
        let groups = frame.groups.iter().map(|group| {
            let lanes = group.lanes.iter().map(|entry| {
                let lane = entry.lane;
                let checked = Signal::derive(move || {
                    model
                        .choices
                        .with(|choices| !choices.hidden.contains(&lane))
                });
                let name = entry.name.clone();
                view! {
                    <label class="flex small lane-choice">
                        <Check
                            checked
                            label=name.clone()
                            on_press=move || model.turn_hidden(lane)
                        />
                        <span class="cut" title=name.clone()>
                            {name.clone()}
                        </span>
                        <span class="grow"></span>
                        <span class="ink3 num">
                            {trainscope_web_kit::format::percent(entry.busy)}
                        </span>
                    </label>
                }
            });
            view! {
                <h3 class="micro ink3">{group.name.clone()}</h3>
                {lanes.collect_view()}
            }
        });
        groups.collect_view()
    };
    view! {
        <Popover
            is_open
            label=Signal::derive(label)
            class="btn bare"
            panel_class="popover lane-list"
            pressed=Signal::derive(move || has_hidden.get())
            face=ViewFn::from(face)
        >
            {list}
            <Show when=move || has_hidden.get()>
                <button type="button" class="link small" on:click=move |_| model.show_all_lanes()>
                    {i18n.text(|t| t.timeline().all_lanes)}
                </button>
            </Show>
        </Popover>
    }
}
