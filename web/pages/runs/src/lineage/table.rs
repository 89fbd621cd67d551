//! The table of kept rows: two sticky rows of heads, a sticky first column, and cells only for the rows and columns in
//! view.

use std::sync::Arc;

use trainscope_api::table::{CellValue, ColumnGroup, SOURCES_DIFFER};

use super::columns::{FRONT, PlaceOfColumn, name_width, place, text_in};
use super::health::HealthSign;
use super::model::{Model, use_model};
use super::note_cell::NoteCell;
use super::order::NAME;
use super::selection::SelectionBar;
use super::shades::use_shades;
use trainscope_web_kit::components::{Check, Icon, IconName, RowHeights, RowList, RunChip};
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::route;

/// Height of both rows of heads together, CSS pixels.
const HEAD: f64 = 46.0;
/// Height of a row, CSS pixels.
const ROW: f64 = 28.0;
/// Width of the column of tags and notes, CSS pixels.
const NOTE_WIDTH: f64 = 150.0;
/// Distance beyond either edge within which columns are created, CSS pixels.
const SPARE: f64 = 120.0;
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
        let columns = placed.with(|all| all.last().map(|column| column.left + column.width));
        columns.unwrap_or_else(|| name_width.get()) + NOTE_WIDTH
    });
    let columns = Memo::new(move |_| {
        let (room, _, _) = list.size.get();
        let from = left.get() - SPARE;
        let to = left.get() + room.max(900.0) + SPARE;
        placed.with(|all| {
            let in_view = all
                .iter()
                .filter(|column| column.left + column.width >= from && column.left <= to);
            Arc::new(in_view.cloned().collect::<Vec<_>>())
        })
    });
    Effect::new(move || {
        let keys: Vec<String> = columns.with(|all| {
            let plain = all.iter().map(|column| column.key.clone());
            let differing = all
                .iter()
                .filter(|column| model.info(&column.key).disagreeing > 0);
            plain
                .chain(differing.map(|column| format!("{SOURCES_DIFFER}{}", column.key)))
                .collect()
        });
        if model.in_view.get_untracked() != keys {
            model.in_view.set(keys);
        }
    });
    // Scrolls the row of the cursor into view once, and the row of the line under the pointer.
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
            .with_untracked(|order| order.iter().position(|candidate| *candidate == row));
        if let Some(place) = place {
            list.reveal(place, None);
        }
    });
    // Maximum number of rows that were in view at once; slots without a row are hidden.
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
        let (view, kept) = (model.view.get(), model.kept.get());
        model
            .selected
            .with(|selected| view.are_selected(&kept.rows, selected))
    });
    let some_selected = Memo::new(move |_| model.selected.with(|selected| !selected.is_empty()));
    let captions = move || {
        placed.with(|all| {
            let edges: Vec<(f64, ColumnGroup)> = all
                .iter()
                .filter(|column| column.is_edge)
                .map(|column| (column.left, column.group))
                .collect();
            edges
                .into_iter()
                .map(|(at, group)| {
                    view! {
                        <span class="lt-group edge" style:left=format!("{at}px")>
                            {(i18n.texts().lineage().group)(group)}
                        </span>
                    }
                })
                .collect_view()
        })
    };
    let heads = move || {
        columns.with(|all| {
            all.iter()
                .map(|column| head(column.clone(), &model))
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
                    aria-label=i18n.text(|t| t.lineage().table)
                    aria-rowcount=move || model.table_order.with(|order| order.len() + 1).to_string()
                    style:width=move || format!("{}px", width.get())
                    style:--name=move || format!("{}px", name_width.get())
                >
                    <div class="lt-heads" role="row">
                        <span class="lt-name lt-corner" role="columnheader">
                            <Check
                                checked=all_selected
                                some=some_selected
                                label=i18n.label(|t| t.runs().select_all)
                                on_press=move || model.toggle_all()
                            />
                            <SortButton column=NAME.to_owned() label=i18n.label(|t| t.runs().name) />
                        </span>
                        {captions}
                        {heads}
                        <span class="lt-head edge" role="columnheader" style:left=note_left>
                            {i18n.text(|t| t.runs().note_label)}
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
                        {i18n.text(|t| t.lineage().none_kept)}
                    </p>
                </Show>
            </div>
            <SelectionBar />
        </section>
    }
}

fn head(place: PlaceOfColumn, model: &Model) -> impl IntoView + use<> {
    let model = *model;
    let (class, title) = (
        format!(
            "lt-head{}{}",
            if place.is_number { " num" } else { "" },
            if place.is_edge { " edge" } else { "" }
        ),
        place.key.clone(),
    );
    let (key, column) = (place.key.clone(), place.key.clone());
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
            style:left=format!("{}px", place.left)
            style:width=format!("{}px", place.width)
            title=title
        >
            <SortButton column=place.key label=Signal::stored(place.label) />
        </span>
    }
}

