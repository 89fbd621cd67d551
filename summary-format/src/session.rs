//! Messages of a live session, between a training and a server: JSON texts, and binary frames for elements of tensors.
//!
//! Version 1 of the protocol. Within a version fields are only added; readers skip unknown fields and types.

mod parts;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::float::Float;
use crate::statistics::Role;
use crate::tensor::DType;
pub use parts::{
    ByeReason, Capability, Framework, Gate, GoingReason, HitSentence, HoldReason, PauseLevel,
    Place, SessionHit, StopOrigin,
};

/// Subprotocol of the WebSocket handshake for version 1.
pub const PROTOCOL: &str = "trainscope.live.1";
/// Maximum size of a text frame in bytes.
pub const MAX_TEXT_BYTES: usize = 1 << 20;
/// Maximum size of a binary frame in bytes: the elements of one slice.
pub const MAX_BINARY_BYTES: usize = 8 << 20;
/// Maximum number of hits in one message; [`GateReport::hits_total`] counts all.
pub const MAX_HITS: usize = 64;
/// Maximum number of tensors or nodes in one answer.
pub const MAX_ITEMS: usize = 256;
/// Number of unreadable messages of one connection after which it is closed.
pub const MAX_UNREADABLE: u64 = 100;
/// Maximum number of steps of one command.
pub const MAX_STEPS: u64 = 1_000_000;
/// Longest hold in seconds that a person may ask for: 8 h.
pub const MAX_HOLD_SECS: u64 = 8 * 3_600;

/// A hold as a training reports it after a reconnection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HoldReport {
    /// The gate.
    #[serde(flatten)]
    pub at: Gate,
    /// Reason.
    pub reason: HoldReason,
    /// Time since it began, in seconds.
    pub since_secs: f64,
    /// Seconds after which it continues automatically; the limit of the server if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goes_on_secs: Option<f64>,
}

/// First message of a training, also after each reconnection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    /// Name of the launch, equal on all its ranks.
    pub launch: String,
    /// Absolute folder of the run, without the folder of the rank. It is text to compare, never a path to open.
    pub run_folder: String,
    /// Rank, from 0.
    #[serde(default)]
    pub rank: u32,
    /// Number of ranks.
    #[serde(default = "one")]
    pub world_size: u32,
    /// Name of the host.
    #[serde(default)]
    pub host: String,
    /// Process id.
    #[serde(default)]
    pub pid: u32,
    /// Name of the program.
    #[serde(default)]
    pub program: String,
    /// Framework.
    #[serde(default)]
    pub framework: Framework,
    /// Version of the collector.
    #[serde(default)]
    pub collector: String,
    /// Newest step.
    #[serde(default)]
    pub step: i64,
    /// Number of steps of the whole training, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_steps: Option<i64>,
    /// Places at which it can wait; one `node:*` if it can wait at nodes.
    #[serde(default)]
    pub places: Vec<Place>,
    /// Capabilities.
    #[serde(default)]
    pub can: Vec<Capability>,
    /// First gate at which it would ask if it were armed now.
    pub next_gate: Gate,
    /// Its hold, if it waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<HoldReport>,
    /// `true` if it asks at each gate.
    #[serde(default)]
    pub armed: bool,
    /// Minimum severity that pauses by the settings of the program.
    #[serde(default)]
    pub pause_at: PauseLevel,
}

const fn one() -> u32 {
    1
}

/// State of a training at a gate, for a decision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GateReport {
    /// The gate.
    #[serde(flatten)]
    pub at: Gate,
    /// Hits since the last gate, at most [`MAX_HITS`].
    #[serde(default)]
    pub hits: Vec<SessionHit>,
    /// Number of all hits since the last gate.
    #[serde(default)]
    pub hits_total: u64,
    /// `true` if its target, a number of steps or a node, is reached.
    #[serde(default)]
    pub is_target: bool,
    /// `true` if a hit ends the training by the settings of the program: all ranks stop at this gate.
    #[serde(default)]
    pub stops: bool,
}

/// A tensor or a node that can be looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SessionItem {
    /// Name.
    pub name: String,
    /// Role; other for nodes.
    #[serde(default)]
    pub role: Role,
    /// Element type; absent for nodes, and for an activation that was changed in place since its forward pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dtype: Option<DType>,
    /// Sizes, outermost first.
    #[serde(default)]
    pub shape: Vec<u64>,
    /// Place at which it exists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub place: Option<Place>,
}

/// Answer with names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ItemList {
    /// Number of the request.
    pub id: u64,
    /// Items, at most [`MAX_ITEMS`].
    #[serde(default)]
    pub items: Vec<SessionItem>,
    /// `true` if there are more.
    #[serde(default)]
    pub cut: bool,
}

