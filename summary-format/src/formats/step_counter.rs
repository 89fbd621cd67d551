//! Step counters of 32 bits, which continue below zero after their largest number.

use crate::record::RecordBatch;

/// Distance from either end of the 32 bits within which a step counts as the last or the first. The value is chosen:
/// programs that count samples record a step every few millions.
const NEAR: i64 = 1 << 27;

/// Follows the steps of one file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct StepCounter {
    /// Step of the last record.
    last: i64,
    has_overflowed: bool,
}

/// Numbers of records in a batch.
#[derive(Clone, Copy)]
pub(super) struct Ends {
    scalars: usize,
    records: usize,
    unread: usize,
    session_starts: usize,
}

impl Ends {
    pub(super) fn of(batch: &RecordBatch) -> Self {
        Self {
            scalars: batch.scalars.len(),
            records: batch.records.len(),
            unread: batch.unread.len(),
            session_starts: batch.session_starts.len(),
        }
    }

    /// Removes all records after these numbers.
    pub(super) fn truncate(self, batch: &mut RecordBatch) {
        batch.scalars.truncate(self.scalars);
        batch.records.truncate(self.records);
        batch.unread.truncate(self.unread);
        batch.session_starts.truncate(self.session_starts);
    }
}

impl StepCounter {
    /// Replaces the steps of all records after `from` by the true ones.
    #[inline]
    pub(super) fn correct(&mut self, batch: &mut RecordBatch, from: Ends) {
        let before = self.has_overflowed;
        for step in &mut batch.scalars.steps[from.scalars..] {
            self.follow(step);
        }
        for record in &mut batch.records[from.records..] {
            self.follow(&mut record.step);
        }
        for record in &mut batch.unread[from.unread..] {
            self.follow(&mut record.step);
        }
        for start in &mut batch.session_starts[from.session_starts..] {
            self.follow(&mut start.step);
        }
        batch.has_step_overflow |= self.has_overflowed && !before;
    }

    #[inline]
    fn follow(&mut self, step: &mut i64) {
        if *step < 0 {
            let first = i64::from(i32::MIN);
            let last = i64::from(i32::MAX);
            let is_first = (first..first + NEAR).contains(step);
            self.has_overflowed |= is_first && (last - NEAR..=last).contains(&self.last);
            if self.has_overflowed && *step >= first {
                *step += 1 << 32;
            }
        }
        self.last = *step;
    }

    /// State for a checkpoint.
    pub(super) fn to_bytes(self) -> [u8; 9] {
        let mut bytes = [u8::from(self.has_overflowed); 9];
        bytes[..8].copy_from_slice(&self.last.to_le_bytes());
        bytes
    }

    /// Counter of a checkpoint.
    pub(super) fn from_bytes([last @ .., has_overflowed]: [u8; 9]) -> Self {
        Self {
            last: i64::from_le_bytes(last),
            has_overflowed: has_overflowed != 0,
        }
    }
}
