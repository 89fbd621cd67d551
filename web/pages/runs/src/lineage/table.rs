//! The table of kept rows: two sticky rows of heads, a sticky first column, and cells only for the rows and columns in
//! view.

use std::sync::Arc;

use trainscope_api::table::{CellValue, ColumnGroup, ColumnInfo, ColumnKind, SOURCES_DIFFER, Unit};
use trainscope_charts::label;
use trainscope_format::digits;

use super::health::HealthSign;
use super::model::use_model;
use super::note_cell::NoteCell;
use super::order::NAME;
use super::selection::SelectionBar;
use super::shades::use_shades;
use super::view::text_of;
use trainscope_web_kit::components::{Check, Icon, IconName, RowHeights, RowList, RunChip};
use trainscope_web_kit::format;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::route;

/// Heights of the two rows of heads together, and of a row, CSS pixels.
const HEAD: f64 = 46.0;
const ROW: f64 = 28.0;
/// Width of the first column beside the name, its least and most, and that of tags with the note, CSS pixels.
const NAME_SPACE: f64 = 152.0;
const NAME_LEAST: f64 = 144.0;
const NAME_MOST: f64 = 320.0;
const NOTE_WIDTH: f64 = 150.0;
/// Width of the number of runs of a group beside its name, CSS pixels.
const RUNS_SPACE: f64 = 40.0;
/// Width of a column by its texts: least, most, and space beside them; of the bar of the coloured column.
const LEAST: f64 = 58.0;
const MOST: f64 = 200.0;
const PADDING: f64 = 16.0;
const BAR: f64 = 44.0;
/// A cell's text is a little larger than a label of a chart.
const LETTERS: f64 = 12.0 / 11.0;
/// Rows whose cells decide about the width of a column.
const MEASURED: usize = 200;
/// Columns created beyond either edge.
const SPARE: f64 = 120.0;
/// Significant digits of a parameter.
const PARAMETER_DIGITS: usize = 4;

/// A column with its place.
#[derive(Clone, Debug, PartialEq)]
struct PlaceOfColumn {
    key: String,
    label: String,
    group: ColumnGroup,
    left: f64,
    width: f64,
    is_number: bool,
    unit: Option<Unit>,
    /// True for the first column of its group.
    is_edge: bool,
    has_bar: bool,
}

