//! The graph as one looks at it: what is open laid out, one node with what is around it, what a search finds, what differs
//! from another graph.
//!
//! Scopes and nodes are named by their path in the tree of scopes, which is text and never a path of files. `tag`, `rank`
//! and `step` choose the graph as in [`GraphQuery`](super::GraphQuery).

use serde::{Deserialize, Serialize};
use trainscope_format::graph::{NodeKind, TensorType};
use trainscope_format::{GraphFormat, Kind, Severity};

use super::GraphTag;
use crate::findings::{Hit, Words};

/// Boxes of a neighbourhood at most.
pub const MAX_AROUND: usize = 400;
/// Results of one search, and neighbours, types, tensors and hits of one answer at most.
pub const MAX_LISTED: usize = 200;
/// Nodes of each kind of difference in one answer at most.
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
    /// Step of the graph wanted; the last one recorded if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<i64>,
    /// Paths of the scopes that are open, one a line; as many as make a good first picture if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open: Option<String>,
    /// Width of the place for a first picture, in the units of [`GraphScene::width`]: scopes are left closed until it fits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fit_width: Option<u32>,
    /// The height of that place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fit_height: Option<u32>,
    /// A node or scope whose scopes are open too, if there is one of that path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub show: Option<String>,
    /// A node or scope from which the shortest path is marked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The node or scope that the path leads to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Only what is near this node or scope, without scopes around it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub around: Option<String>,
    /// How many edges away that is, 1 to 8; 2 if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<usize>,
    /// A tensor, parameter or module, as the run calls it, in place of `around`: `fc1.weight`, `conv1`, … The answer is
    /// empty if no graph was recorded, or it is not in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tensor: Option<String>,
}

/// A picture of a graph: boxes and lines, in pixels from its upper left corner.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GraphScene {
    /// All tags of the run that hold graphs, with their ranks.
    pub graphs: Vec<GraphTag>,
    /// Which of them this is.
    pub shown: GraphTag,
    /// Step it was recorded at.
    pub step: i64,
    /// What the source file holds.
    pub format: Option<GraphFormat>,
    /// What wrote it, as far as the file says.
    pub producer: String,
    /// What is odd about the graph.
    pub notes: Vec<Words>,
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
    /// Paths of the nodes on the way that was asked for, in its order; empty if there is none.
    pub way: Vec<String>,
    /// The path of the node or scope that the picture is about, if it was asked for one.
    pub centre: Option<String>,
    /// Whether what is near was left out because there is too much of it.
    pub cut: bool,
    /// Scopes before what lies in them.
    pub boxes: Vec<GraphBox>,
    /// Lines between boxes.
    pub lines: Vec<GraphLine>,
}

/// What a box stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum BoxKind {
    /// Computes something.
    #[default]
    Operation,
    /// Data that are fed.
    Input,
    /// What is trained, and is used by nothing.
    Parameter,
    /// Always the same, and used by nothing.
    Constant,
    /// A scope.
    Scope,
    /// Several scopes that are the same but for their numbers.
    Fold,
}

/// With which precision an operation computes, compared with how the model was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Precision {
    /// With less.
    Reduced,
    /// With more.
    Raised,
}

/// A node, or a scope that is open or closed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GraphBox {
    /// Its place in the tree.
    pub path: String,
    /// The last part of its name.
    pub label: String,
    /// What it is.
    pub kind: BoxKind,
    /// The operation, of a node.
    pub op_type: String,
    /// Nodes in it.
    pub nodes: u64,
    /// Scopes that it stands for, if it stands for several.
    pub times: u64,
    /// Whether what lies in it is drawn.
    pub open: bool,
    /// The box it lies in, as an index.
    pub parent: Option<u32>,
    /// Left edge.
    pub x: i32,
    /// Upper edge.
    pub y: i32,
    /// Width.
    pub w: i32,
    /// Height.
    pub h: i32,
    /// Parameters and constants that it uses: the first few.
    pub chips: Vec<GraphChip>,
    /// How many of them there are.
    pub attached: u64,
    /// Where it runs; empty if that is not known or differs in it.
    pub device: String,
    /// Whether anything in it computes with another precision; reduced wins.
    pub precision: Option<Precision>,
    /// The worst that was found in it.
    pub severity: Option<Severity>,
    /// Whether everything that was found began in it.
    pub is_first_cause: bool,
    /// Mean time of a step that it takes, nanoseconds, where spans of a profile are named by nodes.
    pub mean_nanos: Option<u64>,
}

/// A parameter or constant beside its user.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GraphChip {
    /// The last part of its name.
    pub label: String,
    /// Whether it is a constant.
    pub is_constant: bool,
}

/// A part of an edge, or of several that share it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GraphLine {
    /// From where to where: x, y, x, y.
    pub at: [i32; 4],
    /// The box that its edges begin at, if that is one.
    pub from: Option<u32>,
    /// The box that its edges end at, if that is one.
    pub to: Option<u32>,
    /// The line that goes on towards the end that edges share.
    pub via: Option<u32>,
    /// Edges in it.
    pub edges: u64,
    /// Whether they only say what runs before.
    pub control: bool,
    /// Whether the way that was asked for goes along it.
    pub on_way: bool,
    /// Whether it ends at a box.
    pub arrow: bool,
}

