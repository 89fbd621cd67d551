//! Layout of a graph: boxes of the open scopes and the lines between them.
//!
//! Each open scope is laid out separately, the innermost first. An edge enters a scope at a port of its upper border,
//! one per source, and leaves at its lower one. An edge that closes a cycle leads upwards: it leaves its scopes at the
//! upper border and enters others at the lower one. These edges are chosen from the outermost scope inwards, before the
//! layout.

use std::collections::{BTreeMap, BTreeSet};

use foldhash::fast::FixedState;
use trainscope_format::Graph;

use super::layered::{Layout, layout};
pub use super::open::View;
use super::open::opened;
use super::places::{Link, Pin, Vertex};
use super::ports::{End, Flow, Flows, MANY, MergedPorts, few_ports, lead};
use super::ranks::turned;
use super::tree::{Tree, What};

/// Height of a box without chips.
const ROW: f64 = 28.0;
/// Additional height for a row of chips.
const CHIPS: f64 = 18.0;
/// Padding of an open scope: beside its content, below its upper border, above its lower one.
const SIDE: f64 = 18.0;
const HEAD: f64 = 34.0;
const FOOT: f64 = 16.0;
/// Maximum number of chips with a label.
pub const MAX_CHIPS: usize = 3;
/// Maximum length of a chip's label in characters.
const CHIP_CHARS: usize = 12;
/// Widths of a box, pixels.
const WIDTH: std::ops::RangeInclusive<f64> = 84.0..=264.0;

type Map<K, V> = std::collections::HashMap<K, V, FixedState>;

/// Layout of a graph, in pixels from the upper left corner.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scene {
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
    /// Boxes; each scope comes before its content.
    pub boxes: Vec<SceneBox>,
    /// Lines between boxes.
    pub lines: Vec<Line>,
}

/// A box of a scope or node.
#[derive(Clone, Debug, PartialEq)]
pub struct SceneBox {
    /// Item of the tree.
    pub item: usize,
    /// Index of the box that contains it.
    pub parent: Option<usize>,
    /// True if its content is drawn.
    pub is_open: bool,
    /// Left edge.
    pub x: f64,
    /// Upper edge.
    pub y: f64,
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
    /// Parameters and constants that it uses, as nodes of the graph.
    pub attached: Vec<usize>,
}

/// A segment of an edge, or of several edges that share it.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Index of the box at which its edges start, if they share one.
    pub from: Option<usize>,
    /// Index of the box at which its edges end, if they share one.
    pub to: Option<usize>,
    /// Index of the next line towards the shared end.
    pub via: Option<usize>,
    /// Both ends: x, y, x, y.
    pub at: [f64; 4],
    /// Number of graph edges in it.
    pub edges: usize,
    /// True if all its edges are control edges.
    pub is_control: bool,
    /// True if it is part of the requested path.
    pub is_on_path: bool,
    /// True if it ends at a box, with an arrow.
    pub is_last: bool,
}

/// Lays out the open scopes.
pub fn scene(graph: &Graph, tree: &Tree, view: &View) -> Scene {
    scene_of(graph, tree, &tree.edges, view)
}

/// Visible item for each item of a tree: the outermost closed scope around it, or itself.
pub(super) fn shown_as(tree: &Tree, open: &BTreeSet<usize>) -> Vec<usize> {
    let mut shown_as = vec![0; tree.items.len()];
    for (index, item) in tree.items.iter().enumerate().skip(1) {
        let is_shown = item.parent == 0 || open.contains(&item.parent);
        shown_as[index] = if is_shown {
            index
        } else {
            shown_as[item.parent]
        };
    }
    shown_as
}

