//! A small picture of a whole graph with a frame around its visible part; a click or drag moves there.

use std::sync::Arc;

use leptos::html;
use trainscope_charts::graph::{self, Figure, Ink, Window};

use super::pen::CanvasPen;
use super::{View, use_graph_ink};
use crate::components::drawing::Ticket;
use crate::components::pointer::place;
use crate::prelude::*;

/// Width and height, CSS pixels.
const SIZE: (f64, f64) = (184.0, 110.0);

/// The small picture; hidden while the whole graph is in view. Its place is next to the graph, never over it.
#[component]
pub fn GraphOverview(
    /// The graph.
    #[prop(into)]
    figure: Signal<Arc<Figure>>,
    /// Visible part.
    view: RwSignal<View>,
    /// Width and height of the element with the graph.
    size: RwSignal<(f64, f64)>,
) -> impl IntoView {
    let ink = use_graph_ink();
    let canvas = NodeRef::<html::Canvas>::new();
    let ticket = Ticket::unique();
    let is_whole = Memo::new(move |_| {
        let (width, height) = size.get();
        let (view, figure) = (view.get(), figure.get());
        let seen = view.window(width, height);
        let slack = 1.0 / view.scale;
        seen.left <= slack
            && seen.top <= slack
            && seen.right + slack >= figure.width
            && seen.bottom + slack >= figure.height
    });
    Effect::new(move || {
        let (width, height) = size.get();
        let (figure, view, ink) = (figure.get(), view.get(), ink.get());
        if width < 1.0 || is_whole.get() {
            return;
        }
        ticket.ask(move || {
            if let Some(canvas) = canvas.try_get_untracked().flatten() {
                let dpr = window().device_pixel_ratio();
                draw(&canvas, &figure, &ink, &view.window(width, height), dpr);
            }
        });
    });
    on_cleanup(move || ticket.give_up());
    let jump = move |event: &web_sys::PointerEvent| {
        let Some(at) = place(event, canvas) else {
            return;
        };
        let (scale, left, top) = fitted(&figure.get_untracked());
        let wanted = ((at.0 - left) / scale, (at.1 - top) / scale);
        let size = size.get_untracked();
        view.update(|view| *view = view.centred(wanted, size));
    };
    let jumping = StoredValue::new(false);
    view! {
        <canvas
            class="small-graph"
            hidden=move || is_whole.get()
            node_ref=canvas
            aria-hidden="true"
            on:pointerdown=move |event| {
                jumping.set_value(true);
                jump(&event);
            }
            on:pointermove=move |event| {
                if jumping.get_value() {
                    jump(&event);
                }
            }
            on:pointerup=move |_| jumping.set_value(false)
            on:pointerleave=move |_| jumping.set_value(false)
        ></canvas>
    }
}

/// Scale and position of the whole figure in the minimap.
fn fitted(figure: &Figure) -> (f64, f64, f64) {
    let scale = (SIZE.0 / figure.width.max(1.0)).min(SIZE.1 / figure.height.max(1.0));
    let left = (SIZE.0 - figure.width * scale) / 2.0;
    (scale, left, (SIZE.1 - figure.height * scale) / 2.0)
}

fn draw(
    canvas: &web_sys::HtmlCanvasElement,
    figure: &Figure,
    ink: &Ink,
    window: &Window,
    dpr: f64,
) {
    let (scale, left, top) = fitted(figure);
    let size = (SIZE.0 * dpr, SIZE.1 * dpr);
    let at = (left * dpr, top * dpr);
    if let Some(mut pen) = CanvasPen::new(canvas, size, scale * dpr, at, &ink.font) {
        graph::draw_small(&mut pen, figure, ink, scale);
        let shown = [
            window.left,
            window.top,
            window.right - window.left,
            window.bottom - window.top,
        ];
        graph::Pen::boxes(
            &mut pen,
            &[shown],
            0.0,
            None,
            Some((ink.accent, 1.5 / scale)),
        );
    }
}
