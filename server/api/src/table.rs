//! `/api/table…`: one table of all runs. A row is a run, a column a parameter, a result or a fact of its files.
//!
//! Rows keep their indices while the server runs: new runs follow the others. The keys of columns are explained in the
//! book: a bare name is a parameter, a prefix (`metric:`, `eval:`, `data:`, `lineage:`, `run:`, `user:`) names the
//! source of the others.

use serde::{Deserialize, Serialize};
use trainscope_format::float;

use crate::omitted::is_zero;

mod bytes;
mod cells;
mod value;

pub use bytes::{TABLE_MEDIA_TYPE, TableError, decode, encode};
pub use cells::{Cells, TableAnswer, TableColumn};
pub use value::CellValue;

/// Maximum number of columns of the table, and of one answer.
pub const MAX_COLUMNS: usize = 2_000;
/// Maximum number of rows of an answer as JSON.
pub const MAX_JSON_ROWS: usize = 1_000;
/// Maximum number of unreadable configuration files in one answer.
pub const MAX_FAULTS: usize = 20;
/// Maximum number of runs that are named in a request.
pub const MAX_NAMED_RUNS: usize = 10_000;
/// Maximum number of kinds of pipelines in one answer.
pub const MAX_KINDS: usize = 200;
/// Maximum number of runs that a kind of pipelines lists.
pub const MAX_KIND_RUNS: usize = 1_000;
/// Prefix of a column that is `true` in the runs in which sources of the column after it disagree, and has no value in
/// the others: `sources_differ:lr`. [`ColumnInfo::disagreeing`] says in how many.
pub const SOURCES_DIFFER: &str = "sources_differ:";
/// Summaries of a scalar that its key may end with, after `@`: `metric:loss@min`. A bare key is the last value, `mean10`
/// the mean of the last ten.
pub const SUMMARIES: [&str; 6] = [
    "min",
    "max",
    "mean10",
    "step_of_min",
    "step_of_max",
    "first",
];

/// The answer of `GET /api/table/columns`: all columns in the order of their groups, then by key.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TableColumns {
    /// Version of the table.
    pub seq: u64,
    /// Number of runs.
    pub runs: usize,
    /// The columns, at most [`MAX_COLUMNS`]: those that most runs have.
    pub columns: Vec<ColumnInfo>,
    /// Number of columns beyond that.
    pub left_out: usize,
    /// Number of values that are cut or left out: too long, too many or too deep in a configuration file.
    pub values_left_out: usize,
    /// Configuration files that cannot be read, up to [`MAX_FAULTS`].
    pub faults: Vec<ConfigurationFault>,
    /// Number of configuration files that cannot be read.
    pub fault_count: usize,
}

/// A column.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ColumnInfo {
    /// Its key in requests, notebook and exports.
    pub key: String,
    /// The key without the prefix of its group.
    pub label: String,
    /// Its group.
    pub group: ColumnGroup,
    /// Kind of its values.
    pub kind: ColumnKind,
    /// Scale of an axis of it.
    pub scale: Scale,
    /// Better end of a result; `null` if unknown.
    pub direction: Option<Direction>,
    /// Unit of its numbers, if the key says it.
    pub unit: Option<Unit>,
    /// Sources of its values; of several in one run the first counts.
    pub sources: Vec<ColumnSource>,
    /// Number of runs with a value.
    pub runs: usize,
    /// Number of different values, NaN being one.
    pub distinct: usize,
    /// Least finite number.
    #[serde(with = "float::option")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<f64>))]
    pub least: Option<f64>,
    /// Greatest finite number.
    #[serde(with = "float::option")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<f64>))]
    pub greatest: Option<f64>,
    /// Number of runs with NaN: as their value, or, of a scalar, at any of its points.
    pub nan: usize,
    /// The one value of all runs that have one; `null` if they differ.
    pub constant: Option<CellValue>,
    /// Number of runs in which sources disagree, see [`SOURCES_DIFFER`].
    pub disagreeing: usize,
}

/// Group of a column.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum ColumnGroup {
    /// A setting of the training.
    #[default]
    Parameter,
    /// The data it learned from.
    Data,
    /// A value that it reached.
    Result,
    /// A fact of its files.
    Run,
    /// A text by a user.
    Note,
}

/// Kind of the values of a column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum ColumnKind {
    /// Numbers; a few texts among them have places of their own.
    Number,
    /// Whole numbers.
    Integer,
    /// Truth values, or nothing but 0 and 1.
    Truth,
    /// Texts that make groups of runs.
    Category,
    /// Other texts: nearly every run has its own.
    Text,
    /// No run has a value.
    #[default]
    Empty,
}

/// Scale of an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Scale {
    /// Equal distances are equal differences.
    #[default]
    Linear,
    /// Equal distances are equal ratios: all numbers are above 0, and the greatest is at least 100 times the least.
    Log,
}

/// Better end of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Direction {
    /// Less is better: losses, errors.
    #[serde(rename = "minimize")]
    Less,
    /// More is better: accuracies, scores.
    #[serde(rename = "maximize")]
    More,
}

/// Unit of the numbers of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Unit {
    /// Seconds since 1970.
    Time,
    /// Seconds.
    Duration,
    /// Bytes.
    Bytes,
}

