//! Ownership of the port: ours, a server for the same folders, or another program.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::net::TcpListener;
use std::path::PathBuf;

use trainscope_api::status::Status;

use super::CANNOT_BIND;
use crate::cli::client::{self, Answer};
use crate::cli::mistake::Mistake;
use crate::cli::state::{Presence, ServerState, StateDir};
use crate::cli::words;
use crate::settings::Settings;

/// Owner of the requested port.
#[derive(Debug)]
pub(super) enum Port {
    /// It was free and is bound now.
    Ours(TcpListener),
    /// A server for the same folders.
    Served(Box<ServerState>),
}

impl Port {
    /// Binds the port. If that fails, the error names the owner of the port, if known.
    pub(super) fn claim(settings: &Settings) -> Result<Self, Mistake> {
        let bare = settings.host.trim_start_matches('[').trim_end_matches(']');
        match TcpListener::bind((bare, settings.port)) {
            Ok(listener) => Ok(Self::Ours(listener)),
            Err(error) if error.kind() == ErrorKind::AddrInUse => taken(settings),
            Err(error) => Err(Mistake::new(
                CANNOT_BIND,
                format!(
                    "cannot listen on port {} of {}: {error}",
                    settings.port, settings.host
                ),
            )
            .at(format!("--host {} --port {}", settings.host, settings.port))
            .attempt("trainscope start --port 0, which takes any free port of this machine")),
        }
    }
}

fn taken(settings: &Settings) -> Result<Port, Mistake> {
    let mistake = |who: &str| {
        Mistake::new(
            CANNOT_BIND,
            format!(
                "port {} of {} is taken by {who}",
                settings.port, settings.host
            ),
        )
    };
    let start_second = "start a second one: trainscope start --port 0";
    match holder(settings) {
        Holder::Trainscope(server) => {
            let set = |dirs: &[PathBuf]| dirs.iter().cloned().collect::<BTreeSet<_>>();
            if set(&server.base_dirs) == set(&settings.base_dirs) {
                return Ok(Port::Served(server));
            }
            let shown: Vec<String> = server
                .base_dirs
                .iter()
                .map(|dir| words::path(dir))
                .collect();
            Err(
                mistake(&format!("another trainscope (process {})", server.pid))
                    .at(format!(
                        "it shows {} on {}",
                        shown.join(", "),
                        server.address()
                    ))
                    .attempt(format!("open that page, or {start_second}")),
            )
        }
        Holder::SomeTrainscope => Err(mistake("the trainscope of another user")
            .at(format!("--port {}", settings.port))
            .attempt(start_second)),
        Holder::Other => Err(mistake("another program")
            .at(format!("--port {}", settings.port))
            .attempt("another port: trainscope start --port 0")),
    }
}

enum Holder {
    Trainscope(Box<ServerState>),
    SomeTrainscope,
    Other,
}

fn holder(settings: &Settings) -> Holder {
    let known = StateDir::of_user()
        .ok()
        .and_then(|dir| dir.read(settings.port));
    if let Some(state) = known
        && matches!(state.presence(), Presence::Answers(_))
    {
        return Holder::Trainscope(Box::new(state));
    }
    // The server was started with another runtime folder, by another user, or below another prefix.
    let prefix = &settings.url_path_prefix;
    for prefix in [prefix.as_str(), ""] {
        let address = client::local_address(&settings.host, settings.port, prefix);
        match client::ask(&address, None) {
            Answer::Status(status) => {
                return Holder::Trainscope(Box::new(from_status(settings, prefix, &status)));
            }
            Answer::TokenWanted => return Holder::SomeTrainscope,
            Answer::Stranger | Answer::Silence => {}
        }
    }
    Holder::Other
}

fn from_status(settings: &Settings, prefix: &str, status: &Status) -> ServerState {
    ServerState {
        pid: status.pid,
        started_secs: status.started_secs,
        host: settings.host.clone(),
        port: settings.port,
        prefix: prefix.to_owned(),
        base_dirs: status.base_dirs.iter().map(PathBuf::from).collect(),
        token_file: None,
        log: None,
    }
}
