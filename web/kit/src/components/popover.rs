//! A button with a panel below it: a press elsewhere or `Esc` closes the panel.

use leptos::html;
use wasm_bindgen::JsCast;

use super::{Icon, IconName};
use crate::prelude::*;

/// A button and its panel.
#[component]
pub fn Popover(
    /// `true` while open.
    is_open: RwSignal<bool>,
    /// Label of the button for screen readers, and its title.
    #[prop(into)]
    label: Signal<String>,
    /// Classes of the button.
    #[prop(default = "btn bare icon")]
    class: &'static str,
    /// Classes of the panel.
    #[prop(default = "popover")]
    panel_class: &'static str,
    /// Role of the panel.
    #[prop(default = "dialog")]
    role: &'static str,
    /// `true` to open over the page, if the surroundings of the button would cut it off.
    #[prop(optional)]
    is_floating: bool,
    /// `true` to draw the button as pressed even when the popover is closed.
    #[prop(optional, into)]
    pressed: Signal<bool>,
    /// Content of the button.
    face: ViewFn,
    /// Content of the popover.
    children: ChildrenFn,
) -> impl IntoView {
    let holder = NodeRef::<html::Span>::new();
    let panel = NodeRef::<html::Div>::new();
    let close_unless_inside = move |event: &web_sys::Event| {
        let inside = holder.get_untracked().is_some_and(|holder| {
            let target: web_sys::EventTarget = event_target(event);
            target
                .dyn_into::<web_sys::Node>()
                .is_ok_and(|node| holder.contains(Some(&node)))
        });
        if !inside && is_open.get_untracked() {
            is_open.set(false);
        }
    };
    let handle = window_event_listener(leptos::ev::pointerdown, move |event| {
        close_unless_inside(&event);
    });
    on_cleanup(move || handle.remove());
    if is_floating {
        // Scrolling would separate the panel from its button.
        let handle = window_event_listener(leptos::ev::wheel, move |event| {
            close_unless_inside(&event);
        });
        on_cleanup(move || handle.remove());
        Effect::new(move |_| {
            if let (Some(panel), Some(holder)) = (panel.get(), holder.get_untracked()) {
                float(&panel, &holder);
            }
        });
    }
    let on_key = move |event: web_sys::KeyboardEvent| {
        if event.key() == "Escape" && is_open.get_untracked() {
            // Nothing behind it is closed by the same key.
            event.stop_propagation();
            event.prevent_default();
            is_open.set(false);
        }
    };
    view! {
        <span class="menu" node_ref=holder on:keydown=on_key>
            <button
                type="button"
                class=class
                aria-haspopup=role
                aria-expanded=move || is_open.get().to_string()
                aria-pressed=move || pressed.get().then_some("true")
                aria-label=move || label.get()
                title=move || label.get()
                on:click=move |_| is_open.update(|open| *open = !*open)
            >
                {move || face.run()}
            </button>
            {move || {
                is_open
                    .get()
                    .then(|| {
                        view! {
                            <div node_ref=panel class=panel_class role=role aria-label=move || label.get()>
                                {children()}
                            </div>
                        }
                    })
            }}
        </span>
    }
}

/// Distance of the panel from the edges of the window and from its button, in pixels.
const MARGIN: f64 = 4.0;

/// Places a panel below the middle of its button, within the window.
fn float(panel: &web_sys::HtmlElement, holder: &web_sys::HtmlElement) {
    let button = holder.get_bounding_client_rect();
    let size = panel.get_bounding_client_rect();
    let pixels =
        |value: Result<wasm_bindgen::JsValue, _>| value.ok().and_then(|value| value.as_f64());
    let width = pixels(window().inner_width()).unwrap_or_default();
    let height = pixels(window().inner_height()).unwrap_or_default();
    let place = |wanted: f64, length: f64, all: f64| wanted.min(all - length - MARGIN).max(MARGIN);
    let middle = (button.left() + button.right() - size.width()) / 2.0;
    let left = place(middle, size.width(), width);
    let top = place(button.bottom() + MARGIN, size.height(), height);
    let style = panel.style();
    for (name, value) in [
        ("position", "fixed".to_owned()),
        ("left", format!("{left}px")),
        ("top", format!("{top}px")),
        ("right", "auto".to_owned()),
    ] {
        // A browser that refuses it leaves the panel below its button.
        let _refused = style.set_property(name, &value);
    }
}

/// One line of a menu.
#[component]
pub fn MenuItem(
    /// The icon before it.
    icon: IconName,
    /// Its words.
    #[prop(into)]
    label: Signal<String>,
    /// Click handler.
    #[prop(into)]
    on_press: leptos::callback::UnsyncCallback<()>,
) -> impl IntoView {
    view! {
        <button type="button" role="menuitem" class="hit" on:click=move |_| on_press.run(())>
            <Icon name=icon size=14 />
            {move || label.get()}
        </button>
    }
}
