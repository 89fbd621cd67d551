//! Answers about the profiles of a run, computed from their models.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use trainscope_analysis::trace::diff::Side;
use trainscope_analysis::trace::memory::MemoryAsk;
use trainscope_analysis::trace::operators::Request;
use trainscope_analysis::trace::ranks::RankModel;
use trainscope_analysis::trace::steps::StepRange;
use trainscope_analysis::trace::summary::summary;
use trainscope_analysis::trace::{advice, diff as differences, flame as flames};
use trainscope_analysis::trace::{memory as memories, operators as tables, ranks as clusters};
use trainscope_api::error::ErrorCode;
use trainscope_api::pipeline::PipelineAnswer;
use trainscope_api::profile::{
    FlameAnswer, FlameQuery, InputShare, MAX_SQL_BYTES, MAX_SQL_ROWS, MAX_SQL_SECONDS,
    MAX_STRETCHES, MemoryAnswer, MemoryQuery, OperatorAnswer, OperatorQuery, OperatorsAnswer,
    OperatorsQuery, ProfileDiff, ProfileDiffQuery, ProfileOverview, ProfileQuery, RanksAnswer,
    SessionSummary, SqlAnswer, SqlRequest, SqlValue,
};
use trainscope_sql::ProfilePart;
use trainscope_sql::query::{self as statements, Cell, QueryError};

use super::error::Failure;
use super::graph::Graphs;
use super::numbering::step_offset;
use super::pipeline_queues;
use super::timeline::lanes_of;
use crate::index::Index;
use crate::profiles::{LoadedProfile, ProfileError, Profiles};

impl From<ProfileError> for Failure {
    fn from(error: ProfileError) -> Self {
        match error {
            ProfileError::Index(error) => error.into(),
            ProfileError::Unknown(message) => Self::new(ErrorCode::UnknownTag, message),
        }
    }
}

impl From<QueryError> for Failure {
    fn from(error: QueryError) -> Self {
        let code = match &error {
            QueryError::TooLong(_) | QueryError::TooLarge => ErrorCode::TooLarge,
            _ => ErrorCode::BadRequest,
        };
        Self::new(code, error.to_string())
    }
}

/// The profiles of ranks as statements read them.
pub(crate) fn parts(loaded: &[Arc<LoadedProfile>]) -> Vec<ProfilePart> {
    let part = |profile: &Arc<LoadedProfile>| ProfilePart {
        rank: profile.rank(),
        model: Arc::clone(profile) as _,
    };
    loaded.iter().map(part).collect()
}

/// Rows of a statement over all ranks of a session, or one.
pub(crate) fn sql(
    profiles: &Profiles,
    request: &SqlRequest,
    is_cancelled: &Arc<AtomicBool>,
) -> Result<SqlAnswer, Failure> {
    let (run, session) = (&request.run, request.session.as_deref());
    let loaded = match request.rank {
        Some(rank) => vec![profiles.get(run, session, Some(rank))?],
        None => profiles.ranks(run, session)?,
    };
    let begin = Instant::now();
    let limit = Duration::from_secs(MAX_SQL_SECONDS);
    let mut rows = SqlRows::default();
    let sql = &request.sql;
    statements::run(parts(&loaded), sql, limit, is_cancelled, &mut rows)
        .map_err(|error| Failure::from(error.at_place(sql)))?;
    Ok(SqlAnswer {
        seconds: begin.elapsed().as_secs_f64(),
        ..rows.answer
    })
}

/// Rows up to the limits of an answer.
#[derive(Default)]
struct SqlRows {
    answer: SqlAnswer,
    bytes: usize,
}

impl statements::Reader for SqlRows {
    fn columns(&mut self, names: &[&str]) {
        self.answer.columns = names.iter().map(ToString::to_string).collect();
    }

    fn row(&mut self, cells: &[Cell<'_>]) -> bool {
        let len = |cell: &Cell<'_>| match cell {
            Cell::Text(text) => text.len(),
            _ => size_of::<SqlValue>(),
        };
        self.bytes += cells.iter().map(len).sum::<usize>();
        self.answer.cut = self.answer.rows.len() >= MAX_SQL_ROWS || self.bytes > MAX_SQL_BYTES;
        if !self.answer.cut {
            self.answer.rows.push(cells.iter().map(value).collect());
        }
        !self.answer.cut
    }
}

/// A value as JSON.
pub(crate) fn value(cell: &Cell<'_>) -> SqlValue {
    match cell {
        Cell::Null => SqlValue::Null,
        Cell::Int(value) => SqlValue::Int(*value),
        Cell::Real(value) if value.is_finite() => SqlValue::Real(*value),
        Cell::Real(value) if *value > 0.0 => SqlValue::Text("Infinity".to_owned()),
        Cell::Real(_) => SqlValue::Text("-Infinity".to_owned()),
        Cell::Text(text) => SqlValue::Text((*text).to_owned()),
    }
}

/// The range of steps of a query.
fn range(since: Option<i64>, until: Option<i64>) -> Result<StepRange, Failure> {
    if let (Some(since), Some(until)) = (since, until)
        && since > until
    {
        let message = format!("no step is from {since} to {until}");
        return Err(Failure::bad_request(message));
    }
    Ok(StepRange { since, until })
}

