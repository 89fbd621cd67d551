//! The commands, apart from `start`.

pub(crate) mod against;
pub(crate) mod check;
mod check_input;
mod check_live;
pub(crate) mod diff;
mod export;
mod parquet;
mod profiles;
mod query;
mod report;
mod run;
mod shards;
mod table;
