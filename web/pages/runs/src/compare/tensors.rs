//! The tab of tensors: the map with a filter, and statistics and histograms of the chosen tensor in both runs.

use trainscope_api::scalars::ScalarsQuery;
use trainscope_api::tensors::{Bins, TensorQuery};
use trainscope_format::tensor::TensorStats;

use super::map::MapCard;
use super::model::use_model;
use super::parts::head;
use super::summary::Verdict;
use trainscope_web_kit::client::{self, ClientError};
use trainscope_web_kit::components::RunChip;
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::{Texts, use_i18n};
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::query::query;
use trainscope_web_kit::route;
use trainscope_web_kit::run_colour::use_run_colours;

/// Bins of a histogram.
const BINS: usize = 48;
/// Height of the histograms, units of the view box.
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

/// Filter of the map by text and role.
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
        let all = (None, i18n.texts().compare().all_roles.to_owned());
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
                placeholder=i18n.text(|t| t.compare().search)
                aria-label=i18n.text(|t| t.compare().search)
                prop:value=move || model.search.get()
                on:input=move |event| model.set_search(&event_target_value(&event))
            />
            {buttons}
        </div>
    }
}

/// Records of both runs under one name at one step.
#[derive(Clone, Debug, PartialEq)]
enum Both {
    /// Statistics of a tensor. With recorded elements there are bins too, over the same range in both runs.
    Tensors(Box<[TensorStats; 2]>, [Option<Bins>; 2]),
    /// Values of a scalar.
    Scalars([f64; 2]),
}

/// A tensor or scalar in one run, at the compared step.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Spot {
    run: String,
    name: String,
    step: i64,
}

impl Spot {
    fn query(&self) -> TensorQuery {
        TensorQuery {
            run: self.run.clone(),
            tensor: self.name.clone(),
            step: Some(self.step),
            ..TensorQuery::default()
        }
    }

    /// Statistics at the step; `None` if they are missing or the request fails.
    async fn statistics(&self) -> Option<TensorStats> {
        let found = client::statistics_around(&self.run, &self.name, 0, self.step, (0, 0)).await;
        let mut found = found.ok()?.into_iter();
        let record = found.find(|record| record.step == self.step)?;
        Some(record.body.stats)
    }

    /// Value of the scalar at the step; `None` if it is missing or the request fails.
    async fn value(&self) -> Option<f64> {
        let query = ScalarsQuery {
            run: self.run.clone(),
            tag: self.name.clone(),
            from: Some(self.step),
            to: Some(self.step),
            ..ScalarsQuery::default()
        };
        client::scalars(&query).await.ok()?.values.last().copied()
    }
}

/// Records without elements: the values of a scalar, or the statistics of a tensor.
async fn recorded(spots: &[Spot; 2], is_scalar: bool) -> Option<Both> {
    let [base, other] = spots;
    if is_scalar {
        return Some(Both::Scalars([base.value().await?, other.value().await?]));
    }
    let stats = [base.statistics().await?, other.statistics().await?];
    Some(Both::Tensors(Box::new(stats), [None, None]))
}

async fn elements(base: TensorQuery, other: TensorQuery) -> Result<Both, ClientError> {
    let (a, b) = (
        client::tensor_summary(&base).await?,
        client::tensor_summary(&other).await?,
    );
    let ends = [&a, &b].map(|summary| summary.stats.finite.map(|finite| (finite.min, finite.max)));
    let range = ends
        .into_iter()
        .flatten()
        .reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
    let Some((low, high)) = range else {
        return Ok(Both::Tensors(Box::new([a.stats, b.stats]), [None, None]));
    };
    let binned = |query: TensorQuery| TensorQuery {
        bins: Some(BINS),
        low: Some(low),
        high: Some(high),
        ..query
    };
    let (base, other) = (binned(base), binned(other));
    let (a, b) = (
        client::tensor_summary(&base).await?,
        client::tensor_summary(&other).await?,
    );
    Ok(Both::Tensors(
        Box::new([a.stats, b.stats]),
        [a.histogram, b.histogram],
    ))
}

