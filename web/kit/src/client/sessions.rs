//! Requests about live sessions.

use gloo_net::http::Request;
use trainscope_api::paths;
use trainscope_api::sessions::{
    AttachAnswer, AttachRequest, CommandRequest, Session, SessionItems, SessionItemsQuery,
    SessionList,
};

use super::{ClientError, get, send, url};

/// Trainings that are or were connected.
pub async fn sessions() -> Result<SessionList, ClientError> {
    get(paths::SESSIONS, &[]).await
}

/// Tensors that a training shows while it waits.
pub async fn session_tensors(query: &SessionItemsQuery) -> Result<SessionItems, ClientError> {
    items(paths::SESSION_TENSORS, query).await
}

/// Layers at which a training can wait.
pub async fn session_nodes(query: &SessionItemsQuery) -> Result<SessionItems, ClientError> {
    items(paths::SESSION_NODES, query).await
}

async fn items(path: &str, query: &SessionItemsQuery) -> Result<SessionItems, ClientError> {
    let (rank, offset) = (query.rank.to_string(), query.offset.to_string());
    let pairs = [
        ("session", &*query.session),
        ("rank", &rank),
        ("pattern", &query.pattern),
        ("offset", &offset),
    ];
    get(path, &pairs).await
}

/// Gives a command to a training, and returns the session after it.
pub async fn session_command(command: &CommandRequest) -> Result<Session, ClientError> {
    send(Request::post(&url(paths::SESSION_COMMAND)), command).await
}

/// Asks a running training to connect.
pub async fn session_attach(request: &AttachRequest) -> Result<AttachAnswer, ClientError> {
    send(Request::post(&url(paths::SESSION_ATTACH)), request).await
}
