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
#[cfg(feature = "live-tls")]
use super::tls::{self, Tls};

/// Timeout of connecting and of the handshake.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(5);

/// Both directions of a socket. A write is whole: pongs of the reading half never end up inside of a frame.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    socket: Arc<TcpStream>,
    writing: Arc<Mutex<()>>,
    #[cfg(feature = "live-tls")]
    tls: Option<Arc<Tls>>,
}

impl Read for Link {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        #[cfg(feature = "live-tls")]
        if let Some(tls) = &self.tls {
            return tls.read(&self.socket, &self.writing, bytes);
        }
        (&*self.socket).read(bytes)
    }
}

impl Write for Link {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let _guard = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let written = self.write_whole(bytes);
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
    fn write_whole(&self, bytes: &[u8]) -> io::Result<()> {
        #[cfg(feature = "live-tls")]
        if let Some(tls) = &self.tls {
            return tls.write(&self.socket, bytes);
        }
        (&*self.socket).write_all(bytes)
    }

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
    /// No answer, or none at present.
    Unreachable(String),
}

/// Checks the address of a server; the error describes the mistake.
pub(crate) fn check(address: &str) -> Result<(), String> {
    match Address::parse(address) {
        Err(ConnectError::Refused(_, message) | ConnectError::Unreachable(message)) => Err(message),
        Ok(_) => Ok(()),
    }
}

/// Connects to the server at an address, `http://host:port/prefix` or `https://…`. The token is sent to this address
/// only: redirects are not followed.
pub(crate) fn connect(
    address: &str,
    token: Option<&str>,
    write_timeout: Duration,
) -> Result<(Sender, Receiver), ConnectError> {
    let address = Address::parse(address)?;
    #[cfg(feature = "live-tls")]
    let tls = if address.is_encrypted {
        let refused = |message| ConnectError::Refused(Refusal::Access, message);
        let authorities = tls::authorities().map_err(refused)?;
        let tls =
            Tls::new(&address.host, authorities).map_err(|error| refused(error.to_string()))?;
        Some(Arc::new(tls))
    } else {
        None
    };
    let link = Link {
        socket: Arc::new(open(&address, write_timeout)?),
        writing: Arc::default(),
        #[cfg(feature = "live-tls")]
        tls,
    };
    shake_hands(link, &address, token)
}

/// Opens a socket.
fn open(address: &Address, write_timeout: Duration) -> Result<TcpStream, ConnectError> {
    let mut socket = Err(io::Error::other("the host has no address"));
    let addresses = (&*address.host, address.port).to_socket_addrs();
    for candidate in addresses.map_err(unreachable)? {
        socket = TcpStream::connect_timeout(&candidate, HANDSHAKE_TIMEOUT);
        if socket.is_ok() {
            break;
        }
    }
    let socket = socket.map_err(unreachable)?;
    socket
        .set_nodelay(true)
        .and_then(|()| socket.set_read_timeout(Some(HANDSHAKE_TIMEOUT)))
        .and_then(|()| socket.set_write_timeout(Some(write_timeout)))
        .map_err(unreachable)?;
    Ok(socket)
}

fn unreachable(error: impl std::fmt::Display) -> ConnectError {
    ConnectError::Unreachable(error.to_string())
}

