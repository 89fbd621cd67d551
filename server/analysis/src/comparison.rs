//! Comparison of two runs: size of a difference, the noise of runs that differ from the start, order of tensors within
//! a step, pairs of steps, and the sentence.

pub mod align;
pub mod course;
pub mod measure;
pub mod noise;
pub mod order;
pub mod sentence;
pub mod stretches;
pub mod strip;

pub use course::{Course, Stair};
pub use measure::{ElementDifference, exceeds};
