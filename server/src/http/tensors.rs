//! `/api/tensor_index`, `/api/tensor` and related paths: the values of recorded tensors, by slices.

use std::sync::{Arc, LazyLock};

use axum::extract::State;
use axum::http::HeaderMap;
use axum::http::header::{ACCEPT, CONTENT_DISPOSITION, CONTENT_TYPE, VARY};
use axum::response::{IntoResponse, Response};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use trainscope_api::error::ErrorCode;
use trainscope_api::tensors::{
    DEFAULT_TENSORS, MAX_TENSORS, TensorHistoryQuery, TensorIndexQuery, TensorQuery,
};

use super::error::Failure;
use super::headers::NO_STORE;
use super::request::Params;
use super::{Site, blocking, json, stream};
use crate::session::source;
use crate::tensors::export::{self, MAX_CSV_ELEMENTS};
use crate::tensors::find::{OpenTensor, TensorError};
use crate::tensors::{history, list, summary, values};

/// Media type of bare elements.
const OCTETS: &str = "application/octet-stream";
/// Limits concurrent answers that read whole tensors: others wait, and slices never do.
static LONG: LazyLock<Arc<Semaphore>> = LazyLock::new(|| Arc::new(Semaphore::new(2)));

impl From<TensorError> for Failure {
    fn from(error: TensorError) -> Self {
        let message = error.to_string();
        match error {
            TensorError::Read(error) => error.into(),
            TensorError::Unknown(_) => Self::new(ErrorCode::UnknownTag, message),
            TensorError::BadRequest(_) => Self::bad_request(message),
            TensorError::TooLarge(_) => Self::new(ErrorCode::TooLarge, message),
            TensorError::Unreadable { .. } | TensorError::Opaque { .. } => {
                Self::new(ErrorCode::SourceUnreadable, message)
            }
        }
    }
}

impl Site {
    /// The tensor of a query: recorded, or in the memory of a training that waits.
    fn open_tensor(&self, query: &TensorQuery) -> Result<OpenTensor, Failure> {
        match &query.session {
            Some(session) => source::open(&self.sessions, &self.index, session, query),
            None => Ok(values::open(&self.index, query)?),
        }
    }
}

/// The tensors of a run
#[cfg_attr(test, utoipa::path(
    get, path = "/api/tensor_index", operation_id = "tensor_index", params(TensorIndexQuery),
    responses((status = 200, description = "Tensors and the steps at which they were recorded", body = trainscope_api::tensors::TensorIndex))
))]
pub(super) async fn index(
    State(site): State<Site>,
    Params(query): Params<TensorIndexQuery>,
) -> Result<Response, Failure> {
    let limit = query.limit.unwrap_or(DEFAULT_TENSORS);
    if !(1..=MAX_TENSORS).contains(&limit) {
        let message = format!("`limit` wants 1 to {MAX_TENSORS}, not {limit}");
        return Err(Failure::bad_request(message));
    }
    blocking(move || json(&list::list(&site.index, &site.tensors, &query, limit)?)).await
}

/// Elements of a tensor
#[cfg_attr(test, utoipa::path(
    get, path = "/api/tensor", operation_id = "tensor", params(TensorQuery),
    responses(
        (
            status = 200,
            description = "The elements of a slice. With `Accept: application/octet-stream` their bytes alone, \
                           little-endian, row by row.",
            body = trainscope_api::tensors::TensorValues,
        )
    )
))]
pub(super) async fn values(
    State(site): State<Site>,
    headers: HeaderMap,
    Params(query): Params<TensorQuery>,
) -> Result<Response, Failure> {
    let accept = headers.get(ACCEPT).and_then(|value| value.to_str().ok());
    let wants_bytes = accept.is_some_and(|accept| accept.contains(OCTETS));
    blocking(move || {
        let (answer, bytes) = match &query.session {
            Some(session) => source::values(&site.sessions, &site.index, session, &query)?,
            None => values::values(&site.index, &query)?,
        };
        let mut response = if wants_bytes {
            ([(CONTENT_TYPE, OCTETS), NO_STORE], bytes).into_response()
        } else {
            json(&answer)?
        };
        let vary = axum::http::HeaderValue::from_static("accept");
        response.headers_mut().insert(VARY, vary);
        Ok(response)
    })
    .await
}

