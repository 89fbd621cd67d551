//! Pictures in the cards: the curve of the loss, and the heat map of a histogram.

use super::heat::{BINS, FULLEST, Heat};
use super::model::Model;
use crate::shades::shades;
use trainscope_web_kit::components::{Figure, LineChart, line_of, use_palette};
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::run_colour::use_run_colours;

/// Curve of the first requested scalar: the loss, if recorded.
pub(super) fn curve(model: Model) -> AnyView {
    let i18n = use_i18n();
    let palette = use_palette();
    let colours = use_run_colours();
    let figure = Memo::new(move |_| {
        let colour = palette.with(|palette| palette.run(colours.get(&model.run())));
        let curves = model.curves.get();
        let line = curves.first().map(|curve| line_of(&curve.1, colour));
        let ends = line
            .as_ref()
            .and_then(|line| Some((*line.x.first()?, *line.x.last()?)));
        let (first, last) = ends.unwrap_or((0.0, 1.0));
        let last = if last > first { last } else { first + 1.0 };
        Figure::over_steps(line.into_iter().collect(), (first, last))
    });
    let label = Signal::derive(move || {
        let curves = model.curves.get();
        curves.first().map_or_else(String::new, |(tag, series)| {
            let last = series.values.last().copied().unwrap_or(f64::NAN);
            (i18n.texts().overview().curve)(tag, &format::cell(last))
        })
    });
    view! {
        <LineChart figure=figure label=label
        />
    }
    .into_any()
}

/// Maximum number of histograms for which the last one is drawn as bars. With more, a heat map is drawn.
const FEW: usize = 3;

/// The last histogram with finite values as bars, with values from left to right.
fn bars(heat: &Heat) -> Option<AnyView> {
    let i18n = use_i18n();
    let filled = heat.last_filled()?;
    let column = heat.columns.get(filled)?;
    let full = f64::from(FULLEST);
    let bars = column.levels.iter().enumerate().map(|(bin, level)| {
        let height = f64::from(*level) / full * BINS as f64;
        view! { <rect x=bin y=BINS as f64 - height width="0.9" height=height /> }
    });
    let label = (i18n.texts().overview().heat)(&heat.tag, 1);
    let step = heat
        .steps
        .get(filled)
        .map(|step| format!("{} {}", i18n.texts().frame().step, format::integer(*step)));
    let view = view! {
        <div class="heat few">
            <svg viewBox=format!("0 0 {BINS} {BINS}") preserveAspectRatio="none" role="img" aria-label=label>
                {bars.collect_view()}
            </svg>
            <div class="heat-x micro ink3">
                <span>{format::number(heat.low, 2)}</span>
                <span>{step}</span>
                <span>{format::number(heat.high, 2)}</span>
            </div>
        </div>
    };
    Some(view.into_any())
}

/// Picture of a histogram, after a sentence if the newest record has no finite value.
pub(super) fn histogram(heat: &Heat) -> AnyView {
    let i18n = use_i18n();
    let sentence = heat.not_finite.map(|newest| {
        let all = format::count(newest.nan + newest.inf);
        let step = format::integer(newest.step);
        let none_finite = i18n.texts().overview().none_finite;
        let text = none_finite(&all, newest.nan > 0, newest.inf > 0, &step);
        view! { <p class="small err">{text}</p> }
    });
    let picture = if heat.columns.len() > FEW {
        Some(heat_map(heat))
    } else {
        bars(heat)
    };
    view! {
        {sentence}
        {picture}
    }
    .into_any()
}

/// The heat map of a histogram: steps from left to right, values upwards.
fn heat_map(heat: &Heat) -> AnyView {
    let i18n = use_i18n();
    let columns = heat.columns.len();
    let cells = heat.columns.iter().enumerate().flat_map(|(x, column)| {
        let filled = column
            .levels
            .iter()
            .enumerate()
            .filter(|(_, level)| **level > 0);
        filled.map(move |(bin, level)| (x, BINS - 1 - bin, usize::from(*level)))
    });
    let bad = heat.columns.iter().enumerate();
    let bad = bad.filter(|(_, column)| column.is_bad).map(|(x, _)| {
        view! { <rect class="bad" x=x y=BINS width="1.02" height="1.5" /> }
    });
    let label = (i18n.texts().overview().heat)(&heat.tag, heat.steps.len() as u64);
    let step = |step: Option<&i64>| step.map(|step| format::integer(*step));
    let first = step(heat.steps.first());
    let last = step(heat.steps.last().filter(|_| columns > 1));
    view! {
        <div class="heat">
            <div class="heat-y micro ink3">
                <span>{format::number(heat.high, 2)}</span>
                <span>{format::number(heat.low, 2)}</span>
            </div>
            <svg
                viewBox=format!("0 0 {} {}", columns.max(1), BINS + 2)
                preserveAspectRatio="none"
                role="img"
                aria-label=label
            >
                {shades(cells, "h1.02v1.02h-1.02z")}
                {bad.collect_view()}
            </svg>
            <div class="heat-x micro ink3">
                <span>{first}</span>
                <span>{last}</span>
            </div>
        </div>
    }
    .into_any()
}
