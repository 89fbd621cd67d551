//! Calls of the host that launch device work or wait for it, and the slices around a slice.

use trainscope_format::trace::{NONE, SliceClass};

use super::{Model, Role};

/// Maximum number of parents that are visited: deeper slices do not come from programs.
const MAX_DEPTH: usize = 4_096;

/// Role of a slice.
pub fn role(model: &Model, slice: u32) -> Role {
    model.roles.get(slice as usize).copied().unwrap_or_default()
}

/// `true` for a runtime call that returns only when the device has done something: it synchronises, or copies
/// synchronously.
pub fn is_waiting(model: &Model, slice: u32) -> bool {
    role(model, slice) == Role::Runtime && waits(model.name(slice))
}

/// `true` for the name of a call that waits.
fn waits(name: &str) -> bool {
    let copies = name.contains("Memcpy") && !name.contains("Async");
    copies || name.contains("Synchronize")
}

/// The call that launched a device slice.
pub fn launch(model: &Model, slice: u32) -> Option<u32> {
    let call = model.launches.get(slice as usize).copied();
    call.filter(|call| *call != NONE)
}

/// The innermost slice of a lane that is open at a time.
pub fn innermost(model: &Model, lane: u16, time: i64) -> Option<u32> {
    let range = &model.lanes.get(usize::from(lane))?.slices;
    let begins = &model.trace.slices.begins;
    let begins = begins.get(range.start as usize..range.end as usize)?;
    let last = begins
        .partition_point(|begin| *begin <= time)
        .checked_sub(1)?;
    let last = range.start.checked_add(u32::try_from(last).ok()?)?;
    ancestors(model, last).find(|slice| model.trace.slices.end(*slice as usize) > time)
}

/// A slice, its parent, and so on.
pub fn ancestors(model: &Model, slice: u32) -> impl Iterator<Item = u32> {
    let parent = |slice: &u32| {
        let parent = model.parents.get(*slice as usize).copied();
        parent.filter(|parent| *parent != NONE)
    };
    std::iter::successors(Some(slice), parent).take(MAX_DEPTH)
}

/// The innermost operator around a slice, or the slice itself.
pub fn operator(model: &Model, slice: u32) -> Option<u32> {
    ancestors(model, slice).find(|slice| model.class(*slice) == SliceClass::Operator)
}

#[cfg(test)]
mod tests {
    use super::waits;

    #[test]
    fn calls_that_wait_are_told_by_their_names() {
        for name in [
            "cudaStreamSynchronize",
            "hipDeviceSynchronize",
            "cudaMemcpy",
        ] {
            assert!(waits(name), "{name}");
        }
        for name in ["cudaMemcpyAsync", "cudaLaunchKernel", "cudaMemsetAsync"] {
            assert!(!waits(name), "{name}");
        }
    }
}
