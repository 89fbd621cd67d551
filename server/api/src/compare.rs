//! `GET /api/compare` and `/api/compare/map`: two to eight runs, each against one of them.

use serde::{Deserialize, Serialize};
use trainscope_format::float::Float;
use trainscope_format::hparams::HparamValue;
use trainscope_format::{Role, Severity, float};

use crate::Sentence;
use crate::findings::{Counts, Progress};

mod map;

pub use map::*;

/// Fewest runs of a comparison.
pub const MIN_RUNS: usize = 2;
/// Most runs of a comparison.
pub const MAX_RUNS: usize = 8;
/// Largest relative difference that counts as equal, unless another one is given.
pub const DEFAULT_TOLERANCE: f64 = 0.01;
/// Most partings, names in one run, findings and differences of pipelines in one answer, of each kind.
pub const MAX_ROWS: usize = 1_000;
/// Most settings in one answer.
pub const MAX_SETTINGS: usize = 4_000;

/// The query of `GET /api/compare`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams), into_params(parameter_in = Query))]
pub struct CompareQuery {
    /// Names of two to eight runs, separated by commas; a comma in a name is `%2C`, a percent sign `%25`.
    pub runs: String,
    /// The run that the others are compared with; the first one if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// Largest relative difference that counts as equal, at least 0; [`DEFAULT_TOLERANCE`] if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<f64>,
    /// First step of the base to compare.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<i64>,
    /// Points that are compared with each other.
    #[serde(default)]
    pub align: Align,
    /// 1 to read all tensors until each has parted; if left out, reading ends at the first step where one parts, if
    /// more than a few files follow.
    #[serde(default, skip_serializing_if = "crate::omitted::is_zero")]
    #[cfg_attr(feature = "openapi", param(maximum = 1))]
    pub all: u8,
}

/// Points of two runs that are compared with each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Align {
    /// Those of the same step.
    #[default]
    Step,
    /// Those after the same number of samples: step × batch size × devices.
    Samples,
    /// Those at the same epoch: step ÷ steps of an epoch.
    Epoch,
    /// Those the same time after the start. Tensors in files have no time.
    Time,
}

/// Runs against one of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Comparison {
    /// Names of the runs, the base first.
    pub runs: Vec<String>,
    /// Relative tolerance.
    pub tolerance: f64,
    /// One for each run after the base.
    pub others: Vec<AgainstBase>,
    /// Settings of all runs: those that differ first, of these the places on disks last.
    pub settings: Vec<Setting>,
    /// `true` if settings were left out.
    pub settings_cut: bool,
    /// Configuration files of the same name in several runs, with their changed lines.
    pub files: Vec<ConfigurationFile>,
}

/// A run against the base.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AgainstBase {
    /// Name of the run.
    pub run: String,
    /// Sentence that names the step and the tensor at which they part.
    pub sentence: Sentence,
    /// Further facts; may be empty.
    pub detail: Sentence,
    /// Form of the sentence.
    pub outcome: Outcome,
    /// First differences beyond the tolerance, in order: by step, then weights, inputs and activations in the flow of
    /// data, other tensors, scalars, and gradients from the loss backwards.
    pub partings: Vec<Parting>,
    /// Of runs that differ from the first common step on: the first difference far beyond those before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beyond: Option<Parting>,
    /// Number of partings, including those left out.
    pub total_partings: u64,
    /// The largest difference within the tolerance, if there is any.
    pub largest_within: Option<Parting>,
    /// Scalars in both: those that part first, in order of their steps; then the others by name.
    pub scalars: Vec<ScalarDifference>,
    /// Number of tensors in both.
    pub tensors: u64,
    /// Number of scalars in both.
    pub scalars_total: u64,
    /// Number of tensors in both whose shapes differ.
    pub other_shapes: u64,
    /// Number of steps in both.
    pub common_steps: u64,
    /// First and last of them.
    pub first_step: Option<i64>,
    /// Last step in both.
    pub last_step: Option<i64>,
    /// Number of steps of the base that the other run lacks.
    pub missing_steps: u64,
    /// Number of steps of the other run that the base lacks.
    pub extra_steps: u64,
    /// Names in the base only.
    pub only_base: Names,
    /// Names in the other run only.
    pub only_other: Names,
    /// Reason why points are compared by step although another alignment was wanted.
    pub align_fault: Option<Sentence>,
    /// State of reading the elements of tensors.
    pub reading: Reading,
    /// Files of tensors read, and all that both have.
    pub progress: Option<Progress>,
    /// Tensors and files that could not be compared.
    pub faults: Vec<CompareFault>,
    /// Hits of watchpoints.
    pub findings: FindingsDifference,
    /// Graphs, if both have one.
    pub graph: Option<GraphFacts>,
    /// Data pipelines, if both have one.
    pub pipeline: Option<PipelineFacts>,
}

