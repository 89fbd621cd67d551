//! Graphs for display: a tree of scopes with repetitions folded, with a layout of the open scopes.
//!
//! The input is a [`Graph`](trainscope_format::Graph) with all oddities of its file: cycles, edges without an end,
//! repeated names. Every function here accepts such graphs, is deterministic, and takes time bounded by the size of
//! the graph.

mod coordinates;
pub mod diff;
mod layered;
pub mod names;
mod open;
mod order;
mod pick;
mod places;
mod ports;
mod ranks;
pub mod scene;
pub mod search;
pub mod source;
mod surroundings;
pub mod tree;
pub mod walk;

pub use open::opened;
pub use pick::first_open_within;
pub use surroundings::around;
