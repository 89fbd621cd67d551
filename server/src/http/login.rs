//! Login by a proxy: headers with a person and their groups, believed from trusted addresses alone.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::{ConnectInfo, Request};
use axum::http::{HeaderMap, HeaderName};
use ipnet::IpNet;
use trainscope_api::error::ErrorCode;

use super::error::Failure;
use crate::people::{AccessFile, Rules, Viewer};

/// Maximum length of a name and of all groups, bytes.
const MAX_BYTES: usize = 16 << 10;

/// The proxies that log people in, and the permissions of these people.
#[derive(Clone, Default)]
pub struct Login(Option<Arc<Settings>>);

/// Parts of a [`Login`].
pub struct Settings {
    /// Addresses of the proxies.
    pub proxies: Vec<IpNet>,
    /// Header with the name of the person.
    pub user_header: HeaderName,
    /// Header with their groups, separated by commas.
    pub groups_header: HeaderName,
    /// Permissions of people; `None`: all.
    pub access: Option<AccessFile>,
}

/// The person of a request by its proxy.
pub(super) enum Claim {
    /// The request is of no trusted proxy.
    Nothing,
    /// The proxy named no person; the reason.
    Nobody(Failure),
    Person(Viewer),
}

impl Login {
    /// Creates the rules of login.
    pub fn new(settings: Settings) -> Self {
        Self(Some(Arc::new(settings)))
    }

    /// The mistake in the file of access rules as it is now, as a sentence.
    pub(super) fn problem(&self) -> Option<String> {
        self.0.as_ref()?.access.as_ref()?.problem()
    }

    /// The person of a request. Takes the headers out of it, so that no later code believes them.
    pub(super) fn take(&self, request: &mut Request) -> Claim {
        let Some(settings) = &self.0 else {
            return Claim::Nothing;
        };
        let peer = request.extensions().get::<ConnectInfo<SocketAddr>>();
        let peer = peer.map(|ConnectInfo(peer)| peer.ip().to_canonical());
        let user = &settings.user_header;
        let name = taken(request, user);
        let groups = taken(request, &settings.groups_header);
        let Some(peer) = peer.filter(|peer| settings.trusts(*peer)) else {
            return Claim::Nothing;
        };
        let nobody = |reason: &str| {
            let message = format!("the proxy {peer} sent {reason} `{user}`");
            Claim::Nobody(Failure::new(ErrorCode::LoginWanted, message))
        };
        let (Ok(name), Ok(groups)) = (name, groups) else {
            return nobody("several, too long or unreadable values of");
        };
        let Some(name) = name.filter(|name| !name.is_empty()) else {
            return nobody("no");
        };
        let groups = groups.unwrap_or_default();
        let groups = groups
            .split(',')
            .map(str::trim)
            .filter(|group| !group.is_empty());
        let rules: Option<Arc<Rules>> = settings.access.as_ref().map(AccessFile::rules);
        Claim::Person(Viewer::new(
            name,
            groups.map(str::to_owned).collect(),
            rules,
        ))
    }
}

impl Settings {
    fn trusts(&self, peer: IpAddr) -> bool {
        self.proxies.iter().any(|proxies| proxies.contains(&peer))
    }
}

/// Takes a header out of a request; an error for several values, and for what is not text.
fn taken(request: &mut Request, name: &HeaderName) -> Result<Option<String>, ()> {
    let headers: &mut HeaderMap = request.headers_mut();
    let count = headers.get_all(name).iter().count();
    let Some(value) = headers.remove(name) else {
        return Ok(None);
    };
    let text = std::str::from_utf8(value.as_bytes()).map_err(drop)?.trim();
    let is_plain = count == 1 && text.len() <= MAX_BYTES && !text.contains(char::is_control);
    is_plain.then(|| Some(text.to_owned())).ok_or(())
}
