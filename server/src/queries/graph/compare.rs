//! Differences between two graphs.

use trainscope_analysis::graph::diff::{self, Change};
use trainscope_api::graphs::{DiffQuery, GraphDiff, GraphQuery, MAX_DIFFERENCES, NodeDifference};

use super::cache::{CachedGraph, Graphs};
use crate::queries::error::Failure;

/// Nodes that are added, removed, changed or renamed.
pub(crate) fn diff(graphs: &Graphs, query: &DiffQuery) -> Result<GraphDiff, Failure> {
    let (shown, after) = graphs.get(&GraphQuery {
        run: query.run.clone(),
        tag: query.tag.clone(),
        rank: query.rank,
        step: None,
    })?;
    let (base, before) = graphs.get(&GraphQuery {
        run: query.base.clone(),
        tag: query.base_tag.clone(),
        rank: query.base_rank,
        step: None,
    })?;
    let found = diff::diff(&before.graph, &after.graph);
    let totals = [
        found.added.len(),
        found.removed.len(),
        found.changed.len(),
        found.renamed.len(),
    ];
    let changed = found
        .changed
        .iter()
        .take(MAX_DIFFERENCES)
        .map(|changed| NodeDifference {
            before: before.graph.nodes[changed.before].name.clone(),
            before_path: path(&before, changed.before),
            what: changed
                .what
                .iter()
                .map(|change| name(*change).to_owned())
                .collect(),
            ..different(&after, changed.after)
        });
    let renamed = found
        .renamed
        .iter()
        .take(MAX_DIFFERENCES)
        .map(|(one, other)| NodeDifference {
            before: before.graph.nodes[*one].name.clone(),
            before_path: path(&before, *one),
            ..different(&after, *other)
        });
    let only = |kept: &CachedGraph, nodes: &[usize]| -> Vec<NodeDifference> {
        let nodes = nodes.iter().take(MAX_DIFFERENCES);
        nodes.map(|node| different(kept, *node)).collect()
    };
    Ok(GraphDiff {
        shown: shown.shown,
        base: base.shown,
        added: only(&after, &found.added),
        removed: only(&before, &found.removed),
        changed: changed.collect(),
        renamed: renamed.collect(),
        same: found.same as u64,
        totals: totals.map(|total| total as u64),
        cut: totals.iter().any(|total| *total > MAX_DIFFERENCES),
    })
}

fn different(kept: &CachedGraph, node: usize) -> NodeDifference {
    let graph_node = &kept.graph.nodes[node];
    NodeDifference {
        path: path(kept, node),
        name: graph_node.name.clone(),
        op_type: graph_node.op_type.clone(),
        ..NodeDifference::default()
    }
}

/// Path of a node in its tree; for a node drawn with its user, the user's.
fn path(kept: &CachedGraph, node: usize) -> Option<String> {
    let item = kept.tree.shown_as.get(node).copied().flatten()?;
    Some(kept.tree.items[item].path.clone())
}

const fn name(change: Change) -> &'static str {
    match change {
        Change::Type => "type",
        Change::Attributes => "attributes",
        Change::Outputs => "outputs",
        Change::Inputs => "inputs",
        Change::Device => "device",
    }
}
