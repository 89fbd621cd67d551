//! State of the graphs next to this one: their open scopes, their selection, and the mapping between their nodes and
//! those of this graph.

use std::sync::Arc;

use trainscope_api::graphs::{GraphBox, GraphNode, GraphScene, SceneQuery};

use super::super::press::{ClickTarget, pressed};
use super::super::shape::{innermost, place, with_scopes_around};
use super::columns::{BESIDE, KEYS, here, there};
use super::{Model, node_of};
use trainscope_web_kit::client;
use trainscope_web_kit::components::{Look, View, first_view};
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::query::query;
use trainscope_web_kit::url_state::History;

/// State of one graph next to this one. `Copy`: take all with [`use_beside`].
#[derive(Clone, Copy)]
pub(in crate::graph) struct Beside {
    model: Model,
    /// Index of the compared graph.
    pub(in crate::graph) slot: usize,
    /// Path of the selected node in this graph.
    pub(in crate::graph) node: Memo<Option<String>>,
    /// `None` without a picture.
    pub(in crate::graph) scene: RwSignal<Option<Arc<GraphScene>>>,
    pub(in crate::graph) detail: RwSignal<Option<Arc<GraphNode>>>,
    pub(in crate::graph) view: RwSignal<View>,
    pub(in crate::graph) size: RwSignal<(f64, f64)>,
    /// Box that keeps its position when the next picture arrives.
    anchor: StoredValue<Option<String>>,
}

pub(in crate::graph) fn use_beside() -> [Beside; BESIDE] {
    expect_context()
}

impl Beside {
    /// Creates the state of all graphs next to `model`, and provides it as context.
    pub(in crate::graph) fn provide(model: &Model) {
        let beside: [Self; BESIDE] = std::array::from_fn(|slot| Self::new(model, slot));
        model.others.set_value(beside.to_vec());
        provide_context(beside);
    }

    fn new(model: &Model, slot: usize) -> Self {
        let model = *model;
        let alone = model.url.param(KEYS[slot].node);
        let column = model.columns[slot];
        let innermost = model.url.param(KEYS[slot].open);
        let open = Memo::new(move |_| with_scopes_around(&innermost.get().unwrap_or_default()));
        let node = Memo::new(move |_| match model.node.get() {
            // In other pairs, nodes with the same path belong together.
            Some(path) if model.compares((0, slot + 1)) => {
                model.diff.with(|diff| there(diff.as_deref()?, &path))
            }
            Some(path) => Some(path),
            None => alone.get(),
        });
        let shown = move || {
            let run = column.run.get()?;
            let open = open.get();
            Some(SceneQuery {
                run,
                tag: column.tag.get(),
                open: (!open.is_empty()).then(|| open.join("\n")),
                show: node.get(),
                ..SceneQuery::default()
            })
        };
        let scene = query(shown, |key| async move { client::graph_scene(&key).await }).answer;
        // A node of one graph may have no counterpart in the other.
        let drawn = move || {
            let node = node.get()?;
            let is_drawn = scene
                .with(|scene| find(scene.as_ref()?, &node).map(|_| ()))
                .is_some();
            let graph = (column.run.get()?, column.tag.get(), None);
            is_drawn.then_some((graph, node))
        };
        let beside = Self {
            model,
            slot,
            node,
            scene,
            detail: query(drawn, node_of).answer,
            view: RwSignal::new(View::default()),
            size: RwSignal::new((0.0, 0.0)),
            anchor: StoredValue::new(None),
        };
        beside.keep_anchor();
        beside.keep_view();
        beside
    }

    /// Keeps a box in its place on the screen when the next picture of the same graph arrives. Fits other pictures.
    fn keep_anchor(self) {
        Effect::new(move |before: Option<Option<Arc<GraphScene>>>| {
            let scene = self.scene.get()?;
            let anchor = self.anchor.try_update_value(Option::take).flatten();
            let at = |scene: &GraphScene| {
                let [x, y, ..] = place(find(scene, anchor.as_deref()?)?);
                Some((x, y))
            };
            match before
                .flatten()
                .filter(|before| before.shown == scene.shown)
            {
                Some(before) => {
                    if let (Some(old), Some(new)) = (at(&before), at(&scene)) {
                        self.view.update(|view| {
                            view.x += (old.0 - new.0) * view.scale;
                            view.y += (old.1 - new.1) * view.scale;
                        });
                    }
                }
                None => self.view.set(first_view(&scene, self.size.get_untracked())),
            }
            Some(scene)
        });
    }

