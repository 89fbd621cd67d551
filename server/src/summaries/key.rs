//! Keys of summaries.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;
use trainscope_analysis::watchpoint::Needs;
use trainscope_format::Stretch;
use trainscope_format::tensor::{DType, Tolerance};
use twox_hash::XxHash3_128;

use crate::discovery::stamp::Stamp;
use crate::tensor_files::read::Place;

/// XXH3 of all that a summary depends on.
pub(crate) type Key = [u8; 16];

/// All that a summary depends on.
pub(crate) struct Subject<'a> {
    /// Number of the folder among those of the command.
    pub(crate) source: u32,
    /// Name of the tensor.
    pub(crate) name: &'a str,
    /// Location, with the stamp of its file.
    pub(crate) now: (&'a Place, Stamp),
    /// The same at the step that it is compared with.
    pub(crate) before: Option<(&'a Place, Stamp)>,
    pub(crate) needs: &'a Needs,
}

/// [`Subject`] with paths below a folder.
#[derive(Serialize)]
struct Entry<'a> {
    version: &'a str,
    source: u32,
    name: &'a str,
    now: State<'a>,
    before: Option<State<'a>>,
    exponents: bool,
    ranges: &'a [(f64, f64)],
    hash: bool,
    change: Option<Tolerance>,
    channels: bool,
}

/// A tensor in a file, without device and inode: devices of one network volume differ between nodes.
#[derive(Serialize)]
struct State<'a> {
    path: &'a [u8],
    len_bytes: u64,
    modified_nanos: i128,
    /// Element type, if it is not that of the header.
    dtype: Option<DType>,
    header: Option<Header<'a>>,
}

/// A tensor in the header of its file.
#[derive(Serialize)]
struct Header<'a> {
    name: &'a str,
    dtype: DType,
    shape: &'a [u64],
    data: Stretch,
    is_big_endian: bool,
    is_column_major: bool,
}

impl Subject<'_> {
    /// The key, with paths below a folder.
    pub(crate) fn key(&self, root: &Path) -> Option<Key> {
        let Needs {
            exponents,
            ranges,
            hash,
            change,
            channels,
        } = self.needs;
        let entry = Entry {
            version: env!("CARGO_PKG_VERSION"),
            source: self.source,
            name: self.name,
            now: state(self.now.0, self.now.1, root),
            before: self.before.map(|(place, stamp)| state(place, stamp, root)),
            exponents: *exponents,
            ranges,
            hash: *hash,
            change: *change,
            channels: *channels,
        };
        let bytes = postcard::to_allocvec(&entry).ok()?;
        Some(XxHash3_128::oneshot(&bytes).to_le_bytes())
    }
}

fn state<'a>(place: &'a Place, stamp: Stamp, root: &Path) -> State<'a> {
    let path: &Path = &place.path;
    let below = path.strip_prefix(root).unwrap_or(path);
    State {
        path: below.as_os_str().as_encoded_bytes(),
        len_bytes: stamp.len_bytes,
        modified_nanos: nanos(stamp.modified),
        dtype: place.dtype,
        header: place.tensor.as_ref().map(|tensor| Header {
            name: &tensor.name,
            dtype: tensor.dtype,
            shape: &tensor.shape,
            data: tensor.data,
            is_big_endian: tensor.is_big_endian,
            is_column_major: tensor.is_column_major,
        }),
    }
}

/// Nanoseconds since 1970.
fn nanos(time: SystemTime) -> i128 {
    let nanos = |time: std::time::Duration| i128::try_from(time.as_nanos()).unwrap_or(i128::MAX);
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => nanos(after),
        Err(before) => -nanos(before.duration()),
    }
}
