//! Keyboard: one listener per component, silent while a text field has the focus.

use leptos::ev;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;

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

/// Like [`use_keys`], but called before all its handlers, for pages that give keys of the frame another meaning.
pub fn use_first_keys(on_key: impl Fn(&str, &web_sys::KeyboardEvent) -> bool + 'static) {
    let handle = move |event: web_sys::KeyboardEvent| {
        let has_modifier = event.ctrl_key() || event.alt_key() || event.meta_key();
        // Keyboards on which `[` is typed with AltGr report both of its modifiers.
        let is_letter = event.get_modifier_state("AltGraph") || !has_modifier;
        if is_letter && !belongs_to_target(&event) && on_key(&event.key(), &event) {
            event.prevent_default();
        }
    };
    let handle = Closure::<dyn FnMut(web_sys::KeyboardEvent)>::new(handle);
    // Before the event goes down to its target, and up again to the other handlers.
    let is_on_the_way_down = true;
    let added = window().add_event_listener_with_callback_and_bool(
        "keydown",
        handle.as_ref().unchecked_ref(),
        is_on_the_way_down,
    );
    let handle = LocalValue::new_local(added.is_ok().then_some(handle));
    on_cleanup(move || {
        handle.try_update_value(|handle| {
            if let Some(handle) = handle.take() {
                // A listener that was added can be removed.
                let _ignored = window().remove_event_listener_with_callback_and_bool(
                    "keydown",
                    handle.as_ref().unchecked_ref(),
                    is_on_the_way_down,
                );
            }
        });
    });
}

/// `true` if the focused element handles the key itself: text in a field, Enter and space on a link or a button.
fn belongs_to_target(event: &web_sys::KeyboardEvent) -> bool {
    let Some(element) = event
        .target()
        .and_then(|target| target.dyn_into::<web_sys::HtmlElement>().ok())
    else {
        return false;
    };
    // F1 to F12 type nothing.
    if event.key().len() > 1 && event.key().starts_with('F') {
        return false;
    }
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

/// The row that a key selects; `Enter` stays. `None` for any other key, and without rows.
pub fn row_after(key: &str, row: usize, rows: usize) -> Option<usize> {
    if rows == 0 {
        return None;
    }
    match key {
        "ArrowDown" => Some((row + 1) % rows),
        "ArrowUp" => Some((row + rows - 1) % rows),
        "Enter" => Some(row.min(rows - 1)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::row_after;

    #[test]
    fn keys_go_round_the_rows_and_the_first_is_chosen() {
        assert_eq!(row_after("Enter", 0, 3), Some(0));
        assert_eq!(row_after("Enter", 7, 3), Some(2));
        assert_eq!(row_after("ArrowDown", 2, 3), Some(0));
        assert_eq!(row_after("ArrowUp", 0, 3), Some(2));
        assert_eq!(row_after("a", 0, 3), None);
        assert_eq!(row_after("Enter", 0, 0), None);
    }
}
