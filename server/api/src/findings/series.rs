//! Equal hits of consecutive steps, which a list shows as one.

use serde::{Deserialize, Serialize};

/// Steps of a rank, one after the other in the list, whose hits are the same: of the same watchpoints, tensors and
/// severities, and each of a single step.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct HitSeries {
    /// Rank that recorded them.
    pub rank: u32,
    /// First step.
    pub step: i64,
    /// Last step.
    pub last_step: i64,
    /// Number of steps with these hits.
    pub steps: u64,
    /// `true` if all of its steps are listed; otherwise only the first one is.
    pub is_open: bool,
}

impl HitSeries {
    /// Its name in [`FindingsQuery::open`](super::FindingsQuery::open).
    pub fn key(&self) -> String {
        format!("{}:{}", self.rank, self.step)
    }

    /// `true` if a step of a rank is one of its steps.
    pub fn contains(&self, rank: u32, step: i64) -> bool {
        rank == self.rank && (self.step..=self.last_step).contains(&step)
    }
}
