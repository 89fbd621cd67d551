//! What can be watched for, what is watched for in a run, and changing it.
//!
//! `GET /api/conditions`, `GET` and `PUT /api/watchpoints`, `POST /api/recheck`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use trainscope_format::Severity;
use trainscope_format::float::Float;

use crate::findings::Words;

/// Watchpoints of one list at most.
pub const MAX_WATCHPOINTS: usize = 1_000;

/// The catalogue.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Catalogue {
    /// Everything that can be watched for, by what it is about.
    pub conditions: Vec<Condition>,
    /// Keys that every watchpoint may have beside the parameters of its condition.
    pub common: Vec<Parameter>,
}

/// Something that can be watched for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Condition {
    /// Its name in files, answers and addresses.
    pub id: String,
    /// What it is about: `tensor`, `weight`, `gradient`, `activation`, `scalar`, `run`.
    pub target: String,
    /// What it says, in a line.
    pub title: Words,
    /// What it checks, with its formula.
    pub checks: Words,
    /// Why it matters.
    pub matters: Words,
    /// When it is not judged, or not held against a training.
    pub not_judged: Words,
    /// What to do about a hit.
    pub advice: Words,
    /// What a hit is called unless a watchpoint says otherwise.
    pub severity: Severity,
    /// Whether it is watched for when nobody says what to watch for.
    pub is_recommended: bool,
    /// Its parameters, in the order in which they are given.
    pub parameters: Vec<Parameter>,
    /// A watchpoint of it as it is recommended, or by default; limits that have to be given are missing.
    pub preset: WatchpointKeys,
}

/// A key of a watchpoint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Parameter {
    /// The key.
    pub name: String,
    /// What it may be given.
    pub kind: ParameterKind,
    /// What it is if nobody says; nothing: off.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::openapi::Float>))]
    pub default: Option<Float>,
    /// Whether a value is compared with it, so that at least one of its kind is needed.
    pub is_limit: bool,
    /// What it is.
    pub help: Words,
}

/// What a key of a watchpoint may be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum ParameterKind {
    /// Any finite number.
    Finite,
    /// At least 0.
    NotNegative,
    /// Above 0.
    Positive,
    /// 0 to 100.
    Percentage,
    /// 0 to 1.
    Share,
    /// A whole number of at least 1.
    Count,
    /// A whole number of at least 0.
    Whole,
    /// A whole number.
    Step,
    /// Yes or no.
    Switch,
    /// Text.
    Text,
    /// A list of names, in which `*` stands for any text.
    Names,
}

/// A watchpoint as it is written in a file: `condition`, its parameters, and common keys.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WatchpointKeys(pub BTreeMap<String, Setting>);

/// What a key is given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Setting {
    /// Yes or no.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number.
    Float(f64),
    /// Text.
    Text(String),
    /// Texts.
    List(Vec<String>),
}

/// The query of `GET /api/watchpoints`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams), into_params(parameter_in = Query))]
pub struct WatchpointsQuery {
    /// Name of the run.
    pub run: String,
}

/// What is watched for in a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WatchpointList {
    /// Who says so.
    pub origin: Origin,
    /// The file that says so, or that would.
    pub file: String,
    /// What a change of them is made from: it differs whenever the file does.
    pub version: String,
    /// In the order of the file.
    pub watchpoints: Vec<WatchpointKeys>,
    /// The same as a file of its own, for `trainscope check --watchpoints`.
    pub toml: String,
    /// What is wrong with the file as it is now: the watchpoints before it count, and it is not written over.
    pub problem: Option<String>,
}

/// Who says what is watched for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Origin {
    /// Nobody: they are the recommended ones.
    #[default]
    Recommended,
    /// The file, for all runs of its base directory.
    Base,
    /// The file, for this run alone.
    Run,
}

/// A change of what is watched for: the whole list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WatchpointsChange {
    /// Name of the run.
    pub run: String,
    /// Whether it is for this run alone; otherwise for all runs of its base directory that have no list of their own.
    #[serde(default)]
    pub only_this_run: bool,
    /// The version that it was made from. If the file has changed since, the change is refused with `conflict`: get the
    /// newest list, and make the change from it if it still makes sense.
    pub version: String,
    /// What is watched for from now on, [`MAX_WATCHPOINTS`] at most. `null` takes the list away: then that of the base
    /// directory counts for the run, or the recommended one for the base directory.
    pub watchpoints: Option<Vec<WatchpointKeys>>,
}

/// A wish to judge a run again from its first record on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Recheck {
    /// Name of the run.
    pub run: String,
}

#[cfg(test)]
mod tests {
    use super::{Setting, WatchpointKeys};

    #[test]
    fn settings_keep_their_kinds() {
        let text = r#"{"condition":"c","from_step":3,"on":false,"rtol":1e-6,"tensors":["a*"]}"#;
        let keys: WatchpointKeys = serde_json::from_str(text).unwrap();
        assert_eq!(keys.0["rtol"], Setting::Float(1e-6));
        assert_eq!(keys.0["from_step"], Setting::Int(3));
        assert_eq!(serde_json::to_string(&keys).unwrap(), text);
    }
}
