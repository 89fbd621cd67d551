//! Lineage: many runs by their parameters and results, as parallel coordinates and as a table.

use crate::i18n::use_i18n;
use crate::prelude::*;

/// The page of lineage.
#[component]
pub fn LineagePage() -> impl IntoView {
    let i18n = use_i18n();
    view! {
        <main class="main" aria-label=i18n.text(|t| t.lineage.title)></main>
    }
}
