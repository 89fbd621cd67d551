//! The socket of a connection: one half reads, the other writes, and frames of both never mix.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream, ToSocketAddrs};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tungstenite::client::client_with_config;
use tungstenite::handshake::HandshakeError;
use tungstenite::http::{Request, Uri, header};
use tungstenite::protocol::{Role, WebSocketConfig};
use tungstenite::{Error, Message, WebSocket};

use trainscope_format::session::{MAX_TEXT_BYTES, PROTOCOL};

use super::machine::Refusal;

/// Timeout of connecting and of the handshake.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(5);

/// Both directions of a socket. A write is whole: pongs of the reading half never end up inside of a frame.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    socket: Arc<TcpStream>,
    writing: Arc<Mutex<()>>,
}

impl Read for Link {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        (&*self.socket).read(bytes)
    }
}

impl Write for Link {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let _guard = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let written = (&*self.socket).write_all(bytes);
        if written.is_err() {
            // A part of a frame may have been sent.
            self.close();
        }
        written.map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(unix)]
impl std::os::fd::AsRawFd for Link {
    fn as_raw_fd(&self) -> std::os::fd::RawFd {
        self.socket.as_raw_fd()
    }
}

impl Link {
    /// Ends both directions; a reader gets the end of the stream.
    pub(crate) fn close(&self) {
        // It may be closed already.
        drop(self.socket.shutdown(Shutdown::Both));
    }
}

/// The writing half of a connection.
#[derive(Debug)]
pub(crate) struct Sender {
    socket: WebSocket<Link>,
}

impl Sender {
    /// Sends a text frame. An error ends the connection.
    pub(crate) fn text(&mut self, text: String) -> Result<(), ()> {
        self.socket.send(Message::text(text)).map_err(drop)
    }

    /// Sends a binary frame.
    pub(crate) fn binary(&mut self, bytes: Vec<u8>) -> Result<(), ()> {
        self.socket.send(Message::binary(bytes)).map_err(drop)
    }

    /// Says goodbye to the other end, with a reason, and closes the socket.
    pub(crate) fn close(&mut self, reason: &'static str) {
        let frame = tungstenite::protocol::CloseFrame {
            code: tungstenite::protocol::frame::coding::CloseCode::Normal,
            reason: reason.into(),
        };
        // The other end may be gone.
        drop(self.socket.close(Some(frame)));
        drop(self.socket.flush());
        self.socket.get_ref().close();
    }

    /// Ends both directions without a goodbye.
    pub(crate) fn cut(&self) {
        self.socket.get_ref().close();
    }

    /// The link, to be closed from elsewhere.
    pub(crate) fn link(&self) -> Link {
        self.socket.get_ref().clone()
    }
}

/// The reading half of a connection.
#[derive(Debug)]
pub(crate) struct Receiver {
    socket: WebSocket<Link>,
}

/// Input of the reading half.
#[derive(Debug, PartialEq)]
pub(crate) enum Input {
    Text(String),
    /// A frame without content for the session: a ping.
    Sign,
    /// Nothing came in time.
    Nothing,
    /// The connection has ended.
    End,
}

impl Receiver {
    /// Waits for a frame, at most this long.
    pub(crate) fn receive(&mut self, at_most: Duration) -> Input {
        let link = self.socket.get_ref();
        let timeout = at_most.max(Duration::from_millis(1));
        if link.socket.set_read_timeout(Some(timeout)).is_err() {
            return Input::End;
        }
        match self.socket.read() {
            Ok(Message::Text(text)) => Input::Text(text.as_str().to_owned()),
            Ok(Message::Close(_)) => Input::End,
            Ok(_) => {
                // Sends the answer to a ping.
                drop(self.socket.flush());
                Input::Sign
            }
            Err(Error::Io(error)) if is_timeout(&error) => Input::Nothing,
            Err(_) => Input::End,
        }
    }
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted
    )
}

/// Failure to connect.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ConnectError {
    /// The server has refused.
    Refused(Refusal, String),
    /// Nothing answers, or not now.
    Unreachable(String),
}

