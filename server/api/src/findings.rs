//! `GET /api/findings`: hits of the watchpoints of one run.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use trainscope_format::float::Float;
use trainscope_format::{Severity, SourceLine};

pub mod guide;
mod measure;
mod series;

use crate::Sentence;
use crate::omitted::is_zero;
use crate::program::ProgramPart;
use guide::{GuideRow, Topic};
pub use measure::Measure;
pub use series::HitSeries;

/// Hits of one answer by default.
pub const DEFAULT_HITS: usize = 500;
/// Maximum number of hits in one answer.
pub const MAX_HITS: usize = 5_000;

/// The query of `GET /api/findings`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams), into_params(parameter_in = Query))]
pub struct FindingsQuery {
    /// Name of the run.
    pub run: String,
    /// Hits of this severity only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<Severity>,
    /// Hits of this watchpoint only: its condition, with `~2` behind it for the second one of that condition; or an index
    /// into [`Findings::watchpoints`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watchpoint: Option<String>,
    /// Hits of this rank only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
    /// Hits that last until this step or longer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_step: Option<i64>,
    /// Hits that begin at this step or earlier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_step: Option<i64>,
    /// Hits whose tensor, node or condition contains this text, in any case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<String>,
    /// Number of hits to skip at the beginning.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub from: usize,
    /// Alternative to `from`: number of lines to skip, in a list with one line above the hits of each step and rank.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// Lists equal hits of consecutive steps as one: see [`HitSeries`]. Those written out, as `rank:step` of their first
    /// step, with commas between them. Left out: all are written out, and there is no series.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open: Option<String>,
    /// [`Hit::key`] of a hit to return in any case: see [`Findings::wanted`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hit: Option<String>,
    /// Maximum number of hits, 1 to [`MAX_HITS`]; [`DEFAULT_HITS`] if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
}

/// Findings in a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Findings {
    /// State of the judgement: waiting, behind or done.
    pub state: JudgementState,
    /// Progress of judging the run again from its first record, if that is running.
    pub progress: Option<Progress>,
    /// The state of the run as a whole.
    pub verdict: Verdict,
    /// The verdict in sentences, with the number of tensors and scalars checked. It begins with `damage`.
    pub summary: Sentence,
    /// Files that could not be read in full, as a sentence; `null` if there are none.
    #[serde(default)]
    pub damage: Option<Sentence>,
    /// Facts about the files that explain the curves: several attempts, a step counter that overflowed.
    #[serde(default)]
    pub about_files: Vec<Sentence>,
    /// First cause, if anything is wrong.
    pub first_cause: Option<FirstCause>,
    /// Hits that match the query: by step, then by rank, then in the order of data flow.
    pub hits: Vec<Hit>,
    /// Number of hits that match the query, including those left out.
    pub total: u64,
    /// Number of lines of all matching hits, with one line above the hits of each step and rank, and one above each series
    /// that is written out.
    pub lines: u64,
    /// Line of the first hit returned.
    pub first_line: u64,
    /// `true` if that hit is the first one of its step and rank.
    pub starts_group: bool,
    /// Equal hits of consecutive steps that hits returned are a part of.
    #[serde(default)]
    pub series: Vec<HitSeries>,
    /// The hit that was requested by its key, if it exists.
    pub wanted: Option<WantedHit>,
    /// Ranks with hits, the first 1,000.
    pub ranks: Vec<u32>,
    /// Hits of each severity in the whole run.
    pub counts: Counts,
    /// Values that could not be judged.
    pub inconclusive: Vec<Inconclusive>,
    /// Tensors that were not judged because their element type is not supported.
    pub unread: Vec<UnreadTensor>,
    /// Files of one step that hold tensors of the same names, where no step in the file names distinguishes them.
    pub shared: Vec<SharedNames>,
    /// Remarks on the model, its input and the program: one for each rule or subject of it, in the order in which to check them.
    pub remarks: Vec<Remark>,
    /// Rows of the guided diagnosis, one for each topic, in the order in which to check them.
    #[serde(default)]
    pub guide: Vec<GuideRow>,
    /// Parts of files that could not be read.
    pub damaged: Vec<DamagedPlace>,
    /// Numbers of tensors, scalars, steps and ranks judged.
    pub judged: Coverage,
    /// Watchpoints that were judged.
    pub watchpoints: Vec<WatchpointResult>,
    /// Path of the watchpoints file; `null` for the recommended watchpoints.
    pub watchpoints_file: Option<String>,
    /// Error in that file, if it cannot be used; the watchpoints before the error apply.
    pub watchpoints_problem: Option<String>,
}

