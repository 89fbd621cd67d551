//! Requests the status of a server on this machine.

use std::net::IpAddr;
use std::time::Duration;

use serde::Deserialize;
use trainscope_api::error::{ApiError, ErrorCode};
use trainscope_api::paths;
use trainscope_api::status::Status;

/// Timeout: a server on this machine answers in milliseconds, even while it is busy reading.
const PATIENCE: Duration = Duration::from_secs(3);
const ANSWER_LIMIT_BYTES: u64 = 1 << 20;

#[derive(Clone, Debug)]
pub(super) enum Answer {
    /// A trainscope with its status.
    Status(Box<Status>),
    /// A trainscope that requires its token.
    TokenWanted,
    /// Another program.
    Stranger,
    /// No answer.
    Silence,
}

/// URL by which this machine reaches a server that listens on `host`.
pub(super) fn local_address(host: &str, port: u16, prefix: &str) -> String {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    match bare.parse::<IpAddr>() {
        Ok(IpAddr::V4(address)) if address.is_unspecified() => {
            address_of("127.0.0.1", port, prefix)
        }
        Ok(IpAddr::V6(address)) if address.is_unspecified() => address_of("::1", port, prefix),
        _ => address_of(bare, port, prefix),
    }
}

/// URL of the page of a server, with `/` at its end.
pub(super) fn address_of(host: &str, port: u16, prefix: &str) -> String {
    if host.contains(':') {
        format!("http://[{host}]:{port}{prefix}/")
    } else {
        format!("http://{host}:{port}{prefix}/")
    }
}

/// Requests the status at `address`, as returned by [`local_address`].
pub(super) fn ask(address: &str, token: Option<&str>) -> Answer {
    let agent = ureq::Agent::config_builder()
        .timeout_global(Some(PATIENCE))
        // Servers on this machine are not behind a proxy, even if the environment sets one.
        .proxy(None)
        .http_status_as_error(false)
        .max_redirects(0)
        .build()
        .new_agent();
    let mut request = agent.get(format!(
        "{}{}",
        address.trim_end_matches('/'),
        paths::STATUS
    ));
    if let Some(token) = token {
        request = request.header("Authorization", format!("Bearer {token}"));
    }
    let mut response = match request.call() {
        Ok(response) => response,
        Err(error) => return silence_or_stranger(&error),
    };
    let body = match response
        .body_mut()
        .with_config()
        .limit(ANSWER_LIMIT_BYTES)
        .read_to_vec()
    {
        Ok(body) => body,
        Err(error) => return silence_or_stranger(&error),
    };
    match serde_json::from_slice(&body) {
        Ok(Reply::Status(status)) => Answer::Status(status),
        Ok(Reply::Error(error)) if error.code == ErrorCode::TokenWanted => Answer::TokenWanted,
        _ => Answer::Stranger,
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Reply {
    Status(Box<Status>),
    Error(ApiError),
}

fn silence_or_stranger(error: &ureq::Error) -> Answer {
    match error {
        ureq::Error::Io(_)
        | ureq::Error::Timeout(_)
        | ureq::Error::ConnectionFailed
        | ureq::Error::HostNotFound => Answer::Silence,
        _ => Answer::Stranger,
    }
}

#[cfg(test)]
mod tests {
    use super::{Answer, ask, local_address};
    use std::io::{Read, Write};
    use std::net::TcpListener;

    #[test]
    fn a_server_on_all_addresses_is_reached_on_loopback() {
        for (host, address) in [
            ("127.0.0.1", "http://127.0.0.1:80/p/"),
            ("0.0.0.0", "http://127.0.0.1:80/p/"),
            ("::", "http://[::1]:80/p/"),
            ("[::1]", "http://[::1]:80/p/"),
            ("gpu-07", "http://gpu-07:80/p/"),
        ] {
            assert_eq!(local_address(host, 80, "/p"), address);
        }
    }

    #[test]
    fn others_are_told_from_silence() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let address = local_address("127.0.0.1", port, "");
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = [0; 1024];
            let read = stream.read(&mut request).unwrap();
            assert!(request[..read].starts_with(b"GET /api/status "));
            stream
                .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")
                .unwrap();
        });
        assert!(matches!(ask(&address, None), Answer::Stranger));
        server.join().unwrap();
        assert!(matches!(ask(&address, None), Answer::Silence));
    }
}
