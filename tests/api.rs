//! The HTTP interface.

mod contract;
mod profile;
mod table;
