//! The runs of a folder, found by one walk.
//!
//! Only names are read. Parts of one run may lie side by side (`steps/` and `tb/`, a folder a rank): they are joined
//! here. Names that come from files are text and never joined to a path.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use super::claims::{Claims, Folder, below, is_kept, sniffed};
use super::names;
#[cfg(feature = "stores")]
use super::objects;
use super::runs::RunFiles;
use super::walk::{self, Entry, EntryKind, VisitedFolders};
use crate::files;

/// Contents of a folder and all below it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Contents {
    /// Runs by name.
    pub(crate) runs: Vec<RunFiles>,
    /// Folders that cannot be listed: path and reason.
    pub(crate) unreadable: Vec<(String, String)>,
    /// Pipes, sockets and devices with names of recorded files, which are not read: path and type.
    pub(crate) special: Vec<(String, &'static str)>,
    /// Number of files of other kinds, by extension.
    pub(crate) other: BTreeMap<String, u64>,
    pub(crate) folders: u64,
}

/// Walks a folder on `threads` threads, or takes a single file as a run.
pub(crate) fn find(root: &Path, threads: usize) -> io::Result<Contents> {
    find_new(root, threads, &mut VisitedFolders::default())
}

/// All files below a folder of this machine that are recorded, or read beside recordings.
pub(crate) fn recorded(root: &Path) -> Vec<PathBuf> {
    let look = |files: &mut Vec<PathBuf>, entry: Entry| {
        let below = below(root, &entry.path).to_str();
        if matches!(entry.kind, EntryKind::File) && below.is_some_and(is_kept) {
            files.push(entry.path);
        }
    };
    let mut files = Vec::new();
    walk::walk(root, 1, &mut VisitedFolders::default(), look, |_, found| {
        files.extend(found.unwrap_or_default());
    });
    files
}

/// Like [`find`], without folders visited before.
pub(crate) fn find_new(
    root: &Path,
    threads: usize,
    visited: &mut VisitedFolders,
) -> io::Result<Contents> {
    let mut found = Contents::default();
    let mut claims = Claims::default();
    let mut failed = Ok(());
    let mut take = |folder: &Path, seen: io::Result<Folder>| match seen {
        Ok(seen) => {
            found.folders += 1;
            claims.0.extend(seen.claims.0);
            for (extension, files) in seen.other {
                *found.other.entry(extension).or_default() += files;
            }
            found.special.extend(seen.special);
        }
        Err(error) if folder == root => failed = Err(error),
        Err(error) => {
            let shown = names::shown(below(root, folder));
            found.unreadable.push((shown, error.to_string()));
        }
    };
    if files::is_address(root) {
        files::canonical(root)?;
    }
    #[cfg(feature = "stores")]
    if let Some(listed) = objects::list(root) {
        let listed = listed?;
        if !listed.is_empty() || !files::is_file(root) {
            let all = objects::folder(root, &listed);
            found.runs = all.claims.join();
            found.other = all.other;
            found.folders = objects::count_folders(&listed);
            found.unreadable.clone_from(&listed.unreadable);
            return Ok(found);
        }
    }
    if files::is_file(root) {
        let folder = root.parent().unwrap_or(Path::new(""));
        let mut content = Folder::default();
        let metadata = files::metadata(root);
        content.file(folder, root, &metadata, |name| sniffed(name, root));
        take(folder, Ok(content));
    } else {
        let look = |seen: &mut Folder, entry| seen.entry(root, &entry);
        walk::walk(root, threads, visited, look, take);
    }
    failed?;
    found.runs = claims.join();
    found.unreadable.sort();
    found.special.sort();
    Ok(found)
}
