//! Totals of a stretch of time, over all slices that touch it.

use std::cmp::Reverse;

use trainscope_api::timeline::{AreaAnswer, AreaCounter, AreaLane, AreaName, MAX_NAMES, TimeKind};
use trainscope_format::trace::{NONE, TextId};

use super::clip::clips;
use super::counters::{self, Series};
use super::levels::Levels;
use super::ranges::Span;
use super::{Model, lane};

/// Maximum number of lanes in one answer.
const MAX_LANES: usize = 4_096;

/// Slices of one name and lane.
#[derive(Clone, Copy)]
struct Sum {
    name: u32,
    lane: u32,
    kind: TimeKind,
    count: u64,
    total: i64,
    self_time: i64,
}

/// Totals of the time between two times since the origin, in some lanes or all.
pub fn area(
    model: &Model,
    levels: &Levels,
    (from, to): (i64, i64),
    lanes: Option<&[u32]>,
) -> AreaAnswer {
    let origin = model.origin();
    let span = (origin.saturating_add(from), origin.saturating_add(to));
    let mut answer = AreaAnswer {
        length_nanos: to.saturating_sub(from).max(0),
        ..AreaAnswer::default()
    };
    let mut totals = Vec::new();
    let mut slots = vec![NONE; model.trace.texts.len() + 1];
    for lane in chosen(model, lanes) {
        let first = totals.len();
        if let Some(area_lane) = lane_totals(model, levels, lane, span, &mut totals, &mut slots) {
            answer.lanes.push(area_lane);
        }
        for total in &totals[first..] {
            slots[total.name as usize] = NONE;
            answer.slices += total.count;
        }
    }
    totals.sort_unstable_by_key(|total| {
        (
            Reverse(total.total),
            Reverse(total.self_time),
            total.lane,
            total.name,
        )
    });
    answer.lanes.sort_by_key(|lane| Reverse(lane.busy_nanos));
    answer.cut = totals.len() > MAX_NAMES || answer.lanes.len() > MAX_LANES;
    totals.truncate(MAX_NAMES);
    answer.lanes.truncate(MAX_LANES);
    let names = totals.iter().map(|total| AreaName {
        name: model.trace.texts.get(TextId(total.name)).to_owned(),
        lane: lane::text(model, total.lane as usize),
        kind: total.kind,
        count: total.count,
        total_nanos: total.total,
        self_nanos: total.self_time.max(0),
    });
    answer.names = names.collect();
    let series = counters::recorded(model);
    answer.counters = series
        .iter()
        .filter_map(|series| counter(series, span))
        .collect();
    answer
}

/// The requested lanes, each once, in order.
pub(super) fn chosen(model: &Model, lanes: Option<&[u32]>) -> Vec<u32> {
    let all = 0..u32::try_from(model.lanes.len()).unwrap_or(NONE);
    match lanes {
        Some(lanes) => {
            let mut lanes: Vec<u32> = lanes
                .iter()
                .copied()
                .filter(|lane| all.contains(lane))
                .collect();
            lanes.sort_unstable();
            lanes.dedup();
            lanes
        }
        None => all.collect(),
    }
}

/// Appends the totals of a lane by name, whose positions are in `slots`; `None` if no slice touches the area.
fn lane_totals(
    model: &Model,
    levels: &Levels,
    lane: u32,
    area: Span,
    totals: &mut Vec<Sum>,
    slots: &mut [u32],
) -> Option<AreaLane> {
    let first = totals.len();
    let unnamed = slots.len() - 1;
    let names = &model.trace.slices.names;
    let name_of = |slice: u32| (names[slice as usize].0 as usize).min(unnamed);
    let (mut busy, mut until) = (0_i64, area.0);
    clips(model, levels, lane, area, |clip| {
        let name = name_of(clip.slice);
        let (begin, end) = clip.span;
        let len = end.saturating_sub(begin);
        let kind = model.kinds[clip.slice as usize];
        if slots[name] == NONE {
            slots[name] = u32::try_from(totals.len()).unwrap_or(NONE);
            totals.push(Sum {
                name: u32::try_from(name).unwrap_or(NONE),
                lane,
                kind,
                count: 0,
                total: 0,
                self_time: 0,
            });
        }
        if let Some(total) = totals.get_mut(slots[name] as usize) {
            total.count += 1;
            total.total = total.total.saturating_add(len);
            total.self_time = total.self_time.saturating_add(len);
        }
        if clip.taken > 0 {
            let parent = name_of(model.parents[clip.slice as usize]);
            if let Some(total) = totals.get_mut(slots[parent] as usize) {
                total.self_time = total.self_time.saturating_sub(clip.taken);
            }
        }
        if kind != TimeKind::Idle && end > until {
            busy = busy.saturating_add(end.saturating_sub(begin.max(until)));
            until = end;
        }
    });
    let mut by_kind = [(0_i64, TimeKind::Host); 6];
    for total in totals.get(first..).filter(|added| !added.is_empty())? {
        if let Some(sum) = by_kind.get_mut(total.kind as usize) {
            *sum = (sum.0.saturating_add(total.self_time), total.kind);
        }
    }
    let most = by_kind.into_iter().max_by_key(|(time, _)| *time)?;
    Some(AreaLane {
        lane: lane::text(model, lane as usize),
        name: lane::name(model, lane as usize),
        kind: most.1,
        busy_nanos: busy,
    })
}

/// Values of a series in an area, weighted by their duration; `None` if it begins later.
fn counter(series: &Series<'_>, (from, to): Span) -> Option<AreaCounter> {
    let behind = series.times.partition_point(|time| *time < to);
    let first = series
        .times
        .partition_point(|time| *time <= from)
        .saturating_sub(1);
    let mut answer: Option<AreaCounter> = None;
    let (mut weighted, mut weight) = (0.0, 0.0);
    for index in first..behind {
        let value = series.values[index];
        let begin = series.times[index].max(from);
        let end = series
            .times
            .get(index + 1)
            .map_or(to, |next| (*next).min(to));
        let lasts = end.saturating_sub(begin).max(0) as f64;
        // With the smallest positive weight, a value without duration counts only if there is no other.
        let lasts = lasts.max(f64::MIN_POSITIVE);
        weighted += value * lasts;
        weight += lasts;
        let counter = answer.get_or_insert_with(|| AreaCounter {
            name: series.name.clone(),
            least: value,
            mean: value,
            greatest: value,
        });
        if value.is_nan() || value < counter.least {
            counter.least = value;
        }
        counter.greatest = counter.greatest.max(value);
        counter.mean = weighted / weight;
    }
    answer
}
