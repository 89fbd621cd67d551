//! Elements of a slice as a table. Only cells in view are drawn, coloured by their distance from zero.

use std::sync::Arc;

use leptos::html;
use trainscope_api::tensors::{Element, TensorSource};
use trainscope_format::tensor::DType;

use super::axes::SliceBar;
use super::model::{CellContent, sentence, use_model};
use trainscope_web_kit::components::pointer::place;
use trainscope_web_kit::components::tensor::{Tile, Window, grid};
use trainscope_web_kit::components::use_size;
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::pixels::{pixels, whole};
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::query::Load;

/// Height of a row and width of a column, in pixels.
const ROW: f64 = 21.0;
const COLUMN: f64 = 62.0;
/// Width of the row heads and height of the column heads, in pixels.
const HEADS: (f64, f64) = (54.0, 20.0);
/// Default absolute and relative tolerance, equal to those of the server.
const USUAL_TOLERANCE: [f64; 2] = [1e-8, 1e-5];
/// Maximum distance that browsers scroll, in pixels.
const MAX_PIXELS: f64 = 16_000_000.0;

/// The bar of the slice, and the table.
#[component]
pub(super) fn Values() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let state = move || {
        let plane = model.plane.get();
        if model.source() == Some(TensorSource::Statistics) {
            return without();
        }
        if let Some(Err(reason)) = plane {
            return notice(i18n.texts().tensors().slice, reason);
        }
        if let Load::Failed(error) = model.loaded.get() {
            let texts = i18n.texts().tensors();
            let dtype = model.entry.with(|entry| entry.as_ref()?.dtype.clone());
            let is_known = dtype.is_none_or(|dtype| DType::of_name(&dtype).is_some());
            let title = if is_known {
                texts.unreadable
            } else {
                texts.not_shown
            };
            return notice(title, sentence(&error));
        }
        ().into_any()
    };
    let is_table = Memo::new(move |_| {
        model.source() != Some(TensorSource::Statistics)
            && !model.plane.with(|plane| matches!(plane, Some(Err(_))))
            && !model
                .loaded
                .with(|loaded| matches!(loaded, Load::Failed(_)))
    });
    view! {
        <SliceBar />
        {state}
        <Show when=move || is_table.get()>
            <Sheet />
        </Show>
    }
}

/// Notice for a step without elements, with the nearest steps that have some.
fn without() -> AnyView {
    let model = use_model();
    let texts = &use_i18n().texts().tensors();
    let (Some(step), nearest) = (model.step.get(), model.nearest()) else {
        return ().into_any();
    };
    if nearest.is_empty() {
        return notice(texts.only_statistics, texts.only_statistics_next.to_owned());
    }
    let links = nearest.into_iter().map(|step| {
        view! {
            <button type="button" class="btn" on:click=move |_| model.set_step(step)>
                {(texts.step)(step)}
            </button>
        }
    });
    view! {
        <div class="tensor-notice" role="status">
            <h2>{(texts.no_values_at)(step)}</h2>
            <p class="small ink2">{texts.nearest_values}</p>
            <div class="acts">{links.collect_view()}</div>
        </div>
    }
    .into_any()
}

fn notice(title: &'static str, next: String) -> AnyView {
    view! {
        <div class="tensor-notice" role="status">
            <h2>{title}</h2>
            <p class="small ink2">{next}</p>
        </div>
    }
    .into_any()
}

/// Length in pixels to scroll over a number of cells, at most [`MAX_PIXELS`].
fn scrollable(cells: u64, size: f64) -> f64 {
    (cells as f64 * size).min(MAX_PIXELS)
}

