//! Access rules, audit log and address of metrics, opened before the server starts: their errors are those of the user.

use std::net::TcpListener;
use std::path::Path;

use super::CANNOT_BIND;
use crate::cli::mistake::Mistake;
use crate::cli::words;
use crate::http::{Audit, Login, LoginSettings};
use crate::people::AccessFile;
use crate::settings::SharingFlags;

/// Login, audit log and the listener of metrics, opened.
pub(super) struct Sharing {
    pub(super) login: Login,
    pub(super) audit: Audit,
    pub(super) metrics: Option<TcpListener>,
}

impl Sharing {
    pub(super) fn open(flags: &SharingFlags) -> Result<Self, Mistake> {
        let unusable = |path: &Path, what: &str, reason: String| {
            Mistake::new(2, format!("{what}: {reason}")).at(words::path(path))
        };
        let access = flags.access_file.as_deref().map(|path| {
            AccessFile::open(path)
                .map_err(|reason| unusable(path, "the access file cannot be used", reason))
        });
        let audit = flags.audit_log.as_deref().map(|path| {
            Audit::open(path).map_err(|error| {
                unusable(path, "the audit log cannot be written", error.to_string())
            })
        });
        let metrics = flags.metrics_address.map(|address| {
            TcpListener::bind(address).map_err(|error| {
                let what = format!("--metrics-address {address} cannot be used: {error}");
                Mistake::new(CANNOT_BIND, what).attempt("--metrics-address with another port")
            })
        });
        let login = match &flags.trusted_proxy[..] {
            [] => Login::default(),
            proxies => Login::new(LoginSettings {
                proxies: proxies.to_vec(),
                user_header: flags.user_header.clone(),
                groups_header: flags.groups_header.clone(),
                access: access.transpose()?,
            }),
        };
        Ok(Self {
            login,
            audit: audit.transpose()?.unwrap_or_default(),
            metrics: metrics.transpose()?,
        })
    }
}
