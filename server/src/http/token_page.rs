//! The page that asks for the token, for browsers without it. It leads to the requested place, and the token is never
//! in an address.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use axum::body::to_bytes;
use axum::extract::{ConnectInfo, Request};
use axum::http::header::{
    ACCEPT_LANGUAGE, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, LOCATION,
    REFERRER_POLICY, RETRY_AFTER, SET_COOKIE, WWW_AUTHENTICATE,
};
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, PreEscaped, html};
use sha2::{Digest as _, Sha256};

use super::Site;
use super::access::Token;
use super::headers::NO_STORE;
use super::request::BODY_TIME;

/// Maximum length of a sent form; a token has 64 characters.
const MAX_FORM_LEN: usize = 4 << 10;

const STYLE: &str = include_str!("token_page.css");
const SCRIPT: &str = include_str!("token_page.js");

/// Only this style and this script are allowed, and a form that is sent to this server.
static POLICY: LazyLock<String> = LazyLock::new(|| {
    let [style, script] =
        [STYLE, SCRIPT].map(|text| STANDARD.encode(Sha256::digest(text.as_bytes())));
    format!(
        "default-src 'none'; style-src 'sha256-{style}'; script-src 'sha256-{script}'; form-action 'self'; base-uri 'none'; \
         frame-ancestors 'none'"
    )
});

struct Texts {
    language: &'static str,
    title: &'static str,
    why: &'static str,
    token: &'static str,
    paste: &'static str,
    open: &'static str,
    show: &'static str,
    copy: &'static str,
    refused: &'static str,
    wait: fn(u64) -> String,
    /// The other language, in that language.
    other: &'static str,
    dark: &'static str,
    light: &'static str,
    next: &'static str,
    where_is_it: &'static str,
    printed: &'static str,
    no_access: &'static str,
    kept: &'static str,
    programs: &'static str,
}

const EN: Texts = Texts {
    language: "en",
    title: "This server asks for a token",
    why: "Other people can reach it, so it asks each browser once.",
    token: "Token",
    paste: "paste the token",
    open: "Open",
    show: "Show",
    copy: "Copy",
    refused: "That is not the token of this server.",
    wait: |secs| format!("Too many wrong tokens: wait {secs} s before the next."),
    other: "中文",
    dark: "Dark",
    light: "Light",
    next: "You will go on to",
    where_is_it: "Where is it?",
    printed: " printed the file that it is in. By default, run on the server:",
    no_access: "No access to that machine? Ask the person who started the server. If this connection is not encrypted, and the network \
                is not yours, come through a tunnel:",
    kept: "Kept in a cookie of this browser, never in an address.",
    programs: "Programs send",
};

const ZH: Texts = Texts {
    language: "zh-CN",
    title: "此服务器需要令牌",
    why: "其他人可以访问此服务器，因此每个浏览器只问一次。",
    token: "令牌",
    paste: "粘贴令牌",
    open: "打开",
    show: "显示",
    copy: "复制",
    refused: "这不是此服务器的令牌。",
    wait: |secs| format!("错误次数过多：请等待 {secs} 秒后再试。"),
    other: "English",
    dark: "深色",
    light: "浅色",
    next: "之后打开",
    where_is_it: "令牌在哪里？",
    printed: " 启动时打印了令牌文件的位置。默认情况下，在服务器上运行：",
    no_access: "没有该机器的权限？请向启动服务器的人索取。若此连接未加密且网络不受信任，请通过隧道访问：",
    kept: "令牌以 Cookie 保存在此浏览器中，不会出现在地址里。",
    programs: "程序请发送",
};

/// Result of checking a sent token.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Nothing,
    Refused,
    /// The token was not checked: the address has to wait for this time.
    Waits(Duration),
}

/// Answers a request without a known token: leads to the requested place if its form or its address has the token, else
/// sends the page.
pub(super) async fn answer(site: &Site, token: &Token, cookie: &str, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>();
    let peer = peer.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |peer| peer.0.ip());
    let form = if parts.method == Method::POST {
        let form = tokio::time::timeout(BODY_TIME, to_bytes(body, MAX_FORM_LEN)).await;
        form.ok().and_then(Result::ok)
    } else {
        None
    };
    let form = form.and_then(|form| String::from_utf8(form.to_vec()).ok());
    let sent = form.as_deref().and_then(token_of);
    let sent = sent.or_else(|| query_token(&parts.uri).map(str::to_owned));
    let refusals = site.access.refusals();
    let state = match (sent, refusals.rest(peer, Instant::now())) {
        (None, _) if form.is_none() => Outcome::Nothing,
        (Some(_), Some(rest)) => Outcome::Waits(rest),
        (Some(sent), None) if token.is(&sent) => {
            return welcome(&site.prefix, &parts.uri, cookie);
        }
        (sent, _) => {
            // An empty field does not count as an attempt.
            if sent.is_some_and(|sent| !sent.is_empty()) {
                refusals.count(peer, Instant::now());
            }
            Outcome::Refused
        }
    };
    let page = page(&parts.uri, &parts.headers, state);
    let mut response = (
        StatusCode::UNAUTHORIZED,
        [
            (CONTENT_TYPE, "text/html; charset=utf-8"),
            NO_STORE,
            (WWW_AUTHENTICATE, "Bearer"),
            (CONTENT_SECURITY_POLICY, &POLICY),
            // Without a referrer browsers send the form from the origin `null`.
            (REFERRER_POLICY, "same-origin"),
        ],
        page,
    )
        .into_response();
    if let Outcome::Waits(rest) = state {
        *response.status_mut() = StatusCode::TOO_MANY_REQUESTS;
        response
            .headers_mut()
            .insert(RETRY_AFTER, secs(rest).into());
    }
    response
}

