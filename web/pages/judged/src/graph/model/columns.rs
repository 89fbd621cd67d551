//! Choice of the graphs next to this one, and of the compared pair.

use std::collections::HashMap;
use std::sync::Arc;

use trainscope_api::graphs::{DiffQuery, GraphDiff};

use super::Model;
use trainscope_web_kit::client;
use trainscope_web_kit::components::Shade;
use trainscope_web_kit::parameters::{GRAPH_BASE, NODE};
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::query::query;
use trainscope_web_kit::url_state::{History, Key, UrlState};

/// Maximum number of graphs next to this one.
pub(in crate::graph) const BESIDE: usize = 3;
/// Compared pair: 0 is this graph, 1 the first one next to it.
const PAIR: Key<(usize, usize)> = Key::with(
    "pair",
    |text| {
        let (first, second) = text.split_once('-')?;
        Some((first.parse().ok()?, second.parse().ok()?))
    },
    |(first, second)| format!("{first}-{second}"),
);

/// Parameters of a graph next to this one.
#[derive(Clone, Copy)]
pub(super) struct ColumnKeys {
    run: Key<String>,
    tag: Key<String>,
    /// Open scopes.
    pub(super) open: Key<Vec<String>>,
    /// Selection.
    pub(super) node: Key<String>,
}

pub(super) const KEYS: [ColumnKeys; BESIDE] = [
    ColumnKeys {
        run: GRAPH_BASE,
        tag: Key::new("base_graph"),
        open: Key::new("base_open"),
        node: Key::new("base_node"),
    },
    ColumnKeys {
        run: Key::new("base2"),
        tag: Key::new("base2_graph"),
        open: Key::new("base2_open"),
        node: Key::new("base2_node"),
    },
    ColumnKeys {
        run: Key::new("base3"),
        tag: Key::new("base3_graph"),
        open: Key::new("base3_open"),
        node: Key::new("base3_node"),
    },
];

/// Graph next to this one; its run is `None` if the slot is free.
#[derive(Clone, Copy)]
pub(in crate::graph) struct Column {
    pub(in crate::graph) run: Memo<Option<String>>,
    pub(in crate::graph) tag: Memo<Option<String>>,
}

pub(super) fn from_address(url: UrlState) -> [Column; BESIDE] {
    KEYS.map(|keys| Column {
        run: url.param(keys.run),
        tag: url.param(keys.tag),
    })
}

/// Compared pair: that of the address, else this graph and the first one next to it.
pub(super) fn pair(url: UrlState, columns: [Column; BESIDE]) -> Memo<Option<(usize, usize)>> {
    let asked = url.param(PAIR);
    Memo::new(move |_| {
        let is_there = |at: usize| match at.checked_sub(1) {
            None => true,
            Some(slot) => columns
                .get(slot)
                .is_some_and(|column| column.run.with(Option::is_some)),
        };
        let asked = asked
            .get()
            .filter(|(first, second)| first < second && is_there(*first) && is_there(*second));
        asked.or_else(|| Some((0, (1..=BESIDE).find(|at| is_there(*at))?)))
    })
}

/// A graph as the API names it: run, tag, rank.
pub(super) type Graph = (String, Option<String>, Option<u32>);

/// Differences between the two compared graphs.
pub(super) fn diff(
    graph: impl Fn() -> Graph + Send + Sync + 'static,
    columns: [Column; BESIDE],
    pair: Memo<Option<(usize, usize)>>,
) -> RwSignal<Option<Arc<GraphDiff>>> {
    let graph_at = move |at: usize| match at.checked_sub(1) {
        None => Some(graph()),
        Some(slot) => {
            let column = columns.get(slot)?;
            Some((column.run.get()?, column.tag.get(), None))
        }
    };
    let key = move || {
        let (first, second) = pair.get()?;
        let (run, tag, rank) = graph_at(first)?;
        let (base, base_tag, _) = graph_at(second)?;
        Some(DiffQuery {
            run,
            tag,
            rank,
            base,
            base_tag,
            base_rank: None,
        })
    };
    query(
        key,
        |wanted| async move { client::graph_diff(&wanted).await },
    )
    .answer
}

impl Model {
    /// Adds a graph of another run, or another graph of this run. Ignored if no slot is free.
    pub(in crate::graph) fn add_column(self, run: &str, tag: &str) {
        let free = self.columns.iter().zip(KEYS);
        let mut free = free.filter(|(column, _)| column.run.with_untracked(Option::is_none));
        if let Some((_, keys)) = free.next() {
            let changes = [
                keys.run.to(run),
                keys.tag.to_option(Some(tag).filter(|tag| !tag.is_empty())),
                keys.open.clear(),
                keys.node.clear(),
            ];
            self.url.set(&changes, History::Push);
        }
    }

    pub(in crate::graph) fn remove_column(self, slot: usize) {
        let keys = KEYS[slot];
        let changes = [
            keys.run.clear(),
            keys.tag.clear(),
            keys.open.clear(),
            keys.node.clear(),
            PAIR.clear(),
        ];
        self.url.set(&changes, History::Push);
    }

