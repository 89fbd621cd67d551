//! Compare: two to eight runs against one of them, from the verdict in one sentence down to single tensors.

mod choose;
mod configuration;
mod curve;
mod findings;
mod graph;
mod map;
mod model;
mod parts;
mod pipeline;
mod scalars;
mod summary;
mod tables;
mod tensors;
mod toolbar;

use trainscope_api::compare::MIN_RUNS;

use model::{Model, Tab, use_model};
use trainscope_web_kit::client::ClientError;
use trainscope_web_kit::components::{IconName, StatePage};
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::keys::use_keys;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::query::Load;

/// The comparison page.
#[component]
pub fn ComparePage() -> impl IntoView {
    let model = Model::new();
    provide_context(model);
    let i18n = use_i18n();
    use_keys(move |key, _| model.key(key));
    let content = move || {
        if model.runs.with(|runs| runs.len() < MIN_RUNS) {
            return view! { <choose::Choose /> }.into_any();
        }
        let state = Memo::new(move |_| model.query.load().map(|_| ()));
        (move || match state.get() {
            Load::Loading => view! { <div class="main-rest" aria-busy="true"></div> }.into_any(),
            Load::Failed(ClientError::Refused(error)) => view! {
                <StatePage
                    icon=IconName::Error
                    title=i18n.label(|t| t.titles().compare)
                    next=Signal::stored(error.message)
                >
                    ()
                </StatePage>
            }
            .into_any(),
            Load::Failed(_) => view! { <div class="main-rest" aria-busy="true"></div> }.into_any(),
            Load::Ready(()) => view! { <Content /> }.into_any(),
        })
        .into_any()
    };
    view! {
        <main class="main compare-page" aria-label=i18n.text(|t| t.titles().compare)>
            <toolbar::Toolbar />
            {content}
        </main>
    }
}

#[component]
fn Content() -> impl IntoView {
    let model = use_model();
    move || match model.tab.get() {
        Tab::Summary => view! { <summary::Summary /> }.into_any(),
        Tab::Scalars => view! { <scalars::Scalars /> }.into_any(),
        Tab::Tensors => view! { <tensors::Tensors /> }.into_any(),
        Tab::Findings => view! { <findings::Findings /> }.into_any(),
        Tab::Graph => view! { <graph::GraphTab /> }.into_any(),
        Tab::Data => view! { <pipeline::PipelineTab /> }.into_any(),
        Tab::Configuration => view! { <configuration::ConfigurationTab /> }.into_any(),
    }
}
