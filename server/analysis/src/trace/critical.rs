//! Critical path of a step: from its end back to its start, along the dependencies of each moment.
//!
//! In device work the path goes back to its start. If the work that ended last before it ended after the launch call
//! had returned, the path goes on there, else at the end of the call. On the host it goes back to the last call that
//! waited for the device, and on to the work that call waited for. It is the lightweight critical path of HTA (holistic
//! trace analysis), with waiting for data as a separate kind. Its segments add up to the step.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use trainscope_api::timeline::{PathAnswer, PathSegment};

use super::ranges::{self, Span};
use super::slice::entry;
use super::work::{is_waiting, launch, role};
use super::{Model, Role};

/// Kinds of segments, by the place of their sums.
pub const KINDS: [&str; 8] = [
    "communication",
    "kernel",
    "data",
    "memcpy",
    "memset",
    "host",
    "launch",
    "between_kernels",
];
const COMMUNICATION: usize = 0;
const KERNEL: usize = 1;
const DATA: usize = 2;
const MEMCPY: usize = 3;
const MEMSET: usize = 4;
const HOST: usize = 5;
const LAUNCH: usize = 6;
const BETWEEN_KERNELS: usize = 7;

/// Sums of segments in the order of [`KINDS`].
pub type Sums = [i64; KINDS.len()];

/// Shortest segment of a picture, as a part of its view: half a pixel of a wide screen (chosen).
const VISIBLE: i64 = 4_000;
/// Maximum number of segments of a picture.
const MAX_SEGMENTS: usize = 10_000;

/// A stretch of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Place in [`KINDS`].
    pub kind: usize,
    /// Begin.
    pub begin: i64,
    /// End.
    pub end: i64,
    /// The device work of the segment, or the call of the host that it leads to; `None` on the host if no call follows.
    pub slice: Option<u32>,
}

/// Critical paths of a model.
#[derive(Clone, Debug)]
pub struct Paths<'m> {
    model: &'m Model,
    /// Ends of the device work that has a launch, in order, and its slice.
    ends: Vec<(i64, u32)>,
    /// Calls that wait, in the order of their ends, with their slices.
    waits: Vec<(Span, u32)>,
    data: Vec<Span>,
}

impl<'m> Paths<'m> {
    /// Sorts the device work and the waiting calls of a model by their ends.
    pub fn new(model: &'m Model) -> Self {
        let place = |slice: u32| model.trace.slices.places.get(slice as usize).copied();
        let mut ends: Vec<(i64, u32)> = model
            .slices()
            .filter(|slice| launch(model, *slice).is_some() && model.is_device(*slice))
            .map(|slice| (model.span(slice).1, slice))
            .collect();
        ends.sort_unstable_by_key(|(end, slice)| (*end, place(*slice)));
        let (mut waits, mut data) = (Vec::new(), Vec::new());
        if !ends.is_empty() {
            for slice in model.slices() {
                if role(model, slice) == Role::Data {
                    data.push(model.span(slice));
                } else if is_waiting(model, slice) {
                    waits.push((model.span(slice), Reverse(place(slice)), slice));
                }
            }
        }
        waits.sort_unstable_by_key(|((_, end), place, _)| (*end, *place));
        Self {
            model,
            ends,
            waits: waits
                .into_iter()
                .map(|(span, _, slice)| (span, slice))
                .collect(),
            data: ranges::merge(data),
        }
    }

    /// `true` if no device work has a launch: there are no paths.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The path of a stretch of time. The sums add up to its length.
    pub fn sums(&self, begin: i64, end: i64) -> Sums {
        let mut sums = Sums::default();
        self.walk(begin, end, |segment| {
            let spent = segment.end.saturating_sub(segment.begin);
            sums[segment.kind] = sums[segment.kind].saturating_add(spent);
        });
        sums
    }

    /// Visits the segments of the path of a stretch of time, from its end back to its start.
    pub fn walk(&self, begin: i64, end: i64, visit: impl FnMut(Segment)) {
        let mut way = Way {
            visit,
            time: end,
            begin,
            call: None,
        };
        // Bounds of the unvisited work and calls. They only fall: each visit is the last one.
        let mut works = self.ends.partition_point(|work| work.0 <= end);
        let mut waits = self.waits.partition_point(|wait| wait.0.1 <= end);
        let last = works.checked_sub(1);
        let mut here = last.filter(|last| self.ends[*last].0 == end);
        while way.time > begin {
            if let Some(index) = here {
                works = index;
                let slice = self.ends[index].1;
                let at = self.model.span(slice).0;
                way.back(at, kind(role(self.model, slice)), Some(slice));
                let call = launch(self.model, slice);
                let returned = call.map_or(begin, |call| self.model.span(call).1);
                let before = self
                    .ended(at, works)
                    .map(|before| (before, self.ends[before].0));
                if let Some((before, ended)) = before.filter(|before| before.1 > returned) {
                    way.back(ended, BETWEEN_KERNELS, None);
                    here = Some(before);
                } else {
                    way.back(returned, LAUNCH, call);
                    way.call = call;
                    here = None;
                }
                continue;
            }
            let earlier = self.waits.get(..waits).unwrap_or_default();
            waits = earlier.partition_point(|wait| wait.0.1 <= way.time);
            let last = waits.checked_sub(1).map(|last| self.waits[last]);
            let Some(((called, returned), wait)) = last.filter(|wait| wait.0.1 >= begin) else {
                self.host(&mut way, begin);
                break;
            };
            waits -= 1;
            self.host(&mut way, returned);
            way.call = Some(wait);
            let work = self.ended(returned, works);
            match work.filter(|work| self.ends[*work].0 > called) {
                Some(work) => {
                    way.back(self.ends[work].0, HOST, Some(wait));
                    here = Some(work);
                }
                None => way.back(called, HOST, Some(wait)),
            }
        }
    }

