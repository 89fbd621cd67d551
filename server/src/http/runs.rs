//! `GET /api/runs`: all runs with their contents and the state of their files.

use std::collections::BTreeMap;

use axum::extract::State;
use axum::response::Response;
use trainscope_api::order::natural;
use trainscope_api::runs::{File, FileStatus, Run, RunList};

use super::error::Failure;
use super::{Site, blocking, json};
use crate::judging::judge::Fault;
use crate::queries::findings;

/// All runs and the state of their files
#[utoipa::path(
    get, path = "/api/runs", operation_id = "runs",
    responses((status = 200, description = "The runs, by name", body = RunList))
)]
pub(super) async fn get(State(site): State<Site>) -> Result<Response, Failure> {
    blocking(move || {
        let mut list = site.index.runs();
        list.runs.sort_by(|a, b| natural(&a.id, &b.id));
        site.colours.give(&mut list.runs);
        let mut sessions = site.sessions.of_runs();
        for run in &mut list.runs {
            run.session = sessions.remove(&run.id);
            let Some(judged) = site.judgements.of(&run.id) else {
                continue;
            };
            run.health = Some(findings::health(&judged));
            mark_damaged(run, &judged.damaged);
        }
        json(&list)
    })
    .await
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
