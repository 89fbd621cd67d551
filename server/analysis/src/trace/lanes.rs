//! The frame of the timeline: lanes in groups, steps, counters and the busy share of the whole recording.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use trainscope_api::timeline::{
    LaneEntry, LaneGroup, MAX_EMPTY, StepSpan, TimeKind, TimelineLanes, TimelineMark,
};
use trainscope_format::trace::{Lane, LaneKind};

use super::lane::{group_name, name, spans};
use super::levels::{Levels, share_of_255};
use super::{Model, Role, counters, ranges};

/// Number of stretches of time of [`TimelineLanes::busy`].
pub const STRETCHES: usize = 160;
/// Maximum number of lanes in one answer.
const MAX_LANES: usize = 4_096;
/// Maximum number of steps in one answer.
const MAX_STEPS: usize = 20_000;
/// Maximum number of counters in one answer.
const MAX_COUNTERS: usize = 256;
/// Maximum number of instants in one answer.
const MAX_MARKS: usize = 1_000;

/// With more rows in a lane of the host, devices come first: chosen, half of the rows that a window of 800 pixels shows.
const DEEP_ROWS: u32 = 12;

/// Lanes in groups, steps, counters and the busy share of the whole recording.
pub fn lanes(model: &Model, levels: &Levels) -> TimelineLanes {
    let extent_nanos = model.extent.end.saturating_sub(model.extent.start);
    let trace = &model.trace;
    let unix = trace.head.unix_offset_nanos;
    let mut answer = TimelineLanes {
        extent_nanos,
        unix_nanos: unix.map(|offset| offset.saturating_add(model.origin()).to_string()),
        events: trace.counts.events,
        origin_nanos: model.origin().to_string(),
        total_bytes: trace.counts.bytes,
        busy: busy_strip(model),
        ..TimelineLanes::default()
    };
    (answer.groups, answer.cut) = groups(model, levels);
    let since = |time: i64| time.saturating_sub(model.origin());
    let steps = model.steps.list.iter().take(MAX_STEPS);
    answer.steps = steps
        .map(|step| StepSpan {
            number: step.number,
            begin_nanos: since(step.begin),
            end_nanos: since(step.end),
        })
        .collect();
    let mut series = counters::utilization(model);
    series.append(&mut counters::queues(model));
    series.append(&mut counters::recorded(model));
    let marks = trace.marks.iter().filter(|mark| mark.is_global);
    answer.cut |= model.steps.list.len() > MAX_STEPS
        || series.len() > MAX_COUNTERS
        || marks.clone().count() > MAX_MARKS;
    let series = series.into_iter().take(MAX_COUNTERS);
    answer.counters = series
        .map(|series| counters::buckets(series, model))
        .collect();
    answer.marks = marks
        .take(MAX_MARKS)
        .map(|mark| TimelineMark {
            time_nanos: since(mark.time),
            name: trace.texts.get(mark.name).to_owned(),
        })
        .collect();
    answer
}

/// Work of all devices; of the host in a recording without devices.
fn busy_strip(model: &Model) -> Vec<u8> {
    let on_device = |role: Role| {
        matches!(
            role,
            Role::Kernel | Role::Memcpy | Role::Memset | Role::Communication
        )
    };
    let on_host = |role: Role| on_device(role) || matches!(role, Role::Runtime | Role::Operators);
    let mut work = Vec::new();
    for (index, lane) in model.trace.lanes.iter().enumerate() {
        if lane.kind == LaneKind::Device {
            spans(model, index, &mut work, |slice| {
                on_device(model.roles[slice])
            });
        }
    }
    if work.is_empty() {
        for index in 0..model.trace.lanes.len() {
            spans(model, index, &mut work, |slice| on_host(model.roles[slice]));
        }
    }
    let whole = (model.extent.start, model.extent.end);
    let shares = counters::shares(&ranges::merge(work), whole, STRETCHES);
    shares.into_iter().map(share_of_255).collect()
}

/// Rank of a lane among all groups: its kind, and the position of its process in the file.
type GroupKey = (u8, i64, usize);

const fn kind_rank(kind: LaneKind) -> u8 {
    match kind {
        LaneKind::Host => 0,
        LaneKind::Device => 1,
        LaneKind::Async => 2,
        LaneKind::Derived => 3,
        LaneKind::Profiler => 4,
    }
}

const fn kind_name(kind: LaneKind) -> &'static str {
    match kind {
        LaneKind::Host => "host",
        LaneKind::Device => "device",
        LaneKind::Async => "async",
        LaneKind::Derived => "derived",
        LaneKind::Profiler => "profiler",
    }
}

