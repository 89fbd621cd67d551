//! `GET /api/openapi.json`: this API as an `OpenAPI` document, generated from the declarations of the routes.

use std::sync::Arc;

use axum::handler::Handler;
use axum::response::Response;
use axum::routing::{self, MethodFilter, MethodRouter};
use axum::{Extension, Router};
use serde_json::Value;
use trainscope_api::compare::Align;
use trainscope_api::error::ApiError;
use trainscope_api::live::ChangeNotice;
use trainscope_api::profile::OperatorGroup;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, Http, HttpAuthScheme, SecurityScheme};
use utoipa::openapi::{ContentBuilder, HttpMethod, Ref, RefOr, ResponseBuilder, Server};
use utoipa::{Modify, OpenApi, Path};

use super::error::Failure;
use super::{
    Site, blob, compare, distributions, findings, graph, importance, json_text, landscape, live,
    markdown, neighbours, notebook, pipeline, profile, records, runs, scalars, sessions, status,
    table, tags, tensors, timeline, watchpoints,
};

/// Declares the routes once, for the router and the document.
macro_rules! routes {
    ($($module:ident::$handler:ident),+ $(,)?) => { pastey::paste! {
        /// Router of all documented paths.
        pub(super) fn handlers() -> Router<Site> {
            Router::new()
                .route(&__path_get::path(), routing::get(get))
                $(.route(
                    &$module::[<__path_ $handler>]::path(),
                    on(&$module::[<__path_ $handler>]::methods(), &$module::$handler),
                ))+
        }

        #[derive(OpenApi)]
        #[openapi(paths(get, $($module::$handler),+), modifiers(&Errors))]
        struct Routes;
    } };
}

routes! {
    status::get,
    runs::get,
    tags::get,
    tags::post,
    scalars::get,
    scalars::post,
    findings::get,
    neighbours::get,
    watchpoints::conditions,
    watchpoints::get,
    watchpoints::put,
    watchpoints::recheck,
    compare::get,
    compare::map,
    notebook::get,
    notebook::patch,
    records::histograms,
    distributions::post,
    records::images,
    records::audio,
    records::text,
    markdown::get,
    records::tensors,
    tensors::index,
    tensors::values,
    tensors::summary,
    tensors::history,
    tensors::file,
    records::pr_curves,
    records::custom_scalars,
    records::landscapes,
    records::explanations,
    records::statistics,
    records::profiles,
    records::dumps,
    records::recorded_hits,
    records::losses,
    table::columns,
    table::post,
    table::row,
    table::pipelines,
    importance::post,
    importance::pair_of,
    records::lineage,
    records::hparams,
    records::program,
    pipeline::get,
    landscape::settings,
    profile::get,
    profile::overview,
    profile::operators,
    profile::operator,
    profile::memory,
    profile::ranks,
    profile::flame,
    profile::diff,
    timeline::get,
    timeline::lanes,
    timeline::slice,
    timeline::step,
    timeline::area,
    timeline::search,
    graph::get,
    graph::scene,
    graph::summary,
    graph::node,
    graph::search,
    graph::diff,
    blob::get,
    live::get,
    sessions::list,
    sessions::command,
    sessions::tensors,
    sessions::nodes,
    sessions::attach,
}

#[derive(OpenApi)]
#[openapi(
    info(
        title = "trainscope",
        description = "Runs of neural network trainings: records, findings, graphs and tensors. Numbers that may be NaN or infinite are \
                       written as \"NaN\", \"Infinity\", \"-Infinity\". Beyond this machine every request needs \
                       `Authorization: Bearer` with the server's token, or the cookie that `/?token=` sets. Trainings connect by a \
                       WebSocket at `/api/session/connect`, subprotocol `trainscope.live.1`, without `Origin`.",
        license(name = "Apache-2.0", identifier = "Apache-2.0"),
    ),
    components(schemas(Align, ApiError, ChangeNotice, OperatorGroup)),
    modifiers(&Token),
    // No authentication on this machine, the token beyond.
    security((), ("bearer" = []), ("cookie" = []))
)]
struct Api;

/// The ways to pass the token.
struct Token;

