//! A page that has nothing to draw: a title that says what is, a sentence that says what to do next.

use super::{Icon, IconName};
use crate::prelude::*;

/// A designed state in place of the content.
#[component]
pub fn StatePage(
    /// Its icon.
    icon: IconName,
    /// What is.
    #[prop(into)]
    title: Signal<String>,
    /// Why, and what to do next.
    #[prop(into)]
    next: Signal<String>,
    /// At most one primary action, and whatever shows progress.
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
