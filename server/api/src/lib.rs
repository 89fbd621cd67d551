//! Types shared by server and browser: paths, requests and answers of the HTTP API.
//!
//! Numbers that may be NaN or infinite are written as `"NaN"`, `"Infinity"`, `"-Infinity"`. Every list is bounded and
//! has a `cut` that is `true` if something was left out. A run is a relative path that contains `/`, hence a query
//! parameter.

pub mod compare;
pub mod distributions;
pub mod error;
pub mod filter;
pub mod findings;
pub mod graphs;
pub mod importance;
pub mod landscape;
pub mod live;
pub mod markdown;
mod non_finite;
pub mod notebook;
mod omitted;
#[cfg(feature = "openapi")]
mod openapi;
pub mod order;
pub mod pipeline;
pub mod profile;
pub mod program;
pub mod records;
pub mod runs;
pub mod scalars;
mod sentence;
pub mod sessions;
pub mod status;
pub mod table;
pub mod tags;
pub mod tensors;
pub mod timeline;
pub mod watchpoints;

pub use findings::guide;
pub use sentence::Sentence;

/// The paths of the API, below the server's prefix.
pub mod paths {
    /// `GET`: [`Status`](crate::status::Status).
    pub const STATUS: &str = "/api/status";
    /// `GET`: [`RunList`](crate::runs::RunList).
    pub const RUNS: &str = "/api/runs";
    /// `GET ?run=`: [`TagList`](crate::tags::TagList).
    pub const TAGS: &str = "/api/tags";
    /// `GET` with [`ScalarsQuery`](crate::scalars::ScalarsQuery): [`Series`](crate::scalars::Series);
    /// `POST` [`ScalarsRequest`](crate::scalars::ScalarsRequest): [`ScalarsAnswer`](crate::scalars::ScalarsAnswer).
    pub const SCALARS: &str = "/api/scalars";
    /// `GET` with [`RecordsQuery`](crate::records::RecordsQuery), as all kinds of records below: histograms.
    pub const HISTOGRAMS: &str = "/api/histograms";
    /// `POST` [`DistributionsRequest`](crate::distributions::DistributionsRequest):
    /// [`DistributionsAnswer`](crate::distributions::DistributionsAnswer).
    pub const DISTRIBUTIONS: &str = "/api/distributions";
    /// `GET`: images.
    pub const IMAGES: &str = "/api/images";
    /// `GET`: audio clips.
    pub const AUDIO: &str = "/api/audio";
    /// `GET`: text.
    pub const TEXT: &str = "/api/text";
    /// `GET`: text as [`Markdown`](crate::markdown::Markdown).
    pub const MARKDOWN: &str = "/api/markdown";
    /// `GET`: tensors recorded in full.
    pub const TENSORS: &str = "/api/tensors";
    /// `GET` with [`TensorIndexQuery`](crate::tensors::TensorIndexQuery):
    /// [`TensorIndex`](crate::tensors::TensorIndex).
    pub const TENSOR_INDEX: &str = "/api/tensor_index";
    /// `GET` with [`TensorQuery`](crate::tensors::TensorQuery): [`TensorValues`](crate::tensors::TensorValues).
    pub const TENSOR: &str = "/api/tensor";
    /// `GET` with the same: [`TensorSlice`](crate::tensors::TensorSlice).
    pub const TENSOR_SUMMARY: &str = "/api/tensor_summary";
    /// `GET` with the same: a file.
    pub const TENSOR_FILE: &str = "/api/tensor_file";
    /// `GET` with [`TensorHistoryQuery`](crate::tensors::TensorHistoryQuery):
    /// [`TensorHistory`](crate::tensors::TensorHistory).
    pub const TENSOR_HISTORY: &str = "/api/tensor_history";
    /// `GET`: precision and recall.
    pub const PR_CURVES: &str = "/api/pr_curves";
    /// `GET`: layouts of scalar charts.
    pub const CUSTOM_SCALARS: &str = "/api/custom_scalars";
    /// `GET`: loss landscapes.
    pub const LANDSCAPES: &str = "/api/landscapes";
    /// `GET`: explanations of predictions.
    pub const EXPLANATIONS: &str = "/api/explanations";
    /// `GET`: statistics of tensors that were not recorded in full.
    pub const STATISTICS: &str = "/api/statistics";
    /// `GET`: spans and counters.
    pub const PROFILES: &str = "/api/profiles";
    /// `GET`: locations of tensor dumps.
    pub const DUMPS: &str = "/api/dumps";
    /// `GET`: conditions that the training program itself has reported.
    pub const RECORDED_HITS: &str = "/api/recorded_hits";
    /// `GET`: records that the training program could not write.
    pub const LOSSES: &str = "/api/losses";
    /// `GET` with [`FindingsQuery`](crate::findings::FindingsQuery): [`Findings`](crate::findings::Findings).
    pub const FINDINGS: &str = "/api/findings";
    /// `GET` with [`NeighboursQuery`](crate::findings::NeighboursQuery):
    /// [`Neighbours`](crate::findings::Neighbours).
    pub const NEIGHBOURS: &str = "/api/neighbours";
    /// `GET`: [`Catalogue`](crate::watchpoints::Catalogue).
    pub const CONDITIONS: &str = "/api/conditions";
    /// `GET ?run=`, `PUT` [`WatchpointsChange`](crate::watchpoints::WatchpointsChange):
    /// [`WatchpointList`](crate::watchpoints::WatchpointList).
    pub const WATCHPOINTS: &str = "/api/watchpoints";
    /// `POST` [`Recheck`](crate::watchpoints::Recheck): [`Progress`](crate::findings::Progress).
    pub const RECHECK: &str = "/api/recheck";
    /// `GET` with [`CompareQuery`](crate::compare::CompareQuery): [`Comparison`](crate::compare::Comparison).
    pub const COMPARE: &str = "/api/compare";
    /// `GET` with [`MapQuery`](crate::compare::MapQuery): [`DifferenceMap`](crate::compare::DifferenceMap).
    pub const COMPARE_MAP: &str = "/api/compare/map";
    /// `GET`, `PATCH`: [`Notebook`](crate::notebook::Notebook).
    pub const NOTEBOOK: &str = "/api/notebook";
    /// `GET ?run=`: [`Lineages`](crate::records::Lineages).
    pub const LINEAGE: &str = "/api/lineage";
    /// `POST` [`TableRequest`](crate::table::TableRequest): the bytes of a
    /// [`TableAnswer`](crate::table::TableAnswer), or [`TablePage`](crate::table::TablePage).
    pub const TABLE: &str = "/api/table";
    /// `GET`: [`TableColumns`](crate::table::TableColumns).
    pub const TABLE_COLUMNS: &str = "/api/table/columns";
    /// `GET` with [`RowQuery`](crate::table::RowQuery): [`RunRow`](crate::table::RunRow).
    pub const TABLE_ROW: &str = "/api/table/row";
    /// `GET` with [`PipelinesQuery`](crate::table::PipelinesQuery): [`PipelineKinds`](crate::table::PipelineKinds).
    pub const TABLE_PIPELINES: &str = "/api/table/pipelines";
    /// `POST` [`ImportanceRequest`](crate::importance::ImportanceRequest):
    /// [`ImportanceAnswer`](crate::importance::ImportanceAnswer).
    pub const IMPORTANCE: &str = "/api/importance";
    /// `POST` [`PairRequest`](crate::importance::PairRequest): [`PairAnswer`](crate::importance::PairAnswer).
    pub const IMPORTANCE_PAIR: &str = "/api/importance/pair";
    /// `GET ?run=`: [`LandscapeSettingsAnswer`](crate::landscape::LandscapeSettingsAnswer).
    pub const LANDSCAPE_SETTINGS: &str = "/api/landscape/settings";
    /// `GET ?run=`: [`PipelineAnswer`](crate::pipeline::PipelineAnswer).
    pub const PIPELINE: &str = "/api/pipeline";
    /// `GET ?run=`: [`ProgramFacts`](crate::program::ProgramFacts).
    pub const PROGRAM: &str = "/api/program";
    /// `GET` with [`ProfileQuery`](crate::profile::ProfileQuery), as the paths below unless they say otherwise:
    /// [`ProfileList`](crate::profile::ProfileList).
    pub const PROFILE: &str = "/api/profile";
    /// `GET`: [`ProfileOverview`](crate::profile::ProfileOverview).
    pub const PROFILE_OVERVIEW: &str = "/api/profile/overview";
    /// `GET` with [`OperatorsQuery`](crate::profile::OperatorsQuery):
    /// [`OperatorsAnswer`](crate::profile::OperatorsAnswer).
    pub const PROFILE_OPERATORS: &str = "/api/profile/operators";
    /// `GET` with [`OperatorQuery`](crate::profile::OperatorQuery): [`OperatorAnswer`](crate::profile::OperatorAnswer).
    pub const PROFILE_OPERATOR: &str = "/api/profile/operator";
    /// `GET` with [`MemoryQuery`](crate::profile::MemoryQuery): [`MemoryAnswer`](crate::profile::MemoryAnswer).
    pub const PROFILE_MEMORY: &str = "/api/profile/memory";
    /// `GET`: [`RanksAnswer`](crate::profile::RanksAnswer).
    pub const PROFILE_RANKS: &str = "/api/profile/ranks";
    /// `GET` with [`FlameQuery`](crate::profile::FlameQuery): [`FlameAnswer`](crate::profile::FlameAnswer).
    pub const PROFILE_FLAME: &str = "/api/profile/flame";
    /// `GET` with [`ProfileDiffQuery`](crate::profile::ProfileDiffQuery): [`ProfileDiff`](crate::profile::ProfileDiff).
    pub const PROFILE_DIFF: &str = "/api/profile/diff";
    /// `POST` with [`SqlRequest`](crate::profile::SqlRequest): [`SqlAnswer`](crate::profile::SqlAnswer).
    pub const PROFILE_SQL: &str = "/api/profile/sql";
    /// `GET` with [`TimelineQuery`](crate::timeline::TimelineQuery):
    /// [`TimelineAnswer`](crate::timeline::TimelineAnswer).
    pub const TIMELINE: &str = "/api/timeline";
    /// `GET` with [`ProfileQuery`](crate::profile::ProfileQuery): [`TimelineLanes`](crate::timeline::TimelineLanes).
    pub const TIMELINE_LANES: &str = "/api/timeline/lanes";
    /// `GET` with [`SliceQuery`](crate::timeline::SliceQuery): [`SliceAnswer`](crate::timeline::SliceAnswer).
    pub const TIMELINE_SLICE: &str = "/api/timeline/slice";
    /// `GET` with [`StepQuery`](crate::timeline::StepQuery): [`StepAnswer`](crate::timeline::StepAnswer).
    pub const TIMELINE_STEP: &str = "/api/timeline/step";
    /// `GET` with [`AreaQuery`](crate::timeline::AreaQuery): [`AreaAnswer`](crate::timeline::AreaAnswer).
    pub const TIMELINE_AREA: &str = "/api/timeline/area";
    /// `GET` with [`PathQuery`](crate::timeline::PathQuery): [`PathAnswer`](crate::timeline::PathAnswer).
    pub const TIMELINE_PATH: &str = "/api/timeline/path";
    /// `GET` with [`TimelineSearchQuery`](crate::timeline::TimelineSearchQuery):
    /// [`TimelineSearchAnswer`](crate::timeline::TimelineSearchAnswer).
    pub const TIMELINE_SEARCH: &str = "/api/timeline/search";
    /// `GET ?run=`: [`HparamsList`](crate::records::HparamsList).
    pub const HPARAMS: &str = "/api/hparams";
    /// `GET` with [`GraphQuery`](crate::graphs::GraphQuery): [`GraphAnswer`](crate::graphs::GraphAnswer).
    pub const GRAPH: &str = "/api/graph";
    /// `GET` with [`SceneQuery`](crate::graphs::SceneQuery): [`GraphScene`](crate::graphs::GraphScene).
    pub const GRAPH_SCENE: &str = "/api/graph/scene";
    /// `GET` with [`GraphQuery`](crate::graphs::GraphQuery): [`GraphSummary`](crate::graphs::GraphSummary).
    pub const GRAPH_SUMMARY: &str = "/api/graph/summary";
    /// `GET` with [`NodeQuery`](crate::graphs::NodeQuery): [`GraphNode`](crate::graphs::GraphNode).
    pub const GRAPH_NODE: &str = "/api/graph/node";
    /// `GET` with [`SearchQuery`](crate::graphs::SearchQuery): [`GraphSearch`](crate::graphs::GraphSearch).
    pub const GRAPH_SEARCH: &str = "/api/graph/search";
    /// `GET` with [`DiffQuery`](crate::graphs::DiffQuery): [`GraphDiff`](crate::graphs::GraphDiff).
    pub const GRAPH_DIFF: &str = "/api/graph/diff";
    /// `GET ?id=`: the bytes of a [`Blob`](crate::records::Blob).
    pub const BLOB: &str = "/api/blob";
    /// `GET`: server-sent events, see [`live`](crate::live).
    pub const LIVE: &str = "/api/live";
    /// `GET`: [`SessionList`](crate::sessions::SessionList).
    pub const SESSIONS: &str = "/api/sessions";
    /// `POST` with [`CommandRequest`](crate::sessions::CommandRequest): [`Session`](crate::sessions::Session).
    pub const SESSION_COMMAND: &str = "/api/session/command";
    /// `GET` with [`SessionItemsQuery`](crate::sessions::SessionItemsQuery):
    /// [`SessionItems`](crate::sessions::SessionItems).
    pub const SESSION_TENSORS: &str = "/api/session/tensors";
    /// `GET` with [`SessionItemsQuery`](crate::sessions::SessionItemsQuery):
    /// [`SessionItems`](crate::sessions::SessionItems).
    pub const SESSION_NODES: &str = "/api/session/nodes";
    /// `POST` with [`AttachRequest`](crate::sessions::AttachRequest): [`AttachAnswer`](crate::sessions::AttachAnswer).
    pub const SESSION_ATTACH: &str = "/api/session/attach";
    /// `GET`: the WebSocket of a training.
    pub const SESSION_CONNECT: &str = "/api/session/connect";
    /// `GET`: this API as an `OpenAPI` document.
    pub const OPENAPI: &str = "/api/openapi.json";
}
