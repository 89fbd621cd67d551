//! `SQLite`: SQL over profiles in memory, and profiles that others wrote as databases.

pub mod nsight;
mod profile;
pub mod query;
mod table;

pub use profile::ProfilePart;
