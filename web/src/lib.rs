//! The browser program: asks and draws.
//!
//! What it owns: pages, their addresses and their words. It judges nothing: findings come from the server as they are.
//! [`client`] is the only file that fetches, [`live`] holds the only event stream, [`url_state`] is the only way to
//! the query string; pages are made of these, of [`state`] and of [`components`].

#![expect(
    unreachable_pub,
    reason = "`#[component]` makes its props `pub` in modules that are not"
)]

pub mod app;
pub mod client;
pub mod components;
pub mod format;
pub mod frame;
mod frames;
pub mod i18n;
pub mod keys;
pub mod live;
pub mod location;
pub mod notebook;
pub mod pages;
mod pixels;
mod prelude;
pub mod route;
pub mod run_colour;
pub mod state;
pub mod storage;
pub mod theme;
pub mod url_state;

/// Mounts the program into the page. The bundle calls it as soon as it is loaded.
#[cfg(target_arch = "wasm32")]
#[wasm_bindgen::prelude::wasm_bindgen(start)]
pub fn start() {
    // Without it a mistake of this program reads `unreachable` in the console, and nothing else.
    console_error_panic_hook::set_once();
    leptos::mount::mount_to_body(app::App);
}
