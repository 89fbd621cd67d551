//! Live sessions: a training is judged while it runs, and may wait at gates until a person lets it go on.
//!
//! Without a connection and with [`AtHit::Record`] there is no thread, no socket and no judgement; the writing thread
//! looks for an attach file once a second.

mod attach;
mod connection;
pub(crate) mod core;
pub(crate) mod hits;
mod judge;
pub(crate) mod launch;
mod link;
pub(crate) mod machine;
pub(crate) mod pace;
pub(crate) mod probe;
pub(crate) mod session;
pub(crate) mod settings;
pub(crate) mod state;
pub(crate) mod terminal;
#[cfg(feature = "live-tls")]
mod tls;

pub use settings::{AtHit, Flow, Live, PauseSeverity};
pub use trainscope_analysis::watchpoint::{ConfigError, Watchpoints};
pub use trainscope_format::session::Place;