/// Statistics and histograms of the chosen tensor.
#[component]
fn TensorCard() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let wanted = Memo::new(move |_| {
        let (tensor, step) = model.place()?;
        let other_step = model.with_other(|other| {
            let same = other
                .partings
                .iter()
                .find(|parting| parting.name == tensor && parting.step == step);
            same.map_or(step, |parting| parting.other_step)
        })?;
        let spot = |run: String, step: i64| Spot {
            run,
            name: tensor.clone(),
            step,
        };
        let other = spot(model.other.get()?, other_step);
        Some([spot(model.base(), step), other])
    });
    // Scalars, and tensors with only statistics, have no elements to request.
    let kind = Memo::new(move |_| {
        let (tensor, _) = model.place()?;
        model.with_other(|other| {
            let mut partings = other.partings.iter();
            let parting = partings.find(|parting| parting.name == tensor);
            let is_scalar = parting.is_some_and(|parting| parting.role.is_none());
            (
                is_scalar,
                is_scalar || parting.is_some_and(|parting| parting.by_statistics),
            )
        })
    });
    let answer = query(
        move || Some((wanted.get()?, kind.get()?)),
        |(spots, (is_scalar, has_no_elements))| async move {
            if has_no_elements {
                return Ok(recorded(&spots, is_scalar).await);
            }
            let [base, other] = spots.each_ref().map(Spot::query);
            match elements(base, other).await {
                Ok(found) => Ok(Some(found)),
                Err(error) => match recorded(&spots, false).await {
                    None => Err(error),
                    found => Ok(found),
                },
            }
        },
    )
    .cleared_with(move || wanted.get());
    let title = move || wanted.get().map_or_else(String::new, |[base, _]| base.name);
    let beside = move || {
        let step = i18n.texts().compare().step;
        wanted.get().map_or_else(String::new, |[base, _]| {
            format!("{step} {}", format::integer(base.step))
        })
    };
    let content = move || match answer.answer.get() {
        Some(found) => match &*found {
            Some(both) => figures(both),
            None => super::parts::nothing(|t| t.no_elements),
        },
        None if answer.error.with(Option::is_some) => super::parts::nothing(|t| t.no_elements),
        None => ().into_any(),
    };
    let link = move || {
        // A scalar has no elements to open.
        if kind.get().is_none_or(|(is_scalar, _)| is_scalar) {
            return None;
        }
        let [base, other] = wanted.get()?;
        let href = route::tensors_beside_href(&base.run, &other.run, &base.name, 0, base.step);
        let text = (i18n.texts().compare().open_both)(&format::integer(base.step));
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

/// Rows with a name and both values: statistics of a tensor, or the value of a scalar.
fn rows_of(both: &Both, texts: Texts) -> Vec<(&'static str, f64, f64)> {
    let stats = match both {
        Both::Scalars([a, b]) => return vec![(texts.scalars().value, *a, *b)],
        Both::Tensors(stats, _) => stats,
    };
    let [base, other] = stats.each_ref().map(|stats| {
        let finite = stats.finite;
        let of = |value: Option<f64>| value.unwrap_or(f64::NAN);
        let elements = stats
            .count
            .saturating_sub(stats.nan + stats.pos_inf + stats.neg_inf);
        [
            of(finite.map(|finite| finite.mean)),
            of(finite.map(|finite| (finite.m2 / elements.max(1) as f64).sqrt())),
            of(finite.map(|finite| finite.l2)),
            of(finite.map(|finite| finite.min)),
            of(finite.map(|finite| finite.max)),
            stats.nan as f64,
            (stats.pos_inf + stats.neg_inf) as f64,
            stats.zero as f64,
        ]
    });
    let values = base.into_iter().zip(other);
    let named = texts.compare().statistics.into_iter().zip(values);
    named.map(|(name, (a, b))| (name, a, b)).collect()
}

fn figures(both: &Both) -> AnyView {
    let i18n = use_i18n();
    let model = use_model();
    let texts = i18n.texts().compare();
    let runs = [model.base(), model.other.get().unwrap_or_default()];
    let rows = rows_of(both, i18n.texts())
        .into_iter()
        .map(|(name, a, b)| {
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
        {histograms(both, &runs)}
    }
    .into_any()
}

/// Both histograms over shared bins.
fn histograms(both: &Both, runs: &[String; 2]) -> AnyView {
    let Both::Tensors(_, bins) = both else {
        return ().into_any();
    };
    let i18n = use_i18n();
    let colours = use_run_colours();
    let counts = bins.each_ref().map(|bins| {
        bins.as_ref()
            .map(|bins| bins.counts.clone())
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
    let ends = bins.iter().flatten().next();
    let ends = ends.map(|bins| (bins.low, bins.high));
    let ends = ends.map(|(low, high)| {
        view! {
            <p class="strip-ends micro ink3">
                <span>{format::number(low, 3)}</span>
                <span>{format::number(high, 3)}</span>
            </p>
        }
    });
    let label = i18n.texts().compare().histogram;
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

#[cfg(test)]
mod tests {
    use super::*;
    use trainscope_web_kit::i18n::Locale;

    #[test]
    fn a_scalar_has_one_row_and_a_tensor_its_statistics_without_elements() {
        let texts = Locale::En.texts();
        let rows = rows_of(&Both::Scalars([0.3, 3_000.0]), texts);
        assert_eq!(rows, [("value", 0.3, 3_000.0)]);
        let stats = |nan: u64| TensorStats {
            count: 16,
            nan,
            ..TensorStats::default()
        };
        let both = Both::Tensors(Box::new([stats(0), stats(16)]), [None, None]);
        let rows = rows_of(&both, texts);
        assert_eq!(rows.len(), texts.compare().statistics.len());
        assert!(rows.contains(&("NaN", 0.0, 16.0)), "{rows:?}");
        // The mean of a tensor without finite elements is NaN.
        assert!(rows[0].1.is_nan() && rows[0].2.is_nan());
    }
}
