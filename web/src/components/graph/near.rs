//! The neighbourhood of one tensor or node, to be put beside what is said of it.

use std::sync::Arc;

use leptos::prelude::*;
use leptos::task::spawn_local;
use trainscope_api::graphs::{GraphScene, SceneQuery};

use super::figure::{Colour, Look, figure_of, hit_at};
use super::{GraphCanvas, View};
use crate::client;
use crate::i18n::use_i18n;
use crate::route;

/// What is around a tensor (or parameter, or module, as the run calls it) in the run's graph, coloured by health. A
/// press leads to the graph. Nothing at all where there is no graph, or the tensor is not in it.
#[component]
pub fn NodeGraph(
    /// Name of the run.
    #[prop(into)]
    run: Signal<String>,
    /// The tensor.
    #[prop(into)]
    tensor: Signal<String>,
    /// How many edges away is still near.
    #[prop(default = 2)]
    steps: usize,
) -> impl IntoView {
    let i18n = use_i18n();
    let scene = RwSignal::new(None::<Arc<GraphScene>>);
    let asked = StoredValue::new(0_u64);
    Effect::new(move |_| {
        let query = SceneQuery {
            run: run.get(),
            tensor: Some(tensor.get()),
            steps: Some(steps),
            ..SceneQuery::default()
        };
        let number = asked.get_value() + 1;
        asked.set_value(number);
        spawn_local(async move {
            let answer = client::graph_scene(&query).await.ok();
            // The page may have been left, or another tensor asked for meanwhile.
            if asked.try_get_value() == Some(number) {
                scene.set(answer.map(Arc::new));
            }
        });
    });
    let (view, size) = (RwSignal::new(View::default()), RwSignal::new((0.0, 0.0)));
    let figure = Memo::new(move |_| {
        let Some(scene) = scene.get() else {
            return Arc::default();
        };
        let look = Look {
            colour: Colour::Health,
            selected: scene.centre.clone(),
            ..Look::default()
        };
        Arc::new(figure_of(&scene, &look, i18n.texts().graph.nodes).0)
    });
    Effect::new(move |_| {
        let size = size.get();
        figure.with(|figure| view.set(View::fitting((figure.width, figure.height), size, false)));
    });
    let href = move |path: &str| route::graph_href(&run.get_untracked(), Some(path));
    let navigate = leptos_router::hooks::use_navigate();
    let on_press = Callback::new(move |(at, _): ((f64, f64), bool)| {
        let path = scene.with_untracked(|scene| {
            let scene = scene.as_ref()?;
            Some(scene.boxes.get(hit_at(scene, at)?)?.path.clone())
        });
        if let Some(path) = path {
            navigate(&href(&path), leptos_router::NavigateOptions::default());
        }
    });
    let label = move || {
        let count = scene.with(|scene| scene.as_ref().map_or(0, |scene| scene.boxes.len()));
        (i18n.texts().graph.around)(&tensor.get(), count as u64)
    };
    view! {
        <div class="node-graph" hidden=move || scene.with(Option::is_none)>
            <GraphCanvas
                figure=figure
                view=view
                size=size
                label=Signal::derive(label)
                has_small=false
                on_press=on_press
            />
        </div>
    }
}