/// Lays out the open scopes with these edges between items.
pub(super) fn scene_of(
    graph: &Graph,
    tree: &Tree,
    edges: &[(usize, usize, bool)],
    view: &View,
) -> Scene {
    let open = opened(tree, view);
    let is_open = |item: usize| item == 0 || open.contains(&item);
    let shown_as = shown_as(tree, &open);
    let steps: BTreeSet<(usize, usize)> = view
        .path
        .windows(2)
        .map(|pair| (pair[0], pair[1]))
        .collect();
    let mut flows: Map<(usize, usize), Flow> = Map::default();
    for &(from, to, is_control) in edges {
        let pair = (shown_as[from], shown_as[to]);
        if pair.0 != pair.1 {
            flows.entry(pair).or_default().add(&Flow {
                edges: 1,
                data: usize::from(!is_control),
                is_on_path: !steps.is_empty() && steps.contains(&(from, to)),
            });
        }
    }
    let flows: BTreeMap<_, _> = flows.into_iter().collect();
    let mut inside: BTreeMap<usize, Flows> = BTreeMap::new();
    for ((from, to), flow) in &flows {
        lead(tree, *from, *to, |scope, from, to| {
            inside
                .entry(scope)
                .or_default()
                .entry((from, to))
                .or_default()
                .add(flow);
        });
    }
    let drawing = Drawing {
        graph,
        tree,
        is_open: &is_open,
        inside: &inside,
    };
    let children: Vec<usize> = tree.children(0).collect();
    let done = drawing.arrange(0, &children, MergedPorts::default(), &BTreeSet::new());
    drawing.finish(&done)
}

/// Scene of some nodes of a graph without scopes; `centre` may be a scope, which is drawn closed.
pub(super) fn flat(graph: &Graph, tree: &Tree, nodes: &BTreeSet<usize>, centre: usize) -> Scene {
    let shown_as = |item: usize| {
        if tree.contains(centre, item) {
            centre
        } else {
            item
        }
    };
    let mut flows = Flows::new();
    for &(from, to, is_control) in &tree.edges {
        let pair = (shown_as(from), shown_as(to));
        if pair.0 != pair.1 && nodes.contains(&pair.0) && nodes.contains(&pair.1) {
            let ends = (End::Child(pair.0), End::Child(pair.1));
            flows.entry(ends).or_default().add(&Flow {
                edges: 1,
                data: usize::from(!is_control),
                is_on_path: false,
            });
        }
    }
    let inside = BTreeMap::from([(0, flows)]);
    let drawing = Drawing {
        graph,
        tree,
        is_open: &|_| false,
        inside: &inside,
    };
    let children: Vec<usize> = nodes.iter().copied().collect();
    let done = drawing.arrange(0, &children, MergedPorts::default(), &BTreeSet::new());
    drawing.finish(&done)
}

/// Layout of a scope, relative to its upper left corner.
#[derive(Default)]
struct ScopeLayout {
    width: f64,
    height: f64,
    /// Item, left, top, width, height; each scope comes before its content.
    boxes: Vec<(usize, [f64; 4])>,
    lines: Vec<DrawnScope>,
    /// Port positions of edges from and to items outside.
    ports: BTreeMap<End, f64>,
}

#[derive(Clone)]
struct DrawnScope {
    from: Option<usize>,
    to: Option<usize>,
    via: Option<usize>,
    at: [f64; 4],
    flow: Flow,
    is_last: bool,
}

struct Drawing<'a> {
    graph: &'a Graph,
    tree: &'a Tree,
    is_open: &'a dyn Fn(usize) -> bool,
    inside: &'a BTreeMap<usize, Flows>,
}

