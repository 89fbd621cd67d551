//! A scalar of all runs as overlay, with the difference from the base below.

use std::sync::Arc;

use trainscope_api::compare::{Align, ScalarDifference};
use trainscope_api::scalars::{ScalarsAnswer, ScalarsRequest, Series, SeriesKey};
use trainscope_charts::label;
use trainscope_charts::line::Line;
use trainscope_charts::overlay::Crosshair;

use super::model::use_model;
use super::parts::head;
use trainscope_web_kit::client;
use trainscope_web_kit::components::{Figure, LineChart, RunChip, line_of, use_palette};
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::query::query;
use trainscope_web_kit::run_colour::use_run_colours;

/// Points of a curve: two for each pixel of the card.
const POINTS: usize = 1_400;

/// Tag and rank of the scalar on the summary: the loss if both runs have it, else the first tag that contains "loss",
/// else the first scalar that parts.
fn main_scalar(all: &[ScalarDifference], loss: Option<&str>) -> Option<(String, u32)> {
    let of_rank = || all.iter().filter(|scalar| scalar.rank == 0);
    let found = of_rank().find(|scalar| Some(&*scalar.tag) == loss);
    let found =
        found.or_else(|| of_rank().find(|scalar| scalar.tag.to_lowercase().contains("loss")));
    let scalar = found.or_else(|| of_rank().next()).or_else(|| all.first())?;
    Some((scalar.tag.clone(), scalar.rank))
}

/// The card of [`main_scalar`]; nothing without a common scalar.
#[component]
pub(super) fn CurveCard() -> impl IntoView {
    let model = use_model();
    let state = trainscope_web_kit::state::use_app_state();
    let scalar = Memo::new(move |_| {
        let base = model.base();
        let loss = state.run(&base).and_then(|run| Some(run.loss?.tag));
        model.with_other(|other| main_scalar(&other.scalars, loss.as_deref()))?
    });
    move || {
        scalar
            .get()
            .map(|(tag, rank)| view! { <Curves tag rank /> })
    }
}

/// Values of one run minus those of the base at common steps.
fn minus(base: &Series, other: &Series) -> Series {
    let mut difference = Series::default();
    for (step, value) in other.steps.iter().zip(&other.values) {
        if let Ok(at) = base.steps.binary_search(step)
            && let Some(base) = base.values.get(at)
        {
            difference.steps.push(*step);
            difference.values.push(value - base);
        }
    }
    difference.total = difference.steps.len() as u64;
    difference
}

/// Curves of one scalar in all runs. If the runs are aligned by step, the difference from the base is below.
#[component]
pub(super) fn Curves(tag: String, rank: u32) -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let palette = use_palette();
    let colours = use_run_colours();
    let tag = StoredValue::new(tag);
    let answer = query(
        move || {
            let runs = model.runs.get();
            let key = |run: String| SeriesKey {
                run,
                rank,
                tag: tag.get_value(),
                writer: None,
            };
            Some(ScalarsRequest {
                series: runs.into_iter().map(key).collect(),
                from: model.since.get(),
                points: Some(POINTS),
                ..ScalarsRequest::default()
            })
        },
        |wanted| async move { client::scalars_many(&wanted).await },
    )
    .again_with_runs(Signal::derive(move || Arc::new(model.runs.get())));
    let lines = move |of: fn(&[Option<Series>]) -> Vec<Option<Series>>| -> Vec<Line> {
        let runs = model.runs.get();
        answer.answer.with(|answer: &Option<Arc<ScalarsAnswer>>| {
            let Some(answer) = answer else {
                return Vec::new();
            };
            let all = of(&answer.series);
            let drawn = runs.iter().zip(all).filter_map(|(run, series)| {
                let colour = palette.with(|palette| palette.run(colours.get(run)));
                Some(line_of(&series?, colour))
            });
            drawn.collect()
        })
    };
    let range = move || {
        answer.answer.with(|answer| {
            let all = answer
                .iter()
                .flat_map(|answer| answer.series.iter().flatten());
            let ends =
                all.filter_map(|series| Some((*series.steps.first()?, *series.steps.last()?)));
            let range = ends
                .reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
                .unwrap_or((0, 1));
            (range.0 as f64, range.1.max(range.0 + 1) as f64)
        })
    };
    let curves =
        Signal::derive(move || Figure::over_steps(lines(<[Option<Series>]>::to_vec), range()));
    let apart = Signal::derive(move || {
        let lines = lines(|all| {
            let base = all.first().cloned().flatten();
            let other = |series: &Option<Series>| Some(minus(base.as_ref()?, series.as_ref()?));
            std::iter::once(None)
                .chain(all.iter().skip(1).map(other))
                .collect()
        });
        Figure::over_steps(lines, range())
    });
    // The difference pairs equal steps, which only fits this alignment.
    let has_difference = Memo::new(move |_| model.align.get() == Align::Step);
    let crosshair = Signal::derive(move || {
        let (_, step) = model.place()?;
        let text = label::step(step);
        Some(Crosshair {
            x: step as f64,
            text,
            dots: Vec::new(),
        })
    });
    let label = Signal::derive(move || tag.get_value());
    let difference_label = Signal::derive(move || {
        let runs = model.runs.get();
        let names = (runs.get(1), runs.first());
        let (Some(other), Some(base)) = names else {
            return String::new();
        };
        (i18n.texts().compare().minus)(&model.name(other), &model.name(base))
    });
    let legend = move || {
        model
            .runs
            .get()
            .into_iter()
            .map(|run| {
                let name = model.name(&run);
                view! {
                    <span class="flex gap4">
                        <RunChip run=run />
                        <bdi>{name}</bdi>
                    </span>
                }
            })
            .collect_view()
    };
    let right = view! { <span class="legend hide-small">{legend}</span> }.into_any();
    view! {
        <section class="card curves-card" data-part="curve">
            {head(move || tag.get_value(), String::new, right)}
            <div class="plot">
                <LineChart
                    figure=curves
                    label
                    crosshair
                />
            </div>
            <Show when=move || has_difference.get()>
                <span class="micro ink3 apart-label">{move || difference_label.get()}</span>
                <div class="plot apart">
                    <LineChart
                        figure=apart
                        label=difference_label
                        crosshair
                    />
                </div>
            </Show>
        </section>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_difference_is_of_common_steps() {
        let series = |points: &[(i64, f64)]| Series {
            steps: points.iter().map(|point| point.0).collect(),
            values: points.iter().map(|point| point.1).collect(),
            ..Series::default()
        };
        let difference = minus(
            &series(&[(1, 1.0), (2, 2.0)]),
            &series(&[(2, 5.0), (3, 1.0)]),
        );
        assert_eq!((difference.steps, difference.values), (vec![2], vec![3.0]));
    }
}
