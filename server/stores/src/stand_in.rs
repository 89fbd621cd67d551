//! A stand-in for S3 on loopback: lists, conditional reads of ranges, conditional writes; it counts its requests, and
//! fails on command.

#![expect(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    reason = "tests fail by it"
)]

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fmt::Write as _;
use std::path::Path as FilePath;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, Method, Response, StatusCode};
use axum::routing::{any, get};

/// A server of buckets on a port of its own, all with the same objects. It ends with the process.
#[derive(Clone)]
pub struct StandIn {
    /// Port on loopback.
    pub port: u16,
    content: Arc<std::sync::Mutex<Content>>,
}

#[derive(Default)]
struct Content {
    objects: BTreeMap<String, Object>,
    counts: Counts,
    /// Number of versions made so far.
    versions: u64,
    /// Answers of the next requests of a kind, instead of the right ones.
    faults: VecDeque<(Kind, Fault)>,
    /// The headers of all requests, for tests of secrets.
    seen: Vec<String>,
}

struct Object {
    bytes: Bytes,
    version: u64,
    modified: SystemTime,
}

/// Requests so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Listings.
    pub lists: u64,
    /// Reads of bytes.
    pub reads: u64,
    /// Requests for facts.
    pub heads: u64,
    /// Writes and removals.
    pub writes: u64,
    /// Bytes of objects that were sent.
    pub bytes: u64,
}

/// Purpose of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A listing.
    List,
    /// A read of bytes or facts.
    Read,
}

/// A wrong answer.
#[derive(Clone, Copy, Debug)]
pub enum Fault {
    /// A status with an error of this code.
    Status(u16, &'static str),
    /// XML that ends in the middle.
    CutText,
    /// The whole object instead of a range.
    Whole,
}

/// The secret of [`StandIn::environment`], which no output may hold.
pub const SECRET: &str = "secret-of-test";

/// Number of keys in a page.
const PAGE: usize = 1_000;

impl StandIn {
    /// Starts a bucket without objects.
    pub fn start() -> Self {
        let content = Arc::<std::sync::Mutex<Content>>::default();
        let state = Arc::clone(&content);
        let (sender, port) = std::sync::mpsc::channel();
        let serve = async move {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            sender.send(listener.local_addr().unwrap().port()).unwrap();
            let router = Router::new()
                .route("/{bucket}", get(list))
                .route("/{bucket}/", get(list))
                .route("/{bucket}/{*key}", any(object))
                .layer(axum::extract::DefaultBodyLimit::disable())
                .with_state(state);
            axum::serve(listener, router).await.unwrap();
        };
        std::thread::spawn(move || {
            let mut runtime = tokio::runtime::Builder::new_current_thread();
            runtime.enable_all().build().unwrap().block_on(serve);
        });
        let port = port.recv().unwrap();
        Self { port, content }
    }

    /// Its address for clients.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The environment of a program that is to use it for `s3://` and `gs://`.
    pub fn environment(&self) -> [(&'static str, String); 5] {
        [
            ("AWS_ENDPOINT_URL", self.url()),
            ("AWS_ACCESS_KEY_ID", "key-of-test".to_owned()),
            ("AWS_SECRET_ACCESS_KEY", SECRET.to_owned()),
            ("AWS_REGION", "us-east-1".to_owned()),
            (
                "GOOGLE_SERVICE_ACCOUNT_KEY",
                format!(
                    r#"{{"gcs_base_url":"{}","disable_oauth":true,"client_email":"","private_key":"","private_key_id":""}}"#,
                    self.url()
                ),
            ),
        ]
    }

    /// Writes an object, as another program does.
    pub fn put(&self, key: &str, bytes: impl Into<Bytes>) {
        let content = &mut *self.content.lock().unwrap();
        content.put(key, bytes.into());
    }

    /// Makes an object look as if it was written earlier.
    pub fn age(&self, key: &str, by: Duration) {
        let mut content = self.content.lock().unwrap();
        content.objects.get_mut(key).unwrap().modified -= by;
    }

    /// Removes an object, as another program does.
    pub fn remove(&self, key: &str) {
        self.content.lock().unwrap().objects.remove(key).unwrap();
    }

    /// The bytes of an object.
    pub fn get(&self, key: &str) -> Option<Bytes> {
        let content = self.content.lock().unwrap();
        content.objects.get(key).map(|object| object.bytes.clone())
    }

    /// Puts all files of a folder below a key.
    pub fn copy(&self, folder: &FilePath, key: &str) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let below = format!("{key}/{}", entry.file_name().to_str().unwrap());
            if entry.file_type().unwrap().is_dir() {
                self.copy(&entry.path(), &below);
            } else {
                self.put(&below, std::fs::read(entry.path()).unwrap());
                let modified = entry.metadata().unwrap().modified().unwrap();
                let mut content = self.content.lock().unwrap();
                content.objects.get_mut(&below).unwrap().modified = modified;
            }
        }
    }

