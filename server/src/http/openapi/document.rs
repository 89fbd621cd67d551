//! Generates the document from the declarations of the handlers.

use std::fs;
use std::path::Path;

use serde_json::Value;
use trainscope_api::compare::Align;
use trainscope_api::error::ApiError;
use trainscope_api::live::ChangeNotice;
use trainscope_api::profile::OperatorGroup;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, Http, HttpAuthScheme, SecurityScheme};
use utoipa::openapi::{ContentBuilder, HttpMethod, Ref, RefOr, ResponseBuilder};
use utoipa::{Modify, OpenApi, Path as _};

use super::super::{
    blob, compare, distributions, findings, graph, importance, landscape, live, markdown,
    neighbours, notebook, pipeline, profile, records, runs, scalars, sessions, status, table, tags,
    tensors, timeline, watchpoints,
};
use super::{__path_get, DOCUMENT, with_routes};

/// Rewrites the document instead of comparing it.
const REWRITE: &str = "TRAINSCOPE_WRITE_DOCS";

macro_rules! declarations {
    ($($method:ident $module:ident::$handler:ident $path:literal,)+) => { pastey::paste! {
        #[derive(OpenApi)]
        #[openapi(paths(get, $($module::$handler),+), modifiers(&Errors))]
        struct Routes;

        /// Methods and paths of the router and those of the declarations.
        fn declared() -> Vec<[(String, String); 2]> {
            vec![$([
                (stringify!($method).to_uppercase(), $path.to_owned()),
                (
                    method(&$module::[<__path_ $handler>]::methods()),
                    $module::[<__path_ $handler>]::path(),
                ),
            ]),+]
        }
    } };
}

with_routes!(declarations);

fn method(methods: &[HttpMethod]) -> String {
    let [only] = methods else {
        panic!("one method a handler");
    };
    serde_json::to_value(only)
        .unwrap()
        .as_str()
        .unwrap()
        .to_uppercase()
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

fn generated() -> Value {
    let mut document = Api::openapi().merge_from(Routes::openapi());
    document.info.version.clear();
    let mut document = serde_json::to_value(&document).unwrap();
    plain_descriptions(&mut document);
    document
}

#[test]
fn the_document_is_that_of_the_handlers() {
    let text = serde_json::to_string_pretty(&generated()).unwrap() + "\n";
    if std::env::var_os(REWRITE).is_some() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/http/openapi.json");
        fs::write(path, &text).unwrap();
        return;
    }
    assert!(
        text == DOCUMENT,
        "{REWRITE}=1 with this test writes openapi.json again"
    );
}

#[test]
fn routes_are_as_declared() {
    for [routed, declared] in declared() {
        assert_eq!(routed, declared);
    }
}

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
