//! Computation graphs, whatever framework drew them.
//!
//! A graph is what its file says, not what it should be: edges may lead nowhere, names may repeat and there may be
//! cycles. All of it is kept, and what is odd is said in [`Graph::notes`].

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::wire::Malformed;

/// The attribute of a parameter whose values lie in another file: its name, relative to the graph's.
const EXTERNAL_LOCATION: &str = "external location";

/// A computation graph.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Graph {
    /// Its name; may be empty.
    pub name: String,
    /// What wrote it, with version, as far as the file says.
    pub producer: String,
    /// Its nodes, inputs and parameters before operations, otherwise in the order of the file.
    pub nodes: Vec<Node>,
    /// What it computes.
    pub outputs: Vec<GraphOutput>,
    /// What is odd about it.
    pub notes: Vec<GraphNote>,
}

/// Something odd about a graph. As text it is an English sentence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GraphNote {
    /// What.
    pub kind: GraphNoteKind,
    /// How often.
    pub count: u64,
    /// One of them by name; may be empty.
    pub example: String,
}

/// What is odd.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum GraphNoteKind {
    /// There are no nodes.
    Empty,
    /// Nodes whose names are those of others; the example is a name.
    RepeatedNames,
    /// Inputs that nothing computes; the example is what they ask for.
    LeadNowhere,
    /// Nodes in cycles, and such as wait for them.
    Cycle,
    /// Nodes and edges beyond what one graph may have.
    LeftOut,
    /// Graphs within others that lie too deep; the example is the scope.
    TooDeep,
    /// Parameters whose values lie in a file that is not there; the example is its name.
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
            GraphNoteKind::Cycle => write!(f, "{count} nodes are part of a cycle or wait for one"),
            GraphNoteKind::LeftOut => {
                write!(
                    f,
                    "{count} nodes and edges are left out: the graph is too large"
                )
            }
            GraphNoteKind::TooDeep => {
                write!(f, "a graph within {example} is left out: it lies too deep")
            }
            GraphNoteKind::FileMissing => write!(
                f,
                "values of {count} parameter{s} lie in {example}, which is not beside the graph"
            ),
        }
    }
}

/// What a node is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum NodeKind {
    /// Computes something.
    #[default]
    Operation,
    /// Data that are fed.
    Input,
    /// What is trained, or fed: `MindSpore` does not tell them apart.
    Parameter,
    /// Always the same.
    Constant,
}

/// A node. Nothing in it is data of the model: large values are only named.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Node {
    /// Its name; the scopes it lies in are parted by `/`. May repeat.
    pub name: String,
    /// What it is.
    pub kind: NodeKind,
    /// The operation as the framework calls it.
    pub op_type: String,
    /// Where its inputs come from, in order; control inputs last.
    pub inputs: Vec<Edge>,
    /// Name and value as short text; of a large value its size.
    pub attributes: Vec<(String, String)>,
    /// What it computes, as far as the file says.
    pub outputs: Vec<TensorType>,
    /// Where it runs; empty if the file does not say.
    pub device: String,
    /// The lines of source code that it comes from; empty if the file does not say.
    pub source: String,
}

/// Where an input comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Edge {
    /// The node, as an index into [`Graph::nodes`]; `None`: there is none of that name.
    pub node: Option<u32>,
    /// Which of its outputs.
    pub slot: u32,
    /// Whether it only says what has to run before.
    pub is_control: bool,
    /// The name it was asked for by, if there is no such node; otherwise empty.
    pub missing: String,
}

/// Something that a graph computes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GraphOutput {
    /// Its name.
    pub name: String,
    /// Where it comes from.
    pub from: Edge,
}

/// The type of a tensor.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TensorType {
    /// Of its elements: a name of [`crate::tensor::DType`] where that fits, otherwise what the framework says; empty if
    /// the file does not say.
    pub dtype: String,
    /// Its sizes, outermost first; `None` if the file does not say how many there are.
    pub shape: Option<Vec<Dimension>>,
}

/// One size of a tensor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Dimension {
    /// Known.
    Size(u64),
    /// A name that stands for it; `?` if it has none.
    Symbol(String),
}

impl Dimension {
    /// A size as most formats write it: negative if it is not known.
    pub(crate) fn of(bits: u64) -> Self {
        if bits.cast_signed() < 0 {
            Self::Symbol("?".to_owned())
        } else {
            Self::Size(bits)
        }
    }
}

/// The bytes are not a graph of the format they should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a graph of this format: a message in it is cut off or is none")]
pub struct NotAGraph;

impl From<Malformed> for NotAGraph {
    fn from(_: Malformed) -> Self {
        Self
    }
}

impl Graph {
    /// Files that hold the values of its parameters, as it names them, and of how many.
    pub fn external_files(&self) -> BTreeMap<&str, u64> {
        let mut files = BTreeMap::new();
        let attributes = self.nodes.iter().flat_map(|node| &node.attributes);
        for (_, file) in attributes.filter(|(name, _)| name == EXTERNAL_LOCATION) {
            *files.entry(&**file).or_default() += 1;
        }
        files
    }
}