/// Source of a value; of several, the first in this order counts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum ColumnSource {
    /// Hyper-parameters in event files.
    Hparams,
    /// Lineage of the training.
    Lineage,
    /// A configuration file, by its path below the folder of the run.
    Configuration(String),
    /// Facts of the program.
    Program,
    /// Scalars.
    Scalars,
    /// Files of the run.
    Files,
    /// Judgement of the run by its watchpoints.
    Judgement,
    /// Notebook.
    Notes,
}

/// A configuration file that cannot be read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ConfigurationFault {
    /// Name of the run.
    pub run: String,
    /// Path below the folder of the run.
    pub path: String,
    /// Description of the error, with line and column.
    pub reason: String,
}

/// The body of `POST /api/table`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TableRequest {
    /// Keys of columns, in the order of the answer; at most [`MAX_COLUMNS`]. A column that no run has is empty.
    #[serde(default)]
    pub columns: Vec<String>,
    /// Terms that rows match, as in the list of runs: `lr:>0.01 opt:adam|sgd`. The answer then has the indices of its
    /// rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
    /// Version of an earlier answer with the same columns and without a filter: the answer then has only the rows that
    /// changed since, with their indices. It has all rows, without indices, if the server cannot tell the difference.
    /// Ignored with a filter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<u64>,
    /// Number of matching rows before the first one of the answer; of JSON only.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub offset: usize,
    /// Number of rows; of JSON only, at most [`MAX_JSON_ROWS`], which is the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
}

/// The answer of `POST /api/table` as JSON; as `application/octet-stream` it is a [`TableAnswer`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TablePage {
    /// Version of the table.
    pub seq: u64,
    /// Rows from `offset` on.
    pub rows: Vec<TableRow>,
    /// Number of rows that match.
    pub total: usize,
    /// `true` if rows follow.
    pub cut: bool,
}

/// A row.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TableRow {
    /// Name of the run.
    pub run: String,
    /// Index of the row.
    pub index: u32,
    /// Values in the order of the requested columns; `null` is no value.
    pub cells: Vec<CellValue>,
}

/// The query of `GET /api/table/row`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams), into_params(parameter_in = Query))]
pub struct RowQuery {
    /// Name of the run.
    pub run: String,
}

/// The answer of `GET /api/table/row`: one run with all of its values, of every source, earlier ones too.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RunRow {
    /// Name of the run.
    pub run: String,
    /// Its columns in the order of their groups, then by key.
    pub columns: Vec<RowColumn>,
    /// Configuration files that cannot be read.
    pub faults: Vec<ConfigurationFault>,
    /// Number of values that are cut or left out.
    pub values_left_out: usize,
}

/// Value of a run in a column.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RowColumn {
    /// Key of the column.
    pub key: String,
    /// Its group.
    pub group: ColumnGroup,
    /// The value that counts.
    pub value: CellValue,
    /// `true` if sources disagree. Numbers of which one is the other in single precision agree.
    pub disagrees: bool,
    /// All values in the order in which they were recorded; one if there are no others.
    pub values: Vec<SourcedValue>,
}

/// A value with its source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SourcedValue {
    /// Its source.
    pub source: ColumnSource,
    /// The value.
    pub value: CellValue,
}

/// The query of `GET /api/table/pipelines`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams), into_params(parameter_in = Query))]
pub struct PipelinesQuery {
    /// Keys of results, separated by commas; all results whose better end is known if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub results: Option<String>,
}

/// The answer of `GET /api/table/pipelines`: kinds of data pipelines. Pipelines are of one kind if they are equal but for
/// places on a disk.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PipelineKinds {
    /// Version of the table.
    pub seq: u64,
    /// Operations of all kinds in the order of the data; a kind may lack some.
    pub places: Vec<PipelinePlace>,
    /// Kinds: that of most runs first, of equals that with the first name.
    pub kinds: Vec<PipelineKind>,
    /// Number of kinds beyond [`MAX_KINDS`].
    pub left_out: usize,
    /// Number of runs without a recorded pipeline.
    pub runs_without: usize,
}

/// A place of a pipeline, a column of the table of kinds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PipelinePlace {
    /// Operation: `MnistDataset`, `Map`, `Batch`, …
    pub operation: String,
    /// Names of the parameters that differ between the kinds which have the operation.
    pub differing: Vec<String>,
}

/// A kind of pipelines.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PipelineKind {
    /// Its letter: A, B, …, the value of the column `data:pipeline`.
    pub kind: String,
    /// Its runs, the first [`MAX_KIND_RUNS`].
    pub runs: Vec<String>,
    /// Number of its runs.
    pub run_count: usize,
    /// Parameters of the operation at each place, names and values as short text; `null` where the kind lacks it.
    /// Parameters of transforms and samplers have their names before them: `Resize.size`.
    pub cells: Vec<Option<Vec<(String, String)>>>,
    /// Results of its runs.
    pub results: Vec<KindResult>,
}

/// A result of the runs of a kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct KindResult {
    /// Key of the result.
    pub key: String,
    /// Number of runs with a finite result.
    pub runs: usize,
    /// Number of runs with NaN or an infinity.
    pub not_finite: usize,
    /// Median of the finite results.
    pub median: Option<f64>,
    /// The best of them; `null` if the better end is unknown.
    pub best: Option<f64>,
    /// Run with the best one.
    pub best_run: Option<String>,
}
