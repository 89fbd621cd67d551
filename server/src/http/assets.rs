//! The page: embedded files, or those of `--web-dir`.
//!
//! Every URL that is neither a file nor part of the API is a place *on* the page and gets `index.html`. That requests
//! the files by name and version: browsers can cache them for good.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, ErrorKind, Read as _};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use axum::body::{Body, Bytes};
use axum::extract::{OriginalUri, State};
use axum::http::header::{
    ACCEPT_ENCODING, ALLOW, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, IF_NONE_MATCH,
    VARY,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Redirect, Response};
use flate2::read::GzDecoder;
use trainscope_api::error::ErrorCode;

use super::error::{Failure, method_not_allowed, unknown_path};
use super::{Site, blocking};

/// The start page, which is also every place on it.
const INDEX: &str = "index.html";
/// Caching rules: revalidate always, or cache the file of a version for good.
const ASK: HeaderValue = HeaderValue::from_static("no-cache");
const KEEP: HeaderValue = HeaderValue::from_static("private, max-age=31536000, immutable");

/// An embedded file.
struct EmbeddedFile {
    name: &'static str,
    /// Entity tag, which depends on the content.
    tag: &'static str,
    content: Content<&'static [u8]>,
}

/// Content of a file.
#[derive(Clone, Copy, Debug)]
struct Content<T> {
    bytes: T,
    /// True if `bytes` are compressed with gzip.
    is_gzip: bool,
}

impl<T> Content<T> {
    const fn plain(bytes: T) -> Self {
        Self {
            bytes,
            is_gzip: false,
        }
    }
}

static EMBEDDED: &[EmbeddedFile] = include!(concat!(env!("OUT_DIR"), "/assets.rs"));

/// Source of the page's files.
#[derive(Clone, Debug)]
pub struct Assets(Source);

#[derive(Clone, Debug)]
enum Source {
    BuiltIn {
        files: Arc<[(&'static str, Asset)]>,
        version: String,
    },
    Folder {
        dir: PathBuf,
        prefix: String,
    },
}

/// One file. Cloning is cheap.
#[derive(Clone, Debug)]
struct Asset {
    content_type: HeaderValue,
    /// Entity tag without quotes.
    tag: String,
    content: Content<Bytes>,
}

/// Error while loading the page.
#[derive(Debug, thiserror::Error)]
pub enum AssetsError {
    /// `--web-dir` has no `index.html`.
    #[error("the folder {} holds no index.html", .0.display())]
    NoIndex(PathBuf),
}

impl Assets {
    /// The embedded page, below `prefix`.
    pub fn built_in(prefix: &str) -> Self {
        let mut hasher = DefaultHasher::new();
        for file in EMBEDDED {
            file.tag.hash(&mut hasher);
        }
        let version = format!("{:016x}", hasher.finish());
        let files = EMBEDDED.iter().map(|file| {
            let content = Content {
                bytes: Bytes::from_static(file.content.bytes),
                is_gzip: file.content.is_gzip,
            };
            let mut asset = Asset::new(file.name, content, file.tag, prefix);
            if file.name == INDEX {
                let names = EMBEDDED.iter().map(|file| file.name);
                asset.ask_by_version(names, &version);
            }
            (file.name, asset)
        });
        Self(Source::BuiltIn {
            files: files.collect(),
            version: version.clone(),
        })
    }

    /// The page in `dir`, below `prefix`, read again for each request.
    pub fn folder(dir: &Path, prefix: &str) -> Result<Self, AssetsError> {
        if !dir.join(INDEX).is_file() {
            return Err(AssetsError::NoIndex(dir.to_owned()));
        }
        Ok(Self(Source::Folder {
            dir: dir.to_owned(),
            prefix: prefix.to_owned(),
        }))
    }

    /// The part of a path after `v/` that names these files; may block on the disk.
    fn version(&self) -> String {
        match &self.0 {
            Source::BuiltIn { version, .. } => version.clone(),
            Source::Folder { dir, .. } => version_of_files(&files_in(dir)),
        }
    }

    /// Finds a file; may block on the disk. `None` if it does not exist.
    fn find(&self, name: &str) -> Result<Option<Asset>, Failure> {
        match &self.0 {
            Source::BuiltIn { files, .. } => Ok(files
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, asset)| asset.clone())),
            Source::Folder { dir, prefix } => {
                // The name comes from the client: only plain parts may be joined to the folder.
                let path = Path::new(name);
                if !path
                    .components()
                    .all(|part| matches!(part, Component::Normal(_)))
                {
                    return Ok(None);
                }
                match std::fs::read(dir.join(path)) {
                    Ok(bytes) => {
                        let mut hasher = DefaultHasher::new();
                        bytes.hash(&mut hasher);
                        let tag = format!("{:016x}", hasher.finish());
                        let content = Content::plain(bytes.into());
                        let mut asset = Asset::new(name, content, &tag, prefix);
                        if name == INDEX {
                            let files = files_in(dir);
                            let names = files.iter().map(|file| file.name.as_str());
                            asset.ask_by_version(names, &version_of_files(&files));
                        }
                        Ok(Some(asset))
                    }
                    Err(error)
                        if matches!(
                            error.kind(),
                            ErrorKind::NotFound
                                | ErrorKind::NotADirectory
                                | ErrorKind::IsADirectory
                        ) =>
                    {
                        Ok(None)
                    }
                    Err(error) => Err(Failure::internal(
                        "a file of the page cannot be read",
                        &error,
                    )),
                }
            }
        }
    }
}