/// Asks the server to take the connection for a session.
fn shake_hands(
    link: Link,
    address: &Address,
    token: Option<&str>,
) -> Result<(Sender, Receiver), ConnectError> {
    let Address {
        host, port, path, ..
    } = address;
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
    let request = request.body(()).map_err(unreachable)?;
    let shaken = client_with_config(request, link.clone(), Some(config));
    match shaken {
        Ok((socket, _)) => {
            let writing = WebSocket::from_raw_socket(link, Role::Client, Some(config));
            Ok((Sender { socket: writing }, Receiver { socket }))
        }
        Err(HandshakeError::Interrupted(_)) => Err(unreachable("the handshake took too long")),
        Err(HandshakeError::Failure(Error::Http(response))) => {
            let body = response.body().clone().unwrap_or_default();
            Err(refusal(
                response.status().as_u16(),
                &String::from_utf8_lossy(&body),
            ))
        }
        #[cfg(feature = "live-tls")]
        Err(HandshakeError::Failure(Error::Io(error)))
            if let Some(reason) = tls::refused_certificate(&error) =>
        {
            Err(ConnectError::Refused(Refusal::Access, reason))
        }
        Err(HandshakeError::Failure(error)) => Err(unreachable(error)),
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

/// Parts of the address of a server.
#[derive(Debug, PartialEq, Eq)]
struct Address {
    is_encrypted: bool,
    host: String,
    port: u16,
    /// Prefix of the paths.
    path: String,
}

impl Address {
    fn parse(address: &str) -> Result<Self, ConnectError> {
        let refused = |message| ConnectError::Refused(Refusal::Access, message);
        let uri = address.parse::<Uri>().ok();
        let parts = uri.as_ref().and_then(|uri| {
            let (is_encrypted, port) = match uri.scheme_str()? {
                "http" => (false, 80),
                "https" => (true, 443),
                _ => return None,
            };
            Some(Self {
                is_encrypted,
                host: uri.host()?.trim_matches(['[', ']']).to_owned(),
                port: uri.port_u16().unwrap_or(port),
                path: uri.path().trim_end_matches('/').to_owned(),
            })
        });
        let parts = parts.ok_or_else(|| {
            refused(format!(
                "{address:?} is not an address like http://host:8080"
            ))
        })?;
        if parts.is_encrypted && !cfg!(feature = "live-tls") {
            return Err(refused(format!(
                "{address:?} needs the feature live-tls of the crate trainscope-collector"
            )));
        }
        Ok(parts)
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, TcpListener, TcpStream};
    use std::sync::Arc;
    use std::time::Duration;

    use rustls::pki_types::PrivatePkcs8KeyDer;
    use rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned};
    use tungstenite::Message;
    use tungstenite::handshake::server::{Request, Response};

    use super::{Address, ConnectError, Input, Link, PROTOCOL, Refusal, Tls, refusal, shake_hands};

    #[test]
    fn addresses_have_a_host_a_port_and_a_prefix() {
        let wanted = |is_encrypted, host: &str, port, path: &str| {
            Ok(Address {
                is_encrypted,
                host: host.to_owned(),
                port,
                path: path.to_owned(),
            })
        };
        for (address, wanted) in [
            ("http://a:8080", wanted(false, "a", 8080, "")),
            ("http://a/x/", wanted(false, "a", 80, "/x")),
            ("http://[::1]:9/", wanted(false, "::1", 9, "")),
            ("https://a/x", wanted(true, "a", 443, "/x")),
        ] {
            assert_eq!(Address::parse(address), wanted, "{address}");
        }
        for bad in ["", "a:8080", "ftp://a", "http://"] {
            let refused = Address::parse(bad);
            assert!(
                matches!(&refused, Err(ConnectError::Refused(Refusal::Access, _))),
                "{refused:?}"
            );
        }
    }

    /// Encrypted connection to a server that sends each text back, and the length of a binary frame; `is_trusted` adds
    /// its certificate to the authorities.
    fn connect_encrypted(
        is_trusted: bool,
    ) -> Result<(super::Sender, super::Receiver), ConnectError> {
        let certified = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let certificate = certified.cert.der().clone();
        let key = PrivatePkcs8KeyDer::from(certified.signing_key.serialize_der());
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.clone()], key.into())
            .unwrap();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            let socket = listener.accept().unwrap().0;
            let connection = ServerConnection::new(Arc::new(config)).unwrap();
            let stream = StreamOwned::new(connection, socket);
            #[expect(clippy::result_large_err, reason = "the type is tungstenite's")]
            let speak = |_: &Request, mut response: Response| {
                let name = "Sec-WebSocket-Protocol";
                response
                    .headers_mut()
                    .insert(name, PROTOCOL.parse().unwrap());
                Ok(response)
            };
            let Ok(mut server) = tungstenite::accept_hdr(stream, speak) else {
                return;
            };
            while let Ok(message) = server.read() {
                if message.is_binary() {
                    let len = message.into_data().len();
                    server.send(Message::text(len.to_string())).unwrap();
                } else if message.is_text() {
                    server.send(message).unwrap();
                }
            }
        });
        let mut authorities = RootCertStore::empty();
        if is_trusted {
            authorities.add(certificate).unwrap();
        }
        let address = Address::parse(&format!("https://localhost:{port}")).unwrap();
        let socket = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
        let link = Link {
            socket: Arc::new(socket),
            writing: Arc::default(),
            tls: Some(Arc::new(Tls::new(&address.host, authorities).unwrap())),
        };
        shake_hands(link, &address, None)
    }

    #[test]
    fn encrypted_connections_carry_frames_of_all_lengths_both_ways_at_once() {
        let (mut sender, mut receiver) = connect_encrypted(true).unwrap();
        assert_eq!(receiver.receive(Duration::from_millis(1)), Input::Nothing);
        let texts: Vec<String> = [0, 1, 125, 16_384, 500_000]
            .into_iter()
            .map(|len| "x".repeat(len))
            .collect();
        let sent = texts.clone();
        let sending = std::thread::spawn(move || {
            for text in sent {
                sender.text(text).unwrap();
            }
            sender.binary(vec![7; 5 << 20]).unwrap();
            sender
        });
        let wait = Duration::from_mins(1);
        for text in texts {
            assert_eq!(receiver.receive(wait), Input::Text(text));
        }
        assert_eq!(receiver.receive(wait), Input::Text((5 << 20).to_string()));
        sending.join().unwrap().close("done");
        assert_eq!(receiver.receive(wait), Input::End);
    }

    #[test]
    fn a_certificate_of_an_unknown_authority_is_refused_with_what_to_do() {
        let refused = connect_encrypted(false).map(drop).unwrap_err();
        assert!(
            matches!(&refused, ConnectError::Refused(Refusal::Access, reason) if reason.contains("SSL_CERT_FILE")),
            "{refused:?}"
        );
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
