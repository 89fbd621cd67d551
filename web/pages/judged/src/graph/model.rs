//! State of the page: the answers for the address, and the visible part of the picture.

use std::sync::Arc;
use std::time::Duration;

use trainscope_api::graphs::{
    GraphBox, GraphDiff, GraphNode, GraphScene, GraphSearch, NodeQuery, SceneQuery, SearchQuery,
};

use super::shape::{innermost, is_scope, place, with_scopes_around};
use trainscope_web_kit::client::{self, ClientError};
use trainscope_web_kit::components::{Colour, Look, View, first_view};
use trainscope_web_kit::parameters::{NODE, RANK};
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::query::{Query, query};
use trainscope_web_kit::route::use_run;
use trainscope_web_kit::url_state::{History, Key, UrlState, use_url_state};

mod beside;
mod columns;

pub(super) use beside::{Beside, use_beside};
use columns::{BESIDE, Column, Graph};

/// Tag of the graph.
const GRAPH: Key<String> = Key::new("graph");
/// Open scopes, innermost ones; `/` for none.
const OPEN: Key<Vec<String>> = Key::new("open");
/// Start of the path.
const FROM: Key<String> = Key::new("from");
/// End of the path.
const TO: Key<String> = Key::new("to");
const COLOUR: Key<Colour> = Key::of_words("colour", &COLOURS);
const AT: Key<View> = Key::with("at", View::parse, |view| view.to_text());
/// Time without a change after which the view is written to the address.
const REST: Duration = Duration::from_millis(400);

/// Colourings of boxes, by name in the address.
pub(super) const COLOURS: [(Colour, &str); 5] = [
    (Colour::Type, "type"),
    (Colour::Device, "device"),
    (Colour::Health, "health"),
    (Colour::Precision, "precision"),
    (Colour::Time, "time"),
];

/// The page's state. `Copy`: take it with [`use_model`].
#[derive(Clone, Copy)]
pub(super) struct Model {
    pub(super) url: UrlState,
    pub(super) run: Memo<String>,
    pub(super) node: Memo<Option<String>>,
    pub(super) from: Memo<Option<String>>,
    pub(super) to: Memo<Option<String>>,
    colour: Memo<Option<Colour>>,
    /// Graphs next to this one.
    pub(super) columns: [Column; BESIDE],
    /// The two compared graphs: 0 is this graph, 1 the first one next to it.
    pub(super) pair: Memo<Option<(usize, usize)>>,
    pub(super) scene: Memo<Arc<GraphScene>>,
    pub(super) picture: Query<GraphScene>,
    pub(super) detail: RwSignal<Option<Arc<GraphNode>>>,
    pub(super) query: RwSignal<String>,
    pub(super) found: RwSignal<Option<Arc<GraphSearch>>>,
    pub(super) diff: RwSignal<Option<Arc<GraphDiff>>>,
    pub(super) view: RwSignal<View>,
    pub(super) size: RwSignal<(f64, f64)>,
    /// State of the graphs next to this one, which are zoomed together with it.
    pub(super) others: StoredValue<Vec<Beside>>,
    /// Box that keeps its position when the next picture arrives.
    anchor: StoredValue<Option<String>>,
    /// Tag and rank of the graph that has its first view, and the number of graphs next to it.
    viewed: StoredValue<Option<(String, u32, usize)>>,
}

/// Returns the state of this page.
pub(super) fn use_model() -> Model {
    expect_context()
}

