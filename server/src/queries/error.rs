//! Failed queries, as the API reports them.

use trainscope_api::error::{ApiError, ErrorCode};

use crate::index::ReadError;

/// Error of a query. It is logged where it is made, if at all, and never again.
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

    pub(crate) fn unknown_run(run: &str) -> Self {
        Self::new(ErrorCode::UnknownRun, format!("there is no run `{run}`"))
    }

    /// An error of the server: the cause goes to the log, not to the client.
    pub(crate) fn internal(what: &str, cause: &dyn std::error::Error) -> Self {
        tracing::error!(%cause, "{what}");
        Self::new(ErrorCode::Internal, format!("{what}; the log says why"))
    }

    pub(crate) const fn code(&self) -> ErrorCode {
        self.0.code
    }

    pub(crate) const fn error(&self) -> &ApiError {
        &self.0
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
            ReadError::Storage(_) | ReadError::Unwritable(_) => {
                Self::internal("the index cannot be read", &error)
            }
        }
    }
}
