//! Computation graphs of any framework.
//!
//! A graph is as in its file: edges may have no origin, names may repeat and there may be cycles. All of it is
//! preserved, and oddities are listed in [`Graph::notes`].

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::wire::WireError;

/// The attribute of a parameter whose values are in another file: its name, relative to the graph's.
const EXTERNAL_LOCATION: &str = "external location";

/// A computation graph.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Graph {
    /// Its name; may be empty.
    pub name: String,
    /// Program that wrote it, with version, if the file names it.
    pub producer: String,
    /// Its nodes, inputs and parameters before operations, otherwise in the order of the file.
    pub nodes: Vec<Node>,
    /// Outputs of the graph.
    pub outputs: Vec<GraphOutput>,
    /// Oddities.
    pub notes: Vec<GraphNote>,
}

/// An oddity of a graph. `Display` is an English sentence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GraphNote {
    /// Kind of oddity.
    pub kind: GraphNoteKind,
    /// Number of occurrences.
    pub count: u64,
    /// Name of an example; may be empty.
    pub example: String,
}

/// Kind of an oddity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum GraphNoteKind {
    /// There are no nodes.
    Empty,
    /// Nodes with the same name as others; the example is a name.
    RepeatedNames,
    /// Inputs without an origin; the example is the missing name.
    LeadNowhere,
    /// Nodes in cycles, and those that depend on them.
    Cycle,
    /// Nodes and edges above the limits.
    LeftOut,
    /// Graphs nested too deeply; the example is the scope.
    TooDeep,
    /// Parameters whose values are in a missing file; the example is its name.
    FileMissing,
}

impl fmt::Display for GraphNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            kind,
            count,
            example,
        } = self;
        let (s, verb) = if *count == 1 { ("", "s") } else { ("s", "") };
        match kind {
            GraphNoteKind::Empty => write!(f, "the graph has no nodes"),
            GraphNoteKind::RepeatedNames => {
                write!(f, "{count} node{s} repeat{verb} a name: {example}")?;
                if *count > 1 {
                    write!(f, ", …")
                } else {
                    Ok(())
                }
            }
            GraphNoteKind::LeadNowhere => {
                let have = if *count == 1 { "has" } else { "have" };
                write!(f, "{count} input{s} {have} no source node: {example}")?;
                if *count > 1 {
                    write!(f, ", …")
                } else {
                    Ok(())
                }
            }
            GraphNoteKind::Cycle if *count == 1 => write!(f, "1 node is part of a cycle"),
            GraphNoteKind::Cycle => write!(f, "{count} nodes are part of a cycle or depend on one"),
            GraphNoteKind::LeftOut => {
                write!(
                    f,
                    "{count} nodes and edges are left out: the graph is too large"
                )
            }
            GraphNoteKind::TooDeep => {
                write!(
                    f,
                    "a graph within {example} is left out: it is nested too deeply"
                )
            }
            GraphNoteKind::FileMissing => write!(
                f,
                "values of {count} parameter{s} are in {example}, which is missing beside the graph"
            ),
        }
    }
}

/// Kind of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum NodeKind {
    /// An operation.
    #[default]
    Operation,
    /// Input data.
    Input,
    /// A trained parameter, or input data: `MindSpore` does not distinguish them.
    Parameter,
    /// A constant.
    Constant,
}

/// A node, without model data: of large values only the size is stored.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Node {
    /// Name, with its scopes separated by `/`. May repeat.
    pub name: String,
    /// Kind.
    pub kind: NodeKind,
    /// Operation type in the framework.
    pub op_type: String,
    /// Inputs, in order; control inputs last.
    pub inputs: Vec<Edge>,
    /// Name and value as short text; of a large value its size.
    pub attributes: Vec<(String, String)>,
    /// Types of its outputs, if the file has them.
    pub outputs: Vec<TensorType>,
    /// Device it runs on; empty if unknown.
    pub device: String,
    /// Source lines that created it; empty if unknown.
    pub source: String,
}

/// Origin of an input.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Edge {
    /// Index into [`Graph::nodes`]; `None` if no node has that name.
    pub node: Option<u32>,
    /// Output of that node.
    pub slot: u32,
    /// `true` for a control edge, which orders execution and carries no data.
    pub is_control: bool,
    /// The unresolved name if there is no such node; otherwise empty.
    pub missing: String,
}

/// An output of a graph.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GraphOutput {
    /// Its name.
    pub name: String,
    /// Origin.
    pub from: Edge,
}

/// The type of a tensor.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TensorType {
    /// Element type: a name of [`crate::tensor::DType`] if one matches, otherwise that of the framework; empty if
    /// unknown.
    pub dtype: String,
    /// Sizes, outermost first; `None` if the rank is unknown.
    pub shape: Option<Vec<Dimension>>,
}

/// Size of a dimension.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Dimension {
    /// A known size.
    Size(u64),
    /// A symbolic name; `?` if it has none.
    Symbol(String),
}

impl Dimension {
    /// A size in the encoding of most formats: negative if unknown.
    pub(crate) fn of(bits: u64) -> Self {
        if bits.cast_signed() < 0 {
            Self::Symbol("?".to_owned())
        } else {
            Self::Size(bits)
        }
    }
}

/// Error for bytes that are not a graph of the expected format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a graph of this format: a message in it is truncated or malformed")]
pub struct NotAGraph;

impl From<WireError> for NotAGraph {
    fn from(_: WireError) -> Self {
        Self
    }
}

impl Graph {
    /// Files that hold values of parameters, with the number of parameters in each.
    pub fn external_files(&self) -> BTreeMap<&str, u64> {
        let mut files = BTreeMap::new();
        let attributes = self.nodes.iter().flat_map(|node| &node.attributes);
        for (_, file) in attributes.filter(|(name, _)| name == EXTERNAL_LOCATION) {
            *files.entry(&**file).or_default() += 1;
        }
        files
    }
}
