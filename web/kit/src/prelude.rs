//! Names that most files use: those of the framework, and a value of the browser that stays on its thread.

pub use leptos::prelude::*;

/// A stored value that is not `Send`, such as an element of the page.
pub type LocalValue<T> = StoredValue<T, LocalStorage>;