    /// The requests since the last call.
    pub fn take_counts(&self) -> Counts {
        std::mem::take(&mut self.content.lock().unwrap().counts)
    }

    /// Lets the next request of a kind fail.
    pub fn fail(&self, kind: Kind, fault: Fault) {
        let faults = &mut self.content.lock().unwrap().faults;
        faults.push_back((kind, fault));
    }

    /// Headers of all requests so far.
    pub fn seen(&self) -> String {
        self.content.lock().unwrap().seen.join("\n")
    }
}

impl Content {
    fn put(&mut self, key: &str, bytes: Bytes) {
        self.versions += 1;
        let object = Object {
            bytes,
            version: self.versions,
            modified: SystemTime::now(),
        };
        self.objects.insert(key.to_owned(), object);
    }

    /// The fault of this request, if one waits.
    fn fault(&mut self, kind: Kind) -> Option<Fault> {
        let at = self.faults.iter().position(|(of, _)| *of == kind)?;
        self.faults.remove(at).map(|(_, fault)| fault)
    }
}

fn answer(status: u16, body: impl Into<Body>) -> Response<Body> {
    let mut answer = Response::new(body.into());
    *answer.status_mut() = StatusCode::from_u16(status).unwrap();
    answer
}

fn error(status: u16, code: &str) -> Response<Body> {
    answer(
        status,
        format!("<Error><Code>{code}</Code><Message>as told</Message></Error>"),
    )
}

type SharedContent = State<Arc<std::sync::Mutex<Content>>>;

async fn list(
    State(content): SharedContent,
    Query(query): Query<HashMap<String, String>>,
) -> Response<Body> {
    let content = &mut *content.lock().unwrap();
    content.counts.lists += 1;
    let fault = content.fault(Kind::List);
    if let Some(Fault::Status(status, code)) = fault {
        return error(status, code);
    }
    let of = |name: &str| query.get(name).map(String::as_str).unwrap_or_default();
    let prefix = of("prefix");
    let after = [of("start-after"), of("continuation-token")];
    let after = after.into_iter().max().unwrap_or_default();
    let delimiter = of("delimiter");
    let max_keys = query
        .get("max-keys")
        .map_or(PAGE, |n| n.parse().unwrap())
        .min(PAGE);
    let mut folders = Vec::new();
    let mut text = String::new();
    let mut last = String::new();
    let mut count = 0;
    let mut is_cut = false;
    for (key, object) in content.objects.range(prefix.to_owned()..) {
        if !key.starts_with(prefix) {
            break;
        }
        let rest = &key[prefix.len()..];
        let folder = (!delimiter.is_empty())
            .then(|| rest.split_once(delimiter))
            .flatten();
        let folder = folder.map(|(name, _)| format!("{prefix}{name}{delimiter}"));
        if folder
            .as_ref()
            .is_some_and(|folder| folders.last() == Some(folder))
        {
            continue;
        }
        let shown = folder.as_deref().unwrap_or(key);
        if shown <= after {
            continue;
        }
        if count == max_keys {
            is_cut = true;
            break;
        }
        count += 1;
        shown.clone_into(&mut last);
        if let Some(folder) = folder {
            folders.push(folder);
            continue;
        }
        let modified = date(object.modified, "%Y-%m-%dT%H:%M:%S%.3fZ");
        write!(
            text,
            "<Contents><Key>{}</Key><LastModified>{modified}</LastModified><ETag>&quot;{}&quot;</ETag><Size>{}</Size></Contents>",
            escape(key),
            object.version,
            object.bytes.len()
        )
        .unwrap();
    }
    for folder in folders {
        let folder = escape(&folder);
        write!(
            text,
            "<CommonPrefixes><Prefix>{folder}</Prefix></CommonPrefixes>"
        )
        .unwrap();
    }
    let token = if is_cut {
        format!(
            "<NextContinuationToken>{}</NextContinuationToken>",
            escape(&last)
        )
    } else {
        String::new()
    };
    let mut text = format!(
        "<ListBucketResult><IsTruncated>{is_cut}</IsTruncated><KeyCount>{count}</KeyCount>{token}{text}</ListBucketResult>"
    );
    if matches!(fault, Some(Fault::CutText)) {
        text.truncate(text.len() / 2);
    }
    answer(200, text)
}

