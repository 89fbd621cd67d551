//! Watchpoints as written by users, in a file or on a page, and their validated form.
//!
//! A watchpoint is a table of keys: `condition`, the parameters of that condition, and the keys in [`COMMON_KEYS`]. An
//! unknown key is an error that names the key: the reader of the file adds its position.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use trainscope_format::Severity;

use super::catalogue::{CONDITIONS, profile};
use super::model::condition::{Watchpoint, defaults};
use super::model::key::Key;
use super::model::parameter::Parameter;
use crate::trace::advice;

/// Keys that every watchpoint may have in addition to the parameters of its condition.
pub const COMMON_KEYS: [&str; 12] = [
    "condition",
    "on",
    "name",
    "tensors",
    "exclude",
    "severity",
    "from_step",
    "warmup",
    "patience",
    "cooldown",
    "context",
    "pause",
];

/// A watchpoint as written: keys and values of one `[[watchpoint]]` table, or of one JSON object.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct WatchpointConfig(pub BTreeMap<String, Value>);

/// A file of watchpoints.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WatchpointsFile {
    /// Watchpoints in the order of the file.
    #[serde(default)]
    pub watchpoint: Vec<WatchpointConfig>,
}

/// Value of a key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
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

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(yes) => yes.fmt(f),
            Self::Int(number) => number.fmt(f),
            Self::Float(number) => number.fmt(f),
            Self::Text(text) => write!(f, "{text:?}"),
            Self::List(texts) => write!(f, "{texts:?}"),
        }
    }
}

/// Error in a watchpoint.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("watchpoint {}: {mistake}", entry + 1)]
pub struct ConfigError {
    /// Index of the watchpoint.
    pub entry: usize,
    /// Key with the error, unless one is missing.
    pub key: Option<String>,
    /// The error.
    pub mistake: Mistake,
}

/// Kind of error in a watchpoint.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Mistake {
    /// The key `condition` is missing.
    #[error("there is no `condition`")]
    NoCondition,
    /// No condition has this id.
    #[error("there is no condition `{0}`")]
    UnknownCondition(String),
    /// The condition has no such parameter; `known` are its keys.
    #[error("unknown key `{key}` of `{condition}`")]
    UnknownKey {
        /// The key.
        key: String,
        /// Id of the condition.
        condition: &'static str,
        /// Valid keys.
        known: Vec<&'static str>,
    },
    /// The value is of another type, or out of range.
    #[error("`{key}` must be {wanted}, and is {found}")]
    BadValue {
        /// The key.
        key: String,
        /// Description of valid values.
        wanted: String,
        /// The given value.
        found: String,
    },
    /// A share of a range without the range.
    #[error("`{key}` needs {needs}")]
    Needs {
        /// The key.
        key: String,
        /// The keys that must be given with it.
        needs: String,
    },
    /// All limits are off by default, and none is given.
    #[error("`{0}` has no limit of its own: give at least one")]
    NoLimit(&'static str),
}

impl Watchpoint {
    /// Converts it to its written form.
    pub fn to_config(&self) -> WatchpointConfig {
        let mut keys = BTreeMap::new();
        let mut put = |key: &str, value| keys.insert(key.to_owned(), value);
        put("condition", Value::Text(self.condition.id.to_owned()));
        if !self.on {
            put("on", Value::Bool(false));
        }
        if let Some(name) = &self.name {
            put("name", Value::Text(name.clone()));
        }
        for (key, names) in [("tensors", &self.tensors), ("exclude", &self.exclude)] {
            if !names.is_empty() {
                put(key, Value::List(names.clone()));
            }
        }
        if !self.may_raise || self.severity != self.condition.severity {
            put("severity", Value::Text(name_of(self.severity).to_owned()));
        }
        if let Some(step) = self.from_step {
            put("from_step", Value::Int(step));
        }
        let (patience, cooldown) = defaults(self.condition, self.context);
        let counts = [
            ("warmup", self.warmup, self.condition.warmup),
            ("patience", self.patience, patience),
            ("cooldown", self.cooldown, cooldown),
        ];
        for (key, count, default) in counts {
            if count != default {
                put(key, Value::Int(count.into()));
            }
        }
        if self.context && self.condition.is_formula {
            put("context", Value::Bool(true));
        }
        if let Some(pause) = self.pause {
            put("pause", Value::Bool(pause));
        }
        for parameter in self.condition.parameters {
            let limit = self.limits.get(parameter.name);
            if let Some(limit) = limit.filter(|_| limit != parameter.default) {
                let value = if parameter.range.is_switch() {
                    Value::Bool(limit != 0.0)
                } else {
                    Value::Float(limit)
                };
                put(parameter.name.as_str(), value);
            }
        }
        WatchpointConfig(keys)
    }