/// Connects to the server at an address, `http://host:port/prefix`. The token is sent to this address only: redirects are
/// not followed.
pub(crate) fn connect(
    address: &str,
    token: Option<&str>,
    write_timeout: Duration,
) -> Result<(Sender, Receiver), ConnectError> {
    let unreachable = |error: &dyn std::fmt::Display| ConnectError::Unreachable(error.to_string());
    let (host, port, path) = parts(address).ok_or_else(|| {
        let message = format!("{address:?} is not an address like http://host:8080");
        ConnectError::Refused(Refusal::Access, message)
    })?;
    let mut socket = Err(io::Error::other("the host has no address"));
    let addresses = (&*host, port)
        .to_socket_addrs()
        .map_err(|error| unreachable(&error))?;
    for own in addresses {
        socket = TcpStream::connect_timeout(&own, HANDSHAKE_TIMEOUT);
        if socket.is_ok() {
            break;
        }
    }
    let socket = socket.map_err(|error| unreachable(&error))?;
    socket
        .set_nodelay(true)
        .and_then(|()| socket.set_read_timeout(Some(HANDSHAKE_TIMEOUT)))
        .and_then(|()| socket.set_write_timeout(Some(write_timeout)))
        .map_err(|error| unreachable(&error))?;
    let link = Link {
        socket: Arc::new(socket),
        writing: Arc::default(),
    };
    let config = WebSocketConfig::default()
        .max_message_size(Some(MAX_TEXT_BYTES))
        .max_frame_size(Some(MAX_TEXT_BYTES));
    let authority = if host.contains(':') {
        format!("[{host}]:{port}")
    } else {
        format!("{host}:{port}")
    };
    let mut request = Request::builder()
        .uri(format!("ws://{authority}{path}/api/session/connect"))
        .header(header::HOST, &authority)
        .header(header::CONNECTION, "Upgrade")
        .header(header::UPGRADE, "websocket")
        .header(header::SEC_WEBSOCKET_VERSION, "13")
        .header(
            header::SEC_WEBSOCKET_KEY,
            tungstenite::handshake::client::generate_key(),
        )
        .header(header::SEC_WEBSOCKET_PROTOCOL, PROTOCOL);
    if let Some(token) = token {
        request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
    }
    let request = request.body(()).map_err(|error| unreachable(&error))?;
    let shaken = client_with_config(request, link.clone(), Some(config));
    match shaken {
        Ok((socket, _)) => {
            let writing = WebSocket::from_raw_socket(link, Role::Client, Some(config));
            Ok((Sender { socket: writing }, Receiver { socket }))
        }
        Err(HandshakeError::Interrupted(_)) => Err(unreachable(&"the handshake took too long")),
        Err(HandshakeError::Failure(Error::Http(response))) => {
            let body = response.body().clone().unwrap_or_default();
            Err(refusal(
                response.status().as_u16(),
                &String::from_utf8_lossy(&body),
            ))
        }
        Err(HandshakeError::Failure(error)) => Err(unreachable(&error)),
    }
}

fn refusal(status: u16, body: &str) -> ConnectError {
    /// Error of the server's API.
    #[derive(Default, serde::Deserialize)]
    #[serde(default)]
    struct Answer {
        code: String,
        message: String,
    }
    let answer: Answer = serde_json::from_str(body).unwrap_or_default();
    let message = if answer.message.is_empty() {
        format!("status {status}")
    } else {
        format!("{} (status {status})", answer.message)
    };
    match (status, &*answer.code) {
        (401 | 403, _) => ConnectError::Refused(Refusal::Access, message),
        (426, "protocol") => ConnectError::Refused(Refusal::Protocol, message),
        (400 | 426, _) => ConnectError::Refused(Refusal::Proxy, message),
        _ => ConnectError::Unreachable(message),
    }
}

/// Host, port and prefix of the paths of an address.
fn parts(address: &str) -> Option<(String, u16, String)> {
    let uri: Uri = address.parse().ok()?;
    if uri.scheme_str() != Some("http") {
        return None;
    }
    let host = uri.host()?.trim_matches(['[', ']']).to_owned();
    let path = uri.path().trim_end_matches('/').to_owned();
    Some((host, uri.port_u16().unwrap_or(80), path))
}

#[cfg(test)]
mod tests {
    use super::{ConnectError, Refusal, parts, refusal};

    #[test]
    fn addresses_have_a_host_a_port_and_a_prefix() {
        let seen = |address| parts(address);
        let wanted = |host: &str, port, path: &str| Some((host.to_owned(), port, path.to_owned()));
        assert_eq!(seen("http://a:8080"), wanted("a", 8080, ""));
        assert_eq!(seen("http://a/x/"), wanted("a", 80, "/x"));
        assert_eq!(seen("http://[::1]:9/"), wanted("::1", 9, ""));
        for bad in ["", "a:8080", "https://a", "ftp://a", "http://"] {
            assert_eq!(seen(bad), None, "{bad}");
        }
    }

    #[test]
    fn refusals_are_told_apart() {
        let of = |status, body| match refusal(status, body) {
            ConnectError::Refused(refusal, _) => Some(refusal),
            ConnectError::Unreachable(_) => None,
        };
        assert_eq!(of(401, ""), Some(Refusal::Access));
        assert_eq!(of(403, "{}"), Some(Refusal::Access));
        assert_eq!(of(426, r#"{"code":"protocol"}"#), Some(Refusal::Protocol));
        assert_eq!(of(426, "<html>"), Some(Refusal::Proxy));
        assert_eq!(of(400, ""), Some(Refusal::Proxy));
        for status in [302, 404, 500, 503] {
            assert_eq!(of(status, ""), None);
        }
    }
}
