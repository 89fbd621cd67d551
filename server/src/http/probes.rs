//! `/healthz` and `/readyz`: probes of the platform on which the server runs.
//!
//! They answer before access control, name nothing, and read nothing from the disk.

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::X_CONTENT_TYPE_OPTIONS;
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use super::Site;
use super::headers::NO_STORE;

/// Routes of the probes: at the root for a platform that knows no prefix, and below the prefix.
pub(super) fn routes(prefix: &str) -> Router<Site> {
    let mut routes = Router::new();
    for prefix in std::collections::BTreeSet::from(["", prefix]) {
        routes = routes
            .route(&format!("{prefix}/healthz"), get(alive))
            .route(&format!("{prefix}/readyz"), get(ready));
    }
    routes
}

/// Succeeds while the threads that read and judge come round: what else fails, a restart mends.
async fn alive(State(site): State<Site>) -> Response {
    let stuck = [&site.reading, &site.judging]
        .iter()
        .any(|pulse| pulse.as_ref().is_some_and(|pulse| !pulse.is_beating()));
    if stuck {
        refuse("a thread that reads or judges has ended or is stuck")
    } else {
        agree()
    }
}

/// Succeeds once all folders were walked, until the server ends.
async fn ready(State(site): State<Site>) -> Response {
    if *site.ending.borrow() {
        refuse("the server ends")
    } else if site.index.listing().is_none() {
        refuse("the folders are being listed for the first time")
    } else {
        agree()
    }
}

fn agree() -> Response {
    answer(StatusCode::OK, "ok")
}

fn refuse(reason: &'static str) -> Response {
    answer(StatusCode::SERVICE_UNAVAILABLE, reason)
}

fn answer(status: StatusCode, text: &'static str) -> Response {
    let headers = [NO_STORE, (X_CONTENT_TYPE_OPTIONS, "nosniff")];
    (status, headers, text).into_response()
}
