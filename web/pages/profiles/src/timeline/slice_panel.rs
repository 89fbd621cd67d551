//! The selected slice: its facts in the left column, and its arguments, parents and launches as a tab.

use std::sync::Arc;

use trainscope_api::timeline::{SliceAnswer, SliceEntry};

use super::ink::colour_of;
use super::model::{Model, use_model};
use super::step_links::step_links;
use super::times;
use trainscope_web_kit::components::{Icon, IconButton, IconName};
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::{TimelineTexts, use_i18n};
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::route;

/// The answer about the selected slice; reactive.
fn selected(model: Model) -> Option<Arc<SliceAnswer>> {
    model.selected.get()?;
    model.slice.answer.get()
}

/// Name of a lane; empty if it is unknown.
fn lane_name(model: Model, lane: u32) -> String {
    model.frame.with(|frame| {
        let mut lanes = frame.groups.iter().flat_map(|group| &group.lanes);
        let entry = lanes.find(|entry| entry.lane == lane);
        entry.map_or_else(String::new, |entry| entry.name.clone())
    })
}

/// A button that goes to another slice.
fn link(model: Model, slice: &SliceEntry) -> AnyView {
    let (slice, name) = (slice.clone(), slice.name.clone());
    view! {
        <button
            type="button"
            class="link cut"
            title=name.clone()
            on:click=move |_| model.go_to(&slice)
        >
            {name.clone()}
        </button>
    }
    .into_any()
}

/// Facts of the selected slice, the most important first.
#[component]
pub(super) fn SliceFacts() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    move || {
        let texts = i18n.texts().timeline();
        let Some(answer) = selected(model) else {
            return view! {
                <h2>{texts.no_slice}</h2>
                <p class="small ink3">{texts.no_slice_next}</p>
            }
            .into_any();
        };
        let slice = &answer.slice;
        let merged = model.merged.get();
        let merged = merged.filter(|(index, count)| *index == slice.index && *count > 1);
        let one_of = merged.map(|(_, count)| (texts.one_of)(u64::from(count)));
        let lane = lane_name(model, slice.lane);
        let of = [texts.kinds[slice.kind as usize], &lane]
            .into_iter()
            .filter(|part| !part.is_empty())
            .map(str::to_owned)
            .chain(one_of)
            .collect::<Vec<_>>()
            .join(" · ");
        view! {
            <h2>
                <i class="sw" style:--c=colour_of(slice.kind)></i>
                <span class="cut" title=slice.name.clone()>
                    {slice.name.clone()}
                </span>
                <span class="ink3 regular cut">{of}</span>
            </h2>
            {mark(model, slice.index, texts)}
            <dl class="kv">{facts(model, &answer, texts)}</dl>
        }
        .into_any()
    }
}

/// The text of the mark for good, or the field for one.
fn mark(model: Model, index: u32, texts: &'static TimelineTexts) -> AnyView {
    if model.marks.is_noting.get() {
        let on_key = move |event: web_sys::KeyboardEvent| match event.key().as_str() {
            "Enter" => model.mark_for_good(&event_target_value(&event)),
            "Escape" => {
                event.stop_propagation();
                model.marks.is_noting.set(false);
            }
            _ => {}
        };
        let field = NodeRef::<leptos::html::Input>::new();
        Effect::new(move || {
            if let Some(field) = field.get() {
                // An existing field takes the focus.
                let _ignored = field.focus();
            }
        });
        return view! {
            <input
                node_ref=field
                class="field note-field"
                type="text"
                name="mark"
                maxlength="200"
                aria-label=texts.mark_text
                placeholder=texts.mark_text
                on:keydown=on_key
            />
        }
        .into_any();
    }
    let text = model.marks.all.with(|all| {
        let mut all = all.iter().filter(|mark| mark.index == index);
        all.find_map(|mark| mark.text.clone())
    });
    let note = text.map(|text| {
        let text = if text.is_empty() {
            texts.marked.to_owned()
        } else {
            text
        };
        view! {
            <p class="flex small">
                <Icon name=IconName::Tag size=12 />
                <span class="cut">{text}</span>
                <IconButton
                    icon=IconName::Close
                    size=12
                    label=texts.drop_mark.to_owned()
                    on_press=move || model.drop_mark(index)
                />
            </p>
        }
    });
    note.into_any()
}

