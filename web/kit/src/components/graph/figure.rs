//! Converts the server's layout of a graph to a drawing: colours, selection, and highlighted edges.

use std::collections::{BTreeMap, HashMap, HashSet};

use trainscope_api::graphs::{BoxKind, GraphBox, GraphScene, Precision};
use trainscope_charts::graph::{Curve, Figure, Node, Stroke, Tone};
use trainscope_format::Severity;

use super::view::View;
use crate::format;

/// Maximum number of categories with a colour; the rest has none.
const MAX_KINDS: usize = 10;

/// Category that determines the colour of boxes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Colour {
    /// Operation type.
    #[default]
    Type,
    Device,
    /// Severity of hits.
    Health,
    /// Reduced and raised precision.
    Precision,
    /// Time per step.
    Time,
}

/// Difference of a node from the other graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shade {
    /// Only in this graph.
    Added,
    /// Different in the other graph.
    Changed,
}

/// Display settings of a graph.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Look {
    /// Category for colours.
    pub colour: Colour,
    /// Path of the selected box.
    pub selected: Option<String>,
    /// Paths of nodes that differ from another graph; empty without a comparison.
    pub differing: HashMap<String, Shade>,
}

/// Drawing of a scene, and the categories in the order of the colours.
pub fn figure_of(
    scene: &GraphScene,
    look: &Look,
    nodes_word: fn(u64) -> String,
) -> (Figure, Vec<String>) {
    let kinds = kinds(scene, look.colour);
    let way: HashSet<&str> = scene.way.iter().map(String::as_str).collect();
    let selected = scene
        .boxes
        .iter()
        .position(|graph_box| Some(&graph_box.path) == look.selected.as_ref());
    let longest = scene.boxes.iter().filter(|graph_box| !graph_box.open);
    let longest = longest
        .filter_map(|graph_box| graph_box.mean_nanos)
        .max()
        .unwrap_or(0);
    let mut depths: Vec<usize> = Vec::with_capacity(scene.boxes.len());
    let mut nodes = Vec::with_capacity(scene.boxes.len());
    for (index, graph_box) in scene.boxes.iter().enumerate() {
        let around = graph_box
            .parent
            .and_then(|parent| depths.get(parent as usize));
        let depth = around.map_or(0, |depth| depth + 1);
        depths.push(depth);
        let tone = tone(graph_box, look, &kinds);
        nodes.push(Node {
            at: place(graph_box),
            depth,
            label: graph_box.label.clone(),
            detail: match graph_box.kind {
                _ if look.colour == Colour::Time => {
                    graph_box.mean_nanos.map_or_else(String::new, format::nanos)
                }
                BoxKind::Scope => nodes_word(graph_box.nodes),
                BoxKind::Fold => format!("×{}", graph_box.times),
                _ if graph_box
                    .label
                    .to_lowercase()
                    .starts_with(&graph_box.op_type.to_lowercase()) =>
                {
                    String::new()
                }
                _ => graph_box.op_type.clone(),
            },
            chips: graph_box
                .chips
                .iter()
                .map(|chip| chip.label.clone())
                .collect(),
            more_chips: graph_box
                .attached
                .saturating_sub(graph_box.chips.len() as u64),
            tone,
            bar: match graph_box.mean_nanos {
                Some(nanos) if look.colour == Colour::Time => {
                    nanos as f64 / (longest as f64).max(1.0)
                }
                _ => 0.0,
            },
            has_icon: matches!(tone, Tone::Error | Tone::Warning),
            is_scope: is_scope(graph_box),
            is_open: graph_box.open,
            is_stack: graph_box.kind == BoxKind::Fold,
            is_selected: selected == Some(index),
            is_on_way: way.contains(&*graph_box.path),
        });
    }
    let near = near(scene, selected);
    let curves = scene.lines.iter().zip(near).map(|(line, is_near)| {
        let from = line.from.and_then(|from| scene.boxes.get(from as usize));
        let severity = from
            .and_then(|from| from.severity)
            .filter(|_| look.colour == Colour::Health);
        Curve {
            at: line.at.map(f64::from),
            stroke: if line.on_way {
                Stroke::Way
            } else if is_near {
                Stroke::Near
            } else if line.control {
                Stroke::Control
            } else {
                match severity {
                    Some(Severity::Error) => Stroke::Error,
                    Some(Severity::Warning) => Stroke::Warning,
                    Some(Severity::Info) | None => Stroke::Plain,
                }
            },
            has_arrow: line.arrow,
        }
    });
    let figure = Figure {
        width: f64::from(scene.width),
        height: f64::from(scene.height),
        curves: curves.collect(),
        nodes,
    };
    (figure, kinds)
}

