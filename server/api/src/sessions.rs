//! `/api/sessions` and `/api/session/…`: trainings that are connected, and commands for them.

use serde::{Deserialize, Serialize};
use trainscope_format::session::{
    ByeReason, Capability, Framework, HoldReason, PauseLevel, SessionHit, SessionItem,
};

/// Maximum number of sessions in one answer.
pub const MAX_SESSIONS: usize = 1_000;
/// Maximum number of ranks of one session in an answer.
pub const MAX_RANKS: usize = 1_024;

/// All sessions: those that are connected, then those that have ended, each the newest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SessionList {
    /// The sessions.
    pub sessions: Vec<Session>,
    /// `true` if there are more.
    pub cut: bool,
}

/// State of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum SessionState {
    /// Ranks are connecting.
    #[default]
    Joining,
    /// All ranks compute.
    Running,
    /// Ranks are being held.
    Pausing,
    /// All connected ranks wait at one gate.
    Waiting,
    /// Ranks compute up to a target.
    Stepping,
    /// Ranks were asked to end.
    Stopping,
    /// All ranks have ended.
    Finished,
    /// No rank has sent anything for a while.
    Lost,
}

impl SessionState {
    /// `true` if nothing can be asked of the training.
    pub const fn is_over(self) -> bool {
        matches!(self, Self::Finished | Self::Lost)
    }
}

/// A training that is or was connected.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Session {
    /// Its id, for commands.
    pub id: String,
    /// Name of the run that it records; absent if its folder is not served.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// Name to show: the run, or the program and its host.
    pub name: String,
    /// State.
    pub state: SessionState,
    /// Grows with each change of the state; a command names the turn that it was given in view of.
    pub turn: u64,
    /// Newest step of any rank.
    pub step: i64,
    /// Number of steps of the whole training, if the program has set it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_steps: Option<i64>,
    /// Place of the hold: `before_update`, `after_step` or `node:` and a name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// Reason of the hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<HoldReason>,
    /// Steps of a stepping session: done and wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<[u64; 2]>,
    /// End of a finished session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<ByeReason>,
    /// Hits that came with the newest gate at which something was hit, at most 64.
    pub hits: Vec<SessionHit>,
    /// Number of all these hits.
    pub hits_total: u64,
    /// Time since the state began, in seconds.
    pub since_secs: f64,
    /// Time until the hold ends by itself, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goes_on_secs: Option<f64>,
    /// Number of ranks of the training.
    pub world_size: u32,
    /// Ranks that have connected, ascending.
    pub ranks: Vec<SessionRank>,
    /// Framework of the training.
    pub framework: Framework,
    /// Least severity of hits that pause.
    pub level: PauseLevel,
    /// `true` if ranks ask at each gate.
    pub is_armed: bool,
    /// `true` if hits pause no longer, because ranks were not at the same gates.
    pub is_pausing_off: bool,
    /// Mode in which its ranks are held.
    #[serde(default)]
    pub hold: HoldMode,
    /// Places at which it can wait.
    pub places: Vec<String>,
    /// Capabilities of the training.
    pub can: Vec<Capability>,
    /// Patterns of activations to keep.
    pub keep: Vec<String>,
    /// Events worth knowing, the newest last.
    pub notes: Vec<SessionNote>,
    /// The newest command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_command: Option<LastCommand>,
}

impl Session {
    /// `true` if its ranks wait at different steps, or some of them compute.
    pub fn waits_apart(&self) -> bool {
        let is_at =
            |rank: &SessionRank| rank.state == SessionRankState::Held && rank.step == self.step;
        self.hold == HoldMode::Each && !self.ranks.iter().all(is_at)
    }
}

/// Mode in which ranks are held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum HoldMode {
    /// All at one gate, as in data-parallel training.
    #[default]
    Together,
    /// Each at its own next gate, as in pipelines and with actors: one that computes may wait for a held one in a
    /// collective operation.
    Each,
}

/// State of a rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum SessionRankState {
    /// It computes.
    #[default]
    Running,
    /// It waits for a decision about a gate.
    Asking,
    /// It waits at a gate.
    Held,
    /// Its connection is lost.
    Lost,
    /// It has ended.
    Ended,
}

