//! Communication by process group: the dimensions of a parallel training.

use std::collections::BTreeMap;

use trainscope_api::profile::GroupRow;

use super::super::ranges::{self, Span};
use super::{RankDigest, rounded};

/// Communication of one rank in a group.
#[derive(Default)]
struct Part {
    size: u64,
    count: u64,
    bytes: u64,
    spans: Vec<Span>,
    is_point_to_point: bool,
}

/// Sums over the ranks of a group.
#[derive(Default)]
struct Sums {
    ranks: u64,
    size: u64,
    count: u64,
    bytes: u64,
    nanos: i64,
    exposed: i64,
    is_point_to_point: bool,
}

/// Rows by group, the largest exposed time first; empty if files do not name groups.
pub(super) fn rows(of: &[RankDigest]) -> Vec<GroupRow> {
    let mut groups: BTreeMap<String, Sums> = BTreeMap::new();
    for rank in of {
        let mut parts: BTreeMap<&str, Part> = BTreeMap::new();
        for one in &rank.collectives {
            let Some(group) = &one.group else {
                continue;
            };
            let part = parts.entry(group).or_default();
            let is_point_to_point = one.is_point_to_point;
            part.is_point_to_point =
                is_point_to_point && (part.count == 0 || part.is_point_to_point);
            part.size = part.size.max(one.group_size());
            part.count += 1;
            part.bytes = part.bytes.saturating_add(one.bytes());
            part.spans.push((one.begin, one.end));
        }
        for (group, part) in parts {
            let spans = ranges::merge(part.spans);
            let exposed = ranges::total(&ranges::minus(&spans, &rank.compute));
            let sums = groups.entry(group.to_owned()).or_default();
            sums.is_point_to_point =
                part.is_point_to_point && (sums.ranks == 0 || sums.is_point_to_point);
            sums.ranks += 1;
            sums.size = sums.size.max(part.size);
            sums.count += part.count;
            sums.bytes = sums.bytes.saturating_add(part.bytes);
            sums.nanos = sums.nanos.saturating_add(ranges::total(&spans));
            sums.exposed = sums.exposed.saturating_add(exposed);
        }
    }
    let mut rows: Vec<GroupRow> = groups.into_iter().map(row).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.exposed_nanos));
    rows
}

fn row((name, sums): (String, Sums)) -> GroupRow {
    let ranks = sums.ranks.max(1);
    let mean = |total: i64| rounded(total as f64 / ranks as f64);
    GroupRow {
        name,
        size: sums.size,
        point_to_point: sums.is_point_to_point,
        count: sums.count.div_ceil(ranks),
        bytes: sums.bytes / ranks,
        nanos: mean(sums.nanos),
        exposed_nanos: mean(sums.exposed),
    }
}
