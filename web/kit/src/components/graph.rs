//! A graph on a canvas: drawn again when the figure, the view, the size or the theme changes; panned by drag, zoomed
//! by wheel and keys. It is independent of the source of the graph.

use std::sync::Arc;

use leptos::html;
use trainscope_charts::graph::{self, Figure};

mod figure;
mod ink;
mod near;
mod overview;
mod pen;
mod view;

pub use figure::{Colour, Look, Shade, figure_of, first_view, hit_at};
pub use ink::use_graph_ink;
pub use near::NodeGraph;
pub use overview::GraphOverview;
pub use view::View;

use super::drawing::use_drawing;
use super::pointer::{capture, place, wheel, zoom_factor};
use crate::prelude::*;
use pen::CanvasPen;

/// Minimum distance of a drag in pixels.
const DRAG_PIXELS: f64 = 4.0;

/// A graph that fills its parent.
#[component]
pub fn GraphCanvas(
    /// Content.
    #[prop(into)]
    figure: Signal<Arc<Figure>>,
    /// Visible part; set by gestures too.
    view: RwSignal<View>,
    /// Width and height of the element; set by this component.
    size: RwSignal<(f64, f64)>,
    /// Description for screen readers.
    #[prop(into)]
    label: Signal<String>,
    /// Views of other graphs, which the wheel zooms too.
    #[prop(optional)]
    together: Vec<RwSignal<View>>,
    /// A click at a place, in units of the figure; the flag is true for a double click.
    on_press: Callback<((f64, f64), bool)>,
) -> impl IntoView {
    let ink = use_graph_ink();
    let holder = NodeRef::<html::Div>::new();
    let canvas = NodeRef::<html::Canvas>::new();
    use_drawing(holder, canvas, move |(width, height, dpr)| {
        // An observer of the size may change the view, which this depends on.
        if size.get_untracked() != (width, height) {
            size.set((width, height));
        }
        let (figure, view, ink) = (figure.get(), view.get(), ink.get());
        move |canvas| {
            let zoom = view.scale * dpr;
            let at = (view.x * dpr, view.y * dpr);
            if let Some(mut pen) =
                CanvasPen::new(canvas, (width * dpr, height * dpr), zoom, at, &ink.font)
            {
                graph::draw(&mut pen, &figure, &ink, &view.window(width, height));
            }
        }
    });
    // Start of a drag: pointer position, view, and true once it has moved.
    let drag = StoredValue::new(None::<((f64, f64), View, bool)>);
    let on_down = move |event: web_sys::PointerEvent| {
        if event.button() > 1 {
            return;
        }
        if let Some(at) = place(&event, canvas) {
            drag.set_value(Some((at, view.get_untracked(), false)));
            capture(&event, canvas);
        }
    };
    let on_move = move |event: web_sys::PointerEvent| {
        let (Some((from, before, moved)), Some(at)) = (drag.get_value(), place(&event, canvas))
        else {
            return;
        };
        let (dx, dy) = (at.0 - from.0, at.1 - from.1);
        if moved || dx.hypot(dy) >= DRAG_PIXELS {
            drag.set_value(Some((from, before, true)));
            view.set(View {
                x: before.x + dx,
                y: before.y + dy,
                ..before
            });
        }
    };
    let on_up = move |event: web_sys::PointerEvent| {
        let Some((_, now, moved)) = drag.get_value() else {
            return;
        };
        drag.set_value(None);
        if let Some(at) = place(&event, canvas).filter(|_| !moved) {
            on_press.run((now.inverse(at), false));
        }
    };
    let on_double = move |event: web_sys::MouseEvent| {
        if let Some(at) = place(&event, canvas) {
            on_press.run((view.get_untracked().inverse(at), true));
        }
    };
    let on_wheel = move |event: web_sys::WheelEvent| {
        let Some(at) = place(&event, canvas) else {
            return;
        };
        event.prevent_default();
        let factor = zoom_factor(wheel(&event).1);
        for view in std::iter::once(&view).chain(&together) {
            view.update(|view| *view = view.zoomed(factor, at));
        }
    };
    view! {
        <div class="graph-canvas" node_ref=holder>
            <canvas
                node_ref=canvas
                role="img"
                aria-label=move || label.get()
                on:pointerdown=on_down
                on:pointermove=on_move
                on:pointerup=on_up
                on:pointercancel=move |_| drag.set_value(None)
                on:dblclick=on_double
                on:wheel=on_wheel
            ></canvas>
        </div>
    }
}
