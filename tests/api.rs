//! The HTTP interface.

mod contract;
