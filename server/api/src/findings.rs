//! `GET /api/findings`: what watchpoints have found in one run.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use trainscope_format::Severity;
use trainscope_format::digits::{Operator, Unit};
use trainscope_format::float::Float;

/// Hits of one answer unless asked otherwise.
pub const DEFAULT_HITS: usize = 500;
/// Hits of one answer at most.
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
    /// Hits to leave out at the beginning.
    #[serde(default)]
    pub from: usize,
    /// Instead of `from`: lines to leave out, in a list in which each step of each rank has a line above its hits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// A hit to tell in any case, by its [`Hit::key`]: see [`Findings::wanted`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hit: Option<String>,
    /// Most hits wanted, 1 to [`MAX_HITS`]; [`DEFAULT_HITS`] if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
}

/// What was found in a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Findings {
    /// Whether the run has been judged, and whether it has grown since.
    pub state: Judging,
    /// How far it is, if it is being judged anew from its first record on.
    pub progress: Option<Progress>,
    /// The state of the run as a whole.
    pub verdict: Verdict,
    /// The verdict as a sentence, with how much was checked.
    pub summary: Words,
    /// Where it began, if anything is wrong.
    pub first_cause: Option<FirstCause>,
    /// Hits that are asked for: by step, then by rank, then in the order of data flow.
    pub hits: Vec<Hit>,
    /// Hits that are asked for, however many are sent.
    pub total: u64,
    /// Lines of all hits that are asked for, with one above the hits of each step of each rank.
    pub lines: u64,
    /// The line of the first hit that is sent.
    pub first_line: u64,
    /// Whether that hit is the first one of its step and rank.
    pub starts_group: bool,
    /// The hit that was to be told in any case, if there is such a one.
    pub wanted: Option<WantedHit>,
    /// Ranks that have hits, the first 1,000.
    pub ranks: Vec<u32>,
    /// Hits of each severity in the whole run.
    pub counts: Counts,
    /// What could not be judged.
    pub inconclusive: Vec<Inconclusive>,
    /// Tensors that were not judged, since their elements are of a type that is not computed with.
    pub unread: Vec<UnreadTensor>,
    /// Files of one step that hold tensors of the same names, while no step in their names tells them apart.
    pub shared: Vec<SharedNames>,
    /// What is said of the model and of what feeds it, one for each rule, in the order in which to look.
    pub remarks: Vec<Remark>,
    /// Parts of files that could not be read.
    pub damaged: Vec<DamagedPlace>,
    /// How much was judged.
    pub judged: Judged,
    /// What was watched for.
    pub watchpoints: Vec<Watched>,
    /// Where the watchpoints come from: a path, or nothing if they are the recommended ones.
    pub watchpoints_file: Option<String>,
    /// What is wrong with that file, if it cannot be used; the watchpoints before it count.
    pub watchpoints_problem: Option<String>,
}

/// A tensor of a type that is not computed with: complex numbers, text, some 4-bit and 8-bit numbers.
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

/// A hit, and where it stands in the list that is asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WantedHit {
    /// The hit.
    pub hit: Hit,
    /// Its line; nothing if it is not among those that are asked for.
    pub line: Option<u64>,
}

/// How much of a run's files has been judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Progress {
    /// Bytes that are read.
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
    /// Whose hits are told.
    #[serde(default)]
    pub rank: u32,
    /// The step whose hits are told.
    pub step: i64,
}

/// Layers of one side, and tensors of the layer itself, of one answer at most.
pub const MAX_NEIGHBOURS: usize = 12;

/// What lies around a tensor, [`MAX_NEIGHBOURS`] on each side.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Neighbours {
    /// What it is computed from.
    pub upstream: Vec<Neighbour>,
    /// Tensors of the same layer, itself among them.
    pub own: Vec<Neighbour>,
    /// What is computed from it.
    pub downstream: Vec<Neighbour>,
    /// Whether no graph says so: layers are in the order in which they run, as far as that is known, else in that of
    /// recording.
    pub is_guessed: bool,
    /// Whether some were left out.
    pub cut: bool,
}

/// A tensor near to another one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Neighbour {
    /// Its layer.
    pub layer: String,
    /// The tensor: of another layer one that flows the same way, and of these the one that is worst at that step.
    pub tensor: String,
    /// The worst hit of it at that step, if there is one.
    pub severity: Option<Severity>,
    /// What that hit says, in a line.
    pub says: Option<Words>,
}

