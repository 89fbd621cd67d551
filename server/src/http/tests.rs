//! Requests against the whole router, over an index that has read a sample run.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::connect_info::MockConnectInfo;
use axum::http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::BodyExt;
use serde_json::Value;
use tokio::sync::watch;
use tower::ServiceExt;
use trainscope_api::error::{ApiError, ErrorCode};
use trainscope_api::runs::RunList;
use trainscope_api::scalars::{MAX_POINTS, ScalarsAnswer, Series, decode};
use trainscope_api::tags::TagList;
use trainscope_format::Kind;

use super::access::{Access, Token};
use super::{About, Assets, Parts, Site, guard, router};
use crate::ingest::{IngestSettings, Ingester};

const TOKEN: &str = "0123456789abcdef0123456789abcdef";

struct Server {
    router: Router,
    end: watch::Sender<bool>,
    ingester: Option<Ingester>,
    index: crate::index::Index,
    dir: tempfile::TempDir,
}

#[derive(Default)]
struct Made {
    prefix: &'static str,
    token: bool,
    host: Option<&'static str>,
    web_dir: Option<PathBuf>,
    base_dir: Option<PathBuf>,
}

impl Server {
    fn new() -> Self {
        Self::made(Made::default())
    }

    fn made(made: Made) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let runs = dir.path().join("runs");
        std::fs::create_dir(&runs).unwrap();
        let base_dir = made.base_dir.unwrap_or(runs);
        let (ingester, index) = Ingester::start(IngestSettings {
            base_dirs: vec![base_dir.canonicalize().unwrap()],
            cache_dir: dir.path().join("cache"),
            reload_interval: Duration::from_millis(50),
            file_events: false,
        })
        .unwrap();
        let token = made.token.then(|| {
            let path = dir.path().join("token");
            std::fs::write(&path, TOKEN).unwrap();
            Token::load_or_make(&path).unwrap()
        });
        let (end, ending) = watch::channel(false);
        let assets = match &made.web_dir {
            Some(dir) => Assets::folder(dir, made.prefix).unwrap(),
            None => Assets::built_in(made.prefix),
        };
        let site = Site::new(Parts {
            index: index.clone(),
            about: About {
                pid: 7,
                started_secs: 1.5,
                base_dirs: vec![base_dir],
            },
            access: Access::new(made.host.unwrap_or("127.0.0.1"), [], token),
            assets,
            prefix: made.prefix.to_owned(),
            ending,
        });
        Self {
            router: router(site),
            end,
            ingester: Some(ingester),
            index,
            dir,
        }
    }

    /// A server that has read `sample-runs`.
    fn with_samples() -> Self {
        let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sample-runs");
        let server = Self::made(Made {
            base_dir: Some(samples),
            ..Made::default()
        });
        let until = Instant::now() + Duration::from_secs(60);
        while !server.index.ingest().idle {
            assert!(Instant::now() < until, "reading does not end");
            std::thread::sleep(Duration::from_millis(10));
        }
        server
    }

    async fn send(&self, request: Request<Body>) -> Answer {
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        Answer {
            status: parts.status,
            headers: parts.headers,
            body: body.collect().await.unwrap().to_bytes(),
        }
    }

    async fn get(&self, path: &str) -> Answer {
        self.send(request(Method::GET, path, &[], "")).await
    }

    async fn get_with(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        self.send(request(Method::GET, path, headers, "")).await
    }

    async fn post(&self, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        self.send(request(Method::POST, path, headers, body)).await
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(ingester) = self.ingester.take() {
            ingester.stop();
        }
    }
}

struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
}

