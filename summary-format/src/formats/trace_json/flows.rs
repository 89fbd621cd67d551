//! Connection of the ends of flows with their slices and each other, once the file is complete.

use std::cmp::Reverse;

use crate::trace::{Flow, NONE, Slices, TextId};

/// Role of an end of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PointKind {
    Begin,
    Step,
    Finish,
}

/// An end of a flow.
#[derive(Clone, Copy, Debug)]
pub(super) struct FlowPoint {
    pub(super) category: TextId,
    /// Identifier, or the number of its text.
    pub(super) id: u64,
    pub(super) has_text_id: bool,
    /// `true` for fields of a slice: these flows are paired by their identifier alone.
    pub(super) is_bound: bool,
    /// `true` if it enters the next slice that begins, not the one around it.
    pub(super) is_to_next: bool,
    pub(super) time: i64,
    pub(super) lane: u16,
    pub(super) kind: PointKind,
    /// Its slice; [`NONE`] while it is unknown.
    pub(super) slice: u32,
}

impl FlowPoint {
    /// Equal for the ends of one flow.
    fn key(&self) -> (bool, bool, u32, u64) {
        let category = if self.is_bound { 0 } else { self.category.0 };
        (self.is_bound, self.has_text_id, category, self.id)
    }
}

/// The flows between slices, and the number of begins without an end.
pub(super) fn resolve(mut points: Vec<FlowPoint>, slices: &Slices) -> (Vec<Flow>, u64) {
    bind(&mut points, slices);
    points.sort_by_key(|point| (point.key(), point.time, point.kind));
    let mut flows = Vec::with_capacity(points.len() / 2);
    let mut without_end = 0;
    for group in points.chunk_by(|a, b| a.key() == b.key()) {
        chain(group, &mut flows, &mut without_end);
    }
    flows.sort_by_key(|flow| (flow.from, flow.to));
    (flows, without_end)
}

/// Appends the arrows of one identifier in order of time. Ends before the first begin belong to it, because clocks of
/// devices differ.
fn chain(group: &[FlowPoint], flows: &mut Vec<Flow>, without_end: &mut u64) {
    let Some(first) = group
        .iter()
        .position(|point| point.kind == PointKind::Begin)
    else {
        return;
    };
    let (early, rest) = group.split_at(first);
    let mut from: Option<&FlowPoint> = None;
    let mut has_end = true;
    for point in rest.iter().take(1).chain(early).chain(rest.iter().skip(1)) {
        if point.kind == PointKind::Begin {
            *without_end += u64::from(!has_end);
            has_end = false;
            from = Some(point);
        } else if let Some(source) = from
            && point.slice != NONE
        {
            has_end = true;
            if source.slice != NONE {
                flows.push(Flow {
                    from: source.slice,
                    to: point.slice,
                    category: source.category,
                });
            }
            if point.kind == PointKind::Step {
                from = Some(point);
            }
        }
    }
    *without_end += u64::from(!has_end);
}

/// Finds the slices of ends that do not directly follow their slice.
fn bind(points: &mut [FlowPoint], slices: &Slices) {
    let mut unbound: Vec<&mut FlowPoint> = points
        .iter_mut()
        .filter(|point| point.slice == NONE)
        .collect();
    if unbound.is_empty() {
        return;
    }
    unbound.sort_by_key(|point| (point.lane, point.time));
    let lanes = unbound
        .last()
        .map_or(0, |point| usize::from(point.lane) + 1);
    let mut by_lane: Vec<Vec<u32>> = vec![Vec::new(); lanes];
    let mut is_wanted = vec![false; lanes];
    for point in &unbound {
        if let Some(wanted) = is_wanted.get_mut(usize::from(point.lane)) {
            *wanted = true;
        }
    }
    for (slice, lane) in (0..NONE).zip(&slices.lanes) {
        let lane = usize::from(*lane);
        if is_wanted.get(lane) == Some(&true)
            && let Some(list) = by_lane.get_mut(lane)
        {
            list.push(slice);
        }
    }
    for points in unbound.chunk_by_mut(|a, b| a.lane == b.lane) {
        let lane = points.first().map_or(0, |point| usize::from(point.lane));
        if let Some(list) = by_lane.get_mut(lane) {
            list.sort_by_key(|slice| {
                let slice = *slice as usize;
                (
                    slices.begins.get(slice),
                    Reverse(slices.durations.get(slice)),
                )
            });
            bind_on_lane(points, list, slices);
        }
    }
}

/// Binds ends in order of time to slices of their lane in order (begin, longer first).
fn bind_on_lane(points: &mut [&mut FlowPoint], order: &[u32], slices: &Slices) {
    let begin = |slice: u32| slices.begins.get(slice as usize).copied();
    let mut open: Vec<u32> = Vec::new();
    let mut next = 0;
    for point in points {
        // The first slice that begins at or after the end: `next` is after those that begin at its time.
        if point.is_to_next {
            let at = order.partition_point(|slice| begin(*slice) < Some(point.time));
            point.slice = order.get(at).copied().unwrap_or(NONE);
            continue;
        }
        while let Some(slice) = order.get(next)
            && begin(*slice) <= Some(point.time)
        {
            open.push(*slice);
            next += 1;
        }
        while let Some(slice) = open.last()
            && slices.end(*slice as usize) < point.time
        {
            open.pop();
        }
        point.slice = open.last().copied().unwrap_or(NONE);
    }
}
