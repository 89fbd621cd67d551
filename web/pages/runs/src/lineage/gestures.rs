//! Pointer handlers over the lines. They draw, move, resize and clear brushes, drag heads, and select the run of a
//! pressed line.

use std::sync::Arc;

use leptos::html::Div;
use trainscope_charts::parallel::{AxisKind, Layout, PlacedAxis};

use super::brush::Brush;
use super::gesture::{Gesture, brushed, end_at, ends_at, moved};
use super::model::use_model;
use trainscope_web_kit::components::pointer::{capture, place};
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::url_state::History;

/// Maximum distance of the pointer from its axis, CSS pixels.
const AXIS_REACH: f64 = 14.0;
/// Maximum distance of the pointer from its line, CSS pixels.
const LINE_REACH: f64 = 7.0;
/// Minimum movement that turns a press into a drag, CSS pixels.
const DRAG: f64 = 4.0;
/// Maximum distance of the pointer from the end of a brush that it resizes, CSS pixels.
const GRIP: f64 = 5.0;

#[derive(Clone, Copy)]
pub(super) struct Gestures {
    holder: NodeRef<Div>,
    /// Element with the handlers. It captures the pointer, since events of other elements do not reach the handlers.
    chart: NodeRef<Div>,
    layout: Memo<Arc<Layout>>,
    gesture: StoredValue<Option<Gesture>>,
    /// Last position of the pointer, and `true` while an animation frame is pending.
    last: StoredValue<((f64, f64), bool)>,
    model: StoredValue<super::model::Model>,
}

impl Gestures {
    pub(super) fn new(
        holder: NodeRef<Div>,
        chart: NodeRef<Div>,
        layout: Memo<Arc<Layout>>,
    ) -> Self {
        Self {
            holder,
            chart,
            layout,
            gesture: StoredValue::new(None),
            last: StoredValue::new(((0.0, 0.0), false)),
            model: StoredValue::new(use_model()),
        }
    }

    pub(super) fn is_active(self) -> bool {
        self.gesture.with_value(Option::is_some)
    }

    /// Position on the plot, including the scroll offset, CSS pixels.
    pub(super) fn place(self, event: &web_sys::PointerEvent) -> Option<(f64, f64)> {
        let (x, y) = place(event, self.holder)?;
        Some((x + f64::from(self.holder.get_untracked()?.scroll_left()), y))
    }

    /// Begins to drag a head.
    pub(super) fn begin_head(self, key: &str, event: &web_sys::PointerEvent) {
        if let (Some((x, _)), 0) = (self.place(event), event.button()) {
            let key = key.to_owned();
            self.gesture.set_value(Some(Gesture::Head {
                key,
                from: x,
                to: x,
            }));
        }
    }

    pub(super) fn begin(self, event: &web_sys::PointerEvent) {
        if event.button() != 0 || self.is_active() {
            return;
        }
        let Some((x, y)) = self.place(event) else {
            return;
        };
        let layout = self.layout.get_untracked();
        let Some(index) = layout.nearest_axis(x) else {
            return;
        };
        let near = layout
            .axes
            .get(index)
            .filter(|axis| (axis.x - x).abs() <= AXIS_REACH);
        let key = self
            .model
            .get_value()
            .axes
            .with_untracked(|axes| axes.get(index).map(|(key, _)| key.clone()));
        let (Some(axis), Some(key)) = (near, key) else {
            self.gesture.set_value(Some(Gesture::Line { from: (x, y) }));
            return;
        };
        capture(event, self.chart);
        event.prevent_default();
        let brush = self
            .model
            .get_value()
            .brushes
            .with_untracked(|brushes| brushes.get(&key).cloned().unwrap_or_default());
        let hit = range_at(&brush, axis, y);
        let gesture = match hit {
            Some(range) if !event.shift_key() => {
                let (from, to) = brush.ranges[range];
                let (a, b) = (end_at(axis, from), end_at(axis, to));
                let part = if (a - y).abs() <= GRIP {
                    (true, false)
                } else if (b - y).abs() <= GRIP {
                    (false, true)
                } else {
                    (true, true)
                };
                Gesture::Edit {
                    key,
                    index,
                    range,
                    part,
                    from: y,
                    brush,
                    has_moved: false,
                }
            }
            _ => {
                let base = if event.shift_key() {
                    brush
                } else {
                    Brush::default()
                };
                Gesture::New {
                    key,
                    index,
                    from: y,
                    base,
                    has_moved: false,
                }
            }
        };
        self.gesture.set_value(Some(gesture));
        // The values of a line would cover the new brush.
        self.model.get_value().hovered.set(None);
    }

    /// Follows the pointer, at most once per frame.
    pub(super) fn pointed(self, at: (f64, f64)) {
        let is_due = self.last.with_value(|(_, is_due)| *is_due);
        self.last.set_value((at, true));
        if is_due {
            return;
        }
        request_animation_frame(move || {
            let Some(at) = self.last.try_update_value(|last| {
                last.1 = false;
                last.0
            }) else {
                return;
            };
            self.follow(at);
        });
    }

