//! Tables: figures of each run, and the recorded states.

use trainscope_analysis::landscape::Figures;
use trainscope_format::digits::{brief, count};

use super::model::use_model;
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::{LandscapeTexts, use_i18n};
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::state::use_app_state;

/// Maximum number of runs in the table: more do not fit next to the map.
const COLUMNS: usize = 3;

/// Figures, a column for each run.
#[component]
pub(super) fn FiguresTable() -> impl IntoView {
    let model = use_model();
    let state = use_app_state();
    let i18n = use_i18n();
    let content = move || {
        let texts = i18n.texts().landscape();
        let shown: Vec<_> = model.shown.get().into_iter().take(COLUMNS).collect();
        let heads = shown.iter().map(|(run, _)| {
            view! {
                <th class="num cut" scope="col" title=run.clone()>
                    {state.short_name(run)}
                </th>
            }
        });
        let heads = heads.collect_view();
        let columns: Vec<[String; 7]> = shown
            .iter()
            .map(|(_, view)| cells(&view.figures, texts))
            .collect();
        let rows = texts.rows.iter().enumerate().map(|(row, name)| {
            let explain = match row {
                4 => texts.explain[0],
                5 => texts.explain[1],
                _ => "",
            };
            let values = columns.iter().map(|column| {
                view! { <td class="num">{column[row].clone()}</td> }
            });
            view! {
                <tr title=explain>
                    <td class="ink2">{*name}</td>
                    {values.collect_view()}
                </tr>
            }
        });
        view! {
            <table class="dense">
                <thead>
                    <tr>
                        <td></td>
                        {heads}
                    </tr>
                </thead>
                <tbody>{rows.collect_view()}</tbody>
            </table>
        }
    };
    view! { <div>{content}</div> }
}

/// The cells of a run, in the order of the rows; an en dash for missing values.
fn cells(figures: &Figures, texts: &LandscapeTexts) -> [String; 7] {
    let maybe = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), brief);
    let (nan, infinite) = figures.not_finite;
    [
        maybe(figures.end.map(|end| end.1)),
        maybe(figures.least.map(|least| least.loss)),
        figures.least.map_or_else(
            || "–".to_owned(),
            |least| format!("{}, {}", brief(least.at.0), brief(least.at.1)),
        ),
        maybe(figures.path_length),
        match (figures.radius, figures.limit) {
            (None, Some(_)) => texts.beyond.to_owned(),
            (radius, _) => maybe(radius),
        },
        maybe(figures.curvature),
        format!("{}, {}", count(nan as u64), count(infinite as u64)),
    ]
}

/// The recorded states of the page's run: loss in the plane next to that of the training.
#[component]
pub(super) fn SavedTable() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let content = move || {
        let texts = i18n.texts().landscape();
        let view = model.landscape()?;
        if view.figures.saved.is_empty() {
            return None;
        }
        let is_epoch = view.landscape.unit == "epoch";
        let unit = texts.units[usize::from(!is_epoch)];
        let rows = view.figures.saved.iter().map(|saved| {
            let step = saved.step.filter(|_| is_epoch).map(texts.step);
            let interval = saved
                .interval
                .map_or_else(|| "–".to_owned(), format::integer);
            let training = saved.training_loss.map_or_else(|| "–".to_owned(), brief);
            view! {
                <tr>
                    <td class="ink2" title=step>
                        {interval}
                    </td>
                    <td class="num">{brief(saved.loss)}</td>
                    <td class="num">{training}</td>
                </tr>
            }
        });
        Some(view! {
            <table class="dense saved" aria-label=texts.saved>
                <thead>
                    <tr>
                        <th scope="col">{unit}</th>
                        <th class="num" scope="col">
                            {texts.in_plane}
                        </th>
                        <th class="num" scope="col">
                            {texts.in_training}
                        </th>
                    </tr>
                </thead>
                <tbody>{rows.collect_view()}</tbody>
            </table>
        })
    };
    view! { <div class="scroll">{content}</div> }
}
