//! The HTTP interface.

mod compare;
mod contract;
mod profile;
mod table;
