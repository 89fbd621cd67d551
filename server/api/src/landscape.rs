//! Settings of the landscapes of a run.

use serde::{Deserialize, Serialize};

/// The answer of `GET /api/landscape/settings`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LandscapeSettingsAnswer {
    /// The settings; `null` for a run without the file.
    pub settings: Option<LandscapeSettings>,
    /// Reason for which the file cannot be read, as a sentence with its name.
    pub fault: Option<String>,
}

/// Content of `ckpt_dir/train_metadata.json`, which `MindSpore` writes while it saves weights for landscapes. Its paths
/// are not followed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LandscapeSettings {
    /// Epochs or steps (see `unit`) of each landscape, by its number.
    #[serde(default)]
    pub epoch_group: std::collections::BTreeMap<String, Vec<i64>>,
    /// Number of steps in an epoch.
    #[serde(default)]
    pub step_per_epoch: Option<i64>,
    /// Unit of the groups: `epoch` or `step`.
    #[serde(default)]
    pub unit: String,
    /// Number of samples over which each loss is a mean.
    #[serde(default)]
    pub num_samples: Option<u64>,
    /// Number of points along each direction.
    #[serde(default)]
    pub landscape_size: Option<u64>,
}
