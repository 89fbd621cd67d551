//! Allocations of memory, and the calls that made them.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::{NONE, TextId};

/// Maximum number of frames of all stacks together: a few hundred megabytes of memory.
const MAX_FRAMES: usize = 1 << 22;

/// An allocation or a release of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryEvent {
    /// Time.
    pub time: i64,
    /// Bytes: positive if allocated, negative if released.
    pub bytes: i64,
    /// Address.
    pub address: u64,
    /// Bytes that are allocated after it, as the file counts them.
    pub allocated: u64,
    /// Bytes that are reserved after it, as the file counts them.
    pub reserved: u64,
    /// Type of the device: 0 for the host.
    pub device_type: i32,
    /// Index of the device; -1 for the host.
    pub device: i32,
    /// Lane, as an index into [`Trace::lanes`](super::Trace::lanes).
    pub lane: u16,
    /// Call stack, as an index into [`Stacks`]; [`NONE`] if unknown.
    pub stack: u32,
}

/// Memory that was allocated before the recording and not released in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldMemory {
    /// Bytes.
    pub bytes: u64,
    /// Type of the device.
    pub device_type: i32,
    /// Index of the device.
    pub device: i32,
    /// Call stack, as an index into [`Stacks`]; [`NONE`] if unknown.
    pub stack: u32,
}

/// An allocation that failed for want of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryFailure {
    /// Time.
    pub time: i64,
    /// Requested bytes.
    pub bytes: u64,
    /// Bytes of the device that were not reserved.
    pub free: u64,
    /// Type of the device.
    pub device_type: i32,
    /// Index of the device.
    pub device: i32,
    /// Call stack, as an index into [`Stacks`]; [`NONE`] if unknown.
    pub stack: u32,
}

/// Call stacks as a tree of frames: a stack is the number of its innermost frame.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Stacks {
    /// The frame that called each frame, which is before it; [`NONE`] for outermost ones.
    callers: Vec<u32>,
    names: Vec<TextId>,
    #[serde(skip)]
    numbers: HashMap<(u32, TextId), u32, foldhash::fast::RandomState>,
}

impl PartialEq for Stacks {
    fn eq(&self, other: &Self) -> bool {
        self.callers == other.callers && self.names == other.names
    }
}

impl Stacks {
    /// Number of the frame of this name that a frame calls, added if missing; `None` beyond 2²² frames.
    pub fn child(&mut self, caller: u32, name: TextId) -> Option<u32> {
        if let Some(number) = self.numbers.get(&(caller, name)) {
            return Some(*number);
        }
        let number = u32::try_from(self.names.len()).ok()?;
        if self.names.len() >= MAX_FRAMES {
            return None;
        }
        self.callers.push(caller);
        self.names.push(name);
        self.numbers.insert((caller, name), number);
        Some(number)
    }

    /// Frames of a stack from the innermost to the outermost; none for [`NONE`].
    pub fn frames(&self, stack: u32) -> impl Iterator<Item = TextId> {
        let at = |number: u32| (self.names.get(number as usize)).map(|name| (number, *name));
        let above = move |(number, _): &(u32, TextId)| at(*self.callers.get(*number as usize)?);
        std::iter::successors(at(stack), above).map(|(_, name)| name)
    }

    /// Number of frames.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// `true` without frames.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// `true` if each frame comes after its caller, and its name is below this number of names.
    pub(super) fn is_sound(&self, names: usize) -> bool {
        let is_before = |(caller, number): (&u32, u32)| *caller == NONE || *caller < number;
        self.callers.len() == self.names.len()
            && self.callers.iter().zip(0..).all(is_before)
            && self.names.iter().all(|name| (name.0 as usize) < names)
    }
}
