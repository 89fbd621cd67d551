//! The neighbourhood of one tensor or node, as a part of other pages.

use std::sync::Arc;

use trainscope_api::graphs::{GraphScene, SceneQuery};

use super::figure::{Colour, Look, figure_of, hit_at, place};
use super::{GraphCanvas, View};
use crate::client;
use crate::i18n::use_i18n;
use crate::prelude::*;
use crate::query::query;

/// Minimum scale for readable names: below it, the tensor is centred and the rest is reached by dragging.
const READABLE: f64 = 0.8;

/// Neighbourhood of a tensor, parameter or module in the run's graph, coloured by health. Empty without a graph, or if
/// the tensor is not in it.
#[component]
pub fn NodeGraph(
    /// Name of the run.
    #[prop(into)]
    run: Signal<String>,
    #[prop(into)] tensor: Signal<String>,
    /// Radius in edges.
    #[prop(default = 2)]
    steps: usize,
    /// True if there is anything to show; set by this component.
    is_there: RwSignal<bool>,
    /// The path of the selected node, if it is not the tensor's; set by clicks.
    chosen: RwSignal<Option<String>>,
) -> impl IntoView {
    let i18n = use_i18n();
    let key = move || {
        let tensor = Some(tensor.get()).filter(|tensor| !tensor.is_empty())?;
        Some(SceneQuery {
            run: run.get(),
            tensor: Some(tensor),
            steps: Some(steps),
            ..SceneQuery::default()
        })
    };
    let found = query(key, |key| async move { client::graph_scene(&key).await });
    let scene = Memo::new(move |_| found.answer.get().filter(|scene| !scene.boxes.is_empty()));
    Effect::new(move || {
        chosen.set(None);
        is_there.set(scene.with(Option::is_some));
    });
    let (view, size) = (RwSignal::new(View::default()), RwSignal::new((0.0, 0.0)));
    let figure = Memo::new(move |_| {
        let Some(scene) = scene.get() else {
            return Arc::default();
        };
        let look = Look {
            colour: Colour::Health,
            selected: chosen.get().or_else(|| scene.centre.clone()),
            ..Look::default()
        };
        Arc::new(figure_of(&scene, &look, i18n.texts().graph().nodes).0)
    });
    Effect::new(move || {
        let size = size.get();
        scene.with(|scene| {
            let first = scene.as_ref().map(|scene| first(scene, size));
            view.set(first.unwrap_or_default());
        });
    });
    let on_press = Callback::new(move |(at, _): ((f64, f64), bool)| {
        let path = scene.with_untracked(|scene| {
            let scene = scene.as_ref()?;
            Some(scene.boxes.get(hit_at(scene, at)?)?.path.clone())
        });
        chosen.set(path);
    });
    let label = move || {
        let count = scene.with(|scene| scene.as_ref().map_or(0, |scene| scene.boxes.len()));
        (i18n.texts().graph().around)(&tensor.get(), count as u64)
    };
    view! {
        <div class="node-graph" hidden=move || scene.with(Option::is_none)>
            <GraphCanvas
                figure=figure
                view=view
                size=size
                label=Signal::derive(label)
                on_press=on_press
            />
        </div>
    }
}

/// The whole graph, or the tensor in the middle if that would be too small to read.
fn first(scene: &GraphScene, size: (f64, f64)) -> View {
    let whole = View::fitting(
        (f64::from(scene.width), f64::from(scene.height)),
        size,
        false,
    );
    let mut boxes = scene.boxes.iter();
    let centre = boxes.find(|graph_box| Some(&graph_box.path) == scene.centre.as_ref());
    match centre {
        Some(graph_box) if whole.scale < READABLE => {
            let [x, y, w, h] = place(graph_box);
            let readable = View {
                scale: READABLE,
                ..whole
            };
            readable.centred((x + w / 2.0, y + h / 2.0), size)
        }
        _ => whole,
    }
}
