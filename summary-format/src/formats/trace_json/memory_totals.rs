//! Totals of memory that a file does not have: PyTorch 1.9 only writes the bytes of each allocation.

use std::collections::BTreeMap;

use crate::trace::{MemoryEvent, Trace};

/// Counts the allocated bytes of devices without totals from the start of the recording. Memory that is released
/// without an allocation was there at the start: no total is below 0.
pub(super) fn count(trace: &mut Trace) {
    let mut devices: BTreeMap<(i32, i32), Vec<&mut MemoryEvent>> = BTreeMap::new();
    for event in &mut trace.memory {
        let key = (event.device_type, event.device);
        devices.entry(key).or_default().push(event);
    }
    devices.retain(|_, events| {
        events
            .iter()
            .all(|event| event.allocated == 0 && event.reserved == 0)
    });
    for (key, mut events) in devices {
        // Events of one time stay in the order of the file.
        events.sort_by_key(|event| event.time);
        let mut sum = 0_i128;
        let lowest = events.iter().fold(0, |lowest, event| {
            sum += i128::from(event.bytes);
            lowest.min(sum)
        });
        let mut allocated = -lowest;
        for event in events {
            allocated += i128::from(event.bytes);
            event.allocated = u64::try_from(allocated).unwrap_or(u64::MAX);
        }
        trace.head.memory_since_begin.push(key);
    }
}
