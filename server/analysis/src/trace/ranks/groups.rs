//! Communication by process group: the dimensions of a parallel training.

use std::collections::BTreeMap;
use std::sync::Arc;

use trainscope_api::profile::GroupRow;

use super::super::ranges::{self, Span};
use super::collectives::Collective;
use super::rounded;

/// Communication of one rank in a group.
#[derive(Clone, Debug, Default)]
pub(super) struct GroupPart {
    group: Arc<str>,
    size: u64,
    count: u64,
    bytes: u64,
    nanos: i64,
    /// Time during which the rank does not compute.
    exposed: i64,
    is_point_to_point: bool,
}

/// Communication of one rank by group, in the order of their names. `compute` is the time during which it computes.
pub(super) fn parts(collectives: &[Collective], compute: &[Span]) -> Vec<GroupPart> {
    let mut parts: BTreeMap<&Arc<str>, (GroupPart, Vec<Span>)> = BTreeMap::new();
    for one in collectives {
        let Some(group) = &one.group else {
            continue;
        };
        let (part, spans) = parts.entry(group).or_default();
        let is_point_to_point = one.is_point_to_point;
        part.is_point_to_point = is_point_to_point && (part.count == 0 || part.is_point_to_point);
        part.size = part.size.max(one.group_size());
        part.count += 1;
        part.bytes = part.bytes.saturating_add(one.bytes());
        spans.push((one.begin, one.end));
    }
    let parts = parts.into_iter().map(|(group, (part, spans))| {
        let spans = ranges::merge(spans);
        GroupPart {
            group: Arc::clone(group),
            nanos: ranges::total(&spans),
            exposed: ranges::total(&ranges::minus(&spans, compute)),
            ..part
        }
    });
    parts.collect()
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
pub(super) fn rows<'p>(parts: impl Iterator<Item = &'p GroupPart>) -> Vec<GroupRow> {
    let mut groups: BTreeMap<&str, Sums> = BTreeMap::new();
    for part in parts {
        let sums = groups.entry(&part.group).or_default();
        sums.is_point_to_point =
            part.is_point_to_point && (sums.ranks == 0 || sums.is_point_to_point);
        sums.ranks += 1;
        sums.size = sums.size.max(part.size);
        sums.count += part.count;
        sums.bytes = sums.bytes.saturating_add(part.bytes);
        sums.nanos = sums.nanos.saturating_add(part.nanos);
        sums.exposed = sums.exposed.saturating_add(part.exposed);
    }
    let mut rows: Vec<GroupRow> = groups.into_iter().map(row).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.exposed_nanos));
    rows
}

fn row((name, sums): (&str, Sums)) -> GroupRow {
    let ranks = sums.ranks.max(1);
    let mean = |total: i64| rounded(total as f64 / ranks as f64);
    GroupRow {
        name: name.to_owned(),
        size: sums.size,
        point_to_point: sums.is_point_to_point,
        count: sums.count.div_ceil(ranks),
        bytes: sums.bytes / ranks,
        nanos: mean(sums.nanos),
        exposed_nanos: mean(sums.exposed),
    }
}