/// A tensor of an element type that is not supported: complex numbers, text, some 4-bit and 8-bit numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct UnreadTensor {
    /// Rank that recorded it.
    pub rank: u32,
    /// Its name.
    pub tensor: String,
    /// Name of the type.
    pub dtype: String,
    /// First step at which it was recorded.
    pub step: i64,
    /// Number of steps at which it was recorded.
    pub steps: u64,
}

/// Files of one step that hold tensors of the same names. Their tensors are listed under the names of the files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SharedNames {
    /// Rank that wrote them.
    pub rank: u32,
    /// The step.
    pub step: i64,
    /// Number of the files.
    pub files: u64,
    /// Paths of the first three.
    pub examples: Vec<String>,
    /// A tensor in several of them.
    pub tensor: String,
    /// Number of such tensors.
    pub tensors: u64,
}

/// A hit with its position in the filtered list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WantedHit {
    /// The hit.
    pub hit: Hit,
    /// Its line; `null` if it does not match the query.
    pub line: Option<u64>,
}

/// Progress of judging a run, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Progress {
    /// Bytes read.
    pub done_bytes: u64,
    /// Bytes of all files.
    pub total_bytes: u64,
}

/// The query of `GET /api/neighbours`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams), into_params(parameter_in = Query))]
pub struct NeighboursQuery {
    /// Name of the run.
    pub run: String,
    /// Name of the tensor.
    pub tensor: String,
    /// Rank whose hits are reported.
    #[serde(default)]
    pub rank: u32,
    /// Step whose hits are reported.
    pub step: i64,
}

/// Maximum number of layers on each side, and of tensors of the layer itself.
pub const MAX_NEIGHBOURS: usize = 12;

/// Layers before and after a tensor, [`MAX_NEIGHBOURS`] on each side.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Neighbours {
    /// Layers that it is computed from.
    pub upstream: Vec<Neighbour>,
    /// Tensors of the same layer, including itself.
    pub own: Vec<Neighbour>,
    /// Layers that are computed from it.
    pub downstream: Vec<Neighbour>,
    /// `true` if no graph gives the order: then layers are in execution order where it is known, else in the order
    /// of recording.
    pub is_guessed: bool,
    /// `true` if layers or tensors were left out.
    pub cut: bool,
}

/// A tensor upstream or downstream of another one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Neighbour {
    /// Its layer.
    pub layer: String,
    /// The worst tensor of the layer at that step. Of other layers only tensors that flow in the same direction count.
    pub tensor: String,
    /// Severity of its worst hit at that step, if there is one.
    pub severity: Option<Severity>,
    /// Title of that hit.
    pub says: Option<Sentence>,
}

/// State of the judgement of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum JudgementState {
    /// Not judged yet.
    #[default]
    Waiting,
    /// The run has grown since it was judged; the findings are those of before.
    Behind,
    /// Judged up to its last record.
    Done,
}

/// The first cause; other hits may follow from it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FirstCause {
    /// The hit itself.
    pub hit: Hit,
    /// Its line in the filtered list; `null` if it does not match the filter.
    pub line: Option<u64>,
    /// Number of hits that it explains.
    pub explains: u64,
    /// Description of the event, as a sentence.
    pub sentence: Sentence,
    /// Most likely remedy, as a sentence.
    pub advice: Sentence,
}

