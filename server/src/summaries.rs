//! Summaries of tensors in a folder: those that are there are not computed again, and computed ones are added.
//!
//! A summary is a pure function of the bytes of a tensor, of those of the same tensor at the step before, and of the
//! data that the watchpoints need. The key names all of them, so a judgement with summaries equals one without.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use parking_lot::Mutex;
use rustc_hash::{FxHashMap, FxHashSet};
use trainscope_format::TensorSummary;
use trainscope_format::tensor::Exponents;

use crate::discovery::stamp::Stamp;
use crate::files;
use crate::tensor_files::read::TensorReadError;

mod file;
mod key;

pub(crate) use file::Label;
use file::{SummaryFile, SummaryWriter};
pub(crate) use key::{Key, Subject};

/// Boxed: they are moved from thread to thread.
pub(crate) type Summary = Result<Box<TensorSummary>, TensorReadError>;

/// Extension of the files.
const EXTENSION: &str = "summaries";
/// Remark on a file whose summaries cannot be used.
const REMEDY: &str = "its summaries are computed here; remove the file, or run its shard again";

/// Treatment of summaries that are not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    /// They are computed, and written into the folder.
    Computed,
    /// They are counted, and nothing is computed: the judgement is not of use then.
    Counted,
}

/// A folder of summaries.
pub(crate) struct Summaries {
    folder: PathBuf,
    files: Vec<SummaryFile>,
    /// File and block of each key.
    places: FxHashMap<Key, (u32, u32)>,
    missing: Missing,
    /// True if known summaries are written again: a file of a shard is complete by itself.
    keeps_known: bool,
    writer: Option<Mutex<SummaryWriter>>,
    tally: Mutex<Tally>,
}

/// Numbers and problems of a judgement with summaries.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    /// Tensors with elements.
    pub(crate) total: u64,
    /// Those whose summary was not in the folder.
    pub(crate) absent: u64,
    /// Runs, ranks and steps of these.
    pub(crate) absent_from: BTreeSet<(String, u32, i64)>,
    /// Problems with files of the folder, as sentences.
    pub(crate) notes: Vec<String>,
    /// A file that is not what the walk, or the plan, has found: path, stamp then and now.
    pub(crate) changed: Option<(PathBuf, Stamp, Option<Stamp>)>,
    /// First error in writing.
    unwritten: Option<String>,
    /// Blocks that cannot be read.
    bad: FxHashSet<(u32, u32)>,
}

impl Summaries {
    /// Opens a folder, which is made if summaries are to be written: then a file is begun in it before anything is
    /// read. `label` goes into that file.
    pub(crate) fn open(
        folder: &Path,
        label: &Label,
        missing: Missing,
        keeps_known: bool,
    ) -> io::Result<Self> {
        let writer = match missing {
            Missing::Computed => Some(Mutex::new(SummaryWriter::begin(folder, label.clone())?)),
            Missing::Counted => None,
        };
        let mut summaries = Self {
            folder: folder.to_owned(),
            files: Vec::new(),
            places: FxHashMap::default(),
            missing,
            keeps_known,
            writer,
            tally: Mutex::default(),
        };
        std::fs::metadata(folder)?;
        let names = files::entries(folder, usize::MAX).into_iter();
        let paths = names.map(|(name, _)| folder.join(name));
        let is_complete = |path: &PathBuf| path.extension().is_some_and(|end| end == EXTENSION);
        let mut paths: Vec<PathBuf> = paths.filter(is_complete).collect();
        paths.sort();
        for path in paths {
            summaries.add(&path, label);
        }
        Ok(summaries)
    }

    fn add(&mut self, path: &Path, label: &Label) {
        let opened = SummaryFile::open(path);
        let file = match opened {
            Ok(file) => match file.label().difference(label) {
                None => file,
                Some(difference) => {
                    return self.note(path, &difference);
                }
            },
            Err(error) => return self.note(path, &error),
        };
        let number = u32::try_from(self.files.len()).unwrap_or(u32::MAX);
        for (block, keys) in (0..).zip(file.keys()) {
            for key in keys {
                self.places.entry(*key).or_insert((number, block));
            }
        }
        self.files.push(file);
    }

    fn note(&self, path: &Path, problem: &dyn std::fmt::Display) {
        let note = format!("{}: {problem}: {REMEDY}", path.display());
        self.tally.lock().notes.push(note);
    }

