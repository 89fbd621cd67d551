//! `GET /api/timeline…`: the slices of a profile in the detail that pixels can show, and everything about single ones.
//!
//! Times are nanoseconds since the start of the session.

use serde::{Deserialize, Serialize};

use crate::profile::ProfileState;
pub use crate::profile::TimeKind;

mod cells;

pub use cells::{CELLS_MEDIA_TYPE, CellsError, decode, encode};

/// Maximum number of rows in one answer.
pub const MAX_ROWS: usize = 512;
/// Maximum number of cells in one answer.
pub const MAX_CELLS: usize = 200_000;
/// Maximum number of names of lanes without slices in a group.
pub const MAX_EMPTY: usize = 200;
/// Maximum number of names in the totals of an area.
pub const MAX_NAMES: usize = 1_000;
/// Maximum number of search results by position.
pub const MAX_NEAREST: usize = 200;

/// The query of `GET /api/timeline`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams), into_params(parameter_in = Query))]
pub struct TimelineQuery {
    /// Name of the run.
    pub run: String,
    /// Id of the session; the newest if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Rank; the lowest if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
    /// Start of the stretch of time; the start of the session if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<i64>,
    /// End of the stretch of time; the end of the session if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<i64>,
    /// Pixels that show it; 1,600 if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub width: Option<u32>,
    /// Rows, as `lane:depth` separated by commas; all, up to [`MAX_ROWS`], if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<String>,
}

/// Cells of rows. With `Accept: application/octet-stream` the answer is [binary](encode).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TimelineAnswer {
    /// Start of the stretch of time.
    pub from_nanos: i64,
    /// End of the stretch of time.
    pub to_nanos: i64,
    /// Pixels that show it.
    pub width: u32,
    /// Rows in the order of the query.
    pub rows: Vec<RowCells>,
    /// Names by number.
    pub names: std::collections::BTreeMap<u32, String>,
    /// `true` if rows or cells were left out.
    pub cut: bool,
}

/// Cells of a row.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RowCells {
    /// Index of the lane.
    pub lane: u32,
    /// Depth in the lane.
    pub depth: u32,
    /// Cells in order of time.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<Vec<i64>>))]
    pub cells: Vec<Cell>,
}

/// A slice, or several neighbours that are too short to be shown apart. In JSON an array of seven numbers: begin,
/// length, name, count, busy, kind, index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(
    from = "(i64, i64, u32, u32, u8, u8, u32)",
    into = "(i64, i64, u32, u32, u8, u8, u32)"
)]
pub struct Cell {
    /// Begin.
    pub begin: i64,
    /// Length from its first begin to its last end.
    pub length: i64,
    /// Name of the longest slice.
    pub name: u32,
    /// Number of slices.
    pub count: u32,
    /// Share of the length that slices cover, in 1/255.
    pub busy: u8,
    /// Kind of the longest slice, a [`TimeKind`].
    pub kind: u8,
    /// Index of the longest slice.
    pub index: u32,
}

type CellTuple = (i64, i64, u32, u32, u8, u8, u32);

impl From<CellTuple> for Cell {
    fn from((begin, length, name, count, busy, kind, index): CellTuple) -> Self {
        Self {
            begin,
            length,
            name,
            count,
            busy,
            kind,
            index,
        }
    }
}

impl From<Cell> for CellTuple {
    fn from(cell: Cell) -> Self {
        (
            cell.begin,
            cell.length,
            cell.name,
            cell.count,
            cell.busy,
            cell.kind,
            cell.index,
        )
    }
}

/// Answer of `GET /api/timeline/lanes`: everything that the frame of the timeline shows. Its query is a
/// [`ProfileQuery`](crate::profile::ProfileQuery).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TimelineLanes {
    /// Length of the session.
    pub extent_nanos: i64,
    /// Begin since 1970, nanoseconds; `None` if the clock counts from an unknown moment.
    pub unix_nanos: Option<String>,
    /// Number of events.
    pub events: u64,
    /// State of its files. While they are read, this answer and all others of the timeline are about what was read.
    pub state: ProfileState,
    /// Begin on the clock of the file, nanoseconds: it may move while the files are read.
    pub origin_nanos: String,
    /// Bytes of its files that were read.
    pub read_bytes: u64,
    /// Bytes of its files.
    pub total_bytes: u64,
    /// Groups in their order: hosts, devices, native spans, derived.
    pub groups: Vec<LaneGroup>,
    /// Steps.
    pub steps: Vec<StepSpan>,
    /// Added to the numbers of its steps to give those of the training; 0 if that is unknown.
    pub step_offset: i64,
    /// Busy share of the whole session in 160 equal stretches of time, in 1/255.
    pub busy: Vec<u8>,
    /// Counters.
    pub counters: Vec<TimelineCounter>,
    /// Instants of the whole trace.
    pub marks: Vec<TimelineMark>,
    /// `true` if lanes, steps or counters were left out.
    pub cut: bool,
}

