//! Access control: host names of the server, and the token for other machines.
//!
//! A foreign web page can make a browser send requests to any address, and can rebind its name to this address (DNS
//! rebinding). It cannot choose the `Host`, `Origin` and `Sec-Fetch-Site` headers, nor know the token.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq;

use super::refusals::Refusals;

/// Host names and token of one server.
#[derive(Clone, Debug)]
pub struct Access {
    /// Lower case, without port, IPv6 without brackets.
    hosts: Vec<String>,
    /// True if the server listens on all addresses of the machine: each address is valid.
    any_address: bool,
    token: Option<Token>,
    refusals: Refusals,
}

impl Access {
    /// Creates the rules for a server on `host` with further `names`, and with a `token` if required.
    pub fn new(host: &str, names: impl IntoIterator<Item = String>, token: Option<Token>) -> Self {
        let mut hosts: Vec<String> = ["localhost", "127.0.0.1", "::1"]
            .map(str::to_owned)
            .to_vec();
        hosts.extend(
            std::iter::once(host.to_owned())
                .chain(names)
                .map(|name| normal(&name)),
        );
        Self {
            any_address: normal(host)
                .parse()
                .is_ok_and(|address: IpAddr| address.is_unspecified()),
            hosts,
            token,
            refusals: Refusals::default(),
        }
    }

    pub(super) fn refusals(&self) -> &Refusals {
        &self.refusals
    }

    /// The required token, if any.
    pub fn token(&self) -> Option<&Token> {
        self.token.as_ref()
    }

    /// True if a `Host` header names this server, on any port.
    pub fn knows_host(&self, header: &str) -> bool {
        let Some(name) = without_port(header) else {
            return false;
        };
        let name = normal(name);
        self.hosts.contains(&name)
            // An IP address cannot be rebound: a user who typed it means this machine.
            || (self.any_address && name.parse::<IpAddr>().is_ok())
    }

    /// True if an `Origin` header is a page of the server that `host` names, with the same port: another port may
    /// belong to another user. Behind a proxy that changes `Host` only the browser can tell, by `is_same`.
    pub fn knows_origin(&self, header: &str, host: &str, is_same: bool) -> bool {
        let Some((scheme, authority)) = header.split_once("://") else {
            return false;
        };
        let usual_port = match scheme {
            "http" => ":80",
            "https" => ":443",
            _ => return false,
        };
        let plain = |authority: &str| {
            let short = authority.strip_suffix(usual_port).unwrap_or(authority);
            short.to_ascii_lowercase()
        };
        self.knows_host(authority) && (is_same || plain(authority) == plain(host))
    }
}

/// Normalises a host name or address for comparison.
fn normal(host: &str) -> String {
    host.trim_start_matches('[')
        .trim_end_matches(']')
        .trim_end_matches('.')
        .to_ascii_lowercase()
}

/// The host of `host[:port]`; `None` if malformed.
fn without_port(authority: &str) -> Option<&str> {
    let (host, port) = if authority.starts_with('[') {
        let end = authority.find(']')?;
        authority.split_at(end + 1)
    } else {
        authority
            .find(':')
            .map_or((authority, ""), |colon| authority.split_at(colon))
    };
    let port_is_plain = port.is_empty()
        || port
            .strip_prefix(':')
            .is_some_and(|digits| digits.bytes().all(|b| b.is_ascii_digit()));
    (!host.is_empty() && port_is_plain).then_some(host)
}

/// A secret for access from other machines.
#[derive(Clone)]
pub struct Token(String);

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(…)")
    }
}

/// Error while loading the token.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// The file cannot be read or created.
    #[error("the token file {} cannot be {doing}: {source}", path.display())]
    File {
        /// Path of the file.
        path: PathBuf,
        /// `read` or `made`.
        doing: &'static str,
        /// Error of the system.
        source: std::io::Error,
    },
    /// The file holds no valid token: it must be usable in URLs and cookies.
    #[error("the file {} holds no token: 16 or more letters, digits, `-`, `.`, `_` or `~`", .0.display())]
    Form(PathBuf),
    /// The system has no random bytes.
    #[error("the system gives no random numbers for a token: {0}")]
    Random(getrandom::Error),
}

