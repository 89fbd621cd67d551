//! A range of bytes in a file.

use serde::{Deserialize, Serialize};

/// A byte range of the file that a record was read from.
///
/// The content is not validated.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Stretch {
    /// Offset in bytes from the start of the file.
    pub offset: u64,
    /// Length in bytes.
    pub len_bytes: u64,
}

impl Stretch {
    /// The whole file, however much it grows.
    pub const WHOLE_FILE: Self = Self {
        offset: 0,
        len_bytes: u64::MAX,
    };
}
