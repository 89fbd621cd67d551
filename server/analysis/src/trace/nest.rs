//! A trace becomes a model: slices in order, and the row and the parent of each.

use std::cmp::Reverse;
use std::ops::Range;

use trainscope_format::trace::{NONE, SliceClass, Slices, Trace};

use super::rows::nest_lane;
use super::{LaneSlices, Model, meaning, steps};

/// Positions of slices in their file, and slices by position; both empty if slices are in the order of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Numbers {
    of_slices: Vec<u32>,
    slices: Vec<u32>,
}

impl Numbers {
    /// Numbers from the position of each slice; `None` if a position is missing.
    fn new(of_slices: Vec<u32>) -> Option<Self> {
        let mut slices = vec![NONE; of_slices.len()];
        for (slice, number) in (0..).zip(&of_slices) {
            let slot = slices.get_mut(*number as usize)?;
            if *slot != NONE {
                return None;
            }
            *slot = slice;
        }
        Some(Self { of_slices, slices })
    }
}

impl Model {
    /// Sorts a trace and computes the columns of the model.
    pub fn new(mut trace: Trace) -> Self {
        let (lanes, numbers) = sort(&mut trace);
        let mut model = Self {
            numbers,
            lanes: lanes
                .into_iter()
                .map(|slices| LaneSlices { slices, rows: 0 })
                .collect(),
            trace,
            ..Self::default()
        };
        nest(&mut model);
        model.extent = extent(&model.trace);
        meaning::fill(&mut model);
        model.steps = steps::steps(&model);
        model
    }

    /// The model of a trace whose slices another model has sorted; `numbers` are their positions in the file, empty if
    /// they are in its order. `None` if positions are missing.
    pub fn of_sorted(trace: Trace, numbers: Vec<u32>) -> Option<Self> {
        if !numbers.is_empty() && numbers.len() != trace.slices.len() {
            return None;
        }
        let numbers = Numbers::new(numbers)?;
        Some(Self {
            numbers,
            ..Self::new(trace)
        })
    }

    /// Position of a slice in its file: the number by which addresses and requests name it, the same while more of the
    /// file is read.
    pub fn number(&self, slice: u32) -> u32 {
        let number = self.numbers.of_slices.get(slice as usize);
        number.copied().unwrap_or(slice)
    }

    /// Positions of all slices in their file; empty if slices are in its order.
    pub fn numbers(&self) -> &[u32] {
        &self.numbers.of_slices
    }

    /// The slice of a number.
    pub fn numbered(&self, number: u32) -> Option<u32> {
        if self.numbers.slices.is_empty() {
            return Some(number).filter(|slice| (*slice as usize) < self.trace.slices.len());
        }
        self.numbers.slices.get(number as usize).copied()
    }

    /// Class of a slice.
    pub fn class(&self, slice: u32) -> SliceClass {
        let category = self.trace.slices.categories.get(slice as usize);
        let category =
            category.and_then(|category| self.trace.categories.get(usize::from(*category)));
        category.map_or(SliceClass::Span, |category| category.class)
    }

    /// Begin and end of an existing slice.
    pub fn span(&self, slice: u32) -> (i64, i64) {
        let slices = &self.trace.slices;
        (slices.begins[slice as usize], slices.end(slice as usize))
    }

    /// Numbers of all slices.
    pub fn slices(&self) -> Range<u32> {
        0..u32::try_from(self.trace.slices.len()).unwrap_or(NONE)
    }
}

