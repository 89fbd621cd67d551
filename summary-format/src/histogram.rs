//! Histograms as their writers binned them.

use serde::{Deserialize, Serialize};

use crate::float;

/// Counts of values in bins. `lefts`, `rights` and `counts` are equally long and in the order of the file.
///
/// Nothing is corrected: edges may be infinite, NaN or out of order, bins may have gaps, overlap or no width, and
/// counts may be fractions, negative or NaN, if the writer wrote them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Histogram {
    /// Left edge of each bin.
    #[serde(with = "float::list")]
    pub lefts: Vec<f64>,
    /// Right edge of each bin.
    #[serde(with = "float::list")]
    pub rights: Vec<f64>,
    /// Number of values in each bin. Some writers spread values over bins, which gives fractions.
    #[serde(with = "float::list")]
    pub counts: Vec<f64>,
    /// Number of NaN values; 0 if the format has no such count.
    pub nan: u64,
    /// Number of +∞ values; 0 if the format has no such count.
    pub pos_inf: u64,
    /// Number of −∞ values; 0 if the format has no such count.
    pub neg_inf: u64,
    /// The smallest value, if the format has it.
    #[serde(with = "float::option")]
    pub min: Option<f64>,
    /// The largest value, if the format has it.
    #[serde(with = "float::option")]
    pub max: Option<f64>,
    /// The sum of all values, if the format has it.
    #[serde(with = "float::option")]
    pub sum: Option<f64>,
    /// The sum of their squares, if the format has it.
    #[serde(with = "float::option")]
    pub sum_squares: Option<f64>,
    /// Number of values as written; the sum of `counts` if the format has none. The two may differ: `MindSpore`
    /// includes NaN and infinities here, which are in no bin.
    #[serde(with = "float")]
    pub count: f64,
}
