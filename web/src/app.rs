//! Mounts shared state, frame and pages.

use crate::components::Palette;
use crate::frame::Frame;
use crate::i18n::I18n;
use crate::location::Address;
use crate::pages::{Chunks, PageOnDemand, RunPages};
use crate::prelude::*;
use crate::registry::Page;
use crate::route::Place;
use crate::sessions::Sessions;
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
    Sessions::provide();
    Address::provide();
    Chunks::provide();
    let place = route::use_place();
    let site_page = Memo::new(move |_| match place.get() {
        Place::Site(page) => Some(page),
        Place::Run { .. } | Place::Unknown => None,
    });
    view! {
        <Frame>
            {move || {
                match site_page.get() {
                    Some(page) => view! { <PageOnDemand page=Page::Site(page) /> }.into_any(),
                    None => view! { <RunPages /> }.into_any(),
                }
            }}
        </Frame>
    }
}
