//! `/api/landscape/settings`: the settings with which landscapes of a run were computed, from a file next to its
//! records.

use axum::extract::State;
use axum::response::Response;
use trainscope_api::landscape::{LandscapeSettings, LandscapeSettingsAnswer};
use trainscope_api::records::RunQuery;

use super::error::Failure;
use super::request::Params;
use super::{Site, blocking, json};
use crate::files;
use crate::table::run_folder;

/// The file below the folder of a run, as `MindSpore` names it.
const FILE: &str = "ckpt_dir/train_metadata.json";
/// Maximum size, in bytes: it has a line for each saved state.
const MAX_BYTES: u64 = 1 << 20;

/// Settings of the loss landscapes of a run
#[cfg_attr(test, utoipa::path(
    get, path = "/api/landscape/settings", operation_id = "landscape_settings", params(RunQuery),
    responses(
        (status = 200, description = "Settings that `MindSpore` wrote beside the records", body = LandscapeSettingsAnswer)
    )
))]
pub(super) async fn settings(
    State(site): State<Site>,
    Params(query): Params<RunQuery>,
) -> Result<Response, Failure> {
    blocking(move || {
        if !site.index.has_run(&query.run) {
            return Err(Failure::unknown_run(&query.run));
        }
        let folder = run_folder(&site.about.base_dirs, &query.run);
        json(&folder.map(|folder| read(&folder)).unwrap_or_default())
    })
    .await
}

/// The settings below a folder.
fn read(folder: &std::path::Path) -> LandscapeSettingsAnswer {
    let parsed = match files::read_inside(folder, FILE, MAX_BYTES) {
        Ok(bytes) => {
            serde_json::from_slice::<LandscapeSettings>(&bytes).map_err(|error| error.to_string())
        }
        Err(error) if files::is_absent(&error) => return LandscapeSettingsAnswer::default(),
        Err(error) => Err(error.to_string()),
    };
    match parsed {
        Ok(settings) => LandscapeSettingsAnswer {
            settings: Some(settings),
            fault: None,
        },
        Err(reason) => LandscapeSettingsAnswer {
            settings: None,
            fault: Some(format!("{FILE}: {reason}")),
        },
    }
}
