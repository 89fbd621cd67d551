//! A distribution chart on two canvases: the chart below, and above it the highlight under the pointer.

use std::sync::Arc;

use leptos::html;
use trainscope_charts::distribution::{self, Hit, Layout, Spec, View};

use super::{DRAG_PIXELS, canvas, schedule, size, use_palette};
use crate::prelude::*;

/// Element under the pointer, and the pointer's position in the chart.
pub type PointedElement = Option<(Hit, f64, f64)>;

/// A distribution chart that fills its parent.
#[component]
pub fn DistributionChart(
    /// Content; its size is that of the parent.
    #[prop(into)]
    spec: Signal<Arc<Spec>>,
    /// Description for screen readers.
    #[prop(into)]
    label: Signal<String>,
    /// Element under the pointer; set by this component.
    pointed: RwSignal<PointedElement>,
    /// The canvas of the chart, for downloads.
    canvas: NodeRef<html::Canvas>,
    /// A dragged range of the axis of steps, if that is horizontal.
    on_select: Callback<(f64, f64)>,
    /// A double click, to show everything.
    on_fit: Callback<()>,
) -> impl IntoView {
    let palette = use_palette();
    let holder = NodeRef::<html::Div>::new();
    let overlay = NodeRef::<html::Canvas>::new();
    let size = size::use_size(holder);
    let ticket = schedule::Ticket::unique();
    // The drawn chart with its layout.
    let drawn = RwSignal::new(None::<(Arc<Spec>, Arc<Layout>)>);
    let drag = RwSignal::new(None::<(f64, f64)>);
    Effect::new(move || {
        let (width, height, dpr) = size.get();
        if width < 1.0 || height < 1.0 {
            return;
        }
        let spec = spec.get();
        let palette = palette.get();
        ticket.ask(move || {
            let Some(canvas) = canvas.try_get_untracked().flatten() else {
                return;
            };
            let mut spec = Spec::clone(&spec);
            (spec.width, spec.height, spec.dpr) = (width, height, dpr);
            let layout = Arc::new(Layout::new(&spec));
            let spec = Arc::new(spec);
            if let Some(backend) = canvas::prepare(&canvas, (width, height, layout.dpr)) {
                // A canvas rejects only arcs of negative radius, which do not occur.
                let _never = distribution::draw(backend, &spec, &layout, &palette.theme, 1.0);
            }
            // The component may be gone by the time of this frame.
            let _gone = drawn.try_set(Some((spec, layout)));
        });
    });
    on_cleanup(move || ticket.give_up());
    // Each visible canvas is copied for each frame in which anything on the page changes.
    let has_overlay = Memo::new(move |_| pointed.with(Option::is_some) || drag.get().is_some());
    Effect::new(move || {
        if !has_overlay.get() {
            return;
        }
        let (Some(canvas), Some((spec, layout))) = (overlay.get(), drawn.get()) else {
            return;
        };
        let hit = pointed.with(|pointed| pointed.map(|(hit, ..)| hit));
        let size = (layout.width, layout.height, layout.dpr);
        if let Some(backend) = canvas::prepare(&canvas, size) {
            let theme = &palette.get().theme;
            let _never = distribution::draw_hit(backend, &spec, &layout, theme, hit, drag.get());
        }
    });
    let place = move |event: &web_sys::PointerEvent| -> Option<(f64, f64)> {
        let rect = holder.get_untracked()?.get_bounding_client_rect();
        Some((
            f64::from(event.client_x()) - rect.left(),
            f64::from(event.client_y()) - rect.top(),
        ))
    };
    let on_down = move |event: web_sys::PointerEvent| {
        let goes_across =
            spec.with_untracked(|spec| matches!(spec.view, View::HeatMap | View::Percentiles));
        if let (Some((x, _)), true) = (place(&event), goes_across && event.button() == 0) {
            if let Some(holder) = holder.get_untracked() {
                // Without capture a drag only ends when it leaves the chart, which is acceptable.
                let _ignored = holder.set_pointer_capture(event.pointer_id());
            }
            drag.set(Some((x, x)));
        }
    };
    let on_move = move |event: web_sys::PointerEvent| {
        let Some((x, y)) = place(&event) else { return };
        if let Some((from, _)) = drag.get_untracked() {
            drag.set(Some((from, x)));
        }
        let hit = drawn.with_untracked(|drawn| {
            let (spec, layout) = drawn.as_ref()?;
            layout.hit(spec, x, y).map(|hit| (hit, x, y))
        });
        if pointed.with_untracked(|before| *before != hit) {
            pointed.set(hit);
        }
    };
    let on_up = move |_: web_sys::PointerEvent| {
        let Some((from, to)) = drag.get_untracked() else {
            return;
        };
        drag.set(None);
        let layout = drawn.with_untracked(|drawn| drawn.as_ref().map(|drawn| Arc::clone(&drawn.1)));
        if let Some(layout) = layout.filter(|_| (to - from).abs() >= DRAG_PIXELS) {
            let at = |x: f64| layout.step_at(x.clamp(layout.plot.left, layout.plot.right));
            on_select.run((at(from.min(to)), at(from.max(to))));
        }
    };
    view! {
        <div
            class="chart"
            node_ref=holder
            on:pointerdown=on_down
            on:pointermove=on_move
            on:pointerup=on_up
            on:pointercancel=move |_| drag.set(None)
            on:pointerleave=move |_| pointed.set(None)
            on:dblclick=move |_| on_fit.run(())
        >
            <canvas node_ref=canvas role="img" aria-label=move || label.get()></canvas>
            <canvas node_ref=overlay aria-hidden="true" hidden=move || !has_overlay.get()></canvas>
        </div>
    }
}
