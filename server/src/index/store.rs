//! The sled tree: keys, batches, and reading back.
//!
//! ```text
//! 'm'                          schema number, next file and part ids
//! 'f' file u64                 FileRecord (postcard)
//! 't' file u64 group u32       PartRecord of up to PARTS tags (postcard)
//! 's' part u64 chunk u32       meta and block summaries of a chunk
//! 'c' part u64 chunk u32       columns of a chunk
//! ```
//!
//! All numbers in keys are big-endian: the tree sorts by them. Everything here is derived: an entry that cannot be read
//! is deleted and read again from the source files.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Mutex, RwLock};
use serde::{Deserialize, Serialize};
use trainscope_format::TagInfo;

use super::ReadError;
use super::chunk::{ChunkMeta, decode_meta};
use super::state::FileRecord;

/// Bytes as the tree takes them, not copied again.
pub(super) use sled::IVec as Bytes;

/// Changes with the meaning of any stored byte; another number requires a rebuild.
const SCHEMA: u32 = 8;

/// Parts in one value of the tree, by tag id: each write copies a node of the tree.
pub(super) const PARTS: usize = 64;

/// Id of a part; unique within one index.
pub(super) type PartId = u64;

/// A sealed chunk before its commit.
#[derive(Debug)]
pub(super) struct SealedChunk {
    pub(super) columns: Bytes,
    pub(super) summaries: Bytes,
}

/// Counts of a part without stored bodies; derived for scalars.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) struct PartCounts {
    pub(super) points: u64,
    pub(super) min_step: Option<i64>,
    pub(super) max_step: Option<i64>,
}

impl PartCounts {
    pub(super) fn add(&mut self, points: u64, min_step: i64, max_step: i64) {
        self.points += points;
        self.min_step = Some(self.min_step.map_or(min_step, |s| s.min(min_step)));
        self.max_step = Some(self.max_step.map_or(max_step, |s| s.max(max_step)));
    }
}

/// Stored record of a part, in addition to its chunks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct PartRecord {
    pub(super) part: PartId,
    pub(super) tag: TagInfo,
    pub(super) counted: PartCounts,
}

/// A stored file, with its parts by tag id and their chunks' metadata by number.
pub(super) struct StoredFile {
    pub(super) id: u64,
    pub(super) record: FileRecord,
    pub(super) parts: Vec<(PartRecord, Vec<ChunkMeta>)>,
}

/// The first value in the tree.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Meta {
    schema: u32,
    pub(super) next_file: u64,
    pub(super) next_part: PartId,
}

/// The tree with its state of health.
pub(super) struct Store {
    /// `None` if it could not be opened again.
    tree: RwLock<Option<sled::Db>>,
    folder: PathBuf,
    /// Removed when the store is dropped, if it belongs to one server alone.
    _temporary: Option<tempfile::TempDir>,
    /// Set by the first read that fails in a tree as it is on disk: the ingest loop then starts over.
    broken: AtomicBool,
    /// Reason of the first failed write, after which all writes fail. Flushed data can still be read.
    closed: Mutex<Option<String>>,
    /// Set when the tree was opened again.
    reopened: AtomicBool,
}

/// Circumstances of opening that the user should know.
pub(super) enum Opening {
    AsLeft,
    New,
    Rebuilt,
    /// With the reason.
    Temporary(String),
}

/// Size of a batch; the store needs a multiple of it in memory during the write.
const BATCH_BYTES: usize = 1 << 20;

fn open_tree(folder: &Path) -> Result<sled::Db, sled::Error> {
    let config = sled::Config::new()
        .path(folder)
        // The default is 1 GiB. Segments stay at their default of 512 KiB: a node of sixteen chunks that does not fit
        // into one becomes a separate file.
        .cache_capacity(16 << 20)
        // Commits are flushed explicitly.
        .flush_every_ms(None);
    // sled asserts some of its invariants during recovery; a damaged index must not end the server.
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| config.open()))
        .unwrap_or(Err(sled::Error::Corruption { at: None, bt: () }))
}