/// A condition that was met.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Hit {
    /// The id of the condition.
    pub condition: String,
    /// Index of the watchpoint in [`Findings::watchpoints`].
    pub watchpoint: u32,
    /// Number of watchpoints of the same condition before that one.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub nth: u32,
    /// Severity.
    pub severity: Severity,
    /// Rank that recorded it.
    pub rank: u32,
    /// First step of the hit.
    pub step: i64,
    /// Last recorded step of the hit.
    pub last_step: i64,
    /// The tensor, or the tag of the scalar.
    pub tensor: String,
    /// The operation or module that computes it, if known.
    pub node: Option<String>,
    /// Measured values, by the name of the parameter that limits them.
    #[cfg_attr(feature = "openapi", schema(value_type = BTreeMap<String, crate::openapi::Float>))]
    pub values: BTreeMap<String, Float>,
    /// The limits in force, by the same names.
    #[cfg_attr(feature = "openapi", schema(value_type = BTreeMap<String, crate::openapi::Float>))]
    pub thresholds: BTreeMap<String, Float>,
    /// The same with quantity, operator and unit: one for each limit exceeded.
    #[serde(default)]
    pub measures: Vec<Measure>,
    /// The finding as a sentence.
    pub sentence: Sentence,
    /// Number of hits that follow from it: in the whole run for the first cause, in its step and rank for the first
    /// cause of those.
    pub explains: Option<u64>,
    /// Line of the training's own code that it is about: from a fact of the program, or from the graph that computes it.
    #[serde(default)]
    pub source: Option<SourceLine>,
}

impl Hit {
    /// Key of the hit, unique in its run: `rank:step:watchpoint:tensor`, with the [`watchpoint_name`]. Only tensor
    /// names may contain colons.
    pub fn key(&self) -> String {
        let watchpoint = watchpoint_name(&self.condition, self.nth);
        format!("{}:{}:{watchpoint}:{}", self.rank, self.step, self.tensor)
    }
}

/// Name of a watchpoint in URLs: its condition, with `~2` appended for the second one of that condition. It does not
/// change when watchpoints of other conditions are added or removed.
pub fn watchpoint_name(condition: &str, nth: u32) -> String {
    match nth {
        0 => condition.to_owned(),
        nth => format!("{condition}~{}", nth.saturating_add(1)),
    }
}

/// Notification of a hit in a growing run, as sent by `start --on-hit` and `--webhook`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HitNotice {
    /// Name of the run.
    pub run: String,
    /// Id of the session that records the run, see [`crate::runs::Run::session`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Title of its watchpoint.
    pub title: Sentence,
    /// The hit.
    pub hit: Hit,
    /// Recommended action.
    pub advice: Sentence,
}

/// A condition that could not be evaluated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Inconclusive {
    /// The id of the condition.
    pub condition: String,
    /// Rank that recorded it.
    pub rank: u32,
    /// First step at which it could not be evaluated.
    pub step: i64,
    /// The tensor, or the tag of the scalar; empty if it is about the whole run.
    pub tensor: String,
    /// Missing data: `no_previous`, `no_exponents`, …
    pub reason: String,
    /// The missing data in words.
    #[serde(default)]
    pub words: Sentence,
    /// Number of such steps.
    pub steps: u64,
}

/// Result of a rule about the model, its input or its hyper-parameters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Remark {
    /// The rule, which is also the id of its condition: `settings`, `loss_activation`, `gradients_not_cleared`, …
    pub rule: String,
    /// Topic of the rule.
    pub topic: Topic,
    /// Subject of the rule.
    #[serde(default)]
    pub title: Sentence,
    /// Result.
    pub state: RemarkState,
    /// The finding, or the data that would have to be recorded to judge it.
    pub sentence: Sentence,
    /// The first graph node concerned.
    pub node: Option<String>,
    /// Part of the program that the rule is about; `null` for other rules.
    #[serde(default)]
    pub part: Option<ProgramPart>,
    /// Line of the program, if a fact of it names one.
    #[serde(default)]
    pub source: Option<SourceLine>,
    /// Number of places; 0 if there is no finding.
    pub places: u64,
    /// A line of code that records the missing data; empty if none is missing.
    pub record: String,
}

/// Result of a rule, in ascending order of severity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum RemarkState {
    /// It could not be judged.
    Unknown,
    /// No problem.
    Fine,
    /// Worth knowing, but harmless.
    Note,
    /// It most likely harms the training.
    Fault,
}

