//! Phases of steps in order of time, as the main thread goes through them.

use trainscope_api::profile::{Phase, PhaseKind};
use trainscope_format::trace::LaneKind;

use super::meaning::step_number;
use super::ranges::{Span, meet, merge, push, total, within};
use super::{Model, Role, Step};

/// Maximum number of phases of a step; of more, the shortest become part of the one before.
pub const MAX_PHASES: usize = 64;

/// A stretch of time of one phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stretch {
    begin: i64,
    end: i64,
    kind: PhaseKind,
}

/// Phases of the main thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MainThread {
    /// In order of time, without gaps and without equal neighbours.
    stretches: Vec<Stretch>,
}

impl MainThread {
    /// Phases of the thread with the steps, else of the busiest thread.
    pub fn new(model: &Model) -> Self {
        let mut thread = Self::default();
        if let Some(lane) = main_lane(model) {
            thread.follow(model, lane);
            for phase in [PhaseKind::Recomputation, PhaseKind::Backward] {
                thread.add_other_threads(model, lane, phase);
            }
        }
        thread
    }

    /// Phases of a step.
    pub fn phases(&self, model: &Model, step: &Step) -> Vec<Phase> {
        let from = self
            .stretches
            .partition_point(|stretch| stretch.end <= step.begin);
        let to = self
            .stretches
            .partition_point(|stretch| stretch.begin < step.end);
        let touching = self.stretches.get(from..to).unwrap_or_default();
        let mut phases = Vec::new();
        let mut now = step.begin;
        for stretch in touching {
            let (begin, end) = (stretch.begin.max(step.begin), stretch.end.min(step.end));
            add(&mut phases, now, begin, PhaseKind::Host);
            add(&mut phases, begin, end, stretch.kind);
            now = end;
        }
        add(&mut phases, now, step.end, PhaseKind::Host);
        let phases = fewer(phases).into_iter();
        let origin = model.origin();
        let phases = phases.map(|stretch| Phase {
            kind: stretch.kind,
            begin_nanos: stretch.begin.saturating_sub(origin),
            end_nanos: stretch.end.saturating_sub(origin),
        });
        phases.collect()
    }

    /// Goes through a lane: each moment has the phase of the innermost slice that is open.
    fn follow(&mut self, model: &Model, lane: usize) {
        let mut open: Vec<(i64, PhaseKind)> = Vec::new();
        let mut now = i64::MIN;
        for slice in model.lanes[lane].slices.clone() {
            let (begin, end) = model.span(slice);
            if now != i64::MIN {
                self.advance(&mut open, now, begin);
            }
            now = begin;
            let kind = match model.roles[slice as usize] {
                Role::Communication => PhaseKind::Communication,
                _ => model.phases[slice as usize],
            };
            // Slices back to back would pile up.
            while open.pop_if(|outer| outer.0 <= begin).is_some() {}
            if begin < end && open.len() <= usize::from(super::rows::MAX_ROW) {
                open.push((end, kind));
            }
        }
        let last = open.iter().map(|outer| outer.0).max();
        if let Some(last) = last {
            self.advance(&mut open, now, last);
        }
    }

    fn advance(&mut self, open: &mut Vec<(i64, PhaseKind)>, mut now: i64, to: i64) {
        while now < to {
            while open.pop_if(|outer| outer.0 <= now).is_some() {}
            let (end, kind) = open.last().copied().unwrap_or((to, PhaseKind::Host));
            let end = end.min(to);
            add(&mut self.stretches, now, end, kind);
            now = end;
        }
    }

    /// Waiting time of the main thread gets the phase of another thread that runs backward, or recomputes, meanwhile.
    fn add_other_threads(&mut self, model: &Model, main: usize, phase: PhaseKind) {
        let mut spans = Vec::new();
        for (lane, lane_slices) in model.lanes.iter().enumerate() {
            let kind = model.trace.lanes.get(lane).map(|lane| lane.kind);
            if lane == main || kind != Some(LaneKind::Host) {
                continue;
            }
            for slice in lane_slices.slices.clone() {
                let counts = model.phases[slice as usize] == phase
                    && model.roles[slice as usize] != Role::None;
                if counts {
                    let (begin, end) = model.span(slice);
                    push(&mut spans, begin, end);
                }
            }
        }
        let spans = merge(spans);
        if spans.is_empty() {
            return;
        }
        let mut stretches = Vec::new();
        for stretch in std::mem::take(&mut self.stretches) {
            let mut now = stretch.begin;
            if stretch.kind == PhaseKind::Host {
                let backward = within(&spans, stretch.begin, stretch.end);
                for (begin, end) in meet(&[(stretch.begin, stretch.end)], backward) {
                    add(&mut stretches, now, begin, PhaseKind::Host);
                    add(&mut stretches, begin, end, phase);
                    now = end;
                }
            }
            add(&mut stretches, now, stretch.end, stretch.kind);
        }
        self.stretches = stretches;
    }
}

/// Appends a stretch, joined with the last one if it is of the same phase.
fn add(stretches: &mut Vec<Stretch>, begin: i64, end: i64, kind: PhaseKind) {
    if begin >= end {
        return;
    }
    match stretches.last_mut() {
        Some(last) if last.kind == kind && last.end == begin => last.end = end,
        _ => stretches.push(Stretch { begin, end, kind }),
    }
}

/// Joins the shortest stretches with the ones before them until [`MAX_PHASES`] are left.
fn fewer(stretches: Vec<Stretch>) -> Vec<Stretch> {
    let mut lengths: Vec<i64> = stretches
        .iter()
        .map(|stretch| stretch.end.saturating_sub(stretch.begin))
        .collect();
    let Some(surplus) = lengths.len().checked_sub(MAX_PHASES + 1) else {
        return stretches;
    };
    let limit = *lengths.select_nth_unstable(surplus).1;
    let mut joined: Vec<Stretch> = Vec::new();
    for stretch in stretches {
        match joined.last_mut() {
            Some(last)
                if stretch.end.saturating_sub(stretch.begin) <= limit
                    || last.kind == stretch.kind =>
            {
                last.end = stretch.end;
            }
            _ => joined.push(stretch),
        }
    }
    joined
}

fn main_lane(model: &Model) -> Option<usize> {
    let hosts = model.lanes.iter().enumerate().filter(|(lane, _)| {
        let kind = model.trace.lanes.get(*lane).map(|lane| lane.kind);
        kind == Some(LaneKind::Host)
    });
    let mut best: Option<(usize, usize, i64)> = None;
    let is_step: Vec<bool> = model
        .trace
        .texts
        .iter()
        .map(|name| step_number(name).is_some())
        .collect();
    for (lane, lane_slices) in hosts {
        let mut steps = 0;
        let mut spans: Vec<Span> = Vec::new();
        for slice in lane_slices.slices.clone() {
            let name = model.trace.slices.names[slice as usize].0 as usize;
            steps += usize::from(is_step.get(name) == Some(&true));
            let counts = matches!(
                model.roles[slice as usize],
                Role::Operators | Role::Data | Role::Communication
            );
            if counts {
                let (begin, end) = model.span(slice);
                push(&mut spans, begin, end);
            }
        }
        let busy = total(&merge(spans));
        if best.is_none_or(|best| (steps, busy) > (best.1, best.2)) {
            best = Some((lane, steps, busy));
        }
    }
    best.map(|best| best.0)
}
