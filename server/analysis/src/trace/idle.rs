//! Idle time of streams: each gap between two slices of device work, its cause, and the host meanwhile.

use std::collections::{BTreeMap, HashMap};

use trainscope_api::profile::IdleTotal;
use trainscope_format::trace::{NONE, SliceClass};

use super::ranges::Span;
use super::work::{is_waiting, launch, role};
use super::{Model, Role};

/// Shorter gaps are caused by the device itself, nanoseconds (the default of HTA's idle time breakdown).
const KERNEL_GAP_NANOS: i64 = 30;
/// Maximum time between the end of another stream's work and the end of a gap that waits for it, nanoseconds: chosen,
/// the time in which an event of a stream lets another one go on.
const STREAM_GAP_NANOS: i64 = 10_000;

/// Cause of a gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// The work behind it was launched after the gap had begun.
    Host,
    /// The device needs this time between two kernels.
    Kernel,
    /// Work of another stream ended just before the gap did.
    OtherStream,
    /// Anything else.
    Other,
}

impl Cause {
    /// The name used in the API and in exports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Kernel => "kernel",
            Self::OtherStream => "other_stream",
            Self::Other => "other",
        }
    }
}

/// A gap between two slices of device work of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// Latest end of the work before.
    pub begin: i64,
    /// Start of the work behind it.
    pub end: i64,
    /// The work behind it.
    pub next: u32,
    /// Cause.
    pub cause: Cause,
}

/// Gaps of all streams, in the order of lanes and time. Time before the first work and behind the last is not a gap.
pub fn gaps(model: &Model) -> Vec<Gap> {
    let ends = ends(model);
    let mut gaps = Vec::new();
    for (lane, lane_slices) in (0..=u16::MAX).zip(&model.lanes) {
        let work = lane_slices
            .slices
            .clone()
            .filter(|slice| model.is_device(*slice));
        let mut before: Option<i64> = None;
        for slice in work {
            let (begin, end) = model.span(slice);
            if let Some(idle) = before.filter(|idle| *idle < begin) {
                let others = ends.get(process(model, lane));
                gaps.push(Gap {
                    begin: idle,
                    end: begin,
                    next: slice,
                    cause: cause(model, others, lane, (idle, begin), slice),
                });
            }
            before = Some(before.map_or(end, |idle| idle.max(end)));
        }
    }
    gaps
}

/// Gaps in the work of each device, in the order of devices and time. During a gap no stream works, and its cause is
/// that of the next work on any stream. A gap of a single stream does not delay the device.
pub fn device_gaps(model: &Model) -> Vec<Gap> {
    let mut work: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    for (lane, lane_slices) in (0..=u16::MAX).zip(&model.lanes) {
        let slices = lane_slices
            .slices
            .clone()
            .filter(|slice| model.is_device(*slice));
        work.entry(process(model, lane)).or_default().extend(slices);
    }
    let mut gaps = Vec::new();
    for (_, mut slices) in work {
        slices.sort_by_key(|slice| model.span(*slice));
        let mut before: Option<i64> = None;
        for slice in slices {
            let (begin, end) = model.span(slice);
            if let Some(idle) = before.filter(|idle| *idle < begin) {
                gaps.push(Gap {
                    begin: idle,
                    end: begin,
                    next: slice,
                    cause: cause(model, None, 0, (idle, begin), slice),
                });
            }
            before = Some(before.map_or(end, |idle| idle.max(end)));
        }
    }
    gaps
}

fn process(model: &Model, lane: u16) -> &str {
    let lane = model.trace.lanes.get(usize::from(lane));
    lane.map_or("", |lane| &lane.process)
}

fn cause(model: &Model, others: Option<&Ends>, lane: u16, gap: Span, next: u32) -> Cause {
    let launched = launch(model, next).map(|call| model.span(call).0);
    let just_before = || others.and_then(|ends| ends.last_of_others(lane, gap.1));
    if launched.is_some_and(|begin| begin > gap.0) {
        Cause::Host
    } else if gap.1.saturating_sub(gap.0) < KERNEL_GAP_NANOS {
        Cause::Kernel
    } else if just_before()
        .is_some_and(|end| end > gap.0 && end >= gap.1.saturating_sub(STREAM_GAP_NANOS))
    {
        Cause::OtherStream
    } else {
        Cause::Other
    }
}

