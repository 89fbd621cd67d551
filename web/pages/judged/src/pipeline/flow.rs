//! Picture of the pipeline: operations in columns beginning with the sources, branches in rows, parameters below each
//! operation.

use trainscope_api::pipeline::PipelineOperation;

use super::against::Difference;
use super::model::{View, use_model, whole_share};
use super::recording::{MissingData, Recording};
use trainscope_web_kit::components::{IconName, SegOption, Segmented, fixed_icon};
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::state::use_app_state;

/// Maximum number of parameters below an operation; the panel shows all.
const LISTED: usize = 4;

/// Toolbar and picture.
#[component]
pub(super) fn Flow() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let totals = move || {
        let texts = i18n.texts().pipeline();
        let (shown, total) =
            model.with_pipeline(|pipeline| (pipeline.operations.len() as u64, pipeline.total))?;
        let (size, batch) = model
            .answer
            .with(|answer| (answer.dataset_size, answer.batch_size));
        let mut text = (texts.totals)(total, size, batch);
        if shown < total {
            text = format!("{text} · {}", (texts.cut)(shown, total));
        }
        Some(text)
    };
    let picture = move || {
        let texts = i18n.texts().pipeline();
        let drawn = model.with_pipeline(|pipeline| {
            let columns = pipeline
                .operations
                .iter()
                .map(|operation| operation.column + 1)
                .max();
            let rows = pipeline
                .operations
                .iter()
                .map(|operation| operation.row + 1)
                .max();
            let slow = pipeline.slow.as_ref().map(|slow| slow.operation as usize);
            let view = model.view.get();
            let all = pipeline.operations.iter().enumerate();
            let all = all.map(|(index, one)| operation(index, one, slow == Some(index), view));
            let all = all.collect_view();
            let lines = lines(&pipeline.operations);
            view! {
                <ol
                    class="ops"
                    class:ran=view == View::Queues
                    aria-label=(texts.picture)(pipeline.total)
                    style:--columns=columns.unwrap_or(1).to_string()
                    style:--rows=rows.unwrap_or(1).to_string()
                >
                    {lines}
                    {all}
                </ol>
            }
            .into_any()
        });
        drawn.unwrap_or_else(|| {
            view! {
                <div class="unknown">
                    <p class="med">{texts.no_graph}</p>
                    <Recording wanted=MissingData::Graph />
                </div>
            }
            .into_any()
        })
    };
    view! {
        <section class="flow">
            <div class="toolbar">
                <Choice />
                <span class="small ink2 cut">{totals}</span>
                <span class="grow"></span>
                <ViewChoice />
                <Against />
            </div>
            <div class="scroll">{picture}</div>
        </section>
    }
}

/// Lines from each operation to its consumers.
fn lines(operations: &[PipelineOperation]) -> Vec<AnyView> {
    let from_to = |operation: &PipelineOperation| {
        let (column, row) = (operation.column, operation.row);
        let inputs = operation.inputs.iter();
        let inputs = inputs.filter_map(|input| operations.get(*input as usize));
        inputs
            .map(move |from| {
                view! {
                    <li
                        class="line"
                        class:turns=from.row != row
                        aria-hidden="true"
                        style:--c=from.column.to_string()
                        style:--r=row.to_string()
                        style:--over=(column - from.column.min(column)).to_string()
                        style:--down=(from.row.max(row) - row).to_string()
                    ></li>
                }
                .into_any()
            })
            .collect::<Vec<_>>()
    };
    operations.iter().flat_map(from_to).collect()
}

fn operation(index: usize, operation: &PipelineOperation, is_slow: bool, view: View) -> AnyView {
    let model = use_model();
    let i18n = use_i18n();
    let texts = i18n.texts().pipeline();
    let is_shown = move || model.operation.get() == Some(index);
    let difference = Memo::new(move |_| {
        model
            .differing
            .with(|all| match all.as_ref()?.operations.get(index)? {
                Difference::OnlyHere => Some(0),
                Difference::Values(values) => (!values.is_same()).then_some(1),
            })
    });
    let state = move || match (is_slow, difference.get().is_some()) {
        (true, true) => Some("slow differs"),
        (true, false) => Some("slow"),
        (false, true) => Some("differs"),
        (false, false) => None,
    };
    let sign = move || {
        let texts = i18n.texts().pipeline();
        let text = match difference.get() {
            _ if is_slow => texts.slow_sign,
            difference => *texts.differs.get(difference?)?,
        };
        Some(view! {
            <span class="warn" role="img" aria-label=text title=text>
                {fixed_icon(IconName::Warning, 12)}
            </span>
        })
    };
    let name = if operation.name.is_empty() {
        texts.unnamed.to_owned()
    } else {
        operation.name.clone()
    };
    let parts = operation.transforms.iter().chain(&operation.sampler);
    let parts: Vec<&str> = parts.map(|part| &*part.name).collect();
    let parts = parts.join(" · ");
    let running = operation.running.as_ref();
    let mut listed = Vec::new();
    if let Some(running) = running {
        listed.push((texts.ran_rows[0].to_owned(), format::count(running.workers)));
        if view == View::Queues && running.samples > 0 {
            let empty = of_all(running.empty, running.samples);
            listed.push((texts.heat[0][2].to_owned(), empty));
        }
    }
    let room = LISTED.saturating_sub(listed.len());
    listed.extend(operation.parameters.iter().take(room).cloned());
    let more = operation.parameters.len().saturating_sub(room);
    let rows = listed.into_iter().map(|(name, value)| {
        view! {
            <span class="cut">
                {name} " " <b>{value}</b>
            </span>
        }
    });
    let rows = rows.collect::<Vec<_>>();
    let busy = running
        .filter(|_| view == View::Cpu)
        .and_then(|running| running.busy)
        .map(|busy| {
            let share = whole_share(busy);
            let label = format!("{}: {share}", texts.ran_rows[3]);
            view! {
                <span class="flex busy micro" role="img" aria-label=label.clone() title=label>
                    <span class="track grow">
                        <i style:width=share.replace(' ', "")></i>
                    </span>
                    <b>{share}</b>
                </span>
            }
        });
    let queue = running
        .filter(|running| view == View::Queues && running.samples > 0)
        .map(|running| {
            let fill = whole_share(running.fill);
            let label = (texts.queue)(&fill, running.capacity);
            view! {
                <span class="queue micro" role="img" aria-label=label.clone() title=label>
                    <b>{fill}</b>
                    <i style:--fill=running.fill.to_string()></i>
                    <span class="ink3">{(texts.of)(running.capacity)}</span>
                </span>
            }
        });
    view! {
        <li
            class="op"
            class:cur=is_shown
            class:slow=is_slow
            class:differs=move || difference.get().is_some()
            data-state=state
            style:--c=operation.column.to_string()
            style:--r=operation.row.to_string()
        >
            <button
                type="button"
                title=name.clone()
                aria-current=move || is_shown().to_string()
                on:click=move |_| model.select(index)
            >
                <span class="flex">
                    <b class="cut">{name.clone()}</b>
                    <span class="grow"></span>
                    {sign}
                </span>
                <span class="micro ink3 cut" title=parts.clone()>
                    {parts.clone()}
                </span>
                {busy}
            </button>
            {queue}
            <div class="micro ink3">
                {rows} {(more > 0).then(|| view! { <span>{(texts.more)(more as u64)}</span> })}
            </div>
        </li>
    }
    .into_any()
}

