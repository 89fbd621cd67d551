//! The line of a card whose last request failed: in its head, because text over curves hides them.

use crate::i18n::use_i18n;
use crate::prelude::*;

/// Says that what the card shows is not the newest, or that there is nothing to show.
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
        let texts = &i18n.texts().scalars;
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
