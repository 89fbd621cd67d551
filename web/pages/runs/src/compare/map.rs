//! The map: tensors in the flow of data over the common steps.

use std::sync::Arc;

use trainscope_api::compare::{DifferenceMap, MapCell, MapGap};
use trainscope_charts::profile::{DifferenceCell, Differences, Figure, Hit};
use trainscope_charts::svg;

use super::model::use_model;
use super::parts::{cell_text, head, named};
use trainscope_web_kit::components::download::{download, download_png};
use trainscope_web_kit::components::{IconButton, IconName, Palette, ProfileChart, use_palette};
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::route;

/// Height of a row, CSS pixels.
const ROW: usize = 18;
/// Height of the axis below the map, CSS pixels.
const AXIS: usize = 28;
/// Width of a saved picture, CSS pixels.
const PICTURE_WIDTH: f64 = 1_200.0;

fn figure(map: &DifferenceMap, tolerance: f64, place: Option<&(String, i64)>) -> Differences {
    let cell = |cell: &MapCell| match cell {
        MapCell::Difference(difference) => DifferenceCell::Difference(difference.0),
        MapCell::Other(MapGap::Absent) => DifferenceCell::Absent,
        MapCell::Other(MapGap::Unread) => DifferenceCell::Unread,
        MapCell::Other(MapGap::OtherShape) => DifferenceCell::OtherShape,
        MapCell::Other(MapGap::Fault) => DifferenceCell::Fault,
    };
    let frame = place.and_then(|(name, step)| {
        let row = map.rows.iter().position(|row| row.name == *name)?;
        let is_it = |column: &&trainscope_api::compare::MapColumn| {
            (column.first..=column.last).contains(step)
        };
        let column = map.columns.iter().position(|column| is_it(&column))?;
        Some((row, column))
    });
    Differences {
        rows: map
            .rows
            .iter()
            .map(|row| named(&row.name, row.role))
            .collect(),
        columns: map
            .columns
            .iter()
            .map(|column| format::short_step(column.first))
            .collect(),
        cells: map
            .cells
            .iter()
            .map(|row| row.iter().map(cell).collect())
            .collect(),
        tolerance,
        frame,
    }
}

