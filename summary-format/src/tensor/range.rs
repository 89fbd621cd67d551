//! Counts of elements inside ranges.

#![expect(
    clippy::inline_always,
    reason = "code gets the instructions of the function that it is inlined into"
)]

use super::kernel::Real;

/// Elements inside a range, both ends included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RangeCount {
    /// Start of the range.
    pub start: f64,
    /// End of the range.
    pub end: f64,
    /// Elements inside. Elements are compared as `f64`; ±∞ are compared like other numbers, NaN is outside.
    pub count: u64,
}

impl RangeCount {
    /// `true` if both count in the same range.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        (self.start, self.end) == (other.start, other.end)
    }

    #[inline(always)]
    pub(super) fn add<T: Real>(&mut self, block: &[T]) {
        let (start, end) = (self.start, self.end);
        let is_inside = |x: f64| start <= x && x <= end;
        let inside = block.iter().map(|x| u64::from(is_inside(x.wide())));
        self.count += inside.sum::<u64>();
    }
}