/// Ends of the work of a process in order of time.
#[derive(Default)]
struct Ends {
    /// Times and lanes.
    list: Vec<(i64, u16)>,
    /// Index of the nearest earlier end of another lane, for each end.
    others: Vec<u32>,
}

impl Ends {
    /// The latest end of another lane up to a time.
    fn last_of_others(&self, lane: u16, time: i64) -> Option<i64> {
        let index = self.list.partition_point(|end| end.0 <= time);
        let last = index.checked_sub(1)?;
        let index = match self.list.get(last)? {
            (_, other) if *other == lane => *self.others.get(last)? as usize,
            _ => last,
        };
        self.list.get(index).map(|end| end.0)
    }
}

/// Ends of device work by process.
fn ends(model: &Model) -> HashMap<&str, Ends, foldhash::fast::RandomState> {
    let mut ends: HashMap<&str, Ends, foldhash::fast::RandomState> = HashMap::default();
    for (lane, lane_slices) in (0..=u16::MAX).zip(&model.lanes) {
        for slice in lane_slices.slices.clone() {
            if model.is_device(slice) {
                let of_process = ends.entry(process(model, lane)).or_default();
                of_process.list.push((model.span(slice).1, lane));
            }
        }
    }
    #[expect(clippy::iter_over_hash_type, reason = "each is sorted by itself")]
    for of_process in ends.values_mut() {
        of_process.list.sort_unstable();
        let mut before = NONE;
        let mut others = Vec::with_capacity(of_process.list.len());
        for (index, end) in (0_u32..).zip(&of_process.list) {
            let last = index.checked_sub(1);
            if let Some(last) = last.filter(|last| of_process.list[*last as usize].1 != end.1) {
                before = last;
            }
            others.push(before);
        }
        of_process.others = others;
    }
    ends
}

/// Gaps by stream and cause.
pub fn totals(model: &Model, gaps: &[Gap]) -> Vec<IdleTotal> {
    let mut totals: BTreeMap<(u16, Cause), IdleTotal> = BTreeMap::new();
    for gap in gaps {
        let lane = model.trace.slices.lanes.get(gap.next as usize);
        let lane = lane.copied().unwrap_or_default();
        let total = totals.entry((lane, gap.cause)).or_insert_with(|| {
            let lane = model.trace.lanes.get(usize::from(lane));
            IdleTotal {
                stream: lane.map_or_else(String::new, |lane| {
                    format!("{}/{}", lane.process, lane.thread)
                }),
                cause: gap.cause.as_str().to_owned(),
                ..IdleTotal::default()
            }
        });
        let nanos = gap.end.saturating_sub(gap.begin);
        total.count += 1;
        total.nanos = total.nanos.saturating_add(nanos);
        if nanos > total.longest_nanos {
            total.longest_nanos = nanos;
            total.longest_begin_nanos = gap.begin.saturating_sub(model.origin());
        }
    }
    totals.into_values().collect()
}

/// Activities of a thread, in order of precedence.
const ACTIVITIES: [&str; 5] = ["data", "waiting", "python", "operators", "nothing"];
const DATA: usize = 0;
const WAITING: usize = 1;
const PYTHON: usize = 2;
const OPERATORS: usize = 3;
const NOTHING: usize = 4;