/// Position of a lane in its group by the file; 0 if it is missing. Kineto repeats the number of the thread there,
/// which is not an order.
fn file_order(lane: &Lane) -> i64 {
    let is_number = lane.thread.parse() == Ok(lane.thread_sort);
    if is_number { 0 } else { lane.thread_sort }
}

fn groups(model: &Model, levels: &Levels) -> (Vec<LaneGroup>, bool) {
    // Lanes that are derived, or of the profiler, are one group for all processes.
    let is_joined = |kind| matches!(kind, LaneKind::Derived | LaneKind::Profiler);
    let mut processes: BTreeMap<(u8, &str), usize> = BTreeMap::new();
    let mut groups: BTreeMap<GroupKey, Vec<usize>> = BTreeMap::new();
    for (index, lane) in model.trace.lanes.iter().enumerate() {
        let process = if is_joined(lane.kind) {
            ""
        } else {
            &lane.process
        };
        let first = *processes
            .entry((kind_rank(lane.kind), process))
            .or_insert(index);
        let sort = model.trace.lanes[first].process_sort;
        let sort = if is_joined(lane.kind) { 0 } else { sort };
        let key = (kind_rank(lane.kind), sort, first);
        groups.entry(key).or_default().push(index);
    }
    let mut room = MAX_LANES;
    let mut cut = false;
    let mut answer = Vec::new();
    for ((_, _, first), members) in groups {
        let kind = model.trace.lanes[first].kind;
        let mut lanes: Vec<(LaneEntry, _)> = members
            .iter()
            .filter_map(|lane| entry(model, levels, *lane))
            .collect();
        lanes.sort_by_key(|(_, order)| *order);
        cut |= lanes.len() > room;
        let empty = members.len() - lanes.len();
        let has_slices = |lane: usize| {
            model
                .lanes
                .get(lane)
                .is_some_and(|lane| !lane.slices.is_empty())
        };
        let without = members.iter().filter(|lane| !has_slices(**lane));
        let empty_names = without.take(MAX_EMPTY).map(|lane| name(model, *lane));
        let empty_names = empty_names.collect();
        lanes.truncate(room);
        room -= lanes.len();
        answer.push(LaneGroup {
            name: if is_joined(kind) {
                String::new()
            } else {
                group_name(model, first)
            },
            kind: kind_name(kind).to_owned(),
            lanes: lanes.into_iter().map(|(entry, _)| entry).collect(),
            empty: empty as u64,
            empty_names,
            folded: is_joined(kind),
        });
    }
    // Stacks of Python would fill the first view.
    let is_deep = |group: &LaneGroup| {
        let mut rows = group.lanes.iter().map(|lane| lane.rows);
        group.kind == kind_name(LaneKind::Host) && rows.any(|rows| rows > DEEP_ROWS)
    };
    if answer.iter().any(is_deep) {
        let device = kind_name(LaneKind::Device);
        answer.sort_by_key(|group| group.kind != device);
    }
    (answer, cut)
}

/// Order within a group: position in the file, main thread or streams that compute first, busiest first.
type LaneOrder = (i64, bool, Reverse<i64>, usize);

/// A lane that has slices.
fn entry(model: &Model, levels: &Levels, index: usize) -> Option<(LaneEntry, LaneOrder)> {
    let slices = &model.lanes.get(index)?.slices;
    if slices.is_empty() {
        return None;
    }
    let lane = &model.trace.lanes[index];
    let mut busy = Vec::new();
    spans(model, index, &mut busy, |slice| {
        model.kinds[slice] != TimeKind::Idle
    });
    let busy = ranges::cut(&ranges::merge(busy), model.extent.start, model.extent.end);
    let nanos = ranges::total(&busy);
    let is_last = match lane.kind {
        LaneKind::Device => is_communication(model, index),
        _ => lane.process != lane.thread,
    };
    let extent = model.extent.end.saturating_sub(model.extent.start);
    let number = u32::try_from(index).ok()?;
    let entry = LaneEntry {
        lane: number,
        name: name(model, index),
        rows: levels.depth(number),
        slices: u64::from(slices.end - slices.start),
        busy: nanos as f64 / extent.max(1) as f64,
    };
    Some((entry, (file_order(lane), is_last, Reverse(nanos), index)))
}

/// `true` for a stream that sends for longer than it computes.
fn is_communication(model: &Model, lane: usize) -> bool {
    let (mut sends, mut works) = (0_u64, 0_u64);
    for slice in model.lanes[lane].slices.clone() {
        let len = model.trace.slices.durations[slice as usize];
        match model.roles[slice as usize] {
            Role::Communication => sends = sends.saturating_add(len),
            Role::Kernel | Role::Memcpy | Role::Memset => works = works.saturating_add(len),
            _ => {}
        }
    }
    sends > works
}