#[component]
fn Sheet() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let scroller = NodeRef::<html::Div>::new();
    let size = use_size(scroller);
    let scrolled = RwSignal::new((0.0, 0.0));
    let hovered = RwSignal::new(None::<(u64, u64)>);
    let all = Memo::new(move |_| {
        let plane = model.plane.get()?.ok()?;
        Some(plane.all())
    });
    Effect::new(move || {
        let (width, height, _) = size.get();
        let (left, top) = scrolled.get();
        let Some(all) = all.get() else { return };
        let one = |first: u64, len: u64, from: f64, pixels: f64, size: f64| {
            let shown = whole(pixels / size) as u64 + 1;
            // The last cell can be reached despite the rounding of the scroll bar.
            let from = (whole(from / size) as u64).min(len.saturating_sub(shown.saturating_sub(1)));
            (first + from, shown.min(len - from.min(len)))
        };
        let (row, rows) = one(all.row, all.rows, top, height - HEADS.1, ROW);
        let (column, columns) = one(all.column, all.columns, left, width - HEADS.0, COLUMN);
        let view = Window {
            row,
            column,
            rows,
            columns,
        };
        if model.view.get_untracked() != view {
            model.view.set(view);
        }
    });
    // A new cell in the address is scrolled into view.
    Effect::new(move || {
        let (Some((row, column)), Some(all)) = (model.at.get(), all.get()) else {
            return;
        };
        let Some(scroller) = scroller.get() else {
            return;
        };
        let (width, height, _) = size.get();
        let view = model.view.get_untracked();
        let is_in = |at: u64, from: u64, len: u64| from <= at && at + 1 < from + len.max(1);
        if !is_in(row, view.row, view.rows) {
            let at = row.saturating_sub(all.row) as f64 * ROW;
            scroller.set_scroll_top(pixels(at - (height - HEADS.1) / 2.0));
        }
        if !is_in(column, view.column, view.columns) {
            let at = column.saturating_sub(all.column) as f64 * COLUMN;
            scroller.set_scroll_left(pixels(at - (width - HEADS.0) / 2.0));
        }
    });
    let extent = move || {
        let all = all.get().unwrap_or_default();
        (
            scrollable(all.columns, COLUMN) + HEADS.0,
            scrollable(all.rows, ROW) + HEADS.1,
        )
    };
    let is_too_long = move || {
        let all = all.get().unwrap_or_default();
        all.rows as f64 * ROW > MAX_PIXELS || all.columns as f64 * COLUMN > MAX_PIXELS
    };
    let is_empty = move || {
        let all = all.get().unwrap_or(Window {
            rows: 1,
            columns: 1,
            ..Window::default()
        });
        all.rows == 0 || all.columns == 0
    };
    let grid = move || {
        let Load::Ready(tile) = model.loaded.get() else {
            return ().into_any();
        };
        cells(&tile)
    };
    let status = move || {
        let Load::Ready(tile) = model.loaded.get() else {
            return None;
        };
        let text = hovered
            .get()
            .or_else(|| model.at.get())
            .and_then(|(row, column)| {
                let place = tile.plane.place(tile.window, row, column)?;
                let value = shown(&tile, model.shown.get()).get(place)?;
                let indices: Vec<String> = tile
                    .plane
                    .indices(row, column)
                    .iter()
                    .map(u64::to_string)
                    .collect();
                Some(format!("[{}] = {}", indices.join(", "), exact(value)))
            });
        let all = all.get().map_or(0, |all| all.rows * all.columns);
        let compared = tile.values.compared.as_ref().map(|compared| {
            let loaded = compared.values.len() as u64;
            (i18n.texts().tensors().beyond)(compared.beyond, loaded, all)
        });
        let text = text.unwrap_or_else(|| (i18n.texts().tensors().in_table)(all));
        Some(view! {
            <span class="cell-readout">{text}</span>
            <span class="grow"></span>
            <span class="ink3 beyond">{compared}</span>
        })
    };
    let is_compared = Memo::new(move |_| {
        let of_tile = |tile: &Tile| tile.values.compared.is_some();
        model
            .loaded
            .with(|loaded| matches!(loaded, Load::Ready(tile) if of_tile(tile)))
    });
    let under = move |event: &web_sys::MouseEvent| {
        let (x, y) = place(event, scroller)?;
        let (x, y) = (x - HEADS.0, y - HEADS.1);
        let view = model.view.get_untracked();
        let (row, column) = (whole(y / ROW) as u64, whole(x / COLUMN) as u64);
        (x >= 0.0 && y >= 0.0 && row < view.rows && column < view.columns)
            .then_some((view.row + row, view.column + column))
    };
    let point = move |event: web_sys::MouseEvent| {
        let cell = under(&event);
        if hovered.get_untracked() != cell {
            hovered.set(cell);
        }
    };
    view! {
        <div
            class="sheet-scroll"
            node_ref=scroller
            tabindex="0"
            role="region"
            aria-label=i18n.text(|t| t.tensors().values)
            on:scroll=move |_| {
                if let Some(scroller) = scroller.get_untracked() {
                    let left = f64::from(scroller.scroll_left());
                    scrolled.set((left, f64::from(scroller.scroll_top())));
                }
            }
            on:mousemove=point
            on:mouseleave=move |_| hovered.set(None)
            on:click=move |event: web_sys::MouseEvent| {
                if let Some((row, column)) = under(&event) {
                    model.look_at(row, column);
                }
            }
        >
            <div
                class="sheet-space"
                style:width=move || format!("{}px", extent().0)
                style:height=move || format!("{}px", extent().1)
            >
                <div
                    class="sheet"
                    data-part="sheet"
                    style:width=move || format!("{}px", size.get().0)
                    style:height=move || format!("{}px", size.get().1)
                >
                    {grid}
                </div>
            </div>
            <p class="none small ink2 sheet-note" hidden=move || !is_empty()>
                {i18n.text(|t| t.tensors().empty)}
            </p>
        </div>
        <div class="sheet-foot micro">
            {status}
            <Show when=move || is_compared.get()>
                <Tolerance />
            </Show>
            <span class="ink3" hidden=move || !is_too_long()>
                {i18n.text(|t| t.tensors().too_long)}
            </span>
        </div>
    }
}

