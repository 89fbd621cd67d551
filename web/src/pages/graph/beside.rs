//! The graph that this one is compared with, beside it: what is open in it, what is looked at, and which of its nodes is
//! which of this one's.

use std::collections::HashMap;
use std::sync::Arc;

use leptos::prelude::*;
use leptos::task::spawn_local;
use trainscope_api::graphs::{GraphBox, GraphDiff, GraphNode, GraphScene, SceneQuery};
use trainscope_api::paths;

use super::model::{Model, place};
use super::press::{Pressed, pressed};
use crate::client;
use crate::components::{Look, Shade, View};
use crate::erased::{effect, memo};
use crate::url_state::{History, join_list};

const OPEN: &str = "base_open";
const NODE: &str = "base_node";

/// The state of the other graph. `Copy`: take it with [`use_beside`].
#[derive(Clone, Copy)]
pub(super) struct Beside {
    model: Model,
    open: Memo<Vec<String>>,
    /// The path of the node that is looked at, in the tree of this graph.
    pub(super) node: Memo<Option<String>>,
    /// `None` while there is no picture.
    pub(super) scene: RwSignal<Option<Arc<GraphScene>>>,
    pub(super) detail: RwSignal<Option<Arc<GraphNode>>>,
    pub(super) view: RwSignal<View>,
    pub(super) size: RwSignal<(f64, f64)>,
    /// The box that stays where it is when the next picture arrives.
    anchor: StoredValue<Option<String>>,
}

/// The state of the other graph.
pub(super) fn use_beside() -> Beside {
    expect_context()
}

impl Beside {
    pub(super) fn provide(model: &Model) -> Self {
        let model = *model;
        let alone = model.url.param(NODE);
        let beside = Self {
            model,
            open: model.url.list(OPEN),
            node: memo(move || match model.node.get() {
                Some(own) => model.diff.with(|diff| there(diff.as_deref(), &own)),
                None => alone.get(),
            }),
            scene: RwSignal::new(None),
            detail: RwSignal::new(None),
            view: RwSignal::new(View::default()),
            size: RwSignal::new((0.0, 0.0)),
            anchor: StoredValue::new(None),
        };
        provide_context(beside);
        beside.keep_scene();
        beside.keep_view();
        // Not everything of one graph has its like in the other.
        let drawn = memo(move || {
            let node = beside.node.get()?;
            let scene = beside.scene.get()?;
            find(&scene, &node).is_some().then_some(node)
        });
        model.keep(drawn, beside.detail, move |model, node| async move {
            let base = model.base.try_get_untracked().flatten()?;
            let tag = model.base_tag.try_get_untracked().flatten();
            let more = [("node", Some(&*node))];
            client::of_graph(paths::GRAPH_NODE, &base, (tag.as_deref(), None), &more)
                .await
                .ok()
        });
        beside
    }

    fn keep_scene(self) {
        let asked = StoredValue::new(0_u64);
        effect(move || {
            let number = asked.get_value() + 1;
            asked.set_value(number);
            let Some(run) = self.model.base.get() else {
                self.scene.set(None);
                return;
            };
            let open = self.open.get();
            let query = SceneQuery {
                run,
                tag: self.model.base_tag.get(),
                open: (!open.is_empty()).then(|| open.join("\n")),
                show: self.node.get(),
                ..SceneQuery::default()
            };
            spawn_local(async move {
                let answer = client::graph_scene(&query).await;
                if asked.try_get_value() == Some(number)
                    && let Ok(scene) = answer
                {
                    self.put(scene);
                }
            });
        });
    }

    fn put(self, scene: GraphScene) {
        let anchor = self.anchor.try_update_value(Option::take).flatten();
        let at = |scene: &GraphScene| {
            let [x, y, ..] = place(find(scene, anchor.as_deref()?)?);
            Some((x, y))
        };
        let before = self.scene.get_untracked();
        if let Some(before) = before.filter(|before| before.shown == scene.shown) {
            if let (Some(old), Some(new)) = (at(&before), at(&scene)) {
                self.view.update(|view| {
                    view.x += (old.0 - new.0) * view.scale;
                    view.y += (old.1 - new.1) * view.scale;
                });
            }
            self.scene.set(Some(Arc::new(scene)));
        } else {
            let whole = (f64::from(scene.width), f64::from(scene.height));
            let size = self.size.get_untracked();
            let view = View::fitting(whole, size, true);
            self.view
                .set(view.seeing(scene.boxes.iter().map(place), size));
            self.scene.set(Some(Arc::new(scene)));
        }
    }

