//! Columns of the table: their texts, widths and places.

use trainscope_api::table::{CellValue, ColumnGroup, ColumnInfo, ColumnKind, Unit};
use trainscope_charts::label;
use trainscope_format::digits;
use trainscope_web_kit::format;
use trainscope_web_kit::prelude::*;

use super::model::Model;
use super::view::text_of;

/// Width of the first column without the name, CSS pixels.
const NAME_SPACE: f64 = 152.0;
/// Minimum width of the first column, CSS pixels.
const NAME_MIN: f64 = 144.0;
/// Maximum width of the first column, CSS pixels.
const NAME_MAX: f64 = 320.0;
/// Width of the number of runs next to the name of a group, CSS pixels.
const RUNS_SPACE: f64 = 40.0;
/// Minimum width of a column, CSS pixels.
const MIN_WIDTH: f64 = 58.0;
/// Maximum width of a column of texts, CSS pixels.
const MAX_WIDTH: f64 = 200.0;
/// Space next to the text of a cell, CSS pixels.
const PADDING: f64 = 16.0;
/// Width of the bar in the coloured column, CSS pixels.
const BAR: f64 = 44.0;
/// Size of a cell's text relative to a label of a chart.
const LETTERS: f64 = 12.0 / 11.0;
/// Number of rows whose cells determine the width of a column.
const MEASURED: usize = 200;
/// Significant digits of a parameter.
const PARAMETER_DIGITS: usize = 4;

/// A column with its place in the table, CSS pixels.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PlaceOfColumn {
    pub(super) key: String,
    pub(super) label: String,
    pub(super) group: ColumnGroup,
    pub(super) left: f64,
    pub(super) width: f64,
    pub(super) is_number: bool,
    pub(super) unit: Option<Unit>,
    /// `true` for the first column of its group.
    pub(super) is_edge: bool,
    pub(super) has_bar: bool,
}

/// Text of a value in a column of its group. Parameters are written as on their axis, without trailing zeros; whole
/// numbers keep all digits.
pub(super) fn text_in(group: ColumnGroup, value: &CellValue, unit: Option<Unit>) -> String {
    match value {
        CellValue::Number(number)
            if group == ColumnGroup::Parameter && unit.is_none() && number.fract() != 0.0 =>
        {
            digits::trimmed(*number, PARAMETER_DIGITS)
        }
        _ => cell_text(value, unit),
    }
}

/// Text of a value with its unit; numbers are never cut.
pub(super) fn cell_text(value: &CellValue, unit: Option<Unit>) -> String {
    match (value, unit) {
        (CellValue::Missing, _) => "–".to_owned(),
        (CellValue::Number(number), Some(unit)) if number.is_finite() => match unit {
            Unit::Time => format::moment(*number),
            Unit::Duration => format::duration(*number),
            Unit::Bytes => format::bytes(format::whole(*number)),
        },
        (CellValue::Number(number), _) if number.fract() == 0.0 && number.abs() < 1e9 => {
            number.to_string().replace('-', "−")
        }
        _ => text_of(value),
    }
}

/// Width of the first column by the names of the first rows; reactive.
pub(super) fn name_width(model: &Model) -> f64 {
    let model = *model;
    let view = model.view.get();
    let text = |name: &String| {
        if view.is_grouped {
            name.clone()
        } else {
            model.state.short_name(name)
        }
    };
    let names = view.names.iter().take(MEASURED).map(text);
    let widest = names
        .map(|name| label::width(&name) * LETTERS)
        .fold(0.0, f64::max);
    let space = NAME_SPACE + if view.is_grouped { RUNS_SPACE } else { 0.0 };
    (widest + space).clamp(NAME_MIN, NAME_MAX).ceil()
}

/// Places of all columns from left to right, by group; reactive. The coloured column comes first if it would be out of
/// view.
pub(super) fn place(model: &Model, name_width: f64, room: f64) -> Vec<PlaceOfColumn> {
    let model = *model;
    let view = model.view.get();
    let colour = model.colour.get();
    let front = model.pareto.with(Vec::len) >= 2;
    let mut keys = model.table_keys.get();
    if front {
        keys.insert(0, FRONT.to_owned());
    }
    let mut infos: Vec<_> = keys.iter().map(|key| model.info(key)).collect();
    for info in infos.iter_mut().filter(|info| info.key == FRONT) {
        model
            .i18n
            .texts()
            .lineage()
            .front
            .clone_into(&mut info.label);
        info.kind = ColumnKind::Integer;
        info.group = ColumnGroup::Result;
    }
    infos.sort_by_key(|info| info.group);
    let is_number =
        |info: &ColumnInfo| matches!(info.kind, ColumnKind::Number | ColumnKind::Integer);
    let width = |info: &ColumnInfo| {
        let texts = (0..view.len().min(MEASURED))
            .map(|row| text_in(info.group, &view.value(&info.key, row), info.unit));
        let widest = texts.map(|text| label::width(&text)).fold(0.0, f64::max);
        let has_bar = colour.as_ref() == Some(&info.key);
        let bar = if has_bar { BAR } else { 0.0 };
        let needed = (widest * LETTERS + bar).max(label::width(&info.label) + 14.0) + PADDING;
        let most = if is_number(info) {
            f64::INFINITY
        } else {
            MAX_WIDTH
        };
        needed.clamp(MIN_WIDTH, most).ceil()
    };
    let mut sized: Vec<(ColumnInfo, f64)> = infos
        .into_iter()
        .map(|info| {
            let width = width(&info);
            (info, width)
        })
        .collect();
    let coloured = sized
        .iter()
        .position(|(info, _)| colour.as_ref() == Some(&info.key));
    if let Some(at) = coloured {
        let right: f64 = sized.iter().take(at + 1).map(|(_, width)| width).sum();
        if room > 0.0 && name_width + right > room {
            let column = sized.remove(at);
            sized.insert(0, column);
        }
    }
    let mut left = name_width;
    let mut before = None;
    let made = sized.into_iter().map(|(info, width)| {
        let placed = PlaceOfColumn {
            left,
            width,
            is_number: is_number(&info),
            unit: info.unit,
            is_edge: before != Some(info.group),
            group: info.group,
            has_bar: colour.as_ref() == Some(&info.key),
            key: info.key,
            label: info.label,
        };
        before = Some(placed.group);
        left += placed.width;
        placed
    });
    made.collect()
}

/// Key of the column of Pareto fronts.
pub(super) const FRONT: &str = "pareto:front";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_written_as_on_their_axis_and_keep_all_digits_of_whole_numbers() {
        let text = |number| text_in(ColumnGroup::Parameter, &CellValue::Number(number), None);
        assert_eq!(
            [0.001, 3e-4, 0.1, 128_000.0, 123_456.0].map(text),
            ["0.001", "3e−4", "0.1", "128000", "123456"]
        );
        assert_eq!(text(f64::NAN), "NaN");
    }
}