    fn from_config(config: &WatchpointConfig) -> Result<Self, (Option<String>, Mistake)> {
        let id = match config.0.get("condition") {
            None => return Err((None, Mistake::NoCondition)),
            Some(Value::Text(id)) => id,
            Some(other) => return Err(bad("condition", "the id of a condition", other)),
        };
        let Some(condition) = super::catalogue::find(id) else {
            let key = Some("condition".to_owned());
            return Err((key, Mistake::UnknownCondition(id.clone())));
        };
        let mut made = Self::of(condition, false);
        if let Some(Value::Bool(context)) = config.0.get("context") {
            made.context = *context;
            (made.patience, made.cooldown) = defaults(condition, *context);
        }
        for (key, value) in &config.0 {
            made.set(key, value)?;
        }
        made.check()?;
        made.compile_patterns();
        Ok(made)
    }

    fn set(&mut self, key: &str, value: &Value) -> Result<(), (Option<String>, Mistake)> {
        match key {
            "condition" => {}
            "on" => match value {
                Value::Bool(yes) => self.on = *yes,
                other => return Err(bad(key, "true or false", other)),
            },
            "name" => match value {
                Value::Text(name) => self.name = Some(name.clone()),
                other => return Err(bad(key, "text", other)),
            },
            "tensors" => self.tensors = texts(key, value)?,
            "exclude" => self.exclude = texts(key, value)?,
            "severity" => {
                let given = match value {
                    Value::Text(name) => Severity::ALL.into_iter().find(|s| name_of(*s) == name),
                    _ => None,
                };
                let wanted = "\"error\", \"warning\" or \"info\"";
                self.severity = given.ok_or_else(|| bad(key, wanted, value))?;
                self.may_raise = false;
            }
            "from_step" => match value {
                Value::Int(step) => self.from_step = Some(*step),
                other => return Err(bad(key, "a whole number", other)),
            },
            "warmup" => self.warmup = count(key, value, 0)?,
            "patience" => self.patience = count(key, value, 1)?,
            "cooldown" => self.cooldown = count(key, value, 0)?,
            "context" => match value {
                Value::Bool(yes) => self.context = *yes,
                other => return Err(bad(key, "true or false", other)),
            },
            "pause" => match value {
                Value::Bool(yes) => self.pause = Some(*yes),
                other => return Err(bad(key, "true or false", other)),
            },
            _ => self.set_parameter(key, value)?,
        }
        Ok(())
    }

    fn set_parameter(&mut self, key: &str, value: &Value) -> Result<(), (Option<String>, Mistake)> {
        let mut all = self.condition.parameters.iter();
        let Some(parameter) = all.find(|parameter| parameter.name.as_str() == key) else {
            let names = self.condition.parameters.iter().map(|p| p.name.as_str());
            let mistake = Mistake::UnknownKey {
                key: key.to_owned(),
                condition: self.condition.id,
                known: names.chain(COMMON_KEYS.into_iter().skip(1)).collect(),
            };
            return Err((Some(key.to_owned()), mistake));
        };
        let number = match *value {
            Value::Bool(yes) if parameter.range.is_switch() => Some(f64::from(u8::from(yes))),
            Value::Int(number) if !parameter.range.is_switch() => Some(number as f64),
            Value::Float(number) if !parameter.range.is_switch() => Some(number),
            _ => None,
        };
        let number = number
            .filter(|number| parameter.range.holds(*number))
            .ok_or_else(|| bad(key, parameter.range.words(), value))?;
        self.limits.set(parameter.name, number);
        Ok(())
    }

    /// Checks that involve several keys.
    fn check(&self) -> Result<(), (Option<String>, Mistake)> {
        let given = |p: &Parameter| self.limits.get(p.name).is_some();
        let needs = |key: Key, needs: &str| {
            let mistake = Mistake::Needs {
                key: key.to_string(),
                needs: needs.to_owned(),
            };
            Err((Some(key.to_string()), mistake))
        };
        let bounds =
            [Key::RangeStartInclusive, Key::RangeEndInclusive].map(|key| self.limits.get(key));
        for key in [Key::RangePercentageLt, Key::RangePercentageGt] {
            if self.limits.get(key).is_some() && bounds.iter().any(Option::is_none) {
                return needs(key, "range_start_inclusive and range_end_inclusive");
            }
        }
        if let [Some(start), Some(end)] = bounds
            && start > end
        {
            return needs(
                Key::RangeStartInclusive,
                "to be at most range_end_inclusive",
            );
        }
        let mut limits = self.condition.parameters.iter().filter(|p| p.is_limit);
        if limits.clone().count() > 0 && !limits.any(given) {
            return Err((None, Mistake::NoLimit(self.condition.id)));
        }
        Ok(())
    }
}

/// Name of a severity in files.
pub const fn name_of(severity: Severity) -> &'static str {
    match severity {
        Severity::Info => "info",
        Severity::Warning => "warning",
        Severity::Error => "error",
    }
}

