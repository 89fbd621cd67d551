//! Memory snapshots of PyTorch: `torch.cuda.memory._dump_snapshot`, a pickle.
//!
//! `{"segments": [{"device", "total_size", "blocks": [{"size", "state", "frames"}]}], "device_traces": [[{"action",
//! "addr", "size", "time_us", "frames"}]]}`: the state of the allocator of each device at the end, and its last
//! actions, of which the recording keeps a limited number. Levels are counted back from the state.

use std::collections::{BTreeMap, HashSet};
use std::io::{self, Read};

mod parts;

use super::pickle::{self, Document, Value};
use crate::trace::{HeldMemory, Lane, MemoryEvent, MemoryFailure, Trace};
use parts::{Action, ENTRY, Entry, Parts};

/// Device type of CUDA GPUs in memory events, as numbered by Kineto.
const CUDA: i32 = 1;

/// A snapshot begins with one of these keys; with the last one if it is only a list of segments.
const FIRST_KEYS: [&str; 3] = ["segments", "device_traces", "total_size"];
/// Number of first bytes that contain one of these keys.
const FIRST_BYTES: usize = 128;

/// `true` if a file with these first bytes may be a snapshot: a pickle with one of the keys at its beginning.
pub fn sniff(head: &[u8]) -> bool {
    let begin = head.get(..FIRST_BYTES).unwrap_or(head);
    let has_key = |key: &&str| memchr::memmem::find(begin, key.as_bytes()).is_some();
    matches!(begin, [0x80, 2..=5, ..]) && FIRST_KEYS.iter().any(has_key)
}

/// Bytes and blocks of a device.
#[derive(Debug, Default)]
struct State {
    /// Active and reserved bytes: at the end while the file is read, then at the current action.
    active: i128,
    reserved: i128,
    /// Addresses that were allocated within the history and not released.
    alive: HashSet<u64, foldhash::fast::RandomState>,
    has_history: bool,
}

impl State {
    /// Adds the change by an action.
    fn add(&mut self, entry: &Entry, sign: i128) {
        let bytes = sign * i128::from(entry.bytes);
        match entry.action {
            Action::Alloc => self.active += bytes,
            Action::Free => self.active -= bytes,
            Action::Reserve => self.reserved += bytes,
            Action::Release => self.reserved -= bytes,
            Action::OutOfMemory | Action::Other => {}
        }
    }
}

/// Reads a file, which is opened twice, and returns notes about missing and omitted parts.
///
/// Allocated bytes are those that PyTorch calls active: memory that was released while a stream still used it counts
/// until it can be used again.
///
/// # Errors
///
/// A file that cannot be read, is not a pickle of protocol 2 to 5, or has no part of a snapshot.
pub fn read<R: Read>(open: impl FnMut() -> io::Result<R>) -> io::Result<(Trace, Vec<String>)> {
    let mut parts = Parts::default();
    let document = pickle::read(open, &mut parts)?;
    let devices = devices(&document);
    if parts.segments.is_empty() && devices.is_empty() {
        let reason = "it is a pickle, but has neither segments nor device_traces";
        return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
    }
    let notes = notes(&document, &parts);
    // Times count from 1970.
    parts.builder.trace.head.unix_offset_nanos = parts.is_timed.then_some(0);
    let counts = &mut parts.builder.trace.counts;
    counts.truncated = document.is_cut;
    counts.bytes = document.bytes;
    counts.over_limit += document.over_limit;
    let mut states = ends(&parts);
    // The tree is not needed any more, and actions leave memory as they become events.
    drop(document);
    count_back(&parts.entries, &devices, &mut states);
    let pieces = std::mem::take(&mut parts.entries);
    add_events(pieces, &devices, &mut states, &mut parts);
    add_held(&states, &mut parts);
    Ok((parts.builder.trace, notes))
}

/// Sentences about parts that a file lacks or that were left out.
fn notes(document: &Document, parts: &Parts) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(first) = document.first_call {
        let calls = document.calls;
        notes.push(format!(
            "the pickle asks for {calls} calls, the first at byte {first}: none was made, and their results are left out"
        ));
    }
    if parts.entries.is_empty() {
        notes.push(
            "it has the state of the allocator and no history: record it with torch.cuda.memory._record_memory_history()"
                .to_owned(),
        );
    } else if !parts.is_timed {
        notes.push("its actions have no times: they are a microsecond apart here".to_owned());
    }
    notes
}

/// Runs of actions with their device, in the order of the file.
fn devices(document: &Document) -> Vec<(u32, u32, i32)> {
    let root = document.root.as_ref().unwrap_or(&Value::None);
    let lists = document.get(root, "device_traces");
    let lists = lists
        .and_then(|lists| document.list(lists))
        .unwrap_or_default();
    let mut found = Vec::new();
    for (device, list) in (0_i32..).zip(lists) {
        let list = document.list(list).unwrap_or_default();
        let runs = parts::runs(document, list, ENTRY).into_iter();
        found.extend(runs.map(|(first, count)| (first, count, device)));
    }
    found.sort_unstable();
    found
}