/// Text of a value in a column of its group. Parameters are written as on their axis, without zeros at the end; whole
/// numbers keep all digits.
fn text_in(group: ColumnGroup, value: &CellValue, unit: Option<Unit>) -> String {
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

/// The table's card.
#[component]
pub(super) fn Table() -> impl IntoView {
    let model = use_model();
    let i18n = model.i18n;
    let list = RowList::new(HEAD, move || {
        RowHeights::Equal(model.table_order.with(|order| order.len()), ROW)
    });
    let left = RwSignal::new(0.0_f64);
    let name_width = Memo::new(move |_| name_width(&model));
    let room = Memo::new(move |_| list.size.get().0);
    let placed = Memo::new(move |_| Arc::new(place(&model, name_width.get(), room.get())));
    let width = Memo::new(move |_| {
        let columns = placed.with(|all| all.last().map(|own| own.left + own.width));
        columns.unwrap_or_else(|| name_width.get()) + NOTE_WIDTH
    });
    let columns = Memo::new(move |_| {
        let (room, _, _) = list.size.get();
        let from = left.get() - SPARE;
        let to = left.get() + room.max(900.0) + SPARE;
        placed.with(|all| {
            let in_view = all
                .iter()
                .filter(|own| own.left + own.width >= from && own.left <= to);
            Arc::new(in_view.cloned().collect::<Vec<_>>())
        })
    });
    Effect::new(move || {
        let keys: Vec<String> = columns.with(|all| {
            let own = all.iter().map(|own| own.key.clone());
            let differing = all
                .iter()
                .filter(|own| model.info(&own.key).disagreeing > 0);
            own.chain(differing.map(|own| format!("{SOURCES_DIFFER}{}", own.key)))
                .collect()
        });
        if model.in_view.get_untracked() != keys {
            model.in_view.set(keys);
        }
    });
    // The cursor's row comes into view once, and that of the line under the pointer.
    Effect::new(move |before: Option<Option<String>>| {
        let cursor = model.cursor.get();
        model.table_order.track();
        if before.as_ref() == Some(&cursor) {
            return cursor;
        }
        let place = model.cursor_place()?;
        list.reveal(place, None);
        cursor
    });
    Effect::new(move || {
        let Some(row) = model.hovered.get() else {
            return;
        };
        let place = model
            .table_order
            .with_untracked(|order| order.iter().position(|own| *own == row));
        if let Some(place) = place {
            list.reveal(place, None);
        }
    });
    // As many as were ever in view at once: a row that is not needed is hidden.
    let slots = Memo::new(move |before: Option<&usize>| {
        let range = list.range.get();
        (range.end - range.start).max(before.copied().unwrap_or(0))
    });
    let row_of = move |slot: usize| {
        let range = list.range.get();
        let len = slots.get().max(1);
        // A slot keeps its row while the row is in view.
        let place = range.start + (slot + len - range.start % len) % len;
        (place < range.end).then_some(place)
    };
    let all_selected = Memo::new(move |_| {
        model.selected.with(|selected| {
            let count = model.kept.with(|kept| kept.rows.len());
            !selected.is_empty() && selected.len() >= count
        })
    });
    let some_selected = Memo::new(move |_| model.selected.with(|selected| !selected.is_empty()));
    let captions = move || {
        placed.with(|all| {
            let edges: Vec<(f64, ColumnGroup)> = all
                .iter()
                .filter(|own| own.is_edge)
                .map(|own| (own.left, own.group))
                .collect();
            edges
                .into_iter()
                .map(|(at, group)| {
                    view! {
                        <span class="lt-group edge" style:left=format!("{at}px")>
                            {(i18n.texts().lineage.group)(group)}
                        </span>
                    }
                })
                .collect_view()
        })
    };
    let heads = move || {
        columns.with(|all| {
            all.iter()
                .map(|own| head(own.clone(), &model))
                .collect_view()
        })
    };
    let note_left = move || format!("{}px", width.get() - NOTE_WIDTH);
    view! {
        <section class="card lt-card">
            <div
                class="scroll"
                node_ref=list.holder
                on:scroll=move |_| {
                    list.follow();
                    if let Some(holder) = list.holder.get_untracked() {
                        let now = f64::from(holder.scroll_left());
                        if (now - left.get_untracked()).abs() >= 1.0 {
                            left.set(now);
                        }
                    }
                }
            >
                <div
                    class="lt"
                    role="table"
                    aria-label=i18n.text(|t| t.lineage.table)
                    aria-rowcount=move || model.table_order.with(|order| order.len() + 1).to_string()
                    style:width=move || format!("{}px", width.get())
                    style:--name=move || format!("{}px", name_width.get())
                >
                    <div class="lt-heads" role="row">
                        <span class="lt-name lt-corner" role="columnheader">
                            <Check
                                checked=all_selected
                                some=some_selected
                                label=i18n.label(|t| t.runs.select_all)
                                on_press=move || model.toggle_all()
                            />
                            <SortButton column=NAME.to_owned() label=i18n.label(|t| t.runs.name) />
                        </span>
                        {captions}
                        {heads}
                        <span class="lt-head edge" role="columnheader" style:left=note_left>
                            {i18n.text(|t| t.runs.note_label)}
                        </span>
                    </div>
                    <div class="lt-body" role="rowgroup" style:height=move || list.height()>
                        {move || {
                            (0..slots.get())
                                .map(|slot| {
                                    let place = Memo::new(move |_| row_of(slot));
                                    view! { <TableRow place=place columns=columns note_left=Signal::derive(note_left) /> }
                                })
                                .collect_view()
                        }}
                    </div>
                </div>
                <Show when=move || model.is_part.get() && model.kept.with(|kept| kept.rows.is_empty())>
                    <p class="lt-none small ink2" role="status">
                        {i18n.text(|t| t.lineage.none_kept)}
                    </p>
                </Show>
            </div>
            <SelectionBar />
        </section>
    }
}

/// Width of the first column by the names of the first rows; reactive.
fn name_width(model: &super::model::Model) -> f64 {
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
    (widest + space).clamp(NAME_LEAST, NAME_MOST).ceil()
}

/// Places of all columns from left to right: by group, but the coloured one first if it were out of view; reactive.
fn place(model: &super::model::Model, name_width: f64, room: f64) -> Vec<PlaceOfColumn> {
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
        model.i18n.texts().lineage.front.clone_into(&mut info.label);
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
        let most = if is_number(info) { f64::INFINITY } else { MOST };
        needed.clamp(LEAST, most).ceil()
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
            let own = sized.remove(at);
            sized.insert(0, own);
        }
    }
    let mut left = name_width;
    let mut before = None;
    let made = sized.into_iter().map(|(info, width)| {
        let own = PlaceOfColumn {
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
        before = Some(own.group);
        left += own.width;
        own
    });
    made.collect()
}