/// Head of a slice; the next frame is binary and has its elements, little-endian, in row-major order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SliceHead {
    /// Number of the request.
    pub id: u64,
    /// Element type.
    pub dtype: DType,
    /// Sizes of the slice, outermost first.
    pub shape: Vec<u64>,
    /// Sizes of the whole tensor, outermost first.
    #[serde(default)]
    pub full_shape: Vec<u64>,
    /// Number of bytes in the binary frame.
    pub len_bytes: u64,
    /// Step of the values.
    #[serde(default)]
    pub step: i64,
}

/// Code of a request that could not be answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureCode {
    /// There is no tensor of that name, or it has no such slice.
    UnknownTensor,
    /// It was freed or changed in place.
    Gone,
    /// The slice exceeds [`MAX_BINARY_BYTES`].
    TooLarge,
    /// Another request is being answered.
    Busy,
    /// A code of a newer training.
    #[serde(other)]
    Unknown,
}

/// Message of a training to the server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ToServer {
    /// First message.
    Hello(Box<Hello>),
    /// Heartbeat, every second.
    Status {
        /// Newest step.
        step: i64,
        /// Median seconds of a step; NaN if unknown.
        step_secs: Float,
        /// Number of lost records.
        #[serde(default)]
        lost: u64,
        /// Number of nodes at which it can be held.
        #[serde(default)]
        nodes: u64,
        /// Number of steps of the whole training, once it is known.
        #[serde(default)]
        total_steps: Option<i64>,
        /// `true` if it can keep activations.
        #[serde(default)]
        keeps: bool,
        /// Places at which it has had gates so far.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        places: Vec<Place>,
    },
    /// Answer to [`ToTraining::Arm`] and [`ToTraining::Disarm`].
    Armed {
        /// First gate at which it will ask; `None` if it is disarmed.
        from: Option<Gate>,
    },
    /// A rank asks at a gate.
    Gate(GateReport),
    /// A rank begins to wait.
    Held {
        /// The gate.
        #[serde(flatten)]
        at: Gate,
        /// Reason.
        reason: HoldReason,
        /// Seconds after which it continues automatically; the limit of the server if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        goes_on_secs: Option<f64>,
    },
    /// A hold has ended.
    Going {
        /// The gate.
        #[serde(flatten)]
        at: Gate,
        /// Reason.
        why: GoingReason,
    },
    /// Names of tensors.
    Tensors(ItemList),
    /// Names of nodes.
    Nodes(ItemList),
    /// Head of a slice.
    Slice(SliceHead),
    /// A request could not be answered.
    Failed {
        /// Number of the request.
        id: u64,
        /// Code.
        code: FailureCode,
        /// Reason, as a sentence.
        #[serde(default)]
        message: String,
    },
    /// Last message.
    Bye {
        /// Reason.
        reason: ByeReason,
        /// Last step.
        #[serde(default)]
        step: i64,
        /// The error, as a sentence.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
    /// A message of a newer training.
    #[serde(other)]
    Unknown,
}

/// A watchpoint as written in TOML: its keys and values.
pub type WatchpointTable = BTreeMap<String, serde_json::Value>;

/// Settings of a session, the first message of a server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Welcome {
    /// Id of the session.
    #[serde(default)]
    pub session: String,
    /// Watchpoints to judge by; `None` for those of the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watchpoints: Option<Vec<WatchpointTable>>,
    /// Minimum severity of hits that pause.
    #[serde(default)]
    pub pause_at: PauseLevel,
    /// Longest time that a gate waits for a decision, in seconds.
    pub gate_limit_secs: f64,
    /// Longest hold, in seconds.
    pub hold_limit_secs: f64,
    /// Time that a hold outlives its connection, in seconds.
    pub lost_grace_secs: f64,
    /// Interval of [`ToServer::Status`], in seconds.
    pub heartbeat_secs: f64,
}

/// Order to ask at each gate.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ArmOrder {
    /// Number of steps between two looks at tensors; 1 for every step.
    pub every: u64,
    /// Patterns of tensors to look at; empty for all.
    pub names: Vec<String>,
    /// Watchpoints to judge by, if they change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub watchpoints: Option<Vec<WatchpointTable>>,
}