fn facts(model: Model, answer: &SliceAnswer, texts: &'static TimelineTexts) -> Vec<AnyView> {
    let slice = &answer.slice;
    let row = |title: &'static str, value: AnyView| {
        view! {
            <dt>{title}</dt>
            <dd>{value}</dd>
        }
        .into_any()
    };
    let mut rows = Vec::new();
    if let Some(node) = &answer.node {
        let href = model
            .profiles
            .run
            .with(|run| route::graph_href(run, Some(node)));
        let value = view! {
            <a class="link cut" href=href title=node.clone()>
                {node.clone()}
            </a>
        };
        rows.push(row(texts.node, value.into_any()));
    }
    let mut begin = vec![times::moment(slice.begin_nanos)];
    let step = answer.step.map(|step| model.step_links(step));
    begin.extend(step.as_ref().map(|step| (texts.step)(step.number)));
    let phase = texts.phases.iter().find(|(name, _)| *name == answer.phase);
    begin.extend(phase.map(|(_, text)| (*text).to_owned()));
    rows.push(row(texts.begin, begin.join(", ").into_any()));
    if let Some(step) = step {
        rows.push(row(texts.of_step, step_links(step, texts)));
    }
    let others = (answer.same_name > 1).then(|| {
        let (median, most) = (
            times::length(answer.median_nanos),
            times::length(answer.p99_nanos),
        );
        let text = (texts.median)(&median, &most);
        view! { <span class="ink3">{format!(" · {text}")}</span> }
    });
    let length = times::length(slice.duration_nanos);
    rows.push(row(
        texts.duration,
        view! {
            {length}
            {others}
        }
        .into_any(),
    ));
    if answer.child.is_some() {
        rows.push(row(
            texts.own_time,
            times::length(answer.self_nanos).into_any(),
        ));
    }
    if let Some(call) = &answer.launched_by {
        let delay = answer
            .launch_delay_nanos
            .map(|delay| (texts.before)(&times::length(delay)));
        let value = view! {
            {link(model, call)}
            {delay.map(|delay| format!(", {delay}"))}
        };
        rows.push(row(texts.launched_by, value.into_any()));
    }
    if let Some(first) = answer.launches.first() {
        let more = answer.launches.len().saturating_sub(1) as u64;
        let more = (more > 0).then(|| format!(" {}", (texts.more)(more)));
        let value = view! {
            {link(model, first)}
            {more}
        };
        rows.push(row(texts.launches, value.into_any()));
    }
    if let Some(idle) = answer.idle_before_nanos {
        let value = (texts.idle)(&times::length(idle));
        rows.push(row(texts.before_it, value.into_any()));
    }
    if !answer.category.is_empty() {
        rows.push(row(texts.category, answer.category.clone().into_any()));
    }
    rows
}

/// Arguments, parents, launches and ends of arrows.
#[component]
pub(super) fn SliceDetails() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    move || {
        let texts = i18n.texts().timeline();
        let Some(answer) = selected(model) else {
            return view! { <p class="small ink3">{texts.no_slice_next}</p> }.into_any();
        };
        let arguments = answer.arguments.iter().map(|(name, value)| {
            view! {
                <dt class="cut" title=name.clone()>
                    {name.clone()}
                </dt>
                <dd class="mono">{value.clone()}</dd>
            }
        });
        let arguments = arguments.collect_view();
        let no_arguments = answer.arguments.is_empty().then(|| {
            view! { <p class="small ink3">{texts.no_arguments}</p> }
        });
        let list = |title: &'static str, slices: &[SliceEntry]| {
            let rows = slices.iter().map(|slice| {
                view! {
                    <li class="flex small">
                        <i class="sw" style:--c=colour_of(slice.kind)></i>
                        {link(model, slice)}
                        <span class="grow"></span>
                        <span class="ink3 num">{times::length(slice.duration_nanos)}</span>
                    </li>
                }
            });
            (!slices.is_empty()).then(|| {
                view! {
                    <h4 class="micro ink3">
                        {title} " " {format::count(slices.len() as u64)}
                    </h4>
                    <ul>{rows.collect_view()}</ul>
                }
            })
        };
        view! {
            <div class="details">
                <div>
                    <h4 class="micro ink3">{texts.arguments}</h4>
                    <dl class="kv">{arguments}</dl>
                    {no_arguments}
                </div>
                <div>
                    {list(texts.parents, &answer.parents)}
                    {list(texts.launches, &answer.launches)}
                    {list(texts.flows[0], &answer.flows_in)}
                    {list(texts.flows[1], &answer.flows_out)}
                </div>
            </div>
        }
        .into_any()
    }
}