/// A rank of a session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SessionRank {
    /// Rank.
    pub rank: u32,
    /// State.
    pub state: SessionRankState,
    /// Newest step.
    pub step: i64,
    /// Place at which it asks or waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// Name of its host.
    pub host: String,
    /// Process id.
    pub pid: u32,
    /// Time since its newest message, in seconds.
    pub seen_secs: f64,
    /// Gates that it missed.
    pub unaligned: u64,
    /// Error that ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Kind of a note.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum SessionNoteKind {
    /// A rank missed a gate, and the others went on.
    Unaligned,
    /// Three gates in a row were missed: hits pause no longer.
    PausingOff,
    /// A hold has reached its limit, and all went on.
    HoldOver,
    /// A rank was lost while the others waited.
    RankLost,
    /// A signal has interrupted a hold.
    Interrupted,
    /// Not all ranks had connected in time.
    NotAllJoined,
    /// A rule over all ranks was hit.
    RuleHit,
}

/// An event worth knowing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SessionNote {
    /// Kind.
    pub kind: SessionNoteKind,
    /// Time since it, in seconds.
    pub since_secs: f64,
    /// Rank, if it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
    /// Step, if it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<i64>,
}

/// A command that was carried out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LastCommand {
    /// Its name.
    pub command: String,
    /// Time of the server, in seconds since 1970.
    pub at_secs: f64,
}

/// A command for a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "snake_case", deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum SessionCommand {
    /// Holds all ranks at the next gate.
    Pause {
        /// `true` to pause the connected ranks even if others are not connected: those may wait for them in vain.
        #[serde(default)]
        partial: bool,
    },
    /// Lets all ranks go on.
    Continue,
    /// Holds after this number of steps.
    Step {
        /// 1 to 1,000,000.
        n: u64,
    },
    /// Holds at a node.
    ToNode {
        /// Name of the node.
        node: String,
    },
    /// Ends the training.
    Stop,
    /// Restarts the time limit of the hold.
    Extend {
        /// Seconds from now, at most 8 h.
        secs: u64,
    },
    /// Sets which hits pause.
    Pausing {
        /// Least severity.
        level: PauseLevel,
    },
    /// Sets the patterns of activations to keep.
    Keep {
        /// Patterns with `*`.
        patterns: Vec<String>,
    },
    /// Sets how ranks are held; refused while some wait.
    Hold {
        /// Mode.
        mode: HoldMode,
    },
}

impl SessionCommand {
    /// Its name, as in JSON.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Pause { .. } => "pause",
            Self::Continue => "continue",
            Self::Step { .. } => "step",
            Self::ToNode { .. } => "to_node",
            Self::Stop => "stop",
            Self::Extend { .. } => "extend",
            Self::Pausing { .. } => "pausing",
            Self::Keep { .. } => "keep",
            Self::Hold { .. } => "hold",
        }
    }
}

/// The body of `POST /api/session/command`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CommandRequest {
    /// Id of the session.
    pub session: String,
    /// Turn of the session that the command was given in view of.
    pub turn: u64,
    /// The command.
    pub command: SessionCommand,
}

/// The body of an answer 409 to a command.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CommandConflict {
    /// Always `conflict`.
    pub code: crate::error::ErrorCode,
    /// Message for people: the command that came first.
    pub message: String,
    /// The session as it is now.
    pub session: Session,
}

/// The query of `GET /api/session/tensors` and `/api/session/nodes`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams), into_params(parameter_in = Query))]
pub struct SessionItemsQuery {
    /// Id of the session.
    pub session: String,
    /// Rank, 0 if left out.
    #[serde(default)]
    pub rank: u32,
    /// Part of the names, or a pattern with `*`; all if left out.
    #[serde(default)]
    pub pattern: String,
    /// Number of first names to skip.
    #[serde(default)]
    pub offset: u64,
}

/// Tensors or nodes that can be looked at now.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SessionItems {
    /// Items in the order of the training, at most 256.
    pub items: Vec<SessionItem>,
    /// `true` if there are more.
    pub cut: bool,
}

/// The body of `POST /api/session/attach`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AttachRequest {
    /// Name of the run.
    pub run: String,
    /// Least severity of hits that pause; errors if left out.
    #[serde(default = "errors")]
    pub level: PauseLevel,
}

const fn errors() -> PauseLevel {
    PauseLevel::Error
}

/// Answer to a request to attach.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AttachAnswer {
    /// Path of the attach file.
    pub file: String,
    /// Seconds until it is taken away.
    pub valid_secs: u64,
}