/// Key of the column of Pareto fronts.
pub(super) const FRONT: &str = "pareto:front";

fn head(own: PlaceOfColumn, model: &super::model::Model) -> impl IntoView + use<> {
    let model = *model;
    let (class, title) = (
        format!(
            "lt-head{}{}",
            if own.is_number { " num" } else { "" },
            if own.is_edge { " edge" } else { "" }
        ),
        own.key.clone(),
    );
    let (key, column) = (own.key.clone(), own.key.clone());
    let sort = move || {
        let found = model
            .sort
            .with(|keys| keys.iter().find(|sort| sort.column == key).cloned());
        found.map_or("none", |sort| {
            if sort.is_descending {
                "descending"
            } else {
                "ascending"
            }
        })
    };
    view! {
        <span
            class=class
            role="columnheader"
            data-column=column
            aria-sort=sort
            style:left=format!("{}px", own.left)
            style:width=format!("{}px", own.width)
            title=title
        >
            <SortButton column=own.key label=Signal::stored(own.label) />
        </span>
    }
}

/// A head that sorts.
#[component]
fn SortButton(column: String, #[prop(into)] label: Signal<String>) -> impl IntoView {
    let model = use_model();
    let id = StoredValue::new(column);
    let sign = move || {
        let own = model.sort.with(|keys| {
            keys.iter()
                .find(|key| key.column == id.get_value())
                .cloned()
        });
        own.map_or("", |key| if key.is_descending { " ↓" } else { " ↑" })
    };
    view! {
        <button
            type="button"
            class="lt-sort"
            class:on=move || !sign().is_empty()
            on:click=move |event| id.with_value(|column| model.press_sort(column, event.shift_key()))
        >
            <span class="cut">{move || label.get()}</span>
            {sign}
        </button>
    }
}

