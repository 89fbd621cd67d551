//! Light or dark: follows the system until a person chooses, then remembers the choice.
//!
//! `boot.js` applies the remembered choice before the first paint; this module changes it.

use std::sync::Arc;

use trainscope_charts::theme::Rgb;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;

use crate::prelude::*;
use crate::storage;
use crate::url_state::Key;

const KEY: &str = "theme";

/// The two themes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theme {
    /// Dark ink on a light ground.
    Light,
    /// Light ink on a dark ground.
    Dark,
}

impl Theme {
    /// The value of `data-theme` on the root element.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    const fn other(self) -> Self {
        match self {
            Self::Light => Self::Dark,
            Self::Dark => Self::Light,
        }
    }
}

/// Parameter of the address: the theme of a link, which `boot.js` applies.
pub const THEME: Key<Theme> =
    Key::of_words("theme", &[(Theme::Light, "light"), (Theme::Dark, "dark")]);

/// The theme in force, as a signal. Canvas charts redraw when it changes.
#[derive(Clone, Copy)]
pub struct ThemeState {
    shown: RwSignal<Theme>,
    chosen: RwSignal<Option<Theme>>,
}

impl ThemeState {
    /// Reads the theme in force: the attribute set by `boot.js`, otherwise the system's preference.
    pub fn provide() -> Self {
        let state = Self {
            shown: RwSignal::new(current()),
            chosen: RwSignal::new(attribute()),
        };
        provide_context(state);
        if let Some(query) = dark_query() {
            let follow = Closure::<dyn Fn()>::new(move || state.shown.set(current()));
            query.set_onchange(Some(follow.as_ref().unchecked_ref()));
            // Both live as long as the page.
            follow.forget();
        }
        state
    }

    /// The theme in force; reactive.
    pub fn get(self) -> Theme {
        self.shown.get()
    }

    /// The theme that a person chose; `None` while it follows the system. Reactive.
    pub fn chosen(self) -> Option<Theme> {
        self.chosen.get()
    }

    /// Changes to the other theme and remembers it.
    pub fn toggle(self) {
        self.choose(Some(self.shown.get_untracked().other()));
    }

    /// Changes to a theme and remembers it; with `None` it follows the system again.
    pub fn choose(self, theme: Option<Theme>) {
        storage::write(KEY, theme.map(Theme::as_str));
        if let Some(root) = document().document_element() {
            // Changing a plain attribute of an existing element does not fail.
            let _ignored = match theme {
                Some(theme) => root.set_attribute("data-theme", theme.as_str()),
                None => root.remove_attribute("data-theme"),
            };
        }
        self.chosen.set(theme);
        self.shown.set(current());
    }
}

/// The theme of this page.
pub fn use_theme() -> ThemeState {
    expect_context()
}

/// Values of the design tokens in the style sheet.
pub struct Tokens(Option<web_sys::CssStyleDeclaration>);

impl Tokens {
    /// Text of a token; empty if it is missing.
    pub fn text(&self, name: &str) -> String {
        let style = self.0.as_ref();
        let value = style.and_then(|style| style.get_property_value(name).ok());
        value.unwrap_or_default().trim().to_owned()
    }

    /// Colour of a token; grey if it is missing.
    pub fn colour(&self, name: &str) -> Rgb {
        Rgb::from_hex(&self.text(name)).unwrap_or(Rgb(128, 128, 128))
    }

    /// Names of the fonts of texts, on one line.
    pub fn font(&self) -> String {
        let names = self.text("--font");
        names.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// A selection of the tokens, read again when the theme changes.
pub fn use_tokens<T: PartialEq + Send + Sync + 'static>(read: fn(&Tokens) -> T) -> Memo<Arc<T>> {
    let theme = use_theme();
    Memo::new(move |_| {
        theme.get();
        let root = document().document_element();
        let style = root.and_then(|root| window().get_computed_style(&root).ok().flatten());
        Arc::new(read(&Tokens(style)))
    })
}

fn current() -> Theme {
    attribute().unwrap_or_else(|| {
        let dark = dark_query().is_some_and(|query| query.matches());
        if dark { Theme::Dark } else { Theme::Light }
    })
}

/// The theme on the root element, which is chosen or asked for by the link.
fn attribute() -> Option<Theme> {
    let attribute = document()
        .document_element()
        .and_then(|root| root.get_attribute("data-theme"));
    match attribute.as_deref() {
        Some("dark") => Some(Theme::Dark),
        Some("light") => Some(Theme::Light),
        _ => None,
    }
}

fn dark_query() -> Option<web_sys::MediaQueryList> {
    let query = window().match_media("(prefers-color-scheme: dark)");
    query.ok().flatten()
}