    fn follow(self, (x, y): (f64, f64)) {
        let layout = self.layout.get_untracked();
        let mut draft = None;
        self.gesture.update_value(|gesture| match gesture {
            Some(Gesture::Head { to, .. }) => *to = x,
            Some(Gesture::New {
                key,
                index,
                from,
                base,
                has_moved,
            }) => {
                *has_moved |= (y - *from).abs() >= DRAG;
                if *has_moved {
                    draft = Some((
                        key.clone(),
                        self.brush_between(&layout, *index, (*from, y), base),
                    ));
                }
            }
            Some(Gesture::Edit {
                key,
                index,
                range,
                part,
                from,
                brush,
                has_moved,
            }) => {
                *has_moved |= (y - *from).abs() >= 1.0;
                if let (true, Some(axis)) = (*has_moved, layout.axes.get(*index)) {
                    draft = Some((key.clone(), moved(brush, *range, *part, y - *from, axis)));
                }
            }
            Some(Gesture::Line { .. }) | None => {}
        });
        if let Some((key, brush)) = draft {
            self.model.get_value().draft_brush(&key, brush);
            return;
        }
        if self.is_active() {
            return;
        }
        let kept = self.model.get_value().kept.get_untracked();
        let rows = kept.rows.iter().map(|row| *row as usize);
        let near = layout.nearest_row(rows, (x, y), LINE_REACH);
        let near = near.filter(|_| !self.is_on_brush(&layout, (x, y)));
        let near = near.and_then(|row| u32::try_from(row).ok());
        if self.model.get_value().hovered.get_untracked() != near {
            self.model.get_value().hovered.set(near);
        }
    }

    /// `true` over the brush of an axis, where the values of a line would cover its labels.
    fn is_on_brush(self, layout: &Layout, (x, y): (f64, f64)) -> bool {
        let model = self.model.get_value();
        let Some(index) = layout.nearest_axis(x) else {
            return false;
        };
        let key = model
            .axes
            .with_untracked(|axes| axes.get(index).map(|(key, _)| key.clone()));
        model.brushes.with_untracked(|brushes| {
            let brush = key.and_then(|key| brushes.get(&key));
            let axis = layout
                .axes
                .get(index)
                .filter(|axis| (axis.x - x).abs() <= AXIS_REACH);
            axis.zip(brush)
                .is_some_and(|(axis, brush)| range_at(brush, axis, y).is_some())
        })
    }

    fn brush_between(self, layout: &Layout, index: usize, ends: (f64, f64), base: &Brush) -> Brush {
        self.model
            .get_value()
            .axes
            .with_untracked(|axes| match axes.get(index) {
                Some((_, axis)) => brushed(layout, index, &axis.kind, ends, base),
                None => base.clone(),
            })
    }

    pub(super) fn end(self, event: &web_sys::PointerEvent) {
        let Some((x, y)) = self.place(event) else {
            return;
        };
        self.follow((x, y));
        let Some(gesture) = self.gesture.try_update_value(Option::take).flatten() else {
            return;
        };
        let model = self.model.get_value();
        let layout = self.layout.get_untracked();
        match gesture {
            Gesture::Head { key, from, to } => {
                if (to - from).abs() >= DRAG {
                    if to < 0.0 {
                        model.remove_axis(&key);
                    } else if let Some(place) = layout.nearest_axis(to) {
                        model.move_axis(&key, place);
                    }
                }
            }
            Gesture::New {
                has_moved: true, ..
            }
            | Gesture::Edit {
                has_moved: true, ..
            } => {
                if let Some(brushes) = model.draft.get_untracked() {
                    model.set_brushes(&brushes, History::Push);
                }
            }
            Gesture::New {
                key, index, base, ..
            } => self.click(&key, index, y, &base),
            Gesture::Edit {
                key, brush, range, ..
            } => {
                let mut brush = brush;
                brush.ranges.remove(range);
                model.set_brush(&key, brush, History::Push);
            }
            Gesture::Line { from } => {
                if (x - from.0).hypot(y - from.1) < DRAG
                    && let Some(row) = model.hovered.get_untracked()
                {
                    let view = model.view.get_untracked();
                    if let Some(run) = view.runs(row as usize).first() {
                        model.cursor.set(Some(run.clone()));
                        model.toggle_selected(run);
                    }
                }
            }
        }
    }

    /// Toggles the pressed place or lane; a press elsewhere clears the axis.
    fn click(self, key: &str, index: usize, y: f64, base: &Brush) {
        let layout = self.layout.get_untracked();
        let mut brush = self
            .model
            .get_value()
            .brushes
            .with_untracked(|brushes| brushes.get(key).cloned().unwrap_or_default());
        let lanes = layout.lanes_between(index, y - 6.0, y + 6.0);
        let name = self.model.get_value().axes.with_untracked(|axes| {
            let (_, axis) = axes.get(index)?;
            let AxisKind::Choices(names) = &axis.kind else {
                return None;
            };
            let placed = layout.axes.get(index)?;
            let choice = placed.choice_at(y)?;
            ((placed.y_of_choice(choice) - y).abs() <= 9.0).then(|| names.get(choice).cloned())?
        });
        if let Some(lane) = lanes.first() {
            match brush.lanes.iter().position(|known| known == lane) {
                Some(at) => {
                    brush.lanes.remove(at);
                }
                None => brush.lanes.push(*lane),
            }
        } else if let Some(name) = name {
            brush.toggle(&name);
        } else {
            brush = base.clone();
        }
        self.model.get_value().set_brush(key, brush, History::Push);
    }

    pub(super) fn cancel(self) {
        self.gesture.set_value(None);
        self.model.get_value().draft.set(None);
    }
}

/// The range of a brush at a vertical position.
fn range_at(brush: &Brush, axis: &PlacedAxis, y: f64) -> Option<usize> {
    brush.ranges.iter().position(|range| {
        let (top, bottom) = ends_at(axis, *range);
        (top - GRIP..=bottom + GRIP).contains(&y)
    })
}