impl Answer {
    fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .map_or("", |value| value.to_str().unwrap())
    }

    fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    fn json<T: serde::de::DeserializeOwned>(&self) -> T {
        assert_eq!(self.header("content-type"), "application/json");
        serde_json::from_slice(&self.body).unwrap()
    }

    #[track_caller]
    fn fails(&self, status: u16, code: ErrorCode) -> String {
        let error: ApiError = self.json();
        assert_eq!(
            (self.status.as_u16(), error.code),
            (status, code),
            "{error:?}"
        );
        assert_eq!(self.header("cache-control"), "no-store");
        error.message
    }
}

/// A request with `Host: localhost` unless `headers` name another; an empty `Host` leaves it out.
fn request(method: Method, path: &str, headers: &[(&str, &str)], body: &str) -> Request<Body> {
    let mut builder = Request::builder().method(method).uri(path);
    if !headers.iter().any(|(name, _)| *name == "host") {
        builder = builder.header("host", "localhost:8080");
    }
    for (name, value) in headers.iter().filter(|(_, value)| !value.is_empty()) {
        builder = builder.header(*name, *value);
    }
    builder.body(Body::from(body.to_owned())).unwrap()
}

#[tokio::test]
async fn every_answer_is_confined_to_its_origin() {
    let server = Server::new();
    let answers = [
        server.get("/").await,
        server.get("/run/a/b/scalars").await,
        server.get("/missing.js").await,
        server.get("/api/status").await,
        server.get("/api/runs").await,
        server.get("/api/tags").await,
        server.get("/api/nothing").await,
        server.get("/api/openapi.json").await,
        server.post("/api/status", &[], "").await,
        server.post("/", &[], "").await,
        server.post("/api/scalars", &[], "{").await,
        server.get_with("/", &[("host", "evil.example")]).await,
        server
            .get_with("/api/status", &[("origin", "http://evil.example")])
            .await,
    ];
    for (number, answer) in answers.iter().enumerate() {
        assert_eq!(
            answer.header("content-security-policy"),
            guard::POLICY,
            "{number}"
        );
        assert_eq!(
            answer.header("x-content-type-options"),
            "nosniff",
            "{number}"
        );
        assert_eq!(answer.header("referrer-policy"), "no-referrer", "{number}");
        assert_eq!(
            answer.header("cross-origin-opener-policy"),
            "same-origin",
            "{number}"
        );
        assert_eq!(answer.header("access-control-allow-origin"), "", "{number}");
    }
}

#[tokio::test]
async fn foreign_names_are_refused() {
    let server = Server::new();
    for headers in [
        &[("host", "evil.example")][..],
        &[("host", "")],
        &[("host", "localhost.evil.example:8080")],
        &[("origin", "http://evil.example")],
        &[("origin", "null")],
        &[("host", "localhost"), ("host", "evil.example")],
    ] {
        for path in ["/", "/api/status", "/api/live"] {
            let answer = server.get_with(path, headers).await;
            let message = answer.fails(403, ErrorCode::ForeignOrigin);
            assert!(message.contains("not a name of this server"), "{message}");
        }
    }
    for headers in [
        &[("host", "127.0.0.1:1")][..],
        &[("host", "[::1]:8080"), ("origin", "http://localhost:3000")],
    ] {
        assert_eq!(server.get_with("/api/status", headers).await.status, 200);
    }
}

