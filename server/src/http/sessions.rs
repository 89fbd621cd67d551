//! `/api/sessions`, `/api/session/…`: connected trainings, and the WebSocket by which they connect.

use std::net::SocketAddr;
use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade};
use axum::extract::{ConnectInfo, FromRequestParts, Request, State};
use axum::http::StatusCode;
use axum::http::header::{CONTENT_TYPE, ORIGIN};
use axum::response::{IntoResponse, Response};
use tokio::sync::mpsc;
use trainscope_api::error::ErrorCode;
use trainscope_api::sessions::{AttachRequest, CommandConflict, CommandRequest, SessionItemsQuery};
use trainscope_api::status::AccessRole;
use trainscope_format::session::{
    FailureCode, Hello, MAX_BINARY_BYTES, MAX_UNREADABLE, PROTOCOL, SliceHead, ToServer, ToTraining,
};

use super::error::Failure;
use super::headers::NO_STORE;
use super::request::{Body, Params};
use super::serve::Place;
use super::{Site, audit, blocking, json};
use crate::session::attach::AttachError;
use crate::session::registry::{Connection, Permit, SessionError};
use crate::session::source;

/// Timeout of the first message of a training.
const HELLO_TIMEOUT: Duration = Duration::from_secs(5);
/// Interval of pings, by which a training sees that the server lives.
const PING: Duration = Duration::from_secs(5);

impl From<SessionError> for Failure {
    fn from(error: SessionError) -> Self {
        let message = error.to_string();
        let code = match error {
            SessionError::Unknown(_) => ErrorCode::UnknownSession,
            SessionError::Conflict { .. } => ErrorCode::Conflict,
            SessionError::Refused(_) => ErrorCode::BadRequest,
            SessionError::NotWaiting | SessionError::NoRank(_) | SessionError::Timeout => {
                ErrorCode::NotWaiting
            }
            SessionError::Failed(code, _) => match code {
                FailureCode::UnknownTensor => ErrorCode::UnknownTag,
                FailureCode::Gone => ErrorCode::Gone,
                FailureCode::TooLarge => ErrorCode::TooLarge,
                FailureCode::Busy | FailureCode::Unknown => ErrorCode::NotWaiting,
            },
        };
        Self::new(code, message)
    }
}

/// Connected trainings
#[cfg_attr(test, utoipa::path(
    get, path = "/api/sessions", operation_id = "sessions",
    responses((status = 200, description = "The sessions, the newest first", body = trainscope_api::sessions::SessionList))
))]
pub(super) async fn list(State(site): State<Site>) -> Result<Response, Failure> {
    json(&site.sessions.list())
}

/// Command a training
#[cfg_attr(test, utoipa::path(
    post, path = "/api/session/command", operation_id = "session_command", request_body = CommandRequest,
    responses(
        (status = 200, description = "The session after the command", body = trainscope_api::sessions::Session),
        (status = 409, description = "Another command came first; with the session as it is", body = CommandConflict),
        (
            status = "default",
            description = "Error: `unknown_session`, or `bad_request` with the commands that the state allows",
            body = trainscope_api::error::ApiError
        )
    )
))]
pub(super) async fn command(
    State(site): State<Site>,
    Body(request): Body<CommandRequest>,
) -> Result<Response, Failure> {
    let run = site.sessions.run_of_session(&request.session)?;
    site.permit(AccessRole::Manage, run.as_deref())?;
    match site
        .sessions
        .command(&request.session, request.turn, &request.command)
    {
        Ok(session) => {
            let what = vec![format!("session: {}", request.command.name())];
            Ok(audit::changed(json(&session)?, run.as_deref(), what))
        }
        Err(SessionError::Conflict { message, session }) => {
            let conflict = CommandConflict {
                code: ErrorCode::Conflict,
                message,
                session: *session,
            };
            let mut response = json(&conflict)?;
            *response.status_mut() = StatusCode::CONFLICT;
            Ok(response)
        }
        Err(error) => Err(error.into()),
    }
}