    /// Ends writing: the file gets its name, unless it is empty and has no name of a shard. Returns what was counted.
    pub(crate) fn finish(&self, name: Option<&str>) -> io::Result<Tally> {
        let tally = std::mem::take(&mut *self.tally.lock());
        if let Some(reason) = tally.unwritten {
            return Err(io::Error::other(reason));
        }
        if let Some(writer) = &self.writer {
            writer.lock().finish(&self.folder, name)?;
        }
        Ok(tally)
    }

    /// Stored summaries of keys, in their order.
    pub(crate) fn take(&self, keys: &[Option<Key>]) -> Vec<Option<Summary>> {
        let mut found: Vec<Option<Summary>> = Vec::new();
        found.resize_with(keys.len(), || None);
        let mut wanted: BTreeMap<(u32, u32), FxHashMap<Key, Vec<usize>>> = BTreeMap::new();
        for (at, key) in keys.iter().enumerate() {
            if let Some(key) = key
                && let Some(place) = self.places.get(key)
            {
                let of_block = wanted.entry(*place).or_default();
                of_block.entry(*key).or_default().push(at);
            }
        }
        for (place, of_block) in wanted {
            if self.tally.lock().bad.contains(&place) {
                continue;
            }
            let Some(file) = self.files.get(place.0 as usize) else {
                continue;
            };
            let read = file.read(place.1, |key, summary| {
                for at in of_block.get(&key).into_iter().flatten() {
                    found[*at] = Some(summary.clone());
                }
            });
            if let Err(error) = read {
                self.tally.lock().bad.insert(place);
                self.note(file.path(), &error);
            }
        }
        found
    }

    /// Counts a tensor whose summary is not there, of a run, rank and step.
    pub(crate) fn count_absent(&self, run: &str, rank: u32, step: i64) {
        let mut tally = self.tally.lock();
        tally.absent += 1;
        if self.missing == Missing::Counted {
            tally.absent_from.insert((run.to_owned(), rank, step));
        }
    }

    /// Counts tensors.
    pub(crate) fn count(&self, tensors: u64) {
        self.tally.lock().total += tensors;
    }

    /// True if missing summaries are counted only.
    pub(crate) fn is_read_only(&self) -> bool {
        self.missing == Missing::Counted
    }

    /// True if known summaries are written again.
    pub(crate) const fn keeps_known(&self) -> bool {
        self.keeps_known
    }

    /// Compares files with their stamps. The first one that differs is kept in the tally.
    pub(crate) fn are_current<'f>(
        &self,
        files: impl Iterator<Item = (&'f Path, Stamp)>,
        now: &mut FxHashMap<PathBuf, Option<Stamp>>,
    ) -> bool {
        for (path, then) in files {
            let now = *now.entry(path.to_owned()).or_insert_with(|| {
                let metadata = files::metadata(path);
                metadata.ok().as_ref().map(Stamp::new)
            });
            if now != Some(then) {
                let mut tally = self.tally.lock();
                tally
                    .changed
                    .get_or_insert_with(|| (path.to_owned(), then, now));
                return false;
            }
        }
        true
    }

    /// Adds computed summaries.
    pub(crate) fn put<'s>(&self, computed: impl Iterator<Item = (Key, &'s Summary)>) {
        let Some(writer) = &self.writer else {
            return;
        };
        let mut writer = writer.lock();
        for (key, summary) in computed {
            // The system may let the next reader have it.
            if matches!(summary, Err(TensorReadError::Unreadable { .. })) {
                continue;
            }
            if let Err(error) = writer.add(key, summary) {
                let mut tally = self.tally.lock();
                tally.unwritten.get_or_insert_with(|| error.to_string());
            }
        }
    }
}

/// True for the statistics of a tensor that a reader could have computed.
fn is_sound(summary: &TensorSummary) -> bool {
    let exponents = summary.stats.exponents.as_ref();
    let channels = summary.channels.as_ref();
    exponents.is_none_or(|exponents| {
        let counts = exponents.counts().to_vec();
        Exponents::from_counts(counts).is_some()
    }) && channels.is_none_or(|channels| {
        let counts = [&channels.not_finite, &channels.zero];
        let figures = [
            &channels.min,
            &channels.max,
            &channels.mean,
            &channels.mean_abs,
        ];
        let len = channels.min.len();
        counts.iter().all(|column| column.len() == len)
            && figures.iter().all(|column| column.len() == len)
    })
}

#[cfg(test)]
mod tests;
