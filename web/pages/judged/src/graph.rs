//! Computation graph of a run: scopes that open in place, with their nodes and edges.
//!
//! The address holds the graph, its open scopes, the selected node, the path between two nodes, the colours and the
//! view.

use std::sync::Arc;

use trainscope_web_kit::client::ClientError;
use trainscope_web_kit::components::{IconName, StatePage, figure_of};
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::keys::use_keys;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::query::Load;

mod differing;
mod legend;
mod likeness;
mod middle;
mod model;
mod node_panel;
mod pane;
mod press;
mod shape;
mod side;
mod toolbar;

use middle::Middle;
use model::{Beside, Model};
use node_panel::NodePanel;
use side::Side;

/// Graph of the run in the address.
#[component]
pub fn GraphPage() -> impl IntoView {
    let model = Model::provide();
    Beside::provide(&model);
    let i18n = use_i18n();
    use_keys(move |key, _| model.press_key(key));
    let state = move |title: &'static str, next: String| {
        view! {
            <main class="main">
                <StatePage
                    icon=IconName::Graph
                    title=Signal::derive(move || title.to_owned())
                    next=Signal::derive(move || next.clone())
                >
                    ""
                </StatePage>
            </main>
        }
        .into_any()
    };
    let drawn = Memo::new(move |_| {
        let look = model.look();
        let scene = model.scene.get();
        let (figure, kinds) = figure_of(&scene, &look, i18n.texts().graph().nodes);
        (Arc::new(figure), kinds)
    });
    let figure = Signal::derive(move || drawn.with(|(figure, _)| Arc::clone(figure)));
    let kinds = Signal::derive(move || drawn.with(|(_, kinds)| kinds.clone()));
    // Mapped to `()`: a new scene does not rebuild the page.
    let load = Memo::new(move |_| model.picture.load().map(|_| ()));
    view! {
        {move || {
            let texts = i18n.texts().graph();
            match load.get() {
                Load::Failed(ClientError::Refused(error)) => {
                    state(texts.none, format!("{} {}", error.message, texts.none_next))
                }
                Load::Loading | Load::Failed(_) => {
                    view! { <main class="main" aria-busy="true"></main> }.into_any()
                }
                Load::Ready(()) => {
                    view! {
                        <main class="main flush graph-page">
                            <Side figure=figure />
                            <Middle figure=figure kinds=kinds />
                            <NodePanel />
                        </main>
                    }
                        .into_any()
                }
            }
        }}
    }
}
