//! A parameter against the result, or two parameters with the forest's mean result behind them.

use std::sync::Arc;

use trainscope_api::importance::{PairAnswer, PairRequest};
use trainscope_charts::parallel::{AxisKind, AxisSpec, Spot};
use trainscope_charts::profile::{Across, Dot, Field, Figure, Hit, Scatter};
use trainscope_charts::scale::Scale;

use super::axis::{AxisLook, axis_of};
use super::columns::cell_text;
use super::model::{Model, use_model};
use super::shades::use_shades;
use trainscope_web_kit::client;
use trainscope_web_kit::components::ProfileChart;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::query::query;

/// Number of points whose median is a point of the line.
const NEIGHBOURS: usize = 21;

/// Scale of an axis of a column; reactive.
pub(super) fn scale_of(model: &Model, key: &str) -> Scale {
    let model = *model;
    let view = model.view.get();
    let axis = axis_of(&view, &model.info(key), look(&model, key), "");
    match axis.map(|axis| axis.kind) {
        Some(AxisKind::Numbers { scale, .. }) => scale,
        _ => Scale::Linear,
    }
}

fn look(model: &Model, key: &str) -> AxisLook {
    let model = *model;
    model
        .looks
        .with(|looks| looks.get(key).copied().unwrap_or_default())
}

/// Position of a row on an axis; NaN without a place.
fn position(axis: &AxisSpec, row: usize) -> f64 {
    match axis.spots.get(row) {
        Some(Spot::Number(number)) => *number,
        Some(Spot::Choice(choice)) => f64::from(*choice),
        _ => f64::NAN,
    }
}

fn across(axis: &AxisSpec) -> Across {
    match &axis.kind {
        AxisKind::Numbers { scale, .. } => Across::Numbers(*scale),
        AxisKind::Choices(names) => Across::Names(names.clone()),
    }
}

/// Plot of the pressed bar or pair.
#[component]
pub(super) fn ScatterPlot() -> impl IntoView {
    let model = use_model();
    let i18n = model.i18n;
    let shades = use_shades();
    let pair = query(
        move || {
            let keys = model.bar.get();
            let [a, b] = &keys[..] else { return None };
            Some(PairRequest {
                target: model.target.get()?,
                pair: [a.clone(), b.clone()],
                goal: model.goal.get(),
                runs: model.judged_runs.get(),
                ..PairRequest::default()
            })
        },
        |request| async move { client::importance_pair(&request).await },
    );
    // Both axes, with the rows that have a place on both.
    let axes = Memo::new(move |_| {
        let view = model.view.get();
        let keys = model.bar.get();
        let up = match &keys[..] {
            [_] => model.target.get()?,
            [_, other] => other.clone(),
            _ => return None,
        };
        let axis = |key: &str| axis_of(&view, &model.info(key), look(&model, key), "");
        let (x, y) = (axis(keys.first()?)?, axis(&up)?);
        let has_place =
            |row: &usize| position(&x, *row).is_finite() && position(&y, *row).is_finite();
        let rows: Vec<usize> = (0..view.len()).filter(has_place).collect();
        Some(Arc::new((x, y, rows)))
    });
    let figure = Memo::new(move |_| {
        let (kept, shades) = (model.kept.get(), shades.get());
        let answer = pair.answer.get();
        let Some(axes) = axes.get() else {
            return Arc::new(Figure::Scatter(Scatter {
                across: Across::Numbers(Scale::Linear),
                up: Across::Numbers(Scale::Linear),
                dots: Vec::new(),
                lines: Vec::new(),
                field: None,
            }));
        };
        let (x, y, rows) = &*axes;
        let dots = rows.iter().map(|row| Dot {
            x: position(x, *row),
            y: position(y, *row),
            colour: shades.colours.get(*row).copied().unwrap_or_default(),
            is_filled: kept.marks.get(*row).copied().unwrap_or(false),
        });
        let dots: Vec<Dot> = dots.collect();
        let is_pair = model.bar.with(Vec::len) == 2;
        let points: Vec<(f64, f64)> = dots.iter().map(|dot| (dot.x, dot.y)).collect();
        let lines = match &x.kind {
            _ if is_pair => Vec::new(),
            AxisKind::Numbers { .. } => vec![running_median(points)],
            AxisKind::Choices(names) => strip_medians(&points, names.len()),
        };
        let field = answer.as_deref().filter(|_| is_pair).and_then(field_of);
        Arc::new(Figure::Scatter(Scatter {
            across: across(x),
            up: across(y),
            dots,
            lines,
            field,
        }))
    });
    let row_at =
        move |hit: Hit| axes.with_untracked(|axes| axes.as_ref()?.2.get(hit.index).copied());
    let title = move || {
        let keys = model.bar.get();
        let name = |key: &String| model.info(key).label;
        let target = model.target.get().map(|key| name(&key)).unwrap_or_default();
        match &keys[..] {
            [a] => (i18n.texts().lineage().against)(&name(a), &target),
            [a, b] => (i18n.texts().lineage().by_both)(&target, &name(a), &name(b)),
            _ => String::new(),
        }
    };
    view! {
        <p class="micro ink3 scatter-title" data-part="scatter-title">{title}</p>
        <div class="lineage-scatter">
            <ProfileChart
                figure=figure
                label=Signal::derive(title)
                tip=move |hit: Hit| {
                    let view = model.view.get_untracked();
                    let row = row_at(hit)?;
                    let mut keys = model.bar.get_untracked();
                    keys.extend(model.target.get_untracked());
                    let values = keys
                        .into_iter()
                        .map(|key| {
                            let info = untrack(|| model.info(&key));
                            let text = cell_text(&view.value(&key, row), info.unit);
                            view! { <div class="row">{info.label}<b>{text}</b></div> }
                        })
                        .collect_view();
                    let name = view.names.get(row)?.clone();
                    Some(view! { <div class="row med">{name}</div>{values} }.into_any())
                }
                on_press=move |hit: Hit| {
                    let view = model.view.get_untracked();
                    let run = row_at(hit).and_then(|row| view.runs(row).first().cloned());
                    model.cursor.set(run);
                }
            />
        </div>
    }
}

