//! The walk over folders: each folder once, on several threads, in an order that does not depend on them.

use std::collections::BTreeSet;
use std::fs::{self, DirEntry, FileType};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use rustc_hash::FxHashSet;

use crate::files::{self, Metadata, special};

/// Folders that hold no runs, at any depth.
pub(super) const PRIVATE_FOLDERS: [&str; 2] = [".git", ".trainscope"];

/// An entry of a folder, other than a folder.
pub(crate) struct Entry {
    inner: DirEntry,
    pub(crate) path: PathBuf,
    pub(crate) kind: EntryKind,
}

/// The type of an entry. A link has the type of its target.
pub(crate) enum EntryKind {
    File,
    /// A pipe, a socket, a device, or a link that is not followed, in words.
    Special(&'static str),
    /// A link without a target, or a file without permission.
    Unreadable,
}

impl Entry {
    /// Size and times: of the target for a link.
    pub(crate) fn metadata(&self) -> io::Result<Metadata> {
        match self.inner.file_type() {
            // Relative to the open folder this is cheaper than from the root.
            Ok(kind) if !kind.is_symlink() => Ok(Metadata::local(&self.inner.metadata()?)),
            _ => files::metadata(&self.path),
        }
    }
}

/// Visited folders, by device and inode.
#[derive(Default)]
pub(crate) struct VisitedFolders(FxHashSet<(u64, u64)>);

/// One folder, listed.
struct Listing<T> {
    id: (u64, u64),
    content: T,
    folders: Vec<PathBuf>,
    links: Vec<PathBuf>,
}

/// Walks a folder and all folders below it on `threads` threads, except those without runs. Each folder is visited
/// once, even with many links to it. Links come last, so a folder below the root has its real path: each file has one
/// owner, and loops end.
///
/// `look` adds entries to the content of a folder; `take` receives these contents in an order independent of the
/// number of threads, and the errors of unreadable folders.
pub(crate) fn walk<T: Default + Send>(
    root: &Path,
    threads: usize,
    visited: &mut VisitedFolders,
    look: impl Fn(&mut T, Entry) + Sync,
    mut take: impl FnMut(&Path, io::Result<T>),
) {
    let mut links = BTreeSet::new();
    let mut level = vec![root.to_owned()];
    while !level.is_empty() {
        let mut next = Vec::new();
        for (folder, listed) in level.iter().zip(list_all(&level, threads, &look)) {
            match listed {
                Ok(listed) => {
                    if visited.0.insert(listed.id) {
                        next.extend(listed.folders);
                        links.extend(listed.links);
                        take(folder, Ok(listed.content));
                    }
                }
                Err(error) => take(folder, Err(error)),
            }
        }
        if next.is_empty() {
            next.extend(links.pop_first());
        }
        level = next;
    }
}

/// Lists folders, each thread the next one. Results are in the order of the folders; those of a panicked thread are
/// errors.
fn list_all<T: Default + Send>(
    folders: &[PathBuf],
    threads: usize,
    look: &(impl Fn(&mut T, Entry) + Sync),
) -> Vec<io::Result<Listing<T>>> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut mine = Vec::new();
        while let at = next.fetch_add(1, Ordering::Relaxed)
            && let Some(folder) = folders.get(at)
        {
            mine.push((at, list(folder, look)));
        }
        mine
    };
    let all = std::thread::scope(|scope| {
        let others = 1..threads.min(folders.len());
        let others: Vec<_> = others.map(|_| scope.spawn(work)).collect();
        let mut all = work();
        for thread in others {
            all.extend(thread.join().unwrap_or_default());
        }
        all
    });
    let lost = |_| Err(io::Error::other("the thread that listed it was lost"));
    let mut answers: Vec<_> = folders.iter().map(lost).collect();
    for (at, listed) in all {
        answers[at] = listed;
    }
    answers
}

/// A link that is not followed.
const FOREIGN_LINK: &str = "a link of another user to what belongs to a third";

/// `true` if a server of `user` may follow a link. A person who may write into the folder could otherwise expose files
/// that only the server's user may read: such a link belongs neither to that user, nor to the owner of its target, nor
/// to root.
const fn may_follow(link: u32, target: u32, user: u32) -> bool {
    link == user || link == target || link == 0
}