/// A file of a folder, as it is now.
#[derive(Hash)]
struct FileState {
    /// Path below the folder, with `/` between parts.
    name: String,
    len_bytes: u64,
    modified: Option<SystemTime>,
}

/// Files below a folder, sorted by name.
fn files_in(dir: &Path) -> Vec<FileState> {
    let mut files = Vec::new();
    collect(dir, "", &mut files);
    files.sort_by(|a, b| a.name.cmp(&b.name));
    files
}

fn collect(dir: &Path, prefix: &str, files: &mut Vec<FileState>) {
    let entries = std::fs::read_dir(dir).into_iter().flatten();
    for entry in entries.filter_map(Result::ok) {
        let (Ok(metadata), Ok(name)) = (entry.metadata(), entry.file_name().into_string()) else {
            continue;
        };
        let name = format!("{prefix}{name}");
        if metadata.is_dir() {
            collect(&entry.path(), &format!("{name}/"), files);
        } else {
            files.push(FileState {
                name,
                len_bytes: metadata.len(),
                modified: metadata.modified().ok(),
            });
        }
    }
}

fn version_of_files(files: &[FileState]) -> String {
    let mut hasher = DefaultHasher::new();
    files.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

impl Asset {
    /// Makes the page request these files by their version.
    fn ask_by_version<'a>(&mut self, names: impl Iterator<Item = &'a str>, version: &str) {
        self.content = Content::plain(with_version(&self.content.bytes, names, version));
        self.tag.push_str(version);
    }

    fn new(name: &str, mut content: Content<Bytes>, tag: &str, prefix: &str) -> Self {
        if name == INDEX
            && let Ok(page) = std::str::from_utf8(&content.bytes)
        {
            content = Content::plain(with_base(page, prefix).into());
        }
        let mime = mime_guess::from_path(name).first_or_octet_stream();
        let text =
            mime.type_() == "text" || mime.subtype() == "javascript" || mime.subtype() == "json";
        let content_type = if text {
            format!("{mime}; charset=utf-8")
        } else {
            mime.to_string()
        };
        Self {
            content_type: HeaderValue::from_str(&content_type)
                .unwrap_or(HeaderValue::from_static("application/octet-stream")),
            tag: format!("{tag}{prefix}"),
            content,
        }
    }

    fn answer(self, is_kept: bool, asked: &HeaderMap) -> Response {
        let Content { bytes, is_gzip } = self.content;
        let (body, encoding) = if !is_gzip {
            (bytes, "")
        } else if accepts_gzip(asked) {
            (bytes, "gzip")
        } else {
            match unpack(&bytes) {
                Ok(bytes) => (bytes, ""),
                Err(error) => {
                    return Failure::internal("a file of the page cannot be unpacked", &error)
                        .into_response();
                }
            }
        };
        let etag = if encoding.is_empty() {
            format!("\"{}\"", self.tag)
        } else {
            format!("\"{}-{encoding}\"", self.tag)
        };
        let unchanged = holds(asked, &etag);
        let mut response = if unchanged {
            StatusCode::NOT_MODIFIED.into_response()
        } else {
            Body::from(body).into_response()
        };
        let headers = response.headers_mut();
        if !unchanged {
            headers.insert(CONTENT_TYPE, self.content_type);
            if !encoding.is_empty() {
                headers.insert(CONTENT_ENCODING, HeaderValue::from_static(encoding));
            }
        }
        // Names stay the same from build to build, so browsers revalidate unless the URL has this version.
        headers.insert(CACHE_CONTROL, if is_kept { KEEP } else { ASK });
        headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
        if let Ok(etag) = HeaderValue::from_str(&etag) {
            headers.insert(ETAG, etag);
        }
        response
    }
}

