//! Memory of devices: totals, and the life of each allocation with its purpose.

use std::collections::{BTreeMap, HashMap};

use trainscope_api::profile::{MemoryCategory, MemoryTotal, PhaseKind};
use trainscope_format::trace::{MemoryEvent, NONE, SliceClass};

use super::Model;
use super::work::{ancestors, innermost};

mod answer;
mod categories;
pub mod timeline;

pub use answer::{MemoryAsk, fragmentation, growth, least, memory};

/// Type of a device in events of memory that is the host.
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
    let mut devices: BTreeMap<DeviceKey, Vec<&MemoryEvent>> = BTreeMap::new();
    for event in &model.trace.memory {
        let key = (event.device_type, event.device);
        devices.entry(key).or_default().push(event);
    }
    devices
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
    }
}

/// False if the file has no addresses: nothing says which release ends which allocation.
fn has_addresses(events: &[&MemoryEvent]) -> bool {
    events.iter().any(|event| event.address != 0)
}

/// The first event of the most allocated bytes.
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
    let own = |id: u32| i64::from(id) == i64::from(key.1);
    let device = devices
        .iter()
        .find(|device| key.0 != HOST && own(device.id));
    device.map_or(0, |device| device.memory_len)
}

/// Events in order of time, those of one time in the order of the file.
fn in_time<'a>(events: &[&'a MemoryEvent]) -> Vec<&'a MemoryEvent> {
    let mut events = events.to_vec();
    events.sort_by_key(|event| event.time);
    events
}

/// Allocations and the releases of the same address behind them.
struct Pairs {
    /// For each event of an allocation the event that ends its life, for each release the allocation that it ends;
    /// [`NONE`] without.
    others: Vec<u32>,
    freed: u64,
    freed_unseen: u64,
    never_freed: u64,
}

impl Pairs {
    fn new(events: &[&MemoryEvent]) -> Self {
        let mut alive: HashMap<u64, u32, foldhash::fast::RandomState> = HashMap::default();
        let mut own = Self {
            others: vec![NONE; events.len()],
            freed: 0,
            freed_unseen: 0,
            never_freed: 0,
        };
        if !has_addresses(events) {
            return own;
        }
        for (index, event) in (0_u32..).zip(events) {
            let before = if event.bytes >= 0 {
                // Two allocations at one address: the release between them was not recorded.
                alive.insert(event.address, index)
            } else {
                let before = alive.remove(&event.address);
                own.freed += u64::from(before.is_some());
                own.freed_unseen += u64::from(before.is_none());
                own.others[index as usize] = before.unwrap_or(NONE);
                before
            };
            if let Some(before) = before {
                own.others[before as usize] = index;
            }
        }
        own.never_freed = alive.len() as u64;
        own
    }
}

/// Life of an allocation. Events are numbered in order of time.
#[derive(Clone, Copy, Debug)]
struct Life {
    /// The allocation; `None` if it was before the recording.
    begin: Option<u32>,
    /// The release, or the next allocation at the address; `None` if it was not released.
    end: Option<u32>,
    bytes: u64,
    category: MemoryCategory,
    /// The innermost slice that was open at the allocation on its thread.
    slice: Option<u32>,
}

/// Lives of the allocations of a device, in the order of their first event; none without addresses.
fn lives(model: &Model, events: &[&MemoryEvent]) -> Vec<Life> {
    if !has_addresses(events) {
        return Vec::new();
    }
    let pairs = Pairs::new(events);
    let context = Context::new(model);
    let mut lives = Vec::new();
    for (index, event) in (0_u32..).zip(events) {
        let other = Some(pairs.others[index as usize]).filter(|other| *other != NONE);
        if event.bytes < 0 && other.is_some() {
            continue;
        }
        let (begin, end) = if event.bytes < 0 {
            (None, Some(index))
        } else {
            (Some(index), other)
        };
        let at = |index: Option<u32>| index.map(|index| events[index as usize]);
        let slice = begin.and_then(|_| innermost(model, event.lane, event.time));
        lives.push(Life {
            begin,
            end,
            bytes: event.bytes.unsigned_abs(),
            category: context.category(at(begin), at(end), slice),
            slice,
        });
    }
    lives
}

/// Moments that tell the purpose of memory from its life.
struct Context<'m> {
    model: &'m Model,
    first_step: Option<i64>,
    /// Begins of updates of the weights, in order.
    updates: Vec<i64>,
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
        }
    }

    fn category(
        &self,
        begin: Option<&MemoryEvent>,
        end: Option<&MemoryEvent>,
        slice: Option<u32>,
    ) -> MemoryCategory {
        let Some(begin) = begin else {
            return MemoryCategory::Other;
        };
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
            PhaseKind::Forward if last_phase == PhaseKind::Backward => MemoryCategory::Activations,
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
