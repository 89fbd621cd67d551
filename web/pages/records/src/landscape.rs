//! Loss landscapes of a run: map, surface, cuts across the end, figures.
//!
//! Landscape, scale, view, chosen point and other runs are in the address.

use trainscope_web_kit::client::ClientError;
use trainscope_web_kit::components::{IconName, StatePage};
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::keys::use_keys;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::query::Load;

mod cuts;
mod drawing;
mod export;
mod figures;
mod load;
mod model;
mod side;
mod stage;
mod toolbar;
mod verdict;

use load::Absence;
use model::Model;
use side::Side;
use stage::Stage;
use toolbar::Toolbar;
use verdict::Verdict;

#[derive(Clone, PartialEq)]
enum PageState {
    Loading,
    Failed(String),
    Absence(Absence),
    Ready,
}

/// The loss landscapes of the run that the address names.
#[component]
pub fn LandscapePage() -> impl IntoView {
    let model = Model::provide();
    let i18n = use_i18n();
    use_keys(move |key, _| model.press(key));
    let state = Memo::new(move |_| match model.load.load() {
        Load::Failed(ClientError::Refused(error)) => PageState::Failed(error.message),
        Load::Loading | Load::Failed(_) => PageState::Loading,
        Load::Ready(answer) => match answer.first().map(|first| &first.shown) {
            Some(Ok(_)) => PageState::Ready,
            Some(Err(reason)) => PageState::Absence(*reason),
            None => PageState::Absence(Absence::Nothing),
        },
    });
    let instead = move |title: String, next: String| {
        view! {
            <StatePage
                icon=IconName::Landscape
                title=Signal::stored(title)
                next=Signal::stored(next)
            >
                <span></span>
            </StatePage>
        }
        .into_any()
    };
    let content = move || {
        let texts = i18n.texts().landscape();
        match state.get() {
            PageState::Loading => ().into_any(),
            PageState::Failed(message) => instead(texts.none.to_owned(), message),
            PageState::Absence(Absence::Nothing) => {
                instead(texts.none.to_owned(), texts.none_next.to_owned())
            }
            PageState::Absence(Absence::Unfit(reason)) => view! {
                <Toolbar />
                <div class="unfit">
                    {instead(texts.unfit.to_owned(), texts.reasons[reason as usize].to_owned())}
                </div>
            }
            .into_any(),
            PageState::Ready => view! {
                <Verdict />
                <Toolbar />
                <Stage />
                <Side />
            }
            .into_any(),
        }
    };
    view! {
        <main
            class="main landscape-page"
            class:flush=move || matches!(state.get(), PageState::Ready | PageState::Absence(Absence::Unfit(_)))
            aria-busy=move || (state.get() == PageState::Loading).to_string()
        >
            {content}
        </main>
    }
}