/// True if the browser has this file already.
fn holds(asked: &HeaderMap, etag: &str) -> bool {
    asked
        .get_all(IF_NONE_MATCH)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(str::trim)
        .any(|known| known == "*" || known.strip_prefix("W/").unwrap_or(known) == etag)
}

/// True if a client accepts gzip, by the weights of its request.
fn accepts_gzip(asked: &HeaderMap) -> bool {
    let weight_of = |coding: &str| {
        asked
            .get_all(ACCEPT_ENCODING)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(','))
            .filter_map(|entry| {
                let mut parts = entry.split(';');
                let name = parts.next()?.trim();
                let weight = parts
                    .find_map(|part| part.trim().strip_prefix("q="))
                    .map_or(Some(1.0), |weight| weight.trim().parse::<f32>().ok())?;
                name.eq_ignore_ascii_case(coding).then_some(weight)
            })
            .next_back()
    };
    let weight = weight_of("gzip").or_else(|| weight_of("*"));
    weight.is_some_and(|weight| weight > 0.0)
}

/// The plain content, for the few clients that accept no compression.
fn unpack(gzip: &[u8]) -> io::Result<Bytes> {
    let mut plain = Vec::new();
    GzDecoder::new(gzip).read_to_end(&mut plain)?;
    Ok(plain.into())
}

/// Inserts a base element into the page: relative URLs work on every place of the page and below any prefix. An
/// existing base is replaced.
fn with_base(page: &str, prefix: &str) -> String {
    let base = format!("<base href=\"{prefix}/\">");
    let tag = |name: &str| {
        let start = page.find(name)?;
        let len = page[start..].find('>')?;
        Some((start, start + len + 1))
    };
    if let Some((start, end)) = tag("<base") {
        return format!("{}{base}{}", &page[..start], &page[end..]);
    }
    match tag("<head>").or_else(|| tag("<head ")) {
        Some((_, end)) => format!("{}{base}{}", &page[..end], &page[end..]),
        None => format!("{base}{page}"),
    }
}

/// Makes the page request files by their version, which is part of the path: imports of a script get the same version.
fn with_version<'a>(page: &[u8], names: impl Iterator<Item = &'a str>, version: &str) -> Bytes {
    let mut page = String::from_utf8_lossy(page).into_owned();
    for name in names {
        page = page.replace(&format!("\"{name}\""), &format!("\"v/{version}/{name}\""));
    }
    page.into()
}

/// The version and the name of a file whose path has both.
fn version_of(path: &str) -> Option<(&str, &str)> {
    path.strip_prefix("v/")?.split_once('/')
}