/// Button in a head that sorts by its column.
#[component]
fn SortButton(column: String, #[prop(into)] label: Signal<String>) -> impl IntoView {
    let model = use_model();
    let id = StoredValue::new(column);
    let sign = move || {
        let found = model.sort.with(|keys| {
            keys.iter()
                .find(|key| key.column == id.get_value())
                .cloned()
        });
        found.map_or("", |key| if key.is_descending { " ↓" } else { " ↑" })
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

/// A row of the page. Scrolling changes its run.
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
        let has_cursor = model.cursor.with(|cursor| {
            let members = members.read();
            let pair = cursor.as_ref().zip(members.as_ref());
            pair.is_some_and(|(run, members)| members.contains(run))
        });
        has_cursor
            || row
                .get()
                .is_some_and(|row| model.hovered.get() == u32::try_from(row).ok())
    });
    let is_best = Memo::new(move |_| {
        let (best, target, row) = (model.best.get(), model.target.get(), row.get());
        let value = target
            .zip(row)
            .and_then(|(target, row)| model.view.with(|view| view.number(&target, row)));
        best.is_some() && value.map(f64::to_bits) == best.map(f64::to_bits)
    });
    let cells = move || {
        let row = row.get()?;
        let view = model.view.get();
        let shades = shades.get();
        let fronts = model.fronts.get();
        let made = columns.with(|columns| {
            columns
                .iter()
                .map(|column| {
                    let value = match &*column.key {
                        FRONT => {
                            let front = fronts.get(row).copied().flatten();
                            front.map_or(CellValue::Missing, |front| CellValue::Number(f64::from(front)))
                        }
                        _ => view.value(&column.key, row),
                    };
                    let text = text_in(column.group, &value, column.unit);
                    let is_bad = matches!(value, CellValue::Number(number) if !number.is_finite());
                    let differs = view.value(&format!("{SOURCES_DIFFER}{}", column.key), row) == CellValue::Truth(true);
                    let share = shades.shares.get(row).copied().filter(|share| column.has_bar && share.is_finite());
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
                        if column.is_number { " num" } else { "" },
                        if column.is_edge { " edge" } else { "" },
                        if is_bad { " err bold" } else { "" },
                    );
                    let title = if column.is_number { None } else { Some(text.clone()) };
                    let mark = differs.then(|| view! { <b class="warn" title=i18n.text(|t| t.lineage().sources_differ)>"≠ "</b> });
                    view! {
                        <span
                            class=class
                            role="cell"
                            data-column=column.key.clone()
                            style:left=format!("{}px", column.left)
                            style:width=format!("{}px", column.width)
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
                    label=Signal::derive(move || (i18n.texts().runs().select_run)(&label()))
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
                    aria-label=i18n.text(|t| t.lineage().all_values)
                    title=i18n.text(|t| t.lineage().all_values)
                >
                    <Icon name=IconName::Info size=12 />
                </a>
            </span>
            {cells}
            <span class="lt-cell edge lt-note" role="cell" style:left=move || note_left.get()>
                // A group has several runs, each with its notes.
                <Show when=move || !is_grouped.get()>
                    <NoteCell run=run />
                </Show>
            </span>
        </div>
    }
}
