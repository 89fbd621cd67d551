//! Keys of the page: rows, and the axis that has the focus.

use leptos::ev;
use leptos::html::Input;
use trainscope_charts::parallel::{AxisKind, Layout, Spec};

use super::axis::ChosenScale;
use super::brush::Brush;
use super::export::{Format, export};
use super::gesture::{end_at, moved};
use super::model::{EditedNote, Model, SidePanel, use_model};
use super::shades::use_shades;
use trainscope_web_kit::components::use_palette;
use trainscope_web_kit::frame_state::FrameState;
use trainscope_web_kit::keys::{use_first_keys, use_keys};
use trainscope_web_kit::location::{History, use_address};
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::route;

/// Movement of a brush by one key press, CSS pixels on an axis of [`HEIGHT`].
const STEP: f64 = 6.0;
const HEIGHT: f64 = 260.0;

/// Listens to keys while the page is open.
pub(super) fn listen(filter: NodeRef<Input>) {
    let model = use_model();
    let address = use_address();
    let frame: FrameState = expect_context();
    let (palette, shades) = (use_palette(), use_shades());
    use_first_keys(move |key, _| {
        let is_filter = key == "/";
        if is_filter && let Some(field) = filter.get_untracked() {
            // The field is on the page while there are rows.
            let _ignored = field.focus();
        }
        is_filter && filter.get_untracked().is_some()
    });
    use_keys(move |key, event| {
        let run = model.cursor.get_untracked();
        let axis = model.axis_focus.get_untracked();
        match (key, axis.as_deref()) {
            ("ArrowLeft", _) => focus_axis(&model, -1),
            ("ArrowRight", _) => focus_axis(&model, 1),
            ("ArrowUp" | "ArrowDown", Some(axis)) => {
                let by = if key == "ArrowUp" { -STEP } else { STEP };
                move_brush(&model, axis, by, event.shift_key());
            }
            ("b", Some(axis)) => new_brush(&model, axis),
            ("Backspace" | "Delete", Some(axis)) => model.remove_axis(axis),
            ("l", Some(axis)) => model.change_look(axis, |look| {
                let is_log = look.scale == Some(ChosenScale::Log);
                look.scale = Some(if is_log {
                    ChosenScale::Linear
                } else {
                    ChosenScale::Log
                });
            }),
            ("r", Some(axis)) => {
                model.change_look(axis, |look| look.is_upside_down = !look.is_upside_down);
            }
            ("o", Some(axis)) => model.set_colour(axis),
            ("j", _) => model.move_cursor(1),
            ("k", _) => model.move_cursor(-1),
            ("x", _) => {
                let Some(run) = run else { return false };
                model.toggle_selected(&run);
            }
            ("Enter", None) => {
                let Some(run) = run else { return false };
                address.go(&route::overview_href(&run), History::Push);
            }
            ("Enter", Some(_)) => model.keep_only(),
            ("c" | "s", _) => {
                let selected = model.selected.get_untracked();
                let Some((first, others)) = selected.split_first() else {
                    return false;
                };
                let href = if key == "c" {
                    route::compare_href(&selected)
                } else {
                    route::scalars_href(first, others, None)
                };
                address.go(&href, History::Push);
            }
            ("t" | "n", _) => {
                // The row of a group has no notes.
                let is_grouped = model.view.with_untracked(|view| view.is_grouped);
                let Some(run) = run.filter(|_| !is_grouped) else {
                    return false;
                };
                let part = if key == "t" {
                    EditedNote::Tags
                } else {
                    EditedNote::Note
                };
                model.edited_note.set(Some((run, part)));
            }
            ("i", _) => {
                let Some(run) = run else { return false };
                model.open_panel(Some(SidePanel::Row(run)));
            }
            ("h", _) => {
                let Some(run) = run else { return false };
                model.hide([run]);
            }
            ("0", _) => model.reset(),
            ("e", _) => export(
                &model,
                &palette.get_untracked(),
                &shades.get_untracked(),
                Format::Csv,
            ),
            ("Escape", Some(_)) if frame.panel.get_untracked().is_none() => {
                model.axis_focus.set(None);
            }
            ("Escape", None) if run.is_some() && model.panel.with_untracked(Option::is_none) => {
                model.cursor.set(None);
            }
            _ => return false,
        }
        true
    });
    // The other listeners leave keys with Alt to the browser.
    let handle = window_event_listener(ev::keydown, move |event| {
        let by = match event.key().as_str() {
            "ArrowLeft" => -1,
            "ArrowRight" => 1,
            _ => return,
        };
        let Some(axis) = model.axis_focus.get_untracked().filter(|_| event.alt_key()) else {
            return;
        };
        event.prevent_default();
        let keys = model.axis_keys.get_untracked();
        if let Some(place) = keys.iter().position(|key| *key == axis) {
            model.move_axis(&axis, place.saturating_add_signed(by));
        }
    });
    on_cleanup(move || handle.remove());
}

fn focus_axis(model: &Model, by: isize) {
    let model = *model;
    let keys: Vec<String> = model
        .axes
        .with_untracked(|axes| axes.iter().map(|(key, _)| key.clone()).collect());
    let now = model.axis_focus.get_untracked();
    let place = now.and_then(|now| keys.iter().position(|key| *key == now));
    let next = match place {
        Some(place) => place
            .saturating_add_signed(by)
            .min(keys.len().saturating_sub(1)),
        None => 0,
    };
    model.axis_focus.set(keys.get(next).cloned());
}

/// Moves the first range of a brush, or its upper end only.
fn move_brush(model: &Model, key: &str, by: f64, is_end: bool) {
    let model = *model;
    let brush = model
        .brushes
        .with_untracked(|brushes| brushes.get(key).cloned().unwrap_or_default());
    if brush.ranges.is_empty() {
        new_brush(&model, key);
        return;
    }
    let all = model.axes.get_untracked();
    let Some((_, axis)) = all.iter().find(|(known, _)| known == key) else {
        return;
    };
    let spec = Spec {
        width: 1.0,
        height: HEIGHT,
        dpr: 1.0,
        axes: vec![axis.clone()],
    };
    let layout = Layout::new(&spec);
    if let Some(placed) = layout.axes.first() {
        model.set_brush(
            key,
            moved(&brush, 0, (!is_end, true), by, placed),
            History::Push,
        );
    }
}

/// Sets a brush over the upper half of an axis, or on the last place of a category.
fn new_brush(model: &Model, key: &str) {
    let model = *model;
    let all = model.axes.get_untracked();
    let Some((_, axis)) = all.iter().find(|(known, _)| known == key) else {
        return;
    };
    let mut brush = Brush::default();
    match &axis.kind {
        AxisKind::Choices(names) => brush.choices.extend(names.last().cloned()),
        AxisKind::Numbers { .. } => {
            let spec = Spec {
                width: 1.0,
                height: HEIGHT,
                dpr: 1.0,
                axes: vec![axis.clone()],
            };
            let layout = Layout::new(&spec);
            let Some(placed) = layout.axes.first() else {
                return;
            };
            let middle = placed.value_at(f64::midpoint(layout.top, layout.bottom));
            let (_, most) = placed.range();
            let ends = [middle, placed.value_at(end_at(placed, most))];
            brush
                .ranges
                .push((ends[0].min(ends[1]), ends[0].max(ends[1])));
        }
    }
    model.set_brush(key, brush, History::Push);
}
