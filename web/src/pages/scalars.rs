//! Curves of one or more runs.

use leptos::prelude::*;

/// The curves of the run that the address names (`crate::route::use_run`).
#[component]
pub fn ScalarsPage() -> impl IntoView {
    view! { <main class="main"></main> }
}
