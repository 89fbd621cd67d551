//! Browser client of the server: requests and drawing.
//!
//! The frame, the routes and the split points are here. Pages are separate crates, made of the parts of the kit, and
//! contain no analysis: findings come from the server unchanged.

#![expect(
    unreachable_pub,
    reason = "`#[component]` makes its props `pub` in modules that are not"
)]

pub mod app;
pub mod frame;
pub mod pages;
pub mod panels;

/// Mounts the program into the page. The bundle calls it as soon as it is loaded.
#[cfg(target_arch = "wasm32")]
#[wasm_bindgen::prelude::wasm_bindgen(start)]
pub fn start() {
    // Without it, a panic of this program shows only `unreachable` in the console.
    console_error_panic_hook::set_once();
    leptos::mount::mount_to_body(app::App);
}
