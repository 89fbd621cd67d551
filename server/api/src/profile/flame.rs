//! Stacks of an area of the timeline, added up.

use serde::{Deserialize, Serialize};

/// The query of `GET /api/profile/flame`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams), into_params(parameter_in = Query))]
pub struct FlameQuery {
    /// Name of the run.
    pub run: String,
    /// Id of the session; the newest if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Rank; the lowest if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
    /// Start of the area.
    pub from_nanos: i64,
    /// End of the area.
    pub to_nanos: i64,
    /// Indices of lanes, separated by commas; all if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lanes: Option<String>,
    /// `true` for callers below callees.
    #[serde(default)]
    pub up: bool,
}

/// Stacks of an area added up: a tree in the order of a walk that visits parents first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FlameAnswer {
    /// Frames, parents before children, up to [`MAX_FRAMES`](super::MAX_FRAMES).
    pub frames: Vec<FlameFrame>,
    /// Sum of the roots.
    pub total_nanos: i64,
    /// `true` if frames were joined.
    pub cut: bool,
}

/// Frame of a flame chart.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FlameFrame {
    /// Name.
    pub name: String,
    /// Kind of time, as in [`crate::timeline::TimeKind`].
    pub kind: u8,
    /// Distance from its root.
    pub depth: u32,
    /// Time with children.
    pub total_nanos: i64,
    /// Time without children.
    pub self_nanos: i64,
    /// Number of slices.
    pub count: u64,
}