/// The state of each device at the end.
fn ends(parts: &Parts) -> BTreeMap<i32, State> {
    let mut states: BTreeMap<i32, State> = BTreeMap::new();
    for segment in &parts.segments {
        let state = states.entry(segment.device).or_default();
        state.reserved += i128::from(segment.bytes);
        for block in parts.blocks_of(segment) {
            if block.is_active {
                state.active += i128::from(block.bytes);
            }
        }
    }
    states
}

/// Goes back from the state at the end to that before the first action of each device.
fn count_back(
    pieces: &[Vec<Entry>],
    devices: &[(u32, u32, i32)],
    states: &mut BTreeMap<i32, State>,
) {
    each(
        pieces.iter().flatten().copied(),
        devices,
        |device, entry| {
            let state = states.entry(device).or_default();
            state.has_history = true;
            state.add(&entry, -1);
        },
    );
    for state in states.values_mut() {
        // An incomplete history would lead to negative levels.
        state.active = state.active.max(0);
        state.reserved = state.reserved.max(state.active);
    }
}

/// Calls a function with each action that belongs to a device.
fn each(
    entries: impl Iterator<Item = Entry>,
    devices: &[(u32, u32, i32)],
    mut call: impl FnMut(i32, Entry),
) {
    let mut runs = devices.iter().peekable();
    for (number, entry) in (0_u32..).zip(entries) {
        while runs
            .next_if(|(first, count, _)| first.saturating_add(*count) <= number)
            .is_some()
        {}
        if let Some((first, _, device)) = runs.peek()
            && *first <= number
        {
            call(*device, entry);
        }
    }
}

fn add_events(
    pieces: Vec<Vec<Entry>>,
    devices: &[(u32, u32, i32)],
    states: &mut BTreeMap<i32, State>,
    parts: &mut Parts,
) {
    let is_event = |entry: &&Entry| matches!(entry.action, Action::Alloc | Action::Free);
    let events = pieces.iter().flatten().filter(is_event).count();
    parts.builder.trace.memory.reserve_exact(events);
    each(pieces.into_iter().flatten(), devices, |device, entry| {
        let state = states.entry(device).or_default();
        state.add(&entry, 1);
        match entry.action {
            Action::Alloc => drop(state.alive.insert(entry.address)),
            Action::Free => drop(state.alive.remove(&entry.address)),
            Action::OutOfMemory => {
                parts.builder.trace.memory_failures.push(MemoryFailure {
                    time: entry.time,
                    bytes: entry.bytes,
                    free: entry.address,
                    device_type: CUDA,
                    device,
                    stack: entry.stack,
                });
                return;
            }
            _ => return,
        }
        let Some(lane) = lane(parts, device) else {
            return;
        };
        let bytes = i64::try_from(entry.bytes).unwrap_or(i64::MAX);
        parts.builder.trace.memory.push(MemoryEvent {
            time: entry.time,
            bytes: if entry.action == Action::Alloc {
                bytes
            } else {
                -bytes
            },
            address: entry.address,
            allocated: level(state.active),
            reserved: level(state.reserved),
            device_type: CUDA,
            device,
            lane,
            stack: entry.stack,
        });
    });
}

/// Bytes of a level; 0 if it is negative.
fn level(bytes: i128) -> u64 {
    u64::try_from(bytes.max(0)).unwrap_or(u64::MAX)
}

/// The lane of a device.
fn lane(parts: &mut Parts, device: i32) -> Option<u16> {
    if let Some((_, lane)) = parts.lanes.iter().find(|entry| entry.0 == device) {
        return Some(*lane);
    }
    let lane = parts.builder.lane(Lane {
        process: "allocator".to_owned(),
        process_name: "Allocator".to_owned(),
        thread: device.to_string(),
        thread_name: format!("device {device}"),
        thread_sort: device.into(),
        ..Lane::default()
    })?;
    parts.lanes.push((device, lane));
    Some(lane)
}

/// Adds the blocks that are active at the end and whose allocation is not in the history. Without any history they are
/// the allocations of one moment.
fn add_held(states: &BTreeMap<i32, State>, parts: &mut Parts) {
    let segments = std::mem::take(&mut parts.segments);
    let mut sums: BTreeMap<i32, u64> = BTreeMap::new();
    for segment in &segments {
        let Some(state) = states.get(&segment.device) else {
            continue;
        };
        let mut address = segment.address;
        for block in parts.blocks_of(segment) {
            let block_address = block.address.unwrap_or(address);
            address = address.saturating_add(block.bytes);
            if !block.is_active || state.alive.contains(&block_address) {
                continue;
            }
            if state.has_history {
                parts.builder.trace.memory_held.push(HeldMemory {
                    bytes: block.bytes,
                    device_type: CUDA,
                    device: segment.device,
                    stack: block.stack,
                });
                continue;
            }
            let Some(lane) = lane(parts, segment.device) else {
                continue;
            };
            let sum = sums.entry(segment.device).or_default();
            *sum = sum.saturating_add(block.bytes);
            parts.builder.trace.memory.push(MemoryEvent {
                time: 0,
                bytes: i64::try_from(block.bytes).unwrap_or(i64::MAX),
                address: block_address,
                allocated: *sum,
                reserved: level(state.reserved),
                device_type: CUDA,
                device: segment.device,
                lane,
                stack: block.stack,
            });
        }
    }
}