/// A part of a file that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DamagedPlace {
    /// The file.
    pub file: String,
    /// Offset in bytes.
    pub offset: u64,
    /// Description of the damage.
    pub reason: String,
}

/// Numbers of hits by severity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Counts {
    /// Errors.
    pub error: u64,
    /// Warnings.
    pub warning: u64,
    /// Notes.
    pub info: u64,
}

impl Counts {
    /// Errors and warnings: the number of hits of a run on every page, which names notes beside it.
    pub const fn problems(self) -> u64 {
        self.error + self.warning
    }

    /// Hits of every severity.
    pub const fn all(self) -> u64 {
        self.problems() + self.info
    }

    /// Adds a hit.
    pub const fn add(&mut self, severity: Severity) {
        match severity {
            Severity::Error => self.error += 1,
            Severity::Warning => self.warning += 1,
            Severity::Info => self.info += 1,
        }
    }
}

/// The state of a run as a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Verdict {
    /// Nothing was checked.
    #[default]
    Nothing,
    /// No problem, but either no tensor was checked, or only histograms were recorded for some, which show NaN, Inf and
    /// unchanged weights only, or files could not be read in full, or weights are the same in too few steps, or the
    /// tensors of a training were recorded at one step only.
    InPart,
    /// No problem in tensors, nor in scalars if there are any.
    NoProblem,
    /// At least one warning or error.
    Problem,
}

/// Amount of data judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Coverage {
    /// Tensors that a watchpoint applies to, counted per rank.
    pub tensors: u64,
    /// Tensors with histograms only: checked for NaN, Inf and unchanged weights only.
    #[serde(default)]
    pub histograms: u64,
    /// Scalars that a watchpoint applies to, counted per rank.
    pub scalars: u64,
    /// Points of scalars that a restart or the next epoch has overwritten: judged for NaN and infinities alone.
    #[serde(default)]
    pub overwritten: u64,
    /// Tensors that no watchpoint applies to.
    #[serde(default)]
    pub unwatched: u64,
    /// Profiles, one for each rank.
    #[serde(default)]
    pub profiles: u64,
    /// Steps with records; 0 if nothing was judged.
    pub steps: u64,
    /// Ranks.
    pub ranks: u64,
}

/// A watchpoint that was judged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WatchpointResult {
    /// The id of its condition.
    pub condition: String,
    /// Title; the name that the user gave it, if there is one.
    pub title: Sentence,
    /// Target: `tensor`, `weight`, `gradient`, `activation`, `scalar`, `run`.
    pub target: String,
    /// `true` if its hits are NaN and infinities.
    #[serde(default)]
    pub finds_not_finite: bool,
    /// Active limits.
    #[cfg_attr(feature = "openapi", schema(value_type = BTreeMap<String, crate::openapi::Float>))]
    pub limits: BTreeMap<String, Float>,
    /// `true` if the watchpoint is enabled.
    pub is_on: bool,
    /// `true` if the run has data that it applies to; otherwise the absence of hits means nothing.
    #[serde(default)]
    pub has_data: bool,
    /// Default severity of a hit.
    pub severity: Severity,
    /// The worst severity of its hits; `null` if it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worst: Option<Severity>,
    /// Its hits.
    pub hits: u64,
    /// Tensors and scalars that it could not judge at some step, counted per rank.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unjudged: u64,
    /// Recommended action for a hit.
    pub advice: Sentence,
}

/// Health of a run, in the list of runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Health {
    /// Hits by severity.
    pub counts: Counts,
    /// First cause, if anything is wrong.
    pub first: Option<FirstHit>,
    /// The state of the run as a whole.
    #[serde(default)]
    pub verdict: Verdict,
    /// The verdict as a sentence, with the number of tensors and scalars checked.
    #[serde(default)]
    pub summary: Sentence,
}

/// The first cause in brief.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FirstHit {
    /// The id of the condition.
    pub condition: String,
    /// Severity.
    pub severity: Severity,
    /// Title.
    pub title: Sentence,
    /// Step of the hit.
    pub step: i64,
    /// The tensor, or the tag of the scalar.
    pub tensor: String,
    /// Rank that recorded it.
    pub rank: u32,
}