/// How far the judgement is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Judging {
    /// It has not been judged yet.
    #[default]
    Waiting,
    /// It has grown since it was judged; what is answered is from before.
    Behind,
    /// It is judged as it is.
    Done,
}

/// Text in the languages of the pages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Words {
    /// English.
    pub en: String,
    /// Chinese.
    pub zh: String,
}

/// The first thing that went wrong; the rest may follow from it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FirstCause {
    /// The hit itself.
    pub hit: Hit,
    /// Its line in the list that is asked for; nothing if it is not on that.
    pub line: Option<u64>,
    /// How many hits it explains.
    pub explains: u64,
    /// What happened, as a sentence.
    pub sentence: Words,
    /// What most likely helps, as a sentence.
    pub advice: Words,
}

/// A condition that holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Hit {
    /// The id of the condition.
    pub condition: String,
    /// Which watchpoint, as an index into [`Findings::watchpoints`].
    pub watchpoint: u32,
    /// Watchpoints of the same condition before that one.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub nth: u32,
    /// How bad it is.
    pub severity: Severity,
    /// Whose value it is.
    pub rank: u32,
    /// Since when.
    pub step: i64,
    /// Until when, as far as was recorded.
    pub last_step: i64,
    /// The tensor, or the tag of the scalar.
    pub tensor: String,
    /// The operation or module that computes it, as far as that is known.
    pub node: Option<String>,
    /// What was found, by the name of the parameter that limits it.
    #[cfg_attr(feature = "openapi", schema(value_type = BTreeMap<String, crate::openapi::Float>))]
    pub values: BTreeMap<String, Float>,
    /// The limits that were in force, by the same names.
    #[cfg_attr(feature = "openapi", schema(value_type = BTreeMap<String, crate::openapi::Float>))]
    pub thresholds: BTreeMap<String, Float>,
    /// The same with quantity, operator and unit: one for each limit that was broken.
    #[serde(default)]
    pub measures: Vec<Measure>,
    /// What was found, as a sentence.
    pub sentence: Words,
    /// How many hits follow from it: of the whole run, if everything began with it; of its step and rank, if that did.
    pub explains: Option<u64>,
    /// Where the training's own code computes it: file and line, as far as a graph says.
    pub source: Option<(String, u32)>,
}

/// A measured quantity beside the limit that it broke.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Measure {
    /// Its key in `values` and `thresholds`.
    pub name: String,
    /// Measured quantity.
    pub quantity: Words,
    /// The relation of value and limit that is a hit.
    pub operator: Operator,
    /// The unit of value and limit.
    pub unit: Unit,
    /// The measured value.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::openapi::Float))]
    pub value: Float,
    /// The limit that was in force; nothing for counts of which a single one is a hit.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::openapi::Float>))]
    pub limit: Option<Float>,
    /// The number of elements of which `value` is a part.
    pub of: Option<u64>,
    /// Quantity and value as text: `mean |x| 3e−8`, `48 of 80 NaN`.
    pub found: Words,
    /// Operator and limit as text: `< 1e−7`.
    pub threshold: String,
}

impl Hit {
    /// What tells it apart in its run: `rank:step:watchpoint:tensor`, with the [`watchpoint_name`]. Tensors may hold
    /// colons, the others do not.
    pub fn key(&self) -> String {
        let watchpoint = watchpoint_name(&self.condition, self.nth);
        format!("{}:{}:{watchpoint}:{}", self.rank, self.step, self.tensor)
    }
}

/// What a watchpoint is called in addresses: its condition, with `~2` behind it if it is the second one of that. It stays
/// the same when others are added and taken away.
pub fn watchpoint_name(condition: &str, nth: u32) -> String {
    match nth {
        0 => condition.to_owned(),
        nth => format!("{condition}~{}", nth.saturating_add(1)),
    }
}

fn is_zero<N: PartialEq + Default>(number: &N) -> bool {
    *number == N::default()
}

/// What `start --on-hit` and `--webhook` tell of a hit while a run grows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HitNotice {
    /// Name of the run.
    pub run: String,
    /// What its watchpoint says, in a line.
    pub title: Words,
    /// The hit.
    pub hit: Hit,
    /// What to do about it.
    pub advice: Words,
}

