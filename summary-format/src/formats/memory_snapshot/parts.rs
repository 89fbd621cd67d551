//! Parts of a snapshot that leave the tree as soon as they are read: frames, actions, blocks and segments.

use std::collections::HashMap;

use super::super::pickle::{Document, Shape, Value, unsigned};
use super::super::trace_builder::TraceBuilder;
use crate::trace::{NONE, TextId, TraceFormat};

/// Maximum number of frames of a stack.
const MAX_DEPTH: usize = 1_024;
/// Maximum number of different actions that are counted by name.
const MAX_ACTIONS: usize = 64;
/// Number of actions in one allocation; the memory is released piece by piece.
const PIECE: usize = 1 << 16;
/// Nanoseconds of a microsecond.
const MICRO: i64 = 1_000;

pub(super) const FRAME: u8 = 0;
pub(super) const ENTRY: u8 = 1;
pub(super) const BLOCK: u8 = 2;
pub(super) const SEGMENT: u8 = 3;

/// An action of the allocator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Alloc,
    /// The memory can be used again: no stream uses it any more.
    Free,
    /// Memory was reserved.
    Reserve,
    /// Reserved memory was given back.
    Release,
    OutOfMemory,
    /// No change of levels: requests of releases, the snapshot itself.
    Other,
}

impl Action {
    fn of_name(name: &str) -> Option<Self> {
        Some(match name {
            "alloc" => Self::Alloc,
            "free" | "free_completed" => Self::Free,
            "segment_alloc" | "segment_map" => Self::Reserve,
            "segment_free" | "segment_unmap" => Self::Release,
            "oom" => Self::OutOfMemory,
            "free_requested" | "snapshot" => Self::Other,
            _ => return None,
        })
    }
}

/// One action.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// Nanoseconds since 1970; the number of the action if the file has no times.
    pub(super) time: i64,
    pub(super) bytes: u64,
    /// Address; the free bytes of the device when memory ran out.
    pub(super) address: u64,
    pub(super) stack: u32,
    pub(super) action: Action,
}

/// A piece of a segment at the end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    /// Address, if the file has it.
    pub(super) address: Option<u64>,
    pub(super) bytes: u64,
    pub(super) stack: u32,
    pub(super) is_active: bool,
}

/// A reserved stretch of memory at the end.
#[derive(Clone, Debug)]
pub(super) struct Segment {
    pub(super) device: i32,
    pub(super) address: u64,
    pub(super) bytes: u64,
    /// Number of the first block, and count.
    pub(super) blocks: Vec<(u32, u32)>,
}

/// The parts that were taken.
#[derive(Debug)]
pub(super) struct Parts {
    pub(super) builder: TraceBuilder,
    frames: Vec<TextId>,
    pub(super) entries: Vec<Vec<Entry>>,
    pub(super) blocks: Vec<Block>,
    pub(super) segments: Vec<Segment>,
    /// Stacks by the list of their frames, which several parts may share.
    shared: HashMap<u32, u32, foldhash::fast::RandomState>,
    /// Keys of the texts of the document, by their numbers.
    keys: Vec<Option<Key>>,
    /// Lanes of the devices that have one.
    pub(super) lanes: Vec<(i32, u16)>,
    pub(super) is_timed: bool,
}

impl Default for Parts {
    fn default() -> Self {
        Self {
            builder: TraceBuilder::new(TraceFormat::Snapshot),
            frames: Vec::new(),
            entries: Vec::new(),
            blocks: Vec::new(),
            segments: Vec::new(),
            shared: HashMap::default(),
            keys: Vec::new(),
            lanes: Vec::new(),
            is_timed: true,
        }
    }
}

