//! The tab of tensors: the map with a filter, and statistics and histograms of the chosen tensor in both runs.

use std::sync::Arc;

use trainscope_api::tensors::{TensorQuery, TensorSlice};

use super::map::MapCard;
use super::model::use_model;
use super::parts::head;
use super::summary::Verdict;
use trainscope_web_kit::client::{self, ClientError};
use trainscope_web_kit::components::RunChip;
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::query::query;
use trainscope_web_kit::route;
use trainscope_web_kit::run_colour::use_run_colours;

/// Bins of a histogram.
const BINS: usize = 48;
/// Height of the picture of histograms, units.
const HEIGHT: f64 = 60.0;

#[component]
pub(super) fn Tensors() -> impl IntoView {
    view! {
        <Verdict />
        <Filter />
        <div class="cols">
            <div>
                <MapCard is_long=true />
            </div>
            <div>
                <TensorCard />
                <super::tables::FirstPartings />
            </div>
        </div>
    }
}

/// Text and role of the rows of the map.
#[component]
fn Filter() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let roles = Memo::new(move |_| {
        model.map.answer.with(|map| {
            map.as_deref()
                .map(|map| map.roles.clone())
                .unwrap_or_default()
        })
    });
    let buttons = move || {
        let chosen = model.role.get();
        let all = (None, i18n.texts().compare.all_roles.to_owned());
        let roles = roles.get().into_iter();
        let roles = roles.map(|(role, count)| {
            (
                Some(role.clone()),
                format!("{} {}", role.replace('_', " "), format::count(count)),
            )
        });
        std::iter::once(all)
            .chain(roles)
            .map(|(role, text)| {
                let is_chosen = role == chosen;
                view! {
                    <button
                        type="button"
                        class="btn"
                        aria-pressed=is_chosen.to_string()
                        on:click=move |_| model.set_role(role.as_deref())
                    >
                        {text}
                    </button>
                }
            })
            .collect_view()
    };
    view! {
        <div class="toolbar wraps" data-part="filter">
            <input
                type="search"
                class="field"
                placeholder=i18n.text(|t| t.compare.search)
                aria-label=i18n.text(|t| t.compare.search)
                prop:value=move || model.search.get().unwrap_or_default()
                on:input=move |event| model.set_search(&event_target_value(&event))
            />
            {buttons}
        </div>
    }
}

/// Summaries of a tensor of both runs with bins of one range.
#[derive(Clone, Debug, PartialEq)]
struct Both([TensorSlice; 2]);

async fn both(base: TensorQuery, other: TensorQuery) -> Result<Both, ClientError> {
    let (a, b) = (
        client::tensor_summary(&base).await?,
        client::tensor_summary(&other).await?,
    );
    let ends = [&a, &b].map(|own| own.stats.finite.map(|own| (own.min, own.max)));
    let range = ends
        .into_iter()
        .flatten()
        .reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
    let Some((low, high)) = range else {
        return Ok(Both([a, b]));
    };
    let binned = |query: TensorQuery| TensorQuery {
        bins: Some(BINS),
        low: Some(low),
        high: Some(high),
        ..query
    };
    let (base, other) = (binned(base), binned(other));
    Ok(Both([
        client::tensor_summary(&base).await?,
        client::tensor_summary(&other).await?,
    ]))
}

/// Statistics and histograms of the chosen tensor.
#[component]
fn TensorCard() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let wanted = Memo::new(move |_| {
        let (tensor, step) = model.place()?;
        let other_step = model.with_other(|own| {
            let same = own
                .partings
                .iter()
                .find(|own| own.name == tensor && own.step == step);
            same.map_or(step, |own| own.other_step)
        })?;
        Some((model.base(), model.other.get()?, tensor, step, other_step))
    });
    // Of scalars and of tensors with nothing but statistics there is nothing to ask for.
    let has_elements = Memo::new(move |_| {
        let (tensor, _) = model.place()?;
        model.with_other(|own| {
            let mut partings = own.partings.iter();
            let own = partings.find(|own| own.name == tensor);
            own.is_none_or(|own| own.role.is_some() && !own.by_statistics)
        })
    });
    let answer = query(
        move || wanted.get().filter(|_| has_elements.get() == Some(true)),
        |(base, other, tensor, step, other_step)| async move {
            let of = |run: String, step: i64| TensorQuery {
                run,
                tensor: tensor.clone(),
                step: Some(step),
                ..TensorQuery::default()
            };
            both(of(base, step), of(other, other_step)).await
        },
    )
    .cleared_with(move || wanted.get());
    let title = move || wanted.get().map_or_else(String::new, |own| own.2);
    let beside = move || {
        let step = i18n.texts().compare.step;
        wanted.get().map_or_else(String::new, |own| {
            format!("{step} {}", format::integer(own.3))
        })
    };
    let content = move || match answer.answer.get() {
        Some(own) => statistics(&own),
        None if has_elements.get() == Some(false) || answer.error.with(Option::is_some) => {
            super::parts::nothing(|t| t.no_elements)
        }
        None => ().into_any(),
    };
    let link = move || {
        let (base, other, tensor, step, _) = wanted.get()?;
        let href = route::tensors_beside_href(&base, &other, &tensor, 0, step);
        let text = (i18n.texts().compare.open_both)(&format::integer(step));
        Some(view! {
            <a class="link small below" href=href>
                {text}
            </a>
        })
    };
    view! {
        <section class="card" data-part="statistics">
            {head(title, beside, ().into_any())}
            {content}
            {link}
        </section>
    }
}

