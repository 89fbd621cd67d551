//! Rows and parents of the slices of one lane.

use trainscope_format::trace::{NONE, Slices};

/// Highest row of a lane: deeper slices share it.
pub(super) const MAX_ROW: u16 = 1_023;

/// A slice that is open at the start of another.
struct OpenSlice {
    end: i64,
    row: u16,
    slice: u32,
}

/// Calls `set` with slice, row and parent for each of the sorted slices `in_lane` of one lane; returns the number of
/// slices that do not nest.
pub(super) fn nest_lane(
    slices: &Slices,
    in_lane: impl IntoIterator<Item = u32>,
    mut set: impl FnMut(u32, u16, u32),
) -> u64 {
    let mut unnested = 0;
    // Rows rise from its first to its last; ends fall, unless slices cross.
    let mut open: Vec<OpenSlice> = Vec::new();
    let mut crossed = false;
    for slice in in_lane {
        let begin = slices.begins[slice as usize];
        let end = slices.end(slice as usize);
        if crossed {
            open.retain(|other| other.end > begin);
            crossed = !open.is_sorted_by(|outer, inner| outer.end >= inner.end);
        } else {
            while open.pop_if(|other| other.end <= begin).is_some() {}
        }
        let row = open.last().map_or(0, |other| other.row.saturating_add(1));
        let holder = open.iter().rev().find(|other| other.end >= end);
        let parent = holder.map_or(NONE, |other| other.slice);
        // Unless ends fall, a slice before the last one may be shorter.
        let shorter = if crossed {
            open.iter().any(|other| other.end < end)
        } else {
            open.last().is_some_and(|other| other.end < end)
        };
        unnested += u64::from(shorter);
        set(slice, row.min(MAX_ROW), parent);
        // Bounds the time of lanes whose slices all cross.
        if open.len() <= usize::from(MAX_ROW) {
            open.push(OpenSlice { end, row, slice });
            crossed |= shorter;
        }
    }
    unnested
}
