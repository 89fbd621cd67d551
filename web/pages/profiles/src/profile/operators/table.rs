//! The table of operators: only visible rows are built; an order by any column, one selected row.

use std::cmp::Ordering;
use std::sync::Arc;

use trainscope_api::profile::{OperatorGroup, OperatorRow};

use super::super::model::{share, use_model};
use super::super::parts::long_table;
use super::SHAPES;
use super::columns::{Column, SORT, Scale};
use trainscope_web_kit::components::{IconName, RowHeights, RowList, fixed_icon, long_name};
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::keys::use_keys;
use trainscope_web_kit::parameters::OPERATOR;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::url_state::{History, UrlState};

/// Height of a row, CSS pixels.
const ROW: f64 = 26.0;

/// Position of the selected row among the rows; the first without a selection.
pub(super) fn selected(url: UrlState, rows: Memo<Arc<Vec<OperatorRow>>>) -> Memo<Option<usize>> {
    let (name, shapes) = (url.param(OPERATOR), url.setting(SHAPES));
    let order = url.param(SORT);
    Memo::new(move |_| {
        let (name, shapes) = (name.get(), shapes.get());
        rows.with(|rows| {
            let mut all = rows.iter();
            let position =
                all.position(|row| Some(&row.name) == name.as_ref() && row.shapes == shapes);
            position.or_else(|| Column::sorted(order.get(), rows).first().copied())
        })
    })
}

#[component]
pub(super) fn OperatorTable(
    rows: Memo<Arc<Vec<OperatorRow>>>,
    by: Memo<OperatorGroup>,
    columns: Memo<Vec<Column>>,
    scale: Memo<Scale>,
    footer: Signal<String>,
) -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let url = model.url;
    let order = url.param(SORT);
    let chosen = selected(url, rows);
    let sorted = Memo::new(move |_| rows.with(|rows| Column::sorted(order.get(), rows)));
    let longest = Memo::new(move |_| {
        rows.with(|rows| {
            rows.iter()
                .map(|row| row.self_step_nanos)
                .max()
                .unwrap_or(0)
        })
    });
    let list = RowList::new(0.0, move || RowHeights::Equal(sorted.with(Vec::len), ROW));
    let select = move |row: usize| {
        rows.with_untracked(|rows| {
            let Some(row) = rows.get(row) else { return };
            let changes = [OPERATOR.to(&row.name), SHAPES.to(&row.shapes)];
            url.set(&changes, History::Replace);
        });
    };
    use_keys(move |key, _| {
        let by = match key {
            "j" | "ArrowDown" => 1,
            "k" | "ArrowUp" => -1,
            "Enter" => {
                let name = chosen.get_untracked().and_then(|row| {
                    rows.with_untracked(|rows| rows.get(row).map(|row| row.name.clone()))
                });
                if let Some(name) = &name {
                    model.open(&untrack(|| model.step_href(None, Some(name))));
                }
                return name.is_some();
            }
            _ => return false,
        };
        let next = sorted.with_untracked(|sorted| {
            let now = chosen.get_untracked();
            let now = sorted.iter().position(|row| Some(*row) == now)?;
            let next = now.checked_add_signed(by)?;
            Some((next, *sorted.get(next)?))
        });
        if let Some((at, row)) = next {
            select(row);
            list.reveal(at, None);
        }
        true
    });
    let grid = Memo::new(move |_| columns.with(|all| Column::grid(all)));
    let heads = move || {
        let texts = i18n.texts();
        let order = order.get();
        let group = by.get();
        let all = columns.get().into_iter().map(|column| {
            let title = column.title(group, scale.get(), texts);
            let direction = column.direction(order);
            let sort = direction.map(|direction| match direction {
                Ordering::Greater => "descending",
                _ => "ascending",
            });
            let arrow = direction.map(|direction| match direction {
                Ordering::Greater => " ↓",
                _ => " ↑",
            });
            view! {
                <span role="columnheader" class:num=!column.is_text() && column != Column::SelfStep aria-sort=sort>
                    <button
                        type="button"
                        class="head-button"
                        class:sort=direction.is_some()
                        on:click=move |_| {
                            let order = SORT.to_option(column.pressed(order));
                            url.set(&[order], History::Replace);
                        }
                    >
                        {title}
                        {arrow}
                    </button>
                </span>
            }
        });
        all.collect::<Vec<_>>()
    };
    let seen = move || {
        let columns = columns.get();
        let (scale, longest) = (scale.get(), longest.get());
        sorted.with(|sorted| {
            rows.with(|rows| {
                let seen = list.rows_of(sorted);
                let seen = seen.filter_map(|(_, row)| Some((*row, rows.get(*row)?)));
                seen.map(|(at, row)| {
                    let cells = columns
                        .iter()
                        .map(|column| cell(*column, row, scale, longest));
                    let cells = cells.collect::<Vec<_>>();
                    view! {
                        <div
                            class="r press"
                            role="row"
                            class:cur=move || chosen.get() == Some(at)
                            aria-current=move || (chosen.get() == Some(at)).then_some("true")
                            on:click=move |_| select(at)
                        >
                            {cells}
                        </div>
                    }
                })
                .collect::<Vec<_>>()
            })
        })
    };
    view! {
        {long_table(
            list,
            Signal::derive(move || grid.with(|grid| grid.0.clone())),
            Signal::derive(move || grid.with(|grid| grid.1.clone())),
            heads,
            seen,
        )}
        <div class="foot micro ink3">
            <span class="cut">{move || footer.get()}</span>
            <span class="grow"></span>
            <span class="hide-narrow keys">
                <kbd>"j"</kbd>
                <kbd>"k"</kbd>
                {i18n.text(|t| t.profile().rows)}
                <kbd>"↵"</kbd>
                {i18n.text(|t| t.profile().open_timeline)}
            </span>
        </div>
    }
}

fn cell(column: Column, row: &OperatorRow, scale: Scale, longest: i64) -> AnyView {
    let mut text = column.text(row, scale, use_i18n().texts());
    if column == Column::Name && text.is_empty() {
        use_i18n().texts().profile().no_scope.clone_into(&mut text);
    }
    match column {
        Column::Name => view! {
            <span role="cell" class="name">
                <button type="button" class="plain" title=text.clone()>
                    {long_name(&text)}
                </button>
            </span>
        }
        .into_any(),
        Column::Type | Column::Shapes => view! {
            <span role="cell" class="cut ink2" title=text.clone()>
                {text.clone()}
            </span>
        }
        .into_any(),
        Column::SelfStep => {
            let width = share(row.self_step_nanos, longest) * 40.0;
            view! {
                <span role="cell" class="tb">
                    <span class="num">{text}</span>
                    <i style:width=format!("{width:.1}px")></i>
                </span>
            }
            .into_any()
        }
        Column::TensorCores => view! {
            <span role="cell" class="num">
                {row.tensor_cores.then(|| fixed_icon(IconName::Tick, 12))}
            </span>
        }
        .into_any(),
        _ => view! { <span role="cell" class="num">{text}</span> }.into_any(),
    }
}