/// Whole seconds after which a wait is over.
fn secs(rest: Duration) -> u64 {
    rest.as_secs() + 1
}

/// The token in a form. Of the characters of a token a form encodes `~`; a space at an end is `+`.
fn token_of(form: &str) -> Option<String> {
    let mut fields = form.split('&');
    let sent = fields.find_map(|field| field.strip_prefix("token="))?;
    Some(sent.trim_matches('+').replace("%7E", "~"))
}

fn page(uri: &Uri, headers: &HeaderMap, state: Outcome) -> String {
    let asked = headers.get(ACCEPT_LANGUAGE);
    let asked = asked.and_then(|value| value.to_str().ok()).unwrap_or("");
    let asked = parameter(uri, "lang").unwrap_or(asked);
    let (texts, other) = if asked.to_ascii_lowercase().starts_with("zh") {
        (ZH, "en")
    } else {
        (EN, "zh")
    };
    let theme = parameter(uri, "theme").filter(|theme| matches!(*theme, "dark" | "light"));
    let host = headers.get("host").and_then(|host| host.to_str().ok());
    let host = host.unwrap_or("");
    let (name, port) = host.rsplit_once(':').unwrap_or((host, "8080"));
    let place = place_with(uri, None);
    let refused = match state {
        Outcome::Nothing => None,
        Outcome::Refused => Some(texts.refused.to_owned()),
        Outcome::Waits(rest) => Some((texts.wait)(secs(rest))),
    };
    let described = refused.as_ref().map(|_| "refused");
    html! {
        (DOCTYPE)
        html lang=(texts.language) data-theme=[theme] {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (texts.title) " · trainscope" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header {
                    svg width="18" height="18" viewBox="0 0 16 16" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true" {
                        path d="M1.5 12.5 5 6l3 4 2.5-7 4 9.5" {}
                        circle cx="10.5" cy="3" r="1.6" fill="currentColor" stroke="none" {}
                    }
                    b { "trainscope" }
                    span { (host) }
                    // Links need no script; the next page takes both choices from the address.
                    a lang=(other) href=(place_with(uri, Some(("lang", other)))) { (texts.other) }
                    a class="to-dark" href=(place_with(uri, Some(("theme", "dark")))) { (texts.dark) }
                    a class="to-light" href=(place_with(uri, Some(("theme", "light")))) { (texts.light) }
                }
                main {
                    section {
                        form method="post" action=(place) {
                            h1 { (texts.title) }
                            p { (texts.why) }
                            label for="token" { (texts.token) }
                            div {
                                input #token type="password" name="token" placeholder=(texts.paste) required autofocus autocomplete="current-password" class=[described] aria-describedby=[described];
                                button #show type="button" aria-pressed="false" hidden { (texts.show) }
                                button { (texts.open) }
                            }
                            @if let Some(refused) = refused {
                                p #refused role="alert" { (refused) }
                            }
                            @if place.trim_end_matches('/').len() > 1 {
                                p class="next" { "→ " (texts.next) " " code { (place) } }
                            }
                        }
                        div {
                            h2 { (texts.where_is_it) }
                            p { code { "trainscope start" } (texts.printed) }
                            div { pre { "cat ~/.local/state/trainscope/token" } button type="button" hidden { (texts.copy) } }
                            p { (texts.no_access) }
                            div { pre { "ssh -L " (port) ":127.0.0.1:" (port) " " (name) } button type="button" hidden { (texts.copy) } }
                        }
                    }
                    footer {
                        span { (texts.kept) }
                        span { (texts.programs) " " code { "Authorization: Bearer TOKEN" } }
                    }
                }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    }
    .into_string()
}

/// The token in the query; it needs no decoding.
fn query_token(uri: &Uri) -> Option<&str> {
    parameter(uri, "token")
}

/// A parameter of the query, not decoded.
fn parameter<'a>(uri: &'a Uri, name: &str) -> Option<&'a str> {
    let mut pairs = uri.query()?.split('&');
    pairs.find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
}

/// The place that a request names, with another value of a parameter, and without the token, which would be copied with
/// links.
fn place_with(uri: &Uri, change: Option<(&str, &str)>) -> String {
    let changed = change.map(|(name, value)| format!("{name}={value}"));
    let is_kept = |pair: &&str| {
        let name = pair.split('=').next();
        !pair.is_empty() && name != Some("token") && name != change.map(|change| change.0)
    };
    let query = uri.query().unwrap_or_default();
    let rest = query.split('&').filter(is_kept).chain(changed.as_deref());
    let rest: Vec<&str> = rest.collect();
    // Several slashes at the start would name another host, as would a backslash to browsers.
    let path = uri.path().trim_start_matches(['/', '\\']);
    let mut place = format!("/{path}");
    if !rest.is_empty() {
        place.push('?');
        place.push_str(&rest.join("&"));
    }
    place
}

/// Sets the cookie, and redirects to the requested place.
fn welcome(prefix: &str, uri: &Uri, cookie: &str) -> Response {
    let place = place_with(uri, None);
    let cookie = format!("{cookie}; Path={prefix}/; HttpOnly; SameSite=Strict; Max-Age=31536000");
    (
        StatusCode::SEE_OTHER,
        [
            (LOCATION, place),
            (SET_COOKIE, cookie),
            (CACHE_CONTROL, "no-store".to_owned()),
        ],
    )
        .into_response()
}

#[cfg(test)]
mod tests {
    use super::token_of;

    #[test]
    fn a_token_of_any_allowed_characters_is_found_in_a_form() {
        let sent = "a=1&token=+Ab9-._%7E0123456789+";
        assert_eq!(token_of(sent).as_deref(), Some("Ab9-._~0123456789"));
        assert_eq!(token_of("other=1"), None);
    }
}