fn list<T: Default>(folder: &Path, look: impl Fn(&mut T, Entry)) -> io::Result<Listing<T>> {
    let metadata = fs::metadata(folder)?;
    let mut listed = Listing {
        id: (metadata.dev(), metadata.ino()),
        content: T::default(),
        folders: Vec::new(),
        links: Vec::new(),
    };
    for entry in fs::read_dir(folder)?.flatten() {
        let path = entry.path();
        let file_type = entry.file_type();
        let is_link = file_type.as_ref().is_ok_and(FileType::is_symlink);
        let mut may_be_read = true;
        let target = if is_link {
            fs::metadata(&path).map(|target| {
                let link = entry.metadata();
                let user = rustix::process::geteuid().as_raw();
                may_be_read = link.is_ok_and(|link| may_follow(link.uid(), target.uid(), user));
                target.file_type()
            })
        } else {
            file_type
        };
        let kind = match target {
            Ok(_) if !may_be_read => EntryKind::Special(FOREIGN_LINK),
            Ok(kind) if kind.is_dir() => {
                let name = entry.file_name();
                match is_link {
                    _ if PRIVATE_FOLDERS.iter().any(|private| name == *private) => {}
                    true => listed.links.push(path),
                    false => listed.folders.push(path),
                }
                continue;
            }
            Ok(kind) => special(kind).map_or(EntryKind::File, EntryKind::Special),
            Err(_) => EntryKind::Unreadable,
        };
        let entry = Entry {
            path,
            kind,
            inner: entry,
        };
        look(&mut listed.content, entry);
    }
    Ok(listed)
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use rustix::fs::{Mode, mkfifoat};

    use super::*;

    #[test]
    fn entries_are_of_the_type_of_their_targets() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        mkfifoat(rustix::fs::CWD, path("pipe"), Mode::RUSR).unwrap();
        let _socket = UnixListener::bind(path("socket")).unwrap();
        std::os::unix::fs::symlink("pipe", path("link")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", path("zeros")).unwrap();
        fs::write(path("file"), b"content").unwrap();
        let look = |kinds: &mut Vec<(String, &str)>, entry: Entry| {
            let what = match entry.kind {
                EntryKind::Special(what) => what,
                EntryKind::File => "a file",
                EntryKind::Unreadable => "something else",
            };
            let name = entry.path.file_name().unwrap().to_str().unwrap();
            kinds.push((name.to_owned(), what));
        };
        let mut kinds = Vec::new();
        walk(
            dir.path(),
            1,
            &mut VisitedFolders::default(),
            look,
            |_, found| {
                kinds.extend(found.unwrap());
            },
        );
        kinds.sort();
        let wanted = [
            ("file", "a file"),
            ("link", "a named pipe"),
            ("pipe", "a named pipe"),
            ("socket", "a socket"),
            ("zeros", "a device"),
        ];
        assert_eq!(kinds, wanted.map(|(name, what)| (name.to_owned(), what)));
    }

    #[test]
    fn a_link_of_another_user_is_followed_only_to_what_is_theirs() {
        let (server, other, third) = (1_000, 1_001, 1_002);
        assert!(may_follow(server, third, server));
        assert!(may_follow(other, other, server));
        assert!(may_follow(0, third, server));
        assert!(!may_follow(other, server, server));
        assert!(!may_follow(other, third, server));
        assert!(!may_follow(other, 0, server));
        let user = rustix::process::geteuid().as_raw();
        if user != 0 {
            // Only root may give links away.
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        fs::create_dir_all(path("runs/mine")).unwrap();
        fs::create_dir_all(path("private/run")).unwrap();
        fs::write(path("private/weights.npy"), b"").unwrap();
        for (to, from, owner) in [
            ("../private/run", "runs/of_root", user),
            ("../private/run", "runs/of_other", other),
            ("../private/weights.npy", "runs/file", other),
        ] {
            std::os::unix::fs::symlink(to, path(from)).unwrap();
            std::os::unix::fs::lchown(path(from), Some(owner), None).unwrap();
        }
        let mut refused = Vec::new();
        let mut folders = Vec::new();
        let look = |refused: &mut Vec<PathBuf>, entry: Entry| {
            assert!(matches!(entry.kind, EntryKind::Special(FOREIGN_LINK)));
            refused.push(entry.path);
        };
        let mut visited = VisitedFolders::default();
        walk(&path("runs"), 1, &mut visited, look, |folder, found| {
            folders.push(folder.to_owned());
            refused.extend(found.unwrap());
        });
        refused.sort();
        assert_eq!(folders, ["runs", "runs/mine", "runs/of_root"].map(path));
        assert_eq!(refused, ["runs/file", "runs/of_other"].map(path));
    }

    #[test]
    fn each_folder_is_visited_once_and_by_its_own_name() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        fs::create_dir_all(path("torch/child")).unwrap();
        fs::create_dir_all(path("torch/.git")).unwrap();
        for (to, from) in [
            ("torch", "latest"),
            ("..", "torch/up"),
            (".", "torch/child/self"),
        ] {
            std::os::unix::fs::symlink(to, path(from)).unwrap();
        }
        let walked = |threads, roots: &[&str]| {
            let mut visited = VisitedFolders::default();
            let mut walked = Vec::new();
            for root in roots {
                let root = path(root);
                walk(
                    &root,
                    threads,
                    &mut visited,
                    |(): &mut (), _| {},
                    |folder, _| {
                        walked.push(folder.strip_prefix(dir.path()).unwrap().to_owned());
                    },
                );
            }
            walked
        };
        for threads in [1, 4] {
            let all = ["", "torch", "torch/child"].map(PathBuf::from);
            assert_eq!(walked(threads, &[""]), all);
            // A folder inside of another one belongs to the first of them.
            assert_eq!(walked(threads, &["torch", "torch/child"]).len(), 3);
            assert_eq!(walked(threads, &["torch/child", "torch"])[0], all[2]);
        }
    }
}
