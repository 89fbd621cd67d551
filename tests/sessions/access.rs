//! Access of trainings to the server, and limits of their messages.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use trainscope_api::sessions::SessionState;

use super::training::{Sessions, Setup, Training};
use crate::support::lab::Lab;
use crate::support::server::Server;
use crate::support::wait::wait_for;

/// The status of a handshake with these headers.
fn handshake(server: &Server, headers: &str) -> (u16, String, TcpStream) {
    let authority = server.address().trim_start_matches("http://");
    let mut stream = TcpStream::connect(authority).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(30)))
        .unwrap();
    let host = if headers.contains("Host:") {
        String::new()
    } else {
        format!("Host: {authority}\r\n")
    };
    let request = format!(
        "GET /api/session/connect HTTP/1.1\r\n{host}Connection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{headers}\r\n"
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut text = Vec::new();
    let mut piece = [0; 4_096];
    while !text.windows(4).any(|window| window == b"\r\n\r\n") {
        let len = stream.read(&mut piece).unwrap();
        assert!(len > 0);
        text.extend_from_slice(&piece[..len]);
    }
    let text = String::from_utf8_lossy(&text).into_owned();
    let status = text.split(' ').nth(1).unwrap().parse().unwrap();
    (status, text, stream)
}

const PROTOCOL: &str = "Sec-WebSocket-Protocol: trainscope.live.1\r\n";

#[test]
fn pages_of_browsers_and_foreign_names_are_refused() {
    let lab = Lab::new();
    let server = lab.start();
    let address = server.address().to_owned();
    for (headers, wanted) in [
        (PROTOCOL.to_owned(), 101),
        (format!("{PROTOCOL}Origin: {address}\r\n"), 403),
        (format!("{PROTOCOL}Origin: http://evil.example\r\n"), 403),
        (format!("{PROTOCOL}Host: evil.example\r\n"), 403),
        (String::new(), 426),
        (
            "Sec-WebSocket-Protocol: trainscope.live.2\r\n".to_owned(),
            426,
        ),
        (
            "Sec-WebSocket-Protocol: trainscope.live.2, trainscope.live.1\r\n".to_owned(),
            101,
        ),
    ] {
        let (status, text, _) = handshake(&server, &headers);
        assert_eq!(status, wanted, "{headers}: {text}");
    }
    let text = server.get_with("/api/session/connect", &[]);
    assert!(text.status >= 400);
    for origin in ["http://evil.example", "null"] {
        let answer = server.get_with("/api/sessions", &[("origin", origin)]);
        assert_eq!(answer.status, 403);
    }
}

#[test]
fn a_training_needs_the_token_and_never_shows_it() {
    let lab = Lab::new();
    let token = "0123456789abcdef0123456789abcdef";
    let file = lab.path("token");
    std::fs::write(&file, token).unwrap();
    let path = file.to_str().unwrap();
    let server = lab.start_with(&["--host", "0.0.0.0", "--token-file", path]);
    let (status, ..) = handshake(&server, PROTOCOL);
    assert_eq!(status, 401);
    let bearer = |token: &str| format!("{PROTOCOL}Authorization: Bearer {token}\r\n");
    assert_eq!(handshake(&server, &bearer("wrong")).0, 401);
    assert_eq!(handshake(&server, &bearer(token)).0, 101);
    let run = lab.base().join("a");
    let mut setup = Setup::new(&run, Some(&server));
    setup.steps = 1_500;
    setup.token = Some(token.to_owned());
    let training = Training::start(&setup);
    let authorization = format!("Bearer {token}");
    wait_for("the session", || {
        let headers = [("authorization", authorization.as_str())];
        let list = server.get_with("/api/sessions", &headers).json();
        (!list["sessions"].as_array()?.is_empty()).then_some(())
    });
    training.end();
    for entry in std::fs::read_dir(&run).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            let bytes = std::fs::read(&path).unwrap();
            let has_token = bytes
                .windows(token.len())
                .any(|window| window == token.as_bytes());
            assert!(!has_token, "{}", path.display());
        }
    }
}

/// A masked text frame of a client.
fn frame(text: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0x81];
    let len = text.len();
    if len < 126 {
        bytes.push(0x80 | u8::try_from(len).unwrap());
    } else {
        bytes.push(0x80 | 127);
        bytes.extend_from_slice(&(len as u64).to_be_bytes());
    }
    // A mask of zeros changes nothing.
    bytes.extend_from_slice(&[0; 4]);
    bytes.extend_from_slice(text);
    bytes
}

/// `true` if the server closes the connection.
fn is_closed(stream: &mut TcpStream) -> bool {
    let mut piece = [0; 4_096];
    loop {
        match stream.read(&mut piece) {
            Ok(0) => return true,
            Ok(_) => {}
            Err(error) => return error.kind() == std::io::ErrorKind::ConnectionReset,
        }
    }
}

#[test]
fn rubbish_and_large_messages_end_their_connection_only() {
    let lab = Lab::new();
    let server = lab.start();
    let training = Training::start(&Setup::new(&lab.base().join("a"), Some(&server)));
    server.wait_for_state("a", SessionState::Running);
    let hello = br#"{"type":"hello","launch":"x","run_folder":"/nowhere/<b>","next_gate":{"step":0,"place":"after_step"}}"#;
    let large = vec![b' '; (1 << 20) + 1];
    let rubbish = br#"{"type":"armed","from":7}"#;
    for (first, rest, times) in [
        (&b"{}"[..], &b""[..], 0),
        (rubbish, b"", 0),
        (hello, &large, 1),
        (hello, rubbish, 100),
    ] {
        let (status, _, mut stream) = handshake(&server, PROTOCOL);
        assert_eq!(status, 101);
        stream.write_all(&frame(first)).unwrap();
        for _ in 0..times {
            if stream.write_all(&frame(rest)).is_err() {
                break;
            }
        }
        assert!(is_closed(&mut stream));
    }
    // A connection without a hello is closed after 5 s.
    let (_, _, mut silent) = handshake(&server, PROTOCOL);
    assert!(is_closed(&mut silent));
    let session = server.session_of("a").unwrap();
    assert_eq!(session.state, SessionState::Running);
    drop(training);
}
