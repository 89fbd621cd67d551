//! The scopes of a graph as a tree, with repeated siblings folded into one.
//!
//! Parameters and constants with users are not items: they belong to their users. A name is a path separated by `/`, or
//! by `.` in graphs whose operations have no `/` in their names.

use std::borrow::Cow;
use std::hash::{BuildHasher, Hash, Hasher};

use foldhash::fast::FixedState;
use trainscope_format::Graph;
use trainscope_format::graph::{Dimension, Node, NodeKind};

/// Maximum depth of scopes; the rest of a name stays in one piece.
const MAX_DEPTH: usize = 32;
/// Minimum number of repeated siblings to fold.
const FOLDED_FROM: usize = 3;

type Map<K, V> = std::collections::HashMap<K, V, FixedState>;

/// Kind of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A scope.
    Scope,
    /// A number of scopes that differ only in their numbers.
    Fold(usize),
    /// A node, as an index into the nodes of the graph.
    Node(usize),
}

/// A scope, a fold or a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// The last part of its name.
    pub label: String,
    /// Its unique path in the tree.
    pub path: String,
    /// Kind of the item.
    pub what: What,
    /// Index of its parent; 0 for the root.
    pub parent: usize,
    /// Index after its last descendant: items are in depth-first order, scopes before their content.
    pub end: usize,
    /// Number of nodes in it, itself included.
    pub nodes: usize,
}

/// The tree of a graph, and its edges between items.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    /// All items; the first is the root.
    pub items: Vec<Item>,
    /// The item of each node; `None` for nodes attached to their users.
    pub of_node: Vec<Option<usize>>,
    /// Edges between items that are nodes: from, to, true for a control edge.
    pub edges: Vec<(usize, usize, bool)>,
    /// The item that displays each node: that of the node, or of its first user.
    pub shown_as: Vec<Option<usize>>,
}

impl Tree {
    /// Builds the tree of a graph.
    pub fn new(graph: &Graph) -> Self {
        let attached = attached(graph);
        let mut growing = Growing::of(graph, &attached);
        growing.fold(0, graph);
        let mut tree = Self {
            of_node: vec![None; graph.nodes.len()],
            ..Self::default()
        };
        tree.items.reserve(growing.items.len());
        tree.number(&growing, 0, String::new(), 0);
        for (index, item) in tree.items.iter().enumerate() {
            if let What::Node(node) = item.what {
                tree.of_node[node] = Some(index);
            }
        }
        tree.shown_as.clone_from(&tree.of_node);
        for (to, node) in tree.of_node.iter().zip(&graph.nodes) {
            let Some(to) = *to else { continue };
            for edge in &node.inputs {
                let from = edge.node.map_or(usize::MAX, |from| from as usize);
                match tree.of_node.get(from) {
                    Some(Some(from)) => tree.edges.push((*from, to, edge.is_control)),
                    Some(None) => {
                        tree.shown_as[from].get_or_insert(to);
                    }
                    None => {}
                }
            }
        }
        tree
    }

    /// Finds an item by its path.
    pub fn find(&self, path: &str) -> Option<usize> {
        if path.is_empty() {
            return None;
        }
        self.find_in(0, path)
    }

    fn find_in(&self, scope: usize, path: &str) -> Option<usize> {
        self.children(scope).find_map(|child| {
            let inner = path.strip_prefix(&*self.items[child].path)?;
            if inner.is_empty() {
                return Some(child);
            }
            inner.starts_with('/').then(|| self.find_in(child, path))?
        })
    }

    /// True if `item` is `scope` or inside it.
    pub fn contains(&self, scope: usize, item: usize) -> bool {
        scope <= item && item < self.items[scope].end
    }

    /// Direct children of an item.
    pub fn children(&self, scope: usize) -> impl Iterator<Item = usize> + '_ {
        let end = self.items[scope].end;
        let next = move |child: &usize| Some(self.items[*child].end).filter(|next| *next < end);
        std::iter::successors(Some(scope + 1).filter(|first| *first < end), next)
    }

    /// Scopes around an item, from the inside out, without the root.
    pub fn scopes_of(&self, item: usize) -> impl Iterator<Item = usize> + '_ {
        let up = |at: &usize| Some(self.items[*at].parent);
        std::iter::successors(Some(self.items[item].parent), up).take_while(|at| *at != 0)
    }

    /// Assigns order and paths to the items.
    fn number(&mut self, growing: &Growing<'_>, at: usize, path: String, parent: usize) -> usize {
        let raw = &growing.items[at];
        let index = self.items.len();
        self.items.push(Item {
            label: (*raw.label).to_owned(),
            path,
            what: raw.what,
            parent,
            end: 0,
            nodes: usize::from(matches!(raw.what, What::Node(_))),
        });
        let mut seen: Map<&str, usize> = Map::default();
        seen.reserve(raw.children.len());
        for &child in &raw.children {
            let label = &*growing.items[child].label;
            let count = seen.entry(label).or_insert(0);
            *count += 1;
            let around = &self.items[index].path;
            let mut child_path = String::with_capacity(around.len() + 1 + label.len());
            child_path.push_str(around);
            if !around.is_empty() {
                child_path.push('/');
            }
            child_path.push_str(label);
            if *count > 1 {
                child_path.extend([" (", &count.to_string(), ")"]);
            }
            let nodes = self.number(growing, child, child_path, index);
            self.items[index].nodes += nodes;
        }
        self.items[index].end = self.items.len();
        self.items[index].nodes
    }
}