#[tokio::test]
async fn the_token_is_asked_for_once() {
    let server = Server::made(Made {
        token: true,
        ..Made::default()
    });
    server
        .get("/api/runs")
        .await
        .fails(401, ErrorCode::TokenWanted);
    let asked = server.get("/run/a").await;
    assert_eq!(asked.status, 401);
    assert!(asked.text().contains("name=\"token\""));
    assert!(!asked.text().contains("style="), "the policy forbids it");

    // Not taken from the query of the API, where it would end up in logs.
    let api = server.get(&format!("/api/runs?token={TOKEN}")).await;
    api.fails(401, ErrorCode::TokenWanted);
    let wrong = server.get("/?token=0123456789abcdef0123456789abcdee").await;
    assert_eq!(wrong.status, 401);
    assert!(wrong.text().contains("not the token"));
    assert_eq!(wrong.header("set-cookie"), "");

    let welcome = server
        .get(&format!("//evil.example/x?a=1&token={TOKEN}&b=2"))
        .await;
    assert_eq!(welcome.status, 303);
    assert_eq!(welcome.header("location"), "/evil.example/x?a=1&b=2");
    let cookie = welcome.header("set-cookie");
    assert!(cookie.contains("; HttpOnly; SameSite=Strict"), "{cookie}");
    let pair = cookie.split(';').next().unwrap();
    assert!(pair.starts_with("trainscope-8080="), "{pair}");

    let both = format!("other=1; {pair}");
    assert_eq!(
        server
            .get_with("/api/runs", &[("cookie", &both)])
            .await
            .status,
        200
    );
    assert_eq!(server.get_with("/", &[("cookie", pair)]).await.status, 200);
    let bearer = format!("Bearer {TOKEN}");
    assert_eq!(
        server
            .get_with("/api/runs", &[("authorization", &bearer)])
            .await
            .status,
        200
    );
    for (name, value) in [
        ("authorization", "Bearer x".to_owned()),
        ("authorization", format!("Basic {TOKEN}")),
        ("cookie", format!("trainscope-8081={TOKEN}")),
        ("cookie", "trainscope-8080=".to_owned()),
    ] {
        let answer = server.get_with("/api/runs", &[(name, &value)]).await;
        answer.fails(401, ErrorCode::TokenWanted);
    }
    // The names are checked before the token.
    let foreign = [
        ("authorization", bearer.as_str()),
        ("origin", "http://evil.example"),
    ];
    server
        .get_with("/api/runs", &foreign)
        .await
        .fails(403, ErrorCode::ForeignOrigin);
}

#[tokio::test]
async fn errors_are_json_and_say_where() {
    let server = Server::new();
    for path in ["/api", "/api/", "/api/nothing", "/api/status/x"] {
        server.get(path).await.fails(404, ErrorCode::UnknownPath);
    }
    server
        .post("/api/nothing", &[], "")
        .await
        .fails(404, ErrorCode::UnknownPath);
    for method in [Method::POST, Method::PUT, Method::DELETE] {
        let answer = server.send(request(method, "/api/runs", &[], "")).await;
        answer.fails(405, ErrorCode::MethodNotAllowed);
        assert_eq!(answer.header("allow"), "GET,HEAD");
    }
    server
        .post("/", &[], "")
        .await
        .fails(405, ErrorCode::MethodNotAllowed);

    let message = server
        .get("/api/tags")
        .await
        .fails(400, ErrorCode::BadRequest);
    assert!(message.contains("`run`"), "{message}");
    server
        .get("/api/tags?run=none")
        .await
        .fails(404, ErrorCode::UnknownRun);
    server
        .get("/api/scalars?run=none&tag=x")
        .await
        .fails(404, ErrorCode::UnknownRun);

    for (query, says) in [
        ("points=0", "`points` wants 1 to"),
        ("points=1000001", "`points` wants 1 to"),
        ("points=many", "points"),
        ("points=-1", "points"),
        ("from=2&to=1", "above"),
        ("from=x", "from"),
        ("superseded=2", "`superseded` wants 0 or 1"),
        ("rank=-1", "rank"),
    ] {
        let answer = server
            .get(&format!("/api/scalars?run=a&tag=b&{query}"))
            .await;
        let message = answer.fails(400, ErrorCode::BadRequest);
        assert!(message.contains(says), "{query}: {message}");
    }

    for (body, says) in [
        ("", "line 1 column 0"),
        ("{", "line 1 column 1"),
        ("{\"series\": 1}", "expected a sequence at line 1 column 12"),
        ("{\"series\": [], \"more\": 1}", "unknown field `more`"),
        ("{\"series\": [{\"run\": \"a\"}]}", "missing field `tag`"),
        ("{\"series\": [], \"from\": 2, \"to\": 1}", "above"),
        ("{\"series\": [], \"points\": 0}", "`points`"),
    ] {
        let answer = server.post("/api/scalars", &[], body).await;
        let message = answer.fails(400, ErrorCode::BadRequest);
        assert!(message.contains(says), "{body}: {message}");
    }
    let deep = "[".repeat(100_000);
    server
        .post("/api/scalars", &[], &deep)
        .await
        .fails(400, ErrorCode::BadRequest);
    let long = format!("{{\"series\": [], \"fields\": [{}]}}", " ".repeat(4 << 20));
    server
        .post("/api/scalars", &[], &long)
        .await
        .fails(413, ErrorCode::TooLarge);
    let key = "{\"run\":\"a\",\"tag\":\"b\"},".repeat(20_001);
    let many = format!("{{\"series\": [{}]}}", key.trim_end_matches(','));
    server
        .post("/api/scalars", &[], &many)
        .await
        .fails(413, ErrorCode::TooLarge);
}