    /// Segments that can be seen in a view, of the steps that it touches, in order of time; without steps, of the
    /// whole recording.
    pub fn picture(&self, from: i64, to: i64) -> PathAnswer {
        let origin = self.model.origin();
        let steps = &self.model.steps.list;
        let whole = (self.model.extent.start, self.model.extent.end);
        let mut spans: Vec<Span> = steps.iter().map(|step| (step.begin, step.end)).collect();
        if spans.is_empty() {
            spans.push(whole);
        }
        let (from, to) = (from.saturating_add(origin), to.saturating_add(origin));
        let shortest = to.saturating_sub(from) / VISIBLE;
        let mut answer = PathAnswer {
            has_launches: !self.is_empty(),
            ..PathAnswer::default()
        };
        if self.is_empty() {
            return answer;
        }
        for (begin, end) in spans
            .into_iter()
            .filter(|span| span.0 < to && span.1 > from)
        {
            self.walk(begin, end, |segment| {
                let is_in_view = segment.begin < to && segment.end > from;
                let is_long = segment.end.saturating_sub(segment.begin) > shortest;
                if !(is_in_view && is_long) {
                    return;
                }
                if answer.segments.len() == MAX_SEGMENTS {
                    answer.cut = true;
                    return;
                }
                answer.segments.push(PathSegment {
                    kind: KINDS
                        .get(segment.kind)
                        .copied()
                        .unwrap_or_default()
                        .to_owned(),
                    begin_nanos: segment.begin.saturating_sub(origin),
                    end_nanos: segment.end.saturating_sub(origin),
                    slice: segment.slice.map(|slice| entry(self.model, slice)),
                });
            });
        }
        answer.segments.sort_by_key(|segment| segment.begin_nanos);
        answer
    }

    /// Index of the last work below a bound that ended by a time.
    fn ended(&self, time: i64, bound: usize) -> Option<usize> {
        let earlier = self.ends.get(..bound).unwrap_or_default();
        earlier
            .partition_point(|work| work.0 <= time)
            .checked_sub(1)
    }

    /// Goes back on the host; waiting for data is a separate kind.
    fn host<V: FnMut(Segment)>(&self, way: &mut Way<V>, to: i64) {
        let to = to.clamp(way.begin, way.time);
        let data = ranges::cut(&self.data, to, way.time);
        for (begin, end) in data.into_iter().rev() {
            way.back(end, HOST, way.call);
            way.back(begin, DATA, way.call);
        }
        way.back(to, HOST, way.call);
    }
}

/// Current moment of a path.
struct Way<V> {
    visit: V,
    time: i64,
    begin: i64,
    /// The call of the host that follows.
    call: Option<u32>,
}

impl<V: FnMut(Segment)> Way<V> {
    /// Goes back to a time, not before the start and never forwards: clocks of host and device may differ a little.
    fn back(&mut self, to: i64, kind: usize, slice: Option<u32>) {
        let to = to.max(self.begin).min(self.time);
        if to < self.time {
            (self.visit)(Segment {
                kind,
                begin: to,
                end: self.time,
                slice,
            });
        }
        self.time = to;
    }
}

fn kind(role: Role) -> usize {
    match role {
        Role::Communication => COMMUNICATION,
        Role::Memcpy => MEMCPY,
        Role::Memset => MEMSET,
        _ => KERNEL,
    }
}

/// Sums of the critical paths of some stretches of time by kind, those above 0; empty without launches.
pub fn totals(model: &Model, spans: &[Span]) -> BTreeMap<String, i64> {
    let paths = Paths::new(model);
    let mut totals = BTreeMap::new();
    if paths.is_empty() {
        return totals;
    }
    for (begin, end) in spans {
        let sums = paths.sums(*begin, *end);
        for (kind, nanos) in KINDS.iter().zip(sums).filter(|(_, nanos)| *nanos > 0) {
            let total = totals.entry((*kind).to_owned()).or_insert(0_i64);
            *total = total.saturating_add(nanos);
        }
    }
    totals
}