/// Tensors in the memory of a training that waits
#[cfg_attr(test, utoipa::path(
    get, path = "/api/session/tensors", operation_id = "session_tensors", params(SessionItemsQuery),
    responses((status = 200, description = "Names, types and shapes", body = trainscope_api::sessions::SessionItems))
))]
pub(super) async fn tensors(
    State(site): State<Site>,
    Params(query): Params<SessionItemsQuery>,
) -> Result<Response, Failure> {
    blocking(move || json(&source::tensors(&site.sessions, &query)?)).await
}

/// Nodes at which a training can wait
#[cfg_attr(test, utoipa::path(
    get, path = "/api/session/nodes", operation_id = "session_nodes", params(SessionItemsQuery),
    responses((status = 200, description = "Names", body = trainscope_api::sessions::SessionItems))
))]
pub(super) async fn nodes(
    State(site): State<Site>,
    Params(query): Params<SessionItemsQuery>,
) -> Result<Response, Failure> {
    blocking(move || json(&source::nodes(&site.sessions, &query)?)).await
}

/// Ask a training that runs already to connect
#[cfg_attr(test, utoipa::path(
    post, path = "/api/session/attach", operation_id = "session_attach", request_body = AttachRequest,
    responses(
        (
            status = 200,
            description = "A file in the folder of the run asks the training; it is taken away once it has connected",
            body = trainscope_api::sessions::AttachAnswer
        ),
        (
            status = "default",
            description = "Error: `unknown_run`, or `unwritable` if the file cannot be written",
            body = trainscope_api::error::ApiError
        )
    )
))]
pub(super) async fn attach(
    State(site): State<Site>,
    Body(request): Body<AttachRequest>,
) -> Result<Response, Failure> {
    blocking(move || {
        let is_known = site
            .index
            .runs()
            .runs
            .iter()
            .any(|run| run.id == request.run);
        if !is_known {
            return Err(Failure::unknown_run(&request.run));
        }
        site.permit(AccessRole::Manage, Some(&request.run))?;
        match site.sessions.attach(&request.run, request.level) {
            Ok(answer) => {
                let what = vec!["session: asked to connect".to_owned()];
                Ok(audit::changed(json(&answer)?, Some(&request.run), what))
            }
            Err(AttachError::UnknownRun) => Err(Failure::unknown_run(&request.run)),
            Err(error @ AttachError::Unwritable { .. }) => {
                Err(Failure::new(ErrorCode::Unwritable, error.to_string()))
            }
        }
    })
    .await
}

