//! Views of a graph: the layout of its open scopes, one node with its neighbours, search results, and the difference
//! from another graph.
//!
//! Scopes and nodes are named by their path in the tree of scopes, which is text and never a file path. `tag`, `rank`
//! and `step` choose the graph as in [`GraphQuery`](super::GraphQuery).

use serde::{Deserialize, Serialize};
use trainscope_format::graph::{NodeKind, TensorType};
use trainscope_format::{GraphFormat, Kind, Severity};

use super::GraphTag;
use crate::Sentence;
use crate::findings::Hit;

/// Maximum number of boxes of a neighbourhood.
pub const MAX_AROUND: usize = 400;
/// Maximum number of results of one search, and of neighbours, types, tensors and hits in one answer.
pub const MAX_LISTED: usize = 200;
/// Maximum number of nodes of each kind of difference in one answer.
pub const MAX_DIFFERENCES: usize = 2_000;

/// The query of `GET /api/graph/scene`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams), into_params(parameter_in = Query))]
pub struct SceneQuery {
    /// Name of the run.
    pub run: String,
    /// Name of the tag; the first one of the run if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// Rank, the lowest one that has the tag if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
    /// Step of the graph; the last one recorded if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<i64>,
    /// Paths of the open scopes, one per line. If left out, as many are open as make a readable first view.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open: Option<String>,
    /// Width of the viewport for a first view, in the units of [`GraphScene::width`]: scopes stay closed until it
    /// fits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fit_width: Option<u32>,
    /// Height of the viewport.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fit_height: Option<u32>,
    /// Path of a node or scope to reveal: the scopes around it are opened too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub show: Option<String>,
    /// Start of the shortest path to highlight: a node or scope.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// End of the shortest path: a node or scope.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Restricts the scene to the neighbourhood of this node or scope, without the scopes around it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub around: Option<String>,
    /// Radius of the neighbourhood in edges, 1 to 8; 2 if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<usize>,
    /// Name of a tensor, parameter or module in the run, in place of `around`: `fc1.weight`, `conv1`, … The answer is
    /// empty if no graph was recorded or none of its nodes matches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tensor: Option<String>,
}

/// Layout of a graph: boxes and lines, in pixels from the upper left corner.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GraphScene {
    /// All tags of the run that hold graphs, with their ranks.
    pub graphs: Vec<GraphTag>,
    /// The graph returned.
    pub shown: GraphTag,
    /// Step it was recorded at.
    pub step: i64,
    /// Format of the source file.
    pub format: Option<GraphFormat>,
    /// Program that wrote the graph, if the file names it.
    pub producer: String,
    /// Oddities of the graph.
    pub notes: Vec<Sentence>,
    /// Nodes of the graph.
    pub total_nodes: u64,
    /// Edges of the graph.
    pub total_edges: u64,
    /// Width of the picture.
    pub width: i32,
    /// Height of the picture.
    pub height: i32,
    /// Paths of the scopes that are open.
    pub open: Vec<String>,
    /// Paths of the nodes on the requested shortest path, in order; empty if there is none.
    pub way: Vec<String>,
    /// Path of the node or scope at the centre of a neighbourhood.
    pub centre: Option<String>,
    /// `true` if the neighbourhood was too large and part of it was left out.
    pub cut: bool,
    /// Boxes; each scope comes before its content.
    pub boxes: Vec<GraphBox>,
    /// Lines between boxes.
    pub lines: Vec<GraphLine>,
}

/// Kind of a box.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum BoxKind {
    /// An operation.
    #[default]
    Operation,
    /// Input data.
    Input,
    /// A trained parameter without users.
    Parameter,
    /// A constant without users.
    Constant,
    /// A scope.
    Scope,
    /// Several scopes that differ only in their numbers.
    Fold,
}

/// Precision of an operation compared with that of the model as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Precision {
    /// Lower.
    Reduced,
    /// Higher.
    Raised,
}

