//! Builder of a trace: unique lanes and categories, totals of categories, limits, damage.

use std::collections::HashMap;

use crate::trace::{
    Category, Lane, Slice, SliceClass, TextId, Trace, TraceCounts, TraceDamage, TraceFormat,
};

/// Maximum number of damaged places that are kept with their offset.
const MAX_DAMAGES: usize = 1_000;
/// Length in bytes at which names are cut.
const MAX_NAME: usize = 64 << 10;
/// Maximum total length of names, in bytes.
const MAX_NAMES: usize = 256 << 20;
/// Maximum number of slices: 3 GB of memory. A slice of these formats may take only two bytes of the file.
const MAX_SLICES: usize = 1 << 26;

impl TraceCounts {
    /// Counts a place that could not be read.
    pub(crate) fn damage(&mut self, offset: usize, len: usize) {
        self.damaged += 1;
        if self.damages.len() < MAX_DAMAGES {
            self.damages.push(TraceDamage {
                offset: offset as u64,
                len: len as u64,
            });
        }
    }
}

/// A trace under construction.
#[derive(Debug, Default)]
pub(crate) struct TraceBuilder {
    pub(crate) trace: Trace,
    lanes: HashMap<(String, String), u16>,
    name_bytes: usize,
}

impl TraceBuilder {
    pub(crate) fn new(format: TraceFormat) -> Self {
        let mut builder = Self::default();
        builder.trace.head.format = format;
        builder
    }

    /// Continues a trace.
    pub(crate) fn of(trace: Trace) -> Self {
        let keys = trace.lanes.iter().zip(0..);
        let lanes = keys.map(|(lane, index)| ((lane.process.clone(), lane.thread.clone()), index));
        let mut lanes: HashMap<_, _> = lanes.collect();
        lanes.shrink_to_fit();
        Self {
            lanes,
            name_bytes: trace.texts.iter().map(str::len).sum(),
            trace,
        }
    }

    /// Index of the lane of this process and thread, added if missing; `None` beyond 65,535 lanes.
    pub(crate) fn lane(&mut self, lane: Lane) -> Option<u16> {
        let key = (lane.process.clone(), lane.thread.clone());
        if let Some(index) = self.lanes.get(&key) {
            return Some(*index);
        }
        let index = u16::try_from(self.trace.lanes.len()).ok()?;
        if index == u16::MAX {
            return None;
        }
        self.trace.lanes.push(lane);
        self.lanes.insert(key, index);
        Some(index)
    }

    /// Index of a category, added if missing.
    pub(crate) fn category(&mut self, name: &str, class: SliceClass) -> u16 {
        let categories = &mut self.trace.categories;
        let same = |old: &Category| old.name == name && old.class == class;
        let index = categories.iter().position(same).unwrap_or_else(|| {
            categories.push(Category {
                name: name.to_owned(),
                class,
                ..Category::default()
            });
            categories.len() - 1
        });
        // Readers that use this have a handful.
        u16::try_from(index).unwrap_or(u16::MAX)
    }

    /// Number of a name, which is cut at 64 KiB; `None` when all names have taken 256 MiB.
    pub(crate) fn name(&mut self, name: &str) -> Option<TextId> {
        let name = &name[..name.floor_char_boundary(MAX_NAME)];
        if let Some(id) = self.trace.texts.find(name) {
            return Some(id);
        }
        self.name_bytes += name.len();
        (self.name_bytes <= MAX_NAMES).then(|| self.trace.texts.intern(name))
    }

    /// Appends a slice and adds it to its category. Slices beyond 2²⁶ are counted only.
    pub(crate) fn push(&mut self, slice: &Slice) {
        if self.trace.slices.len() >= MAX_SLICES {
            self.trace.counts.over_limit += 1;
            return;
        }
        if let Some(category) = self.trace.categories.get_mut(usize::from(slice.category)) {
            category.count += 1;
            category.nanos = category.nanos.saturating_add(slice.duration);
        }
        self.trace.slices.push(slice);
    }
}

/// Lines with their offsets; the last one is incomplete if no line break follows it.
pub(crate) fn lines(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8], bool)> {
    let mut offset = 0;
    std::iter::from_fn(move || {
        let rest = bytes.get(offset..).filter(|rest| !rest.is_empty())?;
        let (line, is_whole) = match memchr::memchr(b'\n', rest) {
            Some(end) => (&rest[..end], true),
            None => (rest, false),
        };
        let at = offset;
        offset += line.len() + 1;
        Some((at, line.strip_suffix(b"\r").unwrap_or(line), is_whole))
    })
}