fn bad(key: &str, wanted: &str, found: &Value) -> (Option<String>, Mistake) {
    let mistake = Mistake::BadValue {
        key: key.to_owned(),
        wanted: wanted.to_owned(),
        found: found.to_string(),
    };
    (Some(key.to_owned()), mistake)
}

fn texts(key: &str, value: &Value) -> Result<Vec<String>, (Option<String>, Mistake)> {
    match value {
        Value::List(texts) => Ok(texts.clone()),
        Value::Text(text) => Ok(vec![text.clone()]),
        other => Err(bad(key, "a list of names", other)),
    }
}

fn count(key: &str, value: &Value, least: u32) -> Result<u32, (Option<String>, Mistake)> {
    match value {
        Value::Int(number) => u32::try_from(*number).ok().filter(|n| *n >= least),
        _ => None,
    }
    .ok_or_else(|| bad(key, &format!("a whole number of at least {least}"), value))
}

/// All watchpoints of an evaluation.
#[derive(Clone, Debug)]
pub struct Watchpoints {
    all: Arc<[Watchpoint]>,
    recommended: bool,
}

impl Watchpoints {
    /// The default watchpoints: they use context, and are meant to have no false warnings or errors.
    pub fn recommended() -> Self {
        let chosen = CONDITIONS.iter().filter(|c| c.recommended);
        Self {
            all: chosen.map(|c| Watchpoint::of(c, true)).collect(),
            recommended: true,
        }
    }

    /// These watchpoints, and those about a baseline that are not among them.
    #[must_use]
    pub fn with_baseline(&self) -> Self {
        let of_baseline = CONDITIONS
            .iter()
            .filter(|c| c.profile_rule.is_some_and(advice::Rule::needs_baseline));
        let others = of_baseline.filter(|c| {
            !self
                .all
                .iter()
                .any(|watchpoint| watchpoint.condition == **c)
        });
        let others = others.map(|c| Watchpoint::of(c, true));
        Self {
            all: self.all.iter().cloned().chain(others).collect(),
            recommended: self.recommended,
        }
    }

    /// An empty list.
    pub fn none() -> Self {
        Self {
            all: Arc::new([]),
            recommended: false,
        }
    }

    /// Parses the watchpoints of a file.
    pub fn from_file(file: &WatchpointsFile) -> Result<Self, ConfigError> {
        let made = file.watchpoint.iter().enumerate().map(|(entry, config)| {
            Watchpoint::from_config(config).map_err(|(key, mistake)| ConfigError {
                entry,
                key,
                mistake,
            })
        });
        Ok(Self {
            all: made.collect::<Result<_, _>>()?,
            recommended: false,
        })
    }

    /// Converts them to a file.
    pub fn to_file(&self) -> WatchpointsFile {
        WatchpointsFile {
            watchpoint: self.all.iter().map(Watchpoint::to_config).collect(),
        }
    }

    /// All watchpoints, in order.
    pub fn all(&self) -> &[Watchpoint] {
        &self.all
    }

    /// Number of enabled watchpoints.
    pub fn watching(&self) -> u64 {
        self.all.iter().filter(|watchpoint| watchpoint.on).count() as u64
    }

    /// Limits to judge a profile with: the first of each condition about profiles, then the second of each, and so on;
    /// empty if no enabled watchpoint is about profiles.
    pub fn profile_limits(&self) -> Vec<advice::Limits> {
        let of_rule = |rule: advice::Rule, place: usize| {
            let all = self.all.iter();
            let mut of_rule = all.filter(move |watchpoint| {
                watchpoint.on && watchpoint.condition.profile_rule == Some(rule)
            });
            of_rule.nth(place)
        };
        let is_needed = |place: &usize| {
            let mut rules = advice::Rule::ALL.iter();
            rules.any(|rule| of_rule(*rule, *place).is_some())
        };
        let places = (0..).take_while(is_needed);
        let limits = places.map(|place| {
            profile::limits(|rule, key| {
                let given = of_rule(rule, place).and_then(|watchpoint| watchpoint.limits.get(key));
                given.unwrap_or_else(|| profile::default(rule, key))
            })
        });
        limits.collect()
    }

    /// Index into [`Self::profile_limits`] of the limits of each watchpoint.
    pub(crate) fn profile_places(&self) -> Vec<usize> {
        let place = |(index, watchpoint): (usize, &Watchpoint)| {
            let before = self.all.iter().take(index);
            let is_same = |other: &&Watchpoint| other.on && other.condition == watchpoint.condition;
            before.filter(is_same).count()
        };
        self.all.iter().enumerate().map(place).collect()
    }

    /// True for the recommended watchpoints.
    pub fn are_recommended(&self) -> bool {
        self.recommended
    }
}

impl Default for Watchpoints {
    /// The recommended watchpoints.
    fn default() -> Self {
        Self::recommended()
    }
}
