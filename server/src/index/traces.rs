//! Files of profilers of a run. Their content is not in the index: it is read when a page asks for it.

use std::path::PathBuf;
use std::sync::Arc;

use trainscope_format::Format;
use trainscope_format::trace::TraceFile;

use super::{Index, ReadError};

/// A file of a profiler.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TraceEntry {
    /// Path for display: relative to its base directory.
    pub(crate) path: Arc<str>,
    /// The path to open.
    pub(crate) full: PathBuf,
    /// Rank by its name or folder; 0 if they have none.
    pub(crate) rank: u32,
    pub(crate) format: TraceFile,
}

impl Index {
    /// The files of profilers of a run, by path.
    pub(crate) fn traces(&self, run: &str) -> Result<Vec<TraceEntry>, ReadError> {
        let Some(entry) = self.0.catalog.run(run) else {
            // A run of tensors only has none.
            return match self.recording(run) {
                Some(_) => Ok(Vec::new()),
                None => Err(ReadError::UnknownRun(run.to_owned())),
            };
        };
        let mut files: Vec<TraceEntry> = entry
            .sources()
            .iter()
            .filter(|source| !source.state().gone)
            .filter_map(|source| {
                let Format::Trace(format) = source.format else {
                    return None;
                };
                let place = source.place();
                Some(TraceEntry {
                    path: place.path,
                    full: place.full,
                    rank: place.rank,
                    format,
                })
            })
            .collect();
        files.sort();
        Ok(files)
    }
}