fn statistics(own: &Arc<Both>) -> AnyView {
    let i18n = use_i18n();
    let model = use_model();
    let texts = i18n.texts().compare;
    let runs = [model.base(), model.other.get().unwrap_or_default()];
    let values = own.0.each_ref().map(|own| {
        let stats = &own.stats;
        let finite = stats.finite;
        let of = |value: Option<f64>| value.unwrap_or(f64::NAN);
        let elements = stats
            .count
            .saturating_sub(stats.nan + stats.pos_inf + stats.neg_inf);
        [
            of(finite.map(|own| own.mean)),
            of(finite.map(|own| (own.m2 / elements.max(1) as f64).sqrt())),
            of(finite.map(|own| own.l2)),
            of(finite.map(|own| own.min)),
            of(finite.map(|own| own.max)),
            stats.nan as f64,
            (stats.pos_inf + stats.neg_inf) as f64,
            stats.zero as f64,
        ]
    });
    let rows = texts
        .statistics
        .into_iter()
        .enumerate()
        .map(|(at, name)| {
            let (a, b) = (values[0][at], values[1][at]);
            let apart = b - a;
            let delta = if a.to_bits() == b.to_bits() {
                "=".to_owned()
            } else {
                format::number(apart, 3)
            };
            view! {
                <tr>
                    <td class="ink2">{name}</td>
                    <td class="num">{format::number(a, 4)}</td>
                    <td class="num">{format::number(b, 4)}</td>
                    <td class="num ink2">{delta}</td>
                </tr>
            }
        })
        .collect_view();
    let heads = runs
        .clone()
        .map(|run| {
            let name = model.name(&run);
            view! {
                <th class="num">
                    <span class="flex gap4 end">
                        <RunChip run=run />
                        <span class="cut">{name}</span>
                    </span>
                </th>
            }
        })
        .into_iter()
        .collect_view();
    view! {
        <table class="dense">
            <thead>
                <tr>
                    <th>{texts.statistic}</th>
                    {heads}
                    <th class="num">"Δ"</th>
                </tr>
            </thead>
            <tbody>{rows}</tbody>
        </table>
        {histograms(own, &runs)}
    }
    .into_any()
}

/// Both histograms over shared bins.
fn histograms(own: &Arc<Both>, runs: &[String; 2]) -> AnyView {
    let i18n = use_i18n();
    let colours = use_run_colours();
    let counts = own.0.each_ref().map(|own| {
        own.histogram
            .as_ref()
            .map(|own| own.counts.clone())
            .unwrap_or_default()
    });
    let most = counts.iter().flatten().copied().max().unwrap_or(0);
    if most == 0 {
        return ().into_any();
    }
    let path = |counts: &[u64]| {
        let mut path = format!("M0 {HEIGHT}");
        for (at, count) in counts.iter().enumerate() {
            let y = HEIGHT - HEIGHT * *count as f64 / most as f64;
            path += &[format!("L{at} {y:.1}"), format!("L{} {y:.1}", at + 1)].concat();
        }
        path + &format!("L{} {HEIGHT}Z", counts.len())
    };
    let paths = counts
        .iter()
        .zip(runs)
        .map(|(counts, run)| {
            view! { <path class=format!("bins {}", colours.get(run).class()) d=path(counts) /> }
        })
        .collect_view();
    let ends = own
        .0
        .iter()
        .find_map(|own| own.histogram.as_ref())
        .map(|own| (own.low, own.high));
    let ends = ends.map(|(low, high)| {
        view! {
            <p class="strip-ends micro ink3">
                <span>{format::number(low, 3)}</span>
                <span>{format::number(high, 3)}</span>
            </p>
        }
    });
    let label = i18n.texts().compare.histogram;
    view! {
        <div class="body">
            <svg class="shared-bins" viewBox=format!("0 0 {BINS} {HEIGHT}") preserveAspectRatio="none" role="img" aria-label=label>
                {paths}
            </svg>
            {ends}
        </div>
    }
    .into_any()
}
