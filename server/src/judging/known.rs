//! The tensors of a window whose summaries are in a folder, and those that are added to it.

use std::path::Path;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::window::Item;
use crate::summaries::{Key, Subject, Summaries, Summary};
use crate::tensor_files::contents::Content;
use crate::tensor_files::read::TensorReadError;

/// The summaries of one run.
#[derive(Clone)]
pub(crate) struct RunSummaries {
    all: Arc<Summaries>,
    /// Folder that paths are relative to, and its number among those of the command.
    source: (Arc<Path>, u32),
    run: String,
}

/// Summaries of the tensors of a window, with their keys.
pub(super) struct WindowSummaries {
    keys: Vec<Option<Key>>,
    summaries: Vec<Option<Summary>>,
}

impl WindowSummaries {
    /// The summaries that are there.
    pub(super) fn take(&mut self) -> Vec<Option<Summary>> {
        std::mem::take(&mut self.summaries)
    }
}

impl RunSummaries {
    /// Those of a run below a folder, the `number`-th of the command.
    pub(crate) fn new(all: Arc<Summaries>, root: &Path, number: u32, run: &str) -> Self {
        Self {
            all,
            source: (root.into(), number),
            run: run.to_owned(),
        }
    }

    /// Summaries of tensors that are there. If missing ones are counted only, all others are errors.
    pub(super) fn known(&self, items: &[Item]) -> WindowSummaries {
        let keys: Vec<Option<Key>> = items.iter().map(|item| self.key(item)).collect();
        let mut summaries = self.all.take(&keys);
        self.all.count(keys.iter().flatten().count() as u64);
        let keeps_known = self.all.keeps_known();
        let mut kept = Vec::with_capacity(keys.len());
        for ((item, key), summary) in items.iter().zip(keys).zip(&mut summaries) {
            let is_absent = key.is_some() && summary.is_none();
            kept.push(key.filter(|_| is_absent || keeps_known));
            if !is_absent {
                continue;
            }
            self.all.count_absent(&self.run, item.rank, item.step);
            if self.all.is_read_only() {
                let reason = "its summary is missing".to_owned();
                *summary = Some(Err(TensorReadError::Unreadable { reason }));
            }
        }
        WindowSummaries {
            keys: kept,
            summaries,
        }
    }

    /// Writes the summaries that are not in the folder yet. Those of files that have changed are left out.
    pub(super) fn put(
        &self,
        items: &[Item],
        known: &WindowSummaries,
        summaries: &[Option<Summary>],
    ) {
        let mut stamps = FxHashMap::default();
        let all = items.iter().zip(&known.keys).zip(summaries);
        let computed = all.filter_map(|((item, key), summary)| {
            let found = key.zip(summary.as_ref())?;
            let is_current = self.all.are_current(item.files(), &mut stamps);
            is_current.then_some(found)
        });
        let computed: Vec<(Key, &Summary)> = computed.collect();
        self.all.put(computed.into_iter());
    }

    /// The key of a tensor; `None` if no elements are read.
    fn key(&self, item: &Item) -> Option<Key> {
        let Content::At(place) = &item.content else {
            return None;
        };
        let before = item.before.as_ref();
        let subject = Subject {
            source: self.source.1,
            name: &item.name,
            now: (place, item.stamp),
            before: before.map(|(place, stamp)| (place, *stamp)),
            needs: &item.needs,
        };
        subject.key(&self.source.0).filter(|_| !item.is_context)
    }
}
