//! Requests about live sessions.

use gloo_net::http::Request;
use trainscope_api::paths;
use trainscope_api::sessions::{AttachAnswer, AttachRequest, CommandRequest, Session, SessionList};

use super::{ClientError, get, send, url};

/// Trainings that are or were connected.
pub async fn sessions() -> Result<SessionList, ClientError> {
    get(paths::SESSIONS, &[]).await
}

/// Gives a command to a training; the session after it.
pub async fn session_command(command: &CommandRequest) -> Result<Session, ClientError> {
    send(Request::post(&url(paths::SESSION_COMMAND)), command).await
}

/// Asks a training that runs to connect.
pub async fn session_attach(request: &AttachRequest) -> Result<AttachAnswer, ClientError> {
    send(Request::post(&url(paths::SESSION_ATTACH)), request).await
}
