//! The surface along both axes through the end of the training.

use trainscope_analysis::landscape::LossScale;
use trainscope_charts::line::{LimitLine, Line, XKind};
use trainscope_charts::scale::Scale;
use trainscope_charts::theme::Rgb;

use super::load::LandscapeView;
use super::model::use_model;
use trainscope_web_kit::components::{Figure, LineChart, use_palette};
use trainscope_web_kit::i18n::{LandscapeTexts, use_i18n};
use trainscope_web_kit::prelude::*;

/// The cuts as two curves over the distance from the end.
#[component]
pub(super) fn Cuts() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let palette = use_palette();
    let figure = Memo::new(move |_| {
        let texts = i18n.texts().landscape();
        let theme = palette.with(|palette| (palette.theme.ink, palette.theme.edge));
        let view = model.landscape();
        let scale = model.scale.get();
        figure(view.as_deref(), scale, theme, texts)
    });
    let label = Signal::derive(move || i18n.texts().landscape().cuts.to_owned());
    let legend = move || {
        let [first, second] = i18n.texts().landscape().directions;
        view! {
            <span>
                <i class="sw ink-line"></i>
                {first}
            </span>
            <span>
                <i class="sw edge-line"></i>
                {second}
            </span>
        }
    };
    view! {
        <div class="cut-plot">
            <LineChart figure label />
        </div>
        <div class="legend">{legend}</div>
    }
}

fn figure(
    view: Option<&LandscapeView>,
    scale: LossScale,
    (ink, edge): (Rgb, Rgb),
    texts: &LandscapeTexts,
) -> Figure {
    let line = |colour: Rgb, points: Vec<(f64, f64)>, from: f64| {
        let (x, values) = points
            .into_iter()
            .map(|(at, loss)| (at - from, loss))
            .unzip();
        Line {
            colour,
            x,
            values,
            is_main: true,
            ..Line::default()
        }
    };
    let lines = view.and_then(|view| {
        let (end, _) = view.figures.end?;
        Some(vec![
            line(edge, view.surface.cut_along_y(end), end.1),
            line(ink, view.surface.cut_along_x(end), end.0),
        ])
    });
    let lines = lines.unwrap_or_default();
    let places = lines.iter().flat_map(|line| line.x.iter().copied());
    let x = places.fold((0.0, 0.0), |(low, high), at| {
        (f64::min(low, at), f64::max(high, at))
    });
    let limit = view.and_then(|view| view.figures.limit);
    let limits = limit.map(|value| LimitLine {
        value,
        text: texts.limit.to_owned(),
        is_passed: false,
    });
    Figure {
        x_kind: XKind::Value,
        scale: match scale {
            LossScale::Linear => Scale::Linear,
            LossScale::Log => Scale::Log,
        },
        limits: limits.into_iter().collect(),
        ..Figure::over_steps(lines, x)
    }
}
