//! Keyboard: one listener per component, silent while a text field has the focus.

use leptos::ev;
use wasm_bindgen::JsCast;

use crate::prelude::*;

/// Calls `on_key` with the name of each key (`"j"`, `"Enter"`, `"?"`) that is pressed outside of fields and without
/// Ctrl, Alt or Meta. A `true` means that the key was used: the browser then does nothing with it, and no listener
/// that was added later sees it.
pub fn use_keys(on_key: impl Fn(&str, &web_sys::KeyboardEvent) -> bool + 'static) {
    let handle = window_event_listener(ev::keydown, move |event| {
        if event.default_prevented()
            || event.ctrl_key()
            || event.alt_key()
            || event.meta_key()
            || belongs_to_target(&event)
        {
            return;
        }
        if on_key(&event.key(), &event) {
            event.prevent_default();
        }
    });
    on_cleanup(move || handle.remove());
}

/// `true` if the focused element handles the key itself: text in a field, Enter and space on a link or a button.
fn belongs_to_target(event: &web_sys::KeyboardEvent) -> bool {
    let Some(element) = event
        .target()
        .and_then(|target| target.dyn_into::<web_sys::HtmlElement>().ok())
    else {
        return false;
    };
    if element.is_content_editable() {
        return true;
    }
    match element.tag_name().as_str() {
        "TEXTAREA" | "SELECT" => true,
        "A" | "BUTTON" | "SUMMARY" => matches!(event.key().as_str(), "Enter" | " "),
        // Checkboxes accept no text, so shortcuts continue to work after a click on one.
        "INPUT" => !matches!(
            element.get_attribute("type").as_deref(),
            Some("checkbox" | "radio" | "range" | "button")
        ),
        _ => false,
    }
}