#[tokio::test]
async fn status_says_who_answers() {
    let server = Server::new();
    let answer = server.get("/api/status").await;
    assert_eq!(answer.header("cache-control"), "no-store");
    let status: trainscope_api::status::Status = answer.json();
    assert_eq!(
        (status.pid, status.started_secs.to_bits()),
        (7, 1.5_f64.to_bits())
    );
    assert_eq!(status.version, env!("CARGO_PKG_VERSION"));
    assert_eq!(status.base_dirs.len(), 1);
    let head = server
        .send(request(Method::HEAD, "/api/status", &[], ""))
        .await;
    assert_eq!((head.status.as_u16(), head.body.len()), (200, 0));
}

#[tokio::test]
async fn scalars_are_the_same_as_json_and_as_columns() {
    let server = Server::with_samples();
    let runs: RunList = server.get("/api/runs").await.json();
    let run = runs
        .runs
        .iter()
        .find(|run| run.kinds.contains_key("scalars"))
        .unwrap();
    let tags: TagList = server
        .get(&format!("/api/tags?run={}", run.id))
        .await
        .json();
    let tag = tags
        .tags
        .iter()
        .find(|tag| tag.kind == Kind::Scalars)
        .unwrap();
    let query = format!(
        "/api/scalars?run={}&tag={}&rank={}",
        run.id, tag.tag, tag.rank
    );
    let one: Series = server
        .get(&format!("{query}&points={MAX_POINTS}"))
        .await
        .json();
    assert_eq!(one.total, tag.points);
    assert_eq!(one.steps.len() as u64, tag.points);
    server
        .get(&format!("{query}x"))
        .await
        .fails(400, ErrorCode::BadRequest);

    let body = serde_json::json!({
        "series": [
            {"run": run.id, "tag": tag.tag, "rank": tag.rank},
            {"run": run.id, "tag": "there is no such tag"},
        ],
        "points": MAX_POINTS,
    });
    let json = server.post("/api/scalars", &[], &body.to_string()).await;
    let many: ScalarsAnswer = json.json();
    assert_eq!(many.series.len(), 2);
    assert_eq!(many.series[1], None);
    let first = many.series[0].as_ref().unwrap();
    assert_eq!(first.steps, one.steps);
    let bits = |values: &[f64]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&first.values), bits(&one.values));

    for accept in [
        "application/octet-stream",
        "text/plain;q=0.1, Application/Octet-Stream;q=1",
    ] {
        let columns = server
            .post("/api/scalars", &[("accept", accept)], &body.to_string())
            .await;
        assert_eq!(columns.status, 200);
        assert_eq!(columns.header("content-type"), "application/octet-stream");
        let decoded = decode(&columns.body).unwrap();
        let again = decoded.series[0].as_ref().unwrap();
        assert_eq!(again.steps, one.steps);
        assert_eq!(bits(&again.values), bits(&one.values));
    }
    let any = server
        .post("/api/scalars", &[("accept", "*/*")], &body.to_string())
        .await;
    assert_eq!(any.header("content-type"), "application/json");
}

