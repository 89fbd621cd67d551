//! Parts of messages: places, reasons, capabilities and hits.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::collection::Severity;
use crate::float::Float;

/// Prefix of a [`Place::Node`] as text.
const NODE: &str = "node:";

/// Position of a gate within a step. Ordered by the flow of a step; all nodes count as one position.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// After the forward pass of the layer with this name.
    Node(String),
    /// Gradients exist, weights are unchanged.
    BeforeUpdate,
    /// After the update.
    AfterStep,
}

impl Place {
    /// Position in the order of a step.
    pub const fn phase(&self) -> u8 {
        match self {
            Self::Node(_) => 0,
            Self::BeforeUpdate => 1,
            Self::AfterStep => 2,
        }
    }

    /// Reads the text form.
    pub fn of_text(text: &str) -> Option<Self> {
        match text {
            "before_update" => Some(Self::BeforeUpdate),
            "after_step" => Some(Self::AfterStep),
            other => {
                let name = other.strip_prefix(NODE).filter(|name| !name.is_empty())?;
                Some(Self::Node(name.to_owned()))
            }
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BeforeUpdate => f.write_str("before_update"),
            Self::AfterStep => f.write_str("after_step"),
            Self::Node(name) => write!(f, "{NODE}{name}"),
        }
    }
}

impl Serialize for Place {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Place {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::of_text(&text).ok_or_else(|| {
            let given = serde::de::Unexpected::Str(&text);
            serde::de::Error::invalid_value(given, &"before_update, after_step or node:<name>")
        })
    }
}

/// A place of a step where a rank may wait.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Gate {
    /// Number of the step.
    pub step: i64,
    /// Position within it.
    pub place: Place,
}

impl Gate {
    /// A gate of a step.
    pub const fn new(step: i64, place: Place) -> Self {
        Self { step, place }
    }

    /// `true` if it is at `other` or before it in the flow of the training.
    pub fn is_not_after(&self, other: &Self) -> bool {
        (self.step, self.place.phase()) <= (other.step, other.place.phase())
    }
}

/// Reason of a hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum HoldReason {
    /// A pausing watchpoint was hit.
    Hit,
    /// A person asked for it.
    Asked,
    /// The requested number of steps is over.
    Steps,
    /// The requested node was reached.
    Node,
    /// The program asked to wait at its first gate.
    Start,
}

/// Reason for which a hold ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GoingReason {
    /// The server resumed it.
    Resumed,
    /// The time limit of the hold is over.
    Limit,
    /// The connection was lost for longer than the grace period.
    Lost,
    /// A signal interrupted it.
    Interrupted,
}

/// Reason for which a training says goodbye.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum ByeReason {
    /// It ended by itself.
    Finished,
    /// It was stopped by a command or by a hit.
    Stopped,
    /// It failed with an error.
    Failed,
    /// A signal ended it.
    Interrupted,
}

/// Capability of a training.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Capability {
    /// Slices of tensors can be read.
    Read,
    /// The training can be held at nodes.
    Nodes,
    /// Activations can be kept until a gate.
    Keep,
    /// It can be held and stopped.
    Stop,
    /// A capability of a newer training.
    #[serde(other)]
    Unknown,
}

/// Originator of a stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopOrigin {
    /// A person.
    Person,
    /// A hit.
    Hit,
}

/// Least severity of hits that pause a training.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum PauseLevel {
    /// Errors.
    Error,
    /// Warnings and errors.
    Warning,
    /// All hits.
    Info,
    /// None.
    #[default]
    Never,
}

impl PauseLevel {
    /// `true` if a hit of this severity pauses.
    pub fn includes(self, severity: Severity) -> bool {
        let least = match self {
            Self::Error => Severity::Error,
            Self::Warning => Severity::Warning,
            Self::Info => Severity::Info,
            Self::Never => return false,
        };
        severity >= least
    }
}

/// Name and version of a framework.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct Framework {
    /// Name, `torch` for example; empty if there is none.
    pub name: String,
    /// Version; empty if unknown.
    pub version: String,
}

/// A sentence in English and Chinese.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct HitSentence {
    /// English.
    pub en: String,
    /// Chinese.
    pub zh: String,
}

/// A hit that the training itself has found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SessionHit {
    /// Id of the condition.
    pub condition: String,
    /// Index of the watchpoint in the list in force.
    pub watchpoint: u32,
    /// Severity.
    pub severity: Severity,
    /// Name of the tensor, or tag of the scalar.
    pub tensor: String,
    /// Step of the hit, which may be earlier than that of the gate.
    pub step: i64,
    /// The finding as a sentence.
    #[serde(default)]
    pub sentence: HitSentence,
    /// Measured values, by the name of the parameter that limits them.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = BTreeMap<String, f64>))]
    pub values: BTreeMap<String, Float>,
    /// `true` if it pauses by the watchpoints and the level in force.
    #[serde(default)]
    pub pauses: bool,
}