/// Frees nodes of the tree that a number of writes replaced. sled leaves them to `crossbeam-epoch`, which frees a few
/// whenever sled is used: after the batches of 10,000 short runs 2 GB would remain.
fn free_replaced_nodes(writes: usize) {
    /// Maximum number of nodes that a round frees.
    const NODES: usize = 512;
    /// Maximum number of nodes that a write replaces, together with the changes before it.
    const NODES_OF_A_WRITE: usize = 8;
    /// Rounds until the last replaced nodes may be freed.
    const DELAY: usize = 4;
    for _ in 0..DELAY + writes * NODES_OF_A_WRITE / NODES {
        crossbeam_epoch::pin().flush();
    }
}

fn key(kind: u8, id: u64, number: u32) -> [u8; 13] {
    let mut key = [0; 13];
    key[0] = kind;
    key[1..9].copy_from_slice(&id.to_be_bytes());
    key[9..].copy_from_slice(&number.to_be_bytes());
    key
}

fn file_key(file: u64) -> [u8; 9] {
    let mut key = [0; 9];
    key[0] = b'f';
    key[1..].copy_from_slice(&file.to_be_bytes());
    key
}

/// Key prefixes of a part's chunks.
fn prefixes_of(part: PartId) -> [[u8; 9]; 2] {
    [b's', b'c'].map(|kind| {
        let mut prefix = file_key(part);
        prefix[0] = kind;
        prefix
    })
}

fn number_of(key: &[u8]) -> Option<u32> {
    key.last_chunk::<4>()
        .map(|bytes| u32::from_be_bytes(*bytes))
}

impl Store {
    /// Opens the index in `folder`. If another process holds it, or the folder is not writable, a temporary one is
    /// created; if it has another version or is damaged, it is rebuilt.
    pub(super) fn open(folder: &Path) -> std::io::Result<(Self, Meta, Opening)> {
        let error = match Self::open_in(folder) {
            Err(error) if is_held(&error) || is_unwritable(&error) => error,
            opened => return opened,
        };
        let reason = if is_held(&error) {
            "another process holds it".to_owned()
        } else {
            error.to_string()
        };
        let temporary = tempfile::TempDir::with_prefix("trainscope-index-")?;
        let tree = open_tree(temporary.path()).map_err(io_error)?;
        let folder = temporary.path().to_owned();
        let store = Self::with(tree, folder, Some(temporary));
        Ok((store, Meta::new(), Opening::Temporary(reason)))
    }

    fn with(tree: sled::Db, folder: PathBuf, temporary: Option<tempfile::TempDir>) -> Self {
        Self {
            tree: RwLock::new(Some(tree)),
            folder,
            _temporary: temporary,
            broken: AtomicBool::new(false),
            closed: Mutex::default(),
            reopened: AtomicBool::new(false),
        }
    }

    fn open_in(folder: &Path) -> std::io::Result<(Self, Meta, Opening)> {
        std::fs::create_dir_all(folder)?;
        let with = |tree| Self::with(tree, folder.to_owned(), None);
        match open_tree(folder) {
            Ok(tree) => {
                let found = tree
                    .get(b"m")
                    .ok()
                    .flatten()
                    .map(|bytes| postcard::from_bytes::<Meta>(&bytes));
                match found {
                    Some(Ok(meta)) if meta.schema == SCHEMA => {
                        return Ok((with(tree), meta, Opening::AsLeft));
                    }
                    None if tree.is_empty() => {
                        return Ok((with(tree), Meta::new(), Opening::New));
                    }
                    _ => drop(tree),
                }
            }
            Err(sled::Error::Io(e)) if is_held(&e) || is_read_only(&e) => return Err(e),
            Err(_) => {}
        }
        std::fs::remove_dir_all(folder)?;
        std::fs::create_dir_all(folder)?;
        let tree = open_tree(folder).map_err(io_error)?;
        Ok((with(tree), Meta::new(), Opening::Rebuilt))
    }