#[tokio::test]
async fn only_other_machines_get_compressed_answers() {
    let server = Server::with_samples();
    let size = server.get("/api/openapi.json").await.body.len();
    let runs = server.get("/api/runs").await.body.len();
    let gzip = [("accept-encoding", "gzip")];
    for (peer, path, encoding) in [
        ("127.0.0.1:1", "/api/runs", ""),
        ("[::ffff:127.0.0.1]:1", "/api/runs", ""),
        (
            "10.0.0.1:1",
            "/api/runs",
            if runs >= 64 << 10 { "gzip" } else { "" },
        ),
        (
            "10.0.0.1:1",
            "/api/openapi.json",
            if size >= 64 << 10 { "gzip" } else { "" },
        ),
    ] {
        let peer: SocketAddr = peer.parse().unwrap();
        let router = server.router.clone().layer(MockConnectInfo(peer));
        let response = router
            .oneshot(request(Method::GET, path, &gzip, ""))
            .await
            .unwrap();
        let got = response.headers().get("content-encoding");
        assert_eq!(
            got.map_or("", |value| value.to_str().unwrap()),
            encoding,
            "{peer} {path}"
        );
    }
}

#[tokio::test]
async fn a_prefix_is_above_everything() {
    let server = Server::made(Made {
        prefix: "/a/b",
        token: false,
        ..Made::default()
    });
    assert_eq!(server.get("/a/b/api/status").await.status, 200);
    for path in ["/a/b/", "/a/b/run/x/scalars"] {
        let page = server.get(path).await;
        assert_eq!(page.status, 200, "{path}");
        assert!(
            page.text().contains("<base href=\"/a/b/\">"),
            "{}",
            page.text()
        );
    }
    for path in ["/", "/a/b"] {
        let there = server.get(path).await;
        assert_eq!(
            (there.status.as_u16(), there.header("location")),
            (307, "/a/b/")
        );
    }
    server
        .get("/api/status")
        .await
        .fails(404, ErrorCode::UnknownPath);
    server
        .get("/a/bc/api/status")
        .await
        .fails(404, ErrorCode::UnknownPath);
    server
        .get("/a/b/api/x")
        .await
        .fails(404, ErrorCode::UnknownPath);
    let document: Value = server.get("/a/b/api/openapi.json").await.json();
    assert_eq!(document["servers"][0]["url"], "/a/b");
}

#[tokio::test]
async fn a_prefix_and_a_token_go_together() {
    let server = Server::made(Made {
        prefix: "/p",
        token: true,
        ..Made::default()
    });
    server
        .get("/p/api/runs")
        .await
        .fails(401, ErrorCode::TokenWanted);
    assert!(server.get("/p/").await.text().contains("action=\"/p/\""));
    let welcome = server.get(&format!("/p/?token={TOKEN}")).await;
    assert_eq!(welcome.header("location"), "/p/");
    assert!(welcome.header("set-cookie").contains("; Path=/p/;"));
}

#[tokio::test]
async fn the_page_answers_every_place_on_it() {
    let server = Server::new();
    let page = server.get("/").await;
    assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
    assert_eq!(page.header("cache-control"), "no-cache");
    assert!(page.text().contains("<base href=\"/\">"));
    for path in [
        "/runs",
        "/run/a/b/scalars",
        "/run/lr-0.01",
        "/apiary",
        "/index.html",
    ] {
        let same = server.get(path).await;
        assert_eq!(same.status, 200, "{path}");
        assert_eq!(same.body, page.body, "{path}");
    }
    server
        .get("/missing.js")
        .await
        .fails(404, ErrorCode::UnknownPath);

    let etag = page.header("etag");
    assert!(etag.starts_with('"') && etag.ends_with('"'), "{etag}");
    let weak = format!("\"other\", W/{etag}");
    for known in [etag, weak.as_str(), "*"] {
        let unchanged = server.get_with("/runs", &[("if-none-match", known)]).await;
        assert_eq!((unchanged.status.as_u16(), unchanged.body.len()), (304, 0));
        assert_eq!(unchanged.header("etag"), etag);
    }
    let changed = server
        .get_with("/", &[("if-none-match", "\"other\"")])
        .await;
    assert_eq!(changed.status, 200);
}

