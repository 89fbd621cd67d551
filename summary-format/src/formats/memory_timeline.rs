//! `memory_timeline.json` of `PyTorch`: bytes by category over time.
//!
//! `[[t, t, …], [[b, b, b, b, b, b, b, b, b], …]]`: times in microseconds since 1970, then nine numbers a time.

use super::decimal::scaled;
use crate::trace::TraceCounts;

/// Digits from microseconds to nanoseconds.
const MICROS_TO_NANOS: usize = 3;

/// Columns in the order of the file.
pub const CATEGORIES: [&str; 9] = [
    "unused",
    "parameters",
    "optimizer",
    "inputs",
    "temporary",
    "activations",
    "gradients",
    "autograd",
    "unknown",
];

/// Memory of one device over time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryTimeline {
    /// Times in nanoseconds since 1970, in the order of the file.
    pub times: Vec<i64>,
    /// Bytes of each of [`CATEGORIES`] since each time.
    pub bytes: Vec<[u64; 9]>,
    /// Points, damage, and whether the file ends too early.
    pub counts: TraceCounts,
}

impl MemoryTimeline {
    /// `true` if a file with these first bytes may be one: a list of a list of numbers.
    pub fn sniff(head: &[u8]) -> bool {
        let mut bytes = head.iter().filter(|byte| !byte.is_ascii_whitespace());
        bytes.next() == Some(&b'[')
            && bytes.next() == Some(&b'[')
            && bytes
                .next()
                .is_some_and(|byte| byte.is_ascii_digit() || *byte == b']')
    }

    /// Index of the first point with the greatest sum.
    pub fn peak(&self) -> Option<usize> {
        let sums = self.bytes.iter().map(total);
        let all = sums.enumerate();
        all.reduce(|most, one| if one.1 > most.1 { one } else { most })
            .map(|(index, _)| index)
    }

    /// Reads the unpacked bytes of a file. Points with a wrong time or row are damage and left out; of a truncated
    /// file, the complete points are read.
    pub fn read(bytes: &[u8]) -> Self {
        let mut timeline = Self::default();
        timeline.counts.bytes = bytes.len() as u64;
        let mut scanner = Scanner { bytes, at: 0 };
        let is_whole = scanner.fill(&mut timeline);
        timeline.counts.truncated = is_whole.is_none();
        timeline.counts.events = timeline.times.len() as u64;
        timeline
    }
}

/// Sum of all categories.
pub fn total(bytes: &[u64; 9]) -> u64 {
    bytes.iter().fold(0, |sum, one| sum.saturating_add(*one))
}

struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Scanner<'a> {
    /// Next byte that is neither whitespace nor a comma.
    fn peek(&mut self) -> Option<u8> {
        let rest = self.bytes.get(self.at..)?;
        let is_between = |byte: &u8| byte.is_ascii_whitespace() || *byte == b',';
        self.at += rest.iter().position(|byte| !is_between(byte))?;
        self.bytes.get(self.at).copied()
    }

    /// Bytes up to the next one of `ends`, which is not taken.
    fn until(&mut self, ends: [u8; 2]) -> Option<&'a [u8]> {
        let rest = self.bytes.get(self.at..)?;
        let len = memchr::memchr2(ends[0], ends[1], rest)?;
        self.at += len;
        rest.get(..len)
    }

    /// Fills the columns; `None` if the file ends before its last bracket.
    fn fill(&mut self, timeline: &mut MemoryTimeline) -> Option<()> {
        for _ in 0..2 {
            if self.peek()? != b'[' {
                let rest = self.bytes.len() - self.at;
                timeline.counts.damage(self.at, rest);
                return Some(());
            }
            self.at += 1;
        }
        let mut times = Vec::new();
        while self.peek()? != b']' {
            let from = self.at;
            let text = self.until([b',', b']'])?.trim_ascii_end();
            let time = scaled(text, MICROS_TO_NANOS);
            if time.is_none() {
                timeline.counts.damage(from, text.len());
            }
            times.push(time);
        }
        self.at += 1;
        if self.peek()? == b'[' {
            self.at += 1;
        }
        let mut times = times.into_iter();
        loop {
            let from = self.at;
            match self.peek()? {
                b']' => break,
                b'[' => {}
                _ => {
                    let len = self.until([b'[', b']'])?.len();
                    timeline.counts.damage(from, len);
                    continue;
                }
            }
            let from = self.at;
            self.at += 1;
            let inner = self.until([b']', b']'])?;
            self.at += 1;
            // A row beyond the times is damage, one of a wrong time is counted already.
            match (times.next(), row(inner)) {
                (Some(Some(time)), Some(row)) => {
                    timeline.times.push(time);
                    timeline.bytes.push(row);
                }
                (Some(None), Some(_)) => {}
                _ => timeline.counts.damage(from, self.at - from),
            }
        }
        // Times without a row.
        for _ in times {
            timeline.counts.damage(self.at, 0);
        }
        self.at += 1;
        (self.peek()? == b']').then_some(())
    }
}

/// Nine numbers.
fn row(text: &[u8]) -> Option<[u64; 9]> {
    let mut row = [0; 9];
    let mut parts = text.split(|byte| *byte == b',');
    for value in &mut row {
        *value = scaled(parts.next()?.trim_ascii(), 0)?.try_into().ok()?;
    }
    parts.next().is_none().then_some(row)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_costs_its_point() {
        let good = "[1,2,3,4,5,6,7,8,9]";
        let text = format!("[[1, x, 3, 4, 5], [{good}, {good}, [1], 7, {good}]]");
        let read = MemoryTimeline::read(text.as_bytes());
        assert_eq!(read.times, [1_000, 4_000]);
        assert_eq!(read.bytes[0], [1, 2, 3, 4, 5, 6, 7, 8, 9]);
        let offsets: Vec<_> = read.counts.damages.iter().map(|one| one.offset).collect();
        let row = text.find("[1],").unwrap() as u64;
        let number = text.find(" 7,").unwrap() as u64 - 1;
        assert_eq!(offsets, [5, row, number, text.len() as u64 - 2]);
        assert!(!read.counts.truncated);
    }

    #[test]
    fn other_files_are_no_timelines() {
        assert!(MemoryTimeline::sniff(b" [ [17952"));
        assert!(MemoryTimeline::sniff(b"[[],[]]"));
        assert!(!MemoryTimeline::sniff(b"[{\"ph\": 1}]"));
        assert!(!MemoryTimeline::sniff(b""));
        let read = MemoryTimeline::read(b"{\"a\": 1}");
        assert_eq!((read.times.len(), read.counts.damaged), (0, 1));
        assert!(!MemoryTimeline::read(b"[[],[]]").counts.truncated);
    }
}