/// What a graph is made of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GraphSummary {
    /// All tags of the run that hold graphs, with their ranks.
    pub graphs: Vec<GraphTag>,
    /// Which of them this is.
    pub shown: GraphTag,
    /// Nodes of the graph.
    pub total_nodes: u64,
    /// Edges of the graph.
    pub total_edges: u64,
    /// Types of operations and how often they occur, the most frequent first.
    pub types: Vec<TypeCount>,
    /// How many types there are.
    pub total_types: u64,
}

/// A type of operations.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TypeCount {
    /// As the framework calls it.
    pub op_type: String,
    /// How many nodes are of it.
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
    /// Step of the graph wanted; the last one recorded if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<i64>,
    /// The path of the node or scope.
    pub node: String,
}

/// A node or a scope, with what is known of it. Lists hold [`MAX_LISTED`] entries at most.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GraphNode {
    /// Its place in the tree.
    pub path: String,
    /// The last part of its name.
    pub label: String,
    /// What it is.
    pub kind: BoxKind,
    /// Its name in the file; of a scope empty.
    pub name: String,
    /// The operation, of a node.
    pub op_type: String,
    /// Where it runs, if that is known.
    pub device: String,
    /// With which precision it computes.
    pub precision: Option<Precision>,
    /// Mean time of a step that it takes, nanoseconds, where spans of a profile are named by nodes.
    pub mean_nanos: Option<u64>,
    /// Nodes in it.
    pub nodes: u64,
    /// Types of the operations in it, the most frequent first.
    pub types: Vec<TypeCount>,
    /// Name and value as short text.
    pub attributes: Vec<(String, String)>,
    /// What it computes.
    pub outputs: Vec<TensorType>,
    /// What it is computed from; of a scope, what lies outside of it.
    pub inputs: Vec<Neighbour>,
    /// How many of these there are.
    pub total_inputs: u64,
    /// What uses it.
    pub users: Vec<Neighbour>,
    /// How many of these there are.
    pub total_users: u64,
    /// Where it is written in the source, the innermost first.
    pub source: Vec<SourceLine>,
    /// Tensors of files and tags of the run that are about it.
    pub tensors: Vec<NodeTensor>,
    /// What watchpoints have found in it.
    pub hits: Vec<Hit>,
    /// How many of these there are.
    pub total_hits: u64,
}

/// What feeds a node, or uses it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Neighbour {
    /// Its place in the tree; `None` for parameters and constants that are shown with their users, and where there is
    /// none of that name.
    pub path: Option<String>,
    /// Its name.
    pub name: String,
    /// The operation.
    pub op_type: String,
    /// What it is; `None` where there is none of that name.
    pub kind: Option<NodeKind>,
    /// The tensor between the two, as far as the file says.
    pub tensor: Option<TensorType>,
    /// Whether it only runs before.
    pub control: bool,
    /// The worst that was found in it.
    pub severity: Option<Severity>,
}

/// A place in a source file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SourceLine {
    /// The file; empty if the text could not be taken apart.
    pub file: String,
    /// The line, from 1; 0 if it is not known.
    pub line: u32,
    /// What stands there, or whatever the graph says.
    pub text: String,
    /// Whether it is part of an installed package.
    pub is_library: bool,
}

/// What was recorded of a node: a tensor of files, or a tag.
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
    /// Step of the graph wanted; the last one recorded if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<i64>,
    /// A part of a name, a type, a parameter or a place in the source, in any case.
    pub q: String,
}

/// What a search has found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GraphSearch {
    /// Best first.
    pub found: Vec<GraphFound>,
    /// How many there are.
    pub total: u64,
    /// Whether some of them were left out.
    pub cut: bool,
}

/// Something that a search has found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GraphFound {
    /// Its place in the tree.
    pub path: String,
    /// The last part of its name.
    pub label: String,
    /// What it is.
    pub kind: BoxKind,
    /// The operation, of a node.
    pub op_type: String,
    /// The worst that was found in it.
    pub severity: Option<Severity>,
}

/// The query of `GET /api/graph/diff`: the graph as in the others, and the one it is compared with.
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
    /// Name of the run whose graph is the one before.
    pub base: String,
    /// Name of its tag; the first one if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_tag: Option<String>,
    /// Rank, the lowest one that has the tag if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_rank: Option<u32>,
}

/// How the one graph became the other. Lists hold [`MAX_DIFFERENCES`] entries at most.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GraphDiff {
    /// The graph.
    pub shown: GraphTag,
    /// The one before.
    pub base: GraphTag,
    /// Only in the graph.
    pub added: Vec<Different>,
    /// Only in the one before; paths are of its tree.
    pub removed: Vec<Different>,
    /// In both, and not the same.
    pub changed: Vec<Different>,
    /// The same but for the name.
    pub renamed: Vec<Different>,
    /// Nodes that are the same.
    pub same: u64,
    /// Nodes of the four lists, however many are sent.
    pub totals: [u64; 4],
    /// Whether some were left out.
    pub cut: bool,
}

/// A node that differs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Different {
    /// Its place in the tree; of a parameter that of its first user.
    pub path: Option<String>,
    /// Its name.
    pub name: String,
    /// The operation.
    pub op_type: String,
    /// What it was called before, if it was.
    pub before: String,
    /// Its place in the tree of the graph before, if it was.
    pub before_path: Option<String>,
    /// What is not the same: `type`, `attributes`, `outputs`, `inputs`, `device`.
    pub what: Vec<String>,
}
