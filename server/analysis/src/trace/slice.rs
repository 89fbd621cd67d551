//! One slice of the timeline with everything that belongs to it.

use trainscope_api::profile::PhaseKind;
use trainscope_api::timeline::{SliceAnswer, SliceEntry, TimeKind};
use trainscope_format::trace::{LaneKind, NONE};

use super::Model;
use super::clip::clips;
use super::figures::{median, percentile};
use super::levels::Levels;

/// Maximum number of related slices of one kind in one answer.
const MAX_BESIDE: usize = 100;

/// A slice as a row of lists; empty if it is missing.
pub fn entry(model: &Model, slice: u32) -> SliceEntry {
    let slices = &model.trace.slices;
    let place = slice as usize;
    if place >= slices.len() {
        return SliceEntry::default();
    }
    SliceEntry {
        index: model.number(slice),
        name: model.name(slice).to_owned(),
        kind: model.kinds[place],
        lane: u32::from(slices.lanes[place]),
        depth: u32::from(model.rows[place]),
        begin_nanos: slices.begins[place].saturating_sub(model.origin()),
        duration_nanos: length(slices.durations[place]),
    }
}

fn length(duration: u64) -> i64 {
    i64::try_from(duration).unwrap_or(i64::MAX)
}

/// Text of a phase in answers.
pub const fn phase_name(phase: PhaseKind) -> &'static str {
    match phase {
        PhaseKind::Data => "data",
        PhaseKind::Forward => "forward",
        PhaseKind::Backward => "backward",
        PhaseKind::Update => "update",
        PhaseKind::Communication => "communication",
        PhaseKind::Host => "host",
        PhaseKind::Interval => "interval",
        PhaseKind::Training => "training",
        PhaseKind::Recomputation => "recomputation",
    }
}

/// Everything about the slice of a [number](Model::number) except its arguments and its node; `None` if it is missing.
pub fn slice(model: &Model, levels: &Levels, number: u32) -> Option<SliceAnswer> {
    let index = model.numbered(number)?;
    let slices = &model.trace.slices;
    let place = index as usize;
    if place >= slices.len() {
        return None;
    }
    let (begin, end) = model.span(index);
    let lane = slices.lanes[place];
    let category = model
        .trace
        .categories
        .get(usize::from(slices.categories[place]));
    let (same_name, median_nanos, p99_nanos) = durations(model, index);
    let entries = |found: &mut dyn Iterator<Item = u32>| -> Vec<SliceEntry> {
        found
            .take(MAX_BESIDE)
            .map(|slice| entry(model, slice))
            .collect()
    };
    let launch = model.launches[place];
    let launched_by = (launch != NONE).then(|| entry(model, launch));
    let launch_delay_nanos = launched_by
        .as_ref()
        .map(|_| begin.saturating_sub(model.span(launch).1).max(0));
    let launched = model
        .launches
        .iter()
        .zip(0..)
        .filter(|(call, _)| **call == index);
    let flows = model.trace.flows.iter();
    let flows_in = flows
        .clone()
        .filter(|flow| flow.to == index && flow.from != NONE);
    let flows_out = flows.filter(|flow| flow.from == index && flow.to != NONE);
    let row = levels.row(u32::from(lane), u32::from(model.rows[place]));
    let in_row = row.binary_search(&index).ok();
    let previous = in_row.and_then(|at| row.get(at.checked_sub(1)?));
    let next = in_row.and_then(|at| row.get(at + 1));
    Some(SliceAnswer {
        slice: entry(model, index),
        self_nanos: self_time(model, levels, index),
        median_nanos,
        p99_nanos,
        same_name,
        category: category.map_or_else(String::new, |category| category.name.clone()),
        step: model.step_at(begin).map(|step| step.number),
        phase: phase_name(model.phases[place]).to_owned(),
        launched_by,
        launch_delay_nanos,
        launches: entries(&mut launched.map(|(_, slice)| slice)),
        idle_before_nanos: idle_before(model, index),
        parents: entries(&mut parents(model, index)),
        child: first_child(model, index, end).map(|child| entry(model, child)),
        previous: previous.map(|slice| entry(model, *slice)),
        next: next.map(|slice| entry(model, *slice)),
        flows_in: entries(&mut flows_in.map(|flow| flow.from)),
        flows_out: entries(&mut flows_out.map(|flow| flow.to)),
        arguments: Vec::new(),
        node: None,
    })
}

/// Slices that contain a slice, the innermost first.
pub(super) fn parents(model: &Model, slice: u32) -> impl Iterator<Item = u32> {
    let parent_of = |slice: &u32| {
        let parent = model.parents.get(*slice as usize).copied();
        // A parent is before its children in the order of slices: the way up ends.
        parent.filter(|parent| parent < slice)
    };
    std::iter::successors(parent_of(&slice), move |slice| parent_of(slice))
}

fn first_child(model: &Model, slice: u32, end: i64) -> Option<u32> {
    let lane = model.trace.slices.lanes[slice as usize];
    let lane = model.lanes.get(usize::from(lane))?;
    let later = slice.saturating_add(1)..lane.slices.end;
    later
        .take_while(|other| model.trace.slices.begins[*other as usize] <= end)
        .find(|other| model.parents[*other as usize] == slice)
}

fn self_time(model: &Model, levels: &Levels, slice: u32) -> i64 {
    let lane = u32::from(model.trace.slices.lanes[slice as usize]);
    let mut nanos = length(model.trace.slices.durations[slice as usize]);
    clips(model, levels, lane, model.span(slice), |clip| {
        if model.parents[clip.slice as usize] == slice {
            nanos -= clip.taken;
        }
    });
    nanos.max(0)
}

/// Number, median and 99th percentile of the durations of all slices with the name of a slice.
fn durations(model: &Model, slice: u32) -> (u64, i64, i64) {
    let slices = &model.trace.slices;
    let name = slices.names[slice as usize];
    let same = slices.names.iter().zip(&slices.durations);
    let mut durations: Vec<i64> = same
        .filter(|(other, _)| **other == name)
        .map(|(_, duration)| length(*duration))
        .collect();
    let p99 = percentile(&mut durations, 0.99);
    (durations.len() as u64, median(&mut durations), p99)
}

/// Time from the end of the work before a device slice to its start; `None` on a host, or without work before it.
fn idle_before(model: &Model, slice: u32) -> Option<i64> {
    let lane = usize::from(model.trace.slices.lanes[slice as usize]);
    if model.trace.lanes.get(lane)?.kind != LaneKind::Device {
        return None;
    }
    let before = model.lanes.get(lane)?.slices.start..slice;
    let work = before.filter(|other| model.kinds[*other as usize] != TimeKind::Idle);
    let last = work.map(|other| model.span(other).1).max()?;
    Some(model.span(slice).0.saturating_sub(last).max(0))
}