/// Form of the sentence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Outcome {
    /// They part at a step.
    Part,
    /// Only scalars differ.
    PartInScalars,
    /// They differ within the tolerance.
    Within,
    /// They are equal to the bit in everything that was compared.
    Same,
    /// They are equal so far, and one of them grows.
    SoFar,
    /// Nothing parts so far, and tensors are still being read.
    #[default]
    Unread,
    /// They have nothing in common.
    Nothing,
}

/// State of reading the elements of tensors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Reading {
    /// All that is needed was read.
    #[default]
    Done,
    /// The same query again reads on.
    Going,
    /// The first step where a tensor parts was read; later ones with `all=1`.
    FirstStep,
}

/// First difference of a tensor or scalar.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Parting {
    /// Name of the tensor or tag.
    pub name: String,
    /// Rank.
    pub rank: u32,
    /// Role of a tensor; `null` for a scalar.
    pub role: Option<Role>,
    /// Step of the base.
    pub step: i64,
    /// Step of the other run.
    pub other_step: i64,
    /// Relative difference; NaN or infinite if only one of them has such elements, infinite for other shapes.
    #[serde(with = "float")]
    #[cfg_attr(feature = "openapi", schema(value_type = crate::openapi::Float))]
    pub difference: f64,
    /// Value of the base, for a scalar.
    #[serde(with = "float::option")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::openapi::Float>))]
    pub base_value: Option<f64>,
    /// Value of the other run, for a scalar.
    #[serde(with = "float::option")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::openapi::Float>))]
    pub other_value: Option<f64>,
    /// `true` if the difference is one of statistics, not of elements.
    pub by_statistics: bool,
}

/// A scalar of both runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ScalarDifference {
    /// Tag.
    pub tag: String,
    /// Rank.
    pub rank: u32,
    /// First step beyond the tolerance.
    pub parts: Option<i64>,
    /// Number of compared points.
    pub points: u64,
    /// Last compared step.
    pub last_step: Option<i64>,
    /// Value of the base there.
    #[serde(with = "float::option")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::openapi::Float>))]
    pub base_last: Option<f64>,
    /// Value of the other run there.
    #[serde(with = "float::option")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::openapi::Float>))]
    pub other_last: Option<f64>,
}

/// Names in one run only.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Names {
    /// Number of all.
    pub total: u64,
    /// Tensors, the first [`MAX_ROWS`].
    pub tensors: Vec<String>,
    /// Tags of scalars, the first [`MAX_ROWS`].
    pub scalars: Vec<String>,
}

/// A tensor or file that could not be compared.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CompareFault {
    /// Path of the file for display, or name of the tensor.
    pub place: String,
    /// Offset in the file, bytes.
    pub offset: u64,
    /// Description.
    pub reason: String,
}

/// A setting of all runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Setting {
    /// Key of its column in the table of runs.
    pub key: String,
    /// `parameter`, `data` or `result`.
    pub group: SettingGroup,
    /// Values in the order of the runs; `null` if a run has none, which is not the same as an empty text.
    pub values: Vec<Option<HparamValue>>,
    /// `true` if they differ. Numbers of which one is the other in single precision are equal.
    pub differs: bool,
    /// `true` for places on a disk.
    pub is_path: bool,
}

/// Group of a setting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum SettingGroup {
    /// A parameter of the training.
    #[default]
    Parameter,
    /// The data, and the model as it was stored.
    Data,
    /// A value that the training or its evaluation reached, from the lineage.
    Result,
}

/// A configuration file, or a setting of several lines, of the base and of another run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ConfigurationFile {
    /// Path below the folder of both runs, or key of the setting.
    pub path: String,
    /// Name of the other run.
    pub run: String,
    /// Changed lines with some before and after them; empty if the files are equal.
    pub lines: Vec<ChangedLine>,
    /// `true` if lines were left out at the end.
    pub cut: bool,
}