/// A node, or a scope that is open or closed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GraphBox {
    /// Path in the tree of scopes.
    pub path: String,
    /// The last part of its name.
    pub label: String,
    /// Kind of the box.
    pub kind: BoxKind,
    /// Operation type, for a node.
    pub op_type: String,
    /// Number of nodes in it.
    pub nodes: u64,
    /// Number of scopes that a [fold](BoxKind::Fold) represents.
    pub times: u64,
    /// `true` if its content is drawn.
    pub open: bool,
    /// Index of the box that contains it.
    pub parent: Option<u32>,
    /// Left edge.
    pub x: i32,
    /// Upper edge.
    pub y: i32,
    /// Width.
    pub w: i32,
    /// Height.
    pub h: i32,
    /// The first few parameters and constants that it uses.
    pub chips: Vec<GraphChip>,
    /// Number of parameters and constants that it uses.
    pub attached: u64,
    /// Device it runs on; empty if unknown or mixed.
    pub device: String,
    /// Precision, if any node in it computes with another one; reduced wins.
    pub precision: Option<Precision>,
    /// Worst severity of the hits in it.
    pub severity: Option<Severity>,
    /// `true` if it holds the first cause.
    pub is_first_cause: bool,
    /// Mean time per step in nanoseconds, if a profile has spans with names of nodes.
    pub mean_nanos: Option<u64>,
}

/// A parameter or constant beside its user.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GraphChip {
    /// The last part of its name.
    pub label: String,
    /// `true` for a constant, `false` for a parameter.
    pub is_constant: bool,
}

/// A segment of an edge, or of several edges that share it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GraphLine {
    /// Both ends: x, y, x, y.
    pub at: [i32; 4],
    /// Index of the box at which its edges start, if they share one.
    pub from: Option<u32>,
    /// Index of the box at which its edges end, if they share one.
    pub to: Option<u32>,
    /// Index of the next line towards the shared end.
    pub via: Option<u32>,
    /// Number of edges in it.
    pub edges: u64,
    /// `true` if all of its edges are control edges, which order execution and carry no data.
    pub control: bool,
    /// `true` if it is part of the requested shortest path.
    pub on_way: bool,
    /// `true` if it ends at a box.
    pub arrow: bool,
}

/// Contents of a graph by type of operation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GraphSummary {
    /// All tags of the run that hold graphs, with their ranks.
    pub graphs: Vec<GraphTag>,
    /// The graph returned.
    pub shown: GraphTag,
    /// Nodes of the graph.
    pub total_nodes: u64,
    /// Edges of the graph.
    pub total_edges: u64,
    /// Operation types and their number, the most frequent first.
    pub types: Vec<TypeCount>,
    /// Number of operation types.
    pub total_types: u64,
}

/// An operation type.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TypeCount {
    /// Name of the type in the framework.
    pub op_type: String,
    /// Number of nodes of this type.
    pub nodes: u64,
}

/// The query of `GET /api/graph/node`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams), into_params(parameter_in = Query))]
pub struct NodeQuery {
    /// Name of the run.
    pub run: String,
    /// Name of the tag; the first one of the run if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// Rank, the lowest one that has the tag if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
    /// Step of the graph; the last one recorded if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<i64>,
    /// The path of the node or scope.
    pub node: String,
}

/// Details of a node or scope. Lists hold [`MAX_LISTED`] entries at most.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GraphNode {
    /// Path in the tree of scopes.
    pub path: String,
    /// The last part of its name.
    pub label: String,
    /// Kind of the node.
    pub kind: BoxKind,
    /// Its name in the file; empty for a scope.
    pub name: String,
    /// Operation type, for a node.
    pub op_type: String,
    /// Device it runs on, if known.
    pub device: String,
    /// Precision it computes with, if it differs from the model as written.
    pub precision: Option<Precision>,
    /// Mean time per step in nanoseconds, if a profile has spans or operators with names of nodes.
    pub mean_nanos: Option<u64>,
    /// Its operator in the newest profile of a framework, by its name there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operator: Option<String>,
    /// Number of nodes in it.
    pub nodes: u64,
    /// Types of the operations in it, the most frequent first.
    pub types: Vec<TypeCount>,
    /// Name and value as short text.
    pub attributes: Vec<(String, String)>,
    /// Types of its outputs.
    pub outputs: Vec<TensorType>,
    /// Its inputs; for a scope, those that come from outside.
    pub inputs: Vec<Neighbour>,
    /// Number of inputs, including those left out.
    pub total_inputs: u64,
    /// Nodes that use its output.
    pub users: Vec<Neighbour>,
    /// Number of users, including those left out.
    pub total_users: u64,
    /// Source lines that created it, the innermost first.
    pub source: Vec<SourceLine>,
    /// Tensors in files and tags of the run that belong to it.
    pub tensors: Vec<NodeTensor>,
    /// Hits of watchpoints in it.
    pub hits: Vec<Hit>,
    /// Number of hits, including those left out.
    pub total_hits: u64,
}

