//! The audit log: a line of JSON for each change, and for each request that was refused. Reading is left to the proxy.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::Arc;

use axum::extract::{ConnectInfo, MatchedPath, Request};
use axum::http::{Method, StatusCode};
use axum::response::Response;
use parking_lot::Mutex;
use serde::Serialize;
use serde_json::Value;

use crate::people::Viewer;

/// Maximum length of a value in a line, characters; the rest is `…`.
const MAX_CHARS: usize = 1_000;
/// Name of the standard output.
const STDOUT: &str = "-";

/// The log, or none. Cloning is cheap.
#[derive(Clone, Default)]
pub struct Audit(Option<Arc<Mutex<Box<dyn Write + Send>>>>);

/// A change that a handler made, in the extensions of its answer.
#[derive(Clone)]
pub(super) struct Change {
    run: Option<String>,
    what: Vec<String>,
}

/// The client of a request, before it is handled.
pub(super) struct Client {
    method: Method,
    peer: Option<String>,
}

#[derive(Serialize)]
struct Line<'a> {
    time: String,
    user: Option<&'a str>,
    peer: Option<&'a str>,
    method: &'a str,
    /// The route; `null` for what belongs to none.
    route: Option<&'a str>,
    run: Option<&'a str>,
    changes: &'a [String],
    status: u16,
}

impl Audit {
    /// Appends to a file that only this user can read, or to the standard output for `-`.
    pub fn open(path: &Path) -> io::Result<Self> {
        let log: Box<dyn Write + Send> = if path == Path::new(STDOUT) {
            Box::new(io::stdout())
        } else {
            let mut options = OpenOptions::new();
            Box::new(options.create(true).append(true).mode(0o600).open(path)?)
        };
        Ok(Self(Some(Arc::new(Mutex::new(log)))))
    }

    /// Writes a line about an answer, if it changed something or refuses.
    pub(super) fn note(&self, client: &Client, viewer: Option<&Viewer>, response: &Response) {
        let Some(log) = &self.0 else { return };
        let status = response.status();
        let change = response.extensions().get::<Change>();
        let refused = [StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN].contains(&status);
        if change.is_none() && !refused {
            return;
        }
        let line = Line {
            time: jiff::Timestamp::now().to_string(),
            user: viewer.and_then(Viewer::name),
            peer: client.peer.as_deref(),
            method: client.method.as_str(),
            route: response.extensions().get().map(MatchedPath::as_str),
            run: change.and_then(|change| change.run.as_deref()),
            changes: change.map_or(&[], |change| &change.what),
            status: status.as_u16(),
        };
        let written = serde_json::to_string(&line).map_err(io::Error::other);
        let written = written.and_then(|line| {
            let mut log = log.lock();
            log.write_all((line + "\n").as_bytes())?;
            log.flush()
        });
        if let Err(error) = written {
            tracing::error!(%error, "the audit log cannot be written");
        }
    }
}

impl Client {
    pub(super) fn of(request: &Request) -> Self {
        let peer = request.extensions().get::<ConnectInfo<SocketAddr>>();
        Self {
            method: request.method().clone(),
            peer: peer.map(|ConnectInfo(peer)| peer.ip().to_canonical().to_string()),
        }
    }
}

/// Notes in an answer that something was changed.
pub(super) fn changed(mut response: Response, run: Option<&str>, what: Vec<String>) -> Response {
    response.extensions_mut().insert(Change {
        run: run.map(str::to_owned),
        what,
    });
    response
}

/// The fields of an object that differ, as `name.field: before → after`.
pub(super) fn differences(
    name: &str,
    before: &impl Serialize,
    after: &impl Serialize,
) -> Vec<String> {
    let object = |value: Result<Value, _>| match value {
        Ok(Value::Object(fields)) => fields,
        _ => serde_json::Map::new(),
    };
    let before = object(serde_json::to_value(before));
    let after = object(serde_json::to_value(after));
    let names: std::collections::BTreeSet<_> = before.keys().chain(after.keys()).collect();
    let changed = names
        .into_iter()
        .filter(|field| before.get(*field) != after.get(*field));
    let text = |value: Option<&Value>| shortened(&value.unwrap_or(&Value::Null).to_string());
    changed
        .map(|field| {
            let (before, after) = (text(before.get(field)), text(after.get(field)));
            format!("{name}.{field}: {before} → {after}")
        })
        .collect()
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
