//! Mounts shared state, frame and pages.

use crate::components::Palette;
use crate::frame::Frame;
use crate::i18n::I18n;
use crate::location::Address;
use crate::pages::{Chunks, PageOnDemand, RunPages};
use crate::prelude::*;
use crate::route::Place;
use crate::theme::ThemeState;
use crate::{format, route, state};

/// The whole program.
#[component]
pub fn App() -> impl IntoView {
    I18n::provide();
    ThemeState::provide();
    Palette::provide();
    format::provide_clock();
    state::provide_all();
    Address::provide();
    Chunks::provide();
    let place = route::use_place();
    let is_list = Memo::new(move |_| place.with(|place| *place == Place::Runs));
    view! {
        <Frame>
            {move || {
                if is_list.get() {
                    view! { <PageOnDemand page=None /> }.into_any()
                } else {
                    view! { <RunPages /> }.into_any()
                }
            }}
        </Frame>
    }
}