impl Modify for Token {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let components = document.components.get_or_insert_default();
        components.add_security_scheme(
            "bearer",
            SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer)),
        );
        components.add_security_scheme(
            "cookie",
            SecurityScheme::ApiKey(ApiKey::Cookie(ApiKeyValue::with_description(
                "trainscope-PORT",
                "Set by `/?token=`; the name ends in the port of the address",
            ))),
        );
    }
}

/// The answer of every path when something is wrong.
struct Errors;

impl Modify for Errors {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let error = ContentBuilder::new().schema(Some(Ref::from_schema_name("ApiError")));
        let answer = ResponseBuilder::new().description("Error with its reason");
        let answer: RefOr<_> = answer
            .content("application/json", error.build())
            .build()
            .into();
        for item in document.paths.paths.values_mut() {
            let operations = [
                &mut item.get,
                &mut item.post,
                &mut item.put,
                &mut item.patch,
            ];
            for operation in operations.into_iter().flatten() {
                let answers = &mut operation.responses.responses;
                answers
                    .entry("default".to_owned())
                    .or_insert_with(|| answer.clone());
            }
        }
    }
}

/// The server entry of the document: everything is below its prefix.
#[derive(Clone)]
pub(super) struct Document(Arc<str>);

impl Document {
    pub(super) fn new(prefix: &str) -> Self {
        Self(if prefix.is_empty() { "/" } else { prefix }.into())
    }
}

/// Routes a handler for the methods in the document.
fn on<T: 'static>(methods: &[HttpMethod], handler: &impl Handler<T, Site>) -> MethodRouter<Site> {
    let filter = |method: &HttpMethod| match method {
        HttpMethod::Get => MethodFilter::GET,
        HttpMethod::Post => MethodFilter::POST,
        HttpMethod::Put => MethodFilter::PUT,
        HttpMethod::Delete => MethodFilter::DELETE,
        HttpMethod::Options => MethodFilter::OPTIONS,
        HttpMethod::Head => MethodFilter::HEAD,
        HttpMethod::Patch => MethodFilter::PATCH,
        HttpMethod::Trace => MethodFilter::TRACE,
    };
    methods
        .iter()
        .map(filter)
        .fold(MethodRouter::new(), |routes, filter| {
            routes.on(filter, handler.clone())
        })
}

/// Removes links from descriptions: they are links within the source code.
fn plain_descriptions(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                match field {
                    Value::String(text) if name == "description" => *text = without_links(text),
                    _ => plain_descriptions(field),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(plain_descriptions),
        _ => {}
    }
}

/// `see [a](b) and [c]` becomes `see a and c`.
fn without_links(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, linked)) = rest.split_once('[') {
        let Some((words, after)) = linked.split_once(']') else {
            break;
        };
        plain.push_str(before);
        plain.push_str(words);
        rest = after
            .strip_prefix('(')
            .and_then(|target| target.split_once(')'))
            .map_or(after, |(_, after)| after);
    }
    plain + rest
}

/// This document
#[utoipa::path(
    get, path = "/api/openapi.json", operation_id = "openapi",
    responses((status = 200, description = "An OpenAPI 3.1 document", content_type = "application/json", body = Object))
)]
pub(super) async fn get(
    Extension(Document(server)): Extension<Document>,
) -> Result<Response, Failure> {
    // Built on request, which is rare: it takes longer than the rest of the start.
    let mut document = Api::openapi().merge_from(Routes::openapi());
    env!("CARGO_PKG_VERSION").clone_into(&mut document.info.version);
    document.servers = Some(vec![Server::new(&*server)]);
    let text = serde_json::to_value(&document).map(|mut document| {
        plain_descriptions(&mut document);
        document.to_string().into()
    });
    json_text(text)
}

#[cfg(test)]
mod tests {
    use super::without_links;

    #[test]
    fn links_become_words() {
        for (text, plain) in [
            ("1 to [`MAX`]; [`ONE`] if", "1 to `MAX`; `ONE` if"),
            ("as [`a`](crate::a) and [b c](d).", "as `a` and b c."),
            ("no link, a[0", "no link, a[0"),
            ("", ""),
        ] {
            assert_eq!(without_links(text), plain);
        }
    }
}