    /// Compares two of the graphs.
    pub(in crate::graph) fn choose_pair(self, pair: (usize, usize)) {
        self.url.set(&[PAIR.to(pair)], History::Replace);
    }

    /// `true` if these two graphs are compared; reactive.
    pub(in crate::graph) fn compares(self, pair: (usize, usize)) -> bool {
        self.pair.get() == Some(pair)
    }

    /// All pairs that can be compared; reactive.
    pub(in crate::graph) fn pairs(self) -> Vec<(usize, usize)> {
        let there = (1..=BESIDE).filter(|at| self.columns[at - 1].run.with(Option::is_some));
        let all: Vec<usize> = std::iter::once(0).chain(there).collect();
        let all = &all;
        let pairs = all.iter().enumerate();
        pairs
            .flat_map(|(at, first)| all[at + 1..].iter().map(move |second| (*first, *second)))
            .collect()
    }

    /// Differing nodes of a graph of the compared pair, by their paths in that graph; reactive.
    pub(super) fn differing(self, at: usize) -> HashMap<String, Shade> {
        let pair = self.pair.get();
        self.diff.with(|diff| match (diff, pair) {
            (Some(diff), Some((first, _))) if first == at => differing(diff),
            (Some(diff), Some((_, second))) if second == at => differing_before(diff),
            _ => HashMap::new(),
        })
    }

    pub(in crate::graph) fn deselect(self) {
        self.select_alone(None);
    }

    /// Clears the selection of this graph. `other` selects a node of another graph by slot and path.
    pub(super) fn select_alone(self, other: Option<(usize, &str)>) {
        let mut changes = vec![NODE.clear()];
        for (slot, keys) in KEYS.iter().enumerate() {
            let path = other
                .filter(|(chosen, _)| *chosen == slot)
                .map(|(_, path)| path);
            changes.push(keys.node.to_option(path));
        }
        self.url.set(&changes, History::Replace);
    }
}

/// Nodes that differ, by path.
fn differing(diff: &GraphDiff) -> HashMap<String, Shade> {
    let changed = diff.changed.iter().map(|node| (&node.path, Shade::Changed));
    let added = diff.added.iter().map(|node| (&node.path, Shade::Added));
    let all = changed.chain(added);
    all.filter_map(|(path, shade)| Some((path.clone()?, shade)))
        .collect()
}

/// Nodes of the other graph that differ, by their paths there.
fn differing_before(diff: &GraphDiff) -> HashMap<String, Shade> {
    let changed = diff
        .changed
        .iter()
        .map(|node| (&node.before_path, Shade::Changed));
    let removed = diff.removed.iter().map(|node| (&node.path, Shade::Added));
    let all = changed.chain(removed);
    all.filter_map(|(path, shade)| Some((path.clone()?, shade)))
        .collect()
}

/// Path of a node of this graph in the other one: the old path of a changed or renamed node, `None` for an added one,
/// else the same path.
pub(super) fn there(diff: &GraphDiff, node: &str) -> Option<String> {
    let is_node = |path: &Option<String>| path.as_deref() == Some(node);
    let mut both = diff.changed.iter().chain(&diff.renamed);
    if let Some(found) = both.find(|one| is_node(&one.path)) {
        return found.before_path.clone();
    }
    let is_alone = diff.added.iter().any(|one| is_node(&one.path));
    (!is_alone).then(|| node.to_owned())
}

/// Path of a node of the other graph in this one: the inverse of [`there`].
pub(super) fn here(diff: &GraphDiff, other: &str) -> Option<String> {
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
    use trainscope_api::graphs::NodeDifference;

    use super::*;

    #[test]
    fn nodes_are_found_in_the_other_graph() {
        let different = |path: &str, before: Option<&str>| NodeDifference {
            path: Some(path.to_owned()),
            before_path: before.map(str::to_owned),
            ..NodeDifference::default()
        };
        let diff = GraphDiff {
            added: vec![different("new", None)],
            removed: vec![different("old", None)],
            changed: vec![different("net/fc", Some("net/fc"))],
            renamed: vec![different("out", Some("output"))],
            ..GraphDiff::default()
        };
        assert_eq!(there(&diff, "out").as_deref(), Some("output"));
        assert_eq!(there(&diff, "same").as_deref(), Some("same"));
        assert_eq!(there(&diff, "new"), None);
        assert_eq!(here(&diff, "output").as_deref(), Some("out"));
        assert_eq!(here(&diff, "net/fc").as_deref(), Some("net/fc"));
        assert_eq!(here(&diff, "old"), None);
        let shades = differing_before(&diff);
        assert_eq!(shades.get("old"), Some(&Shade::Added));
        assert_eq!(shades.get("net/fc"), Some(&Shade::Changed));
        assert_eq!(shades.len(), 2);
        let shades = differing(&diff);
        assert_eq!(shades.get("new"), Some(&Shade::Added));
        assert_eq!(shades.len(), 2);
    }
}
