//! The *Dataset* tab: a row for each kind of data pipeline, with its differences and the results of its runs.

use std::collections::BTreeMap;
use std::sync::Arc;

use trainscope_api::table::{CellValue, PipelineKind, PipelineKinds};

use super::brush::Brush;
use super::model::{Model, use_model};
use trainscope_web_kit::client;
use trainscope_web_kit::components::{IconName, RunChip, StatePage};
use trainscope_web_kit::format;
use trainscope_web_kit::parameters::PIPELINE_AGAINST;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::query::query;
use trainscope_web_kit::route::{self, RunPage};
use trainscope_web_kit::url_state::{History, Key, with_query};

/// Kind that the others are compared with.
const BASE: Key<String> = Key::new("base");
/// Key of the column of kinds.
const KIND: &str = "data:pipeline";

#[component]
pub(super) fn Kinds() -> impl IntoView {
    let model = use_model();
    let i18n = model.i18n;
    let kinds = query(|| Some(()), |()| async { client::pipeline_kinds().await }).again_with_list();
    let base = model.url.param(BASE);
    Effect::new(move || {
        if model.store.is_ready.get() {
            model.store.need(&[KIND.to_owned()]);
        }
    });
    let kept = Memo::new(move |_| kept_of_kinds(&model));
    let content = move || {
        let texts = i18n.texts().lineage();
        let Some(answer) = kinds.answer.get() else {
            return view! { <p class="small ink3" aria-busy="true">{texts.computing}</p> }
                .into_any();
        };
        if answer.kinds.is_empty() {
            return view! {
                <StatePage
                    icon=IconName::Pipeline
                    title=i18n.label(|t| t.lineage().no_pipelines)
                    next=i18n.label(|t| t.lineage().no_pipelines_next)
                >
                    ()
                </StatePage>
            }
            .into_any();
        }
        let base = base
            .get()
            .filter(|base| answer.kinds.iter().any(|kind| kind.kind == *base));
        let base = base
            .or_else(|| answer.kinds.first().map(|kind| kind.kind.clone()))
            .unwrap_or_default();
        table(&model, &answer, &base, kept).into_any()
    };
    view! { <section class="card kinds-card" data-part="kinds">{content}</section> }
}

/// Number of kept runs of each kind; reactive.
fn kept_of_kinds(model: &Model) -> BTreeMap<String, usize> {
    let view = model.view.get();
    let mut counts = BTreeMap::new();
    model.kept.with(|kept| {
        for row in &kept.rows {
            if let CellValue::Text(kind) = view.value(KIND, *row as usize) {
                *counts.entry(kind).or_default() += 1;
            }
        }
    });
    counts
}

fn table(
    model: &Model,
    answer: &Arc<PipelineKinds>,
    base: &str,
    kept: Memo<BTreeMap<String, usize>>,
) -> impl IntoView + use<> {
    let model = *model;
    let i18n = model.i18n;
    let texts = i18n.texts().lineage();
    let base_kind = answer
        .kinds
        .iter()
        .find(|kind| kind.kind == *base)
        .cloned()
        .unwrap_or_default();
    let places = answer.places.iter().map(|place| {
        view! { <th scope="col">{place.operation.clone()}</th> }
    });
    let results: Vec<String> = answer
        .kinds
        .first()
        .map(|kind| {
            kind.results
                .iter()
                .map(|result| result.key.clone())
                .collect()
        })
        .unwrap_or_default();
    let heads = results
        .iter()
        .map(|key| view! { <th scope="col" class="num">{model.info(key).label}</th> })
        .collect_view();
    let rows = answer
        .kinds
        .iter()
        .map(|kind| row(&model, answer, kind, &base_kind, kept))
        .collect_view();
    let without =
        (answer.runs_without > 0).then(|| (texts.without_pipeline)(answer.runs_without as u64));
    let first_run = |kind: &PipelineKind| kind.runs.first().cloned();
    let compared = answer
        .kinds
        .iter()
        .find(|kind| kind.kind != *base)
        .and_then(first_run)
        .zip(first_run(&base_kind));
    let link = compared.map(|(run, other)| {
        let pipeline = route::run_href(&run, RunPage::Pipeline);
        let href = with_query(&pipeline, &[PIPELINE_AGAINST.to(other)]);
        view! { <a class="link" href=href>{texts.open_pipelines}</a> }
    });
    view! {
        <div class="scroll">
            <table class="kinds">
                <thead>
                    <tr>
                        <th scope="col">{texts.kind}</th>
                        {places.collect_view()}
                        <th scope="col" class="num">{texts.runs}</th>
                        {heads}
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
        <p class="small ink3 kinds-foot">{without} " " {link}</p>
    }
}

