//! The panel of an operator: distribution of its calls, time by step, shapes, kernels, callers, sequences of kernels,
//! and links to its slices and its node of the graph.

use std::sync::Arc;

use trainscope_api::profile::{OperatorAnswer, OperatorGroup, OperatorQuery, OperatorRow};
use trainscope_charts::profile::{Counts, Curve, Curves, Figure, Hit, Shade, Unit};

use super::super::model::{time, use_model};
use super::super::parts::read_out;
use super::flops::flops_tree;
use super::table::selected;
use trainscope_web_kit::client;
use trainscope_web_kit::components::{IconName, ProfileChart, fixed_icon, long_name};
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::query::query;
use trainscope_web_kit::route;

/// Maximum number of rows of a list in the panel.
const LISTED: usize = 8;
/// Minimum number of calls with a distribution; for fewer, the numbers above suffice.
const MIN_CALLS: u64 = 10;

#[component]
pub(super) fn OperatorPanel(
    rows: Memo<Arc<Vec<OperatorRow>>>,
    by: Memo<OperatorGroup>,
    /// Number of steps that the calls are divided by.
    steps: Memo<u64>,
) -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let chosen = selected(model.url, rows);
    let row = Memo::new(move |_| rows.with(|rows| rows.get(chosen.get()?).cloned()));
    let asked = Memo::new(move |_| {
        let row = row.get()?;
        let wanted = model.profiles.query.get();
        Some(OperatorQuery {
            run: wanted.run,
            session: wanted.session,
            rank: wanted.rank,
            since_step: wanted.since_step,
            until_step: wanted.until_step,
            by: by.get(),
            name: row.name,
            shapes: (!row.shapes.is_empty()).then_some(row.shapes),
        })
    });
    let answer = query(
        move || asked.get(),
        |wanted| async move { client::profile_operator(&wanted).await },
    )
    .cleared_with(move || asked.get());
    let head = move || {
        let row = row.get()?;
        let open = i18n.texts().profile().open_slices;
        let search = model.step_href(None, Some(&row.name));
        Some(view! {
            <div class="head">
                <h2 class="cut" title=row.name.clone()>
                    {long_name(&row.name)}
                </h2>
                <span class="micro ink3 cut">
                    // Names of PyTorch end with their type.
                    {(!row.name.ends_with(&row.r#type)).then(|| row.r#type.clone())}
                </span>
                <span class="grow"></span>
                <a class="btn bare icon" href=search aria-label=open title=open>
                    {fixed_icon(IconName::Right, 12)}
                </a>
            </div>
        })
    };
    let numbers = move || {
        let texts = i18n.texts();
        let row = row.get()?;
        let pairs = [
            (texts.profile().median, time(row.median_nanos)),
            (texts.profile().p99, time(row.p99_nanos)),
            (texts.profile().calls, format::count(row.calls)),
            (texts.profile().total, time(row.total_nanos)),
        ];
        let pairs = pairs.map(|(name, value)| view! { <dt>{name}</dt><dd>{value}</dd> });
        Some(view! { <dl class="kv four">{pairs.into_iter().collect_view()}</dl> })
    };
    view! {
        <section class="card op-panel" data-part="operator">
            {head}
            <div class="body scroll">
                {numbers}
                <Distribution answer=answer.answer />
                <BySteps answer=answer.answer />
                {move || answer.answer.get().map(|answer| lists(&answer, by.get()))}
                {move || {
                    let is_scope = by.get() == OperatorGroup::Scope;
                    is_scope.then(|| rows.with(|rows| flops_tree(rows, steps.get())))
                }}
            </div>
        </section>
    }
}

#[component]
fn Distribution(answer: RwSignal<Option<Arc<OperatorAnswer>>>) -> impl IntoView {
    let i18n = use_i18n();
    let figure = Signal::derive(move || {
        let texts = i18n.texts();
        let counts = answer.with(|answer| {
            let answer = answer.as_deref()?;
            Some(Counts {
                edges: answer.edges_nanos.iter().map(|edge| *edge as f64).collect(),
                counts: answer.counts.iter().map(|count| *count as f64).collect(),
                unit: Unit::Nanos,
                shade: Shade::Time(0),
                warn_from: None,
                marks: vec![
                    (
                        answer.row.median_nanos as f64,
                        texts.profile().median.to_owned(),
                    ),
                    (answer.row.p99_nanos as f64, texts.profile().p99.to_owned()),
                ],
            })
        });
        Arc::new(Figure::Counts(counts.unwrap_or_default()))
    });
    let caption = move || {
        let calls = answer.with(|answer| answer.as_ref().map_or(0, |answer| answer.row.calls));
        (i18n.texts().profile().time_of_call)(calls)
    };
    let tip = move |hit: Hit| {
        answer.with(|answer| {
            let answer = answer.as_ref()?;
            let (from, to) = (
                answer.edges_nanos.get(hit.index)?,
                answer.edges_nanos.get(hit.index + 1)?,
            );
            let count = answer.counts.get(hit.index)?;
            let title = format!("{} – {}", time(*from), time(*to));
            Some(read_out(title, format::count(*count), Vec::new()))
        })
    };
    let has_many = Memo::new(move |_| {
        answer.with(|answer| {
            answer
                .as_ref()
                .is_some_and(|answer| answer.row.calls >= MIN_CALLS)
        })
    });
    view! {
        <Show when=move || has_many.get()>
            <p class="micro ink3">{caption}</p>
            <div class="plot tall">
                <ProfileChart
                    figure
                    label=Signal::derive(caption)
                    tip=Callback::new(tip)
                    on_press=Callback::new(|_| ())
                />
            </div>
        </Show>
    }
}

/// Mean time of a call by step, if there are several steps. A press opens the step in the timeline.
#[component]
fn BySteps(answer: RwSignal<Option<Arc<OperatorAnswer>>>) -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let has_many = Memo::new(move |_| {
        answer.with(|answer| {
            answer
                .as_ref()
                .is_some_and(|answer| answer.by_step.len() > 1)
        })
    });
    let figure = Signal::derive(move || {
        let curves = answer.with(|answer| {
            let answer = answer.as_deref()?;
            let (steps, means) = answer.by_step.iter().copied().unzip();
            let means: Vec<i64> = means;
            Some(Curves {
                steps,
                curves: vec![Curve {
                    shade: Shade::Time(0),
                    values: means.into_iter().map(|mean| mean as f64).collect(),
                    ..Curve::default()
                }],
                unit: Unit::Nanos,
                from_zero: false,
                limits: Vec::new(),
            })
        });
        Arc::new(Figure::Curves(curves.unwrap_or_default()))
    });
    let at = move |hit: Hit| answer.with(|answer| answer.as_ref()?.by_step.get(hit.index).copied());
    let tip = move |hit: Hit| {
        let (step, mean) = at(hit)?;
        let title = (i18n.texts().profile().step)(&format::integer(step), 1);
        Some(read_out(title, time(mean), Vec::new()))
    };
    let press = move |hit: Hit| {
        let step = untrack(|| at(hit)).map(|at| at.0);
        let name =
            answer.with_untracked(|answer| answer.as_ref().map(|answer| answer.row.name.clone()));
        model.open(&untrack(|| model.step_href(step, name.as_deref())));
    };
    view! {
        <Show when=move || has_many.get()>
            <p class="micro ink3">{i18n.text(|t| t.profile().mean_by_step)}</p>
            <div class="plot low">
                <ProfileChart
                    figure
                    label=i18n.label(|t| t.profile().mean_by_step)
                    tip=Callback::new(tip)
                    on_press=Callback::new(press)
                />
            </div>
        </Show>
    }
}

fn lists(answer: &OperatorAnswer, by: OperatorGroup) -> AnyView {
    let model = use_model();
    let texts = use_i18n().texts().profile();
    let longest = (
        answer.longest_at_nanos,
        answer.longest_at_nanos.saturating_add(answer.longest_nanos),
    );
    let longest = model.around_href(longest, Some(&answer.row.name));
    let kernels = if by.is_of_kernels() {
        texts.variants
    } else {
        texts.kernels
    };
    let node = answer.node.as_ref().map(|node| {
        let href = route::graph_href(&model.profiles.run.get(), Some(node));
        view! {
            <a class="link cut" href=href title=node.clone()>
                {texts.node}
            </a>
        }
    });
    let search = |name: &str| model.step_href(None, Some(name));
    let has_shapes = answer.shapes.iter().any(|row| !row.shapes.is_empty());
    let rows = |rows: &[OperatorRow], is_shape: bool| {
        let rows = rows.iter().take(LISTED).map(|row| {
            let name = if is_shape { &row.shapes } else { &row.name };
            let value = format!("{} × {}", format::count(row.calls), time(row.mean_nanos));
            (name.clone(), value, (!is_shape).then(|| search(&row.name)))
        });
        rows.collect::<Vec<_>>()
    };
    let callers = answer.callers.iter().take(LISTED).map(|(name, calls)| {
        (
            name.clone(),
            format!("{} ×", format::count(*calls)),
            Some(search(name)),
        )
    });
    let sequences = answer.sequences.iter().map(|(names, count)| {
        let first = names.first().map(|name| search(name));
        (
            names.join(" → "),
            format!("{} ×", format::count(*count)),
            first,
        )
    });
    view! {
        <p class="small flex links">
            <a class="link" href=longest>
                {(texts.longest_call)(&time(answer.longest_nanos))}
            </a>
            {node}
        </p>
        {has_shapes.then(|| list(texts.shapes, rows(&answer.shapes, true), answer.shapes.len()))}
        {list(kernels, rows(&answer.kernels, false), answer.kernels.len())}
        {list(texts.callers, callers.collect(), answer.callers.len())}
        {list(texts.sequences, sequences.collect(), answer.sequences.len())}
    }
    .into_any()
}

/// Names with values below a heading; names with an address are links. Nothing without rows.
fn list(
    heading: &'static str,
    rows: Vec<(String, String, Option<String>)>,
    all: usize,
) -> Option<AnyView> {
    let texts = use_i18n().texts().profile();
    if rows.is_empty() {
        return None;
    }
    let hidden = all.saturating_sub(rows.len()) as u64;
    let rows = rows.into_iter().map(|(name, value, href)| {
        let name = match href {
            Some(href) => view! {
                <a class="cut grow" href=href title=name.clone()>
                    {name.clone()}
                </a>
            }
            .into_any(),
            None => view! {
                <span class="cut grow" title=name.clone()>
                    {name.clone()}
                </span>
            }
            .into_any(),
        };
        view! {
            <li class="flex small">
                {name} <span class="num ink2">{value}</span>
            </li>
        }
    });
    Some(
        view! {
            <h3 class="micro ink3">{heading}</h3>
            <ul>{rows.collect::<Vec<_>>()}</ul>
            {(hidden > 0).then(|| view! { <p class="micro ink3">{(texts.more)(hidden)}</p> })}
        }
        .into_any(),
    )
}