    /// Number of keys.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.read(|tree| Ok(tree.len())).unwrap_or(0)
    }

    /// Size on disk, bytes.
    pub(super) fn size_bytes(&self) -> Option<u64> {
        self.with_tree(sled::Db::size_on_disk).ok()
    }

    /// True if a read has failed since it was opened or cleared.
    pub(super) fn is_broken(&self) -> bool {
        self.broken.load(Ordering::Relaxed)
    }

    /// Reads in the tree. After a failed write sled cannot read data that it changed since the last flush and dropped
    /// from its cache, nor data in the same nodes: the tree is then opened again, as it is on disk.
    fn read<T>(&self, read: impl Fn(&sled::Db) -> Result<T, sled::Error>) -> Result<T, ReadError> {
        let result = match self.with_tree(&read) {
            Err(e @ sled::Error::Io(_)) if self.reopen(&e) => self.with_tree(&read),
            result => result,
        };
        result.map_err(|e| {
            self.broken.store(true, Ordering::Relaxed);
            ReadError::Storage(e.to_string())
        })
    }

    fn with_tree<T>(
        &self,
        run: impl FnOnce(&sled::Db) -> Result<T, sled::Error>,
    ) -> Result<T, sled::Error> {
        let tree = self.tree.read();
        let missing = || sled::Error::Unsupported("the index cannot be opened".to_owned());
        run(tree.as_ref().ok_or_else(missing)?)
    }

    /// Opens the tree again after an error, once, and closes it for writes; returns true if it can be read.
    pub(super) fn reopen(&self, error: &sled::Error) -> bool {
        /// Time for sled to end its writes and to free the lock of the file.
        const PATIENCE: Duration = Duration::from_secs(2);
        let mut tree = self.tree.write();
        if self.reopened.swap(true, Ordering::Relaxed) {
            return tree.is_some();
        }
        // The new tree lacks all changes that were applied but not flushed: their commit must not succeed.
        self.close(error);
        *tree = None;
        let start = Instant::now();
        *tree = loop {
            match open_tree(&self.folder).map_err(io_error) {
                Err(e) if is_held(&e) && start.elapsed() < PATIENCE => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                opened => break opened.ok(),
            }
        };
        tree.is_some()
    }

    /// Fails if the tree is closed for writes, as after a full disk: data stays in memory.
    pub(super) fn check_open(&self) -> Result<(), ReadError> {
        let closed = self.closed.lock();
        closed
            .clone()
            .map_or(Ok(()), |reason| Err(ReadError::Unwritable(reason)))
    }

    fn close(&self, error: &sled::Error) {
        let reason = match error {
            // sled repeats an error as the debug text of the first.
            sled::Error::Io(e) if e.kind() != ErrorKind::Other => e.kind().to_string(),
            other => other.to_string(),
        };
        self.closed.lock().get_or_insert(reason);
    }

    fn write<T>(
        &self,
        write: impl FnOnce(&sled::Db) -> Result<T, sled::Error>,
    ) -> Result<(), ReadError> {
        let tree = self.tree.read();
        self.check_open()?;
        if let Some(Err(e)) = tree.as_ref().map(write) {
            self.close(&e);
        }
        self.check_open()
    }

    pub(super) fn wrong(&self, what: &str) -> ReadError {
        self.broken.store(true, Ordering::Relaxed);
        ReadError::Storage(format!("{what} is damaged"))
    }

    /// Removes everything.
    pub(super) fn clear(&self) -> Result<(), ReadError> {
        let cleared = self.with_tree(|tree| tree.clear().and_then(|()| tree.flush()));
        self.broken.store(false, Ordering::Relaxed);
        match cleared {
            Ok(_) => {
                self.reopened.store(false, Ordering::Relaxed);
                *self.closed.lock() = None;
            }
            Err(e) => self.close(&e),
        }
        self.check_open()
    }

    /// All files with their parts and chunks' metadata, by id.
    pub(super) fn load(&self) -> Result<Vec<StoredFile>, ReadError> {
        let mut files = Vec::new();
        for (key, value) in self.entries(b"f")? {
            let id = key
                .last_chunk::<8>()
                .map(|bytes| u64::from_be_bytes(*bytes));
            let record = postcard::from_bytes(&value).ok();
            let (Some(id), Some(record)) = (id, record) else {
                return Err(self.wrong("a file's record"));
            };
            files.push(StoredFile {
                id,
                record,
                parts: Vec::new(),
            });
        }
        let mut metas = rustc_hash::FxHashMap::<PartId, Vec<ChunkMeta>>::default();
        for (key, value) in self.entries(b"s")? {
            let part = key
                .get(1..9)
                .and_then(|bytes| bytes.try_into().ok())
                .map(u64::from_be_bytes);
            let (Some(part), Some(meta)) = (part, decode_meta(&value)) else {
                return Err(self.wrong("a summary"));
            };
            metas.entry(part).or_default().push(meta);
        }
        for StoredFile { id, parts, .. } in &mut files {
            let mut prefix = file_key(*id);
            prefix[0] = b't';
            for (_, value) in self.entries(&prefix)? {
                let group: Vec<PartRecord> =
                    postcard::from_bytes(&value).map_err(|_| self.wrong("a tag's record"))?;
                for record in group {
                    let mut metas = metas.remove(&record.part).unwrap_or_default();
                    // Chunks after those counted in the record belong to an unfinished commit; they are read again.
                    let mut points = record.counted.points;
                    let is_counted = |meta: &ChunkMeta| {
                        points = points.checked_sub(meta.summary.count)?;
                        Some(())
                    };
                    let n = metas.iter().map_while(is_counted).count();
                    metas.truncate(n);
                    parts.push((record, metas));
                }
            }
        }
        // The same applies to parts without a record, which get another number next time.
        self.remove_parts(metas.into_keys())?;
        Ok(files)
    }

    /// Reads the columns of a chunk.
    pub(super) fn columns<T>(
        &self,
        part: PartId,
        number: u32,
        read: impl FnOnce(&[u8]) -> Option<T>,
    ) -> Result<T, ReadError> {
        let found = self.read(|tree| tree.get(key(b'c', part, number)))?;
        found
            .and_then(|bytes| read(&bytes))
            .ok_or_else(|| self.wrong("a chunk"))
    }

    /// Reads the summaries of the chunks `first..=last` of a part, in order.
    pub(super) fn summaries(
        &self,
        part: PartId,
        first: u32,
        last: u32,
        mut each: impl FnMut(u32, &[u8]) -> Option<()>,
    ) -> Result<(), ReadError> {
        let range = key(b's', part, first)..=key(b's', part, last);
        let entries = self.read(|tree| tree.range(range.clone()).collect::<Result<Vec<_>, _>>())?;
        for (key, value) in entries {
            let read = number_of(&key).and_then(|number| each(number, &value));
            read.ok_or_else(|| self.wrong("a summary"))?;
        }
        Ok(())
    }

    fn entries(&self, prefix: &[u8]) -> Result<Vec<(Bytes, Bytes)>, ReadError> {
        self.read(|tree| tree.scan_prefix(prefix).collect())
    }

    fn keys(&self, prefix: &[u8]) -> Result<Vec<Bytes>, ReadError> {
        self.read(|tree| tree.scan_prefix(prefix).keys().collect())
    }

    fn remove_parts(&self, parts: impl Iterator<Item = PartId>) -> Result<(), ReadError> {
        for part in parts {
            let mut batch = sled::Batch::default();
            for prefix in prefixes_of(part) {
                for key in self.keys(&prefix)? {
                    batch.remove(key);
                }
            }
            self.write(|tree| tree.apply_batch(batch))?;
        }
        Ok(())
    }

    /// Writes a batch atomically.
    pub(super) fn apply(&self, batch: Batch, meta: Meta) -> Result<(), ReadError> {
        let Batch {
            sled: mut batch,
            writes,
            ..
        } = batch;
        batch.insert(&b"m"[..], postcard::to_allocvec(&meta).unwrap_or_default());
        let result = self.write(|tree| tree.apply_batch(batch));
        free_replaced_nodes(writes);
        result
    }

    /// Makes applied batches durable.
    pub(super) fn flush(&self) -> Result<(), ReadError> {
        self.write(|tree| tree.flush())
    }

    /// Adds the removal of all of a file's parts to a batch.
    pub(super) fn remove_file(
        &self,
        file: u64,
        parts: &[PartId],
        batch: &mut Batch,
    ) -> Result<(), ReadError> {
        batch.sled.remove(&file_key(file)[..]);
        let mut tags = file_key(file);
        tags[0] = b't';
        let prefixes = parts.iter().copied().flat_map(prefixes_of);
        for prefix in std::iter::once(tags).chain(prefixes) {
            for key in self.keys(&prefix)? {
                batch.sled.remove(key);
            }
        }
        Ok(())
    }
}

