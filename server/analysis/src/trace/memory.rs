//! Memory of devices: totals, and the life of each allocation with its purpose.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use trainscope_api::profile::{MemoryCategory, MemoryTotal, PhaseKind};
use trainscope_format::trace::{HeldMemory, MemoryEvent, MemoryFailure, NONE, SliceClass};

use super::Model;
use super::work::{ancestors, innermost};

mod answer;
mod callers;
mod categories;
pub mod timeline;

pub use answer::{MemoryAsk, fragmentation, growth, least, memory};

/// Device type of the host in events of memory.
const HOST: i32 = 0;

/// Type and index of a device.
pub type DeviceKey = (i32, i32);

/// Name of a device in queries and answers.
pub fn device_name(key: DeviceKey) -> String {
    format!("{}:{}", key.0, key.1)
}

/// Totals of each device that has events of memory.
pub fn totals(model: &Model) -> Vec<MemoryTotal> {
    let devices = devices(model);
    let totals = devices
        .iter()
        .map(|(key, events)| total(model, *key, events));
    totals.collect()
}

/// Events of each device in the order of the file.
fn devices(model: &Model) -> BTreeMap<DeviceKey, Vec<&MemoryEvent>> {
    let key = |event: &MemoryEvent| (event.device_type, event.device);
    let mut counts: BTreeMap<DeviceKey, usize> = BTreeMap::new();
    for event in &model.trace.memory {
        *counts.entry(key(event)).or_default() += 1;
    }
    // There are millions: lists that grow would take twice their memory.
    let empty = counts.into_iter();
    let empty = empty.map(|(key, count)| (key, Vec::with_capacity(count)));
    let mut devices: BTreeMap<DeviceKey, Vec<&MemoryEvent>> = empty.collect();
    for event in &model.trace.memory {
        devices.entry(key(event)).or_default().push(event);
    }
    devices
}

/// Memory of a device that was allocated before the recording and not released in it.
fn held(model: &Model, key: DeviceKey) -> impl Iterator<Item = &HeldMemory> {
    let all = model.trace.memory_held.iter();
    all.filter(move |held| (held.device_type, held.device) == key)
}

/// Allocations on a device that failed for want of memory.
fn failures(model: &Model, key: DeviceKey) -> impl Iterator<Item = &MemoryFailure> {
    let all = model.trace.memory_failures.iter();
    all.filter(move |failure| (failure.device_type, failure.device) == key)
}

fn total(model: &Model, key: DeviceKey, events: &[&MemoryEvent]) -> MemoryTotal {
    let frees = events.iter().filter(|event| event.bytes < 0).count() as u64;
    let peak = peak(events);
    let at = peak.map_or(model.origin(), |event| event.time);
    let counts = Pairs::new(&in_time(events));
    let is_counted = model.trace.head.memory_since_begin.contains(&key);
    MemoryTotal {
        device: device_name(key),
        events: events.len() as u64,
        allocations: events.len() as u64 - frees,
        frees,
        pairs: counts.freed,
        freed_unseen: counts.freed_unseen,
        never_freed: counts.never_freed,
        peak_len_bytes: peak.map_or(0, |event| event.allocated),
        peak_at_nanos: at.saturating_sub(model.origin()),
        peak_step: model.step_at(at).map(|step| step.number),
        peak_reserved_bytes: events.iter().map(|e| e.reserved).max().unwrap_or(0),
        device_len_bytes: device_len(model, key),
        since_recording: is_counted || key.0 == HOST && model.purposes_of(key).is_none(),
        without_addresses: !has_addresses(events),
        failures: failures(model, key).count() as u64,
        by_stacks: !model.trace.stacks.is_empty(),
    }
}

/// False if the file has no addresses: releases do not name their allocations.
fn has_addresses(events: &[&MemoryEvent]) -> bool {
    events.iter().any(|event| event.address != 0)
}

/// The first event with the maximum of allocated bytes.
fn peak<'a>(events: &[&'a MemoryEvent]) -> Option<&'a MemoryEvent> {
    events.iter().copied().reduce(|peak, event| {
        if event.allocated > peak.allocated {
            event
        } else {
            peak
        }
    })
}