/// Message of the server to a training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ToTraining {
    /// First message.
    Welcome(Box<Welcome>),
    /// Ask at each gate.
    Arm(ArmOrder),
    /// Return to the policy of the program.
    Disarm,
    /// Decision: go on.
    Go {
        /// The gate.
        #[serde(flatten)]
        at: Gate,
    },
    /// Decision: wait.
    Hold {
        /// The gate.
        #[serde(flatten)]
        at: Gate,
        /// Reason.
        reason: HoldReason,
    },
    /// End of a hold.
    Resume {
        /// Number of steps after which it asks again as its target.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        steps: Option<u64>,
        /// Node at which it asks again as its target.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        node: Option<String>,
    },
    /// End of the training at this or the next gate.
    Stop {
        /// Originator.
        by: StopOrigin,
        /// Hits that led to it.
        #[serde(default)]
        hits: Vec<SessionHit>,
    },
    /// Restart of the limit of the hold.
    Extend {
        /// Seconds from now.
        secs: f64,
    },
    /// Request for names of tensors.
    List {
        /// Number of the request.
        id: u64,
        /// Part of the names, or a pattern with `*`; empty for all.
        #[serde(default)]
        pattern: String,
        /// Number of first names to skip.
        #[serde(default)]
        offset: u64,
    },
    /// Request for names of nodes.
    Nodes {
        /// Number of the request.
        id: u64,
        /// Part of the names, or a pattern with `*`; empty for all.
        #[serde(default)]
        pattern: String,
        /// Number of first names to skip.
        #[serde(default)]
        offset: u64,
    },
    /// Request for elements.
    Read {
        /// Number of the request.
        id: u64,
        /// Name of the tensor.
        tensor: String,
        /// First and last index + 1 of each axis, outermost first; empty for the whole tensor.
        #[serde(default)]
        slice: Vec<(u64, u64)>,
    },
    /// New watchpoints to judge by.
    Watchpoints {
        /// All watchpoints; `None` for those of the program.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        list: Option<Vec<WatchpointTable>>,
        /// Minimum severity of hits that pause.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pause_at: Option<PauseLevel>,
    },
    /// Activations to keep until the gate, starting with the next forward pass.
    Keep {
        /// Patterns of their names; empty for none.
        #[serde(default)]
        patterns: Vec<String>,
    },
    /// New minimum severity of hits that pause.
    Level {
        /// Level.
        pause_at: PauseLevel,
    },
    /// A message of a newer server.
    #[serde(other)]
    Unknown,
}

/// Error of a message that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MessageError {
    /// The text frame is too long.
    #[error("a message of {len_bytes} bytes exceeds the limit of {MAX_TEXT_BYTES} bytes")]
    TooLong {
        /// Its length.
        len_bytes: usize,
    },
    /// A list in it has too many entries.
    #[error("a message has {count} {name}, and {most} are the limit")]
    TooMany {
        /// Name of the list.
        name: &'static str,
        /// Number of entries.
        count: usize,
        /// Limit.
        most: usize,
    },
    /// It is not JSON, or its fields are wrong.
    #[error("{0}")]
    Syntax(String),
}

impl MessageError {
    /// `true` if the connection has to be closed at once: a limit was exceeded.
    pub const fn is_fatal(&self) -> bool {
        !matches!(self, Self::Syntax(_))
    }
}

impl ToServer {
    /// Reads a text frame.
    pub fn read(text: &str) -> Result<Self, MessageError> {
        let message: Self = parse(text)?;
        match &message {
            Self::Gate(report) => check_count("hits", report.hits.len(), MAX_HITS)?,
            Self::Tensors(list) => check_count("tensors", list.items.len(), MAX_ITEMS)?,
            Self::Nodes(list) => check_count("nodes", list.items.len(), MAX_ITEMS)?,
            _ => {}
        }
        Ok(message)
    }

    /// The text frame.
    pub fn to_text(&self) -> String {
        write(self)
    }
}

impl ToTraining {
    /// Reads a text frame.
    pub fn read(text: &str) -> Result<Self, MessageError> {
        let message: Self = parse(text)?;
        if let Self::Stop { hits, .. } = &message {
            check_count("hits", hits.len(), MAX_HITS)?;
        }
        Ok(message)
    }

    /// The text frame.
    pub fn to_text(&self) -> String {
        write(self)
    }
}

fn parse<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, MessageError> {
    if text.len() > MAX_TEXT_BYTES {
        let len_bytes = text.len();
        return Err(MessageError::TooLong { len_bytes });
    }
    serde_json::from_str(text).map_err(|error| MessageError::Syntax(error.to_string()))
}

fn check_count(name: &'static str, count: usize, most: usize) -> Result<(), MessageError> {
    if count > most {
        return Err(MessageError::TooMany { name, count, most });
    }
    Ok(())
}

/// JSON of a message. Maps have text keys and floats have a form for each value, so that serialization cannot fail.
fn write<T: Serialize>(message: &T) -> String {
    serde_json::to_string(message).unwrap_or_default()
}