impl Meta {
    fn new() -> Self {
        Self::now(0, 0)
    }

    pub(super) fn now(next_file: u64, next_part: PartId) -> Self {
        Self {
            schema: SCHEMA,
            next_file,
            next_part,
        }
    }
}

/// True if another process has the tree open: sled reports the error of its file lock.
fn is_held(error: &std::io::Error) -> bool {
    error.kind() == std::io::ErrorKind::WouldBlock
        || error.to_string().contains("could not acquire lock")
}

/// True if nothing in the folder may be changed; an index in it is left as it is.
fn is_read_only(error: &std::io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem
    )
}

/// True if the place of the folder takes no data.
fn is_unwritable(error: &std::io::Error) -> bool {
    let full = [
        ErrorKind::StorageFull,
        ErrorKind::QuotaExceeded,
        ErrorKind::FileTooLarge,
    ];
    is_read_only(error) || full.contains(&error.kind())
}

fn io_error(error: sled::Error) -> std::io::Error {
    match error {
        sled::Error::Io(error) => error,
        other => std::io::Error::other(other),
    }
}

/// A set of writes, applied atomically.
#[derive(Default)]
pub(super) struct Batch {
    sled: sled::Batch,
    len_bytes: usize,
    writes: usize,
}

impl Batch {
    fn insert(&mut self, key: &[u8], value: impl Into<sled::IVec>) {
        let value = value.into();
        self.len_bytes += key.len() + value.len();
        self.writes += 1;
        self.sled.insert(key, value);
    }