    /// Fits the first picture once the size is known, and scrolls to a newly selected box.
    fn keep_view(self) {
        Effect::new(move |before: Option<((f64, f64), Option<String>)>| {
            let (size, node) = (self.size.get(), self.node.get());
            let Some(scene) = self.scene.get() else {
                return (size, None);
            };
            let is_resized = before.as_ref().is_none_or(|before| before.0 != size);
            if is_resized && size.0 > 1.0 {
                self.view.set(first_view(&scene, size));
            }
            let is_new = is_resized || before.as_ref().is_none_or(|before| before.1 != node);
            let graph_box = node.as_deref().and_then(|node| find(&scene, node));
            match graph_box {
                Some(graph_box) if is_new => {
                    self.view
                        .update(|view| *view = view.showing(place(graph_box), size));
                    (size, node)
                }
                // The box is not drawn yet: the selection stays new until its picture arrives.
                None if is_new => (size, before.and_then(|before| before.1)),
                _ => (size, node),
            }
        });
    }

    /// Rendering options of its picture; elements only in this graph count as new.
    pub(in crate::graph) fn look(self) -> Look {
        Look {
            colour: self.model.colour(),
            selected: self.node.get(),
            differing: self.model.differing(self.slot + 1),
        }
    }

    /// Handles a click on its picture.
    pub(in crate::graph) fn press(self, at: (f64, f64), is_twice: bool) {
        let Some(scene) = self.scene.get_untracked() else {
            return;
        };
        match pressed(&scene, at, is_twice) {
            ClickTarget::Nothing => {}
            ClickTarget::Ground => self.select(None),
            ClickTarget::Node(path) => self.select(Some(&path)),
            ClickTarget::Scope(path) => self.toggle(&scene, &path),
        }
    }

    /// Zooms its picture around its middle.
    pub(in crate::graph) fn zoom(self, factor: f64) {
        let (width, height) = self.size.get_untracked();
        let middle = (width / 2.0, height / 2.0);
        self.view.update(|view| *view = view.zoomed(factor, middle));
    }

    /// Shows its whole picture.
    pub(in crate::graph) fn fit(self) {
        let size = self.size.get_untracked();
        if let Some(scene) = self.scene.get_untracked() {
            let whole = (f64::from(scene.width), f64::from(scene.height));
            self.view.set(View::fitting(whole, size, false));
        }
    }

    /// Selects a node of this graph and its counterpart in the others.
    pub(in crate::graph) fn select(self, path: Option<&str>) {
        let counterpart = path.and_then(|path| {
            if self.model.pair.get_untracked() != Some((0, self.slot + 1)) {
                return Some(path.to_owned());
            }
            self.model
                .diff
                .with_untracked(|diff| here(diff.as_deref()?, path))
        });
        match counterpart {
            Some(counterpart) => self.model.select(&counterpart),
            None => self.model.select_alone(path.map(|path| (self.slot, path))),
        }
    }

    fn toggle(self, scene: &GraphScene, path: &str) {
        let inside = format!("{path}/");
        let mut open = scene.open.clone();
        if open.iter().any(|open| open == path) {
            open.retain(|open| open != path && !open.starts_with(&inside));
        } else {
            open.push(path.to_owned());
        }
        if open.is_empty() {
            open.push("/".to_owned());
        }
        self.anchor.set_value(Some(path.to_owned()));
        let open = KEYS[self.slot].open.to(innermost(&open));
        self.model.url.set(&[open], History::Replace);
    }
}

fn find<'a>(scene: &'a GraphScene, path: &str) -> Option<&'a GraphBox> {
    scene.boxes.iter().find(|graph_box| graph_box.path == path)
}
