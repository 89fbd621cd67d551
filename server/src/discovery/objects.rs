//! The runs below an address of an object store, from its listing.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::SystemTime;

use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use trainscope_format::{Format, sniff};
use trainscope_stores::Listing;

use super::claims::{Folder, is_kept, sniffed};
use super::walk::PRIVATE_FOLDERS;
use crate::files::{self, Metadata};

/// Number of beginnings of files that are requested at a time.
const THREADS: usize = 16;

/// The last listing of an address; `None` for a path of this machine.
pub(super) fn list(root: &Path) -> Option<io::Result<Arc<Listing>>> {
    files::list(root, is_kept)
}

/// The content of all folders below an address.
pub(super) fn folder(root: &Path, listed: &Listing) -> Folder {
    let mut folder = Folder::default();
    let is_private = |below: &str| {
        let mut parts = below.split('/');
        parts.any(|part| PRIVATE_FOLDERS.contains(&part))
    };
    let objects: Vec<Object> = listed
        .iter()
        .filter(|(below, _)| !is_private(below))
        .map(|(below, facts)| Object {
            path: format!("{}/{below}", root.display()),
            below,
            metadata: Metadata::object(facts),
        })
        .collect();
    read_formats(&objects);
    for object in objects {
        let path = Path::new(&object.path);
        let metadata = Ok(object.metadata);
        folder.file(root, path, &metadata, |name| format_of(name, &object.path));
    }
    for (extension, files) in &listed.other {
        *folder.other.entry(extension.clone()).or_default() += files;
    }
    folder
}

/// Number of folders with an object.
pub(super) fn count_folders(listed: &Listing) -> u64 {
    let folders = listed
        .iter()
        .map(|(below, _)| below.rsplit_once('/').map(|(folder, _)| folder));
    folders.collect::<BTreeSet<_>>().len() as u64
}

struct Object<'a> {
    path: String,
    below: &'a str,
    metadata: Metadata,
}

impl Object<'_> {
    fn name(&self) -> &str {
        self.below.rsplit('/').next().unwrap_or_default()
    }
}

/// Formats of objects whose names do not say them, each with the length and time of change at that time.
type Formats = FxHashMap<String, (u64, Option<SystemTime>, Option<Format>)>;

static FORMATS: LazyLock<Mutex<Formats>> = LazyLock::new(Mutex::default);

/// The format of an object: by its content as it was read last, if its name does not say it.
fn format_of(name: &str, path: &str) -> Option<Format> {
    let known = FORMATS.lock().get(path).map(|(.., format)| *format);
    known.unwrap_or_else(|| sniffed(name, Path::new(path)))
}

/// Reads the beginnings of all objects that need it and were not read before, several at a time.
fn read_formats(objects: &[Object<'_>]) {
    let is_unknown = |object: &&Object| {
        let mut needs_content = false;
        sniff(object.name(), || {
            needs_content = true;
            Vec::new()
        });
        let known = FORMATS.lock();
        let known = known.get(&object.path);
        needs_content
            && known.is_none_or(|(len, modified, _)| {
                *len != object.metadata.len_bytes || *modified != object.metadata.modified
            })
    };
    let unknown: Vec<&Object> = objects.iter().filter(is_unknown).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        while let at = next.fetch_add(1, Ordering::Relaxed)
            && let Some(object) = unknown.get(at)
        {
            let format = sniffed(object.name(), Path::new(&object.path));
            let known = (object.metadata.len_bytes, object.metadata.modified, format);
            FORMATS.lock().insert(object.path.clone(), known);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..THREADS.min(unknown.len()) {
            scope.spawn(work);
        }
        work();
    });
}
