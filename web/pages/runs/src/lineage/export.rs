//! Exports of the page: the table as CSV and JSON, the lines as SVG and PNG.

use std::iter;
use std::sync::Arc;

use trainscope_charts::parallel::{Layout, Spec};
use trainscope_charts::svg;
use trainscope_format::csv;

use super::model::Model;
use super::shades::Shades;
use super::view::View;
use trainscope_web_kit::components::download::{download, download_png};
use trainscope_web_kit::components::{Lines, Palette, strokes};
use trainscope_web_kit::prelude::*;

/// Size of the picture, CSS pixels: the width grows with the number of axes.
const WIDTH: f64 = 1_056.0;
const HEIGHT: f64 = 320.0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Csv,
    Json,
    Svg,
    Png,
}

/// Downloads the kept rows, or the picture.
pub(super) fn export(model: &Model, palette: &Palette, shades: &Shades, format: Format) {
    let model = *model;
    let view = model.view.get_untracked();
    let order = model.order.get_untracked();
    let keys = model.table_keys.get_untracked();
    match format {
        Format::Csv => download(&csv(&view, &order, &keys), "text/csv", "lineage.csv"),
        Format::Json => download(
            &json(&view, &order, &keys),
            "application/json",
            "lineage.json",
        ),
        Format::Svg => download(
            &picture(&model, palette, shades),
            "image/svg+xml",
            "lineage.svg",
        ),
        Format::Png => download_png(&picture(&model, palette, shades), "lineage.png".to_owned()),
    }
}

fn picture(model: &Model, palette: &Palette, shades: &Shades) -> String {
    let model = *model;
    let axes = model.axes.get_untracked();
    let layout = Layout::new(&Spec {
        width: WIDTH,
        height: HEIGHT,
        dpr: 1.0,
        axes: axes.iter().map(|(_, axis)| axis.clone()).collect(),
    });
    let (kept, order) = (model.kept.get_untracked(), model.order.get_untracked());
    let lines = Lines {
        colours: shades.colours.clone(),
        shades: Vec::new(),
        kept: kept.marks.clone(),
        order: order.iter().rev().copied().collect(),
        marked: Vec::new(),
    };
    let (below, above) = strokes(&lines, &palette.theme);
    let names = untrack(|| model.i18n.texts().lineage().lanes);
    svg::parallel(&layout, (&below, &above), names, &palette.theme)
}

/// CSV: first column `run`, keys as heads, empty cells without a value.
fn csv(view: &View, order: &[u32], keys: &[String]) -> String {
    let head = iter::once("run").chain(keys.iter().map(String::as_str));
    let rows = order.iter().map(|row| {
        let row = *row as usize;
        let name = view.names.get(row).cloned().unwrap_or_default();
        let cells = keys.iter().map(move |key| view.value(key, row).text());
        iter::once(name).chain(cells)
    });
    csv::text(head, rows)
}

/// List of objects, with values in the format of the API.
fn json(view: &Arc<View>, order: &[u32], keys: &[String]) -> String {
    let rows = order.iter().map(|row| {
        let row = *row as usize;
        let mut object = serde_json::Map::new();
        object.insert("run".to_owned(), view.names.get(row).cloned().into());
        for key in keys {
            // A value of the table is always JSON.
            let value = serde_json::to_value(view.value(key, row)).unwrap_or_default();
            object.insert(key.clone(), value);
        }
        serde_json::Value::Object(object)
    });
    serde_json::Value::Array(rows.collect()).to_string()
}

#[cfg(test)]
mod tests {
    use super::super::view::table;
    use super::*;
    use trainscope_api::table::CellValue::{Missing, Number, Text, Truth};

    #[test]
    fn tables_read_back_and_no_text_is_a_formula() {
        let of = |text: &str| Text(text.to_owned());
        let table = table(&[
            (
                "lr",
                &[Number(0.1), Number(f64::NAN), Number(f64::NEG_INFINITY)],
            ),
            ("note, \"x\"", &[of("=1+1"), of("a,b"), Missing]),
            ("amp", &[Truth(true), Missing, Truth(false)]),
        ]);
        let view = Arc::new(View::of(&table, |_| true));
        let keys = ["lr", "note, \"x\"", "amp"].map(str::to_owned);
        assert_eq!(
            csv(&view, &[0, 1, 2], &keys),
            "run,lr,\"note, \"\"x\"\"\",amp\nr0,0.1,'=1+1,true\nr1,NaN,\"a,b\",\nr2,-Infinity,,false\n"
        );
        // Compared as values: the order of members depends on features of `serde_json` that other packages turn on.
        let members: serde_json::Value =
            serde_json::from_str(&json(&view, &[1], &keys[..1])).expect("JSON");
        assert_eq!(members, serde_json::json!([{"run": "r1", "lr": "NaN"}]));
    }
}
