//! What an address shows that leads nowhere.

use leptos::prelude::*;

use crate::components::{IconName, StatePage};
use crate::i18n::use_i18n;
use crate::route;

/// There is no page here.
#[component]
pub fn NotFoundPage() -> impl IntoView {
    let i18n = use_i18n();
    view! {
        <main class="main">
            <StatePage
                icon=IconName::Gone
                title=Signal::derive(move || i18n.texts().states.nowhere.to_owned())
                next=Signal::derive(move || i18n.texts().states.nowhere_next.to_owned())
            >
                <div class="acts">
                    <a class="btn primary" href=route::runs_href()>
                        {move || i18n.texts().states.all_runs}
                    </a>
                </div>
            </StatePage>
        </main>
    }
}
