//! Traffic between pairs of ranks.

use std::collections::BTreeMap;

use trainscope_api::profile::LinkRow;
use trainscope_format::trace::Link;

use super::RankDigest;

/// Links of all ranks, the slowest first; those without time come last. The files of both ends have a link: that of
/// the first rank counts.
pub(super) fn rows(of: &[RankDigest]) -> Vec<LinkRow> {
    let mut links: BTreeMap<(u32, u32), &Link> = BTreeMap::new();
    for link in of.iter().flat_map(|rank| &rank.links) {
        links.entry((link.source, link.destination)).or_insert(link);
    }
    let mut rows: Vec<LinkRow> = links.into_values().map(row).collect();
    let bandwidth = |row: &LinkRow| match row.nanos {
        0 => f64::INFINITY,
        _ => row.bandwidth,
    };
    rows.sort_by(|a, b| bandwidth(a).total_cmp(&bandwidth(b)));
    rows
}

fn row(link: &Link) -> LinkRow {
    LinkRow {
        source: link.source,
        destination: link.destination,
        transport: link.transport.clone(),
        bytes: link.bytes,
        nanos: link.nanos,
        bandwidth: match link.nanos {
            0 => 0.0,
            nanos => link.bytes as f64 * 1e9 / nanos as f64,
        },
    }
}

#[cfg(test)]
mod tests {
    use trainscope_format::trace::Trace;

    use super::*;
    use crate::trace::Model;

    #[test]
    fn each_link_counts_once_and_slow_ones_come_first() {
        let link = |source, destination, bytes, nanos| Link {
            source,
            destination,
            bytes,
            nanos,
            ..Link::default()
        };
        let model = |links| {
            Model::new(Trace {
                links,
                ..Trace::default()
            })
        };
        let first = model(vec![link(0, 1, 8, 1), link(0, 2, 8, 4), link(0, 3, 8, 0)]);
        let second = model(vec![link(0, 1, 9, 9), link(1, 0, 8, 2)]);
        let of = [(0, &first), (1, &second)].map(|(rank, model)| RankDigest::of(rank, model));
        let rows = rows(&of);
        let ends: Vec<(u32, u32)> = rows
            .iter()
            .map(|row| (row.source, row.destination))
            .collect();
        assert_eq!(ends, [(0, 2), (1, 0), (0, 1), (0, 3)]);
        assert!((rows[0].bandwidth - 2e9).abs() < 1.0);
        assert_eq!((rows[2].bytes, rows[3].bandwidth), (8, 0.0));
    }
}