fn row(
    model: &Model,
    answer: &PipelineKinds,
    kind: &PipelineKind,
    base: &PipelineKind,
    kept: Memo<BTreeMap<String, usize>>,
) -> impl IntoView + use<> {
    let model = *model;
    let i18n = model.i18n;
    let texts = i18n.texts().lineage();
    let is_base = kind.kind == base.kind;
    let is_open = RwSignal::new(false);
    let cells = answer.places.iter().enumerate().map(|(index, place)| {
        let cell = kind.cells.get(index).cloned().flatten();
        let other = base.cells.get(index).cloned().flatten();
        let (class, text) = match (&cell, &other) {
            (None, None) => ("ink3", "–".to_owned()),
            (None, Some(_)) => ("kind-removed", texts.removed.to_owned()),
            (Some(cell), None) => ("kind-added", parameters(cell, &place.differing).join(", ")),
            (Some(cell), Some(other)) if !is_base => {
                let changed: Vec<String> = place
                    .differing
                    .iter()
                    .filter_map(|name| {
                        let of = |all: &[(String, String)]| {
                            all.iter()
                                .find(|(key, _)| key == name)
                                .map(|(_, value)| value.clone())
                        };
                        let (now, before) = (of(cell), of(other));
                        (now != before).then(|| {
                            format!(
                                "{name} {} → {}",
                                before.unwrap_or_else(|| "–".to_owned()),
                                now.unwrap_or_else(|| "–".to_owned())
                            )
                        })
                    })
                    .collect();
                if changed.is_empty() {
                    ("ink3", "=".to_owned())
                } else {
                    ("kind-changed", changed.join(", "))
                }
            }
            (Some(cell), Some(_)) => ("", parameters(cell, &place.differing).join(", ")),
        };
        let text = if text.is_empty() {
            "·".to_owned()
        } else {
            text
        };
        let title = cell.map(|cell| {
            cell.iter()
                .map(|(name, value)| format!("{name} = {value}"))
                .collect::<Vec<_>>()
                .join("\n")
        });
        view! { <td class=class title=title>{text}</td> }
    });
    let cells = cells.collect_view();
    let results = kind.results.iter().map(|result| {
        let of = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), format::cell);
        let best = result.best.map(|best| (texts.best_of)(&format::cell(best)));
        let bad = (result.not_finite > 0).then(|| format!(" · {} NaN", result.not_finite));
        view! {
            <td class="num">
                {of(result.median)}
                <span class="micro ink3 kind-best">{best} {bad}</span>
            </td>
        }
    });
    let results = results.collect_view();
    let (letter, pressed) = (StoredValue::new(kind.kind.clone()), kind.kind.clone());
    let is_chosen = Memo::new(move |_| {
        let has = |brush: &Brush| letter.with_value(|letter| brush.choices.contains(letter));
        model
            .brushes
            .with(|brushes| brushes.get(KIND).is_some_and(has))
    });
    let choose = move |_| {
        let mut brush = model
            .brushes
            .with_untracked(|brushes| brushes.get(KIND).cloned().unwrap_or_default());
        if is_chosen.get_untracked() {
            letter.with_value(|letter| brush.choices.retain(|choice| choice != letter));
        } else {
            brush.choices.push(letter.get_value());
        }
        model.set_brush(KIND, brush, History::Push);
    };
    let count = kind.run_count;
    let count_text = move || {
        let kept =
            letter.with_value(|letter| kept.with(|kept| kept.get(letter).copied().unwrap_or(0)));
        if kept == count || model.view.with(|view| view.is_grouped) {
            format::count(count as u64)
        } else {
            (i18n.texts().lineage().kept)(kept as u64, count as u64)
        }
    };
    let to_base = move |_| model.url.set(&[BASE.to(&pressed)], History::Push);
    let runs = StoredValue::new(kind.runs.clone());
    let cut = kind.run_count.saturating_sub(kind.runs.len()) as u64;
    let span = answer.places.len() + 2 + kind.results.len();
    view! {
        <tr data-kind=kind.kind.clone() class:chosen=move || is_chosen.get()>
            <th scope="row">
                <button type="button" class="btn bare" aria-expanded=move || is_open.get().to_string() on:click=move |_| is_open.update(|open| *open = !*open)>
                    <b>{kind.kind.clone()}</b>
                </button>
                {if is_base {
                    view! { <span class="tok">{texts.base}</span> }.into_any()
                } else {
                    view! { <button type="button" class="link small" on:click=to_base>{texts.as_base}</button> }.into_any()
                }}
            </th>
            {cells}
            <td class="num">
                <button
                    type="button"
                    class="link"
                    data-part="keep-kind"
                    aria-pressed=move || is_chosen.get().to_string()
                    on:click=choose
                    title=texts.keep_kind
                >
                    {count_text}
                </button>
            </td>
            {results}
        </tr>
        <Show when=move || is_open.get()>
            <tr>
                <td colspan=span.to_string() class="kind-runs">
                    {runs.with_value(|runs| {
                        runs.iter()
                            .map(|run| {
                                view! {
                                    <a class="flex gap4 link" href=route::run_href(run, RunPage::Pipeline)>
                                        <RunChip run=run.clone() />
                                        {run.clone()}
                                    </a>
                                }
                            })
                            .collect_view()
                    })}
                    {(cut > 0).then(|| format!("+{}", format::count(cut)))}
                </td>
            </tr>
        </Show>
    }
}

/// Parameters that differ between kinds, as short text.
fn parameters(all: &[(String, String)], differing: &[String]) -> Vec<String> {
    let shown = all.iter().filter(|(name, _)| differing.contains(name));
    shown
        .map(|(name, value)| format!("{name} {value}"))
        .collect()
}
