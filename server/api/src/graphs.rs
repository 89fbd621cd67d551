//! `GET /api/graph`: one computation graph of a run as it was recorded, and its views below that path.

use serde::{Deserialize, Serialize};
use trainscope_format::{Graph, GraphFormat, float};

mod look;

pub use look::*;

/// Maximum number of nodes in one answer.
pub const MAX_NODES: usize = 200_000;

/// The query of `GET /api/graph`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams))]
pub struct GraphQuery {
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
}

/// A graph, and the list of all graphs of the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GraphAnswer {
    /// All tags of the run that hold graphs, with their ranks.
    pub graphs: Vec<GraphTag>,
    /// The graph returned.
    pub shown: GraphTag,
    /// Step it was recorded at.
    pub step: i64,
    /// Seconds since 1970 as written.
    #[serde(with = "float")]
    #[cfg_attr(feature = "openapi", schema(value_type = f64))]
    pub wall_time_secs: f64,
    /// Format of the source file.
    pub format: GraphFormat,
    /// The graph, up to [`MAX_NODES`] nodes.
    pub graph: Graph,
    /// Number of nodes in the source, including those left out.
    pub total_nodes: u64,
    /// `true` if nodes were left out.
    pub cut: bool,
}

/// A tag that holds graphs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GraphTag {
    /// Name.
    pub tag: String,
    /// Rank that recorded it.
    pub rank: u32,
}
