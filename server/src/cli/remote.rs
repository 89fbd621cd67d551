//! Requests of commands to a running server: the server of a run, or of a URL.

use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use trainscope_api::error::ApiError;
use trainscope_api::paths;
use trainscope_api::runs::RunList;
use trainscope_api::sessions::{Session, SessionList, SessionState};

use super::mistake::Mistake;
use super::state::{Presence, ServerState, StateDir, token_of_env};
use crate::discovery::base::bases;

/// Timeout of a request.
const PATIENCE: Duration = Duration::from_secs(10);
/// Largest answer: a list of many runs.
const ANSWER_LIMIT_BYTES: u64 = 256 << 20;

/// A server and one of its runs.
pub(super) struct Remote {
    pub(super) address: String,
    token: Option<String>,
    /// Name of the run on this server.
    pub(super) run: String,
    agent: ureq::Agent,
}

pub(super) enum RequestError {
    /// The server has answered with an error, and this body.
    Refused(Option<ApiError>, Vec<u8>),
    /// No answer.
    Silent(String),
}

impl RequestError {
    pub(super) fn into_mistake(self, address: &str) -> Mistake {
        match self {
            Self::Refused(Some(error), _) => Mistake::new(1, error.message).at(address),
            Self::Refused(None, _) => {
                Mistake::new(1, "the server gave an answer of another program").at(address)
            }
            Self::Silent(error) => Mistake::new(1, format!("the server does not answer: {error}"))
                .at(address)
                .attempt("trainscope status"),
        }
    }
}

impl Remote {
    /// Finds the server that serves a run, by its folder or its name on the page.
    pub(super) fn find(run: &str, server: Option<&str>) -> Result<Self, Mistake> {
        if let Some(address) = server {
            let token = token_of_env();
            let remote = Self::new(address, token, run);
            return if remote.has_run()? {
                Ok(remote)
            } else {
                Err(no_run(run)
                    .at(address.to_owned())
                    .attempt("the name of the run on the page of this server"))
            };
        }
        let folder = Path::new(run).canonicalize().ok();
        let servers = StateDir::of_user().map_err(Mistake::from)?.servers();
        let mut failed = None;
        for (state, presence) in &servers {
            if !matches!(presence, Presence::Answers(_)) {
                continue;
            }
            let token = state.token();
            let below = folder.as_ref().and_then(|folder| {
                bases(&state.base_dirs).iter().find_map(|base| {
                    let below = folder.strip_prefix(&base.dir).ok()?.to_str()?;
                    Some(base.run_name(if below.is_empty() { "." } else { below }))
                })
            });
            let remote = Self::new(&state.address(), token, below.as_deref().unwrap_or(run));
            match remote.has_run() {
                Ok(true) => return Ok(remote),
                Ok(false) => {}
                // Another server may have it.
                Err(mistake) => {
                    failed.get_or_insert(mistake);
                }
            }
        }
        if let Some(mistake) = failed {
            return Err(mistake);
        }
        if servers.is_empty() {
            return Err(
                Mistake::new(2, "no trainscope is running on this machine for this user")
                    .attempt("trainscope start --summary-base-dir DIR, or --server URL"),
            );
        }
        Err(no_run(run)
            .attempt("trainscope status; the folder of the run, or its name on the page"))
    }

    fn new(address: &str, token: Option<String>, run: &str) -> Self {
        let agent = ureq::Agent::config_builder()
            .timeout_global(Some(PATIENCE))
            .http_status_as_error(false)
            .max_redirects(0)
            .build()
            .new_agent();
        Self {
            address: address.trim_end_matches('/').to_owned(),
            token: token.map(|token| token.trim().to_owned()),
            run: run.to_owned(),
            agent,
        }
    }

    fn has_run(&self) -> Result<bool, Mistake> {
        let is_served = self.get::<RunList>(paths::RUNS);
        let list = is_served.map_err(|error| error.into_mistake(&self.address))?;
        if list.runs.iter().any(|run| run.id == self.run) {
            return Ok(true);
        }
        Ok(self
            .sessions()?
            .iter()
            .any(|session| session.name == self.run))
    }

    /// Names of the trainings that wait at a server of this user; empty if it does not answer.
    pub(super) fn waiting_at(server: &ServerState) -> Vec<String> {
        let remote = Self::new(&server.address(), server.token(), "");
        let sessions = remote.sessions().unwrap_or_default().into_iter();
        let waits = |session: &Session| session.state == SessionState::Waiting;
        sessions.filter(waits).map(|session| session.name).collect()
    }

    fn sessions(&self) -> Result<Vec<Session>, Mistake> {
        let list = self.get::<SessionList>(paths::SESSIONS);
        Ok(list
            .map_err(|error| error.into_mistake(&self.address))?
            .sessions)
    }

    /// The session of the run: the newest that is connected, or else the newest.
    pub(super) fn session(&self) -> Result<Option<Session>, Mistake> {
        let mut all = self.sessions()?.into_iter();
        Ok(all.find(|session| session.name == self.run))
    }

    pub(super) fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, RequestError> {
        let mut request = self.agent.get(format!("{}{path}", self.address));
        if let Some(token) = &self.token {
            request = request.header("Authorization", format!("Bearer {token}"));
        }
        answer(request.call())
    }

    pub(super) fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> Result<T, RequestError> {
        let mut request = self
            .agent
            .post(format!("{}{path}", self.address))
            .header("Content-Type", "application/json");
        if let Some(token) = &self.token {
            request = request.header("Authorization", format!("Bearer {token}"));
        }
        let text =
            serde_json::to_vec(body).map_err(|error| RequestError::Silent(error.to_string()))?;
        answer(request.send(&text[..]))
    }
}

fn no_run(run: &str) -> Mistake {
    Mistake::new(2, format!("no server has a run {run}"))
}

fn answer<T: DeserializeOwned>(
    response: Result<ureq::http::Response<ureq::Body>, ureq::Error>,
) -> Result<T, RequestError> {
    let silent = |error: ureq::Error| RequestError::Silent(error.to_string());
    let mut response = response.map_err(silent)?;
    let body = response.body_mut().with_config().limit(ANSWER_LIMIT_BYTES);
    let body = body.read_to_vec().map_err(silent)?;
    if response.status().is_success()
        && let Ok(value) = serde_json::from_slice(&body)
    {
        return Ok(value);
    }
    Err(RequestError::Refused(
        serde_json::from_slice(&body).ok(),
        body,
    ))
}
