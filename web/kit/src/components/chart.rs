//! A line plot on two canvases: the plot below, and above it a layer that follows the pointer.
//!
//! The plot is drawn when its data, its size or the theme changes, by a shared schedule that limits the time per
//! frame; the upper layer uses the same schedule, first for the chart under the pointer. The chart is independent of
//! the source of its data.

use std::sync::Arc;

use leptos::html;
use trainscope_charts::geometry::Geometry;
use trainscope_charts::line::{LimitLine, Line, Spec, XKind, YRange};
use trainscope_charts::overlay::Crosshair;
use trainscope_charts::scale::{Axis, Scale};

use super::drawing::{Ticket, use_drawing};
use super::pointer::{capture, place};
use crate::prelude::*;

mod backend;
mod canvas;
mod distribution;
mod gesture;
mod landscape;
mod line;
mod palette;
mod parallel;
mod profile;
mod saved;

pub use distribution::{DistributionChart, PointedElement};
pub use landscape::{MapChart, ReliefChart};
pub use line::line_of;
pub use palette::{Palette, use_palette};
pub use parallel::{Lines, ParallelChart, strokes};
pub use profile::ProfileChart;
pub use saved::blank;
pub use saved::{Panel, to_png};
pub(super) use saved::{css, encode};

/// Content of a chart; equal figures are drawn equally.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// The curves.
    pub lines: Arc<Vec<Line>>,
    /// Range of the x axis.
    pub x: (f64, f64),
    /// Unit of the x axis.
    pub x_kind: XKind,
    /// Scale of the x axis.
    pub x_scale: Scale,
    /// Scale of the y axis.
    pub scale: Scale,
    /// Range of the y axis.
    pub y_range: YRange,
    /// Limits set by the user.
    pub limits: Vec<LimitLine>,
}

impl Figure {
    /// Lines over steps, on linear scales that show all of them.
    pub fn over_steps(lines: Vec<Line>, x: (f64, f64)) -> Self {
        Self {
            lines: Arc::new(lines),
            x,
            x_kind: XKind::Step,
            x_scale: Scale::Linear,
            scale: Scale::Linear,
            y_range: YRange::All,
            limits: Vec::new(),
        }
    }

    /// True if another one is known to be drawn equally without comparing points.
    pub fn is_like(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.lines, &other.lines)
            && (self.x, self.x_kind, self.x_scale) == (other.x, other.x_kind, other.x_scale)
            && (self.scale, self.y_range) == (other.scale, other.y_range)
            && self.limits == other.limits
    }

    /// The figure at a size.
    pub fn spec(self, (width, height, dpr): (f64, f64, f64)) -> Spec {
        Spec {
            width,
            height,
            dpr,
            x: self.x,
            x_kind: self.x_kind,
            x_scale: self.x_scale,
            scale: self.scale,
            y_range: self.y_range,
            limits: self.limits,
            lines: Arc::unwrap_or_clone(self.lines),
        }
    }
}

/// Pointer events over the plot. x values are in the units of the axis.
#[derive(Clone, Copy)]
pub struct ChartEvents {
    /// Hovered x; `None` when the pointer leaves.
    pub hover: Callback<Option<f64>>,
    /// A dragged range.
    pub select: Callback<(f64, f64)>,
    /// A range of the view during a wheel or drag gesture.
    pub view: Callback<(f64, f64)>,
    /// A double click, to show everything.
    pub fit: Callback<()>,
}

impl Default for ChartEvents {
    /// Handlers that do nothing.
    fn default() -> Self {
        let nothing = Callback::new(|_| {});
        Self {
            hover: Callback::new(|_| {}),
            select: nothing,
            view: nothing,
            fit: Callback::new(|()| {}),
        }
    }
}

