//! The toolbar: landscapes of the run, steps, colours, axes, contours, other runs, downloads.

use trainscope_analysis::landscape::LossScale;
use trainscope_format::Kind;

use super::export::Downloads;
use super::model::{MAX_RUNS, use_model};
use trainscope_web_kit::components::{
    Check, IconName, Popover, RunChip, SegOption, Segmented, fixed_icon,
};
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::state::use_app_state;

/// The toolbar of the page.
#[component]
pub(super) fn Toolbar() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let state = use_app_state();
    let scales = vec![
        SegOption {
            value: LossScale::Linear,
            label: i18n.label(|t| t.landscape().scales[0]),
        },
        SegOption {
            value: LossScale::Log,
            label: i18n.label(|t| t.landscape().scales[1]),
        },
    ];
    let axes = vec![
        SegOption {
            value: false,
            label: i18n.label(|t| t.landscape().axis_modes[0]),
        },
        SegOption {
            value: true,
            label: i18n.label(|t| t.landscape().axis_modes[1]),
        },
    ];
    let legend = move || {
        let shown = model.shown.get();
        let names = shown.into_iter().map(|(run, _)| {
            let name = state.short_name(&run);
            view! {
                <span>
                    <RunChip run=run />
                    {name}
                </span>
            }
        });
        names.collect_view()
    };
    view! {
        <div class="toolbar landscape-tools">
            <Choices />
            <Steps />
            <div class="ctl" title=move || {
                (!model.can_be_log.get()).then(|| i18n.texts().landscape().log_needs)
            }>
                {i18n.text(|t| t.landscape().scale)}
                <Segmented
                    label=i18n.label(|t| t.landscape().scale)
                    options=scales
                    value=model.scale
                    on_choose=move |scale| {
                        if scale == LossScale::Linear || model.can_be_log.get_untracked() {
                            model.set_scale(scale);
                        }
                    }
                />
            </div>
            <div class="ctl">
                {i18n.text(|t| t.landscape().axes)}
                <Segmented
                    label=i18n.label(|t| t.landscape().axes)
                    options=axes
                    value=model.is_equal
                    on_choose=move |is_equal| model.set_equal(is_equal)
                />
            </div>
            <div class="ctl">
                <Check
                    checked=model.has_lines
                    label=i18n.label(|t| t.landscape().contours)
                    on_press=move || model.toggle_lines()
                />
                {i18n.text(|t| t.landscape().contours)}
            </div>
            <span class="grow"></span>
            <span class="legend">{legend}</span>
            <OtherRuns />
            <Downloads />
        </div>
    }
}

/// The landscapes of the run.
#[component]
fn Choices() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let chosen = Signal::derive(move || {
        model
            .with_own(|landscapes| landscapes.chosen.clone())
            .unwrap_or_default()
    });
    let names = Memo::new(move |_| {
        let names = model.with_own(|landscapes| {
            let names = landscapes.choices.iter().map(|choice| choice.name.clone());
            names.collect::<Vec<_>>()
        });
        names.unwrap_or_default()
    });
    move || {
        let names = names.get();
        // Without a choice there is nothing to press.
        if names.len() < 2 {
            return None;
        }
        let options = names.into_iter().map(|name| {
            let shown = name.clone();
            let label = Signal::derive(move || match &*shown {
                "end" => i18n.texts().landscape().end.to_owned(),
                span => span.replace('-', "–"),
            });
            SegOption { value: name, label }
        });
        Some(view! {
            <Segmented
                label=i18n.label(|t| t.landscape().choose)
                options=options.collect()
                value=chosen
                on_choose=move |name: String| model.choose(&name)
            />
        })
    }
}

/// The steps at which the landscape was recorded, if there are several.
#[component]
fn Steps() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let steps = Memo::new(move |_| {
        model
            .with_own(|landscapes| landscapes.steps.clone())
            .unwrap_or_default()
    });
    let step = Memo::new(move |_| model.with_own(|landscapes| landscapes.step).flatten());
    let choices = move || {
        let texts = i18n.texts().landscape();
        let options = steps.get().into_iter().map(|recorded| {
            view! {
                <option value=recorded.to_string() selected=move || step.get() == Some(recorded)>
                    {(texts.step)(recorded)}
                </option>
            }
        });
        options.collect_view()
    };
    view! {
        <Show when=move || steps.with(|steps| steps.len() > 1)>
            <label class="ctl">
                {i18n.text(|t| t.landscape().steps)}
                <select
                    class="field"
                    on:change=move |event| {
                        if let Ok(step) = event_target_value(&event).parse() {
                            model.choose_step(step);
                        }
                    }
                >
                    {choices}
                </select>
            </label>
        </Show>
    }
}

/// Other runs with a landscape, to be shown next to this one.
#[component]
fn OtherRuns() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let state = use_app_state();
    let is_open = RwSignal::new(false);
    let others = Memo::new(move |_| {
        state.runs.with(|list| {
            let runs = list.runs.iter();
            let with = runs.filter(|run| run.kinds.contains_key(Kind::Landscapes.as_str()));
            let others = with.filter(|other| model.run.with(|run| *run != other.id));
            others.map(|other| other.id.clone()).collect::<Vec<_>>()
        })
    });
    let rows = move || {
        let others = others.get();
        if others.is_empty() {
            let text = i18n.texts().landscape().no_other;
            return view! { <p class="ink3 small">{text}</p> }.into_any();
        }
        let rows = others.into_iter().map(|run| {
            let (name, full) = (state.short_name(&run), run.clone());
            let (checked, pressed) = (run.clone(), run.clone());
            let is_on = Memo::new(move |_| model.also.with(|also| also.contains(&checked)));
            let is_full =
                move || !is_on.get() && model.also.with(|also| also.len() + 1 >= MAX_RUNS);
            view! {
                <button
                    type="button"
                    role="menuitemcheckbox"
                    class="hit"
                    title=full
                    aria-checked=move || is_on.get().to_string()
                    disabled=is_full
                    on:click=move |_| model.toggle_run(&pressed)
                >
                    <i class="check" class:on=move || is_on.get()>
                        {move || is_on.get().then(|| fixed_icon(IconName::Tick, 12))}
                    </i>
                    <RunChip run=run />
                    <span class="cut">{name}</span>
                </button>
            }
        });
        rows.collect_view().into_any()
    };
    view! {
        <Popover
            is_open
            label=i18n.label(|t| t.landscape().beside)
            class="btn"
            panel_class="popover card-menu"
            role="menu"
            face=ViewFn::from(move || {
                view! {
                    {fixed_icon(IconName::Plus, 14)}
                    <span class="hide-narrow">{i18n.text(|t| t.landscape().beside)}</span>
                }
            })
        >
            {rows}
        </Popover>
    }
}
