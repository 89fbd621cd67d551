//! Compares a scan with the known files: new, grown, renamed, replaced and removed ones.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Instant;

use trainscope_format::sniff;

use super::{HINTED_SCAN_INTERVAL, HINTED_SCAN_SHARE, Loop, TrackedFile};
use crate::discovery::claims::is_of_tensors;
use crate::discovery::file::{Identity, OpenFile};
use crate::discovery::scan::{Scan, SourceFile};
use crate::files;

impl Loop {
    /// Applies the result of a scan; `first` is true for the first scan of this server.
    pub(super) fn apply(&mut self, scan: &Scan, first: bool) {
        self.index.notices().set_problems(scan.problems.clone());
        self.runs_changed |= self.index.set_recordings(scan.recordings());
        let files = scan.files();
        let present: BTreeSet<PathBuf> =
            files.iter().map(|found| found.place.full.clone()).collect();
        let mut moved_from = BTreeMap::<Identity, PathBuf>::new();
        for (path, known) in &self.known {
            if !present.contains(path) && known.source.identity != Identity::default() {
                moved_from.insert(known.source.identity, path.clone());
            }
        }
        for found in files {
            if let Some(known) = self.known.get(&found.place.full) {
                // Tensors found next to it make it a part of their run.
                if known.source.place() == found.place {
                    self.look(&found);
                } else {
                    self.rename(&found.place.full.clone(), &found);
                }
            } else if let Some(path) = moved_from
                .get(&found.identity)
                .filter(|path| self.is_moved(path, &found))
            {
                self.rename(&path.clone(), &found);
            } else {
                self.add(&found);
            }
        }
        let missing: Vec<PathBuf> = self
            .known
            .keys()
            .filter(|path| !present.contains(*path))
            .filter(|path| !scan.unlisted.iter().any(|base| path.starts_with(base)))
            .cloned()
            .collect();
        for path in missing {
            self.is_missing(&path, first);
        }
    }

    fn add(&mut self, found: &SourceFile) {
        let source = self
            .index
            .add(found.place.clone(), found.format, found.identity);
        source.with_state(|state| {
            state.len_bytes = found.len_bytes;
            state.modified = found.modified;
            state.unreadable.clone_from(&found.unreadable);
        });
        self.known
            .insert(found.place.full.clone(), TrackedFile::new(source));
        self.runs_changed = true;
        if found.len_bytes > 0 {
            self.enqueue(&found.place.full);
        }
    }

    /// Checks a known file on disk for growth and replacement.
    fn look(&mut self, found: &SourceFile) {
        let path = &found.place.full;
        let Some(known) = self.known.get_mut(path) else {
            return;
        };
        let fed_bytes = known.source.with_state(|state| state.fed_bytes);
        // A growing file may have been read beyond the length that the walk saw.
        let is_cut = found.len_bytes < fed_bytes
            && files::metadata(path).is_ok_and(|now| now.len_bytes < fed_bytes);
        let (same, changed, came_back) = known.source.with_state(|state| {
            let same = known.source.identity == found.identity && !is_cut;
            let changed = found.len_bytes != state.len_bytes
                || found.modified != state.modified
                || found.len_bytes > state.fed_bytes
                || found.unreadable != state.unreadable;
            let came_back = state.gone;
            state.gone = false;
            if same {
                state.resize(found.len_bytes.max(state.fed_bytes));
                state.modified = found.modified;
                state.unreadable.clone_from(&found.unreadable);
            }
            (same, changed, came_back)
        });
        self.runs_changed |= came_back;
        if !same {
            self.replace(found);
        } else if changed && found.unreadable.is_none() {
            self.enqueue(&path.clone());
        }
    }

    /// Handles a known file that was replaced by another one.
    pub(super) fn replace(&mut self, found: &SourceFile) {
        let Some(known) = self.known.get_mut(&found.place.full) else {
            return;
        };
        if known.busy {
            known.replaced = Some(found.clone());
            return;
        }
        let Some(known) = self.known.remove(&found.place.full) else {
            return;
        };
        self.index.remove(&known.source);
        self.add(found);
    }

