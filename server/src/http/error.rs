//! Failed requests: a status and an [`ApiError`](trainscope_api::error::ApiError) as JSON.

use axum::http::header::CONTENT_TYPE;
use axum::http::{Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use trainscope_api::error::ErrorCode;

use super::headers::NO_STORE;
pub(super) use crate::queries::error::Failure;

fn status_of(code: ErrorCode) -> StatusCode {
    match code {
        ErrorCode::BadRequest => StatusCode::BAD_REQUEST,
        ErrorCode::TokenWanted | ErrorCode::LoginWanted => StatusCode::UNAUTHORIZED,
        ErrorCode::ForeignOrigin
        | ErrorCode::LoopbackOnly
        | ErrorCode::Forbidden
        | ErrorCode::ReadOnly => StatusCode::FORBIDDEN,
        ErrorCode::UnknownPath
        | ErrorCode::UnknownRun
        | ErrorCode::UnknownTag
        | ErrorCode::UnknownNode
        | ErrorCode::UnknownBlob
        | ErrorCode::UnknownSession
        | ErrorCode::Gone
        | ErrorCode::SourceUnreadable => StatusCode::NOT_FOUND,
        ErrorCode::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
        ErrorCode::Conflict | ErrorCode::NotWaiting => StatusCode::CONFLICT,
        ErrorCode::Protocol => StatusCode::UPGRADE_REQUIRED,
        ErrorCode::TooManySessions | ErrorCode::Busy => StatusCode::SERVICE_UNAVAILABLE,
        ErrorCode::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        ErrorCode::Internal | ErrorCode::Unwritable => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        // An `ApiError` is two strings: writing it cannot fail, and an empty body would still have its status.
        let body = serde_json::to_vec(self.error()).unwrap_or_default();
        (
            status_of(self.code()),
            [(CONTENT_TYPE, "application/json"), NO_STORE],
            body,
        )
            .into_response()
    }
}

/// Answers unknown paths below `/api`.
pub(super) async fn unknown_path(uri: Uri) -> Failure {
    Failure::new(
        ErrorCode::UnknownPath,
        format!("the API has no path {}", uri.path()),
    )
}

/// Answers a path with an unsupported method.
pub(super) async fn method_not_allowed(method: Method, uri: Uri) -> Failure {
    Failure::new(
        ErrorCode::MethodNotAllowed,
        format!("{} does not take {method}", uri.path()),
    )
}