/// Lanes of a process or device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LaneGroup {
    /// Name for display.
    pub name: String,
    /// `host`, `device`, `async`, `derived` or `profiler`.
    pub kind: String,
    /// Lanes that have slices, in order.
    pub lanes: Vec<LaneEntry>,
    /// Number of lanes without slices.
    pub empty: u64,
    /// Names of lanes without slices, up to [`MAX_EMPTY`].
    pub empty_names: Vec<String>,
    /// `true` if it is folded at first: lanes that the writer derived.
    pub folded: bool,
}

/// A lane.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LaneEntry {
    /// Index for queries.
    pub lane: u32,
    /// Name for display.
    pub name: String,
    /// Rows.
    pub rows: u32,
    /// Number of slices.
    pub slices: u64,
    /// Share of the session during which it is busy, 0 to 1.
    pub busy: f64,
}

/// A step on the timeline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StepSpan {
    /// Number for display.
    pub number: i64,
    /// Begin.
    pub begin_nanos: i64,
    /// End.
    pub end_nanos: i64,
}

/// The query of `GET /api/timeline/step`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams), into_params(parameter_in = Query))]
pub struct StepQuery {
    /// Name of the run.
    pub run: String,
    /// Number of the step as the training counts.
    pub step: i64,
    /// Id of the session; all sessions, the newest first, if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Rank; the lowest if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
}

/// Place of a step of the training in a profile.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StepPlace {
    /// Id of the session.
    pub session: String,
    /// Rank.
    pub rank: u32,
    /// The step, with its number as the profiler counts.
    pub step: StepSpan,
}

/// Answer of `GET /api/timeline/step`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StepAnswer {
    /// The newest session that has the step; `null` if there is none.
    pub place: Option<StepPlace>,
}

/// A counter: its buckets over the whole session, so that no spike is lost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TimelineCounter {
    /// Name.
    pub name: String,
    /// Unit for display: `bytes`, `share` or empty.
    pub unit: String,
    /// Start of each bucket.
    pub times_nanos: Vec<i64>,
    /// Least value of each bucket.
    #[serde(with = "trainscope_format::float::list")]
    pub least: Vec<f64>,
    /// Greatest value of each bucket.
    #[serde(with = "trainscope_format::float::list")]
    pub greatest: Vec<f64>,
    /// Last value of each bucket.
    #[serde(with = "trainscope_format::float::list")]
    pub last: Vec<f64>,
}

/// An instant of the whole trace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TimelineMark {
    /// Time.
    pub time_nanos: i64,
    /// Name.
    pub name: String,
}

/// The query of `GET /api/timeline/slice`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams), into_params(parameter_in = Query))]
pub struct SliceQuery {
    /// Name of the run.
    pub run: String,
    /// Id of the session; the newest if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Rank; the lowest if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
    /// Index of the slice.
    pub index: u32,
}

/// One slice with everything that belongs to it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SliceAnswer {
    /// The slice.
    pub slice: SliceEntry,
    /// Time without children.
    pub self_nanos: i64,
    /// Median duration of all slices of its name.
    pub median_nanos: i64,
    /// Duration that 99 % of them do not exceed.
    pub p99_nanos: i64,
    /// Number of slices of its name.
    pub same_name: u64,
    /// Category in the file.
    pub category: String,
    /// Step, if it is in one.
    pub step: Option<i64>,
    /// Phase: `data`, `forward`, `backward`, `update` or `host`.
    pub phase: String,
    /// The call that launched it.
    pub launched_by: Option<SliceEntry>,
    /// Time from the end of that call to its start.
    pub launch_delay_nanos: Option<i64>,
    /// Device work that it launched, up to 100.
    pub launches: Vec<SliceEntry>,
    /// Time that its stream was idle before it; `None` on a host or if the slice is the first.
    pub idle_before_nanos: Option<i64>,
    /// Slices that contain it, the innermost first.
    pub parents: Vec<SliceEntry>,
    /// Its first child.
    pub child: Option<SliceEntry>,
    /// The slices before and after it in its row.
    pub previous: Option<SliceEntry>,
    /// See `previous`.
    pub next: Option<SliceEntry>,
    /// Other ends of arrows that enter it.
    pub flows_in: Vec<SliceEntry>,
    /// Other ends of arrows that leave it.
    pub flows_out: Vec<SliceEntry>,
    /// Arguments as text, in the order of the file.
    pub arguments: Vec<(String, String)>,
    /// Node of the graph of the run with this name, if there is one.
    pub node: Option<String>,
}

