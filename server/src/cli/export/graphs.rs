//! Graphs as SVG, with the layout and drawing of the page.

use std::collections::{BTreeMap, BTreeSet};

use trainscope_analysis::graph::opened;
use trainscope_analysis::graph::scene::{MAX_CHIPS, Scene, SceneBox, View, chip_label, scene};
use trainscope_analysis::graph::tree::{Tree, What};
use trainscope_api::records::At;
use trainscope_api::tags::Tag;
use trainscope_charts::graph::{Curve, Figure, Ink, Node, Stroke, Tone, svg};
use trainscope_format::{Body, Graph};

use super::{ExportFlags, TOLD_TAGS};
use crate::cli::CommandError;
use crate::cli::mistake::Mistake;
use crate::cli::reading::Reading;
use crate::cli::words;

/// Picture of the selected graph at its last step.
pub(super) fn picture(
    flags: &ExportFlags,
    reading: &Reading,
    tags: &[Tag],
) -> Result<Vec<u8>, CommandError> {
    let [tag] = tags else {
        return Err(too_many(tags).into());
    };
    let graph = read(flags, reading, tag)?;
    let tree = Tree::new(&graph);
    let view = View {
        open: wanted(flags, &tree)?,
        path: Vec::new(),
    };
    let figure = figure(&graph, &tree, &scene(&graph, &tree, &view));
    let ink = if flags.dark {
        Ink::dark()
    } else {
        Ink::light()
    };
    Ok(svg(&figure, &ink).into_bytes())
}

fn too_many(tags: &[Tag]) -> Mistake {
    let told: Vec<String> = tags
        .iter()
        .take(TOLD_TAGS)
        .map(|tag| format!("{} of rank {}", words::name(&tag.tag, None), tag.rank))
        .collect();
    let what = format!(
        "one picture holds one graph, and {} are asked for",
        tags.len()
    );
    Mistake::new(2, what)
        .at(told.join(", "))
        .attempt("--tags REGEX or --rank N, which name one of them")
}

fn read(flags: &ExportFlags, reading: &Reading, tag: &Tag) -> Result<Graph, Mistake> {
    let last = recorded(flags, reading, tag)?.next_back();
    let at = last.unwrap_or_else(|| {
        let what = format!("no graph {} was recorded at these steps", tag.tag);
        Err(Mistake::new(2, what).at(words::name(&reading.title, None)))
    })?;
    Ok(at.body)
}

/// The graphs of a tag in step order, or the read error.
pub(super) fn recorded(
    flags: &ExportFlags,
    reading: &Reading,
    tag: &Tag,
) -> Result<impl DoubleEndedIterator<Item = Result<At<Graph>, Mistake>>, Mistake> {
    let query = flags.query(reading, tag);
    let found = reading
        .index
        .records(tag.kind, &query, |found| match &found.body {
            Body::Graph(source) => Ok(Some(found.graph(*source)?)),
            _ => Ok(None),
        });
    let records = found.map_err(|error| reading.unread(&error))?.records;
    let whole = |at: At<Result<Graph, String>>| {
        let body = at.body.map_err(|reason| {
            let what = format!("the graph {} cannot be read: {reason}", tag.tag);
            Mistake::new(2, what).at(words::name(&reading.title, None))
        })?;
        Ok(At {
            step: at.step,
            wall_time_secs: at.wall_time_secs,
            body,
        })
    };
    Ok(records.into_iter().map(whole))
}

/// Selected scopes with their ancestors; `None` for the first view.
fn wanted(flags: &ExportFlags, tree: &Tree) -> Result<Option<BTreeSet<usize>>, Mistake> {
    if flags.expand.is_empty() && flags.depth.is_none() {
        return Ok(None);
    }
    let is_scope = |item: usize| item != 0 && !matches!(tree.items[item].what, What::Node(_));
    let mut open = match flags.depth {
        Some(depth) => (0..tree.items.len())
            .filter(|item| is_scope(*item) && tree.scopes_of(*item).count() < depth)
            .collect(),
        // The first view opens some scopes.
        None => opened(tree, &View::default()),
    };
    for path in &flags.expand {
        let Some(item) = tree
            .find(path.trim_matches('/'))
            .filter(|item| is_scope(*item))
        else {
            return Err(no_scope(path, tree));
        };
        open.extend(tree.scopes_of(item));
        open.insert(item);
    }
    Ok(Some(open))
}

