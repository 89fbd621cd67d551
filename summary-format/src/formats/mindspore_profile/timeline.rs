//! The Chrome file of a profile on a CPU: its executions are replaced by those of the text file.

use crate::trace::{NONE, SliceClass, Slices, Trace};

/// Name of the process of executions.
pub(super) const CPU_PROCESS: &str = "CPU OP";

/// Removes the executions, and returns their lane.
pub(super) fn take_executions(trace: &mut Trace) -> Option<u16> {
    let classes: Vec<_> = trace
        .categories
        .iter()
        .map(|category| category.class)
        .collect();
    let old = std::mem::take(&mut trace.slices);
    let mut numbers = vec![NONE; old.len()];
    let mut kept = Slices::default();
    let mut lane = None;
    for (index, number) in numbers.iter_mut().enumerate() {
        let Some(slice) = old.get(index) else {
            continue;
        };
        let category = usize::from(slice.category);
        if classes.get(category) == Some(&SliceClass::Operator) {
            lane.get_or_insert(slice.lane);
            if let Some(category) = trace.categories.get_mut(category) {
                category.count = category.count.saturating_sub(1);
                category.nanos = category.nanos.saturating_sub(slice.duration);
            }
            continue;
        }
        *number = u32::try_from(kept.len()).unwrap_or(NONE);
        kept.push(&slice);
    }
    trace.slices = kept;
    let keep = |slice: &mut u32| {
        *slice = numbers.get(*slice as usize).copied().unwrap_or(NONE);
        *slice != NONE
    };
    trace
        .flows
        .retain_mut(|flow| keep(&mut flow.from) && keep(&mut flow.to));
    trace.counts.unfinished.retain_mut(keep);
    let lane_of_executions = trace.lanes.get_mut(usize::from(lane?))?;
    if lane_of_executions.process_name.is_empty() {
        CPU_PROCESS.clone_into(&mut lane_of_executions.process_name);
    }
    lane
}