/// Statistics of a slice of a tensor
#[cfg_attr(test, utoipa::path(
    get, path = "/api/tensor_summary", operation_id = "tensor_summary", params(TensorQuery),
    responses((status = 200, description = "Counts, moments, extremes, a histogram", body = trainscope_api::tensors::TensorSlice))
))]
pub(super) async fn summary(
    State(site): State<Site>,
    Params(query): Params<TensorQuery>,
) -> Result<Response, Failure> {
    let gone = CancellationToken::new();
    // Dropped with this request, which ends when the client disconnects.
    let _is_asking = gone.clone().drop_guard();
    long(move || {
        let opened = site.open_tensor(&query)?;
        json(&summary::summary(&site.index, &query, opened, &gone)?)
    })
    .await
}

/// A tensor over steps
#[cfg_attr(test, utoipa::path(
    get, path = "/api/tensor_history", operation_id = "tensor_history", params(TensorHistoryQuery),
    responses(
        (status = 200, description = "Statistics by step, where they were recorded or computed", body = trainscope_api::tensors::TensorHistory)
    )
))]
pub(super) async fn history(
    State(site): State<Site>,
    Params(query): Params<TensorHistoryQuery>,
) -> Result<Response, Failure> {
    long(move || json(&history::history(&site.index, &site.tensors, &query)?)).await
}

/// A tensor, or a slice of it, as a file
#[cfg_attr(test, utoipa::path(
    get, path = "/api/tensor_file", operation_id = "tensor_file", params(TensorQuery),
    responses(
        (status = 200, description = "A file of npy or CSV", content_type = "application/octet-stream", body = String)
    )
))]
pub(super) async fn file(
    State(site): State<Site>,
    Params(query): Params<TensorQuery>,
) -> Result<Response, Failure> {
    let is_csv = match query.format.as_deref() {
        None | Some("npy") => false,
        Some("csv") => true,
        Some(other) => {
            let message = format!("`format` wants `npy` or `csv`, not `{other}`");
            return Err(Failure::bad_request(message));
        }
    };
    let (opened, slice, name) = blocking(move || {
        let opened = site.open_tensor(&query)?;
        let slice = values::slice_or_whole(&query, &opened.stored.shape)?;
        if is_csv && (slice.free().len() > 2 || slice.len() > MAX_CSV_ELEMENTS) {
            return Err(TensorError::TooLarge(format!(
                "a table has at most two axes and {MAX_CSV_ELEMENTS} elements; the slice `{slice}` has more"
            ))
            .into());
        }
        opened
            .stored
            .holds(&slice)
            .map_err(|unread| TensorError::unread(&opened.place.file, unread))?;
        let name = file_name(&query.tensor, opened.place.step, is_csv);
        Ok((opened, slice, name))
    })
    .await?;
    let body = stream::body(move |sink| {
        let written = if is_csv {
            export::csv(&opened.stored, &slice, sink)
        } else {
            export::npy(&opened.stored, &slice, sink)
        };
        written.map_err(|unread| TensorError::unread(&opened.place.file, unread))
    });
    let media_type = if is_csv {
        "text/csv; charset=utf-8"
    } else {
        OCTETS
    };
    let download = format!("attachment; filename=\"{name}\"");
    let head = [
        (CONTENT_TYPE, media_type.to_owned()),
        (CONTENT_DISPOSITION, download),
    ];
    Ok((head, [NO_STORE], body.await?).into_response())
}

/// Runs work on whole tensors in turn. The turn ends with the work, even if the client has disconnected.
async fn long(
    work: impl FnOnce() -> Result<Response, Failure> + Send + 'static,
) -> Result<Response, Failure> {
    let turn = Arc::clone(&LONG).acquire_owned();
    let turn = turn.await.map_err(|e| Failure::internal("no turn", &e))?;
    blocking(move || {
        let _turn = turn;
        work()
    })
    .await
}

/// A file name that every system accepts.
fn file_name(tensor: &str, step: i64, is_csv: bool) -> String {
    let plain = tensor.chars().map(|c| match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '.' | '_' | '-' => c,
        _ => '_',
    });
    let plain: String = plain.take(100).collect();
    let extension = if is_csv { "csv" } else { "npy" };
    format!("{}.step_{step}.{extension}", plain.trim_start_matches('.'))
}
