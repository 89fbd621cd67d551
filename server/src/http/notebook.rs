//! `/api/notebook`: notes of users about runs.

use axum::extract::State;
use axum::response::Response;
use trainscope_api::error::ErrorCode;
use trainscope_api::notebook::{Notebook, NotebookChange};

use super::error::Failure;
use super::request::Body;
use super::{Site, blocking, json};
use crate::notebook::ChangeError;

/// Notes about runs
#[cfg_attr(test, utoipa::path(
    get, path = "/api/notebook", operation_id = "notebook",
    responses((status = 200, description = "Notes of all runs, and pinned cards", body = Notebook))
))]
pub(super) async fn get(State(site): State<Site>) -> Result<Response, Failure> {
    blocking(move || json(&with_strays(&site, site.notebooks.read()))).await
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
        json(&with_strays(&site, notebook))
    })
    .await
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
