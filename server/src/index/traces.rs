//! Files of profilers of a run. Their content is not in the index: it is read when a page asks for it.

use std::path::{Path, PathBuf};
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
        let Some(entry) = self.entry(run) else {
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

    /// The folder of a run; `None` if none of its files is known.
    pub(crate) fn folder(&self, run: &str) -> Option<PathBuf> {
        let of_events = self.entry(run).and_then(|entry| {
            let sources = entry.sources();
            let mut places = sources.iter().map(|source| source.place());
            places.find_map(|place| folder_above(run, &place.path, &place.full))
        });
        of_events.or_else(|| {
            let recording = self.recording(run)?;
            let tensors = recording.run.ranks.values();
            let mut tensors = tensors.flat_map(|rank| rank.steps.values().flatten());
            tensors.find_map(|source| folder_above(run, &source.shown, &source.path))
        })
    }
}

/// The folder of a run, from the path of one of its files for display and the one to open.
fn folder_above(run: &str, shown: &str, full: &Path) -> Option<PathBuf> {
    let run = if run == "." { "" } else { run };
    let below = Path::new(shown).strip_prefix(run).ok()?;
    full.ancestors()
        .nth(below.components().count())
        .map(Path::to_owned)
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::folder_above;

    #[test]
    fn the_folder_of_a_run_is_above_its_files() {
        for (run, shown, full, folder) in [
            ("a/b", "a/b/x.json", "/base/a/b/x.json", Some("/base/a/b")),
            ("a", "a/tb/x.json", "/base/a/tb/x.json", Some("/base/a")),
            (".", "tb/x.json", "/base/tb/x.json", Some("/base")),
            ("a", "b/x.json", "/base/b/x.json", None),
        ] {
            let found = folder_above(run, shown, Path::new(full));
            assert_eq!(found, folder.map(PathBuf::from), "{run} {shown}");
        }
    }
}
