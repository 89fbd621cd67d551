//! `POST /api/importance…`: the parameters that move a result, over many runs.

use serde::{Deserialize, Serialize};
use trainscope_format::float;

use crate::Sentence;
use crate::table::{CellValue, Direction};

/// Cells of a pair along each axis of numbers, and most categories along the others.
pub const PAIR_CELLS: usize = 32;

/// Measure of importance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Measure {
    /// Share of the variance of a random forest that the parameter explains alone (fANOVA), 0 to 1; from 30 runs on.
    Variance,
    /// Share of the difference between the best tenth of the runs and all (PED-ANOVA); shares add up to 1. From 20 runs
    /// on, if the better end of the result is known.
    #[serde(rename = "best")]
    BestTenth,
    /// Rank correlation, −1 to 1; of categories the square root of ε², 0 to 1. From 8 runs on.
    Rank,
    /// Pearson's r of the numbers as they are, −1 to 1; from 3 runs on.
    Linear,
}

/// The body of `POST /api/importance`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ImportanceRequest {
    /// Key of the result: `metric:loss`, `metric:acc@max`, `eval:Accuracy`, `lineage:loss`.
    pub target: String,
    /// Better end of the result; by its name if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<Direction>,
    /// Measure; by the number of runs if left out: the share of variance from 30 on, else the rank correlation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measure: Option<Measure>,
    /// Keys of the columns that may explain the result; all parameters and `data:pipeline` if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub columns: Option<Vec<String>>,
    /// Names of the runs; all if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs: Option<Vec<String>>,
    /// Terms that runs match; with `runs` both hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
}

/// The answer of `POST /api/importance`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ImportanceAnswer {
    /// Version of the table.
    pub seq: u64,
    /// Key of the result.
    pub target: String,
    /// Better end that was assumed; `null` if unknown.
    pub goal: Option<Direction>,
    /// Bars, pairs, and the facts behind them.
    #[serde(flatten)]
    pub importance: Importance,
    /// Number of runs, runs that do not enter, scale: a sentence each.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<crate::openapi::Sentence>))]
    pub sentences: Vec<Sentence>,
}

/// Importance of parameters for one result.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Importance {
    /// Measure of the bars; `null` if there are too few runs for it, or if it needs the better end of the result.
    pub measure: Option<Measure>,
    /// Number of runs with a finite result.
    pub runs: usize,
    /// Number of runs without a result, or with NaN or an infinity there.
    pub left_out: usize,
    /// Coefficient of determination of the forest on runs that its trees have not seen, at most 1.
    #[serde(with = "float::option")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<f64>))]
    pub r_squared: Option<f64>,
    /// Trust in the bars of a forest.
    pub trust: Option<Trust>,
    /// Number of runs the forest was trained on.
    pub forest_runs: usize,
    /// A parameter each: those with a value first, the greatest of them first.
    #[serde(rename = "parameters")]
    pub bars: Vec<Bar>,
    /// Shares of the variance that two parameters explain together and neither alone; the greatest first, at most five.
    pub pairs: Vec<Pair>,
}

/// Trust in the bars of a forest, by its coefficient of determination on runs that its trees have not seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Trust {
    /// At least 0.5.
    Good,
    /// 0.2 to 0.5: a sentence says the share that the forest explains.
    Fair,
    /// Below 0.2: these parameters do not explain the result.
    Poor,
}

/// Importance of one parameter.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Bar {
    /// Key of the parameter.
    pub name: String,
    /// Parameters that divide the runs in the same way.
    pub same_as: Vec<String>,
    /// Importance in the unit of its measure; `null` for the reason below.
    #[serde(with = "float::option")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<f64>))]
    pub value: Option<f64>,
    /// Standard deviation over the trees.
    #[serde(with = "float::option")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<f64>))]
    pub deviation: Option<f64>,
    /// Number of runs with the parameter and a finite result.
    pub runs: usize,
    /// Reason of the missing value.
    pub reason: Option<Reason>,
    /// `true` if the parameter enters by the logarithms of its numbers.
    pub is_log: bool,
    /// `true` for seeds, hosts and commits: they should not matter.
    pub is_aside: bool,
    /// Stretch of the parameter that holds most of the best runs.
    pub best: Option<Stretch>,
    /// That stretch, or the reason of the missing value, in words; empty without either.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::openapi::Sentence))]
    pub words: Sentence,
}

/// Reason why a parameter has no importance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Reason {
    /// All runs have one value.
    Constant,
    /// More than half of its values differ: it names each run.
    NamesEachRun,
    /// The measure needs numbers.
    NoNumber,
    /// Too few runs have it, or all groups but one are of one run.
    TooFewRuns,
    /// The forest has room for 64 parameters; others correlate more.
    BeyondLimit,
}

/// Two parameters that matter together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Pair {
    /// Their keys.
    pub names: [String; 2],
    /// Share of the variance, 0 to 1.
    #[serde(with = "float")]
    #[cfg_attr(feature = "openapi", schema(value_type = f64))]
    pub value: f64,
}

/// Shortest stretch of a parameter that holds 80 % of the best tenth of the runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Stretch {
    /// Its least value.
    pub from: f64,
    /// Its greatest value.
    pub to: f64,
    /// Number of the best runs in it.
    pub runs: usize,
    /// Number of the best runs.
    pub of: usize,
}

/// The body of `POST /api/importance/pair`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PairRequest {
    /// Key of the result.
    pub target: String,
    /// Keys of the two parameters, across and up.
    pub pair: [String; 2],
    /// Better end of the result; by its name if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<Direction>,
    /// Keys of the columns that may explain the result, as in the request for the bars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub columns: Option<Vec<String>>,
    /// Names of the runs; all if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs: Option<Vec<String>>,
    /// Terms that runs match; with `runs` both hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
}

/// The answer of `POST /api/importance/pair`: the mean prediction of the forest by two parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PairAnswer {
    /// Version of the table.
    pub seq: u64,
    /// The two axes, across and up.
    pub axes: [PairAxis; 2],
    /// Mean predictions row by row, the lowest row first; empty if there is no forest: fewer than 30 runs, or a
    /// parameter that does not enter.
    pub cells: Vec<f64>,
    /// Coefficient of determination of the forest on runs that its trees have not seen, at most 1.
    #[serde(with = "float::option")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<f64>))]
    pub r_squared: Option<f64>,
    /// Number of runs with a finite result.
    pub runs: usize,
}

/// An axis of a pair.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PairAxis {
    /// Key of the parameter.
    pub name: String,
    /// Edges of the cells of numbers, one more than cells, at equal distances on the scale; empty for categories.
    pub edges: Vec<f64>,
    /// `true` if the scale is logarithmic.
    pub is_log: bool,
    /// Values of the cells of categories, the most common ones up to [`PAIR_CELLS`]; `null` is no value. Empty for
    /// numbers.
    pub choices: Vec<CellValue>,
}
