//! The cards of this page.

use super::card::Card;
use super::page::PageState;
use trainscope_web_kit::components::{CardGrid, Place};
use trainscope_web_kit::prelude::*;

/// All cards, or the card that fills the page.
#[component]
pub(super) fn Cards() -> impl IntoView {
    let page = PageState::get();
    let settings = page.settings;
    view! {
        <CardGrid
            cards=page.cards
            full=settings.full
            target=settings.target
            current=page.current.into()
            size=settings.card_size
            is_first_drawn=page.browse.is_first_drawn()
            beside=Signal::derive(move || page.panel.with(Option::is_some))
            on_seen=Callback::new(move |seen| page.turns.show(seen))
            card=Callback::new(|place: Place| {
                view! { <Card place=place /> }.into_any()
            })
        />
    }
}