/// An input or a user of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Neighbour {
    /// Path in the tree of scopes; `None` for parameters and constants drawn beside their users, and for names without
    /// a node.
    pub path: Option<String>,
    /// Its name.
    pub name: String,
    /// Operation type.
    pub op_type: String,
    /// Kind of the node; `None` for a name without a node.
    pub kind: Option<NodeKind>,
    /// Type of the tensor on the edge, if the file records it.
    pub tensor: Option<TensorType>,
    /// `true` for a control edge, which orders execution and carries no data.
    pub control: bool,
    /// Worst severity of the hits in it.
    pub severity: Option<Severity>,
}

/// A line of a source file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SourceLine {
    /// The file; empty if the recorded text could not be parsed.
    pub file: String,
    /// Line number, from 1; 0 if unknown.
    pub line: u32,
    /// Text of the line, or the unparsed text of the graph.
    pub text: String,
    /// `true` if it belongs to an installed package.
    pub is_library: bool,
}

/// Recorded data of a node: a tensor in files, or a tag.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct NodeTensor {
    /// Its kind.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub kind: Kind,
    /// Its name.
    pub tag: String,
    /// Rank that recorded it.
    pub rank: u32,
}

/// The query of `GET /api/graph/search`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams), into_params(parameter_in = Query))]
pub struct SearchQuery {
    /// Name of the run.
    pub run: String,
    /// Name of the tag; the first one of the run if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// Rank, the lowest one that has the tag if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
    /// Step of the graph; the last one recorded if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<i64>,
    /// Part of a name, an operation type, a parameter or a source location, case-insensitive.
    pub q: String,
}

/// Search results in a graph.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GraphSearch {
    /// Best match first.
    pub found: Vec<GraphMatch>,
    /// Number of matches, including those left out.
    pub total: u64,
    /// `true` if matches were left out.
    pub cut: bool,
}

/// A search result.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GraphMatch {
    /// Path in the tree of scopes.
    pub path: String,
    /// The last part of its name.
    pub label: String,
    /// Kind of the node.
    pub kind: BoxKind,
    /// Operation type, for a node.
    pub op_type: String,
    /// Worst severity of the hits in it.
    pub severity: Option<Severity>,
}

/// The query of `GET /api/graph/diff`: a graph as in the other queries, and the base graph to compare with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams), into_params(parameter_in = Query))]
pub struct DiffQuery {
    /// Name of the run.
    pub run: String,
    /// Name of the tag; the first one of the run if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// Rank, the lowest one that has the tag if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
    /// Name of the run of the base graph.
    pub base: String,
    /// Name of its tag; the first one if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_tag: Option<String>,
    /// Rank, the lowest one that has the tag if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_rank: Option<u32>,
}

/// Differences of a graph from its base. Lists hold [`MAX_DIFFERENCES`] entries at most.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GraphDiff {
    /// The graph.
    pub shown: GraphTag,
    /// The base graph.
    pub base: GraphTag,
    /// Nodes that are only in the graph.
    pub added: Vec<NodeDifference>,
    /// Nodes that are only in the base; their paths are those of its tree.
    pub removed: Vec<NodeDifference>,
    /// Nodes that are in both and differ.
    pub changed: Vec<NodeDifference>,
    /// Nodes that differ in their name only.
    pub renamed: Vec<NodeDifference>,
    /// Number of equal nodes.
    pub same: u64,
    /// Number of nodes of the four lists, including those left out.
    pub totals: [u64; 4],
    /// `true` if nodes were left out.
    pub cut: bool,
}

/// A node that differs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct NodeDifference {
    /// Path in the tree of scopes; for a parameter, that of its first user.
    pub path: Option<String>,
    /// Its name.
    pub name: String,
    /// Operation type.
    pub op_type: String,
    /// Its name in the base, if it was renamed.
    pub before: String,
    /// Its path in the base, if it was there.
    pub before_path: Option<String>,
    /// Attributes that differ: `type`, `attributes`, `outputs`, `inputs`, `device`.
    pub what: Vec<String>,
}
