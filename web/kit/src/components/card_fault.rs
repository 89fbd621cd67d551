//! Error line of a card whose last request failed: in its head, because text over curves would hide them.

use crate::i18n::use_i18n;
use crate::prelude::*;

/// Shows that the picture is outdated or missing.
#[component]
pub fn CardFault(
    /// True if the last request failed.
    #[prop(into)]
    has_failed: Signal<bool>,
    /// True if an earlier answer is drawn.
    #[prop(into)]
    is_drawn: Signal<bool>,
) -> impl IntoView {
    let i18n = use_i18n();
    let text = Memo::new(move |_| {
        let texts = i18n.texts().scalars();
        let text = || {
            if is_drawn.get() {
                texts.card_failed
            } else {
                texts.no_answer
            }
        };
        has_failed.get().then(text)
    });
    view! {
        <span class="card-fault micro warn cut" role="status" title=move || text.get()>
            {move || text.get()}
        </span>
    }
}
