//! Flags of a server that many people share: login by a proxy, permissions, metrics.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use axum::http::HeaderName;
use clap::Args;
use ipnet::IpNet;

/// Flags of `trainscope start` for many people.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "A server for many")]
pub struct SharingFlags {
    /// Address or network of proxies that log people in: `10.0.0.0/8`. Their headers are believed, and all others need
    /// the token; may be given several times
    #[arg(long, value_name = "NETWORK", env = "TRAINSCOPE_TRUSTED_PROXY", value_delimiter = ',', value_parser = network, conflicts_with = "no_token")]
    pub trusted_proxy: Vec<IpNet>,

    /// Header with the name of the person
    #[arg(
        long,
        value_name = "HEADER",
        default_value = "X-Forwarded-User",
        env = "TRAINSCOPE_USER_HEADER"
    )]
    pub user_header: HeaderName,

    /// Header with the groups of the person, separated by commas
    #[arg(
        long,
        value_name = "HEADER",
        default_value = "X-Forwarded-Groups",
        env = "TRAINSCOPE_GROUPS_HEADER"
    )]
    pub groups_header: HeaderName,

    /// File that says which of them may see and change which runs; without it, all may do everything
    #[arg(
        long,
        value_name = "FILE",
        env = "TRAINSCOPE_ACCESS_FILE",
        requires = "trusted_proxy"
    )]
    pub access_file: Option<PathBuf>,

    /// Refuse every change, also from holders of the token
    #[arg(long, env = "TRAINSCOPE_READ_ONLY")]
    pub read_only: bool,

    /// File to which a line of JSON is appended for each change and each refusal; `-` for the standard output
    #[arg(long, value_name = "FILE", env = "TRAINSCOPE_AUDIT_LOG")]
    pub audit_log: Option<PathBuf>,

    /// Further address, with port, that serves `/metrics` for Prometheus without the token, and nothing else
    #[arg(long, value_name = "ADDRESS", env = "TRAINSCOPE_METRICS_ADDRESS")]
    pub metrics_address: Option<SocketAddr>,
}

/// Parses a network, or one address.
fn network(text: &str) -> Result<IpNet, String> {
    let one = || {
        text.parse::<IpAddr>()
            .map(|address| IpNet::from(address.to_canonical()))
    };
    text.parse()
        .or_else(|_| one())
        .map_err(|_| "wants an address or a network, as 10.0.0.0/8".to_owned())
}

#[cfg(test)]
mod tests {
    use super::network;

    #[test]
    fn one_address_is_a_network_of_one() {
        assert_eq!(network("10.1.2.3"), Ok("10.1.2.3/32".parse().unwrap()));
        assert_eq!(network("10.0.0.0/8"), Ok("10.0.0.0/8".parse().unwrap()));
        assert_eq!(network("::ffff:10.1.2.3"), network("10.1.2.3"));
        assert!(network("proxy.example").is_err());
        assert!(network("10.0.0.0/33").is_err());
    }
}
