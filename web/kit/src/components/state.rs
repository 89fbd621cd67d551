//! A state page without content: a title with the fact, a sentence with the next step.

use super::{Icon, IconName};
use crate::prelude::*;

/// A state page in place of the content.
#[component]
pub fn StatePage(
    icon: IconName,
    /// The fact.
    #[prop(into)]
    title: Signal<String>,
    /// Reason, and next step.
    #[prop(into)]
    next: Signal<String>,
    /// At most one primary action, and progress.
    children: Children,
) -> impl IntoView {
    view! {
        <section class="card state-page">
            <h1 class="flex">
                <span class="ink3">
                    <Icon name=icon size=18 />
                </span>
                {move || title.get()}
            </h1>
            <p>{move || next.get()}</p>
            {children()}
        </section>
    }
}
