//! Middleware: host, origin and token checks for requests; security headers for answers.

use std::borrow::Cow;
use std::net::SocketAddr;

use axum::extract::{ConnectInfo, Request, State};
use axum::http::header::{self, AUTHORIZATION, COOKIE, HOST, ORIGIN, WWW_AUTHENTICATE};
use axum::http::{Extensions, HeaderName, HeaderValue, Version};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use subtle::ConstantTimeEq as _;
use tower_http::compression::predicate::Predicate;
use trainscope_api::error::ErrorCode;

use super::Site;
use super::access::{Access, Token};
use super::audit::Client;
use super::error::Failure;
use super::headers::POLICY;
use super::login::Claim;
use super::token_page;
use crate::people::Viewer;

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

/// Marks answers to clients on other machines; must be inside the compression layer.
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

/// Checks a request, handles it on behalf of its person, and adds headers to the answer.
pub(super) async fn guard(State(site): State<Site>, mut request: Request, next: Next) -> Response {
    let client = Client::of(&request);
    let claim = site.login.take(&mut request);
    let mut known = None;
    let mut response = match check(&site, &request, claim) {
        Pass::On(viewer) => {
            known = Some(viewer.clone());
            viewer.scope(next.run(request)).await
        }
        Pass::Answer(response) => response,
        Pass::Ask(token) => {
            let cookie = cookie(&site, &token, &request);
            token_page::answer(&site, &token, &cookie, request).await
        }
    };
    site.audit.note(&client, known.as_ref(), &response);
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
        // The page that asks for the token sets its policy itself.
        let header = headers.entry(name);
        header.or_insert(HeaderValue::from_static(value));
    }
    response
}

enum Pass {
    On(Viewer),
    Answer(Response),
    /// The page that asks for this token.
    Ask(Token),
}

fn check(site: &Site, request: &Request, claim: Claim) -> Pass {
    if let Err(failure) = check_names(&site.access, request) {
        return Pass::Answer(failure.into_response());
    }
    let token = site.access.token();
    let holds_token = token.is_some_and(|token| is_known(site, token, request));
    let token = match (claim, token) {
        (Claim::Person(viewer), _) => return Pass::On(viewer),
        // The holder of the token, also beside a proxy: a command on its machine.
        _ if holds_token => return Pass::On(Viewer::default()),
        (Claim::Nobody(failure), _) => return Pass::Answer(failure.into_response()),
        (Claim::Nothing, None) => return Pass::On(Viewer::default()),
        (Claim::Nothing, Some(token)) => token,
    };
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
    let refused = |message: String| Failure::new(ErrorCode::ForeignOrigin, message);
    let headers = request.headers();
    let host = host_of(request);
    if headers.get_all(HOST).iter().count() > 1 || !access.knows_host(&host) {
        return Err(refused(format!(
            "`Host: {host}` is not a name of this server; --allowed-host adds one"
        )));
    }
    let site = text_of(headers.get("sec-fetch-site"));
    let is_same = site == "same-origin";
    for origin in headers.get_all(ORIGIN) {
        let origin = text_of(Some(origin));
        if !access.knows_origin(&origin, &host, is_same) {
            return Err(refused(format!(
                "`Origin: {origin}` is not a page of this server, which is `Host: {host}`: a name needs --allowed-host, \
                 and the port is compared too"
            )));
        }
    }
    // A page on another port of this machine; links to pages are harmless.
    let is_link =
        request.method().is_safe() && text_of(headers.get("sec-fetch-mode")) == "navigate";
    if !is_same && !matches!(&*site, "" | "none") && !is_link {
        return Err(refused(format!(
            "`Sec-Fetch-Site: {site}`: a page of another server may only link to this server"
        )));
    }
    Ok(())
}

fn text_of(value: Option<&HeaderValue>) -> Cow<'_, str> {
    String::from_utf8_lossy(value.map_or(b"", HeaderValue::as_bytes))
}

/// Host and port that a request names. HTTP/2 has them in the URI instead of a header.
fn host_of(request: &Request) -> Cow<'_, str> {
    match request.headers().get(HOST) {
        None if request.version() == Version::HTTP_2 => {
            Cow::Borrowed(request.uri().authority().map_or("", |name| name.as_str()))
        }
        host => text_of(host),
    }
}

/// Name and value of the cookie. Cookies are shared by all ports: servers on two ports of one machine would overwrite
/// each other's.
fn cookie(site: &Site, token: &Token, request: &Request) -> String {
    let host = host_of(request);
    let port = host.rsplit_once(':').map(|(_, port)| port);
    let port = port
        .filter(|port| !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()))
        .unwrap_or("default");
    format!("trainscope-{port}={}", token.cookie(&host, &site.prefix))
}

fn is_known(site: &Site, token: &Token, request: &Request) -> bool {
    let headers = request.headers();
    let bearer = headers
        .get(AUTHORIZATION)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split_once(' '))
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
        .map(|(_, given)| given.trim());
    if bearer.is_some_and(|given| token.is(given)) {
        return true;
    }
    let wanted = cookie(site, token, request);
    headers
        .get_all(COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .any(|given| given.trim().as_bytes().ct_eq(wanted.as_bytes()).into())
}