impl Model {
    pub(super) fn provide() -> Self {
        let url = use_url_state();
        let run = use_run();
        let run = Memo::new(move |_| run.get().unwrap_or_default());
        let rank = url.param(RANK);
        let columns = columns::from_address(url);
        let (tag, node) = (url.param(GRAPH), url.param(NODE));
        let graph = move || (run.get(), tag.get(), rank.get());
        let innermost = url.param(OPEN);
        let open = Memo::new(move |_| with_scopes_around(&innermost.get().unwrap_or_default()));
        let (from, to) = (url.param(FROM), url.param(TO));
        let viewed = StoredValue::new(None);
        let room = room();
        let shown = move || {
            let open = open.get();
            Some(SceneQuery {
                run: run.get(),
                tag: tag.get(),
                rank: rank.get(),
                fit_width: Some(room.0),
                fit_height: Some(room.1),
                open: (!open.is_empty()).then(|| open.join("\n")),
                // The selection is visible when the page opens; its scope may be closed later.
                show: viewed
                    .with_value(Option::is_none)
                    .then(|| node.get_untracked())
                    .flatten(),
                from: from.get(),
                to: to.get(),
                ..SceneQuery::default()
            })
        };
        let picture = query(shown, scene_of);
        let scene = Memo::new(move |_| picture.answer.get().unwrap_or_default());
        let pair = columns::pair(url, columns);
        // While graphs are compared, the selected node may exist only in another one.
        let drawn = move || {
            let node = node.get()?;
            let is_drawn =
                || scene.with(|scene| scene.boxes.iter().any(|graph_box| graph_box.path == node));
            (pair.with(Option::is_none) || is_drawn()).then(|| (graph(), node))
        };
        let text = RwSignal::new(String::new());
        let searched = move || {
            let text = Some(text.get()).filter(|text| !text.trim().is_empty())?;
            Some((graph(), text))
        };
        let model = Self {
            url,
            run,
            node,
            from,
            to,
            colour: url.param(COLOUR),
            columns,
            pair,
            scene,
            picture,
            detail: query(drawn, node_of).answer,
            query: text,
            found: query(searched, found_in).answer,
            diff: columns::diff(graph, columns, pair),
            view: RwSignal::new(View::default()),
            size: RwSignal::new((0.0, 0.0)),
            others: StoredValue::new(Vec::new()),
            anchor: StoredValue::new(None),
            viewed,
        };
        provide_context(model);
        model.keep_anchor();
        model.keep_view();
        model
    }

    /// Keeps a box in its place on the screen when the next picture of the same graph arrives.
    fn keep_anchor(self) {
        Effect::new(move |before: Option<Arc<GraphScene>>| {
            let scene = self.scene.get();
            let anchor = self.anchor.try_update_value(Option::take).flatten();
            let anchor = anchor.or_else(|| self.node.get_untracked());
            let at = |scene: &GraphScene| {
                let graph_box = scene
                    .boxes
                    .iter()
                    .find(|graph_box| Some(&graph_box.path) == anchor.as_ref())?;
                Some((f64::from(graph_box.x), f64::from(graph_box.y)))
            };
            let before = before.filter(|before| before.shown == scene.shown);
            if let (Some(old), Some(new)) = (before.and_then(|before| at(&before)), at(&scene)) {
                self.view.update(|view| {
                    view.x += (old.0 - new.0) * view.scale;
                    view.y += (old.1 - new.1) * view.scale;
                });
            }
            scene
        });
    }

    /// Sets the first view of a new graph, scrolls to the selected box, and keeps the view in the address.
    fn keep_view(self) {
        let first = self.url.param(AT);
        Effect::new(move || {
            let (size, scene) = (self.size.get(), self.scene.get());
            if size.0 < 1.0 || self.picture.answer.with_untracked(Option::is_none) {
                return;
            }
            // Other graphs next to it take their share of the width.
            let beside = self.columns.iter();
            let beside = beside.filter(|column| column.run.with_untracked(Option::is_some));
            let shown = Some((scene.shown.tag.clone(), scene.shown.rank, beside.count()));
            if self.viewed.with_value(|viewed| *viewed == shown) {
                return;
            }
            let is_page_new = self.viewed.with_value(Option::is_none);
            self.viewed.set_value(shown);
            let told = first.get_untracked();
            let view = told.filter(|_| is_page_new).unwrap_or_else(|| {
                let view = first_view(&scene, size);
                let chosen = self.node.get_untracked();
                let chosen = scene
                    .boxes
                    .iter()
                    .find(|graph_box| Some(&graph_box.path) == chosen.as_ref());
                match chosen {
                    Some(graph_box) => view.showing(place(graph_box), size),
                    None => view,
                }
            });
            self.view.set(view);
        });
        // A selected box is scrolled into view once it is drawn.
        Effect::new(move |before: Option<Option<String>>| {
            let node = self.node.get();
            let scene = self.scene.get();
            let is_new = before.as_ref().is_some_and(|before| *before != node);
            let graph_box = scene
                .boxes
                .iter()
                .find(|graph_box| Some(&graph_box.path) == node.as_ref());
            match graph_box {
                Some(graph_box) if is_new => {
                    let size = self.size.get_untracked();
                    self.view
                        .update(|view| *view = view.showing(place(graph_box), size));
                    node
                }
                // The box is not drawn yet: the selection stays new until its picture arrives.
                None if is_new && node.is_some() => before.flatten(),
                _ => node,
            }
        });
        let moved = StoredValue::new(0_u64);
        Effect::new(move |before: Option<View>| {
            let view = self.view.get();
            if before.is_some_and(|before| before != view)
                && self.viewed.with_value(Option::is_some)
            {
                let number = moved.get_value() + 1;
                moved.set_value(number);
                set_timeout(
                    move || {
                        if moved.try_get_value() == Some(number) {
                            self.url.set(&[AT.to(view)], History::Replace);
                        }
                    },
                    REST,
                );
            }
            view
        });
    }