/// Fields for the tolerance within which elements count as equal.
#[component]
fn Tolerance() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let field = move |is_relative: bool| {
        let label = move || {
            let texts = i18n.texts().tensors();
            if is_relative {
                texts.relative
            } else {
                texts.absolute
            }
        };
        let value = move || {
            let index = usize::from(is_relative);
            let number = model.tolerance.get()[index].unwrap_or(USUAL_TOLERANCE[index]);
            if number == 0.0 || (1e-4..1e6).contains(&number) {
                number.to_string()
            } else {
                format!("{number:e}")
            }
        };
        view! {
            <input
                type="text"
                inputmode="decimal"
                spellcheck="false"
                name=if is_relative { "relative" } else { "absolute" }
                aria-label=label
                title=label
                prop:value=value
                on:change=move |event| model.set_tolerance(is_relative, &event_target_value(&event))
            />
        }
    };
    view! {
        <span class="tolerance ink3">
            "|Δ| ≤ " {field(false)} " + " {field(true)} " · |" {i18n.text(|t| t.tensors().other)}
            "|"
        </span>
    }
}

/// `true` if a difference to another element is within the tolerance.
fn is_within(difference: f64, other: f64, tolerance: [Option<f64>; 2]) -> bool {
    let [absolute, relative] = [0, 1].map(|at: usize| tolerance[at].unwrap_or(USUAL_TOLERANCE[at]));
    difference.is_finite() && difference.abs() <= absolute + relative * other.abs()
}

/// Elements of a tile on this side of a comparison.
fn shown(tile: &Tile, shown: CellContent) -> &[Element] {
    match (shown, &tile.values.compared) {
        (CellContent::Other, Some(compared)) => &compared.values,
        (CellContent::Difference, Some(compared)) => &compared.differences,
        _ => &tile.values.values,
    }
}

/// Heads and cells of the visible window.
fn cells(tile: &Arc<Tile>) -> AnyView {
    let model = use_model();
    let (view, side, at) = (model.view.get(), model.shown.get(), model.at.get());
    // Differences within the tolerance are drawn pale.
    let compared = tile.values.compared.as_ref();
    let others = compared.filter(|_| side == CellContent::Difference);
    let tolerance = model.tolerance.get();
    let is_alike = |place: usize, difference: &Element| {
        let other = others.and_then(|others| others.values.get(place));
        other.is_some_and(|other| is_within(difference.number(), other.number(), tolerance))
    };
    let values = shown(tile, side);
    grid(tile, view, values, at, &is_alike)
}

fn exact(value: &Element) -> String {
    match value {
        Element::Digits(digits) => digits.clone(),
        Element::Number(number) if number.is_finite() => format!("{number:?}"),
        Element::Number(number) => format::number(*number, 3),
    }
}

#[cfg(test)]
mod tests {
    use super::is_within;

    #[test]
    fn what_may_differ_is_alike() {
        assert!(is_within(1e-9, 0.0, [None, None]));
        assert!(!is_within(2e-5, 1.0, [None, None]));
        assert!(is_within(-0.4, 1.0, [Some(0.0), Some(0.5)]));
        assert!(!is_within(f64::NAN, 1.0, [Some(9.0), None]));
        assert!(!is_within(f64::INFINITY, 1.0, [Some(9.0), None]));
    }
}
