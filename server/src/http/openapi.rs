//! `GET /api/openapi.json`: this API as an `OpenAPI` document, and the routes that it describes.
//!
//! The document is a file: the program carries no schemas. A test generates it from the declarations of the handlers
//! and compares.

use std::sync::Arc;

use axum::response::Response;
use axum::{Extension, Router, routing};
use serde_json::{Value, json};

use super::error::Failure;
use super::{
    Site, blob, compare, distributions, findings, graph, importance, json_text, landscape, live,
    markdown, neighbours, notebook, pipeline, profile, records, runs, scalars, sessions, status,
    table, tags, tensors, timeline, watchpoints,
};

#[cfg(test)]
mod document;

/// The document without its version and its server.
const DOCUMENT: &str = include_str!("openapi.json");

/// Passes all routes but that of the document to a macro: method, handler, path.
macro_rules! with_routes {
    ($called:ident) => {
        $called! {
            get status::get "/api/status",
            get runs::get "/api/runs",
            get tags::get "/api/tags",
            post tags::post "/api/tags",
            get scalars::get "/api/scalars",
            post scalars::post "/api/scalars",
            get findings::get "/api/findings",
            get neighbours::get "/api/neighbours",
            get watchpoints::conditions "/api/conditions",
            get watchpoints::get "/api/watchpoints",
            put watchpoints::put "/api/watchpoints",
            post watchpoints::recheck "/api/recheck",
            get compare::get "/api/compare",
            get compare::map "/api/compare/map",
            get notebook::get "/api/notebook",
            patch notebook::patch "/api/notebook",
            get records::histograms "/api/histograms",
            post distributions::post "/api/distributions",
            get records::images "/api/images",
            get records::audio "/api/audio",
            get records::text "/api/text",
            get markdown::get "/api/markdown",
            get records::tensors "/api/tensors",
            get tensors::index "/api/tensor_index",
            get tensors::values "/api/tensor",
            get tensors::summary "/api/tensor_summary",
            get tensors::history "/api/tensor_history",
            get tensors::file "/api/tensor_file",
            get records::pr_curves "/api/pr_curves",
            get records::custom_scalars "/api/custom_scalars",
            get records::landscapes "/api/landscapes",
            get records::explanations "/api/explanations",
            get records::statistics "/api/statistics",
            get records::profiles "/api/profiles",
            get records::dumps "/api/dumps",
            get records::recorded_hits "/api/recorded_hits",
            get records::losses "/api/losses",
            get table::columns "/api/table/columns",
            post table::post "/api/table",
            get table::row "/api/table/row",
            get table::pipelines "/api/table/pipelines",
            post importance::post "/api/importance",
            post importance::pair_of "/api/importance/pair",
            get records::lineage "/api/lineage",
            get records::hparams "/api/hparams",
            get records::program "/api/program",
            get pipeline::get "/api/pipeline",
            get landscape::settings "/api/landscape/settings",
            get profile::get "/api/profile",
            get profile::overview "/api/profile/overview",
            get profile::operators "/api/profile/operators",
            get profile::operator "/api/profile/operator",
            get profile::memory "/api/profile/memory",
            get profile::ranks "/api/profile/ranks",
            get profile::flame "/api/profile/flame",
            get profile::diff "/api/profile/diff",
            post profile::sql "/api/profile/sql",
            get timeline::get "/api/timeline",
            get timeline::lanes "/api/timeline/lanes",
            get timeline::slice "/api/timeline/slice",
            get timeline::step "/api/timeline/step",
            get timeline::area "/api/timeline/area",
            get timeline::path "/api/timeline/path",
            get timeline::search "/api/timeline/search",
            get graph::get "/api/graph",
            get graph::scene "/api/graph/scene",
            get graph::summary "/api/graph/summary",
            get graph::node "/api/graph/node",
            get graph::search "/api/graph/search",
            get graph::diff "/api/graph/diff",
            get blob::get "/api/blob",
            get live::get "/api/live",
            get sessions::list "/api/sessions",
            post sessions::command "/api/session/command",
            get sessions::tensors "/api/session/tensors",
            get sessions::nodes "/api/session/nodes",
            post sessions::attach "/api/session/attach",
        }
    };
}
#[cfg(test)]
use with_routes;

macro_rules! router {
    ($($method:ident $module:ident::$handler:ident $path:literal,)+) => {
        /// Router of all documented paths.
        pub(super) fn handlers() -> Router<Site> {
            Router::new()
                .route(trainscope_api::paths::OPENAPI, routing::get(get))
                $(.route($path, routing::$method($module::$handler)))+
        }
    };
}

with_routes!(router);

/// The server entry of the document: everything is below its prefix.
#[derive(Clone)]
pub(super) struct Document(Arc<str>);

impl Document {
    pub(super) fn new(prefix: &str) -> Self {
        Self(if prefix.is_empty() { "/" } else { prefix }.into())
    }
}

/// This document
#[cfg_attr(test, utoipa::path(
    get, path = "/api/openapi.json", operation_id = "openapi",
    responses((status = 200, description = "An OpenAPI 3.1 document", content_type = "application/json", body = Object))
))]
pub(super) async fn get(
    Extension(Document(server)): Extension<Document>,
) -> Result<Response, Failure> {
    let text = serde_json::from_str(DOCUMENT).map(|mut document: Value| {
        document["info"]["version"] = env!("CARGO_PKG_VERSION").into();
        document["servers"] = json!([{ "url": &*server }]);
        document.to_string().into()
    });
    json_text(text)
}
