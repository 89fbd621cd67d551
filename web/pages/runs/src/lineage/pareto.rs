//! Results against each other: points of the first two, and the front of two or three.

use std::sync::Arc;

use trainscope_charts::profile::{Across, Dot, Figure, Hit, Scatter};

use super::model::use_model;
use super::shades::use_shades;
use trainscope_web_kit::components::ProfileChart;
use trainscope_web_kit::prelude::*;

/// The card with both results.
#[component]
pub(super) fn ParetoCard() -> impl IntoView {
    let model = use_model();
    let i18n = model.i18n;
    let shades = use_shades();
    let rows = Memo::new(move |_| {
        let keys = model.pareto.get();
        let view = model.view.get();
        let is_there = |row: &usize| {
            let finite = |key: &String| view.number(key, *row).is_some_and(f64::is_finite);
            keys.len() >= 2 && keys.iter().all(finite)
        };
        (0..view.len()).filter(is_there).collect::<Vec<_>>()
    });
    let figure = Memo::new(move |_| {
        let keys = model.pareto.get();
        let view = model.view.get();
        let (kept, shades) = (model.kept.get(), shades.get());
        let value = |at: usize, row: usize| {
            keys.get(at)
                .and_then(|key| view.number(key, row))
                .unwrap_or(f64::NAN)
        };
        let fronts = model.fronts.get();
        let rows = rows.get();
        let dots = rows.iter().map(|row| Dot {
            x: value(0, *row),
            y: value(1, *row),
            colour: shades.colours.get(*row).copied().unwrap_or_default(),
            is_filled: kept.marks.get(*row).copied().unwrap_or(false),
        });
        let first = rows
            .iter()
            .filter(|row| fronts.get(**row).copied().flatten() == Some(1));
        let mut line: Vec<(f64, f64)> = first.map(|row| (value(0, *row), value(1, *row))).collect();
        line.sort_by(|a, b| a.0.total_cmp(&b.0));
        // With three results the front is a surface, which is not a line on this plane.
        let lines = if keys.len() == 2 {
            vec![line]
        } else {
            Vec::new()
        };
        let scale = |at: usize| {
            let look = keys
                .get(at)
                .map(|key| super::scatter::scale_of(&model, key));
            Across::Numbers(look.unwrap_or_default())
        };
        Arc::new(Figure::Scatter(Scatter {
            across: scale(0),
            up: scale(1),
            dots: dots.collect(),
            lines,
            field: None,
        }))
    });
    let row_at = move |hit: Hit| rows.with_untracked(|rows| rows.get(hit.index).copied());
    let title = move || {
        model.pareto.with(|keys| {
            keys.iter()
                .map(|key| model.info(key).label)
                .collect::<Vec<_>>()
                .join(" × ")
        })
    };
    view! {
        <section class="card" data-part="pareto">
            <div class="head">
                <h2 class="cut">{move || format!("{} · {}", i18n.texts().lineage().pareto, title())}</h2>
            </div>
            <div class="body lineage-scatter">
                <ProfileChart
                    figure=figure
                    label=Signal::derive(title)
                    tip=move |hit: Hit| {
                        let view = model.view.get_untracked();
                        let name = view.names.get(row_at(hit)?).cloned()?;
                        Some(name.into_any())
                    }
                    on_press=move |hit: Hit| {
                        let view = model.view.get_untracked();
                        let run = row_at(hit).and_then(|row| view.runs(row).first().cloned());
                        model.cursor.set(run);
                    }
                />
            </div>
        </section>
    }
}
