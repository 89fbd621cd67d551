//! Parts that all pages are made of: requests, the address, texts, state shared by pages, and components.
//!
//! [`client`] is the only module that fetches, [`live`] has the only event stream, [`url_state`] is the only access to
//! the query string.

#![expect(
    missing_docs,
    reason = "only the browser loads this crate; names without a comment suffice"
)]
#![expect(
    unreachable_pub,
    reason = "`#[component]` makes its props `pub` in modules that are not"
)]

pub mod client;
pub mod components;
pub mod format;
pub mod frame_state;
pub mod frames;
pub mod i18n;
pub mod icon;
pub mod keys;
pub mod live;
pub mod location;
pub mod notebook;
pub mod parameters;
pub mod pixels;
pub mod prelude;
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
