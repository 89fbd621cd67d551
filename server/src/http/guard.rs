//! Middleware: host, origin and token checks for requests; security headers for answers.

use std::net::SocketAddr;

use axum::extract::{ConnectInfo, Request, State};
use axum::http::header::{self, AUTHORIZATION, COOKIE, HOST, ORIGIN, WWW_AUTHENTICATE};
use axum::http::{Extensions, HeaderMap, HeaderName, HeaderValue, Version};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tower_http::compression::predicate::Predicate;
use trainscope_api::error::ErrorCode;

use super::Site;
use super::access::{Access, Token};
use super::error::Failure;
use super::headers::POLICY;
use super::token_page;

/// Size below which answers are not compressed.
const COMPRESS_FROM_BYTES: u64 = 64 << 10;

/// Marks an answer to another machine.
#[derive(Clone, Copy)]
struct Beyond;

/// Compression costs more than a request on loopback, and saves time only on slower networks.
#[derive(Clone, Copy)]
pub(super) struct ForOtherMachines;

impl Predicate for ForOtherMachines {
    fn should_compress<B: axum::body::HttpBody>(&self, response: &axum::http::Response<B>) -> bool {
        response.extensions().get::<Beyond>().is_some()
            && response.body().size_hint().lower() >= COMPRESS_FROM_BYTES
    }
}

/// Marks answers to clients on other machines; must be inside of the compression layer.
pub(super) async fn mark(request: Request, next: Next) -> Response {
    let beyond = is_beyond(request.extensions());
    let mut response = next.run(request).await;
    if beyond {
        response.extensions_mut().insert(Beyond);
    }
    response
}

fn is_beyond(extensions: &Extensions) -> bool {
    extensions
        .get::<ConnectInfo<SocketAddr>>()
        .is_some_and(|ConnectInfo(peer)| !peer.ip().to_canonical().is_loopback())
}

/// Checks a request, and adds headers to the answer.
pub(super) async fn guard(State(site): State<Site>, request: Request, next: Next) -> Response {
    let mut response = match check(&site, &request) {
        Pass::On => next.run(request).await,
        Pass::Answer(response) => response,
        Pass::Ask(token) => {
            let cookie_name = cookie_name(&request);
            token_page::answer(&site, &token, &cookie_name, request).await
        }
    };
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        ),
        // Foreign pages must not load an answer into their process, not even as an image or a script.
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "same-origin",
        ),
    ] {
        // The page that asks for the token has rules of its own.
        let own = headers.entry(name);
        own.or_insert(HeaderValue::from_static(value));
    }
    response
}

enum Pass {
    On,
    Answer(Response),
    /// The page that asks for this token.
    Ask(Token),
}

fn check(site: &Site, request: &Request) -> Pass {
    if let Err(failure) = check_names(&site.access, request) {
        return Pass::Answer(failure.into_response());
    }
    let Some(token) = site.access.token() else {
        return Pass::On;
    };
    let cookie_name = cookie_name(request);
    if is_known(token, request.headers(), &cookie_name) {
        return Pass::On;
    }
    let path = request.uri().path();
    let api = format!("{}/api", site.prefix);
    let is_api = path
        .strip_prefix(&api)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    if is_api {
        let failure = Failure::new(
            ErrorCode::TokenWanted,
            "this server wants its token: as `Authorization: Bearer`, or once as `/?token=`",
        );
        return Pass::Answer(([(WWW_AUTHENTICATE, "Bearer")], failure).into_response());
    }
    Pass::Ask(token.clone())
}

fn check_names(access: &Access, request: &Request) -> Result<(), Failure> {
    let foreign = |what: &str, name: &str| {
        Failure::new(
            ErrorCode::ForeignOrigin,
            format!("`{what}: {name}` is not a name of this server; --allowed-host adds one"),
        )
    };
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let mut hosts = request.headers().get_all(HOST).iter();
    match (hosts.next(), hosts.next()) {
        (Some(host), None) => {
            let host = text(host);
            if !access.knows_host(&host) {
                return Err(foreign("Host", &host));
            }
        }
        // HTTP/2 has the host in the URI instead.
        (None, _) if request.version() == Version::HTTP_2 => {
            let host = request.uri().authority().map_or("", |name| name.as_str());
            if !access.knows_host(host) {
                return Err(foreign(":authority", host));
            }
        }
        _ => return Err(foreign("Host", "")),
    }
    for origin in request.headers().get_all(ORIGIN) {
        let origin = text(origin);
        if !access.knows_origin(&origin) {
            return Err(foreign("Origin", &origin));
        }
    }
    Ok(())
}

/// Cookies are shared by all ports, so servers on two ports of one machine would overwrite each other's.
fn cookie_name(request: &Request) -> String {
    let port = request
        .headers()
        .get(HOST)
        .and_then(|host| host.to_str().ok())
        .and_then(|host| host.rsplit_once(':'))
        .map(|(_, port)| port)
        .filter(|port| !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()))
        .unwrap_or("default");
    format!("trainscope-{port}")
}

fn is_known(token: &Token, headers: &HeaderMap, cookie_name: &str) -> bool {
    let bearer = headers
        .get(AUTHORIZATION)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split_once(' '))
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
        .map(|(_, given)| given.trim());
    if bearer.is_some_and(|given| token.is(given)) {
        return true;
    }
    headers
        .get_all(COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|cookie| cookie.trim().split_once('='))
        .any(|(name, given)| name == cookie_name && token.is(given))
}
