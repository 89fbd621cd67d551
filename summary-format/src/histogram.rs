//! Histograms as their writers binned them.

use serde::{Deserialize, Serialize};

use crate::float;

/// How often values lay in each bin. `lefts`, `rights` and `counts` are equally long and in the order of the file.
///
/// Nothing is put right: edges may be infinite, NaN or out of order, bins may have gaps, overlap or no width, and
/// counts may be fractions, negative or NaN, if that is what was written.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Histogram {
    /// Where each bin begins.
    #[serde(with = "float::list")]
    pub lefts: Vec<f64>,
    /// Where each bin ends.
    #[serde(with = "float::list")]
    pub rights: Vec<f64>,
    /// How many values lie in each bin. Some writers spread values over bins, which gives fractions.
    #[serde(with = "float::list")]
    pub counts: Vec<f64>,
    /// Values that are not a number; 0 where the format cannot say.
    pub nan: u64,
    /// Values that are +∞; 0 where the format cannot say.
    pub pos_inf: u64,
    /// Values that are −∞; 0 where the format cannot say.
    pub neg_inf: u64,
    /// The smallest value, where the format says so.
    #[serde(with = "float::option")]
    pub min: Option<f64>,
    /// The largest value, where the format says so.
    #[serde(with = "float::option")]
    pub max: Option<f64>,
    /// The sum of all values, where the format says so.
    #[serde(with = "float::option")]
    pub sum: Option<f64>,
    /// The sum of their squares, where the format says so.
    #[serde(with = "float::option")]
    pub sum_squares: Option<f64>,
    /// How many values there were, as written; the sum of `counts` where the format does not say. Not always the same:
    /// `MindSpore` counts NaN and infinities here, which lie in no bin.
    #[serde(with = "float")]
    pub count: f64,
}