/// A row, whichever run is in it.
#[component]
fn TableRow(
    place: Memo<Option<usize>>,
    columns: Memo<Arc<Vec<PlaceOfColumn>>>,
    #[prop(into)] note_left: Signal<String>,
) -> impl IntoView {
    let model = use_model();
    let i18n = model.i18n;
    let shades = use_shades();
    let row = Memo::new(move |_| {
        let place = place.get()?;
        model
            .table_order
            .with(|order| order.get(place).map(|row| *row as usize))
    });
    let members = Memo::new(move |_| {
        let row = row.get()?;
        model.view.with(|view| Some(view.runs(row).to_vec()))
    });
    let run = Memo::new(move |_| {
        members
            .with(|members| members.as_ref()?.first().cloned())
            .unwrap_or_default()
    });
    let name = Memo::new(move |_| {
        let row = row.get()?;
        model.view.with(|view| view.names.get(row).cloned())
    });
    let size = Memo::new(move |_| members.with(|members| members.as_ref().map_or(0, Vec::len)));
    let is_grouped = Memo::new(move |_| model.view.with(|view| view.is_grouped));
    let is_selected =
        Memo::new(move |_| model.selected.with(|all| run.with(|run| all.contains(run))));
    let is_cursor = Memo::new(move |_| {
        model
            .cursor
            .with(|cursor| cursor.is_some() && *cursor == Some(run.get()))
            || row
                .get()
                .is_some_and(|row| model.hovered.get() == u32::try_from(row).ok())
    });
    let is_best = Memo::new(move |_| {
        let (best, target, row) = (model.best.get(), model.target.get(), row.get());
        let own = target
            .zip(row)
            .and_then(|(target, row)| model.view.with(|view| view.number(&target, row)));
        best.is_some() && own.map(f64::to_bits) == best.map(f64::to_bits)
    });
    let cells = move || {
        let row = row.get()?;
        let view = model.view.get();
        let shades = shades.get();
        let fronts = model.fronts.get();
        let made = columns.with(|columns| {
            columns
                .iter()
                .map(|own| {
                    let value = match &*own.key {
                        FRONT => {
                            let front = fronts.get(row).copied().flatten();
                            front.map_or(CellValue::Missing, |front| CellValue::Number(f64::from(front)))
                        }
                        _ => view.value(&own.key, row),
                    };
                    let text = text_in(own.group, &value, own.unit);
                    let is_bad = matches!(value, CellValue::Number(number) if !number.is_finite());
                    let differs = view.value(&format!("{SOURCES_DIFFER}{}", own.key), row) == CellValue::Truth(true);
                    let share = shades.shares.get(row).copied().filter(|share| own.has_bar && share.is_finite());
                    let colour = shades.colours.get(row).copied();
                    let bar = share.zip(colour).map(|(share, colour)| {
                        let css = format!("#{:02x}{:02x}{:02x}", colour.0, colour.1, colour.2);
                        view! {
                            <span class="lt-bar">
                                <i style:width=format!("{:.0}%", share * 100.0) style:background=css></i>
                            </span>
                        }
                    });
                    let class = format!(
                        "lt-cell{}{}{}",
                        if own.is_number { " num" } else { "" },
                        if own.is_edge { " edge" } else { "" },
                        if is_bad { " err bold" } else { "" },
                    );
                    let title = if own.is_number { None } else { Some(text.clone()) };
                    let mark = differs.then(|| view! { <b class="warn" title=i18n.text(|t| t.lineage.sources_differ)>"≠ "</b> });
                    view! {
                        <span
                            class=class
                            role="cell"
                            data-column=own.key.clone()
                            style:left=format!("{}px", own.left)
                            style:width=format!("{}px", own.width)
                            title=title
                        >
                            {bar}
                            {mark}
                            {text}
                        </span>
                    }
                })
                .collect_view()
        });
        Some(made)
    };
    let top = move || {
        place
            .get()
            .map_or_else(String::new, |place| format!("{}px", place as f64 * ROW))
    };
    let label = move || name.get().unwrap_or_default();
    view! {
        <div
            class="lt-row"
            role="row"
            hidden=move || row.get().is_none()
            class:cur=move || is_cursor.get()
            aria-selected=move || is_selected.get().to_string()
            data-run=move || run.get()
            style:top=top
            on:pointerdown=move |_| model.cursor.set(Some(run.get_untracked()))
            on:pointerenter=move |_| {
                let row = row.get_untracked().and_then(|row| u32::try_from(row).ok());
                if model.hovered.get_untracked() != row && place.get_untracked().is_some() {
                    model.hovered.set(row);
                }
            }
            on:pointerleave=move |_| model.hovered.set(None)
        >
            <span class="lt-name" role="rowheader">
                <Check
                    checked=is_selected
                    label=Signal::derive(move || (i18n.texts().runs.select_run)(&label()))
                    on_press=move || run.with_untracked(|run| model.toggle_selected(run))
                />
                <Show
                    when=move || is_grouped.get()
                    fallback=move || {
                        view! {
                            <RunChip run=run />
                            <a class="cut" href=move || route::overview_href(&run.get()) title=label>
                                {move || model.state.short_name(&run.get())}
                            </a>
                        }
                    }
                >
                    <span class="cut" title=label>{label}</span>
                    <span class="badge" class:warning=move || size.get() == 1>
                        {move || format!("n = {}", size.get())}
                    </span>
                </Show>
                <HealthSign members is_best />
                <a
                    class="lt-info ink3"
                    href=move || {
                        let _ = model.panel.get();
                        run.with(|run| model.row_panel_href(run))
                    }
                    aria-label=i18n.text(|t| t.lineage.all_values)
                    title=i18n.text(|t| t.lineage.all_values)
                >
                    <Icon name=IconName::Info size=12 />
                </a>
            </span>
            {cells}
            <span class="lt-cell edge lt-note" role="cell" style:left=move || note_left.get()>
                // A group has several runs, each with notes of its own.
                <Show when=move || !is_grouped.get()>
                    <NoteCell run=run />
                </Show>
            </span>
        </div>
    }
}

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