impl Shape for Parts {
    fn take(&mut self, dict: &[Value], document: &Document) -> Option<(u8, u32)> {
        let fields = self.fields(dict, document);
        if let [Some(file), Some(line), Some(name)] =
            [Key::File, Key::Line, Key::Name].map(|key| fields[key as usize])
        {
            let (file, name) = (document.text(file)?, document.text(name)?);
            return Some((FRAME, self.frame(file, unsigned(line)?, name)?));
        }
        let size = fields[Key::Size as usize].or(fields[Key::TotalSize as usize]);
        let size = unsigned(size?)?;
        if let Some(action) = fields[Key::Action as usize] {
            let name = document.text(action)?;
            return Some((ENTRY, self.entry(name, size, &fields, document)?));
        }
        if let Some(state) = fields[Key::State as usize] {
            let block = Block {
                address: fields[Key::Address as usize].and_then(unsigned),
                bytes: size,
                stack: self.stack_of_block(&fields, document),
                is_active: document.text(state)?.starts_with("active"),
            };
            self.blocks.push(block);
            return Some((BLOCK, last(self.blocks.len())?));
        }
        let blocks = document.list(fields[Key::Blocks as usize]?)?;
        let segment = Segment {
            device: fields[Key::Device as usize].and_then(device).unwrap_or(0),
            address: fields[Key::Address as usize]
                .and_then(unsigned)
                .unwrap_or(0),
            bytes: size,
            blocks: runs(document, blocks, BLOCK),
        };
        self.segments.push(segment);
        Some((SEGMENT, last(self.segments.len())?))
    }
}

/// Keys of dicts that are read.
#[derive(Clone, Copy, Debug)]
enum Key {
    File,
    Line,
    Name,
    Action,
    Size,
    TotalSize,
    State,
    Addr,
    Address,
    DeviceFree,
    Time,
    Frames,
    History,
    Blocks,
    Device,
}

/// Texts of the keys.
const KEYS: [(Key, &str); 15] = [
    (Key::File, "filename"),
    (Key::Line, "line"),
    (Key::Name, "name"),
    (Key::Action, "action"),
    (Key::Size, "size"),
    (Key::TotalSize, "total_size"),
    (Key::State, "state"),
    (Key::Addr, "addr"),
    (Key::Address, "address"),
    (Key::DeviceFree, "device_free"),
    (Key::Time, "time_us"),
    (Key::Frames, "frames"),
    (Key::History, "history"),
    (Key::Blocks, "blocks"),
    (Key::Device, "device"),
];

/// Values of a dict by key.
type Fields<'d> = [Option<&'d Value>; KEYS.len()];