#[tokio::test]
async fn a_folder_is_served_as_it_is_now_and_nothing_beside_it() {
    let dir = tempfile::tempdir().unwrap();
    let web = dir.path().join("web");
    std::fs::create_dir_all(web.join("icons")).unwrap();
    std::fs::write(dir.path().join("secret.txt"), "secret").unwrap();
    std::fs::write(web.join("index.html"), "<head></head>").unwrap();
    std::fs::write(web.join("app.wasm"), "\0asm").unwrap();
    std::fs::write(web.join("icons/a.svg"), "<svg/>").unwrap();
    std::fs::write(web.join("boot.js"), "1").unwrap();
    let server = Server::made(Made {
        web_dir: Some(web.clone()),
        prefix: "/p",
        ..Made::default()
    });
    assert_eq!(
        server.get("/p/").await.text(),
        "<head><base href=\"/p/\"></head>"
    );
    for (path, content_type) in [
        ("/p/app.wasm", "application/wasm"),
        ("/p/icons/a.svg", "image/svg+xml"),
        ("/p/boot.js", "text/javascript; charset=utf-8"),
    ] {
        assert_eq!(server.get(path).await.header("content-type"), content_type);
    }
    let before = server.get("/p/boot.js").await;
    std::fs::write(web.join("boot.js"), "2").unwrap();
    let after = server.get("/p/boot.js").await;
    assert_eq!(after.text(), "2");
    assert_ne!(before.header("etag"), after.header("etag"));
    let absolute = format!("/p/{}", dir.path().join("secret.txt").display());
    for path in [
        "/p/../secret.txt",
        "/p/icons/../../secret.txt",
        "/p/%2e%2e/secret.txt",
        &absolute,
    ] {
        assert!(
            !server.get(path).await.text().contains("secret\""),
            "{path}"
        );
        assert_ne!(server.get(path).await.status, 200, "{path}");
    }
    // A folder is a place like any other.
    assert_eq!(server.get("/p/icons").await.status, 200);
}

/// The next event of a stream, without comments.
async fn event(body: &mut Body) -> Option<(String, String, String)> {
    loop {
        let frame = tokio::time::timeout(Duration::from_secs(20), body.frame())
            .await
            .unwrap()?;
        let Ok(bytes) = frame.unwrap().into_data() else {
            continue;
        };
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        let field = |name: &str| {
            text.lines()
                .find_map(|line| line.strip_prefix(name))
                .map(|rest| rest.trim_start().to_owned())
        };
        if let Some(name) = field("event:") {
            return Some((name, field("id:").unwrap(), field("data:").unwrap()));
        }
    }
}

#[tokio::test]
async fn who_has_missed_something_is_told_to_reload() {
    let server = Server::with_samples();
    let seq = server.index.seq();
    let stale = seq.wrapping_sub(1).to_string();
    let now = seq.to_string();
    let query = format!("/api/live?since={stale}");
    let current = format!("/api/live?since={now}");
    for (path, headers) in [
        (query.as_str(), &[][..]),
        // What the browser sends when it connects again wins over the address, which stays the same.
        (current.as_str(), &[("last-event-id", stale.as_str())][..]),
        // The numbers of another server that had the port before.
        ("/api/live?since=999999999", &[]),
    ] {
        let response = server
            .router
            .clone()
            .oneshot(request(Method::GET, path, headers, ""))
            .await
            .unwrap();
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        assert_eq!(response.headers()["cache-control"], "no-cache");
        let mut body = response.into_body();
        let expected = ("reload".to_owned(), now.clone(), now.clone());
        assert_eq!(event(&mut body).await, Some(expected), "{path}");
    }
    for path in ["/api/live?since=x", "/api/live?since=-1"] {
        server.get(path).await.fails(400, ErrorCode::BadRequest);
    }
    server
        .get_with("/api/live", &[("last-event-id", "x")])
        .await
        .fails(400, ErrorCode::BadRequest);
}