fn no_scope(path: &str, tree: &Tree) -> Mistake {
    let scopes = tree
        .items
        .iter()
        .skip(1)
        .filter(|item| !matches!(item.what, What::Node(_)));
    let paths: Vec<&str> = scopes.map(|item| &*item.path).collect();
    let near = paths.iter().filter(|known| known.contains(path));
    let told: Vec<String> = near
        .chain(&paths)
        .take(TOLD_TAGS)
        .map(|known| words::name(known, None))
        .collect();
    let mistake = Mistake::new(
        2,
        format!("the graph has no scope {}", words::name(path, None)),
    )
    .at(format!("--expand {path}"));
    if told.is_empty() {
        return mistake;
    }
    mistake.attempt(format!("one of these: {}", told.join(", ")))
}

/// Drawing with boxes coloured by type, for the most frequent types.
fn figure(graph: &Graph, tree: &Tree, scene: &Scene) -> Figure {
    let ink_of = tones(graph, tree, scene);
    let mut nodes: Vec<Node> = Vec::with_capacity(scene.boxes.len());
    for scene_box in &scene.boxes {
        let around = scene_box.parent.and_then(|parent| nodes.get(parent));
        let depth = around.map_or(0, |around| around.depth + 1);
        nodes.push(Node {
            tone: ink_of
                .get(type_of(graph, tree, scene_box))
                .copied()
                .unwrap_or_default(),
            ..node(graph, tree, scene_box, depth)
        });
    }
    let curves = scene.lines.iter().map(|line| Curve {
        at: line.at,
        stroke: if line.is_control {
            Stroke::Control
        } else {
            Stroke::Plain
        },
        has_arrow: line.is_last,
    });
    Figure {
        width: scene.width,
        height: scene.height,
        curves: curves.collect(),
        nodes,
    }
}

/// Operation type of a box; empty for scopes.
fn type_of<'a>(graph: &'a Graph, tree: &Tree, scene_box: &SceneBox) -> &'a str {
    match tree.items[scene_box.item].what {
        What::Node(node) => &graph.nodes[node].op_type,
        What::Scope | What::Fold(_) => "",
    }
}

/// Colours of the most frequent types.
fn tones<'a>(graph: &'a Graph, tree: &Tree, scene: &Scene) -> BTreeMap<&'a str, Tone> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for scene_box in &scene.boxes {
        *counts.entry(type_of(graph, tree, scene_box)).or_default() += 1;
    }
    counts.remove("");
    let mut types: Vec<(&str, usize)> = counts.into_iter().collect();
    types.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let types = types.into_iter().take(Ink::light().series.len());
    types
        .enumerate()
        .map(|(at, (op_type, _))| (op_type, Tone::Series(at)))
        .collect()
}

fn node(graph: &Graph, tree: &Tree, scene_box: &SceneBox, depth: usize) -> Node {
    let item = &tree.items[scene_box.item];
    let op_type = type_of(graph, tree, scene_box);
    let says_type = item
        .label
        .to_lowercase()
        .starts_with(&op_type.to_lowercase());
    let chips = scene_box.attached.iter().take(MAX_CHIPS);
    Node {
        at: [scene_box.x, scene_box.y, scene_box.width, scene_box.height].map(f64::round),
        depth,
        label: item.label.clone(),
        detail: match item.what {
            What::Scope => words::plural(item.nodes as u64, "node", "nodes"),
            What::Fold(times) => format!("×{times}"),
            What::Node(_) if says_type => String::new(),
            What::Node(_) => op_type.to_owned(),
        },
        chips: chips
            .map(|&node| chip_label(&graph.nodes[node].name).to_owned())
            .collect(),
        more_chips: scene_box.attached.len().saturating_sub(MAX_CHIPS) as u64,
        is_scope: !matches!(item.what, What::Node(_)),
        is_open: scene_box.is_open,
        is_stack: matches!(item.what, What::Fold(_)),
        ..Node::default()
    }
}
