//! Choice of the slice in the table, and of the one compared.

use trainscope_api::tensors::{Axis, Slice, TensorSource};

use super::model::{CellContent, use_model};
use trainscope_web_kit::components::tensor::short;
use trainscope_web_kit::components::{IconButton, IconName, SegOption, Segmented};
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::state::use_runs;

/// Maximum number of steps offered for comparison.
const MAX_STEPS: usize = 20;
/// Maximum number of runs offered for comparison.
const MAX_RUNS: usize = 50;

/// One chip per axis, the slice as text, and the comparison.
#[component]
pub(super) fn SliceBar() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let text = move || match (model.slice_text.get(), model.shape.get()) {
        (Some(text), _) => text,
        (None, Some(shape)) => short(&Slice::last_two(&shape), &shape),
        (None, None) => String::new(),
    };
    let is_wrong = move || model.plane.with(|plane| matches!(plane, Some(Err(_))));
    let has_axes = move || {
        model
            .shape
            .with(|shape| shape.as_ref().is_some_and(|s| !s.is_empty()))
    };
    let seg =
        move |value: CellContent,
              label: fn(&trainscope_web_kit::i18n::TensorsTexts) -> &'static str| {
            SegOption {
                value,
                label: Signal::derive(move || label(i18n.texts().tensors()).to_owned()),
            }
        };
    let options = vec![
        seg(CellContent::Current, |texts| texts.current),
        seg(CellContent::Other, |texts| texts.other),
        seg(CellContent::Difference, |texts| texts.difference),
    ];
    view! {
        <div class="slice-bar">
            <label class="field slice-field" class:wrong=is_wrong hidden=move || !has_axes()>
                <span class="ink3">"["</span>
                <input
                    type="text"
                    spellcheck="false"
                    aria-label=i18n.text(|t| t.tensors().slice)
                    title=i18n.text(|t| t.tensors().slice_help)
                    prop:value=text
                    on:change=move |event| model.set_slice(&event_target_value(&event))
                />
                <span class="ink3">"]"</span>
            </label>
            {axes}
            <IconButton
                icon=IconName::Columns
                label=i18n.label(|t| t.tensors().swap)
                pressed=Signal::from(model.is_swapped)
                on_press=move || model.swap()
            />
            <span class="grow"></span>
            <Compare />
            <Segmented
                label=i18n.label(|t| t.tensors().values)
                options=options
                value=Signal::from(model.shown)
                on_choose=move |shown| model.show(shown)
            />
        </div>
    }
}

/// One chip per axis. A fixed axis has a number field; a click on its name makes it an axis of the table.
fn axes() -> AnyView {
    let model = use_model();
    let i18n = use_i18n();
    let chips = move || {
        let shape = model.shape.get()?;
        let plane = model.plane.get()?.ok()?;
        // With two axes or fewer all of them are in the table.
        if shape.len() < 3 {
            return None;
        }
        let chips = shape.iter().enumerate().map(|(axis, &len)| {
            let part = plane.slice.axes[axis];
            let (slice, sizes) = (plane.slice.clone(), shape.clone());
            let name = (i18n.texts().tensors().axis)(axis);
            let sign = if plane.rows == Some(axis) {
                " ↓"
            } else if plane.columns == Some(axis) {
                " →"
            } else {
                ""
            };
            let free = move |_| {
                let mut slice = slice.clone();
                if let Some(other) = slice
                    .free()
                    .first()
                    .copied()
                    .filter(|_| slice.free().len() > 1)
                {
                    slice.axes[other] = Axis::At(0);
                }
                slice.axes[axis] = Axis::Range(0, len);
                model.set_slice(&short(&slice, &sizes));
            };
            let body = match part {
                Axis::Range(from, to) => {
                    let text = match to.checked_sub(1).filter(|last| *last >= from) {
                        Some(last) => format!("{from}–{last}"),
                        None => "0".to_owned(),
                    };
                    view! { <span>{text}</span> }.into_any()
                }
                Axis::At(at) => {
                    let (slice, sizes) = (plane.slice.clone(), shape.clone());
                    let go = move |event| {
                        let mut slice = slice.clone();
                        let wanted: u64 = event_target_value(&event).parse().unwrap_or(at);
                        slice.axes[axis] = Axis::At(wanted.min(len.saturating_sub(1)));
                        model.set_slice(&short(&slice, &sizes));
                    };
                    view! {
                        <input
                            type="number"
                            min="0"
                            max=len.saturating_sub(1).to_string()
                            aria-label=name.clone()
                            prop:value=at.to_string()
                            on:input=go
                        />
                    }
                    .into_any()
                }
            };
            view! {
                <span class="dim" class:free=part.is_range()>
                    <button
                        type="button"
                        title=i18n.texts().tensors().free
                        disabled=part.is_range()
                        on:click=free
                    >
                        {name.clone()}
                        {sign}
                    </button>
                    {body}
                </span>
            }
        });
        Some(chips.collect_view())
    };
    view! { <span class="dims">{chips}</span> }.into_any()
}

/// Choice of the slice to compare with.
#[component]
fn Compare() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let runs = use_runs();
    let options = move || {
        let texts = i18n.texts().tensors();
        let current = model.run.get();
        let rank = model.rank.get();
        let mut options = vec![("previous".to_owned(), texts.with_previous.to_owned())];
        let first = model
            .history
            .with(|h| h.points.first().map(|point| point.step));
        if let Some(first) = first {
            options.push((format!("step:{first}"), texts.with_first.to_owned()));
        }
        // Other steps with elements, the nearest first.
        let now = model.step.get().unwrap_or(0);
        let mut steps: Vec<i64> = model.history.with(|history| {
            let points = history.points.iter();
            let others = points.filter(|point| point.source != TensorSource::Statistics);
            let others = others.map(|point| point.step);
            others
                .filter(|step| *step != now && Some(*step) != first)
                .collect()
        });
        steps.sort_by_key(|step| step.abs_diff(now));
        let steps = steps.into_iter().take(MAX_STEPS);
        options.extend(steps.map(|step| (format!("step:{step}"), (texts.step)(step))));
        let ranks = model.entry.with(|e| e.as_ref().map(|e| e.ranks.clone()));
        let others = ranks.into_iter().flatten().filter(|other| *other != rank);
        options.extend(others.map(|other| (format!("rank:{other}"), (texts.with_rank)(other))));
        runs.with(|list| {
            let with_tensors = list
                .runs
                .iter()
                .filter(|run| run.id != current && run.kinds.contains_key("tensors"));
            let named = with_tensors.take(MAX_RUNS);
            options.extend(named.map(|run| (format!("run:{}", run.id), (texts.with_run)(&run.id))));
        });
        let chosen = model.compare.get();
        if let Some(chosen) = chosen
            .as_ref()
            .filter(|c| !options.iter().any(|(v, _)| v == *c))
        {
            options.push((chosen.clone(), chosen.clone()));
        }
        let chosen = chosen.unwrap_or_else(|| "previous".to_owned());
        let options = options.into_iter().map(|(value, text)| {
            let is_chosen = value == chosen;
            view! {
                <option value=value selected=is_chosen>
                    {text}
                </option>
            }
        });
        options.collect_view()
    };
    view! {
        <select
            class="btn compare"
            aria-label=i18n.text(|t| t.tensors().compare)
            title=i18n.text(|t| t.tensors().compare)
            on:change=move |event| model.set_compare(Some(&event_target_value(&event)))
        >
            {options}
        </select>
    }
}
