//! Size of an element in CSS pixels and its device pixel ratio, kept up to date.

use leptos::html;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::ResizeObserver;

use crate::prelude::*;

/// The observer and its callback; dropped together.
struct ElementObserver {
    observer: ResizeObserver,
    _callback: Closure<dyn FnMut()>,
}

impl Drop for ElementObserver {
    fn drop(&mut self) {
        self.observer.disconnect();
    }
}

/// Width, height and device pixel ratio of an element; zeros before it is laid out.
pub fn use_size(element: NodeRef<html::Div>) -> Signal<(f64, f64, f64)> {
    let size = RwSignal::new((0.0, 0.0, 1.0));
    let measure = move || {
        let Some(element) = element.try_get_untracked().flatten() else {
            return;
        };
        let now = (
            f64::from(element.client_width()),
            f64::from(element.client_height()),
            window().device_pixel_ratio(),
        );
        if size.try_get_untracked().is_some_and(|before| before != now) {
            size.set(now);
        }
    };
    let observing = LocalValue::new_local(None::<ElementObserver>);
    Effect::new(move || {
        let Some(element) = element.get() else { return };
        measure();
        let callback = Closure::<dyn FnMut()>::new(measure);
        if let Ok(observer) = ResizeObserver::new(callback.as_ref().unchecked_ref()) {
            observer.observe(&element);
            observing.set_value(Some(ElementObserver {
                observer,
                _callback: callback,
            }));
        }
    });
    // Moving a window to another screen changes the ratio, which browsers report as a resize.
    let handle = window_event_listener_untyped("resize", move |_| measure());
    on_cleanup(move || handle.remove());
    size.into()
}