/// Marks nodes displayed with their users only: parameters and constants that have any.
fn attached(graph: &Graph) -> Vec<bool> {
    let may_be = |node: &Node| {
        matches!(node.kind, NodeKind::Parameter | NodeKind::Constant) && node.inputs.is_empty()
    };
    let mut attached = vec![false; graph.nodes.len()];
    for user in graph.nodes.iter().filter(|node| !may_be(node)) {
        for edge in &user.inputs {
            let used = edge.node.map_or(usize::MAX, |node| node as usize);
            if graph.nodes.get(used).is_some_and(may_be) {
                attached[used] = true;
            }
        }
    }
    attached
}

struct Raw<'a> {
    label: Cow<'a, str>,
    what: What,
    children: Vec<usize>,
}

/// The tree under construction.
struct Growing<'a> {
    items: Vec<Raw<'a>>,
}

impl<'a> Growing<'a> {
    fn of(graph: &'a Graph, attached: &[bool]) -> Self {
        let operations = graph.nodes.iter();
        let mut operations = operations.filter(|node| node.kind == NodeKind::Operation);
        let separator = if operations.any(|node| node.name.contains('/')) {
            '/'
        } else {
            '.'
        };
        let mut growing = Self {
            items: vec![Raw {
                label: Cow::Borrowed(""),
                what: What::Scope,
                children: Vec::new(),
            }],
        };
        let mut scopes: Map<(usize, &str), usize> = Map::default();
        let mut leaves: Vec<(usize, &str, usize)> = Vec::with_capacity(graph.nodes.len());
        // Consecutive nodes are often in the same scope.
        let mut last = ("", 0);
        for (index, node) in graph
            .nodes
            .iter()
            .enumerate()
            .filter(|(i, _)| !attached[*i])
        {
            let name = node.name.trim_matches(separator);
            let (mut at, mut rest) = (0, name);
            let (around, leaf) = name.rsplit_once(separator).unwrap_or(("", name));
            if around == last.0 {
                (at, rest) = (last.1, leaf);
            }
            for _ in 0..MAX_DEPTH {
                let Some((scope, inner)) = rest.split_once(separator) else {
                    break;
                };
                rest = inner.trim_start_matches(separator);
                at = *scopes
                    .entry((at, scope))
                    .or_insert_with(|| growing.add(at, scope, What::Scope));
            }
            if rest.len() == leaf.len() {
                last = (around, at);
            }
            let label = if rest.is_empty() {
                &*node.op_type
            } else {
                rest
            };
            // Its position among its siblings is that of its first mention.
            let item = growing.add(
                at,
                if label.is_empty() { "?" } else { label },
                What::Node(index),
            );
            leaves.push((at, rest, item));
        }
        // A node with the name of a scope is moved into it.
        let mut moved: Vec<(usize, usize)> = Vec::new();
        let mut is_moved = vec![false; growing.items.len()];
        let mut left: Vec<usize> = Vec::new();
        for (parent, label, item) in leaves {
            if let Some(scope) = scopes.get(&(parent, label)) {
                growing.items[item].label = Cow::Owned(format!("({label})"));
                is_moved[item] = true;
                left.push(parent);
                moved.push((*scope, item));
            }
        }
        left.sort_unstable();
        left.dedup();
        for parent in left {
            let children = &mut growing.items[parent].children;
            children.retain(|child| !is_moved[*child]);
        }
        moved.sort_by_key(|(scope, _)| *scope);
        for inside in moved.chunk_by(|a, b| a.0 == b.0) {
            let inner = inside.iter().map(|(_, item)| *item);
            growing.items[inside[0].0].children.splice(..0, inner);
        }
        growing
    }

    fn add(&mut self, parent: usize, label: &'a str, what: What) -> usize {
        let index = self.items.len();
        self.items.push(Raw {
            label: Cow::Borrowed(label),
            what,
            children: Vec::new(),
        });
        self.items[parent].children.push(index);
        index
    }

