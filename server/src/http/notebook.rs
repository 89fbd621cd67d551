//! `/api/notebook`: notes of users about runs.

use axum::extract::State;
use axum::response::Response;
use trainscope_api::error::ErrorCode;
use trainscope_api::notebook::{Notebook, NotebookChange};
use trainscope_api::status::AccessRole;

use super::error::Failure;
use super::request::Body;
use super::{Site, audit, blocking, json};
use crate::notebook::ChangeError;
use crate::people;

/// Notes about runs
#[cfg_attr(test, utoipa::path(
    get, path = "/api/notebook", operation_id = "notebook",
    responses((status = 200, description = "Notes of all runs, and pinned cards", body = Notebook))
))]
pub(super) async fn get(State(site): State<Site>) -> Result<Response, Failure> {
    blocking(move || json(&seen(&site, site.notebooks.read()))).await
}

/// Change notes
#[cfg_attr(test, utoipa::path(
    patch, path = "/api/notebook", operation_id = "change_notebook", request_body = NotebookChange,
    responses(
        (status = 200, description = "The notebook with the change", body = Notebook),
        (status = "default", description = "Reason of the refusal; `conflict` if another client changed it first", body = trainscope_api::error::ApiError)
    )
))]
pub(super) async fn patch(
    State(site): State<Site>,
    Body(change): Body<NotebookChange>,
) -> Result<Response, Failure> {
    blocking(move || {
        for run in change.runs.keys() {
            site.permit(AccessRole::Annotate, Some(run))?;
        }
        if change.changes_all_runs() {
            site.permit(AccessRole::Annotate, None)?;
        }
        let runs: Vec<String> = change.runs.keys().cloned().collect();
        let before = site.notebooks.read();
        let changed = site.notebooks.change(change);
        let notebook = changed.map_err(|error| {
            let code = match error {
                ChangeError::Conflict(_) => ErrorCode::Conflict,
                ChangeError::TooMuch(_) => ErrorCode::TooLarge,
                ChangeError::Unwritable { .. } => ErrorCode::Unwritable,
            };
            Failure::new(code, error.to_string())
        })?;
        // Other open pages request it again.
        site.index.notices().announce_runs();
        let what = differences(&before, &notebook, &runs);
        let run = runs.first().filter(|_| runs.len() == 1);
        let response = json(&seen(&site, notebook))?;
        Ok(audit::changed(response, run.map(String::as_str), what))
    })
    .await
}

/// The changes, for the audit log: of the runs that were named, then of what belongs to all runs.
fn differences(before: &Notebook, after: &Notebook, runs: &[String]) -> Vec<String> {
    let notes =
        |notebook: &Notebook, run: &str| notebook.runs.get(run).cloned().unwrap_or_default();
    let of_runs = runs.iter().flat_map(|run| {
        let name = format!("notebook of `{run}`");
        audit::differences(&name, &notes(before, run), &notes(after, run))
    });
    let of_all = |notebook: &Notebook| Notebook {
        version: 0,
        runs: std::collections::BTreeMap::new(),
        problems: Vec::new(),
        ..notebook.clone()
    };
    let all = audit::differences("notebook", &of_all(before), &of_all(after));
    of_runs.chain(all).collect()
}

/// The part of the notebook that the person who asks may see. What belongs to all runs can name any of them, so it is
/// for those who see all.
fn seen(site: &Site, notebook: Notebook) -> Notebook {
    if people::may_see_all() {
        return with_strays(site, notebook);
    }
    Notebook {
        version: notebook.version,
        runs: notebook
            .runs
            .into_iter()
            .filter(|(run, _)| people::may_see(run))
            .collect(),
        ..Notebook::default()
    }
}

/// Names the notes whose runs do not exist, each with a run without notes of a similar name.
fn with_strays(site: &Site, mut notebook: Notebook) -> Notebook {
    // While files are still being read, existing runs may be missing.
    if notebook.runs.is_empty() || !site.index.ingest().idle {
        return notebook;
    }
    notebook.without_run = site.notebooks.strays(&notebook, &site.index.runs().runs);
    notebook
}