impl Drawing<'_> {
    /// Lays out a scope. `merged` names the ports that the surrounding scope has once for all edges: this scope has a
    /// single one too. Edges of the ports in `up` lead upwards.
    fn arrange(
        &self,
        scope: usize,
        children: &[usize],
        merged: MergedPorts,
        up: &BTreeSet<End>,
    ) -> ScopeLayout {
        let nothing = Flows::new();
        let flows = self.inside.get(&scope).unwrap_or(&nothing);
        let turn = |end: End| if up.contains(&end) { end.turned() } else { end };
        let all: Flows = flows
            .iter()
            .map(|((from, to), flow)| ((turn(*from), turn(*to)), *flow))
            .collect();
        let (flows, merged) = few_ports(&all, merged);
        let mut ends: Vec<End> = children.iter().map(|child| End::Child(*child)).collect();
        let ports = flows.keys().flat_map(|(from, to)| [*from, *to]);
        let ports: BTreeSet<End> = ports.filter(|end| !matches!(end, End::Child(_))).collect();
        ends.extend(ports);
        let at: BTreeMap<End, usize> = ends.iter().enumerate().map(|(i, end)| (*end, i)).collect();
        let leads_up = upward(&flows, &at);
        let mut inner: BTreeMap<usize, ScopeLayout> = BTreeMap::new();
        for &child in children.iter().filter(|child| (self.is_open)(**child)) {
            let content: Vec<usize> = self.tree.children(child).collect();
            let mut up = BTreeSet::new();
            for &(from, to) in all.keys() {
                if leads_up.contains(&(merged.of(from), merged.of(to))) {
                    if to == End::Child(child) {
                        up.insert(End::In(from.key()));
                    } else if from == End::Child(child) {
                        up.insert(End::Out(to.key()));
                    }
                }
            }
            inner.insert(child, self.arrange(child, &content, merged, &up));
        }
        let vertices: Vec<Vertex> = ends.iter().map(|end| self.vertex(*end, &inner)).collect();
        // Point at which an edge touches an open scope, relative to its middle.
        let port = |end: End, wanted: fn(usize) -> End, other: End, is_turned: bool| {
            let End::Child(child) = end else { return 0.0 };
            let Some(inner) = inner.get(&child) else {
                return 0.0;
            };
            let at = |key: usize| {
                let wanted = wanted(key);
                let wanted = if is_turned { wanted.turned() } else { wanted };
                inner.ports.get(&wanted)
            };
            let found = at(other.key()).or_else(|| at(MANY));
            found.map_or(0.0, |x| x - inner.width / 2.0)
        };
        let links: Vec<Link> = flows
            .keys()
            .map(|&(from, to)| {
                let is_turned = leads_up.contains(&(from, to));
                Link {
                    from: at[&from],
                    to: at[&to],
                    from_dx: port(from, End::Out, to, is_turned),
                    to_dx: port(to, End::In, from, is_turned),
                    is_turned,
                }
            })
            .collect();
        let flows: Vec<((End, End), Flow)> = flows.into_iter().collect();
        let layout = layout(&vertices, &links);
        self.assemble(scope, &ends, &flows, &layout, inner)
    }

    fn vertex(&self, end: End, inner: &BTreeMap<usize, ScopeLayout>) -> Vertex {
        let mut is_open = false;
        let (width, height, pin) = match end {
            End::In(_) | End::OutAbove(_) => (10.0, 0.0, Pin::Top),
            End::Out(_) | End::InBelow(_) => (10.0, 0.0, Pin::Bottom),
            End::Child(child) => {
                is_open = inner.contains_key(&child);
                let (width, height) = inner
                    .get(&child)
                    .map_or_else(|| self.size(child), |inner| (inner.width, inner.height));
                (width, height, Pin::Free)
            }
        };
        Vertex {
            width,
            height,
            pin,
            is_open,
        }
    }

    /// Merges boxes and lines of a scope with those of its open scopes.
    fn assemble(
        &self,
        scope: usize,
        ends: &[End],
        flows: &[((End, End), Flow)],
        layout: &Layout,
        mut inner: BTreeMap<usize, ScopeLayout>,
    ) -> ScopeLayout {
        // Edges enter at the middle: up to some width the title is beside it.
        let name = 40.0 + text_width(&self.tree.items[scope].label, 6.8) + 52.0;
        let title = (2.0 * name).min(name.max(300.0));
        let content = layout
            .width
            .max(if scope == 0 { 0.0 } else { title - 2.0 * SIDE });
        let (left, top) = (
            SIDE + (content - layout.width) / 2.0,
            if scope == 0 { SIDE } else { HEAD },
        );
        let mut done = ScopeLayout {
            width: content + 2.0 * SIDE,
            height: top + layout.height + FOOT,
            ..ScopeLayout::default()
        };
        let bottom = done.height;
        let item_of = |end: End| Some(end.key()).filter(|item| *item != MANY);
        for (end, (x, y)) in ends.iter().zip(&layout.at) {
            let End::Child(child) = *end else {
                done.ports.insert(*end, left + x);
                continue;
            };
            let size = inner
                .get(&child)
                .map_or_else(|| self.size(child), |i| (i.width, i.height));
            let (x, y) = (left + x - size.0 / 2.0, top + y);
            done.boxes.push((child, [x, y, size.0, size.1]));
            let Some(inner) = inner.remove(&child) else {
                continue;
            };
            let moved = inner.boxes.into_iter();
            done.boxes
                .extend(moved.map(|(item, [bx, by, w, h])| (item, [x + bx, y + by, w, h])));
            let before = done.lines.len();
            done.lines
                .extend(inner.lines.into_iter().map(|line| DrawnScope {
                    at: [
                        line.at[0] + x,
                        line.at[1] + y,
                        line.at[2] + x,
                        line.at[3] + y,
                    ],
                    via: line.via.map(|via| via + before),
                    ..line
                }));
        }
        let before = done.lines.len();
        for piece in &layout.pieces {
            let entry = piece.link.map(|link| flows[link]);
            let ((from, to), flow) = entry.map_or((Default::default(), Flow::default()), |entry| {
                ((item_of(entry.0.0), item_of(entry.0.1)), entry.1)
            });
            done.lines.push(DrawnScope {
                from,
                to,
                via: piece.via.map(|via| via + before),
                at: [
                    left + piece.from.0,
                    top + piece.from.1,
                    left + piece.to.0,
                    top + piece.to.1,
                ],
                flow,
                is_last: piece.is_last,
            });
        }
        // Shared segments get the number of their edges, and lines are extended to the border.
        for index in before..done.lines.len() {
            let (flow, mut via) = (done.lines[index].flow, done.lines[index].via);
            while let Some(shared) =
                via.filter(|_| flow.edges > 0 && layout.pieces[index - before].link.is_some())
            {
                done.lines[shared].flow.add(&flow);
                via = done.lines[shared].via;
            }
        }
        let rank_of = |wanted: fn(&End) -> bool| {
            let mut placed = ends.iter().zip(&layout.at);
            placed.find_map(|(end, at)| wanted(end).then_some(top + at.1))
        };
        let above = rank_of(|end| matches!(end, End::In(_) | End::OutAbove(_)));
        let below = rank_of(|end| matches!(end, End::Out(_) | End::InBelow(_)));
        for line in &mut done.lines[before..] {
            let is_at = |y: f64, border: Option<f64>| border.is_some_and(|b| (y - b).abs() < 0.5);
            for (y, other) in [(1, 3), (3, 1)] {
                if is_at(line.at[y], above) && line.at[other] > line.at[y] {
                    line.at[y] = 0.0;
                } else if is_at(line.at[y], below) && line.at[other] < line.at[y] {
                    line.at[y] = bottom;
                } else {
                    continue;
                }
                // A port is not an end, however the edge continues outside.
                line.is_last &= y != 3;
            }
        }
        done
    }

    /// Size of a closed box.
    fn size(&self, item: usize) -> (f64, f64) {
        let entry = &self.tree.items[item];
        let name = text_width(&entry.label, 6.8);
        let (beside, chips) = match entry.what {
            What::Node(node) => {
                let node = &self.graph.nodes[node];
                let shown = !entry
                    .label
                    .to_lowercase()
                    .starts_with(&node.op_type.to_lowercase());
                let beside = if shown {
                    text_width(&node.op_type, 6.0)
                } else {
                    0.0
                };
                (beside, self.attached(item))
            }
            What::Fold(count) => (text_width(&format!("×{count}"), 6.0), Vec::new()),
            What::Scope => (52.0, Vec::new()),
        };
        let mut chips_width = 10.0;
        for &chip in chips.iter().take(MAX_CHIPS) {
            let chars = chip_label(&self.graph.nodes[chip].name).chars().count();
            chips_width += chars.min(CHIP_CHARS) as f64 * 5.8 + 16.0;
        }
        if chips.len() > MAX_CHIPS {
            chips_width += 22.0;
        }
        // An arrow and a sign may precede the name of a scope.
        let signs = if matches!(entry.what, What::Node(_)) {
            0.0
        } else {
            24.0
        };
        let width = (name + beside + 42.0 + signs).max(chips_width);
        let height = if chips.is_empty() { ROW } else { ROW + CHIPS };
        (width.clamp(*WIDTH.start(), *WIDTH.end()).round(), height)
    }

    /// Parameters and constants drawn with their users only.
    fn attached(&self, item: usize) -> Vec<usize> {
        let What::Node(node) = self.tree.items[item].what else {
            return Vec::new();
        };
        attached(self.graph, self.tree, node)
    }

    fn finish(&self, done: &ScopeLayout) -> Scene {
        let index: BTreeMap<usize, usize> = done
            .boxes
            .iter()
            .enumerate()
            .map(|(i, (item, _))| (*item, i))
            .collect();
        let boxes = done.boxes.iter().map(|&(item, [x, y, width, height])| {
            let is_open = (self.is_open)(item);
            SceneBox {
                item,
                parent: index.get(&self.tree.items[item].parent).copied(),
                is_open,
                x,
                y,
                width,
                height,
                attached: self.attached(item),
            }
        });
        let lines = done.lines.iter().map(|line| Line {
            from: line.from.and_then(|item| index.get(&item).copied()),
            to: line.to.and_then(|item| index.get(&item).copied()),
            via: line.via,
            at: line.at,
            edges: line.flow.edges,
            is_control: line.flow.data == 0,
            is_on_path: line.flow.is_on_path,
            is_last: line.is_last,
        });
        Scene {
            width: done.width,
            height: done.height,
            boxes: boxes.collect(),
            lines: lines.collect(),
        }
    }
}

