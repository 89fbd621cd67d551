//! Watchpoints: the catalogue of conditions, the list of a run, and changes of it.
//!
//! `GET /api/conditions`, `GET` and `PUT /api/watchpoints`, `POST /api/recheck`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use trainscope_format::Severity;
use trainscope_format::digits::Operator;
use trainscope_format::float::Float;

use crate::Sentence;

/// Maximum number of watchpoints in one list.
pub const MAX_WATCHPOINTS: usize = 1_000;

/// The catalogue of conditions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Catalogue {
    /// All conditions, by target.
    pub conditions: Vec<Condition>,
    /// Keys that every watchpoint may have beside the parameters of its condition.
    pub common: Vec<Parameter>,
}

/// A condition of the catalogue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Condition {
    /// Its name in files, answers and URLs.
    pub id: String,
    /// Target: `tensor`, `weight`, `gradient`, `activation`, `scalar`, `run`.
    pub target: String,
    /// Title.
    pub title: Sentence,
    /// Description of the check, with its formula.
    pub checks: Sentence,
    /// Reason for the check.
    pub matters: Sentence,
    /// Cases that are not judged or not reported.
    pub not_judged: Sentence,
    /// Recommended action for a hit.
    pub advice: Sentence,
    /// Severity of a hit unless the watchpoint sets another.
    pub severity: Severity,
    /// `true` if the condition is part of the recommended watchpoints.
    pub is_recommended: bool,
    /// `true` if a hit needs all limits to be exceeded; otherwise any one is enough.
    #[serde(default)]
    pub all_limits: bool,
    /// Its parameters, in the order of its formula.
    pub parameters: Vec<Parameter>,
    /// A watchpoint with the recommended or default values; required limits without a default are missing.
    pub preset: WatchpointKeys,
}

/// A key of a watchpoint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Parameter {
    /// The key.
    pub name: String,
    /// Type of the value.
    pub kind: ParameterKind,
    /// Default value; `null` if the parameter is off by default.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::openapi::Float>))]
    pub default: Option<Float>,
    /// `true` for a limit that a value is compared with; a watchpoint needs at least one.
    pub is_limit: bool,
    /// Description.
    pub help: Sentence,
    /// The same in parts, for a limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comparison: Option<Comparison>,
}

/// Quantity and operator of a limit: *maximum*, *above*.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Comparison {
    /// The quantity that is compared with the limit.
    pub quantity: Sentence,
    /// The comparison of a hit.
    pub operator: Operator,
}

/// Type of a value of a watchpoint.
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
    /// A boolean.
    Switch,
    /// Text.
    Text,
    /// A list of names, in which `*` matches any text.
    Names,
}

/// A watchpoint as written in a file: `condition`, its parameters, and common keys.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WatchpointKeys(pub BTreeMap<String, Setting>);

/// Value of a key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Setting {
    /// A boolean.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number.
    Float(f64),
    /// Text.
    Text(String),
    /// A list of texts.
    List(Vec<String>),
}

/// The query of `GET /api/watchpoints`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams), into_params(parameter_in = Query))]
pub struct WatchpointsQuery {
    /// Name of the run.
    pub run: String,
}

/// The watchpoints of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WatchpointList {
    /// Scope of the list.
    pub origin: Origin,
    /// Path of the file that holds the list, or would hold it.
    pub file: String,
    /// Version of the file, to name in a change; it differs whenever the file does.
    pub version: String,
    /// Watchpoints in the order of the file.
    pub watchpoints: Vec<WatchpointKeys>,
    /// The same as a separate file, for `trainscope check --watchpoints`.
    pub toml: String,
    /// Error in the current file: the watchpoints before it apply, and the file is not overwritten.
    pub problem: Option<String>,
}

/// Scope of a list of watchpoints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Origin {
    /// No file: the recommended watchpoints.
    #[default]
    Recommended,
    /// A file, for all runs of its base directory.
    Base,
    /// A file, for this run alone.
    Run,
}

/// Replacement of the whole list of watchpoints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WatchpointsChange {
    /// Name of the run.
    pub run: String,
    /// `true` to change this run alone; otherwise all runs of its base directory without a list of their own.
    #[serde(default)]
    pub only_this_run: bool,
    /// The version that it was made from. If the file has changed since, the change is refused with `conflict`: get
    /// the newest list and repeat the change if it still makes sense.
    pub version: String,
    /// The new list, [`MAX_WATCHPOINTS`] at most. `null` removes the list: a run then uses that of its base directory,
    /// and a base directory the recommended one.
    pub watchpoints: Option<Vec<WatchpointKeys>>,
}

/// A request to judge a run again from its first record.
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