/// Serves files of the page, and the page itself for every place on it.
pub(super) async fn get(
    State(site): State<Site>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    if method != Method::GET && method != Method::HEAD {
        let failure = method_not_allowed(method, uri).await;
        return ([(ALLOW, "GET,HEAD")], failure).into_response();
    }
    let path = uri.path().trim_start_matches('/');
    let (version, name) = version_of(path).unwrap_or(("", path));
    let (version, name) = (version.to_owned(), name.to_owned());
    let assets = site.assets.clone();
    let found = blocking(move || {
        let name = if name.is_empty() { INDEX } else { &name };
        let is_kept = !version.is_empty() && version == assets.version();
        let is_of_another = !version.is_empty() && !is_kept;
        match assets.find(name)? {
            // Files of two builds do not fit together: a page that was opened before an update must not get those of
            // this build.
            _ if is_of_another && is_file_name(name) => Ok(None),
            // A missing file must not return the page: as a script, it would fail with confusing errors.
            None if is_file_name(name) => Ok(None),
            None => Ok(assets.find(INDEX)?.map(|index| (index, false))),
            Some(asset) => Ok(Some((asset, is_kept && name != INDEX))),
        }
    })
    .await;
    match found {
        Ok(Some((asset, is_kept))) => asset.answer(is_kept, &headers),
        Ok(None) => Failure::new(
            ErrorCode::UnknownPath,
            format!("there is no file {}", uri.path()),
        )
        .into_response(),
        Err(failure) => failure.into_response(),
    }
}

/// True if a path names a file rather than a place on the page. Runs have dots in their names (`lr-0.01`), and their
/// places end in the name of a page, so only names like those of bundle files count.
fn is_file_name(path: &str) -> bool {
    const EXTENSIONS: [&str; 13] = [
        "bin", "css", "gif", "html", "ico", "js", "json", "map", "png", "svg", "txt", "wasm",
        "woff2",
    ];
    Path::new(path)
        .extension()
        .and_then(|extension| extension.to_str())
        .is_some_and(|extension| EXTENSIONS.contains(&extension))
}

/// Answers requests outside of the prefix: a redirect, or not found.
pub(super) async fn outside(State(site): State<Site>, OriginalUri(uri): OriginalUri) -> Response {
    let path = uri.path();
    if path == "/" || path == site.prefix {
        return Redirect::temporary(&format!("{}/", site.prefix)).into_response();
    }
    unknown_path(uri).await.into_response()
}

#[cfg(test)]
mod tests {
    use super::{accepts_gzip, is_file_name, with_base, with_version};
    use axum::http::HeaderMap;
    use axum::http::header::ACCEPT_ENCODING;

    #[test]
    fn gzip_is_accepted_by_weight() {
        for (header, is_accepted) in [
            ("", false),
            ("gzip, deflate, br", true),
            ("gzip", true),
            ("br;q=1, gzip;q=0", false),
            ("*", true),
            ("*;q=0, GZIP", true),
            ("identity", false),
            ("gzip;q=x", false),
        ] {
            let mut asked = HeaderMap::new();
            asked.insert(ACCEPT_ENCODING, header.parse().unwrap());
            assert_eq!(accepts_gzip(&asked), is_accepted, "{header}");
        }
    }

    #[test]
    fn the_base_stands_first_and_once() {
        assert_eq!(
            with_base("<html><head><title>x</title></head>", "/p"),
            "<html><head><base href=\"/p/\"><title>x</title></head>"
        );
        assert_eq!(
            with_base("<head lang=\"en\"><link></head><header>", ""),
            "<head lang=\"en\"><base href=\"/\"><link></head><header>"
        );
        assert_eq!(
            with_base("<head><base href=\"/\" /><title>", "/p"),
            "<head><base href=\"/p/\"><title>"
        );
        assert_eq!(with_base("text", ""), "<base href=\"/\">text");
    }

    #[test]
    fn files_are_asked_for_by_version_and_nothing_else_is() {
        let page =
            b"<link href=\"style.css\"><link href=\"api/runs\"><script src=\"boot.js\">style.css";
        assert_eq!(
            with_version(page, ["style.css", "boot.js"].into_iter(), "1"),
            "<link href=\"v/1/style.css\"><link href=\"api/runs\"><script src=\"v/1/boot.js\">style.css"
        );
    }

    #[test]
    fn runs_with_dots_are_places_not_files() {
        for place in ["run/resnet18/lr-0.01", "run/a.b/c.d/scalars", "", "runs"] {
            assert!(!is_file_name(place), "{place}");
        }
        for file in ["style.css", "a/b.js", "trainscope_web_bg.wasm"] {
            assert!(is_file_name(file), "{file}");
        }
    }
}
