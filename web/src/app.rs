//! Mounts shared state, frame and pages.

use crate::frame::Frame;
use crate::pages::{Chunks, PageOnDemand, RunPages};
use trainscope_web_kit::components::Palette;
use trainscope_web_kit::i18n::I18n;
use trainscope_web_kit::location::Address;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::registry::Page;
use trainscope_web_kit::route::Place;
use trainscope_web_kit::sessions::Sessions;
use trainscope_web_kit::theme::ThemeState;
use trainscope_web_kit::{format, route, state};

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
