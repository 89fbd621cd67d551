//! Judgement of runs by watchpoints: all files of a run are shown to an evaluator, once for `check`, or as they grow
//! for the server.
//!
//! `check`, `diff`, `export` and the server report the same findings for the same files, because all judge here.

pub(crate) mod baseline;
pub(crate) mod events;
mod fault;
mod hit_list;
pub(crate) mod judge;
pub(crate) mod known;
mod observer;
pub(crate) mod ongoing;
mod profiles;
mod scheduler;
mod service;
pub(crate) mod shard;
mod shared;
mod state;
mod window;

pub use hit_list::Listing;
pub use judge::Judgement;
pub use scheduler::NewJudgement;
pub use service::Judgements;
pub use state::JudgedRun;
