//! The pointer over an element, and its wheel.

use leptos::html::ElementType;
use wasm_bindgen::JsCast;
use web_sys::{Element, MouseEvent, PointerEvent, WheelEvent};

use crate::prelude::*;

/// Position of the pointer in an element, and size of the element, CSS pixels.
pub fn place_and_size<E: ElementType<Output: JsCast + Clone + 'static>>(
    event: &MouseEvent,
    element: NodeRef<E>,
) -> Option<((f64, f64), (f64, f64))> {
    let element: Element = element.get_untracked()?.unchecked_into();
    let rect = element.get_bounding_client_rect();
    let x = f64::from(event.client_x()) - rect.left();
    let y = f64::from(event.client_y()) - rect.top();
    Some(((x, y), (rect.width(), rect.height())))
}

/// Position of the pointer in an element, CSS pixels.
pub fn place<E: ElementType<Output: JsCast + Clone + 'static>>(
    event: &MouseEvent,
    element: NodeRef<E>,
) -> Option<(f64, f64)> {
    Some(place_and_size(event, element)?.0)
}

/// Position of the pointer as shares of an element's width and height, 0 to 1 within it.
pub fn share<E: ElementType<Output: JsCast + Clone + 'static>>(
    event: &MouseEvent,
    element: NodeRef<E>,
) -> Option<(f64, f64)> {
    let ((x, y), (width, height)) = place_and_size(event, element)?;
    Some((x / width.max(1.0), y / height.max(1.0)))
}

/// Lets an element follow a drag beyond its edges.
pub fn capture<E: ElementType<Output: JsCast + Clone + 'static>>(
    event: &PointerEvent,
    element: NodeRef<E>,
) {
    if let Some(element) = element.get_untracked() {
        let element: Element = element.unchecked_into();
        // Without capture a drag ends at the edge, which is acceptable.
        let _ignored = element.set_pointer_capture(event.pointer_id());
    }
}

/// Turn of the wheel to the right and down, CSS pixels.
pub fn wheel(event: &WheelEvent) -> (f64, f64) {
    // Pixels, lines or pages.
    let unit = [1.0, 16.0, 400.0][event.delta_mode().min(2) as usize];
    (event.delta_x() * unit, event.delta_y() * unit)
}

/// Factor of a zoom by a turn of the wheel down.
pub fn zoom_factor(down: f64) -> f64 {
    (-down / 400.0).clamp(-0.6, 0.6).exp()
}