#[tokio::test]
async fn changes_are_told_and_streams_end_with_the_server() {
    let server = Server::new();
    let response = server
        .router
        .clone()
        .oneshot(request(Method::GET, "/api/live", &[], ""))
        .await
        .unwrap();
    let mut body = response.into_body();
    let runs = server.dir.path().join("runs/a");
    std::fs::create_dir(&runs).unwrap();
    std::fs::write(runs.join("events.out.tfevents.1.host"), "").unwrap();
    let (name, id, data) = event(&mut body).await.unwrap();
    assert!(name == "change" || name == "reload", "{name}");
    if name == "change" {
        let notice: trainscope_api::live::ChangeNotice = serde_json::from_str(&data).unwrap();
        assert_eq!(notice.seq.to_string(), id);
    }
    server.end.send_replace(true);
    // What was under way may still come, then the end.
    while event(&mut body).await.is_some() {}
}

#[tokio::test]
async fn the_description_is_whole_and_valid() {
    let server = Server::new();
    let answer = server.get("/api/openapi.json").await;
    let document: Value = answer.json();
    let spec = oas3::from_json(answer.text()).unwrap();
    assert!(spec.validate_version().is_ok());

    use trainscope_api::paths;
    let routes = [
        (paths::STATUS, &["get"][..]),
        (paths::RUNS, &["get"]),
        (paths::TAGS, &["get"]),
        (paths::SCALARS, &["get", "post"]),
        (paths::LIVE, &["get"]),
        (paths::OPENAPI, &["get"]),
    ];
    let described = document["paths"].as_object().unwrap();
    assert_eq!(described.len(), routes.len());
    for (path, methods) in routes {
        let item = described[path].as_object().unwrap();
        assert_eq!(item.len(), methods.len(), "{path}");
        for method in methods {
            let operation = &item[*method];
            assert!(operation["responses"]["200"].is_object(), "{method} {path}");
            if path != paths::OPENAPI {
                let error = &operation["responses"]["default"]["content"]["application/json"];
                assert_eq!(error["schema"]["$ref"], "#/components/schemas/ApiError");
            }
        }
    }
    let post = &described[paths::SCALARS]["post"];
    let media = post["responses"]["200"]["content"].as_object().unwrap();
    assert!(media.contains_key("application/json"));
    assert!(media.contains_key("application/octet-stream"));
    let parameters = described[paths::SCALARS]["get"]["parameters"]
        .as_array()
        .unwrap();
    assert!(
        parameters
            .iter()
            .all(|parameter| parameter["in"] == "query")
    );
    assert!(document["components"]["schemas"]["ChangeNotice"].is_object());

    let mut refs = Vec::new();
    collect_refs(&document, &mut refs);
    assert!(!refs.is_empty());
    for reference in refs {
        let pointer = reference.strip_prefix('#').unwrap();
        assert!(
            document.pointer(pointer).is_some(),
            "{reference} leads nowhere"
        );
    }
}

fn collect_refs(value: &Value, refs: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            if let Some(Value::String(reference)) = fields.get("$ref") {
                refs.push(reference.clone());
            }
            fields.values().for_each(|field| collect_refs(field, refs));
        }
        Value::Array(items) => items.iter().for_each(|item| collect_refs(item, refs)),
        _ => {}
    }
}
