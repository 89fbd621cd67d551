//! A distribution chart on two canvases: the chart below, and above it the highlight under the pointer.

use std::sync::Arc;

use leptos::html;
use trainscope_charts::distribution::{self, Hit, Layout, Spec, View};

use super::gesture::RangeDrag;
use super::{canvas, use_palette};
use crate::components::drawing::use_drawing;
use crate::components::pointer::{capture, place};
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
    // The drawn chart with its layout.
    let drawn = RwSignal::new(None::<(Arc<Spec>, Arc<Layout>)>);
    let drag = RangeDrag::default();
    use_drawing(holder, canvas, move |(width, height, dpr)| {
        let (spec, palette) = (spec.get(), palette.get());
        move |canvas| {
            let mut spec = Spec::clone(&spec);
            (spec.width, spec.height, spec.dpr) = (width, height, dpr);
            let layout = Arc::new(Layout::new(&spec));
            let spec = Arc::new(spec);
            if let Some(backend) = canvas::prepare(canvas, (width, height, layout.dpr)) {
                // A canvas rejects only arcs of negative radius, which do not occur.
                let _never = distribution::draw(backend, &spec, &layout, &palette.theme, 1.0);
            }
            // The component may be gone by the time of this frame.
            let _gone = drawn.try_set(Some((spec, layout)));
        }
    });
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
    let on_down = move |event: web_sys::PointerEvent| {
        let goes_across =
            spec.with_untracked(|spec| matches!(spec.view, View::HeatMap | View::Percentiles));
        if let (Some((x, _)), true) = (place(&event, holder), goes_across && event.button() == 0) {
            capture(&event, holder);
            drag.begin(x);
        }
    };
    let on_move = move |event: web_sys::PointerEvent| {
        let Some((x, y)) = place(&event, holder) else {
            return;
        };
        drag.go_on(x);
        let hit = drawn.with_untracked(|drawn| {
            let (spec, layout) = drawn.as_ref()?;
            layout.hit(spec, x, y).map(|hit| (hit, x, y))
        });
        if pointed.with_untracked(|before| *before != hit) {
            pointed.set(hit);
        }
    };
    let on_up = move |_: web_sys::PointerEvent| {
        if let Some(((from, to), (_, layout))) = drag.end().zip(drawn.get_untracked()) {
            let at = |x: f64| layout.step_at(x.clamp(layout.plot.left, layout.plot.right));
            on_select.run((at(from), at(to)));
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
                drag.end();
            }
            on:pointerleave=move |_| pointed.set(None)
            on:dblclick=move |_| on_fit.run(())
        >
            <canvas node_ref=canvas role="img" aria-label=move || label.get()></canvas>
            <canvas node_ref=overlay aria-hidden="true" hidden=move || !has_overlay.get()></canvas>
        </div>
    }
}
