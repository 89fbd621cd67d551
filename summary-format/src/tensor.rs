//! Tensors in memory: element types, statistics, histograms, changes, content hashes.
//!
//! All functions take little-endian bytes as in files and in memory, of any alignment; an incomplete element at the
//! end is ignored. NaN and infinities are counted and excluded from every sum.

mod bytes;
mod change;
mod channels;
mod dispatch;
mod dtype;
mod exponents;
mod finite;
mod hash;
mod histogram;
mod kernel;
mod range;
mod select;
mod stats;

pub use change::{ChangeStats, Tolerance};
pub use channels::ChannelStats;
pub use dispatch::Registers;
pub use dtype::DType;
pub use exponents::Exponents;
pub use finite::are_finite;
pub use hash::ContentHasher;
pub use histogram::Histogram;
pub use range::RangeCount;
pub use select::{Select, SelectResult};
pub use stats::{FiniteStats, TensorStats};

/// The product of sizes; `None` above `u64::MAX`.
pub(crate) fn len_of(shape: &[u64]) -> Option<u64> {
    if shape.contains(&0) {
        return Some(0);
    }
    shape
        .iter()
        .try_fold(1_u64, |len, &size| len.checked_mul(size))
}
