//! Times of each part of a graph, from the spans of profiles that are named by nodes.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use rustc_hash::FxHashSet;
use trainscope_analysis::graph::names::Names;
use trainscope_analysis::graph::tree::Tree;
use trainscope_api::records::RecordsQuery;
use trainscope_format::{Body, Kind, Profile};

use crate::index::{Index, ReadError};

/// Time by item of the tree.
#[derive(Clone, Debug, Default)]
pub(crate) struct Times {
    /// Total nanoseconds over all steps.
    of_item: BTreeMap<usize, u64>,
    /// Profiled steps.
    steps: BTreeSet<i64>,
    /// Records read so far, by their location in a file.
    read: FxHashSet<String>,
}

impl Times {
    /// Reads the new profiles of a run and rank: all of them count.
    pub(crate) fn read_on(
        &mut self,
        index: &Index,
        run: &str,
        rank: u32,
        names: &Names,
    ) -> Result<(), ReadError> {
        let mut known = 0;
        let before = self.read.len();
        let tags = tags(index, run, rank)?;
        for (tag, _) in &tags {
            index.each_found(Kind::Profile, &query(run, tag, rank), |found| {
                let Body::Profile(source) = &found.body.body else {
                    return Ok(());
                };
                let id = found.body.blob_id(source.data);
                if self.read.contains(&id) {
                    known += 1;
                    return Ok(());
                }
                // A record that no longer decodes belongs to a replaced file.
                if let Ok(profile) = Profile::read(&found.body.read(source.data)?) {
                    self.observe(&profile, names);
                }
                self.read.insert(id);
                Ok(())
            })?;
        }
        if known < before {
            // Some counted profiles are superseded or gone.
            *self = Self::default();
            return self.read_on(index, run, rank, names);
        }
        Ok(())
    }

    /// Mean time of a part per step, nanoseconds; `None` if no span has the name of a node in it. A scope with a span
    /// of its own takes that time, not the sum of its nodes.
    pub(crate) fn mean(&self, tree: &Tree, inside: &Range<usize>) -> Option<u64> {
        let mut sum = None;
        let mut from = inside.start;
        while let Some((item, nanos)) = self.of_item.range(from..inside.end).next() {
            sum = Some(sum.unwrap_or(0_u64).saturating_add(*nanos));
            from = tree.items[*item].end.max(item + 1);
        }
        sum.map(|sum| sum / (self.steps.len() as u64).max(1))
    }

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

/// Number of profiles: times read from as many are still true.
pub(crate) fn profiles(index: &Index, run: &str, rank: u32) -> Result<u64, ReadError> {
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
