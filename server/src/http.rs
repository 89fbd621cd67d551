//! The routes: the API over the index, the page, and the guard of both.
//!
//! Handlers only read. Every answer passes `guard`, which adds the headers that keep it on this origin.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use axum::{Extension, Router, middleware};
use tokio::sync::watch;
use tower_http::compression::CompressionLayer;
use trainscope_api::error::ErrorCode;
use trainscope_api::status::AccessRole;

use crate::index::Index;
use crate::judging::Judgements;
use crate::notebook::Notebooks;
use crate::people;
use crate::pulse::Pulse;

pub mod access;
mod assets;
mod audit;
mod blob;
mod compare;
mod distributions;
mod error;
mod findings;
mod graph;
mod guard;
mod headers;
mod importance;
mod landscape;
mod live;
mod login;
mod markdown;
mod metrics;
mod neighbours;
mod notebook;
mod openapi;
mod pipeline;
mod probes;
mod profile;
mod records;
mod refusals;
mod request;
mod runs;
mod scalars;
mod serve;
mod sessions;
mod status;
mod stream;
mod table;
mod tags;
mod tensors;
#[cfg(test)]
mod tests;
mod timeline;
mod token_page;
mod watchpoints;

pub use assets::{Assets, AssetsError};
pub use audit::Audit;
pub use login::{Login, Settings as LoginSettings};
pub use metrics::Metrics;
pub use serve::serve;
pub use table::prepare;

/// Shared state of the handlers. Cloning is cheap.
#[derive(Clone)]
pub struct Site(Arc<Parts>);

/// Parts of a [`Site`].
pub struct Parts {
    /// Index of recorded data.
    pub index: Index,
    /// Findings of each run.
    pub judgements: Judgements,
    /// Cached profiles.
    pub profiles: crate::profiles::Profiles,
    /// Cached graphs.
    pub graphs: crate::queries::Graphs,
    /// Colours of the runs.
    pub colours: crate::colours::Colours,
    /// Table of all runs.
    pub tables: crate::table::Tables,
    /// Notes of users.
    pub notebooks: Notebooks,
    /// Cached comparisons.
    pub comparisons: crate::comparison::Comparisons,
    /// Connected trainings.
    pub sessions: crate::session::Sessions,
    /// Cached results about tensors.
    pub tensors: crate::tensors::Memory,
    /// Identity of the server.
    pub about: About,
    /// Access rules.
    pub access: access::Access,
    /// Login by proxies.
    pub login: Login,
    /// Log of changes.
    pub audit: Audit,
    /// True if no request may change anything.
    pub is_read_only: bool,
    /// Signs of life of the thread that reads; `None` in tests.
    pub reading: Option<Pulse>,
    /// The same of the thread that judges.
    pub judging: Option<Pulse>,
    /// Counts of requests.
    pub metrics: Metrics,
    /// The page.
    pub assets: Assets,
    /// Path prefix of all URLs: empty, or `/` and a path without `/` at its end.
    pub prefix: String,
    /// Becomes true at shutdown, to end streams.
    pub ending: watch::Receiver<bool>,
}

/// Identity of the server: the constant part of `/api/status`.
#[derive(Clone, Debug)]
pub struct About {
    /// Process id.
    pub pid: u32,
    /// Seconds since 1970 at which the server started.
    pub started_secs: f64,
    /// Canonical paths of the base directories.
    pub base_dirs: Vec<PathBuf>,
}

impl Site {
    /// Creates a site from its parts.
    pub fn new(parts: Parts) -> Self {
        Self(Arc::new(parts))
    }

    /// Checks that the person who asks may change a run; with `None` what belongs to all runs.
    fn permit(&self, wanted: AccessRole, run: Option<&str>) -> Result<(), error::Failure> {
        if self.is_read_only {
            let message = "this server was started with --read-only and changes nothing";
            return Err(error::Failure::new(ErrorCode::ReadOnly, message));
        }
        let viewer = people::current();
        let role = match run {
            Some(run) => viewer.role_in(run),
            None => viewer.role_in_all(),
        };
        match (role, run) {
            (Some(role), _) if role >= wanted => Ok(()),
            (None, Some(run)) => Err(error::Failure::unknown_run(run)),
            (_, run) => {
                let what = run.map_or("all runs".to_owned(), |run| format!("`{run}`"));
                let message = format!("your role does not allow this change in {what}");
                Err(error::Failure::new(ErrorCode::Forbidden, message))
            }
        }
    }
}

impl std::ops::Deref for Site {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}

/// All routes, below the prefix of `site`.
///
/// [`serve`] adds the address of the client: an answer to an unknown client counts as one for this machine and is not
/// compressed.
pub fn router(site: Site) -> Router {
    let all = openapi::handlers()
        .route(
            trainscope_api::paths::SESSION_CONNECT,
            axum::routing::get(sessions::connect),
        )
        .route("/api", any(error::unknown_path))
        .route("/api/", any(error::unknown_path))
        .route("/api/{*rest}", any(error::unknown_path))
        .route("/metrics", axum::routing::get(metrics::get))
        .route_layer(middleware::from_fn(metrics::mark))
        .fallback(assets::get)
        .method_not_allowed_fallback(error::method_not_allowed)
        .layer(Extension(openapi::Document::new(&site.prefix)));
    let placed = if site.prefix.is_empty() {
        all
    } else {
        // The prefix alone, without the slash that relative URLs need, is redirected in `outside`.
        Router::new()
            .nest_service(&format!("{}/", site.prefix), all.with_state(site.clone()))
            .fallback(assets::outside)
    };
    placed
        .layer(middleware::from_fn(guard::mark))
        .layer(CompressionLayer::new().compress_when(guard::ForOtherMachines))
        .layer(middleware::from_fn_with_state(site.clone(), guard::guard))
        .merge(probes::routes(&site.prefix))
        .layer(middleware::from_fn_with_state(site.clone(), metrics::count))
        .with_state(site)
}

/// The metrics alone, without access control, for a separate address.
pub fn metrics_router(site: Site) -> Router {
    let router = Router::new().route("/metrics", axum::routing::get(metrics::get));
    router.with_state(site)
}

/// An API answer: `value` as JSON, uncached.
fn json<T: serde::Serialize>(value: &T) -> Result<Response, error::Failure> {
    json_text(serde_json::to_vec(value))
}

/// An API answer that is JSON already.
fn json_text(text: serde_json::Result<Vec<u8>>) -> Result<Response, error::Failure> {
    let body =
        text.map_err(|error| error::Failure::internal("an answer cannot be written", &error))?;
    Ok((
        [(CONTENT_TYPE, "application/json"), headers::NO_STORE],
        body,
    )
        .into_response())
}

/// Runs blocking work off the async threads.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, error::Failure> + Send + 'static,
) -> Result<T, error::Failure> {
    match tokio::task::spawn_blocking(people::carry(work)).await {
        Ok(result) => result,
        Err(error) => Err(error::Failure::internal("an answer was given up", &error)),
    }
}

/// Becomes true when the future of a request is dropped: its client has left, or asks something else.
struct Cancellation(Arc<AtomicBool>);

impl Drop for Cancellation {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// Like [`blocking`], for work that polls a flag: it becomes true when the client is gone.
async fn cancellable<T: Send + 'static>(
    work: impl FnOnce(&Arc<AtomicBool>) -> Result<T, error::Failure> + Send + 'static,
) -> Result<T, error::Failure> {
    let flag = Arc::default();
    let _cancellation = Cancellation(Arc::clone(&flag));
    blocking(move || work(&flag)).await
}