/// Parameters and constants drawn with a node of the graph, in the order of its inputs, without duplicates.
pub fn attached(graph: &Graph, tree: &Tree, node: usize) -> Vec<usize> {
    let mut found: Vec<usize> = Vec::new();
    let mut known: BTreeSet<usize> = BTreeSet::new();
    for edge in &graph.nodes[node].inputs {
        let input = edge.node.map_or(usize::MAX, |input| input as usize);
        if tree.of_node.get(input) == Some(&None) && known.insert(input) {
            found.push(input);
        }
    }
    found
}

/// Label of a chip: the last part of a name.
pub fn chip_label(name: &str) -> &str {
    name.rsplit(['/', '.'])
        .find(|part| !part.is_empty())
        .unwrap_or(name)
}

/// Pairs of ends whose edges lead upwards: those of turned ports, and those that close a cycle.
fn upward(flows: &Flows, at: &BTreeMap<End, usize>) -> BTreeSet<(End, End)> {
    let is_of_port =
        |(from, to): &(End, End)| matches!(from, End::InBelow(_)) || matches!(to, End::OutAbove(_));
    // Ports are in no cycle: an edge from a place to itself is ignored.
    let pair = |ends: &(End, End)| {
        let to = if is_of_port(ends) { ends.0 } else { ends.1 };
        (at[&ends.0], at[&to])
    };
    let pairs: Vec<(usize, usize)> = flows.keys().map(pair).collect();
    let is_up = flows.keys().zip(turned(at.len(), &pairs));
    is_up
        .filter(|(ends, is_turned)| *is_turned || is_of_port(ends))
        .map(|(ends, _)| *ends)
        .collect()
}

/// Approximate width of a text: wide characters count twice.
fn text_width(text: &str, each: f64) -> f64 {
    let chars = text.chars().map(|c| if c.is_ascii() { 1.0 } else { 1.8 });
    chars.take(200).sum::<f64>() * each
}