/// Sorts slices and renumbers all references to them; returns the ranges of the lanes, and the positions of slices in
/// their file.
fn sort(trace: &mut Trace) -> (Vec<Range<u32>>, Numbers) {
    let slices = &trace.slices;
    let count = slices.len();
    // One more than the lanes: slices of a lane that is not in the trace keep their place behind the others.
    let last = trace.lanes.len();
    let lane_of = |slice: usize| usize::from(slices.lanes[slice]).min(last);
    let mut ends = vec![0_u32; last + 1];
    for slice in 0..count {
        ends[lane_of(slice)] += 1;
    }
    let mut begins = Vec::with_capacity(last + 1);
    let mut total = 0;
    for end in &mut ends {
        begins.push(total);
        total += *end;
        *end = total;
    }
    let mut next = begins.clone();
    let mut order = vec![0_u32; count];
    for (slice, number) in (0..count).zip(0_u32..) {
        let lane = &mut next[lane_of(slice)];
        order[*lane as usize] = number;
        *lane += 1;
    }
    let key = |slice: u32| {
        let slice = slice as usize;
        (slices.begins[slice], Reverse(slices.durations[slice]))
    };
    let place = |slice: u32| slices.places[slice as usize];
    let mut keyed = Vec::new();
    for (begin, end) in begins.iter().zip(&ends) {
        let lane_order = &mut order[*begin as usize..*end as usize];
        if lane_order.is_sorted_by_key(|slice| (key(*slice), place(*slice))) {
            continue;
        }
        keyed.clear();
        keyed.extend(lane_order.iter().map(|slice| (key(*slice), *slice)));
        keyed.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| place(a.1).cmp(&place(b.1))));
        for (slot, (_, slice)) in lane_order.iter_mut().zip(&keyed) {
            *slot = *slice;
        }
    }
    drop(keyed);
    let mut numbers = Numbers::default();
    if !order.is_sorted() {
        reorder(&mut trace.slices, &order);
        numbers = Numbers::new(order).unwrap_or_default();
        renumber(trace, &numbers.slices);
    }
    ends.pop();
    let lanes = begins.into_iter().zip(ends);
    (lanes.map(|(from, to)| from..to).collect(), numbers)
}

fn reorder(slices: &mut Slices, order: &[u32]) {
    fn apply<T: Copy>(column: &mut Vec<T>, order: &[u32]) {
        *column = order.iter().map(|slice| column[*slice as usize]).collect();
    }
    apply(&mut slices.begins, order);
    apply(&mut slices.durations, order);
    apply(&mut slices.names, order);
    apply(&mut slices.lanes, order);
    apply(&mut slices.categories, order);
    apply(&mut slices.links, order);
    apply(&mut slices.details, order);
    apply(&mut slices.places, order);
}

fn renumber(trace: &mut Trace, numbers: &[u32]) {
    let new = |slice: u32| numbers.get(slice as usize).copied().unwrap_or(NONE);
    for flow in &mut trace.flows {
        (flow.from, flow.to) = (new(flow.from), new(flow.to));
    }
    for slice in &mut trace.counts.unfinished {
        *slice = new(*slice);
    }
}

fn nest(model: &mut Model) {
    let count = model.trace.slices.len();
    model.rows = vec![0; count];
    model.parents = vec![NONE; count];
    for lane in &mut model.lanes {
        let nesting = nest_lane(
            &model.trace.slices,
            lane.slices.clone(),
            |slice, row, parent| {
                model.rows[slice as usize] = row;
                model.parents[slice as usize] = parent;
                lane.rows = lane.rows.max(row + 1);
            },
        );
        model.unnested += nesting;
    }
}

/// From the first start to the last end, without windows and derived slices; of everything if nothing else is left.
fn extent(trace: &Trace) -> Range<i64> {
    let is_derived = |lane: u16| {
        let lane = trace.lanes.get(usize::from(lane));
        lane.is_some_and(|lane| lane.kind == trainscope_format::trace::LaneKind::Derived)
    };
    let counts: Vec<bool> = trace
        .categories
        .iter()
        .map(|category| !matches!(category.class, SliceClass::Window | SliceClass::Derived))
        .collect();
    let derived: Vec<bool> = (0..=u16::MAX).map(is_derived).collect();
    let slices = &trace.slices;
    let work = (0..slices.len()).filter(|slice| {
        let category = counts.get(usize::from(slices.categories[*slice]));
        category != Some(&false) && !derived[usize::from(slices.lanes[*slice])]
    });
    let of_slices = |found: &mut dyn Iterator<Item = usize>| {
        bounds(found.map(|slice| (slices.begins[slice], slices.end(slice))))
    };
    of_slices(&mut work.into_iter())
        .or_else(|| of_slices(&mut (0..slices.len())))
        .or_else(|| {
            let memory = trace.memory.iter().map(|event| (event.time, event.time));
            let counters = trace.counters.iter().flat_map(|series| &series.times);
            let marks = trace.marks.iter().map(|mark| (mark.time, mark.time));
            let failures = trace
                .memory_failures
                .iter()
                .map(|failure| (failure.time, failure.time));
            bounds(
                memory
                    .chain(counters.map(|time| (*time, *time)))
                    .chain(marks)
                    .chain(failures),
            )
        })
        .unwrap_or_default()
}

fn bounds(spans: impl Iterator<Item = (i64, i64)>) -> Option<Range<i64>> {
    spans.fold(None, |all: Option<Range<i64>>, (begin, end)| {
        let all = all.unwrap_or(begin..end);
        Some(all.start.min(begin)..all.end.max(end))
    })
}
