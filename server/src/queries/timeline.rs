//! Answers of the timeline of a profile: cells, lanes, single slices, areas, matches of a search.

use std::io::{Read as _, Seek as _, SeekFrom};

use trainscope_analysis::trace::{
    area as areas, lanes as heads, search as matches, slice as slices, view,
};
use trainscope_api::profile::ProfileQuery;
use trainscope_api::timeline::{
    AreaAnswer, AreaQuery, SliceAnswer, SliceQuery, TimelineAnswer, TimelineLanes, TimelineQuery,
    TimelineSearchAnswer, TimelineSearchQuery,
};
use trainscope_format::formats::trace_json;
use trainscope_format::trace::TraceFile;

use super::error::Failure;
use super::graph::Graphs;
use crate::files;
use crate::profiles::{LoadedProfile, Profiles};

/// Most bytes of one event in its file.
const MAX_EVENT_BYTES: u64 = 1 << 20;

/// Cells of rows for a stretch of time.
pub(crate) fn cells(profiles: &Profiles, query: &TimelineQuery) -> Result<TimelineAnswer, Failure> {
    let loaded = profiles.get(&query.run, query.session.as_deref(), query.rank)?;
    view::timeline(&loaded.model, loaded.levels(), query).map_err(refused)
}

/// Lanes, steps and counters of a session.
pub(crate) fn lanes(profiles: &Profiles, query: &ProfileQuery) -> Result<TimelineLanes, Failure> {
    let loaded = profiles.get(&query.run, query.session.as_deref(), query.rank)?;
    let mut lanes = heads::lanes(&loaded.model, loaded.levels());
    lanes.total_bytes = loaded.files().len_bytes;
    Ok(lanes)
}

/// One slice, its arguments and its node in the graph of the run.
pub(crate) fn slice(
    profiles: &Profiles,
    graphs: &Graphs,
    query: &SliceQuery,
) -> Result<SliceAnswer, Failure> {
    let loaded = profiles.get(&query.run, query.session.as_deref(), query.rank)?;
    let mut answer =
        slices::slice(&loaded.model, loaded.levels(), query.index).ok_or_else(|| {
            let count = loaded.model.trace.slices.len();
            Failure::bad_request(format!(
                "there is no slice {}: there are {count}",
                query.index
            ))
        })?;
    answer.arguments = arguments(&loaded, query.index);
    answer.node = graphs.node_named(&query.run, &answer.slice.name);
    Ok(answer)
}

/// Arguments of a slice, read from its file; empty for files without arguments, and if the file is gone.
fn arguments(loaded: &LoadedProfile, slice: u32) -> Vec<(String, String)> {
    let mut files = loaded.files().files.iter();
    let file = files.find(|file| file.format == TraceFile::ChromeJson);
    let place = loaded.model.trace.slices.places.get(slice as usize);
    let (Some(file), Some(place), false) = (file, place, loaded.files().is_mindspore()) else {
        return Vec::new();
    };
    let read = || -> std::io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let mut source = files::open(&file.full)?;
        let is_packed = file
            .full
            .extension()
            .is_some_and(|own| own.eq_ignore_ascii_case("gz"));
        if is_packed {
            let mut content = files::unpacked(source)?;
            std::io::copy(&mut (&mut content).take(*place), &mut std::io::sink())?;
            content.take(MAX_EVENT_BYTES).read_to_end(&mut bytes)?;
        } else {
            source.seek(SeekFrom::Start(*place))?;
            source.take(MAX_EVENT_BYTES).read_to_end(&mut bytes)?;
        }
        Ok(bytes)
    };
    read().map_or_else(|_| Vec::new(), |bytes| trace_json::arguments(&bytes))
}

/// Totals of an area.
pub(crate) fn area(profiles: &Profiles, query: &AreaQuery) -> Result<AreaAnswer, Failure> {
    let loaded = profiles.get(&query.run, query.session.as_deref(), query.rank)?;
    let lanes = lanes_of(query.lanes.as_deref())?;
    let time = (query.from, query.to);
    Ok(areas::area(
        &loaded.model,
        loaded.levels(),
        time,
        lanes.as_deref(),
    ))
}

/// Slices that match a search.
pub(crate) fn search(
    profiles: &Profiles,
    query: &TimelineSearchQuery,
) -> Result<TimelineSearchAnswer, Failure> {
    let loaded = profiles.get(&query.run, query.session.as_deref(), query.rank)?;
    matches::search(&loaded.model, query).map_err(refused)
}

/// Indices of lanes in a query.
pub(super) fn lanes_of(text: Option<&str>) -> Result<Option<Vec<u32>>, Failure> {
    text.map(view::lane_list).transpose().map_err(refused)
}

fn refused(error: impl std::error::Error) -> Failure {
    Failure::bad_request(error.to_string())
}