impl Token {
    /// Reads the token in `path`, or creates one that only this user can read.
    pub fn load_or_make(path: &Path) -> Result<Self, TokenError> {
        let failed = |doing| {
            move |source| TokenError::File {
                path: path.to_owned(),
                doing,
                source,
            }
        };
        match std::fs::read_to_string(path) {
            Ok(text) => Self::parse(&text).ok_or_else(|| TokenError::Form(path.to_owned())),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let token = Self::random()?;
                token.write(path).map_err(failed("made"))?;
                Ok(token)
            }
            Err(error) => Err(failed("read")(error)),
        }
    }

    /// Only characters that need no escaping in any use of the token.
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_' | b'~');
        (text.len() >= 16 && text.bytes().all(plain)).then(|| Self(text.to_owned()))
    }

    fn random() -> Result<Self, TokenError> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(TokenError::Random)?;
        let mut text = String::with_capacity(64);
        for byte in bytes {
            // Writing to a string cannot fail.
            let _infallible = write!(text, "{byte:02x}");
        }
        Ok(Self(text))
    }

    fn write(&self, path: &Path) -> std::io::Result<()> {
        if let Some(dir) = path.parent() {
            std::fs::create_dir_all(dir)?;
        }
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(path)?;
        writeln!(file, "{}", self.0)?;
        file.sync_all()
    }

    /// True if `given` is this token, compared in constant time.
    pub fn is(&self, given: &str) -> bool {
        self.0.as_bytes().ct_eq(given.as_bytes()).into()
    }

    /// Value of the cookie for a server by its `Host` header and path prefix. Browsers send cookies to all ports of a
    /// host: another server sees neither the token nor a value that it would accept.
    pub fn cookie(&self, host: &str, prefix: &str) -> String {
        let host = host.to_ascii_lowercase();
        let text = format!("trainscope cookie\n{host}\n{prefix}\n{}", self.0);
        format!("{:x}", Sha256::digest(text))
    }

    /// The secret itself.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::{Access, Token};

    #[test]
    fn names_of_this_server_are_known_on_any_port_and_its_pages_on_one() {
        let access = Access::new("192.168.1.7", ["Box.Example".to_owned()], None);
        for host in [
            "localhost",
            "LocalHost:8080",
            "127.0.0.1:1",
            "[::1]:8080",
            "[::1]",
            "192.168.1.7:8080",
            "box.example",
            "box.example.:443",
        ] {
            assert!(access.knows_host(host), "{host}");
            let page = format!("http://{host}");
            assert!(access.knows_origin(&page, host, false), "{host}");
            assert!(access.knows_origin(&page, "localhost:1", true), "{host}");
            assert!(!access.knows_origin(&page, "localhost:7", false), "{host}");
        }
        for host in [
            "",
            ":80",
            "evil.example",
            "localhost.evil.example",
            "evil.example:8080",
            "192.168.1.8",
            "localhost:80:80",
            "localhost@evil.example",
            "[::1",
            "[::1]evil",
            "localhost/x",
        ] {
            assert!(!access.knows_host(host), "{host}");
        }
        for origin in [
            "null",
            "",
            "localhost",
            "file://",
            "http://evil.example",
            "ftp://localhost",
        ] {
            for is_same in [true, false] {
                assert!(
                    !access.knows_origin(origin, "localhost", is_same),
                    "{origin}"
                );
            }
        }
        // Browsers leave out the usual port.
        assert!(access.knows_origin("http://localhost", "localhost:80", false));
        assert!(access.knows_origin("https://box.example", "Box.Example:443", false));
        assert!(!access.knows_origin("https://localhost", "localhost:80", false));
    }

    #[test]
    fn a_server_on_all_addresses_is_called_by_each() {
        for host in ["0.0.0.0", "::"] {
            let access = Access::new(host, ["gpu-07".to_owned()], None);
            assert!(access.knows_host("10.0.0.3:8080"));
            assert!(access.knows_host("[fe80::1]:8080"));
            assert!(access.knows_host("gpu-07:8080"));
            assert!(!access.knows_host("evil.example:8080"));
        }
        assert!(!Access::new("127.0.0.1", [], None).knows_host("10.0.0.3"));
    }

    #[test]
    fn a_token_is_made_once_for_this_user_only() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/token");
        let made = Token::load_or_make(&path).unwrap();
        let read = Token::load_or_make(&path).unwrap();
        assert!(made.is(read.reveal()));
        assert_eq!(made.reveal().len(), 64);
        assert!(!made.is(""));
        assert!(!made.is(&made.reveal()[1..]));
        let cookie = made.cookie("localhost:1", "");
        assert_eq!(cookie, read.cookie("LocalHost:1", ""));
        assert_ne!(cookie, read.cookie("localhost:2", ""));
        assert_ne!(cookie, read.cookie("localhost:1", "/p"));
        assert_ne!(cookie, made.reveal());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let permissions = std::fs::metadata(&path).unwrap().permissions();
            assert_eq!(permissions.mode() & 0o777, 0o600);
        }
        for bad in [
            "",
            "short",
            "with spaces in the middle",
            "0123456789abcdef;",
        ] {
            std::fs::write(&path, bad).unwrap();
            assert!(Token::load_or_make(&path).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_token_does_not_show_in_logs() {
        let token = Token::parse("0123456789abcdef").unwrap();
        assert!(!format!("{token:?}").contains("0123"));
    }
}