    /// True if an unknown file is the one known as `path`, renamed: inodes are reused, so its first bytes must be
    /// equal.
    fn is_moved(&self, path: &Path, found: &SourceFile) -> bool {
        let Some(known) = self.known.get(path) else {
            return false;
        };
        let state = known.source.state();
        !known.busy
            && known.source.format == found.format
            && !state.head.0.is_empty()
            && OpenFile::open(&found.place.full).is_ok_and(|now| known.source.is_same(&now))
    }

    fn rename(&mut self, from: &Path, found: &SourceFile) {
        let Some(known) = self.known.remove(from) else {
            return;
        };
        self.index.move_to(&known.source, found.place.clone());
        self.known.insert(found.place.full.clone(), known);
        self.runs_changed = true;
        self.look(found);
    }

    /// Handles a known file that is not on disk. Its data stays until the server ends; later it could not be verified.
    fn is_missing(&mut self, path: &Path, first: bool) {
        let Some(known) = self.known.get(path) else {
            return;
        };
        if first && !known.busy {
            self.index.remove(&known.source);
            self.known.remove(path);
            self.runs_changed = true;
        } else if known
            .source
            .with_state(|state| !std::mem::replace(&mut state.gone, true))
        {
            self.runs_changed = true;
        }
    }

    /// Checks the files in hints; any other path triggers a scan.
    pub(super) fn look_at_hints(&mut self) {
        let mut walk = false;
        match self.hints.take() {
            None => walk = true,
            Some(paths) => {
                for path in paths {
                    let metadata = files::metadata(&path);
                    match (self.known.get(&path), metadata) {
                        (Some(known), Ok(metadata)) if metadata.is_file() => {
                            let found = known.on_disk(&metadata);
                            self.look(&found);
                        }
                        (Some(_), _) => walk = true,
                        (None, metadata) => {
                            let name = path.file_name().and_then(|name| name.to_str());
                            // A vanished path may have been a folder of runs.
                            let may_matter = metadata.map_or(true, |metadata| metadata.is_folder());
                            walk |= may_matter
                                || is_of_tensors(&path)
                                || name.is_some_and(|name| {
                                    sniff(name, || files::head(&path)).is_some()
                                });
                        }
                    }
                }
            }
        }
        if walk {
            self.next_scan = self
                .next_scan
                .min(self.last_scan + HINTED_SCAN_INTERVAL.max(self.scan_took * HINTED_SCAN_SHARE))
                .max(Instant::now());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, mpsc};
    use std::time::Duration;

    use super::super::{IngestSettings, Loop};
    use crate::index::Index;

    #[test]
    fn a_file_is_read_again_only_if_it_is_shorter_than_what_was_read() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        let path = base.join("run/events.out.tfevents.1");
        std::fs::create_dir(base.join("run")).unwrap();
        std::fs::write(&path, [0; 100]).unwrap();
        let settings = IngestSettings {
            base_dirs: vec![base.clone()],
            cache_dir: base.join("cache"),
            reload_interval: Duration::from_secs(3),
            file_events: false,
        };
        let index = Index::open(&settings.cache_dir, &settings.base_dirs).unwrap();
        let (jobs, _queue) = mpsc::channel();
        let mut ingest = Loop::new(settings, index, jobs, 1);
        ingest.scan();
        let known = |ingest: &Loop| Arc::clone(&ingest.known[&path].source);
        let first = known(&ingest);
        ingest.known.get_mut(&path).unwrap().busy = false;
        first.with_state(|state| state.fed_bytes = 100);
        // A worker has read further since the walk.
        let metadata = crate::files::metadata(&path).unwrap();
        let mut found = ingest.known[&path].on_disk(&metadata);
        found.len_bytes = 50;
        ingest.look(&found);
        assert!(Arc::ptr_eq(&first, &known(&ingest)));
        std::fs::write(&path, [0; 50]).unwrap();
        ingest.known.get_mut(&path).unwrap().busy = false;
        ingest.look(&found);
        assert!(!Arc::ptr_eq(&first, &known(&ingest)));
    }
}
