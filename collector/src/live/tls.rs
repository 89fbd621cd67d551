//! TLS of a connection: both halves of a socket pass through one state, which is never locked while one half waits for
//! bytes.

use std::collections::VecDeque;
use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, RootCertStore};

/// Bytes that are read from the socket at once: the longest TLS record.
const RECORD_BYTES: usize = 16 << 10;

/// State of an encrypted connection.
#[derive(Debug)]
pub(super) struct Tls {
    state: Mutex<ClientConnection>,
    /// Bytes from the socket that the state has not taken: it takes no more while it has decrypted bytes.
    received: Mutex<VecDeque<u8>>,
}

impl Tls {
    /// State of a new connection to a host, whose certificate must be signed by one of these authorities.
    pub(super) fn new(host: &str, authorities: RootCertStore) -> Result<Self, rustls::Error> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(authorities)
            .with_no_client_auth();
        let name = ServerName::try_from(host.to_owned())
            .map_err(|error| rustls::Error::General(error.to_string()))?;
        let mut state = ClientConnection::new(Arc::new(config), name)?;
        // Messages have separate limits.
        state.set_buffer_limit(None);
        Ok(Self {
            state: Mutex::new(state),
            received: Mutex::default(),
        })
    }

    fn state(&self) -> MutexGuard<'_, ClientConnection> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads decrypted bytes; 0 at the end of the stream. Only one thread may read. `writing` is locked while bytes are
    /// sent.
    pub(super) fn read(
        &self,
        socket: &TcpStream,
        writing: &Mutex<()>,
        bytes: &mut [u8],
    ) -> io::Result<usize> {
        let mut received = self.received.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match self.state().reader().read(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                read => return read,
            }
            if received.is_empty() {
                let mut piece = vec![0; RECORD_BYTES];
                let len = (&*socket).read(&mut piece)?;
                if len == 0 {
                    return Ok(0);
                }
                received.extend(piece.iter().take(len));
            }
            let mut state = self.state();
            state.read_tls(&mut *received)?;
            let processed = state.process_new_packets();
            let has_answer = state.wants_write();
            drop(state);
            // Answers of the handshake, also the alert that says why it has failed.
            if has_answer {
                let _guard = writing.lock().unwrap_or_else(PoisonError::into_inner);
                self.send(socket)?;
            }
            processed.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        }
    }

    /// Writes all bytes. Only one thread may write at a time.
    pub(super) fn write(&self, socket: &TcpStream, bytes: &[u8]) -> io::Result<()> {
        self.state().writer().write_all(bytes)?;
        self.send(socket)
    }

    /// Sends the encrypted bytes; the state is unlocked meanwhile.
    fn send(&self, mut socket: &TcpStream) -> io::Result<()> {
        let mut encrypted = Vec::new();
        let mut state = self.state();
        while state.wants_write() {
            state.write_tls(&mut encrypted)?;
        }
        drop(state);
        socket.write_all(&encrypted)
    }
}

/// Authorities that the system trusts, or those of the file `SSL_CERT_FILE`.
pub(super) fn authorities() -> Result<RootCertStore, String> {
    let found = rustls_native_certs::load_native_certs();
    let mut all = RootCertStore::empty();
    let (added, _) = all.add_parsable_certificates(found.certs);
    if added == 0 {
        let reasons = found.errors.iter().map(ToString::to_string);
        let reasons: Vec<String> = reasons.collect();
        return Err(format!(
            "the system has no certificates of authorities {}: SSL_CERT_FILE names a file with some",
            reasons.join(", ")
        ));
    }
    Ok(all)
}

/// The reason for rejecting a certificate, if the connection has failed because of it.
pub(super) fn refused_certificate(error: &io::Error) -> Option<String> {
    match error.get_ref()?.downcast_ref()? {
        rustls::Error::InvalidCertificate(reason) => Some(format!(
            "the certificate of the server is not accepted: {reason}. SSL_CERT_FILE names a file with the certificates of \
             authorities"
        )),
        _ => None,
    }
}