    /// True if it has reached the size for one write.
    pub(super) fn is_full(&self) -> bool {
        self.len_bytes >= BATCH_BYTES
    }

    pub(super) fn file(&mut self, id: u64, record: &FileRecord) {
        // postcard fails on data it cannot represent (maps of unknown length); these records have none.
        if let Ok(bytes) = postcard::to_allocvec(record) {
            self.insert(&file_key(id)[..], bytes);
        }
    }

    /// Adds the records of up to [`PARTS`] tags.
    pub(super) fn parts(&mut self, file: u64, group: u32, records: &[PartRecord]) {
        if let Ok(bytes) = postcard::to_allocvec(records) {
            self.insert(&key(b't', file, group)[..], bytes);
        }
    }

    pub(super) fn chunk(&mut self, part: PartId, number: u32, chunk: &SealedChunk) {
        self.insert(&key(b'c', part, number)[..], chunk.columns.clone());
        self.insert(&key(b's', part, number)[..], chunk.summaries.clone());
    }
}

/// The folder of the index for a set of base directories, independent of their order.
pub(crate) fn folder(cache_dir: &Path, base_dirs: &[PathBuf]) -> PathBuf {
    use std::hash::{Hash, Hasher};
    let mut names: Vec<_> = base_dirs
        .iter()
        .map(|dir| dir.as_os_str().as_encoded_bytes())
        .collect();
    names.sort_unstable();
    names.dedup();
    // FxHasher has no random seed: the same folders give the same name in every process.
    let mut hasher = rustc_hash::FxHasher::default();
    names.hash(&mut hasher);
    cache_dir.join(format!("index-{:016x}", hasher.finish()))
}
