//! Files in memory that judging has in common with the pages.

use crate::profiles::Profiles;
use crate::reader::Feeds;

/// Blocks of growing event files, and profiles. Cloning is cheap.
#[derive(Clone)]
pub(crate) struct SharedFiles {
    pub(super) feeds: Feeds,
    pub(super) profiles: Profiles,
}