/// Size of a device; 0 if unknown.
fn device_len(model: &Model, key: DeviceKey) -> u64 {
    let devices = &model.trace.head.devices;
    let is_index = |id: u32| i64::from(id) == i64::from(key.1);
    let device = devices
        .iter()
        .find(|device| key.0 != HOST && is_index(device.id));
    device.map_or(0, |device| device.memory_len)
}

/// Allocated and reserved bytes of a device when an allocation failed.
pub fn levels_before(model: &Model, failure: &MemoryFailure) -> (u64, u64) {
    let key = (failure.device_type, failure.device);
    let events = model.trace.memory.iter();
    let before = events
        .filter(|event| (event.device_type, event.device) == key && event.time <= failure.time);
    let last = before.max_by_key(|event| event.time);
    last.map_or((0, 0), |event| (event.allocated, event.reserved))
}

/// Events in order of time, those of one time in the order of the file.
fn in_time<'a, 'e>(events: &'e [&'a MemoryEvent]) -> Cow<'e, [&'a MemoryEvent]> {
    if events.is_sorted_by_key(|event| event.time) {
        return Cow::Borrowed(events);
    }
    let mut events = events.to_vec();
    events.sort_by_key(|event| event.time);
    Cow::Owned(events)
}

/// Allocations and the releases of the same address behind them.
struct Pairs {
    /// For each event of an allocation the event that ends its life, for each release the allocation that it ends;
    /// [`NONE`] if missing.
    others: Vec<u32>,
    freed: u64,
    freed_unseen: u64,
    never_freed: u64,
}

impl Pairs {
    fn new(events: &[&MemoryEvent]) -> Self {
        let mut alive: HashMap<u64, u32, foldhash::fast::RandomState> = HashMap::default();
        let mut pairs = Self {
            others: vec![NONE; events.len()],
            freed: 0,
            freed_unseen: 0,
            never_freed: 0,
        };
        if !has_addresses(events) {
            return pairs;
        }
        for (index, event) in (0_u32..).zip(events) {
            let before = if event.bytes >= 0 {
                // Two allocations at one address: the release between them was not recorded.
                alive.insert(event.address, index)
            } else {
                let before = alive.remove(&event.address);
                pairs.freed += u64::from(before.is_some());
                pairs.freed_unseen += u64::from(before.is_none());
                pairs.others[index as usize] = before.unwrap_or(NONE);
                before
            };
            if let Some(before) = before {
                pairs.others[before as usize] = index;
            }
        }
        pairs.never_freed = alive.len() as u64;
        pairs
    }
}

/// Life of an allocation. Events are numbered in order of time.
#[derive(Clone, Copy, Debug)]
struct Life {
    /// The allocation; [`NONE`] if it was before the recording.
    begin: u32,
    /// The release, or the next allocation at the address; [`NONE`] if it was not released.
    end: u32,
    bytes: u64,
    category: MemoryCategory,
    /// The innermost slice that was open at the allocation on its thread; [`NONE`] if missing.
    slice: u32,
    /// Call stack of the allocation; [`NONE`] if unknown.
    stack: u32,
}

impl Life {
    /// `true` if it is alive after a number of events.
    fn is_alive(&self, after: usize) -> bool {
        let is_before = |event: u32| event != NONE && (event as usize) < after;
        (self.begin == NONE || is_before(self.begin)) && !is_before(self.end)
    }
}

/// Lives of the allocations of a device, in the order of their first event, behind those from before the recording;
/// empty without addresses.
fn lives(model: &Model, key: DeviceKey, events: &[&MemoryEvent]) -> Vec<Life> {
    if !has_addresses(events) {
        return Vec::new();
    }
    let pairs = Pairs::new(events);
    let mut context = Context::new(model);
    let before = held(model, key).map(|held| Life {
        begin: NONE,
        end: NONE,
        bytes: held.bytes,
        category: context.purpose(held.stack).unwrap_or(MemoryCategory::Kept),
        slice: NONE,
        stack: held.stack,
    });
    let mut lives: Vec<Life> = before.collect();
    // A release has the life of its allocation.
    let freed = usize::try_from(pairs.freed).unwrap_or(0);
    lives.reserve_exact(events.len().saturating_sub(freed));
    for (index, event) in (0_u32..).zip(events) {
        let other = pairs.others[index as usize];
        if event.bytes < 0 && other != NONE {
            continue;
        }
        let (begin, end, stack) = if event.bytes < 0 {
            (NONE, index, NONE)
        } else {
            (index, other, event.stack)
        };
        let at = |index: u32| events.get(index as usize).copied();
        let slice = at(begin).and_then(|_| innermost(model, event.lane, event.time));
        lives.push(Life {
            begin,
            end,
            bytes: event.bytes.unsigned_abs(),
            category: context.category(at(begin), at(end), slice),
            slice: slice.unwrap_or(NONE),
            stack,
        });
    }
    lives
}

