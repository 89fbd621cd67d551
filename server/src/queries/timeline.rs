//! Answers of the timeline of a profile: cells, lanes, single slices, areas, matches of a search.

use std::sync::Arc;

use trainscope_analysis::trace::critical::Paths;
use trainscope_analysis::trace::{area as areas, search as matches, slice as slices, view};
use trainscope_api::error::ErrorCode;
use trainscope_api::profile::{ProfileQuery, StepSource};
use trainscope_api::timeline::{
    AreaAnswer, AreaQuery, PathAnswer, PathQuery, SliceAnswer, SliceQuery, StepAnswer, StepPlace,
    StepQuery, StepSpan, TimelineAnswer, TimelineLanes, TimelineQuery, TimelineSearchAnswer,
    TimelineSearchQuery,
};
use trainscope_format::formats::trace_json;

use super::error::Failure;
use super::graph::Graphs;
use super::numbering::{lanes_offset, step_offset};
use crate::index::Index;
use crate::profiles::{ArgumentSearch, LoadedProfile, Profiles};

/// Maximum number of profiles that are read to find a step.
const MAX_PROFILES: usize = 8;

/// Cells of rows for a stretch of time.
pub(crate) fn cells(profiles: &Profiles, query: &TimelineQuery) -> Result<TimelineAnswer, Failure> {
    let session = profiles.session(&query.run, query.session.as_deref(), query.rank)?;
    if let Some(answer) = profiles
        .outline(&session)
        .and_then(|outline| outline.timeline(query))
    {
        return answer.map_err(refused);
    }
    let loaded = profiles.so_far(&session);
    view::timeline(&loaded.model, loaded.levels(), query).map_err(refused)
}

/// Lanes, steps and counters of a session.
pub(crate) fn lanes(
    profiles: &Profiles,
    index: &Index,
    query: &ProfileQuery,
) -> Result<TimelineLanes, Failure> {
    let session = profiles.session(&query.run, query.session.as_deref(), query.rank)?;
    let lanes = profiles.lanes(&session);
    let mut lanes = lanes.unwrap_or_else(|| profiles.so_far(&session).lanes());
    lanes.step_offset = lanes_offset(index, &query.run, &lanes).unwrap_or(0);
    Ok(lanes)
}

/// The newest session that has a step of the training: of the rank of the query, else of any.
pub(crate) fn step(
    profiles: &Profiles,
    index: &Index,
    query: &StepQuery,
) -> Result<StepAnswer, Failure> {
    let list = profiles.list(&query.run)?;
    let is_asked = |id: &String| query.session.as_ref().is_none_or(|asked| asked == id);
    let mut sessions: Vec<_> = list
        .sessions
        .iter()
        .filter(|session| is_asked(&session.session))
        .collect();
    sessions.sort_by_key(|session| query.rank.is_some_and(|rank| rank != session.rank));
    for session in sessions.into_iter().take(MAX_PROFILES) {
        let loaded = profiles.get(&query.run, Some(&session.session), Some(session.rank))?;
        let (model, offset) = (&loaded.model, step_offset(index, &loaded).unwrap_or(0));
        let mut steps = model.steps.list.iter();
        let number = query.step.saturating_sub(offset);
        let found = steps.find(|step| step.number == number);
        // Without steps the whole trace counts as one, whose number has no meaning.
        let Some(step) = found.filter(|_| loaded.summary().steps_from != StepSource::None) else {
            continue;
        };
        let since = |time: i64| time.saturating_sub(model.origin());
        return Ok(StepAnswer {
            place: Some(StepPlace {
                session: session.session.clone(),
                rank: session.rank,
                step: StepSpan {
                    number,
                    begin_nanos: since(step.begin),
                    end_nanos: since(step.end),
                },
            }),
        });
    }
    Ok(StepAnswer::default())
}

/// One slice, its arguments and its node in the graph of the run.
pub(crate) fn slice(
    profiles: &Profiles,
    graphs: &Graphs,
    query: &SliceQuery,
) -> Result<SliceAnswer, Failure> {
    let loaded = so_far(profiles, &query.run, query.session.as_deref(), query.rank)?;
    let mut answer =
        slices::slice(&loaded.model, loaded.levels(), query.index).ok_or_else(|| {
            let count = loaded.model.trace.slices.len();
            Failure::bad_request(format!(
                "there is no slice {}: there are {count}",
                query.index
            ))
        })?;
    answer.arguments = arguments(profiles, &loaded, query.index);
    answer.node = graphs.node_named(&query.run, &answer.slice.name);
    Ok(answer)
}

/// Arguments of a slice by its number; empty for files without arguments, and if the file is gone.
fn arguments(profiles: &Profiles, loaded: &LoadedProfile, number: u32) -> Vec<(String, String)> {
    let place = (loaded.model.numbered(number))
        .and_then(|slice| loaded.model.trace.slices.places.get(slice as usize));
    let event = place.and_then(|place| profiles.event(loaded.files(), *place).ok()?);
    event.map_or_else(Vec::new, |bytes| trace_json::arguments(&bytes))
}

/// A profile, or the part read so far.
fn so_far(
    profiles: &Profiles,
    run: &str,
    session: Option<&str>,
    rank: Option<u32>,
) -> Result<Arc<LoadedProfile>, Failure> {
    Ok(profiles.so_far(&profiles.session(run, session, rank)?))
}

/// Totals of an area.
pub(crate) fn area(profiles: &Profiles, query: &AreaQuery) -> Result<AreaAnswer, Failure> {
    let loaded = so_far(profiles, &query.run, query.session.as_deref(), query.rank)?;
    let lanes = lanes_of(query.lanes.as_deref())?;
    let time = (query.from, query.to);
    Ok(areas::area(
        &loaded.model,
        loaded.levels(),
        time,
        lanes.as_deref(),
    ))
}

/// Critical paths of the steps in a view.
pub(crate) fn path(profiles: &Profiles, query: &PathQuery) -> Result<PathAnswer, Failure> {
    let loaded = so_far(profiles, &query.run, query.session.as_deref(), query.rank)?;
    Ok(Paths::new(&loaded.model).picture(query.from, query.to))
}

/// Slices that match a search.
pub(crate) fn search(
    profiles: &Profiles,
    query: &TimelineSearchQuery,
) -> Result<TimelineSearchAnswer, Failure> {
    let loaded = so_far(profiles, &query.run, query.session.as_deref(), query.rank)?;
    let mut arguments = matches::ArgumentMatches::new();
    let mut is_cut = false;
    for text in matches::argument_texts(&query.query).map_err(refused)? {
        let found = loaded.with_arguments(&text).map_err(|error| {
            Failure::new(
                ErrorCode::SourceUnreadable,
                format!("the profile cannot be searched: {error}"),
            )
        })?;
        // Without arguments, the search reports it.
        if let Some(ArgumentSearch {
            slices,
            is_cut: is_search_cut,
        }) = found
        {
            is_cut |= is_search_cut;
            arguments.insert(text, slices);
        }
    }
    let mut answer = matches::search_with(&loaded.model, query, &arguments).map_err(refused)?;
    answer.cut = is_cut;
    Ok(answer)
}

/// Indices of lanes in a query.
pub(super) fn lanes_of(text: Option<&str>) -> Result<Option<Vec<u32>>, Failure> {
    text.map(view::lane_list).transpose().map_err(refused)
}

fn refused(error: impl std::error::Error) -> Failure {
    Failure::bad_request(error.to_string())
}
