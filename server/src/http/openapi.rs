//! `GET /api/openapi.json`: this API as an `OpenAPI` document, made of the same declarations as the routes.

use std::sync::Arc;

use axum::Extension;
use axum::body::Bytes;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use trainscope_api::live::ChangeNotice;
use utoipa::OpenApi;
use utoipa::openapi::Server;

use super::guard::NO_STORE;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "trainscope",
        description = "What happens inside the training of a neural network. Numbers that may be NaN or infinite are \
                       written as \"NaN\", \"Infinity\", \"-Infinity\". Beyond this machine every request needs \
                       `Authorization: Bearer` with the server's token, or the cookie that `/?token=` sets.",
        license(name = "Apache-2.0", identifier = "Apache-2.0"),
    ),
    components(schemas(ChangeNotice))
)]
struct Api;

/// The document without its paths, for a server below `prefix`.
pub(super) fn document(prefix: &str) -> utoipa::openapi::OpenApi {
    let mut document = Api::openapi();
    env!("CARGO_PKG_VERSION").clone_into(&mut document.info.version);
    document.servers = Some(vec![Server::new(if prefix.is_empty() {
        "/"
    } else {
        prefix
    })]);
    document
}

/// The finished document.
#[derive(Clone)]
pub(super) struct Document(Arc<Bytes>);

impl Document {
    pub(super) fn new(document: &utoipa::openapi::OpenApi) -> Self {
        let text = document.to_json().unwrap_or_else(|error| {
            tracing::error!(%error, "the OpenAPI document cannot be written");
            "{}".to_owned()
        });
        Self(Arc::new(text.into()))
    }
}

/// This document
#[utoipa::path(
    get,
    path = "/api/openapi.json",
    operation_id = "openapi",
    responses((status = 200, description = "An OpenAPI 3.1 document", content_type = "application/json", body = Object))
)]
pub(super) async fn get(Extension(Document(text)): Extension<Document>) -> Response {
    (
        [(CONTENT_TYPE, "application/json"), NO_STORE],
        Bytes::clone(&text),
    )
        .into_response()
}
