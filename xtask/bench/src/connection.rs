//! Minimal HTTP client that repeats one request: it shares the cores with the measured server, so that its cost makes
//! every server look worse.

use std::io::{Read, Write};
use std::net::TcpStream;

use anyhow::{Context, Result, ensure};
use httparse::{EMPTY_HEADER, Response};

/// Initial buffer size; larger answers make it grow.
const BUFFER_BYTES: usize = 1 << 20;
/// Maximum number of headers of an answer.
const MAX_HEADERS: usize = 32;

/// A connection with one prepared request.
pub(super) struct Connection {
    /// Host and port.
    server: String,
    request: Vec<u8>,
    /// Kept open between requests if the server supports it.
    stream: Option<TcpStream>,
    buffer: Vec<u8>,
}

/// Parsed head of an answer.
struct Head {
    /// Offset of the body.
    len_bytes: usize,
    body_bytes: usize,
    /// `true` if the server closes the connection after the answer.
    closes: bool,
}

impl Connection {
    pub(super) fn get(url: &str) -> Result<Self> {
        Self::new("GET", url, "", "")
    }

    /// Creates a `POST` request; `headers` are lines, each with its line ending.
    pub(super) fn post(url: &str, headers: &str, body: &str) -> Result<Self> {
        Self::new("POST", url, headers, body)
    }

    fn new(method: &str, url: &str, headers: &str, body: &str) -> Result<Self> {
        let (server, path) = url
            .strip_prefix("http://")
            .and_then(|url| url.split_once('/'))
            .with_context(|| format!("{url} is no address"))?;
        let len = body.len();
        let request = format!(
            "{method} /{path} HTTP/1.1\r\nhost: {server}\r\n{headers}content-length: {len}\r\n\r\n{body}"
        );
        Ok(Self {
            server: server.to_owned(),
            request: request.into_bytes(),
            stream: None,
            buffer: vec![0; BUFFER_BYTES],
        })
    }

    /// Sends the request and returns the body of its answer; an error status is an error.
    pub(super) fn ask(&mut self) -> Result<&[u8]> {
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => TcpStream::connect(&self.server)?,
        };
        stream.set_nodelay(true)?;
        stream.write_all(&self.request)?;
        let mut filled = 0;
        let head = loop {
            filled += self.read_more(&mut stream, filled)?;
            if let Some(head) = head(&self.buffer[..filled])? {
                break head;
            }
        };
        let end = head.len_bytes + head.body_bytes;
        while filled < end {
            filled += self.read_more(&mut stream, filled)?;
        }
        if !head.closes {
            self.stream = Some(stream);
        }
        Ok(&self.buffer[head.len_bytes..end])
    }

    fn read_more(&mut self, stream: &mut TcpStream, filled: usize) -> Result<usize> {
        if filled == self.buffer.len() {
            self.buffer.resize(2 * filled, 0);
        }
        let n = stream.read(&mut self.buffer[filled..])?;
        ensure!(n > 0, "{} ended in the middle of an answer", self.server);
        Ok(n)
    }
}

/// Parses the head of an answer; `None` if it is incomplete.
fn head(bytes: &[u8]) -> Result<Option<Head>> {
    let mut headers = [EMPTY_HEADER; MAX_HEADERS];
    let mut response = Response::new(&mut headers);
    let httparse::Status::Complete(len_bytes) = response.parse(bytes)? else {
        return Ok(None);
    };
    ensure!(response.code == Some(200), "refused: {:?}", response.code);
    let header = |name: &str| {
        let found = response
            .headers
            .iter()
            .find(|header| header.name.eq_ignore_ascii_case(name))?;
        std::str::from_utf8(found.value).ok()
    };
    let body_bytes = header("content-length").context("an answer without its length")?;
    Ok(Some(Head {
        len_bytes,
        body_bytes: body_bytes.parse()?,
        closes: header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close")),
    }))
}