    /// Folds the children of an item, innermost first; returns a hash of the structure.
    fn fold(&mut self, at: usize, graph: &Graph) -> u64 {
        let mut hasher = FixedState::default().build_hasher();
        if let What::Node(node) = self.items[at].what {
            let node = &graph.nodes[node];
            (&node.op_type, node.kind, node.inputs.len()).hash(&mut hasher);
            for output in &node.outputs {
                output.dtype.hash(&mut hasher);
                for size in output.shape.iter().flatten() {
                    match size {
                        Dimension::Size(size) => size.hash(&mut hasher),
                        Dimension::Symbol(name) => name.hash(&mut hasher),
                    }
                }
            }
            return hasher.finish();
        }
        let children = std::mem::take(&mut self.items[at].children);
        let looks: Vec<u64> = children.iter().map(|c| self.fold(*c, graph)).collect();
        let mut parts: Vec<(u64, u64)> = children
            .iter()
            .zip(&looks)
            .map(|(child, looks)| {
                let (before, _, after) = around_number(&self.items[*child].label);
                (FixedState::default().hash_one((before, after)), *looks)
            })
            .collect();
        parts.sort_unstable();
        parts.hash(&mut hasher);
        let known = self.items.len();
        let children = self.folded(children, &looks);
        match (children.as_slice(), at) {
            // A scope that contains only a new fold is replaced by the fold.
            ([only], 1..) if *only >= known => {
                self.items[at].what = self.items[*only].what;
                self.items[at].children = std::mem::take(&mut self.items[*only].children);
            }
            _ => self.items[at].children = children,
        }
        hasher.finish()
    }

    /// Children with runs of equal scopes replaced by one item each.
    fn folded(&mut self, children: Vec<usize>, looks: &[u64]) -> Vec<usize> {
        let mut numbered: Vec<(String, u64, u64, usize)> = children
            .iter()
            .zip(looks)
            .filter(|(child, _)| self.items[**child].what == What::Scope)
            .filter_map(|(&child, &looks)| {
                let (before, number, after) = around_number(&self.items[child].label);
                Some((format!("{before}#{after}"), number?, looks, child))
            })
            .collect();
        numbered.sort_unstable_by(|a, b| (&a.0, a.1, a.3).cmp(&(&b.0, b.1, b.3)));
        let mut replaced: Map<usize, Option<usize>> = Map::default();
        for run in numbered.chunk_by(|a, b| a.0 == b.0 && a.2 == b.2) {
            let [(_, _, _, first), .., (_, last, _, _)] = run else {
                continue;
            };
            if run.len() < FOLDED_FROM {
                continue;
            }
            let fold = self.items.len();
            self.items.push(Raw {
                label: Cow::Owned(format!("{}…{last}", self.items[*first].label)),
                what: What::Fold(run.len()),
                children: run.iter().map(|(_, _, _, child)| *child).collect(),
            });
            let members = run.iter().map(|(_, _, _, child)| *child);
            replaced.extend(members.map(|child| (child, (child == *first).then_some(fold))));
        }
        let stays = |child| replaced.get(&child).copied().unwrap_or(Some(child));
        children.into_iter().filter_map(stays).collect()
    }
}

/// Text before and after the last number of a name, and that number.
fn around_number(label: &str) -> (&str, Option<u64>, &str) {
    let Some(last) = label.rfind(|c: char| c.is_ascii_digit()) else {
        return (label, None, "");
    };
    let before = label[..=last].trim_end_matches(|c: char| c.is_ascii_digit());
    let number = label[before.len()..=last].parse().ok();
    (before, number, &label[last + 1..])
}

#[cfg(test)]
pub(super) mod tests {
    use trainscope_format::graph::Edge;

    use super::*;

    /// A graph from lines `name kind type: inputs`, with kind `o`, `i`, `p` or `c`, and `^` for control inputs.
    pub(in crate::graph) fn graph(lines: &str) -> Graph {
        let lines: Vec<&str> = lines
            .lines()
            .map(str::trim)
            .filter(|l| !l.is_empty())
            .collect();
        let head = |line: &str| -> Vec<String> {
            let head = line.split_once(": ").map_or(line, |(head, _)| head);
            head.trim_end_matches(':')
                .split(' ')
                .map(str::to_owned)
                .collect()
        };
        let names: Vec<String> = lines.iter().map(|line| head(line)[0].clone()).collect();
        let nodes = lines.iter().map(|line| {
            let parts = head(line);
            let inputs = line.split_once(": ").map_or("", |(_, inputs)| inputs);
            let inputs = inputs
                .split(' ')
                .filter(|name| !name.is_empty())
                .map(|name| {
                    let plain = name.trim_start_matches('^');
                    let node = names.iter().position(|other| other == plain);
                    Edge {
                        node: node.and_then(|node| u32::try_from(node).ok()),
                        is_control: name != plain,
                        missing: node.map_or_else(|| plain.to_owned(), |_| String::new()),
                        ..Edge::default()
                    }
                });
            Node {
                name: parts[0].clone(),
                kind: match &*parts[1] {
                    "i" => NodeKind::Input,
                    "p" => NodeKind::Parameter,
                    "c" => NodeKind::Constant,
                    _ => NodeKind::Operation,
                },
                op_type: parts.get(2).cloned().unwrap_or_default(),
                inputs: inputs.collect(),
                ..Node::default()
            }
        });
        Graph {
            nodes: nodes.collect(),
            ..Graph::default()
        }
    }

