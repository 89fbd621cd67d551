//! How long each part of a graph takes, from the spans of profiles that are named by nodes.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use trainscope_analysis::graph::names::Names;
use trainscope_analysis::graph::tree::Tree;
use trainscope_api::records::{MAX_RECORDS, RecordsQuery};
use trainscope_format::{Body, Kind, Profile};

use crate::index::{Index, ReadError};

/// Time by item of the tree.
#[derive(Debug, Default)]
pub(super) struct Times {
    /// Nanoseconds of all steps.
    of_item: BTreeMap<usize, u64>,
    /// Steps that were profiled.
    steps: u64,
}

impl Times {
    /// What the profiles of a run, of one rank, say.
    pub(super) fn read(
        index: &Index,
        run: &str,
        rank: u32,
        names: &Names,
    ) -> Result<Self, ReadError> {
        let found = RefCell::new(Reading::default());
        for (tag, _) in tags(index, run, rank)? {
            let query = RecordsQuery {
                points: Some(MAX_RECORDS),
                ..query(run, &tag, rank)
            };
            index.records(Kind::Profile, &query, |own| {
                let Body::Profile(source) = &own.body else {
                    return Ok(None);
                };
                // It was read when it was indexed; now it is another file.
                let profile = Profile::read(&own.read(source.data)?).ok();
                Ok(profile.map(|profile| found.borrow_mut().observe(&profile, names)))
            })?;
        }
        let found = found.into_inner();
        Ok(Self {
            steps: found.steps.len() as u64,
            of_item: found.of_item,
        })
    }

    /// Mean time of a step that a part takes, nanoseconds; `None` if no span is named by anything in it. A scope that
    /// has a span of its own takes what that says, not what lies in it.
    pub(super) fn mean(&self, tree: &Tree, inside: &Range<usize>) -> Option<u64> {
        let mut sum = None;
        let mut from = inside.start;
        while let Some((item, nanos)) = self.of_item.range(from..inside.end).next() {
            sum = Some(sum.unwrap_or(0_u64).saturating_add(*nanos));
            from = tree.items[*item].end.max(item + 1);
        }
        sum.map(|sum| sum / self.steps.max(1))
    }
}

#[derive(Default)]
struct Reading {
    of_item: BTreeMap<usize, u64>,
    steps: BTreeSet<i64>,
}

impl Reading {
    fn observe(&mut self, profile: &Profile, names: &Names) {
        let mut known: HashMap<u32, Option<usize>> = HashMap::new();
        for span in &profile.spans {
            let item = *known.entry(span.name).or_insert_with(|| {
                let name = profile.names.get(span.name as usize)?;
                names.find(name)
            });
            self.steps.insert(span.step);
            if let Some(item) = item {
                let own = self.of_item.entry(item).or_default();
                *own = own.saturating_add(span.duration_nanos);
            }
        }
    }
}

/// How many profiles there are: what was read of as many is still true.
pub(super) fn profiles(index: &Index, run: &str, rank: u32) -> Result<u64, ReadError> {
    let mut profiles = 0;
    for (tag, _) in tags(index, run, rank)? {
        let query = RecordsQuery {
            points: Some(0),
            ..query(run, &tag, rank)
        };
        profiles += index
            .records(Kind::Profile, &query, |_| Ok(Some(())))?
            .total;
    }
    Ok(profiles)
}

fn tags(index: &Index, run: &str, rank: u32) -> Result<Vec<(std::sync::Arc<str>, u32)>, ReadError> {
    let mut tags = index.tags_of(run, Kind::Profile)?;
    tags.retain(|(_, own)| *own == rank);
    Ok(tags)
}

fn query(run: &str, tag: &str, rank: u32) -> RecordsQuery {
    RecordsQuery {
        run: run.to_owned(),
        tag: tag.to_owned(),
        rank,
        ..RecordsQuery::default()
    }
}
