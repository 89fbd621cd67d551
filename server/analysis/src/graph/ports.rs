//! Ports of open scopes: where edges cross their borders.

use std::collections::{BTreeMap, BTreeSet};

use super::tree::Tree;

/// Maximum number of ports of one border and direction; above it all edges share one.
const MAX_PORTS: usize = 8;
/// The shared port of many edges.
pub(super) const MANY: usize = usize::MAX;

/// Edges drawn as one, by their ends.
pub(super) type Flows = BTreeMap<(End, End), Flow>;

/// Edges drawn as one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flow {
    pub(super) edges: usize,
    pub(super) data: usize,
    pub(super) is_on_path: bool,
}

impl Flow {
    pub(super) fn add(&mut self, other: &Self) {
        self.edges += other.edges;
        self.data += other.data;
        self.is_on_path |= other.is_on_path;
    }
}

/// End of a line within a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum End {
    /// A child of the scope.
    Child(usize),
    /// Its upper border, from an item outside.
    In(usize),
    /// Its lower border, to an item outside.
    Out(usize),
    /// Its lower border, from an item outside that is below.
    InBelow(usize),
    /// Its upper border, to an item outside that is above.
    OutAbove(usize),
}

impl End {
    /// Child, or item outside.
    pub(super) fn key(self) -> usize {
        match self {
            Self::Child(key)
            | Self::In(key)
            | Self::Out(key)
            | Self::InBelow(key)
            | Self::OutAbove(key) => key,
        }
    }

    /// The port of an upward edge for that of a downward edge.
    pub(super) fn turned(self) -> Self {
        match self {
            Self::In(key) => Self::InBelow(key),
            Self::Out(key) => Self::OutAbove(key),
            other => other,
        }
    }

    /// Index of the kind of port.
    fn kind(self) -> Option<usize> {
        match self {
            Self::Child(_) => None,
            Self::In(_) => Some(0),
            Self::Out(_) => Some(1),
            Self::InBelow(_) => Some(2),
            Self::OutAbove(_) => Some(3),
        }
    }
}

/// Kinds of ports that a scope has once for all edges.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MergedPorts([bool; 4]);

impl MergedPorts {
    /// The port itself, or the port shared by all edges.
    pub(super) fn of(self, end: End) -> End {
        if !end.kind().is_some_and(|kind| self.0[kind]) {
            return end;
        }
        match end {
            End::In(_) => End::In(MANY),
            End::Out(_) => End::Out(MANY),
            End::InBelow(_) => End::InBelow(MANY),
            End::OutAbove(_) => End::OutAbove(MANY),
            End::Child(_) => end,
        }
    }
}

/// Reduces the ports of a scope to [`MAX_PORTS`] of each kind.
pub(super) fn few_ports(flows: &Flows, mut merged: MergedPorts) -> (Flows, MergedPorts) {
    let ends: BTreeSet<End> = flows.keys().flat_map(|(from, to)| [*from, *to]).collect();
    for (kind, is_merged) in merged.0.iter_mut().enumerate() {
        let count = ends.iter().filter(|end| end.kind() == Some(kind)).count();
        *is_merged |= count > MAX_PORTS;
    }
    let mut few = Flows::new();
    for ((from, to), flow) in flows {
        let ends = (merged.of(*from), merged.of(*to));
        few.entry(ends).or_default().add(flow);
    }
    (few, merged)
}

/// Calls `part` for each scope that an edge between two boxes crosses, with its ends there.
pub(super) fn lead(tree: &Tree, from: usize, to: usize, mut part: impl FnMut(usize, End, End)) {
    let mut meets = tree.items[from].parent;
    while !tree.contains(meets, to) {
        meets = tree.items[meets].parent;
    }
    let top = |mut item: usize| {
        while tree.items[item].parent != meets {
            item = tree.items[item].parent;
        }
        item
    };
    let (first, last) = (top(from), top(to));
    part(meets, End::Child(first), End::Child(last));
    let mut at = from;
    while at != first {
        let scope = tree.items[at].parent;
        part(scope, End::Child(at), End::Out(last));
        at = scope;
    }
    let mut at = to;
    while at != last {
        let scope = tree.items[at].parent;
        part(scope, End::In(first), End::Child(at));
        at = scope;
    }
}