/// First view of a new layout: readable, from the top, with at least one box in it.
pub fn first_view(scene: &GraphScene, size: (f64, f64)) -> View {
    let closed = scene
        .boxes
        .iter()
        .filter(|graph_box| !graph_box.open)
        .map(place);
    let closed: Vec<[f64; 4]> = closed.collect();
    let whole = (f64::from(scene.width), f64::from(scene.height));
    let view = View::first(whole, &closed, size);
    view.seeing(scene.boxes.iter().map(place), size)
}

/// Index of the innermost box at a position.
pub fn hit_at(scene: &GraphScene, (x, y): (f64, f64)) -> Option<usize> {
    scene.boxes.iter().rposition(|graph_box| {
        let [left, top, width, height] = place(graph_box);
        (left..=left + width).contains(&x) && (top..=top + height).contains(&y)
    })
}

pub(super) fn place(graph_box: &GraphBox) -> [f64; 4] {
    [graph_box.x, graph_box.y, graph_box.w, graph_box.h].map(f64::from)
}

pub(super) fn is_scope(graph_box: &GraphBox) -> bool {
    matches!(graph_box.kind, BoxKind::Scope | BoxKind::Fold)
}

/// Category of a box.
fn kind_of(graph_box: &GraphBox, colour: Colour) -> &str {
    match colour {
        Colour::Type if !is_scope(graph_box) => &graph_box.op_type,
        Colour::Device if !graph_box.open => &graph_box.device,
        _ => "",
    }
}

/// Categories with a colour, the most frequent first.
fn kinds(scene: &GraphScene, colour: Colour) -> Vec<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for graph_box in &scene.boxes {
        *counts.entry(kind_of(graph_box, colour)).or_default() += 1;
    }
    counts.remove("");
    let mut kinds: Vec<(&str, usize)> = counts.into_iter().collect();
    kinds.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    kinds.truncate(MAX_KINDS);
    kinds.into_iter().map(|(kind, _)| kind.to_owned()).collect()
}

fn tone(graph_box: &GraphBox, look: &Look, kinds: &[String]) -> Tone {
    if !look.differing.is_empty() {
        let inside = format!("{}/", graph_box.path);
        let mut within = look.differing.iter().filter(|(path, _)| {
            **path == graph_box.path || (is_scope(graph_box) && path.starts_with(&inside))
        });
        let shades = || within.next().map(|(_, shade)| *shade);
        let mut shades = std::iter::from_fn(shades);
        return match shades.next() {
            None => Tone::Plain,
            Some(Shade::Added) if shades.all(|shade| shade == Shade::Added) => Tone::Good,
            Some(_) => Tone::Warning,
        };
    }
    match (look.colour, graph_box.severity, graph_box.precision) {
        (Colour::Health, Some(Severity::Error), _) => Tone::Error,
        (Colour::Health, Some(Severity::Warning), _)
        | (Colour::Precision, _, Some(Precision::Reduced)) => Tone::Warning,
        (Colour::Precision, _, Some(Precision::Raised)) => Tone::Good,
        (Colour::Type | Colour::Device, _, _) => {
            let kind = kind_of(graph_box, look.colour);
            let known = kinds.iter().position(|known| known == kind);
            known.map_or(Tone::Plain, Tone::Series)
        }
        _ => Tone::Plain,
    }
}

/// Marks lines that belong to edges of the selected box.
fn near(scene: &GraphScene, selected: Option<usize>) -> Vec<bool> {
    let mut near = vec![false; scene.lines.len()];
    let is_selected = |end: Option<u32>| end.map(|end| end as usize) == selected;
    for (index, line) in scene.lines.iter().enumerate() {
        if selected.is_none() || !is_selected(line.from) && !is_selected(line.to) {
            continue;
        }
        let mut at = Some(index);
        // A marked line continues to its end.
        while let Some(marked) = at.filter(|at| near.get(*at) == Some(&false)) {
            near[marked] = true;
            at = scene.lines[marked].via.map(|via| via as usize);
        }
    }
    near
}