/// A line plot that fills its parent.
#[component]
pub fn LineChart(
    /// Content.
    #[prop(into)]
    figure: Signal<Figure>,
    /// Description for screen readers.
    #[prop(into)]
    label: Signal<String>,
    /// The crosshair, if there is one.
    #[prop(optional, into)]
    crosshair: Signal<Option<Crosshair>>,
    /// Layout, for elements over the chart; set by this component.
    #[prop(optional)]
    geometry: RwSignal<Option<Arc<Geometry>>>,
    /// The canvas of the plot, for pictures of it.
    #[prop(optional)]
    canvas: NodeRef<html::Canvas>,
    /// Handlers of pointer events.
    #[prop(optional)]
    events: ChartEvents,
    /// True if the wheel zooms without a modifier key, if there is nothing to scroll.
    #[prop(optional, into)]
    wheel_zooms: Signal<bool>,
) -> impl IntoView {
    let palette = use_palette();
    let holder = NodeRef::<html::Div>::new();
    let overlay = NodeRef::<html::Canvas>::new();
    let is_under_pointer = StoredValue::new(false);
    let drag = gesture::RangeDrag::default();
    use_drawing(holder, canvas, move |size| {
        let (figure, palette) = (figure.get(), palette.get());
        move |canvas| {
            let spec = figure.spec(size);
            let layout = Arc::new(Geometry::new(&spec));
            canvas::draw_plot(canvas, &spec, &layout, &palette.theme);
            // The component may be gone by the time of this frame.
            let _gone = geometry.try_set(Some(layout));
        }
    });
    let above = Ticket::unique();
    on_cleanup(move || above.give_up());

    // Each visible canvas is copied for each frame in which anything on the page changes.
    let has_overlay = Memo::new(move |_| crosshair.with(Option::is_some) || drag.get().is_some());
    Effect::new(move || {
        if !has_overlay.get() {
            return;
        }
        let (Some(canvas), Some(layout)) = (overlay.get(), geometry.get()) else {
            return;
        };
        let (palette, crosshair, drag) = (palette.get(), crosshair.get(), drag.get());
        let job = move || {
            canvas::draw_overlay(&canvas, &layout, &palette.theme, crosshair.as_ref(), drag);
        };
        if is_under_pointer.get_value() {
            above.ask_first(job);
        } else {
            above.ask(job);
        }
    });

    let over_plot = move |x: f64, y: f64| {
        geometry.with_untracked(|layout| {
            let layout = layout.as_ref()?;
            let inside = layout.plot.left - 4.0 <= x
                && x <= layout.plot.right + 4.0
                && y <= layout.lane_bottom();
            inside.then(|| layout.x_at(x.clamp(layout.plot.left, layout.plot.right)))
        })
    };
    // The view and the position of the pointer at the start of a pan.
    let pan = StoredValue::new(None::<(Axis, f64)>);
    let axis = move || {
        let layout = geometry.get_untracked()?;
        let (lo, hi) = figure.with_untracked(|figure| figure.x);
        Some(gesture::axis(&layout, lo, hi))
    };
    let on_down = move |event: web_sys::PointerEvent| {
        let at = place(&event, holder).filter(|&(x, y)| over_plot(x, y).is_some());
        let Some((x, _)) = at else { return };
        let is_pan = event.button() == 1 || (event.button() == 0 && event.shift_key());
        if !is_pan && event.button() != 0 {
            return;
        }
        capture(&event, holder);
        if is_pan {
            event.prevent_default();
            pan.set_value(axis().map(|axis| (axis, x)));
        } else {
            drag.begin(x);
        }
    };
    let on_move = move |event: web_sys::PointerEvent| {
        let Some((x, y)) = place(&event, holder) else {
            return;
        };
        is_under_pointer.set_value(true);
        if let Some((axis, from)) = pan.get_value() {
            let width = geometry.with_untracked(|at| at.as_ref().map_or(1.0, |at| at.plot.width()));
            events
                .view
                .run(gesture::panned(&axis, (from - x) / width.max(1.0)));
            return;
        }
        drag.go_on(x);
        events.hover.run(over_plot(x, y));
    };
    let on_up = move |_: web_sys::PointerEvent| {
        pan.set_value(None);
        if let Some(((from, to), layout)) = drag.end().zip(geometry.get_untracked()) {
            let x_at = |px: f64| layout.x_at(px.clamp(layout.plot.left, layout.plot.right));
            events.select.run((x_at(from), x_at(to)));
        }
    };
    let on_wheel = move |event: web_sys::WheelEvent| {
        let Some((axis, layout)) = axis().zip(geometry.get_untracked()) else {
            return;
        };
        if let Some(range) = gesture::wheel(&event, wheel_zooms.get_untracked(), &axis, &layout) {
            event.prevent_default();
            events.view.run(range);
        }
    };
    view! {
        <div
            class="chart"
            node_ref=holder
            on:pointerdown=on_down
            on:pointermove=on_move
            on:pointerup=on_up
            on:pointercancel=move |_| {
                pan.set_value(None);
                drag.end();
            }
            on:wheel=on_wheel
            on:pointerleave=move |_| {
                is_under_pointer.set_value(false);
                events.hover.run(None);
            }
            on:dblclick=move |_| events.fit.run(())
        >
            <canvas node_ref=canvas role="img" aria-label=move || label.get()></canvas>
            <canvas node_ref=overlay aria-hidden="true" hidden=move || !has_overlay.get()></canvas>
        </div>
    }
}
