//! `GET /api/runs`: all runs with their contents and the state of their files.

use std::collections::BTreeMap;

use axum::extract::State;
use axum::response::Response;
use trainscope_api::order::natural;
use trainscope_api::runs::{File, FileStatus, Run};
use trainscope_format::Kind;

use super::error::Failure;
use super::{Site, blocking, json};
use crate::judging::judge::Fault;
use crate::queries::findings;

/// All runs and the state of their files
#[cfg_attr(test, utoipa::path(
    get, path = "/api/runs", operation_id = "runs",
    responses((status = 200, description = "The runs, by name", body = trainscope_api::runs::RunList))
))]
pub(super) async fn get(State(site): State<Site>) -> Result<Response, Failure> {
    blocking(move || {
        let mut list = site.index.runs();
        list.runs.sort_by(|a, b| natural(&a.id, &b.id));
        site.colours.give(&mut list.runs);
        let mut sessions = site.sessions.of_runs();
        for run in &mut list.runs {
            run.session = sessions.remove(&run.id);
            let has_only_profiles = has_only_profiles(run);
            if has_only_profiles {
                // The list of files has no steps of traces.
                run.last_step = None;
            }
            let Some(judged) = site.judgements.of(&run.id) else {
                continue;
            };
            run.health = Some(findings::health(&judged));
            mark_damaged(run, &judged.damaged);
            run.profile.clone_from(&judged.profile);
            if has_only_profiles {
                take_times(run);
            }
        }
        json(&list)
    })
    .await
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