    /// Colouring of boxes: that of the address, else health if there are findings.
    pub(super) fn colour(self) -> Colour {
        self.colour.get().unwrap_or_else(|| {
            let is_hit = self.scene.with(|scene| {
                scene
                    .boxes
                    .iter()
                    .any(|graph_box| graph_box.severity.is_some())
            });
            if is_hit { Colour::Health } else { Colour::Type }
        })
    }

    pub(super) fn set_colour(self, colour: Colour) {
        self.url.set(&[COLOUR.to(colour)], History::Replace);
    }

    /// Rendering options of the picture.
    pub(super) fn look(self) -> Look {
        Look {
            colour: self.colour(),
            selected: self.node.get(),
            differing: self.differing(0),
        }
    }

    pub(super) fn choose_graph(self, tag: &str, rank: u32) {
        let changes = [
            GRAPH.to(tag),
            RANK.to(rank),
            OPEN.clear(),
            NODE.clear(),
            FROM.clear(),
            TO.clear(),
            AT.clear(),
        ];
        self.url.set(&changes, History::Push);
    }

    /// Selects a node or scope; opens the enclosing scopes if it is not drawn.
    pub(super) fn select(self, path: &str) {
        let scene = self.scene.get_untracked();
        if scene.boxes.iter().any(|graph_box| graph_box.path == path) {
            self.url.set(&[NODE.to(path)], History::Replace);
            return;
        }
        let mut open = scene.open.clone();
        for (at, _) in path.match_indices('/') {
            if !open.iter().any(|known| *known == path[..at]) {
                open.push(path[..at].to_owned());
            }
        }
        let changes = [NODE.to(path), OPEN.to(innermost(&open))];
        self.url.set(&changes, History::Push);
    }

    /// Opens a scope, or closes it with its open scopes.
    pub(super) fn toggle(self, path: &str) {
        let scene = self.scene.get_untracked();
        let inside = format!("{path}/");
        let is_open = scene.open.iter().any(|open| open == path);
        let mut open: Vec<String> = scene.open.clone();
        if is_open {
            open.retain(|open| open != path && !open.starts_with(&inside));
        } else {
            open.push(path.to_owned());
        }
        self.anchor.set_value(Some(path.to_owned()));
        // An empty list means the first picture: `/` means that no scope is open.
        if open.is_empty() {
            open.push("/".to_owned());
        }
        let hidden = self
            .node
            .get_untracked()
            .is_some_and(|node| is_open && node.starts_with(&inside));
        let mut changes = vec![OPEN.to(innermost(&open))];
        changes.extend(hidden.then(|| NODE.to(path)));
        self.url.set(&changes, History::Push);
    }

    /// Selects a clicked node. It becomes the end of a path that has only a start.
    pub(super) fn choose(self, path: &str) {
        let from = self.from.get_untracked();
        let from = from.filter(|from| from != path && self.to.get_untracked().is_none());
        self.select(path);
        if let Some(from) = from {
            self.set_way(Some(&from), Some(path));
        }
    }

    /// Sets both ends of the path.
    pub(super) fn set_way(self, from: Option<&str>, to: Option<&str>) {
        let changes = [FROM.to_option(from), TO.to_option(to)];
        self.url.set(&changes, History::Push);
    }

    pub(super) fn fit(self) {
        let whole = self
            .scene
            .with_untracked(|s| (f64::from(s.width), f64::from(s.height)));
        self.view
            .set(View::fitting(whole, self.size.get_untracked(), false));
        self.others
            .with_value(|others| others.iter().for_each(|other| other.fit()));
    }

    pub(super) fn zoom(self, factor: f64) {
        let (width, height) = self.size.get_untracked();
        let middle = (width / 2.0, height / 2.0);
        self.view.update(|view| *view = view.zoomed(factor, middle));
        self.others
            .with_value(|others| others.iter().for_each(|other| other.zoom(factor)));
    }

    pub(super) fn press_key(self, key: &str) -> bool {
        match key {
            "f" => self.fit(),
            "+" | "=" => self.zoom(1.3),
            "-" => self.zoom(1.0 / 1.3),
            "Escape" if self.from.get_untracked().is_some() => self.set_way(None, None),
            "Escape" if self.node.get_untracked().is_some() => self.deselect(),
            "Enter" => return self.toggle_selected(),
            "p" => return self.press_way(),
            "ArrowUp" => return self.step((0.0, -1.0)),
            "ArrowDown" => return self.step((0.0, 1.0)),
            "ArrowLeft" => return self.step((-1.0, 0.0)),
            "ArrowRight" => return self.step((1.0, 0.0)),
            _ => return false,
        }
        true
    }