/// Body of a refusal because of the version of the protocol.
#[derive(serde::Serialize)]
struct ProtocolAnswer {
    code: ErrorCode,
    message: String,
    speaks: [&'static str; 1],
}

/// The connection of a training: a WebSocket with the messages of `trainscope_format::session`.
///
/// Browsers send `Origin` with `WebSockets`, and trainings do not. Requests with it are refused: a foreign page cannot
/// pose as a training.
pub(super) async fn connect(State(site): State<Site>, request: Request) -> Response {
    if request.headers().contains_key(ORIGIN) {
        let message = "pages of browsers cannot connect as trainings";
        return Failure::new(ErrorCode::ForeignOrigin, message).into_response();
    }
    if let Err(failure) = site.permit(AccessRole::Manage, None) {
        return failure.into_response();
    }
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>();
    let is_beyond = peer.is_some_and(|ConnectInfo(peer)| !peer.ip().to_canonical().is_loopback());
    if is_beyond && site.access.token().is_none() {
        let message = "this server has no token, and takes trainings from its own machine only";
        return Failure::new(ErrorCode::LoopbackOnly, message).into_response();
    }
    let place = request.extensions().get::<Place>().cloned();
    let (mut parts, _) = request.into_parts();
    let upgrade = match WebSocketUpgrade::from_request_parts(&mut parts, &site).await {
        Ok(upgrade) => upgrade,
        Err(rejection) => return rejection.into_response(),
    };
    let upgrade = upgrade.protocols([PROTOCOL]);
    if upgrade.selected_protocol().is_none() {
        let answer = ProtocolAnswer {
            code: ErrorCode::Protocol,
            message: format!("this server speaks {PROTOCOL} only"),
            speaks: [PROTOCOL],
        };
        let body = serde_json::to_vec(&answer).unwrap_or_default();
        let head = [(CONTENT_TYPE, "application/json"), NO_STORE];
        return (StatusCode::UPGRADE_REQUIRED, head, body).into_response();
    }
    let Some(permit) = site.sessions.permit() else {
        tracing::warn!("too many trainings are connected; another one was refused");
        let message = "too many trainings are connected; try again later";
        return Failure::new(ErrorCode::TooManySessions, message).into_response();
    };
    upgrade
        .max_message_size(MAX_BINARY_BYTES)
        .max_frame_size(MAX_BINARY_BYTES)
        .on_upgrade(move |socket| async move {
            serve(site, socket, permit).await;
            drop(place);
        })
}

/// Serves one connection until it ends.
async fn serve(site: Site, mut socket: WebSocket, permit: Permit) {
    let _permit = permit;
    let hello = match tokio::time::timeout(HELLO_TIMEOUT, hello(&mut socket)).await {
        Ok(Ok(hello)) => *hello,
        Ok(Err(reason)) => return close(socket, reason).await,
        Err(_) => return close(socket, "no hello within 5 s").await,
    };
    let who = format!("rank {} of {}", hello.rank, hello.run_folder);
    let (connection, mut outgoing) = site.sessions.join(hello);
    tracing::info!(%who, "a training is connected");
    let mut ending = site.ending.clone();
    let ended = async move { drop(ending.wait_for(|ending| *ending).await) };
    let reason = tokio::select! {
        reason = converse(&mut socket, &connection, &mut outgoing) => reason,
        // A closed channel also means the end of the server.
        () = ended => {
            site.sessions.let_go();
            while let Ok(message) = outgoing.try_recv() {
                // The training also goes on if this does not arrive.
                drop(socket.send(Message::text(message.to_text())).await);
            }
            "the server ends"
        }
    };
    drop(connection);
    tracing::info!(%who, reason, "a training is gone");
    close(socket, reason).await;
}

async fn close(mut socket: WebSocket, reason: &'static str) {
    let frame = CloseFrame {
        code: axum::extract::ws::close_code::NORMAL,
        reason: reason.into(),
    };
    // The other end may be gone already.
    drop(socket.send(Message::Close(Some(frame))).await);
}

async fn hello(socket: &mut WebSocket) -> Result<Box<Hello>, &'static str> {
    loop {
        match socket.recv().await {
            Some(Ok(Message::Text(text))) => {
                return match ToServer::read(text.as_str()) {
                    Ok(ToServer::Hello(hello)) => Ok(hello),
                    _ => Err("the first message has to be hello"),
                };
            }
            Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
            _ => return Err("the connection has ended before hello"),
        }
    }
}

/// Passes messages both ways; returns the reason of the end.
async fn converse(
    socket: &mut WebSocket,
    connection: &Connection,
    outgoing: &mut mpsc::Receiver<ToTraining>,
) -> &'static str {
    let mut ping = tokio::time::interval(PING);
    let mut unreadable = 0;
    let mut head: Option<SliceHead> = None;
    loop {
        tokio::select! {
            message = outgoing.recv() => {
                let Some(message) = message else {
                    return "another connection of this rank is newer";
                };
                if socket.send(Message::text(message.to_text())).await.is_err() {
                    return "the connection is lost";
                }
            }
            _ = ping.tick() => {
                if socket.send(Message::Ping(axum::body::Bytes::new())).await.is_err() {
                    return "the connection is lost";
                }
            }
            received = socket.recv() => match received {
                Some(Ok(Message::Text(text))) => match ToServer::read(text.as_str()) {
                    Ok(ToServer::Slice(slice)) => head = Some(slice),
                    Ok(ToServer::Unknown) => unreadable += 1,
                    Ok(message) => connection.receive(message),
                    Err(error) if error.is_fatal() => {
                        tracing::warn!(%error, "a training was disconnected");
                        return "a message exceeds a limit";
                    }
                    Err(_) => unreadable += 1,
                },
                Some(Ok(Message::Binary(bytes))) => match head.take() {
                    Some(head) if head.len_bytes == bytes.len() as u64 => {
                        connection.elements(head, bytes.to_vec());
                    }
                    _ => unreadable += 1,
                },
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                Some(Ok(Message::Close(_))) | None => return "the training has closed it",
                Some(Err(_)) => return "the connection is lost",
            },
        }
        if unreadable >= MAX_UNREADABLE {
            return "too many unreadable messages";
        }
    }
}
