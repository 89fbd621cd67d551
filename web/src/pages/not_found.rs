//! Page for addresses without a route.

use trainscope_web_kit::components::{IconName, StatePage};
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::route;

/// State page for an unknown address.
#[component]
pub fn NotFoundPage() -> impl IntoView {
    let i18n = use_i18n();
    view! {
        <NothingHere
            title=i18n.label(|t| t.states().nowhere)
            next=i18n.label(|t| t.states().nowhere_next)
        />
    }
}

/// A page that gives a reason, with a link to the list of runs.
#[component]
pub(super) fn NothingHere(title: Signal<String>, next: Signal<String>) -> impl IntoView {
    let i18n = use_i18n();
    view! {
        <main class="main">
            <StatePage icon=IconName::Gone title=title next=next>
                <div class="acts">
                    <a class="btn primary" href=route::runs_href()>
                        {i18n.text(|t| t.states().all_runs)}
                    </a>
                </div>
            </StatePage>
        </main>
    }
}
