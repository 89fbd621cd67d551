//! A router over an index of a folder, and requests to it.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::BodyExt;
use tokio::sync::watch;
use tower::ServiceExt;
use trainscope_api::error::{ApiError, ErrorCode};

use crate::http::access::{Access, Token};
use crate::http::{About, Assets, Audit, Login, Metrics, Parts, Site, router};
use crate::ingest::{IngestSettings, Ingester};
use crate::judging::Judgements;
use crate::notebook::Notebooks;
use crate::queries::Graphs;

pub(super) const TOKEN: &str = "0123456789abcdef0123456789abcdef";

pub(super) struct Server {
    pub(super) router: Router,
    pub(super) end: watch::Sender<bool>,
    pub(super) ingester: Option<Ingester>,
    pub(super) index: crate::index::Index,
    pub(super) dir: tempfile::TempDir,
}

/// The folder `sample-runs`.
pub(super) fn samples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../sample-runs")
}

pub(super) fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_folder(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).unwrap();
        }
    }
}

#[derive(Default)]
pub(super) struct ServerOptions {
    pub(super) prefix: &'static str,
    pub(super) token: bool,
    pub(super) host: Option<&'static str>,
    pub(super) web_dir: Option<PathBuf>,
    pub(super) base_dir: Option<PathBuf>,
    pub(super) login: Login,
    pub(super) audit: Audit,
    pub(super) is_read_only: bool,
}

impl Server {
    pub(super) fn new() -> Self {
        Self::made(ServerOptions::default())
    }

    pub(super) fn made(made: ServerOptions) -> Self {
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
        let judgements = Judgements::over(std::slice::from_ref(&base_dir));
        let profiles = crate::profiles::Profiles::new(&index);
        let site = Site::new(Parts {
            index: index.clone(),
            graphs: Graphs::new(&index, &judgements, &profiles),
            profiles,
            judgements,
            tables: crate::table::Tables::new(index.clone(), vec![base_dir.clone()]),
            colours: crate::colours::Colours::open(std::slice::from_ref(&base_dir), dir.path()),
            notebooks: Notebooks::open(std::slice::from_ref(&base_dir), dir.path()),
            comparisons: crate::comparison::Comparisons::default(),
            sessions: crate::session::Sessions::new(
                index.clone(),
                std::slice::from_ref(&base_dir),
                crate::session::attach::Server::default(),
                crate::session::Limits::default(),
                |_| None,
            )
            .unwrap(),
            tensors: crate::tensors::Memory::default(),
            about: About {
                pid: 7,
                started_secs: 1.5,
                base_dirs: vec![base_dir],
            },
            access: Access::new(made.host.unwrap_or("127.0.0.1"), [], token),
            login: made.login,
            audit: made.audit,
            is_read_only: made.is_read_only,
            reading: Some(ingester.pulse()),
            judging: None,
            metrics: Metrics::default(),
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
    pub(super) fn with_samples() -> Self {
        Self::of_samples(ServerOptions::default())
    }

    /// The same with options; a base directory is a copy of `sample-runs` that may be changed.
    pub(super) fn of_samples(made: ServerOptions) -> Self {
        let base_dir = made.base_dir.or_else(|| Some(samples()));
        let server = Self::made(ServerOptions { base_dir, ..made });
        let until = Instant::now() + Duration::from_mins(1);
        while !server.index.ingest().idle {
            assert!(Instant::now() < until, "reading does not end");
            std::thread::sleep(Duration::from_millis(10));
        }
        server
    }

    pub(super) async fn send(&self, request: Request<Body>) -> Answer {
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        Answer {
            status: parts.status,
            headers: parts.headers,
            body: body.collect().await.unwrap().to_bytes(),
        }
    }

    pub(super) async fn get(&self, path: &str) -> Answer {
        self.send(request(Method::GET, path, &[], "")).await
    }

    pub(super) async fn get_with(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        self.send(request(Method::GET, path, headers, "")).await
    }

    pub(super) async fn post(&self, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
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

pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

impl Answer {
    pub(super) fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .map_or("", |value| value.to_str().unwrap())
    }

    pub(super) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub(super) fn json<T: serde::de::DeserializeOwned>(&self) -> T {
        assert_eq!(self.header("content-type"), "application/json");
        serde_json::from_slice(&self.body).unwrap()
    }

    #[track_caller]
    pub(super) fn fails(&self, status: u16, code: ErrorCode) -> String {
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

/// A request with `Host: localhost` and, for a body, the type of JSON unless `headers` name another one; an empty value
/// removes a header.
pub(super) fn request(
    method: Method,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Request<Body> {
    let mut builder = Request::builder().method(method).uri(path);
    if !headers.iter().any(|(name, _)| *name == "host") {
        builder = builder.header("host", "localhost:8080");
    }
    for (name, value) in headers.iter().filter(|(_, value)| !value.is_empty()) {
        builder = builder.header(*name, *value);
    }
    if !body.is_empty() && !headers.iter().any(|(name, _)| *name == "content-type") {
        builder = builder.header("content-type", "application/json");
    }
    builder.body(Body::from(body.to_owned())).unwrap()
}
