//! The HTTP interface.

mod agreement;
mod compare;
mod contract;
mod profile;
mod program;
mod table;
