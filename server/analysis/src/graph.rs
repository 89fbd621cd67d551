//! Graphs as one looks at them: scopes that open, what repeats folded, only what is open laid out.
//!
//! Input is a [`Graph`](trainscope_format::Graph) as its file says, with all that may be odd about it: cycles, edges
//! that lead nowhere, names that repeat. Every function here takes such graphs, answers the same for the same input, and
//! costs no more than the graph is large, whatever is open.

mod coordinates;
pub mod diff;
mod layered;
pub mod names;
mod order;
mod pick;
mod ranks;
pub mod scene;
pub mod search;
pub mod source;
mod surroundings;
pub mod tree;
pub mod walk;

pub use pick::{first_open_within, opened};
pub use surroundings::around;
