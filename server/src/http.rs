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

use crate::index::Index;
use crate::judging::Judgements;
use crate::notebook::Notebooks;

pub mod access;
mod assets;
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
mod markdown;
mod neighbours;
mod notebook;
mod openapi;
mod pipeline;
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
        .with_state(site)
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
    match tokio::task::spawn_blocking(work).await {
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
