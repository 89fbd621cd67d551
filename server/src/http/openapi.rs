//! `GET /api/openapi.json`: this API as an `OpenAPI` document, made of the same declarations as the routes.

use std::sync::Arc;

use axum::Extension;
use axum::response::Response;
use serde_json::Value;
use trainscope_api::live::ChangeNotice;
use utoipa::openapi::Server;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, Http, HttpAuthScheme, SecurityScheme};
use utoipa::{Modify, OpenApi};

use super::error::Failure;
use super::json_text;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "trainscope",
        description = "What happens inside the training of a neural network. Numbers that may be NaN or infinite are \
                       written as \"NaN\", \"Infinity\", \"-Infinity\". Beyond this machine every request needs \
                       `Authorization: Bearer` with the server's token, or the cookie that `/?token=` sets.",
        license(name = "Apache-2.0", identifier = "Apache-2.0"),
    ),
    components(schemas(ChangeNotice)),
    modifiers(&Token),
    // Nothing on this machine, the token beyond.
    security((), ("bearer" = []), ("cookie" = []))
)]
struct Api;

/// The ways to show the token.
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

/// The finished document. It is written when somebody asks, which is seldom; starting does not wait for it.
#[derive(Clone)]
pub(super) struct Document(Arc<utoipa::openapi::OpenApi>);

impl Document {
    pub(super) fn new(document: utoipa::openapi::OpenApi) -> Self {
        Self(Arc::new(document))
    }
}

/// Takes links out of descriptions: they come from the sources and lead to other places of the sources.
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
    get,
    path = "/api/openapi.json",
    operation_id = "openapi",
    responses((status = 200, description = "An OpenAPI 3.1 document", content_type = "application/json", body = Object))
)]
pub(super) async fn get(
    Extension(Document(document)): Extension<Document>,
) -> Result<Response, Failure> {
    let text = serde_json::to_value(&*document).map(|mut document| {
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