    fn paths(tree: &Tree) -> Vec<&str> {
        tree.items[1..].iter().map(|item| &*item.path).collect()
    }

    #[test]
    fn names_are_scopes_and_parameters_belong_to_their_users() {
        let graph = graph(
            "x i Input
             net/w p Parameter
             net/a o MatMul: x net/w
             net/b o Add: net/a nowhere
             net/unused p Parameter",
        );
        let tree = Tree::new(&graph);
        assert_eq!(paths(&tree), ["x", "net", "net/a", "net/b", "net/unused"]);
        assert_eq!(tree.of_node[1], None);
        assert_eq!(tree.edges, [(1, 3, false), (3, 4, false)]);
        assert_eq!(tree.items[2].nodes, 3);
        assert!(tree.contains(2, 4) && !tree.contains(2, 1));
        assert_eq!(tree.children(0).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(tree.scopes_of(4).collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn what_repeats_is_folded_and_what_differs_is_not() {
        let mut text = String::new();
        for (scope, count) in [("net/layer", 12), ("net/block", 2)] {
            for n in 0..count {
                let name = format!("{scope}{n}");
                text.extend([&*name, "/a o MatMul\n", &name, "/b o Add: ", &name, "/a\n"]);
            }
        }
        text += "net/layer12/a o MatMul\nnet/layer12/b o Mul\n";
        let tree = Tree::new(&graph(&text));
        let net: Vec<&str> = tree
            .children(tree.find("net").unwrap())
            .map(|child| &*tree.items[child].label)
            .collect();
        assert_eq!(net, ["layer0…11", "block0", "block1", "layer12"]);
        let fold = &tree.items[tree.find("net/layer0…11").unwrap()];
        assert_eq!((fold.what, fold.nodes), (What::Fold(12), 24));
        assert!(tree.find("net/layer0…11/layer3/b").is_some());
    }

    #[test]
    fn a_scope_of_nothing_but_repetitions_is_the_fold() {
        let lines = (0..5).map(|n| format!("enc.layers.{n}.fc o Linear\n"));
        let tree = Tree::new(&graph(&lines.collect::<String>()));
        assert_eq!(paths(&tree)[..3], ["enc", "enc/layers", "enc/layers/0"]);
        assert_eq!(tree.items[2].what, What::Fold(5));
    }

    #[test]
    fn names_that_repeat_or_are_scopes_too_stay_apart() {
        let tree = Tree::new(&graph(
            "a/b o Add
             a/b o Add
             a/b/c o Const
             // o Odd
             <b>/&amp; o Odd",
        ));
        let wanted = [
            "a",
            "a/b",
            "a/b/(b)",
            "a/b/(b) (2)",
            "a/b/c",
            "Odd",
            "<b>",
            "<b>/&amp;",
        ];
        let mut found = paths(&tree);
        found.sort_unstable();
        let mut wanted = wanted.to_vec();
        wanted.sort_unstable();
        assert_eq!(found, wanted);
    }

    #[test]
    fn many_nodes_called_like_scopes_take_no_longer_each() {
        let count = 100_000;
        let node = |name: String| Node {
            name,
            ..Node::default()
        };
        let pairs = (0..count).flat_map(|n| [node(format!("x{n}")), node(format!("x{n}/y"))]);
        let graph = Graph {
            nodes: pairs.collect(),
            ..Graph::default()
        };
        let began = std::time::Instant::now();
        let tree = Tree::new(&graph);
        assert!(began.elapsed().as_secs() < 20, "{:?}", began.elapsed());
        let first = tree.find(&format!("x0…{}/x0", count - 1)).unwrap();
        let inner: Vec<&str> = tree
            .children(first)
            .map(|child| &*tree.items[child].label)
            .collect();
        assert_eq!(inner, ["(x0)", "y"]);
    }

    #[test]
    fn a_name_of_many_slashes_is_no_deep_tree() {
        let name = "a/".repeat(100_000) + "b";
        let tree = Tree::new(&graph(&format!("{name} o Add")));
        assert_eq!(tree.items.len(), MAX_DEPTH + 2);
        assert!(Tree::new(&Graph::default()).items.len() == 1);
    }
}