/// Mean predictions behind the points; `None` if an axis of the answer has no edges.
fn field_of(answer: &PairAnswer) -> Option<Field> {
    let [x, y] = &answer.axes;
    let ends = |edges: &[f64]| Some((*edges.first()?, *edges.last()?));
    let ends = [ends(&x.edges)?, ends(&y.edges)?];
    (!answer.cells.is_empty()).then(|| Field {
        columns: x.edges.len().saturating_sub(1),
        cells: answer.cells.clone(),
        ends,
    })
}

/// Median of the neighbours of each point, sorted by x; empty with fewer than [`NEIGHBOURS`] points.
fn running_median(mut points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half = NEIGHBOURS / 2;
    if points.len() < NEIGHBOURS {
        return Vec::new();
    }
    let of = |index: usize| {
        let from = index.saturating_sub(half);
        let to = (index + half + 1).min(points.len());
        median(points[from..to].iter().map(|point| point.1).collect()).map(|y| (points[index].0, y))
    };
    (0..points.len()).filter_map(of).collect()
}

/// Short horizontal lines at the medians of categories.
fn strip_medians(points: &[(f64, f64)], categories: usize) -> Vec<Vec<(f64, f64)>> {
    /// Half the length of a line, in places.
    const HALF: f64 = 0.3;
    let of = |category: usize| {
        let at = category as f64;
        let members = points.iter().filter(|point| (point.0 - at).abs() < 0.5);
        let middle = median(members.map(|point| point.1).collect())?;
        Some(vec![(at - HALF, middle), (at + HALF, middle)])
    };
    (0..categories).filter_map(of).collect()
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    let upper = *values.get(middle)?;
    if values.len().is_multiple_of(2) {
        Some(f64::midpoint(*values.get(middle - 1)?, upper))
    } else {
        Some(upper)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_follow_neighbours_and_categories() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(vec![3.0, 1.0]), Some(2.0));
        assert_eq!(median(Vec::new()), None);
        let points: Vec<(f64, f64)> = (0..50)
            .map(|at| (f64::from(at), if at == 25 { 1e9 } else { 1.0 }))
            .collect();
        let line = running_median(points);
        assert!(line.len() == 50 && line.iter().all(|point| (point.1 - 1.0).abs() < 1e-12));
        assert!(running_median(vec![(1.0, 1.0)]).is_empty(), "too few");
        let strips = strip_medians(&[(0.0, 1.0), (0.0, 3.0), (2.0, 5.0)], 3);
        assert_eq!(
            strips,
            [vec![(-0.3, 2.0), (0.3, 2.0)], vec![(1.7, 5.0), (2.3, 5.0)]]
        );
    }
}
