//! Places in files that could not be read.

use std::sync::Arc;

/// A place in a file that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// Path relative to the walked folder.
    pub(crate) file: Arc<str>,
    /// Offset in bytes from the start of the file.
    pub(crate) offset: u64,
    /// Description, as a sentence without the file's name.
    pub(crate) reason: String,
    /// Size of the file.
    pub(crate) len_bytes: u64,
}
