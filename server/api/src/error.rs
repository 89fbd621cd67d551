//! Body of an answer with an HTTP status of 400 or above.

use serde::{Deserialize, Serialize};

/// The body of every failed request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ApiError {
    /// Reason for programs, which decides what to do next.
    pub code: ErrorCode,
    /// Message for people; may quote the request.
    pub message: String,
}

/// The closed set of reasons why a request fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum ErrorCode {
    /// 400: a parameter is missing or malformed.
    BadRequest,
    /// 401: the token of this server is required.
    TokenWanted,
    /// 401: the proxy that logs people in named no person.
    LoginWanted,
    /// 403: this person may see the run, and not change it.
    Forbidden,
    /// 403: this server changes nothing.
    ReadOnly,
    /// 403: the `Host` or `Origin` header is not one of this server's.
    ForeignOrigin,
    /// 404: no such path in the API.
    UnknownPath,
    /// 404: no such run, or it was deleted.
    UnknownRun,
    /// 404: the run has no such tag of that kind and rank.
    UnknownTag,
    /// 404: the graph has no such node or scope.
    UnknownNode,
    /// 404: no such session, or it ended.
    UnknownSession,
    /// 404: the tensor was freed or changed since the training began to wait.
    Gone,
    /// 409: the training does not wait, so that its memory cannot be read.
    NotWaiting,
    /// 403: trainings from other machines need the token of this server.
    LoopbackOnly,
    /// 426: training and server have no version of the protocol in common.
    Protocol,
    /// 503: too many trainings are connected.
    TooManySessions,
    /// 503: large requests of all clients together exceed a limit; try again.
    Busy,
    /// 404: no such blob, or it was replaced: ask for the records again.
    UnknownBlob,
    /// 404: the source file that holds the data cannot be read any more.
    SourceUnreadable,
    /// 405: the path exists, the method does not.
    MethodNotAllowed,
    /// 409: changed by another client in the meantime; get the newest version first.
    Conflict,
    /// 413: the request asks for more than one answer may hold.
    TooLarge,
    /// 500: a file could not be written; the message says which and why.
    Unwritable,
    /// 500: the server could not read what it had stored.
    Internal,
}
