//! Slices of a lane that touch a stretch of time, clipped to it.

use trainscope_format::trace::NONE;

use super::Model;
use super::levels::Levels;
use super::ranges::Span;

/// A slice that touches the area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Clip {
    /// Its number.
    pub(super) slice: u32,
    /// Begin and end within the area.
    pub(super) span: Span,
    /// Time that it takes from the self time of its parent.
    pub(super) taken: i64,
}

/// Calls `visit` with each slice of a lane that touches the time between two times of the file's clock, in order.
pub(super) fn clips(
    model: &Model,
    levels: &Levels,
    lane: u32,
    (from, to): Span,
    mut visit: impl FnMut(Clip),
) {
    let Some(range) = model
        .lanes
        .get(lane as usize)
        .map(|lane| lane.slices.clone())
    else {
        return;
    };
    let slices = &model.trace.slices;
    let begins = &slices.begins[range.start as usize..range.end as usize];
    let place = |time: i64| {
        let place = begins.partition_point(|begin| *begin < time);
        range.start + u32::try_from(place).unwrap_or(NONE)
    };
    // The last slice of each row, and the time up to which its children cover it: siblings may overlap.
    let mut covered = vec![(NONE, 0_i64); levels.depth(lane) as usize];
    let before = if from < to {
        levels.open_at(model, lane, from)
    } else {
        Vec::new()
    };
    let first = place(from);
    for slice in before.into_iter().chain(first..place(to).max(first)) {
        let (begin, end) = model.span(slice);
        let span = (begin.max(from), end.min(to));
        let row = usize::from(model.rows[slice as usize]);
        if let Some(slot) = covered.get_mut(row) {
            *slot = (slice, span.0);
        }
        let parent = model.parents[slice as usize];
        let mut taken = 0;
        if parent != NONE {
            let row = usize::from(model.rows[parent as usize]);
            // Slices of the deepest possible row hide each other; there each child counts.
            taken = span.1.saturating_sub(span.0);
            if let Some((holder, until)) = covered.get_mut(row)
                && *holder == parent
            {
                taken = span.1.saturating_sub(span.0.max(*until)).max(0);
                *until = (*until).max(span.1);
            }
        }
        visit(Clip { slice, span, taken });
    }
}
