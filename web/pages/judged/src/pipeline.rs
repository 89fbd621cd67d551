//! Data pipeline of a run: operations with their parameters, differences from the pipeline of another run, and the time
//! that the training waits for data.
//!
//! The address holds the pipeline, the operation and the compared run.

use trainscope_web_kit::client::ClientError;
use trainscope_web_kit::components::profile_tabs::{ProfileTab, ProfileTabs, Profiles};
use trainscope_web_kit::components::{IconName, StatePage};
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::keys::use_keys;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::query::Load;

mod against;
mod flow;
mod heat;
mod inspector;
mod model;
mod recording;
mod waiting;

use flow::Flow;
use inspector::Inspector;
use model::Model;
use recording::{MissingData, Recording};
use waiting::{Verdict, Waiting};

/// Data pipeline of the run in the address.
#[component]
pub fn PipelinePage() -> impl IntoView {
    let model = Model::provide();
    let profiles = Profiles::of_address();
    let i18n = use_i18n();
    use_keys(move |key, _| match key {
        "j" | "ArrowRight" => model.step(1),
        "k" | "ArrowLeft" => model.step(-1),
        _ => false,
    });
    let state = move |title: String, next: String, has_more: bool| {
        view! {
            <main class="main">
                <StatePage
                    icon=IconName::Pipeline
                    title=Signal::derive(move || title.clone())
                    next=Signal::derive(move || next.clone())
                >
                    {has_more
                        .then(|| {
                            view! {
                                <Recording wanted=MissingData::Graph />
                                <Recording wanted=MissingData::Times />
                            }
                        })}
                </StatePage>
            </main>
        }
        .into_any()
    };
    // Ready with `false` if neither a pipeline nor a profile was recorded. Memoized: a new answer does not rebuild the
    // page.
    let state_of_run = Memo::new(move |_| model.state());
    view! {
        <ProfileTabs current=ProfileTab::Pipeline profiles has_steps=false />
        {move || {
            let texts = i18n.texts().pipeline();
            match state_of_run.get() {
                Load::Failed(ClientError::Refused(error)) => {
                    state(texts.none.to_owned(), error.message, false)
                }
                Load::Loading | Load::Failed(_) => {
                    view! { <main class="main" aria-busy="true"></main> }.into_any()
                }
                Load::Ready(false) => state(texts.none.to_owned(), texts.none_next.to_owned(), true),
                Load::Ready(true) => {
                    view! {
                        <main class="main flush pipeline-page">
                            <Verdict />
                            <Flow />
                            <Inspector />
                            <Waiting />
                        </main>
                    }
                        .into_any()
                }
            }
        }}
    }
}
