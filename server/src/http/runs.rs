//! `GET /api/runs`: runs with their contents and the state of their files, all of them or a page.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use serde::{Serialize, Serializer};
use trainscope_api::runs::{File, FileStatus, MAX_PAGE, MAX_RUNS, Run, RunsQuery};
use trainscope_format::Kind;

use super::error::Failure;
use super::request::Params;
use super::table::unknown_column;
use super::{Site, blocking, json};
use crate::judging::judge::Fault;
use crate::people;
use crate::queries::findings;

/// Runs and the state of their files
#[cfg_attr(test, utoipa::path(
    get, path = "/api/runs", operation_id = "runs", params(RunsQuery),
    responses((status = 200, description = "The runs, by name unless requested otherwise", body = trainscope_api::runs::RunList))
))]
pub(super) async fn get(
    State(site): State<Site>,
    Params(query): Params<RunsQuery>,
) -> Result<Response, Failure> {
    if let Some(limit) = query.limit
        && !(1..=MAX_PAGE).contains(&limit)
    {
        let message = format!("`limit` wants 1 to {MAX_PAGE}, not {limit}");
        return Err(Failure::bad_request(message));
    }
    blocking(move || {
        // Taken before the list: a change in between is announced twice rather than missed.
        let seq = site.index.notices().seq();
        let names = names(&site, &query)?;
        let total = names.len();
        let end = query
            .offset
            .saturating_add(query.limit.unwrap_or(MAX_RUNS))
            .min(total);
        json(&Page {
            seq,
            runs: Entries {
                site: &site,
                names: names.get(query.offset..end).unwrap_or_default(),
                sessions: site.sessions.of_runs(),
            },
            total,
            cut: end < total,
        })
    })
    .await
}

/// Names of the runs that match, in the requested order.
fn names(site: &Site, query: &RunsQuery) -> Result<Vec<Arc<str>>, Failure> {
    let all = site.index.ordered_names();
    site.colours.give(&all);
    let seen = all.iter().filter(|name| people::may_see(name));
    let names: Vec<Arc<str>> = seen.cloned().collect();
    let (filter, sort) = (query.filter.as_deref(), query.sort.as_deref());
    if filter.is_none() && sort.is_none() {
        return Ok(names);
    }
    let chosen = site.table()?.choose(names, filter, sort)?;
    chosen.map_err(|error| unknown_column(&error))
}

/// A [`RunList`](trainscope_api::runs::RunList) that is written run by run: 100,000 runs at once take more memory than
/// their text.
#[derive(Serialize)]
struct Page<'a> {
    seq: u64,
    runs: Entries<'a>,
    total: usize,
    cut: bool,
}

struct Entries<'a> {
    site: &'a Site,
    names: &'a [Arc<str>],
    /// Sessions by the names of their runs.
    sessions: HashMap<String, String>,
}

impl Serialize for Entries<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Gone since the names were listed.
        let runs = self.names.iter().filter_map(|name| self.entry(name));
        serializer.collect_seq(runs)
    }
}

impl Entries<'_> {
    fn entry(&self, name: &str) -> Option<Run> {
        let mut run = self.site.index.describe(name)?;
        run.colour = self.site.colours.of(name);
        run.session = self.sessions.get(name).cloned();
        let has_only_profiles = has_only_profiles(&run);
        if has_only_profiles {
            // The list of files has no steps of traces.
            run.last_step = None;
        }
        if let Some(judged) = self.site.judgements.of(name) {
            run.health = Some(findings::health(&judged));
            mark_damaged(&mut run, &judged.damaged);
            run.profile.clone_from(&judged.profile);
            if has_only_profiles {
                take_times(&mut run);
            }
        }
        Some(run)
    }
}

/// `true` for a run of traces, and of the tables of queues that `MindSpore`'s profiler writes next to them.
fn has_only_profiles(run: &Run) -> bool {
    let of_profilers = [Kind::Traces, Kind::InputQueues].map(Kind::as_str);
    let mut kinds = run.kinds.iter().filter(|(_, count)| **count > 0);
    run.kinds.contains_key(Kind::Traces.as_str())
        && kinds.all(|(kind, _)| of_profilers.contains(&kind.as_str()))
}

/// Takes the steps and times of a run that has nothing but profiles from the newest one.
fn take_times(run: &mut Run) {
    let Some(profile) = &run.profile else { return };
    run.last_step = profile.step_range.map(|(_, last)| last);
    if let Some(started) = profile.started_secs {
        run.first_wall_time_secs = Some(started);
        run.last_wall_time_secs = Some(started + profile.extent_nanos as f64 / 1e9);
    }
}

/// Sets the status of tensor files that only reading them can determine. Damaged ones are never left out.
fn mark_damaged(run: &mut Run, damaged: &[Fault]) {
    for fault in damaged {
        let known = run.files.iter_mut().find(|file| *file.path == *fault.file);
        if known.as_ref().is_some_and(|file| !of_tensors(&file.format)) {
            continue;
        }
        if let Some(file) = known {
            file.status = FileStatus::Damaged;
            file.offset = Some(fault.offset);
            file.reason = Some(fault.reason.clone());
        } else if run.files_cut {
            run.files.push(File {
                path: fault.file.to_string(),
                status: FileStatus::Damaged,
                offset: Some(fault.offset),
                reason: Some(fault.reason.clone()),
                format: "tensors".to_owned(),
                len_bytes: 0,
                read_bytes: 0,
                records: 0,
                unread: BTreeMap::new(),
                skipped_records: 0,
                lost_records: 0,
                skipped_bytes: 0,
            });
        }
    }
}

/// True for formats whose files are read only by judgements.
fn of_tensors(format: &str) -> bool {
    matches!(format, "safetensors" | "npy" | "mindspore_dump")
}
