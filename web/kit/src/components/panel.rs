//! The right panel: details open next to the content, never as a dialog over it.

use super::{IconButton, IconName};
use crate::i18n::use_i18n;
use crate::keys::use_keys;
use crate::prelude::*;

/// A panel at the right edge of the content. `Esc` and its × close it.
#[component]
pub fn RightPanel(
    /// Heading.
    #[prop(into)]
    title: Signal<String>,
    /// Handler of closing.
    #[prop(into)]
    on_close: Callback<()>,
    /// Its content.
    children: Children,
) -> impl IntoView {
    let i18n = use_i18n();
    use_keys(move |key, _| {
        let escape = key == "Escape";
        if escape {
            on_close.run(());
        }
        escape
    });
    view! {
        <aside class="panel right-panel" data-part="panel" aria-label=move || title.get()>
            <div class="head">
                <h2 class="cut" title=move || title.get()>
                    {move || title.get()}
                </h2>
                <span class="grow"></span>
                <IconButton
                    icon=IconName::Close
                    label=i18n.label(|t| t.frame().close)
                    on_press=move || on_close.run(())
                />
            </div>
            <div class="panel-body">{children()}</div>
        </aside>
    }
}
