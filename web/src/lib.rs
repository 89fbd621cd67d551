//! Browser client of the server: requests and drawing.
//!
//! It contains the pages, their routes and their texts, and no analysis: findings come from the server unchanged.
//! [`client`] is the only module that fetches, [`live`] has the only event stream, [`url_state`] is the only access to
//! the query string; pages are composed of these, of [`state`] and of [`components`].

#![expect(
    missing_docs,
    reason = "only the browser loads this crate; names without a comment suffice"
)]
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
mod icon;
pub mod keys;
pub mod live;
pub mod location;
pub mod notebook;
pub mod pages;
mod pixels;
mod prelude;
pub mod query;
pub mod registry;
pub mod route;
pub mod run_colour;
pub mod run_name;
pub mod sessions;
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