/// A condition that can neither be said to hold nor not to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Inconclusive {
    /// The id of the condition.
    pub condition: String,
    /// Whose value it is.
    pub rank: u32,
    /// At which step first.
    pub step: i64,
    /// The tensor, or the tag of the scalar; empty if it is about the whole run.
    pub tensor: String,
    /// What is missing: `no_previous`, `no_exponents`, …
    pub reason: String,
    /// At how many steps.
    pub steps: u64,
}

/// What a rule about the model, or about what feeds it, has to say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Remark {
    /// The rule: `loss_activation`, `broadcast`, `unused_parameters`, `useless_bias`, `settings`, `shuffling`, `scaling`.
    pub rule: String,
    /// What it is about.
    pub topic: RemarkTopic,
    /// What it says.
    pub state: RemarkState,
    /// What was found, or what would have to be recorded to tell.
    pub sentence: Words,
    /// The node of the graph that it is about first.
    pub node: Option<String>,
    /// In how many places; 0 where nothing was found.
    pub places: u64,
    /// A line of code that records what is missing; empty if nothing is.
    pub record: String,
}

/// What a remark is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum RemarkTopic {
    /// Learning rate, batch size, momentum.
    Hyperparameters,
    /// The graph.
    Model,
    /// What is fed.
    Input,
}

/// What a rule says; the worse, the later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum RemarkState {
    /// It could not be judged.
    Unknown,
    /// Nothing is odd.
    Fine,
    /// Worth knowing; it harms nothing.
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
    /// Where, in bytes.
    pub offset: u64,
    /// What is wrong there.
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
    /// What is worth knowing.
    pub info: u64,
}

/// The state of a run as a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Verdict {
    /// Nothing was checked.
    #[default]
    Nothing,
    /// Nothing was found, and either no tensor was checked, or of some only histograms, which tell NaN and infinities alone.
    InPart,
    /// Nothing was found in tensors, and in whatever scalars there are.
    NoProblem,
    /// There is a warning or an error.
    Problem,
}

/// How much was judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Judged {
    /// Tensors that a watchpoint is about, each rank's by itself.
    pub tensors: u64,
    /// Tensors of which only histograms were recorded: NaN and infinities alone were judged.
    #[serde(default)]
    pub histograms: u64,
    /// Scalars that a watchpoint is about, each rank's by itself.
    pub scalars: u64,
    /// Points of scalars that a restart or the next epoch has overwritten: judged for NaN and infinities alone.
    #[serde(default)]
    pub overwritten: u64,
    /// Tensors that no watchpoint is about.
    #[serde(default)]
    pub unwatched: u64,
    /// Steps at which anything was seen; 0 if nothing of it was judged.
    pub steps: u64,
    /// Ranks.
    pub ranks: u64,
}

/// A watchpoint that was judged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Watched {
    /// The id of its condition.
    pub condition: String,
    /// What it says, in a line; the name that somebody gave it, if there is one.
    pub title: Words,
    /// What it is about: `tensor`, `weight`, `gradient`, `activation`, `scalar`, `run`.
    pub target: String,
    /// Its limits that are on.
    #[cfg_attr(feature = "openapi", schema(value_type = BTreeMap<String, crate::openapi::Float>))]
    pub limits: BTreeMap<String, Float>,
    /// Whether it is judged at all.
    pub is_on: bool,
    /// True if anything was recorded that it is about; otherwise that it has no hits says nothing.
    #[serde(default)]
    pub has_data: bool,
    /// Default severity of a hit.
    pub severity: Severity,
    /// The worst severity of its hits; nothing if it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worst: Option<Severity>,
    /// Its hits.
    pub hits: u64,
    /// Tensors and scalars that it could not judge at some step, each rank's by itself.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unjudged: u64,
    /// What to do about one.
    pub advice: Words,
}

/// How a run is, in the list of runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Health {
    /// Hits by severity.
    pub counts: Counts,
    /// Where it began, if anything is wrong.
    pub first: Option<FirstHit>,
    /// The state of the run as a whole.
    #[serde(default)]
    pub verdict: Verdict,
    /// The verdict as a sentence, with how much was checked.
    #[serde(default)]
    pub summary: Words,
}

/// The first thing that went wrong, in a few words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FirstHit {
    /// The id of the condition.
    pub condition: String,
    /// How bad it is.
    pub severity: Severity,
    /// What it says, in a line.
    pub title: Words,
    /// When.
    pub step: i64,
    /// Where.
    pub tensor: String,
    /// Whose.
    pub rank: u32,
}