/// The summary of one session of one rank.
pub(crate) fn overview(
    profiles: &Profiles,
    index: &Index,
    query: &ProfileQuery,
) -> Result<ProfileOverview, Failure> {
    let loaded = profiles.get(&query.run, query.session.as_deref(), query.rank)?;
    let range = range(query.since_step, query.until_step)?;
    let ranks = profiles.ranks(&query.run, Some(loaded.session()))?;
    Ok(ProfileOverview {
        sessions: vec![judged(index, &loaded, &ranks, range, MAX_STRETCHES)],
    })
}

/// A summary with advice and sentences; `ranks` are all ranks of its session.
pub(crate) fn judged(
    index: &Index,
    loaded: &LoadedProfile,
    ranks: &[Arc<LoadedProfile>],
    range: StepRange,
    max_steps: usize,
) -> SessionSummary {
    let is_default = range == StepRange::default() && max_steps == MAX_STRETCHES;
    let mut summary = if is_default {
        SessionSummary::clone(&loaded.summary())
    } else {
        let mut summary = summary(&loaded.model, range, max_steps);
        loaded.describe(&mut summary);
        summary
    };
    summary.input = input(index, loaded.run(), loaded.rank());
    summary.step_offset = step_offset(index, loaded).unwrap_or(0);
    let cluster = (ranks.len() > 1).then(|| cluster(ranks));
    advice::apply(&loaded.model, &mut summary, cluster.as_ref());
    summary
}

/// Waiting for the data set, as its iterator has recorded it.
fn input(index: &Index, run: &str, rank: u32) -> Option<InputShare> {
    // Faults of these files are on the page of the data pipeline.
    let mut faults = PipelineAnswer::default();
    let files = pipeline_queues::read_files(index, run, &mut faults).ok()?;
    Some(files.times.get(&rank)?.summary())
}

fn cluster(ranks: &[Arc<LoadedProfile>]) -> RanksAnswer {
    let models: Vec<RankModel<'_>> = ranks.iter().map(|profile| profile.rank_model()).collect();
    clusters::ranks_of(&models)
}

/// Operators or kernels, the most time first.
pub(crate) fn operators(
    profiles: &Profiles,
    query: &OperatorsQuery,
) -> Result<OperatorsAnswer, Failure> {
    let loaded = profiles.get(&query.run, query.session.as_deref(), query.rank)?;
    let range = range(query.since_step, query.until_step)?;
    let request = Request {
        by: query.by,
        range,
        filter: query.filter.as_deref(),
        from: query.from,
        limit: query.limit,
    };
    Ok(tables::operators(&loaded.model, &request))
}

/// One operator in detail, with its node in the graph of the run.
pub(crate) fn operator(
    profiles: &Profiles,
    graphs: &Graphs,
    query: &OperatorQuery,
) -> Result<OperatorAnswer, Failure> {
    let loaded = profiles.get(&query.run, query.session.as_deref(), query.rank)?;
    let range = range(query.since_step, query.until_step)?;
    let shapes = query.shapes.as_deref();
    let answer = tables::operator(&loaded.model, query.by, &query.name, shapes, range);
    let mut answer = answer.ok_or_else(|| {
        let message = format!("the profile has no operator `{}`", query.name);
        Failure::new(ErrorCode::UnknownTag, message)
    })?;
    answer.node = graphs.node_named(&query.run, &query.name);
    Ok(answer)
}

/// Memory of a device over time.
pub(crate) fn memory(profiles: &Profiles, query: &MemoryQuery) -> Result<MemoryAnswer, Failure> {
    let loaded = profiles.get(&query.run, query.session.as_deref(), query.rank)?;
    let ask = MemoryAsk {
        device: query.device.clone(),
        at_nanos: query.at_nanos,
        from_nanos: query.from_nanos,
        to_nanos: query.to_nanos,
        single: query.single,
    };
    let alone = loaded.memory_timeline.as_ref();
    Ok(alone.map_or_else(
        || memories::memory(&loaded.model, &ask),
        |timeline| memories::timeline::without_events(&loaded.model, timeline),
    ))
}

/// The ranks of a session side by side.
pub(crate) fn ranks(profiles: &Profiles, query: &ProfileQuery) -> Result<RanksAnswer, Failure> {
    let ranks = profiles.ranks(&query.run, query.session.as_deref())?;
    Ok(cluster(&ranks))
}

/// Stacks of an area added up.
pub(crate) fn flame(profiles: &Profiles, query: &FlameQuery) -> Result<FlameAnswer, Failure> {
    let loaded = profiles.get(&query.run, query.session.as_deref(), query.rank)?;
    let lanes = lanes_of(query.lanes.as_deref())?;
    let (model, levels) = (&loaded.model, loaded.levels());
    let time = (query.from_nanos, query.to_nanos);
    Ok(flames::flame(
        model,
        levels,
        time,
        lanes.as_deref(),
        query.up,
    ))
}

/// A profile against another one.
pub(crate) fn diff(profiles: &Profiles, query: &ProfileDiffQuery) -> Result<ProfileDiff, Failure> {
    let profile = profiles.get(&query.run, query.session.as_deref(), query.rank)?;
    let other = query.other.as_deref().unwrap_or(&query.run);
    let session = query.other_session.as_deref();
    let other = profiles.get(other, session, query.other_rank)?;
    let all = StepRange::default();
    let [profile, other] = [&profile, &other].map(|side| Side::new(&side.model, all));
    Ok(differences::diff(&profile, &other))
}
