//! The list of runs.

use leptos::prelude::*;

/// The list of runs.
#[component]
pub fn RunsPage() -> impl IntoView {
    view! { <main class="main"></main> }
}