/// A line of a difference of files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ChangedLine {
    /// File that has the line.
    pub side: LineSide,
    /// Number in the base, from 1.
    pub base_line: Option<u64>,
    /// Number in the other file, from 1.
    pub other_line: Option<u64>,
    /// The line.
    pub text: String,
}

/// File that has a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum LineSide {
    /// Both.
    #[default]
    Both,
    /// That of the base only.
    Base,
    /// That of the other run only.
    Other,
}

/// Hits of watchpoints in the base and another run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FindingsDifference {
    /// `true` if both runs were judged.
    pub judged: bool,
    /// Each hit, those in one run only first, each kind by step.
    pub rows: Vec<FindingDifference>,
    /// Hits in the base only, in the other run only, and in both: the first and the last are all of the base.
    pub counts: [Counts; 3],
}

/// A hit of a watchpoint in one or both of two runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FindingDifference {
    /// Condition.
    pub title: Sentence,
    /// Severity.
    pub severity: Severity,
    /// Tensor or scalar.
    pub tensor: String,
    /// Rank.
    pub rank: u32,
    /// First step in the base.
    pub base_step: Option<i64>,
    /// First step in the other run.
    pub other_step: Option<i64>,
}

/// Graphs of two runs; above the limit only `nodes` and `limit` are set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GraphFacts {
    /// Number of nodes of the base and of the other run.
    pub nodes: [u64; 2],
    /// Maximum number of nodes of a compared graph, if one of the two has more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// Consecutive nodes in the order of the data.
    pub cells: Vec<GraphCell>,
    /// Number of nodes in a cell.
    pub nodes_in_cell: u64,
    /// Types of nodes in the base only, with their number; the most frequent first.
    pub only_base: Vec<(String, u64)>,
    /// Types of nodes in the other run only.
    pub only_other: Vec<(String, u64)>,
    /// Number of nodes in both that differ.
    pub changed: u64,
}

/// Consecutive nodes of two graphs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GraphCell {
    /// Equal nodes.
    pub same: u64,
    /// Nodes in both that differ.
    pub changed: u64,
    /// Nodes of the base only.
    pub only_base: u64,
    /// Nodes of the other run only.
    pub only_other: u64,
}

/// Data pipelines of two runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PipelineFacts {
    /// Differences in the order of the data.
    pub differences: Vec<PipelineDifference>,
    /// Number of operations of the base and of the other run.
    pub operations: [u64; 2],
}

/// Difference of an operation of two data pipelines.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PipelineDifference {
    /// Name of the operation.
    pub operation: String,
    /// Index in the pipeline of the base; `null` if it is in the other run only.
    pub base_place: Option<u64>,
    /// Index in the pipeline of the other run; `null` if it is in the base only.
    pub other_place: Option<u64>,
    /// Parameters that differ.
    pub parameters: Vec<ParameterDifference>,
}

/// Parameter of an operation with different values.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ParameterDifference {
    /// Name.
    pub name: String,
    /// Value in the base; `null` if it has none.
    pub base: Option<String>,
    /// Value in the other run.
    pub other: Option<String>,
    /// `true` for places on a disk.
    pub is_path: bool,
}

/// Names of runs as one value of a query.
pub fn join_runs<'a>(runs: impl IntoIterator<Item = &'a str>) -> String {
    let escaped = runs
        .into_iter()
        .map(|run| run.replace('%', "%25").replace(',', "%2C"));
    escaped.collect::<Vec<_>>().join(",")
}

/// Names of runs from a value of a query, without duplicates.
pub fn split_runs(value: &str) -> Vec<String> {
    let mut runs: Vec<String> = Vec::new();
    for run in value.split(',').filter(|run| !run.is_empty()) {
        let run = run.replace("%2C", ",").replace("%25", "%");
        if !runs.contains(&run) {
            runs.push(run);
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_runs_survive() {
        let runs = ["a,b", "50%2C", "a/b", "中"];
        assert_eq!(split_runs(&join_runs(runs)), runs);
        assert_eq!(split_runs("a,,a,b"), ["a", "b"]);
    }
}
