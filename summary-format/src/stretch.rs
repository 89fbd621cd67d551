//! A range of bytes in a file.

use serde::{Deserialize, Serialize};

/// Bytes of the file that a record was read from.
///
/// They are those that were written, and nothing says that they are what they claim to be.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Stretch {
    /// Where they begin, in bytes from the start of the file.
    pub offset: u64,
    /// How many there are.
    pub len_bytes: u64,
}

impl Stretch {
    /// All of the file, however long it gets.
    pub const WHOLE_FILE: Self = Self {
        offset: 0,
        len_bytes: u64::MAX,
    };
}
