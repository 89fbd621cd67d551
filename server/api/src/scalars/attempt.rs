//! Attempts of a training, of which a curve is the newest value at each step.

use serde::{Deserialize, Serialize};

/// Consecutive steps that one file of an attempt has written.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Attempt {
    /// 1 for the first of the run, the same for all scalars of a rank. A file that continues the ones before is of the
    /// same attempt.
    pub number: u64,
    /// Wall time of its first point, seconds since 1970; `null` if the file does not say.
    pub first_wall_time_secs: Option<f64>,
    /// First step.
    pub from: i64,
    /// Last step.
    pub to: i64,
}