#[cfg(test)]
mod tests {
    use trainscope_api::graphs::GraphLine;

    use super::*;

    fn scene() -> GraphScene {
        let graph_box = |path: &str, op_type: &str, x: i32, parent: Option<u32>| GraphBox {
            path: path.to_owned(),
            label: path.to_owned(),
            op_type: op_type.to_owned(),
            kind: if op_type.is_empty() {
                BoxKind::Scope
            } else {
                BoxKind::Operation
            },
            open: op_type.is_empty(),
            parent,
            x,
            w: if op_type.is_empty() { 100 } else { 10 },
            h: 10,
            ..GraphBox::default()
        };
        let line = |from: Option<u32>, to: Option<u32>, via: Option<u32>| GraphLine {
            from,
            to,
            via,
            ..GraphLine::default()
        };
        GraphScene {
            boxes: vec![
                graph_box("net", "", 0, None),
                graph_box("net/a", "Conv", 0, Some(0)),
                graph_box("net/b", "Conv", 20, Some(0)),
                graph_box("net/c", "Relu", 40, Some(0)),
            ],
            lines: vec![
                line(None, None, None),
                line(Some(1), Some(2), Some(0)),
                line(Some(1), Some(3), Some(0)),
            ],
            ..GraphScene::default()
        }
    }

    fn words(_: u64) -> String {
        String::new()
    }

    #[test]
    fn the_innermost_box_is_pressed() {
        let scene = scene();
        assert_eq!(hit_at(&scene, (25.0, 5.0)), Some(2));
        assert_eq!(hit_at(&scene, (90.0, 5.0)), Some(0));
        assert_eq!(hit_at(&scene, (190.0, 5.0)), None);
    }

    #[test]
    fn times_are_bars_of_the_longest() {
        let mut scene = scene();
        scene.boxes[1].mean_nanos = Some(4_000_000);
        scene.boxes[2].mean_nanos = Some(1_000_000);
        // Open scopes are ignored: their content is drawn.
        scene.boxes[0].mean_nanos = Some(9_000_000);
        let look = Look {
            colour: Colour::Time,
            ..Look::default()
        };
        let (figure, _) = figure_of(&scene, &look, words);
        let bars: Vec<f64> = figure.nodes[1..].iter().map(|node| node.bar).collect();
        assert_eq!(bars, [1.0, 0.25, 0.0]);
        assert_eq!(figure.nodes[1].detail, "4 ms");
    }

    #[test]
    fn kinds_are_coloured_by_how_frequent_they_are() {
        let (figure, kinds) = figure_of(&scene(), &Look::default(), words);
        assert_eq!(kinds, ["Conv", "Relu"]);
        let tones: Vec<Tone> = figure.nodes.iter().map(|node| node.tone).collect();
        assert_eq!(
            tones,
            [
                Tone::Plain,
                Tone::Series(0),
                Tone::Series(0),
                Tone::Series(1)
            ]
        );
    }

    #[test]
    fn the_whole_way_of_an_edge_is_marked() {
        let look = Look {
            selected: Some("net/b".to_owned()),
            ..Look::default()
        };
        let (figure, _) = figure_of(&scene(), &look, words);
        let marked: Vec<bool> = figure
            .curves
            .iter()
            .map(|c| c.stroke == Stroke::Near)
            .collect();
        assert_eq!(marked, [true, true, false]);
    }

    #[test]
    fn a_scope_shows_that_something_in_it_differs() {
        let look = Look {
            differing: HashMap::from([("net/a".to_owned(), Shade::Added)]),
            ..Look::default()
        };
        let (figure, _) = figure_of(&scene(), &look, words);
        let tones: Vec<Tone> = figure.nodes.iter().map(|node| node.tone).collect();
        assert_eq!(tones, [Tone::Good, Tone::Good, Tone::Plain, Tone::Plain]);
    }
}