impl Parts {
    fn fields<'d>(&mut self, dict: &'d [Value], document: &Document) -> Fields<'d> {
        let mut fields = [None; KEYS.len()];
        for pair in dict.chunks_exact(2) {
            if let [Value::Text(id), value] = pair
                && let Some(key) = self.key(*id, document)
            {
                fields[key as usize] = Some(value);
            }
        }
        fields
    }

    /// Key of a text. Each text is compared once: millions of dicts have the same few.
    fn key(&mut self, id: u32, document: &Document) -> Option<Key> {
        let of_text = |id: usize| {
            let text = document.texts.get(TextId(u32::try_from(id).ok()?));
            let mut keys = KEYS.iter();
            keys.find(|(_, name)| *name == text).map(|(key, _)| *key)
        };
        let id = id as usize;
        self.keys.extend((self.keys.len()..=id).map(of_text));
        self.keys.get(id).copied().flatten()
    }

    fn frame(&mut self, file: &str, line: u64, name: &str) -> Option<u32> {
        // Frames of C++ without symbols have no file.
        let text = match (file, line) {
            ("" | "??", _) => name.to_owned(),
            (file, 0) => format!("{file}: {name}"),
            (file, line) => format!("{file}({line}): {name}"),
        };
        let id = self.builder.name(&text)?;
        self.frames.push(id);
        last(self.frames.len())
    }

    fn entry(
        &mut self,
        name: &str,
        bytes: u64,
        fields: &Fields<'_>,
        document: &Document,
    ) -> Option<u32> {
        let action = Action::of_name(name);
        self.count(name, action.is_some());
        let number = self.builder.trace.counts.events;
        self.builder.trace.counts.events += 1;
        let time = fields[Key::Time as usize].and_then(unsigned);
        self.is_timed &= time.is_some();
        let time = time.unwrap_or(number);
        let address = fields[Key::Addr as usize].or(fields[Key::DeviceFree as usize]);
        let entry = Entry {
            time: i64::try_from(time)
                .unwrap_or(i64::MAX)
                .saturating_mul(MICRO),
            bytes,
            address: address.and_then(unsigned).unwrap_or(0),
            stack: fields[Key::Frames as usize].map_or(NONE, |frames| self.stack(frames, document)),
            action: action.unwrap_or(Action::Other),
        };
        if self.entries.last().is_none_or(|piece| piece.len() == PIECE) {
            self.entries.push(Vec::with_capacity(PIECE));
        }
        self.entries.last_mut()?.push(entry);
        u32::try_from(number).ok()
    }

    fn count(&mut self, name: &str, is_known: bool) {
        let counts = &mut self.builder.trace.counts;
        let actions = if is_known {
            &mut counts.by_phase
        } else {
            &mut counts.unread
        };
        if let Some(count) = actions.get_mut(name) {
            *count += 1;
        } else if actions.len() < MAX_ACTIONS {
            actions.insert(name.to_owned(), 1);
        } else {
            counts.over_limit += 1;
        }
    }

    pub(super) fn blocks_of(&self, segment: &Segment) -> Vec<Block> {
        let runs = segment.blocks.iter();
        let numbers = runs.flat_map(|(first, count)| *first..first.saturating_add(*count));
        let blocks = numbers.filter_map(|number| self.blocks.get(number as usize));
        blocks.copied().collect()
    }

    /// Stack of a block, or of the last allocation in its history, as PyTorch wrote it before 2.1.
    fn stack_of_block(&mut self, fields: &Fields<'_>, document: &Document) -> u32 {
        if let Some(frames) = fields[Key::Frames as usize] {
            return self.stack(frames, document);
        }
        let history = fields[Key::History as usize].and_then(|history| document.list(history));
        let latest = history.and_then(|entries| entries.first());
        let frames = latest.and_then(|entry| document.get(entry, "frames"));
        frames.map_or(NONE, |frames| self.stack(frames, document))
    }

    /// Number of a stack, whose frames begin with the innermost.
    fn stack(&mut self, frames: &Value, document: &Document) -> u32 {
        if let Value::Shared(list) = frames
            && let Some(stack) = self.shared.get(list)
        {
            return *stack;
        }
        let mut stack = NONE;
        let list = document.list(frames).unwrap_or_default();
        let numbers = runs(document, list, FRAME).into_iter();
        let numbers = numbers.flat_map(|(first, count)| first..first.saturating_add(count));
        let numbers: Vec<u32> = numbers.take(MAX_DEPTH).collect();
        for number in numbers.into_iter().rev() {
            if let Some(name) = self.frames.get(number as usize) {
                let trace = &mut self.builder.trace;
                let Some(below) = trace.stacks.child(stack, *name) else {
                    trace.counts.over_limit += 1;
                    break;
                };
                stack = below;
            }
        }
        if let Value::Shared(list) = frames {
            self.shared.insert(*list, stack);
        }
        stack
    }
}

/// Index of the last part of a list of this length.
fn last(len: usize) -> Option<u32> {
    u32::try_from(len.checked_sub(1)?).ok()
}

/// Index of a device.
pub(super) fn device(value: &Value) -> Option<i32> {
    unsigned(value)?.try_into().ok()
}

/// Runs of parts of a kind in a list: the number of the first and their count.
pub(super) fn runs(document: &Document, list: &[Value], kind: u8) -> Vec<(u32, u32)> {
    let all = list.iter().map(|value| document.resolve(value));
    let runs = all.filter_map(|value| match value {
        Value::Taken(taken, first, count) if *taken == kind => Some((*first, *count)),
        _ => None,
    });
    runs.collect()
}