/// Moments that tell the purpose of memory from its life.
struct Context<'m> {
    model: &'m Model,
    first_step: Option<i64>,
    /// Starts of updates of the weights, in order.
    updates: Vec<i64>,
    /// Purposes of call stacks.
    purposes: HashMap<u32, Option<MemoryCategory>, foldhash::fast::RandomState>,
}

impl<'m> Context<'m> {
    fn new(model: &'m Model) -> Self {
        let phase = |slice: u32| {
            model
                .phases
                .get(slice as usize)
                .copied()
                .unwrap_or_default()
        };
        let begins_update = |slice: &u32| {
            let parent = model.parents.get(*slice as usize).copied().unwrap_or(NONE);
            let is_host = super::work::launch(model, *slice).is_none();
            is_host && phase(*slice) == PhaseKind::Update && phase(parent) != PhaseKind::Update
        };
        let updates = model.slices().filter(begins_update);
        let mut updates: Vec<i64> = updates.map(|slice| model.span(slice).0).collect();
        updates.sort_unstable();
        Self {
            model,
            first_step: model.steps.list.first().map(|step| step.begin),
            updates,
            purposes: HashMap::default(),
        }
    }

    /// Purpose of an allocation by its call stack.
    fn purpose(&mut self, stack: u32) -> Option<MemoryCategory> {
        let model = self.model;
        let entry = self.purposes.entry(stack);
        *entry.or_insert_with(|| callers::purpose(model, stack))
    }

    fn category(
        &mut self,
        begin: Option<&MemoryEvent>,
        end: Option<&MemoryEvent>,
        slice: Option<u32>,
    ) -> MemoryCategory {
        let Some(begin) = begin else {
            return MemoryCategory::Other;
        };
        if let Some(purpose) = self.purpose(begin.stack) {
            return purpose;
        }
        let phase = |slice: Option<u32>| {
            let phase = slice.and_then(|slice| self.model.phases.get(slice as usize));
            phase.copied().unwrap_or_default()
        };
        let first_phase = phase(slice);
        let Some(end) = end else {
            let is_early = self.first_step.is_some_and(|first| begin.time < first);
            return if is_early {
                MemoryCategory::Kept
            } else if first_phase == PhaseKind::Backward && self.is_updated(begin.time, i64::MAX) {
                MemoryCategory::Gradients
            } else {
                MemoryCategory::Other
            };
        };
        if slice.is_some_and(|slice| self.is_within_operator(slice, end.time)) {
            return MemoryCategory::Workspace;
        }
        let last_phase = phase(innermost(self.model, end.lane, end.time));
        match first_phase {
            PhaseKind::Forward | PhaseKind::Recomputation if last_phase == PhaseKind::Backward => {
                MemoryCategory::Activations
            }
            PhaseKind::Backward if self.is_updated(begin.time, end.time) => {
                MemoryCategory::Gradients
            }
            _ => MemoryCategory::Other,
        }
    }

    /// `true` if an update of the weights begins between two times.
    fn is_updated(&self, begin: i64, end: i64) -> bool {
        let next = self.updates.partition_point(|update| *update < begin);
        self.updates.get(next).is_some_and(|update| *update < end)
    }

    /// `true` if the outermost operator around a slice ends after a time.
    fn is_within_operator(&self, slice: u32, time: i64) -> bool {
        let operators = ancestors(self.model, slice)
            .filter(|slice| self.model.class(*slice) == SliceClass::Operator);
        let outermost = operators.last();
        outermost.is_some_and(|operator| time <= self.model.span(operator).1)
    }
}
