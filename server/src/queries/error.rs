//! Failed requests: a status and an [`ApiError`] as JSON.

use axum::http::header::CONTENT_TYPE;
use axum::http::{Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use trainscope_api::error::{ApiError, ErrorCode};

use crate::http::guard::NO_STORE;
use crate::index::ReadError;

/// Why a request fails. It is logged where it is made, if at all, and never again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure(ApiError);

impl Failure {
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self(ApiError {
            code,
            message: message.into(),
        })
    }

    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::BadRequest, message)
    }

    /// A fault of the server: the cause goes to the log, not to the client.
    pub(crate) fn internal(what: &str, cause: &dyn std::error::Error) -> Self {
        tracing::error!(%cause, "{what}");
        Self::new(ErrorCode::Internal, format!("{what}; the log says why"))
    }

    pub(crate) const fn code(&self) -> ErrorCode {
        self.0.code
    }

    pub(crate) fn status(&self) -> StatusCode {
        match self.0.code {
            ErrorCode::BadRequest => StatusCode::BAD_REQUEST,
            ErrorCode::TokenWanted => StatusCode::UNAUTHORIZED,
            ErrorCode::ForeignOrigin => StatusCode::FORBIDDEN,
            ErrorCode::UnknownPath
            | ErrorCode::UnknownRun
            | ErrorCode::UnknownTag
            | ErrorCode::UnknownNode
            | ErrorCode::UnknownBlob
            | ErrorCode::SourceUnreadable => StatusCode::NOT_FOUND,
            ErrorCode::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            ErrorCode::Conflict => StatusCode::CONFLICT,
            ErrorCode::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            ErrorCode::Internal | ErrorCode::Unwritable => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        // An `ApiError` is two strings: writing it cannot fail, and an empty body would still have its status.
        let body = serde_json::to_vec(&self.0).unwrap_or_default();
        (
            self.status(),
            [(CONTENT_TYPE, "application/json"), NO_STORE],
            body,
        )
            .into_response()
    }
}

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Self {
        match &error {
            ReadError::UnknownRun(_) => Self::new(ErrorCode::UnknownRun, error.to_string()),
            ReadError::UnknownTag { .. } => Self::new(ErrorCode::UnknownTag, error.to_string()),
            ReadError::UnknownBlob(_) => Self::new(ErrorCode::UnknownBlob, error.to_string()),
            ReadError::Unreadable { .. } => {
                Self::new(ErrorCode::SourceUnreadable, error.to_string())
            }
            ReadError::Storage(_) => Self::internal("the index cannot be read", &error),
        }
    }
}

/// Answers every path below `/api` that is none.
pub(crate) async fn unknown_path(uri: Uri) -> Failure {
    Failure::new(
        ErrorCode::UnknownPath,
        format!("the API has no path {}", uri.path()),
    )
}

/// Answers a path with a method that it does not have.
pub(crate) async fn method_not_allowed(method: Method, uri: Uri) -> Failure {
    Failure::new(
        ErrorCode::MethodNotAllowed,
        format!("{} does not take {method}", uri.path()),
    )
}