    /// Fits the first picture once its place is known, and brings what is looked at into view.
    fn keep_view(self) {
        Effect::new(move |before: Option<((f64, f64), Option<String>)>| {
            let (size, node) = (self.size.get(), self.node.get());
            let Some(scene) = self.scene.get() else {
                return (size, None);
            };
            let is_resized = before.as_ref().is_none_or(|before| before.0 != size);
            if is_resized && size.0 > 1.0 {
                let whole = (f64::from(scene.width), f64::from(scene.height));
                let view = View::fitting(whole, size, true);
                self.view
                    .set(view.seeing(scene.boxes.iter().map(place), size));
            }
            let is_new = is_resized || before.as_ref().is_none_or(|before| before.1 != node);
            let own = node.as_deref().and_then(|node| find(&scene, node));
            match own {
                Some(own) if is_new => {
                    self.view
                        .update(|view| *view = view.showing(place(own), size));
                    (size, node)
                }
                // It is not there yet: it is new still when the picture comes.
                None if is_new => (size, before.and_then(|before| before.1)),
                _ => (size, node),
            }
        });
    }

    /// How its picture is looked at; what is only in it is new, seen from there.
    pub(super) fn look(self) -> Look {
        Look {
            colour: self.model.colour(),
            selected: self.node.get(),
            differing: self
                .model
                .diff
                .with(|diff| diff.as_deref().map(differing).unwrap_or_default()),
        }
    }

    /// A place of its picture was pressed.
    pub(super) fn press(self, at: (f64, f64), is_twice: bool) {
        let Some(scene) = self.scene.get_untracked() else {
            return;
        };
        match pressed(&scene, at, is_twice) {
            Pressed::Nothing => {}
            Pressed::Ground => self.select(None),
            Pressed::Node(path) => self.select(Some(&path)),
            Pressed::Scope(path) => self.toggle(&scene, &path),
        }
    }

    /// Looks at a node of this graph, and at its like in the other.
    pub(super) fn select(self, path: Option<&str>) {
        let own = path.and_then(|path| {
            self.model
                .diff
                .with_untracked(|diff| here(diff.as_deref(), path))
        });
        match own {
            Some(own) => self.model.select(&own),
            None => self.model.select_alone((NODE, path)),
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
        let open = join_list(&open);
        self.model.url.set(&[(OPEN, Some(&open))], History::Replace);
    }
}

fn find<'a>(scene: &'a GraphScene, path: &str) -> Option<&'a GraphBox> {
    scene.boxes.iter().find(|own| own.path == path)
}

/// Nodes of the other graph that differ, by their paths there.
fn differing(diff: &GraphDiff) -> HashMap<String, Shade> {
    let changed = diff
        .changed
        .iter()
        .map(|own| (&own.before_path, Shade::Changed));
    let removed = diff.removed.iter().map(|own| (&own.path, Shade::Added));
    let all = changed.chain(removed);
    all.filter_map(|(path, shade)| Some((path.clone()?, shade)))
        .collect()
}

/// The path of the other graph's node that is this one's: what is called otherwise by what the difference says, what is
/// only here not at all, everything else by the same path.
fn there(diff: Option<&GraphDiff>, own: &str) -> Option<String> {
    let diff = diff?;
    let is_own = |path: &Option<String>| path.as_deref() == Some(own);
    let mut both = diff.changed.iter().chain(&diff.renamed);
    if let Some(found) = both.find(|one| is_own(&one.path)) {
        return found.before_path.clone();
    }
    let is_alone = diff.added.iter().any(|one| is_own(&one.path));
    (!is_alone).then(|| own.to_owned())
}

/// The same the other way round.
fn here(diff: Option<&GraphDiff>, other: &str) -> Option<String> {
    let diff = diff?;
    let is_other = |path: &Option<String>| path.as_deref() == Some(other);
    let mut both = diff.changed.iter().chain(&diff.renamed);
    if let Some(found) = both.find(|one| is_other(&one.before_path)) {
        return found.path.clone();
    }
    let is_alone = diff.removed.iter().any(|one| is_other(&one.path));
    (!is_alone).then(|| other.to_owned())
}

#[cfg(test)]
mod tests {
    use trainscope_api::graphs::Different;

    use super::*;

    #[test]
    fn nodes_are_found_in_the_other_graph() {
        let different = |path: &str, before: Option<&str>| Different {
            path: Some(path.to_owned()),
            before_path: before.map(str::to_owned),
            ..Different::default()
        };
        let diff = GraphDiff {
            added: vec![different("new", None)],
            removed: vec![different("old", None)],
            changed: vec![different("net/fc", Some("net/fc"))],
            renamed: vec![different("out", Some("output"))],
            ..GraphDiff::default()
        };
        let there = |own: &str| super::there(Some(&diff), own);
        let here = |other: &str| super::here(Some(&diff), other);
        assert_eq!(there("out").as_deref(), Some("output"));
        assert_eq!(there("same").as_deref(), Some("same"));
        assert_eq!(there("new"), None);
        assert_eq!(here("output").as_deref(), Some("out"));
        assert_eq!(here("net/fc").as_deref(), Some("net/fc"));
        assert_eq!(here("old"), None);
        let shades = differing(&diff);
        assert_eq!(shades.get("old"), Some(&Shade::Added));
        assert_eq!(shades.get("net/fc"), Some(&Shade::Changed));
        assert_eq!(shades.len(), 2);
    }
}