/// Card of the map. With `is_long` its height is that of all rows.
#[component]
pub(super) fn MapCard(#[prop(optional)] is_long: bool) -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let palette = use_palette();
    let drawn = Memo::new(move |_| {
        let place = model.place();
        model.map.answer.with(|map| {
            let map = map.as_deref()?;
            Some(Arc::new(figure(map, model.tolerance.get(), place.as_ref())))
        })
    });
    let shown = Signal::derive(move || {
        let differences = drawn
            .get()
            .map(|drawn| (*drawn).clone())
            .unwrap_or_default();
        Arc::new(Figure::Differences(differences))
    });
    let at = move |hit: Hit| {
        model.map.answer.with(|map| {
            let map = map.as_deref()?;
            let row = map.rows.get(hit.index)?.clone();
            let column = *map.columns.get(hit.part?)?;
            let cell = *map.cells.get(hit.index)?.get(hit.part?)?;
            Some((row, column, cell))
        })
    };
    let tip = move |hit: Hit| {
        let (row, column, cell) = at(hit)?;
        let texts = i18n.texts().compare();
        let steps = if column.first == column.last {
            format::integer(column.first)
        } else {
            format!(
                "{}–{}",
                format::integer(column.first),
                format::integer(column.last)
            )
        };
        let mut text = cell_text(cell, texts);
        if row.by_statistics {
            text = format!("{text} {}", texts.by_statistics);
        }
        Some(view! { <b>{row.name.clone()}</b> <br /> {(texts.map_cell)(texts.step, &steps, &text)} }.into_any())
    };
    let press = move |hit: Hit| {
        let Some((row, column, _)) = untrack(|| at(hit)) else {
            return;
        };
        let is_chosen = untrack(|| model.chosen.get()) == Some((row.name.clone(), column.first));
        if is_chosen && row.role.is_some() {
            // The second press on a cell opens both tensors.
            let (base, other) = untrack(|| (model.base(), model.other.get().unwrap_or_default()));
            let href = route::tensors_beside_href(&base, &other, &row.name, 0, column.first);
            trainscope_web_kit::location::use_address()
                .go(&href, trainscope_web_kit::url_state::History::Push);
            return;
        }
        model.choose(&row.name, column.first);
    };
    let label = Signal::derive(move || {
        let texts = i18n.texts().compare();
        format!("{}: {}", texts.map, texts.map_beside)
    });
    let beside = move || {
        let texts = i18n.texts().compare();
        model.map.answer.with(|map| {
            let (shown, all) = map
                .as_deref()
                .map_or((0, 0), |map| (map.rows.len() as u64, map.total));
            if shown < all {
                format!("{} · {}", texts.map_beside, (texts.map_more)(shown, all))
            } else {
                texts.map_beside.to_owned()
            }
        })
    };
    let picture = move || {
        let differences = drawn.get_untracked()?;
        let height = (differences.rows.len() * ROW + AXIS) as f64;
        let figure = Figure::Differences((*differences).clone());
        let draw =
            |palette: &Arc<Palette>| svg::profile(&figure, (PICTURE_WIDTH, height), &palette.theme);
        Some(palette.with_untracked(draw))
    };
    let save = move |is_png: bool| {
        let Some(text) = picture() else { return };
        let base = untrack(|| model.base()).replace('/', "-");
        if is_png {
            download_png(&text, format!("{base}-map.png"));
        } else {
            download(&text, "image/svg+xml", &format!("{base}-map.svg"));
        }
    };
    let save_label = |kind: &'static str| {
        Signal::derive(move || format!("{} {kind}", i18n.texts().compare().download))
    };
    let right = view! {
        <Scale />
        <span class="flex gap4 hide-small">
            <IconButton icon=IconName::Download class="small-icon" label=save_label("SVG") on_press=move || save(false) />
            <IconButton icon=IconName::Images class="small-icon" label=save_label("PNG") on_press=move || save(true) />
        </span>
    }
    .into_any();
    let rows = Memo::new(move |_| {
        drawn.with(|differences| {
            differences
                .as_ref()
                .map_or(0, |differences| differences.rows.len())
        })
    });
    let is_empty = Memo::new(move |_| model.map.answer.with(Option::is_some) && rows.get() == 0);
    let height = move || is_long.then(|| format!("{}px", rows.get() * ROW + AXIS));
    view! {
        <section class="card map-card scrolls" data-part="map" data-rows=move || rows.get().to_string()>
            {head(move || i18n.texts().compare().map.to_owned(), beside, right)}
            <Show when=move || is_empty.get()>
                <p class="small ink3 empty-part">{i18n.text(|t| t.compare().map_empty)}</p>
            </Show>
            <div class="scroll">
                <div class="plot" style:height=height hidden=move || is_empty.get()>
                    <ProfileChart figure=shown label tip=Callback::new(tip) on_press=Callback::new(press) />
                </div>
            </div>
        </section>
    }
}

/// The scale of colours, with the tolerance marked.
#[component]
fn Scale() -> impl IntoView {
    let model = use_model();
    let ends = move || {
        let tolerance = model.tolerance.get();
        let text = |value: f64| trainscope_format::digits::exact(value);
        if tolerance > 0.0 {
            [text(tolerance / 100.0), text(tolerance * 10.0)]
        } else {
            ["0".to_owned(), String::new()]
        }
    };
    view! {
        <span class="legend hide-narrow">
            <span>{move || ends()[0].clone()}</span>
            <i class="difference-scale"></i>
            <span>{move || ends()[1].clone()}</span>
            <span>
                <i class="sw inf"></i>
                "±∞"
            </span>
            <span>
                <i class="sw nan"></i>
                "NaN"
            </span>
        </span>
    }
}
