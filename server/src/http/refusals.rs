//! Refused tokens by sender address. After a few refusals an address has to wait: tokens cannot be found by trying.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Number of refusals after which an address has to wait.
const FREE: u32 = 5;
/// Time from the last refusal until a token is checked again; then the count starts again.
const WAIT: Duration = Duration::from_secs(30);
/// Maximum number of counted addresses. More of them within half a minute are not the mistakes of one person.
const MAX_ADDRESSES: usize = 4_096;
/// Bits of an IPv6 address that belong to a network; its owner may choose the others.
const NETWORK: u128 = !0 << 64;

/// Counts of refusals. Clones share them.
#[derive(Clone, Debug, Default)]
pub(super) struct Refusals(Arc<Mutex<HashMap<IpAddr, Count>>>);

#[derive(Clone, Copy, Debug)]
struct Count {
    refusals: u32,
    last: Instant,
}

impl Refusals {
    /// Remaining wait of an address; `None` if it may send a token.
    pub(super) fn rest(&self, peer: IpAddr, now: Instant) -> Option<Duration> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = all
            .get(&network(peer))
            .filter(|count| count.refusals >= FREE)?;
        let rest = WAIT.checked_sub(now.saturating_duration_since(known.last))?;
        (!rest.is_zero()).then_some(rest)
    }

    pub(super) fn count(&self, peer: IpAddr, now: Instant) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|_, count| now.saturating_duration_since(count.last) < WAIT);
        if all.len() < MAX_ADDRESSES || all.contains_key(&network(peer)) {
            let first = Count {
                refusals: 0,
                last: now,
            };
            let count = all.entry(network(peer)).or_insert(first);
            count.refusals += 1;
            count.last = now;
        }
    }
}

fn network(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & NETWORK).into(),
        address @ IpAddr::V4(_) => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_waits_after_five_refusals() {
        let refusals = Refusals::default();
        let [one, other]: [IpAddr; 2] =
            ["10.0.0.1", "10.0.0.2"].map(|address| address.parse().unwrap());
        let begin = Instant::now();
        for _ in 0..FREE {
            assert_eq!(refusals.rest(one, begin), None);
            refusals.count(one, begin);
        }
        let later = begin + Duration::from_secs(10);
        assert_eq!(refusals.rest(one, later), Some(Duration::from_secs(20)));
        assert_eq!(refusals.rest(other, later), None);
        // The same network, the same address.
        assert_eq!(
            refusals.rest("::ffff:10.0.0.1".parse().unwrap(), later),
            Some(Duration::from_secs(20))
        );
        assert_eq!(refusals.rest(one, begin + WAIT), None);
        refusals.count(one, begin + WAIT);
        assert_eq!(refusals.rest(one, begin + WAIT), None, "it counts again");
    }

    #[test]
    fn a_network_of_many_addresses_counts_as_one_and_memory_is_bounded() {
        let refusals = Refusals::default();
        let now = Instant::now();
        for host in 0..FREE {
            refusals.count(format!("2001:db8::{host}").parse().unwrap(), now);
        }
        assert!(
            refusals
                .rest("2001:db8::ffff".parse().unwrap(), now)
                .is_some()
        );
        assert!(
            refusals
                .rest("2001:db8:1::1".parse().unwrap(), now)
                .is_none()
        );
        for host in 0..2 * MAX_ADDRESSES {
            let bits = u32::try_from(host).unwrap();
            refusals.count(std::net::Ipv4Addr::from_bits(bits).into(), now);
        }
        assert_eq!(refusals.0.lock().unwrap().len(), MAX_ADDRESSES);
    }
}
