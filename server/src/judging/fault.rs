//! Places in files that could not be read.

use std::sync::Arc;

use serde::Serialize;

/// A place in a file that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Fault {
    /// Path relative to the walked folder.
    pub(crate) file: Arc<str>,
    /// Offset in bytes from the start of the file.
    pub(crate) offset: u64,
    /// Description, as a sentence without the file's name.
    pub(crate) reason: String,
    /// Size of the file, for people.
    #[serde(skip)]
    pub(crate) len_bytes: u64,
}
