//! Mounts shared state, routes and frame.

use leptos::prelude::*;
use leptos_router::components::{FlatRoutes, Route, Router};
use leptos_router::path;

use crate::frame::Frame;
use crate::i18n::I18n;
use crate::pages::{NotFoundPage, RunPages, RunsPage};
use crate::theme::ThemeState;
use crate::{format, route, state};

/// The whole program.
#[component]
pub fn App() -> impl IntoView {
    I18n::provide();
    ThemeState::provide();
    format::provide_clock();
    state::provide_all();
    view! {
        <Router base=route::base_path()>
            <Frame>
                <FlatRoutes fallback=NotFoundPage>
                    <Route path=path!("/") view=RunsPage />
                    <Route path=path!("/index.html") view=RunsPage />
                    <Route path=path!("/run/*rest") view=RunPages />
                </FlatRoutes>
            </Frame>
        </Router>
    }
}