    fn toggle_selected(self) -> bool {
        let scene = self.scene.get_untracked();
        let node = self.node.get_untracked();
        let graph_box = scene
            .boxes
            .iter()
            .find(|graph_box| Some(&graph_box.path) == node.as_ref());
        let graph_box = graph_box.filter(|graph_box| is_scope(graph_box));
        if let Some(graph_box) = graph_box {
            self.toggle(&graph_box.path);
        }
        graph_box.is_some()
    }

    /// Starts the path at the selection, or ends it there if it has started elsewhere.
    pub(super) fn press_way(self) -> bool {
        let Some(node) = self.node.get_untracked() else {
            return false;
        };
        match self.from.get_untracked() {
            Some(from) if from != node => self.set_way(Some(&from), Some(&node)),
            _ => self.set_way(Some(&node), None),
        }
        true
    }

    /// Selects the nearest box in a direction; `false` if there is none.
    fn step(self, (dx, dy): (f64, f64)) -> bool {
        let scene = self.scene.get_untracked();
        let node = self.node.get_untracked();
        let now = scene
            .boxes
            .iter()
            .find(|graph_box| Some(&graph_box.path) == node.as_ref());
        let Some(now) = now else {
            let first = scene.boxes.iter().find(|graph_box| !graph_box.open);
            if let Some(first) = first {
                self.select(&first.path);
            }
            return first.is_some();
        };
        let middle = |graph_box: &GraphBox| {
            let [x, y, w, _] = place(graph_box);
            (x + w / 2.0, y)
        };
        let (x, y) = middle(now);
        let away = |graph_box: &GraphBox| {
            let (to_x, to_y) = middle(graph_box);
            let along = (to_x - x) * dx + (to_y - y) * dy;
            let aside = ((to_x - x) * dy).abs() + ((to_y - y) * dx).abs();
            (along > 1.0).then_some(along + 2.5 * aside)
        };
        let next = scene.boxes.iter().filter(|graph_box| !graph_box.open);
        let next = next.filter_map(|graph_box| Some((away(graph_box)?, graph_box)));
        let next = next.min_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((_, graph_box)) = next {
            self.select(&graph_box.path);
        }
        next.is_some()
    }
}

/// Pixels next to and above the picture on wide pages, and its height on narrow ones; see `graph.css`.
const BESIDE_PIXELS: f64 = 184.0 + 208.0 + 280.0;
const ABOVE_PIXELS: f64 = 48.0 + 44.0 + 32.0;
const NARROW: f64 = 900.0;
const NARROW_HEIGHT: f64 = 480.0;

/// Size in pixels of the largest figure that is readable as a whole, estimated before the page can be measured.
fn room() -> (u32, u32) {
    let length = |found: Result<wasm_bindgen::JsValue, _>| found.ok()?.as_f64();
    let width = length(window().inner_width()).unwrap_or(1280.0);
    let height = length(window().inner_height()).unwrap_or(800.0);
    let place = if width < NARROW {
        (width, NARROW_HEIGHT)
    } else {
        (width - BESIDE_PIXELS, height - ABOVE_PIXELS)
    };
    let (width, height) = View::room(place);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "pixels of a window, not below zero"
    )]
    (width as u32, height as u32)
}

/// Requests the picture of a graph.
async fn scene_of(query: SceneQuery) -> Result<GraphScene, ClientError> {
    let answer = client::graph_scene(&query).await;
    // A link may name nodes that this graph no longer has: without them the graph can still be shown.
    if let Err(ClientError::Refused(_)) = &answer
        && (query.show.is_some() || query.from.is_some() || query.to.is_some())
    {
        let plain = SceneQuery {
            show: None,
            from: None,
            to: None,
            ..query
        };
        return client::graph_scene(&plain).await;
    }
    answer
}

/// Requests a node or scope of a graph.
async fn node_of(((run, tag, rank), node): (Graph, String)) -> Result<GraphNode, ClientError> {
    client::graph_node(&NodeQuery {
        run,
        tag,
        rank,
        step: None,
        node,
    })
    .await
}

async fn found_in(((run, tag, rank), q): (Graph, String)) -> Result<GraphSearch, ClientError> {
    client::graph_search(&SearchQuery {
        run,
        tag,
        rank,
        step: None,
        q,
    })
    .await
}
