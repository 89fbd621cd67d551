//! Selection of the chunks of one writer that are live, or superseded, in a range of steps.

use super::{Points, Range, ReadError, Store, Want};
use crate::index::attempts::Attempt;
use crate::index::part::Piece;
use crate::index::store::PartId;

/// Live points, or points superseded by a restart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Live,
    Superseded,
}

/// The selected part of a chunk.
pub(super) enum Selection {
    /// The whole chunk, not read.
    Whole(Piece),
    /// Some of its points, and the id of their part.
    Points(PartId, Points),
}

impl Selection {
    pub(super) fn count(&self) -> u64 {
        match self {
            Self::Whole(piece) => piece.meta.summary.count,
            Self::Points(_, points) => points.len() as u64,
        }
    }

    /// Lowest and highest step.
    pub(super) fn steps(&self) -> (i64, i64) {
        match self {
            Self::Whole(piece) => (piece.meta.min_step, piece.meta.max_step),
            Self::Points(_, points) => {
                let steps = || points.steps.iter().copied();
                (
                    steps().min().unwrap_or(i64::MAX),
                    steps().max().unwrap_or(i64::MIN),
                )
            }
        }
    }

    fn is_sorted(&self) -> bool {
        match self {
            Self::Whole(piece) => piece.meta.ascends,
            Self::Points(_, points) => points.steps.is_sorted(),
        }
    }
}

/// Chunks of one side. Live ones are sorted by step, unless steps are counted per epoch: then (the second value is
/// true) they are in the order of recording, like superseded ones.
pub(super) fn select(
    attempts: &[Attempt],
    range: &Range,
    side: Side,
    want: Want,
    store: &Store,
) -> Result<(Vec<Selection>, bool), ReadError> {
    let mut selected = Vec::new();
    let mut is_per_epoch = false;
    for attempt in attempts {
        let pieces = attempt.part.pieces();
        let rewinds = attempt.rewinds(&pieces, store)?;
        is_per_epoch |= rewinds.as_ref().is_some_and(|rewinds| rewinds.is_per_epoch);
        let mut begin = 0_usize;
        for piece in pieces {
            let len = usize::try_from(piece.meta.summary.count).unwrap_or(usize::MAX);
            let end = begin.saturating_add(len);
            let marks = rewinds
                .as_ref()
                .and_then(|found| found.live.get(begin..end));
            begin = end;
            selected.extend(part_of(piece, attempt, marks, range, side, want, store)?);
        }
    }
    if side == Side::Live && !is_per_epoch {
        selected = in_order_of_steps(selected, want, store)?;
    }
    Ok((selected, is_per_epoch))
}

/// The selected points of a chunk, if any. `marks` has the points that are live within their file.
fn part_of(
    piece: Piece,
    attempt: &Attempt,
    marks: Option<&[bool]>,
    range: &Range,
    side: Side,
    want: Want,
    store: &Store,
) -> Result<Option<Selection>, ReadError> {
    let (first, last) = (piece.meta.min_step, piece.meta.max_step);
    if first > range.to || last < range.from {
        return Ok(None);
    }
    let superseded = &attempt.superseded;
    let is_covered = superseded
        .iter()
        .any(|steps| steps.contains(&first) && steps.contains(&last));
    let is_touched = superseded
        .iter()
        .any(|steps| *steps.start() <= last && *steps.end() >= first);
    let is_marked = marks.is_some_and(|marks| marks.contains(&false));
    // Decided without reading: the whole chunk is on one side, or it has to be read.
    let whole_side = match (is_covered, is_touched || is_marked) {
        (true, _) => Some(Side::Superseded),
        (_, false) => Some(Side::Live),
        _ => None,
    };
    if whole_side.is_some_and(|whole| whole != side) {
        return Ok(None);
    }
    if whole_side.is_some() && first >= range.from && last <= range.to {
        return Ok(Some(Selection::Whole(piece)));
    }
    let mut points = piece.points(want, store)?;
    let is_wanted = |(at, step): (usize, &i64)| {
        let is_live = marks.is_none_or(|marks| marks.get(at) != Some(&false))
            && !superseded.iter().any(|steps| steps.contains(step));
        (range.from..=range.to).contains(step) && is_live == (side == Side::Live)
    };
    let keep: Vec<bool> = points.steps.iter().enumerate().map(is_wanted).collect();
    if keep.contains(&false) {
        points.retain(&keep);
    }
    Ok((points.len() > 0).then_some(Selection::Points(piece.part, points)))
}

/// Sorts chunks by step; of equal steps, the older attempt first. Overlapping chunks are read.
fn in_order_of_steps(
    selected: Vec<Selection>,
    want: Want,
    store: &Store,
) -> Result<Vec<Selection>, ReadError> {
    let is_ordered = selected.iter().all(Selection::is_sorted)
        && selected.is_sorted_by(|a, b| a.steps().1 <= b.steps().0);
    if is_ordered {
        return Ok(selected);
    }
    // With its position in the order of recording, which decides between equal steps.
    let mut selected: Vec<(usize, Selection)> = selected.into_iter().enumerate().collect();
    selected.sort_by_key(|(_, chunk)| chunk.steps().0);
    let mut ordered = Vec::with_capacity(selected.len());
    let mut group: Vec<(usize, Selection)> = Vec::new();
    let mut end = i64::MIN;
    for (number, chunk) in selected {
        let (first, last) = chunk.steps();
        let is_newest = group.iter().all(|(other, _)| *other < number);
        if first > end || (first == end && is_newest) {
            merge(std::mem::take(&mut group), &mut ordered, want, store)?;
        }
        end = end.max(last);
        group.push((number, chunk));
    }
    merge(group, &mut ordered, want, store)?;
    Ok(ordered)
}

/// Appends the points of overlapping chunks, as runs of one part each.
fn merge(
    mut group: Vec<(usize, Selection)>,
    ordered: &mut Vec<Selection>,
    want: Want,
    store: &Store,
) -> Result<(), ReadError> {
    if group.len() <= 1 && group.iter().all(|(_, chunk)| chunk.is_sorted()) {
        ordered.extend(group.into_iter().map(|(_, chunk)| chunk));
        return Ok(());
    }
    group.sort_by_key(|(number, _)| *number);
    let mut parts = Vec::with_capacity(group.len());
    for (_, chunk) in group {
        parts.push(match chunk {
            Selection::Whole(piece) => (piece.part, piece.points(want, store)?),
            Selection::Points(part, points) => (part, points),
        });
    }
    let mut order: Vec<(i64, usize, usize)> = Vec::new();
    for (chunk, (_, points)) in parts.iter().enumerate() {
        let steps = points.steps.iter().enumerate();
        order.extend(steps.map(|(at, step)| (*step, chunk, at)));
    }
    order.sort_by_key(|(step, ..)| *step);
    let mut at = 0;
    while let Some(&(_, chunk, _)) = order.get(at) {
        let (part, from) = &mut parts[chunk];
        let mut points = Points::default();
        let of_chunk = order[at..]
            .iter()
            .take_while(|(_, other, _)| *other == chunk);
        for (_, _, point) in of_chunk {
            points.take(from, *point);
            at += 1;
        }
        ordered.push(Selection::Points(*part, points));
    }
    Ok(())
}
