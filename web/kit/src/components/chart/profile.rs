//! A plot of a profile on a canvas, with the outlines of elements and a read-out over it.

use std::sync::Arc;

use leptos::html;
use trainscope_charts::profile::{Figure, Hit, Rect};

use super::canvas;
use crate::components::pointer::place;
use crate::prelude::*;

/// Distance of the read-out from the pointer, CSS pixels.
const TIP: f64 = 14.0;

/// A plot that fills its parent.
#[component]
pub fn ProfileChart(
    #[prop(into)] figure: Signal<Arc<Figure>>,
    /// Description for screen readers.
    #[prop(into)]
    label: Signal<String>,
    /// Framed element.
    #[prop(optional, into)]
    chosen: Signal<Option<Hit>>,
    /// Read-out of an element.
    #[prop(into)]
    tip: Callback<Hit, Option<AnyView>>,
    /// Handler of a press on an element.
    #[prop(into)]
    on_press: Callback<Hit>,
) -> impl IntoView {
    let holder = NodeRef::<html::Div>::new();
    let canvas = NodeRef::<html::Canvas>::new();
    let size = canvas::draw_figure(figure, (holder, canvas), |figure, backend, size, theme| {
        // A canvas rejects only arcs of negative radius, which do not occur.
        let _never = figure.draw(backend, size, theme, 1.0);
    });
    // Element under the pointer, and position of the pointer.
    let pointed = RwSignal::new(None::<Hit>);
    let at = RwSignal::new((0.0, 0.0));
    let on_move = move |event: web_sys::PointerEvent| {
        let Some(place) = place(&event, holder) else {
            return;
        };
        let size = size.get_untracked();
        let hit = figure.with_untracked(|figure| figure.hit(size, place));
        at.set(place);
        if pointed.get_untracked() != hit {
            pointed.set(hit);
        }
    };
    let outline = move |hit: Option<Hit>| {
        let size = size.get();
        let rect = figure.with(|figure| figure.outline(size, hit?))?;
        let Rect {
            left,
            top,
            right,
            bottom,
        } = rect;
        Some(view! {
            <i
                class="outline"
                class:line=right - left < 1.0
                style:left=format!("{left}px")
                style:top=format!("{top}px")
                style:width=format!("{}px", right - left)
                style:height=format!("{}px", bottom - top)
            ></i>
        })
    };
    let read_out = move || {
        let content = tip.run(pointed.get()?)?;
        let ((x, y), size) = (at.get_untracked(), size.get_untracked());
        let right = (x > size.width / 2.0).then(|| format!("{}px", size.width - x + TIP));
        let left = right.is_none().then(|| format!("{}px", x + TIP));
        let bottom = (y > size.height / 2.0).then(|| format!("{}px", (size.height - y).max(6.0)));
        let top = bottom.is_none().then(|| format!("{}px", y.max(6.0)));
        Some(view! {
            <div class="tip" style:left=left style:right=right style:top=top style:bottom=bottom>
                {content}
            </div>
        })
    };
    view! {
        <div
            class="chart"
            class:points=move || pointed.with(Option::is_some)
            node_ref=holder
            on:pointermove=on_move
            on:pointerdown=on_move
            on:pointerleave=move |_| pointed.set(None)
            on:click=move |_| {
                if let Some(hit) = pointed.get_untracked() {
                    on_press.run(hit);
                }
            }
        >
            <canvas node_ref=canvas role="img" aria-label=move || label.get()></canvas>
            {move || outline(chosen.get())}
            {move || outline(pointed.get())}
            {read_out}
        </div>
    }
}
