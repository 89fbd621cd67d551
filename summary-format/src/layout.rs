//! Layouts of scalar charts as defined by a program.

use serde::{Deserialize, Serialize};

/// Categories of charts, in display order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ChartLayout {
    /// The categories.
    pub categories: Vec<ChartCategory>,
}

/// Charts under one heading.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ChartCategory {
    /// The heading.
    pub title: String,
    /// `true` if it is collapsed at first.
    pub is_closed: bool,
    /// The charts.
    pub charts: Vec<Chart>,
}

/// One chart.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Chart {
    /// Its title.
    pub title: String,
    /// Content.
    pub content: ChartContent,
}

/// Content of a chart.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum ChartContent {
    /// Nothing.
    #[default]
    Empty,
    /// All tags that match one of these regular expressions, as lines.
    Lines(Vec<String>),
    /// Lines with margins.
    Margins(Vec<MarginSeries>),
}

/// A line between two others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MarginSeries {
    /// The tag of the line.
    pub value: String,
    /// The tag below it.
    pub lower: String,
    /// The tag above it.
    pub upper: String,
}