/// Text for a number out of all.
pub(super) fn of_all(some: u64, all: u64) -> String {
    format!("{} / {}", format::count(some), format::count(all))
}

/// Choice of view, if there are several.
#[component]
fn ViewChoice() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    move || {
        let views = model.views.get();
        (views.len() > 1).then(|| {
            let option = |view: View| SegOption {
                value: view as usize,
                label: Signal::derive(move || {
                    i18n.texts().pipeline().views[view as usize].to_owned()
                }),
            };
            view! {
                <Segmented
                    label=i18n.label(|texts| texts.pipeline().show)
                    options=views.into_iter().map(option).collect()
                    value=Signal::derive(move || model.view.get() as usize)
                    on_choose=move |chosen: usize| model.show(View::ALL[chosen])
                />
            }
        })
    }
}

/// Choice of pipeline, if the run has several.
#[component]
fn Choice() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    move || {
        let texts = i18n.texts().pipeline();
        let chosen = model.chosen.get();
        let all: Vec<(u32, i64)> = model.answer.with(|answer| {
            let all = answer.pipelines.iter();
            all.map(|pipeline| (pipeline.rank, pipeline.step)).collect()
        });
        let options = all.iter().enumerate().map(|(index, (rank, step))| {
            view! {
                <option value=index.to_string() selected=index == chosen>
                    {(texts.of_rank)(*rank, *step)}
                </option>
            }
        });
        let options = options.collect::<Vec<_>>();
        (all.len() > 1).then(|| {
            view! {
                <select
                    class="field choice"
                    aria-label=texts.choose
                    on:change=move |event| {
                        if let Ok(index) = event_target_value(&event).parse() {
                            model.choose(index);
                        }
                    }
                >
                    {options}
                </select>
            }
        })
    }
}

/// Choice of the compared run, with the result of the comparison.
#[component]
fn Against() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let state = use_app_state();
    let runs = Memo::new(move |_| {
        let current = model.run.get();
        state.runs.with(|list| {
            let runs = list.runs.iter();
            let runs = runs.filter(|run| run.id != current && run.kinds.contains_key("lineage"));
            runs.map(|run| run.id.clone()).collect::<Vec<_>>()
        })
    });
    let outcome = move || {
        let texts = i18n.texts().pipeline();
        let found = model.differing.get()?;
        let [same, differ, missing] = texts.compared;
        let text = if !found.is_there {
            missing
        } else if found.is_same() {
            same
        } else {
            differ
        };
        let only_there = (!found.only_there.is_empty())
            .then(|| (texts.only_there)(&found.only_there.join(", ")));
        Some(view! {
            <span class="small cut" role="status">
                {text} {only_there.map(|text| format!(" · {text}"))}
            </span>
        })
    };
    move || {
        let (runs, now) = (runs.get(), model.base.get());
        let against = i18n.texts().pipeline().against;
        let options = runs.iter().map(|run| {
            view! {
                <option value=run.clone() selected=now.as_ref() == Some(run) title=run.clone()>
                    {state.short_name(run)}
                </option>
            }
        });
        let options = options.collect::<Vec<_>>();
        (!runs.is_empty()).then(|| {
            view! {
                {outcome}
                <select
                    class="field choice"
                    aria-label=against
                    on:change=move |event| {
                        let run = event_target_value(&event);
                        model.compare(Some(&*run).filter(|run| !run.is_empty()));
                    }
                >
                    <option value="" selected=now.is_none()>
                        {against}
                    </option>
                    {options}
                </select>
            }
        })
    }
}