/// A slice on the timeline.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SliceEntry {
    /// Index for queries.
    pub index: u32,
    /// Name.
    pub name: String,
    /// Kind of time.
    pub kind: TimeKind,
    /// Index of its lane.
    pub lane: u32,
    /// Depth in its lane.
    pub depth: u32,
    /// Begin.
    pub begin_nanos: i64,
    /// Duration.
    pub duration_nanos: i64,
}

/// The query of `GET /api/timeline/area`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams), into_params(parameter_in = Query))]
pub struct AreaQuery {
    /// Name of the run.
    pub run: String,
    /// Id of the session; the newest if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Rank; the lowest if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
    /// Start of the area.
    pub from: i64,
    /// End of the area.
    pub to: i64,
    /// Indices of lanes, separated by commas; all if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lanes: Option<String>,
}

/// The query of `GET /api/timeline/path`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams), into_params(parameter_in = Query))]
pub struct PathQuery {
    /// Name of the run.
    pub run: String,
    /// Id of the session; the newest if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Rank; the lowest if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
    /// Start of the view.
    pub from: i64,
    /// End of the view.
    pub to: i64,
}

/// Critical paths of the steps in a view.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PathAnswer {
    /// Segments that are long enough to be seen, in order of time.
    pub segments: Vec<PathSegment>,
    /// `false` if no launches were recorded: then there is no path.
    pub has_launches: bool,
    /// `true` if segments were left out.
    pub cut: bool,
}

/// A stretch of a critical path.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PathSegment {
    /// Kind, as in [`SessionSummary::critical_path_nanos`](crate::profile::SessionSummary::critical_path_nanos).
    pub kind: String,
    /// Begin.
    pub begin_nanos: i64,
    /// End.
    pub end_nanos: i64,
    /// The device work that it goes along, or the call of the host that it leads to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slice: Option<SliceEntry>,
}

/// Totals of an area.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AreaAnswer {
    /// Length of the area: the whole of which times are shares.
    pub length_nanos: i64,
    /// Totals by name and lane, the largest first, up to [`MAX_NAMES`].
    pub names: Vec<AreaName>,
    /// Busy time by lane.
    pub lanes: Vec<AreaLane>,
    /// Counters in the area.
    pub counters: Vec<AreaCounter>,
    /// Number of slices that touch the area.
    pub slices: u64,
    /// `true` if names were left out.
    pub cut: bool,
}

/// Slices of one name and lane in an area.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AreaName {
    /// Name.
    pub name: String,
    /// `process/thread`.
    pub lane: String,
    /// Kind of time.
    pub kind: TimeKind,
    /// Number of slices that touch the area.
    pub count: u64,
    /// Sum of their durations, clipped to the area.
    pub total_nanos: i64,
    /// The same without children.
    pub self_nanos: i64,
}

/// Busy time of a lane in an area.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AreaLane {
    /// `process/thread`.
    pub lane: String,
    /// Name for display.
    pub name: String,
    /// Kind of most of its time.
    pub kind: TimeKind,
    /// Union of its slices, clipped to the area.
    pub busy_nanos: i64,
}

/// A counter in an area.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AreaCounter {
    /// Name.
    pub name: String,
    /// Least value.
    #[serde(with = "trainscope_format::float")]
    pub least: f64,
    /// Mean, weighted by time.
    #[serde(with = "trainscope_format::float")]
    pub mean: f64,
    /// Greatest value.
    #[serde(with = "trainscope_format::float")]
    pub greatest: f64,
}

/// The query of `GET /api/timeline/search`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams), into_params(parameter_in = Query))]
pub struct TimelineSearchQuery {
    /// Name of the run.
    pub run: String,
    /// Id of the session; the newest if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Rank; the lowest if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
    /// Text of names, `/expression/`, `kind:comm`, `lane:"stream 7"`, `dur:>1ms`, `step:2617`, `args:text`, for which the
    /// files are read again; terms are joined by and.
    pub query: String,
    /// Start of the view.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<i64>,
    /// End of the view.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<i64>,
    /// Pixels of the view; 1,600 if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub width: Option<u32>,
}

/// Matches of a search.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TimelineSearchAnswer {
    /// Number of slices that match in the whole session.
    pub count: u64,
    /// Number of them that touch the view.
    pub in_view: u64,
    /// Names that match, with their number of slices, the commonest first, up to 100.
    pub names: Vec<(String, u64)>,
    /// Numbers of the names that match, for framing cells.
    pub name_ids: Vec<u32>,
    /// Number of matches that begin in each of 160 equal stretches of the whole session.
    pub by_pixel: Vec<u32>,
    /// Matches around the start of the view in order of time, up to [`MAX_NEAREST`].
    pub nearest: Vec<SliceEntry>,
    /// Position of the first of `nearest` among all matches in order of time.
    pub nearest_from: u64,
    /// `true` if the arguments of some slices were not searched: the files are too long, or have too many matches.
    pub cut: bool,
}