async fn object(
    State(content): SharedContent,
    Path((_, key)): Path<(String, String)>,
    method: Method,
    headers: HeaderMap,
    body: Bytes,
) -> Response<Body> {
    let content = &mut *content.lock().unwrap();
    content.seen.push(format!("{method} {key} {headers:?}"));
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let version = content
        .objects
        .get(&key)
        .map(|object| format!("\"{}\"", object.version));
    let is_match = header("if-match").is_none_or(|wanted| version.as_deref() == Some(wanted));
    let is_none = header("if-none-match").is_none_or(|known| match known {
        "*" => version.is_none(),
        known => version.as_deref() != Some(known),
    });
    match method.as_str() {
        "PUT" if !is_match || !is_none => {
            content.counts.writes += 1;
            return error(412, "PreconditionFailed");
        }
        "PUT" => {
            content.counts.writes += 1;
            content.put(&key, body);
            let mut answer = answer(200, "");
            let version = format!("\"{}\"", content.versions);
            answer
                .headers_mut()
                .insert("etag", version.parse().unwrap());
            return answer;
        }
        "DELETE" => {
            content.counts.writes += 1;
            content.objects.remove(&key);
            return answer(204, "");
        }
        "HEAD" => content.counts.heads += 1,
        _ => content.counts.reads += 1,
    }
    let fault = content.fault(Kind::Read);
    if let Some(Fault::Status(status, code)) = fault {
        return error(status, code);
    }
    let Some(object) = content.objects.get(&key) else {
        return error(404, "NoSuchKey");
    };
    if !is_match {
        return error(412, "PreconditionFailed");
    }
    if !is_none {
        return answer(304, "");
    }
    let len = object.bytes.len();
    let range = header("range").filter(|_| !matches!(fault, Some(Fault::Whole)));
    let range = range.and_then(|range| range.strip_prefix("bytes=")?.split_once('-'));
    let range = range.map(|(from, to)| {
        let to = to.parse::<usize>().map_or(len, |to| len.min(to + 1));
        (from.parse::<usize>().unwrap(), to)
    });
    if range.is_some_and(|(from, to)| from >= to) {
        return error(416, "InvalidRange");
    }
    let (from, to) = range.unwrap_or((0, len));
    let bytes = object.bytes.slice(from..to);
    let mut answer = answer(if range.is_some() { 206 } else { 200 }, "");
    let told = answer.headers_mut();
    told.insert("etag", version.unwrap_or_default().parse().unwrap());
    told.insert(
        "last-modified",
        date(object.modified, "%a, %d %b %Y %H:%M:%S GMT")
            .parse()
            .unwrap(),
    );
    if range.is_some() {
        let range = format!("bytes {from}-{}/{len}", to - 1);
        told.insert("content-range", range.parse().unwrap());
    }
    if method == Method::HEAD {
        told.insert("content-length", len.into());
    } else {
        content.counts.bytes += bytes.len() as u64;
        *answer.body_mut() = bytes.into();
    }
    answer
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('\n', "&#10;")
}

fn date(time: SystemTime, format: &str) -> String {
    let time = jiff::Timestamp::try_from(time).unwrap();
    time.strftime(format).to_string()
}
