//! Curve of a hit's scalar around its step, with the step marked and its value as text.

use trainscope_api::scalars::{NonFiniteClass, ScalarsRequest, Series, SeriesKey};
use trainscope_charts::label;
use trainscope_charts::overlay::Crosshair;
use trainscope_format::Kind;

use super::model::use_model;
use trainscope_web_kit::client::{self, ClientError};
use trainscope_web_kit::components::{Figure, LineChart, line_of, use_palette};
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::live::use_live;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::query::query;
use trainscope_web_kit::route;
use trainscope_web_kit::run_colour::use_run_colours;
use trainscope_web_kit::state::use_app_state;

/// Steps shown on each side of the hit.
const SPAN: i64 = 50;
/// Minimum number of points. With fewer, the range is widened: a scalar may be recorded every hundred steps.
const MIN_POINTS: usize = 8;
/// Factor by which the range is widened.
const WIDER: i64 = 8;
/// Maximum number of points per answer: two per pixel of the panel.
const POINTS: usize = 800;

#[derive(Clone, Debug, PartialEq)]
struct Part {
    /// First and last step of the axis.
    range: (i64, i64),
    series: Series,
}

/// Curve of a scalar around a step.
#[component]
pub(super) fn Curve(
    tag: String,
    rank: u32,
    /// Step of the hit.
    step: i64,
) -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let state = use_app_state();
    let palette = use_palette();
    let colours = use_run_colours();
    let run = StoredValue::new(model.run.get_untracked());
    let tag = StoredValue::new(tag);
    let version = use_live().run_version(&run.get_value());
    let key = move || {
        let list = state.tags(&run.get_value())?;
        let mut tags = list.tags.iter();
        let entry = tags.find(|entry| {
            entry.kind == Kind::Scalars
                && entry.rank == rank
                && tag.with_value(|tag| entry.tag == *tag)
        })?;
        entry.first_step.zip(entry.last_step)
    };
    let found = query(key, move |whole| {
        let key = SeriesKey {
            run: run.get_value(),
            rank,
            tag: tag.get_value(),
            writer: None,
        };
        async move { around(&key, step, whole).await }
    });
    let found = found.again_with(move || version.get());
    let part = Memo::new(move |_| Option::clone(&*found.answer.get()?));
    let colour = move || palette.with(|palette| palette.run(colours.get(&run.get_value())));
    let figure = Signal::derive(move || {
        let part = part.get();
        let (first, last) = part.as_ref().map_or((step, step + 1), |part| part.range);
        let line = part.map(|part| line_of(&part.series, colour()));
        Figure::over_steps(line.into_iter().collect(), (first as f64, last as f64))
    });
    let crosshair = Signal::derive(move || {
        let value = part.with(|part| value_at(&part.as_ref()?.series, step));
        Some(Crosshair {
            x: step as f64,
            text: label::step(step),
            dots: value.map(|value| (value, colour())).into_iter().collect(),
        })
    });
    let value = move || {
        let value = part.with(|part| value_at(&part.as_ref()?.series, step))?;
        let is_bad = !value.is_finite();
        let text = label::non_finite(value).map_or_else(|| label::value(value), str::to_owned);
        Some(view! {
            <span class="micro ink3">{format!("{} {}", i18n.texts().frame().step, label::step(step))}</span>
            <b class="num med value" class:err=is_bad data-kind=is_bad.then_some("non-finite")>{text}</b>
        })
    };
    let href = move || {
        let range = part.with(|part| part.as_ref().map(|part| part.range));
        tag.with_value(|tag| {
            run.with_value(|run| match range {
                Some(range) => route::scalars_at_href(run, tag, range, step),
                None => route::scalars_href(run, &[], Some(tag)),
            })
        })
    };
    let says = Signal::derive(move || {
        let value = part.with(|part| value_at(&part.as_ref()?.series, step));
        let value = value.map_or_else(|| "–".to_owned(), label::value);
        let texts = i18n.texts().debugger();
        tag.with_value(|tag| (texts.curve_label)(tag, &label::step(step), &value))
    });
    view! {
        <section class="hit-curve" data-part="hit-curve">
            <h3 class="flex">
                {i18n.text(|t| t.debugger().over_steps)} <span class="grow"></span> {value}
            </h3>
            <LineChart figure=figure label=says crosshair=crosshair />
            <a class="link small" href=href>
                {i18n.text(|t| t.debugger().show_curve)}
            </a>
        </section>
    }
}

/// Requests the points within [`SPAN`] steps of `step`, or in a wider range if these are fewer than [`MIN_POINTS`].
/// `None` if the series is missing.
async fn around(
    key: &SeriesKey,
    step: i64,
    whole: (i64, i64),
) -> Result<Option<Part>, ClientError> {
    let mut span = SPAN;
    loop {
        let range = range_around(step, span, whole);
        let request = ScalarsRequest {
            series: vec![key.clone()],
            from: Some(range.0),
            to: Some(range.1),
            points: Some(POINTS),
            ..ScalarsRequest::default()
        };
        let mut answer = client::scalars_many(&request).await?;
        let Some(series) = answer.series.pop().flatten() else {
            return Ok(None);
        };
        if series.steps.len() >= MIN_POINTS || range == range_around(step, i64::MAX, whole) {
            return Ok(Some(Part { range, series }));
        }
        span = span.saturating_mul(WIDER);
    }
}

/// Steps within `span` of `step`, limited to the recorded range.
fn range_around(step: i64, span: i64, (first, last): (i64, i64)) -> (i64, i64) {
    let from = step.saturating_sub(span).max(first.min(step));
    let to = step.saturating_add(span).min(last.max(step));
    (from, to.max(from.saturating_add(1)))
}

/// Value at a step or at the last point before it, including NaN and infinities.
fn value_at(series: &Series, step: i64) -> Option<f64> {
    let at = series.steps.partition_point(|other| *other <= step);
    let bad = series.non_finite.iter();
    let bad = bad.filter(|range| (range.first_step..=range.last_step).contains(&step));
    let mut worst = bad.map(|range| match range.class {
        NonFiniteClass::Nan => f64::NAN,
        NonFiniteClass::PosInf => f64::INFINITY,
        NonFiniteClass::NegInf => f64::NEG_INFINITY,
    });
    let value = series.values.get(at.checked_sub(1)?).copied();
    worst.find(|_| series.cut).or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_range_is_fifty_steps_on_each_side_and_ends_with_the_records() {
        assert_eq!(range_around(411, SPAN, (0, 2_800)), (361, 461));
        assert_eq!(range_around(3, SPAN, (0, 2_800)), (0, 53));
        assert_eq!(range_around(199, SPAN, (0, 199)), (149, 199));
        // A single record still has an axis.
        assert_eq!(range_around(5, SPAN, (5, 5)), (5, 6));
        assert_eq!(
            range_around(5, i64::MAX, (i64::MIN, i64::MAX)).0,
            i64::MIN + 6
        );
    }

    #[test]
    fn the_value_is_that_of_the_step() {
        let series = Series {
            steps: vec![1, 2, 4],
            values: vec![0.5, f64::INFINITY, 2.0],
            ..Series::default()
        };
        let found = [0, 1, 2, 3, 4].map(|step| value_at(&series, step));
        let expected = [
            None,
            Some(0.5),
            Some(f64::INFINITY),
            Some(f64::INFINITY),
            Some(2.0),
        ];
        assert_eq!(found, expected);
    }
}
