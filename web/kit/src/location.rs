//! The address bar as signals: links of this page and the buttons of the browser change the view without loading the
//! page again.

use std::sync::OnceLock;

use leptos::{ev, wasm_bindgen::JsCast};

use crate::prelude::*;

/// Effect of a change of address on the browser's history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum History {
    /// The back button returns to the previous state.
    Push,
    /// The change replaces the previous state: typing, dragging, scrolling.
    Replace,
}

/// Current path and query, changed together.
#[derive(Clone, Copy)]
pub struct Address(RwSignal<(String, String)>);

impl Address {
    /// Starts to follow the address bar.
    pub fn provide() {
        let address = Self(RwSignal::new(now()));
        window_event_listener(ev::popstate, move |_| address.0.set(now()));
        // The window receives a click last, after handlers of inner elements may have cancelled it.
        window_event_listener(ev::click, move |event| {
            if let Some(href) = followed(&event) {
                event.prevent_default();
                address.go(&href, History::Push);
                window().scroll_to_with_x_and_y(0.0, 0.0);
            }
        });
        provide_context(address);
    }

    /// The undecoded path.
    pub fn pathname(self) -> Memo<String> {
        Memo::new(move |_| self.0.with(|(pathname, _)| pathname.clone()))
    }

    /// The undecoded query.
    pub fn search(self) -> Memo<String> {
        Memo::new(move |_| self.0.with(|(_, search)| search.clone()))
    }

    /// Path and query, undecoded and without reactivity.
    pub fn untracked(self) -> (String, String) {
        self.0.get_untracked()
    }

    /// Shows another address of this page.
    pub fn go(self, href: &str, history: History) {
        let bar = window().history();
        let done = bar.and_then(|bar| {
            let nothing = leptos::wasm_bindgen::JsValue::NULL;
            match history {
                History::Push => bar.push_state_with_url(&nothing, "", Some(href)),
                History::Replace => bar.replace_state_with_url(&nothing, "", Some(href)),
            }
        });
        // Browsers refuse too frequent changes of the address; the next change includes this one.
        if done.is_ok() {
            self.0.set(now());
        } else {
            let (href, _) = href.split_once('#').unwrap_or((href, ""));
            let (path, query) = href.split_once('?').unwrap_or((href, ""));
            self.0.set((path.to_owned(), query.to_owned()));
        }
    }
}

/// The signals of [`Address::provide`].
pub fn use_address() -> Address {
    expect_context()
}

/// The path of the page's base without its last slash: empty, or the server's prefix.
pub fn base_path() -> &'static str {
    // It never changes, and each of a thousand links begins with it.
    static PATH: OnceLock<String> = OnceLock::new();
    PATH.get_or_init(|| {
        let base = document().base_uri().ok().flatten();
        let path = base.and_then(|base| web_sys::Url::new(&base).ok());
        path.map(|url| {
            let path = url.pathname();
            path[..path.rfind('/').unwrap_or(0)].to_owned()
        })
        .unwrap_or_default()
    })
}

fn now() -> (String, String) {
    let bar = window().location();
    (
        bar.pathname().unwrap_or_default(),
        bar.search().unwrap_or_default(),
    )
}

/// `true` for paths of pages: the list of runs, pages about many runs, which have one segment without a dot, and pages
/// of a run.
fn is_page(path: &str) -> bool {
    path.starts_with("/run/")
        || path
            .strip_prefix('/')
            .is_some_and(|rest| !rest.contains(['/', '.']))
}

/// The address of the link of this program that a click follows here, and not in another tab or as a download.
fn followed(event: &web_sys::MouseEvent) -> Option<String> {
    let is_plain = event.button() == 0
        && !(event.meta_key() || event.ctrl_key() || event.shift_key() || event.alt_key());
    if event.default_prevented() || !is_plain {
        return None;
    }
    let clicked: web_sys::Element = event.target()?.dyn_into().ok()?;
    let link = clicked.closest("a[href]").ok()??;
    let link: web_sys::HtmlAnchorElement = link.dyn_into().ok()?;
    let is_elsewhere = !matches!(&*link.target(), "" | "_self")
        || link.has_attribute("download")
        || link.origin() != window().location().origin().ok()?;
    let path = link.pathname();
    let is_ours = path.strip_prefix(base_path()).is_some_and(is_page);
    // The browser itself goes to a place on the same page.
    let (pathname, search) = now();
    let is_here = !link.hash().is_empty() && path == pathname && link.search() == search;
    (!is_elsewhere && is_ours && !is_here)
        .then(|| format!("{path}{}{}", link.search(), link.hash()))
}

#[cfg(test)]
mod tests {
    use super::is_page;

    #[test]
    fn files_and_answers_are_no_pages() {
        for path in ["/", "/lineage", "/run/a/scalars", "/run/a.b"] {
            assert!(is_page(path), "{path}");
        }
        for path in ["", "/api/runs", "/icon.svg", "lineage"] {
            assert!(!is_page(path), "{path}");
        }
    }
}
