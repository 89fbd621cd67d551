//! Loss landscapes on a canvas: a map with selectable points, and a view that can be turned.

use std::sync::Arc;

use leptos::html;
use trainscope_charts::contour::{Map, Point};
use trainscope_charts::surface::Relief;

use super::canvas;
use crate::components::pointer::capture;
use crate::prelude::*;

/// A map that fills its parent.
#[component]
pub fn MapChart(
    #[prop(into)] map: Signal<Arc<Map>>,
    /// Description for screen readers.
    #[prop(into)]
    label: Signal<String>,
    /// Handler of a press on a point of the plane.
    #[prop(into)]
    on_press: Callback<Point>,
) -> impl IntoView {
    let holder = NodeRef::<html::Div>::new();
    let canvas = NodeRef::<html::Canvas>::new();
    let size = canvas::draw_figure(map, (holder, canvas), |map, backend, size, theme| {
        // A canvas rejects only arcs of negative radius, which do not occur.
        let _never = map.draw(backend, size, theme, 1.0);
    });
    let press = move |event: web_sys::MouseEvent| {
        let frame = map.with_untracked(|map| map.frame(size.get_untracked()));
        let at = (f64::from(event.offset_x()), f64::from(event.offset_y()));
        if let Some(point) = frame.point(at) {
            on_press.run(point);
        }
    };
    view! {
        <div class="chart" node_ref=holder on:click=press>
            <canvas node_ref=canvas role="img" aria-label=move || label.get()></canvas>
        </div>
    }
}

/// A perspective view that fills its parent.
#[component]
pub fn ReliefChart(
    #[prop(into)] relief: Signal<Arc<Relief>>,
    /// Description for screen readers.
    #[prop(into)]
    label: Signal<String>,
    /// Handler of a drag: CSS pixels to the right and down since the last call.
    #[prop(into)]
    on_drag: Callback<(f64, f64)>,
) -> impl IntoView {
    let holder = NodeRef::<html::Div>::new();
    let canvas = NodeRef::<html::Canvas>::new();
    canvas::draw_figure(relief, (holder, canvas), |relief, backend, size, theme| {
        let _never = relief.draw(backend, size, theme, 1.0);
    });
    let from = StoredValue::new(None::<(f64, f64)>);
    let place =
        |event: &web_sys::PointerEvent| (f64::from(event.client_x()), f64::from(event.client_y()));
    let on_down = move |event: web_sys::PointerEvent| {
        capture(&event, holder);
        from.set_value(Some(place(&event)));
    };
    let on_move = move |event: web_sys::PointerEvent| {
        let (Some((x, y)), now) = (from.get_value(), place(&event)) else {
            return;
        };
        from.set_value(Some(now));
        on_drag.run((now.0 - x, now.1 - y));
    };
    view! {
        <div
            class="chart turn"
            node_ref=holder
            on:pointerdown=on_down
            on:pointermove=on_move
            on:pointerup=move |_| from.set_value(None)
            on:pointercancel=move |_| from.set_value(None)
        >
            <canvas node_ref=canvas role="img" aria-label=move || label.get()></canvas>
        </div>
    }
}