/// Activity of the launching threads during the gaps of cause host; it adds up to these gaps.
pub fn host_meanwhile(model: &Model, gaps: &[Gap]) -> BTreeMap<String, i64> {
    let mut by_lane: BTreeMap<u16, Vec<Span>> = BTreeMap::new();
    for gap in gaps.iter().filter(|gap| gap.cause == Cause::Host) {
        let call = launch(model, gap.next);
        let lane = call.and_then(|call| model.trace.slices.lanes.get(call as usize));
        let entry = by_lane.entry(lane.copied().unwrap_or_default());
        entry.or_default().push((gap.begin, gap.end));
    }
    let mut sums = [0_i64; ACTIVITIES.len()];
    for (lane, gaps) in by_lane {
        let mut edges: Vec<i64> = gaps.iter().flat_map(|gap| [gap.0, gap.1]).collect();
        edges.sort_unstable();
        edges.dedup();
        let until = Sweep::new(&edges).lane(model, lane);
        let at = |time: i64| edges.binary_search(&time).ok().and_then(|i| until.get(i));
        for (begin, end) in gaps {
            if let (Some(begin), Some(end)) = (at(begin), at(end)) {
                for (sum, (from, to)) in sums.iter_mut().zip(begin.iter().zip(end)) {
                    *sum = sum.saturating_add(to.saturating_sub(*from));
                }
            }
        }
    }
    let named = ACTIVITIES.iter().zip(sums).filter(|(_, nanos)| *nanos > 0);
    named
        .map(|(name, nanos)| ((*name).to_owned(), nanos))
        .collect()
}

/// Time of each activity from the first edge to each edge, in one pass over a thread.
struct Sweep<'a> {
    edges: &'a [i64],
    until: Vec<[i64; ACTIVITIES.len()]>,
    sums: [i64; ACTIVITIES.len()],
    now: i64,
    /// Ends of the open slices, and `true` for Python frames; the innermost last.
    open: Vec<(i64, bool)>,
    data_until: i64,
    waiting_until: i64,
}

impl<'a> Sweep<'a> {
    fn new(edges: &'a [i64]) -> Self {
        Self {
            edges,
            until: Vec::with_capacity(edges.len()),
            sums: [0; ACTIVITIES.len()],
            now: i64::MIN,
            open: Vec::new(),
            data_until: i64::MIN,
            waiting_until: i64::MIN,
        }
    }

    fn lane(mut self, model: &Model, lane: u16) -> Vec<[i64; ACTIVITIES.len()]> {
        let slices = model.lanes.get(usize::from(lane));
        for slice in slices.map_or(0..0, |lane| lane.slices.clone()) {
            let is_python = model.class(slice) == SliceClass::PythonFrame;
            let role = role(model, slice);
            if role == Role::None && !is_python {
                continue;
            }
            let (begin, end) = model.span(slice);
            self.go_to(begin);
            if role == Role::Data {
                self.data_until = self.data_until.max(end);
            } else if is_waiting(model, slice) {
                self.waiting_until = self.waiting_until.max(end);
            } else {
                self.open.push((end, is_python));
            }
            if self.until.len() == self.edges.len() {
                break;
            }
        }
        self.go_to(i64::MAX);
        self.until
    }

    fn go_to(&mut self, time: i64) {
        while self.now < time {
            while self.open.last().is_some_and(|open| open.0 <= self.now) {
                self.open.pop();
            }
            let open = self.open.last().copied();
            let activity = match open {
                _ if self.now < self.data_until => DATA,
                _ if self.now < self.waiting_until => WAITING,
                Some((_, true)) => PYTHON,
                Some((_, false)) => OPERATORS,
                None => NOTHING,
            };
            let ends = [
                self.data_until,
                self.waiting_until,
                open.map_or(i64::MAX, |open| open.0),
            ];
            let next = ends
                .into_iter()
                .filter(|end| *end > self.now)
                .fold(time, i64::min);
            self.spend(next, activity);
        }
    }

    /// Counts the time up to a moment as one activity.
    fn spend(&mut self, time: i64, activity: usize) {
        while let Some(edge) = self
            .edges
            .get(self.until.len())
            .filter(|edge| **edge <= time)
        {
            if !self.until.is_empty() {
                let spent = edge.saturating_sub(self.now);
                self.sums[activity] = self.sums[activity].saturating_add(spent);
            }
            self.now = *edge;
            self.until.push(self.sums);
        }
        if !self.until.is_empty() && self.until.len() < self.edges.len() {
            let spent = time.saturating_sub(self.now);
            self.sums[activity] = self.sums[activity].saturating_add(spent);
        }
        self.now = time;
    }
}
