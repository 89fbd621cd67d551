//! Memory of one device over time: series by category, the holders of a moment, and growth.

use std::collections::BTreeMap;

use trainscope_api::profile::{
    MAX_MEMORY_POINTS, MAX_STRETCHES, MemoryAnswer, MemoryCategory, MemoryFailure, MemoryFrame,
    MemoryGrowth, MemoryHolder, MemorySeries, MemoryTotal,
};
use trainscope_format::trace::{MemoryEvent, NONE, TextId};

use super::super::flame::Stacks;
use super::super::scopes::Scopes;
use super::super::work::operator;
use super::super::{Model, robust};
use super::callers::Callers;
use super::categories::{Bytes, CATEGORIES, column, fitted};
use super::timeline::Purposes;
use super::{DeviceKey, Life, device_name, devices, failures, in_time, lives, peak, total};

/// Maximum number of holders in one answer.
const MAX_HOLDERS: usize = 500;
/// Maximum number of failed allocations in one answer.
const MAX_FAILURES: usize = 100;

/// A question about memory; times are nanoseconds since the start of the session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryAsk {
    /// Device, as `0:-1`; the device with the highest peak if left out.
    pub device: Option<String>,
    /// Moment of the listed holders; the peak if left out.
    pub at_nanos: Option<i64>,
    /// Start of the stretch of time.
    pub from_nanos: Option<i64>,
    /// End of the stretch of time.
    pub to_nanos: Option<i64>,
    /// `true` to list each allocation as a holder.
    pub single: bool,
}

/// Memory of a device; an empty answer if it has no events.
pub fn memory(model: &Model, ask: &MemoryAsk) -> MemoryAnswer {
    let devices = devices(model);
    let totals: Vec<MemoryTotal> = devices
        .iter()
        .map(|(key, events)| total(model, *key, events))
        .collect();
    let mut keyed = devices.into_iter().zip(&totals);
    let chosen = match &ask.device {
        Some(name) => keyed.find(|(_, total)| total.device == *name),
        None => keyed.max_by_key(|(_, total)| total.peak_len_bytes),
    };
    let mut answer = chosen.map_or_else(MemoryAnswer::default, |((key, events), total)| {
        Recording::new(model, key, events).answer(ask, total)
    });
    answer.devices = totals;
    answer
}

/// Operator, scope, caller and category of a holder, and its number if each allocation is one.
type HolderKey<'m> = (&'m str, TextId, usize, MemoryCategory, usize);

/// Events of a device in order of time, and the lives that they begin and end.
struct Recording<'m> {
    model: &'m Model,
    key: DeviceKey,
    events: Vec<&'m MemoryEvent>,
    peak: Option<&'m MemoryEvent>,
    lives: Vec<Life>,
    /// Bytes that were allocated before the recording and not released in it.
    kept: u64,
}

impl<'m> Recording<'m> {
    fn new(model: &'m Model, key: DeviceKey, mut events: Vec<&'m MemoryEvent>) -> Self {
        let peak = peak(&events);
        events.sort_by_key(|event| event.time);
        let lives = lives(model, key, &events);
        let unseen = lives.iter().filter(|life| life.begin == NONE);
        let unseen = unseen.fold(0_u64, |sum, life| sum.saturating_add(life.bytes));
        let kept = before(&events).saturating_sub(unseen);
        Self {
            model,
            key,
            events,
            peak,
            lives,
            kept,
        }
    }

    fn answer(&self, ask: &MemoryAsk, total: &MemoryTotal) -> MemoryAnswer {
        let origin = self.model.origin();
        let edges = self.events.first().zip(self.events.last());
        let from = edges.map_or(origin, |(event, _)| event.time.min(origin));
        let to = edges.map_or(origin, |(_, event)| event.time.max(self.model.extent.end));
        let absolute = |nanos: i64| origin.saturating_add(nanos);
        let (from, to) = (
            ask.from_nanos.map_or(from, absolute),
            ask.to_nanos.map_or(to, absolute),
        );
        let at = ask.at_nanos.map(absolute);
        let after = match (at, self.peak) {
            (Some(at), _) => self.events.partition_point(|event| event.time <= at),
            (None, Some(peak)) => {
                let is_peak = |event: &&MemoryEvent| std::ptr::eq(*event, peak);
                self.events.iter().position(is_peak).map_or(0, |at| at + 1)
            }
            (None, None) => 0,
        };
        let state = after.checked_sub(1).and_then(|last| self.events.get(last));
        let at_len_bytes = state.map_or_else(|| before(&self.events), |event| event.allocated);
        let (holders, cut) = self.holders(after, at_len_bytes, ask.single);
        let points = self.points(from, to);
        let since = |time: i64| time.saturating_sub(origin);
        let least = least_by_step(self.model, &self.events);
        MemoryAnswer {
            devices: Vec::new(),
            device: device_name(self.key),
            categories_from_file: self.purposes().is_some(),
            times_nanos: points.times.iter().map(|time| since(*time)).collect(),
            series: points.series(),
            at_nanos: since(at.or(state.map(|event| event.time)).unwrap_or(origin)),
            at_len_bytes,
            allocated: points.allocated,
            reserved: points.reserved,
            holders,
            stacks: if total.by_stacks {
                self.stacks(after)
            } else {
                Vec::new()
            },
            failures: self.failures(),
            fragmentation: fragmentation(total),
            growth: growth(&least, total),
            least_by_step: least,
            cut,
        }
    }

    /// Allocations that are alive after a number of events.
    fn alive(&self, after: usize) -> impl Iterator<Item = &Life> {
        self.lives.iter().filter(move |life| life.is_alive(after))
    }

    /// Call stacks of the memory that is alive after a number of events, the callers first.
    fn stacks(&self, after: usize) -> Vec<MemoryFrame> {
        let alive = self.alive(after).map(|life| (life.stack, life.bytes));
        let frames = Stacks::of_memory(self.model, alive).answer().frames;
        let frames = frames.into_iter().map(|frame| MemoryFrame {
            name: frame.name,
            depth: frame.depth,
            bytes: frame.total_nanos.unsigned_abs(),
            self_bytes: frame.self_nanos.unsigned_abs(),
            count: frame.count,
        });
        frames.collect()
    }

    fn failures(&self) -> Vec<MemoryFailure> {
        let mut callers = Callers::new(self.model);
        let origin = self.model.origin();
        let failures = failures(self.model, self.key).take(MAX_FAILURES);
        let failures = failures.map(|failure| MemoryFailure {
            at_nanos: failure.time.saturating_sub(origin),
            bytes: failure.bytes,
            free_bytes: failure.free,
            caller: callers.get(failure.stack).path.clone(),
        });
        failures.collect()
    }

    /// Memory that is alive after a number of events, the largest first: by operator, module and category, or by
    /// allocation. Bytes in the file's count that no allocation explains are a row too.
    fn holders(&self, after: usize, bytes: u64, is_single: bool) -> (Vec<MemoryHolder>, bool) {
        let origin = self.model.origin();
        let time = |event: u32| {
            let event = self.events.get(event as usize);
            event
                .map_or(origin, |event| event.time)
                .saturating_sub(origin)
        };
        let end = self.model.extent.end.saturating_sub(origin);
        let mut held: BTreeMap<HolderKey<'_>, MemoryHolder> = BTreeMap::new();
        let scopes = Scopes::new(self.model);
        let mut callers = Callers::new(self.model);
        for (number, life) in self.alive(after).enumerate() {
            let number = if is_single { number } else { 0 };
            let slice = Some(life.slice).filter(|slice| *slice != NONE);
            let operator = slice.and_then(|slice| operator(self.model, slice));
            let operator = operator.map_or("", |slice| self.model.name(slice));
            let scope = slice.map_or(TextId(0), |slice| scopes.id(slice));
            let caller = callers.get(life.stack);
            let at = |event: u32, otherwise: i64| {
                if event == NONE {
                    otherwise
                } else {
                    time(event)
                }
            };
            let (begin, until) = (at(life.begin, 0), at(life.end, end));
            let row = held
                .entry((operator, scope, caller.number, life.category, number))
                .or_insert_with(|| {
                    let is_known = slice.is_some();
                    MemoryHolder {
                        operator: if is_known { operator } else { &caller.line }.to_owned(),
                        scope: if is_known {
                            scopes.text(scope)
                        } else {
                            &caller.path
                        }
                        .to_owned(),
                        category: life.category,
                        begin_nanos: begin,
                        end_nanos: until,
                        ..MemoryHolder::default()
                    }
                });
            row.count += 1;
            row.bytes = row.bytes.saturating_add(life.bytes);
            row.begin_nanos = row.begin_nanos.min(begin);
            row.end_nanos = row.end_nanos.max(until);
        }
        let mut rows: Vec<MemoryHolder> = held.into_values().collect();
        let held = rows.iter().map(|row| row.bytes);
        let rest = bytes.saturating_sub(held.fold(0, u64::saturating_add));
        let kept = self.kept.min(rest);
        let unexplained = [
            (MemoryCategory::Kept, kept),
            (MemoryCategory::Other, rest - kept),
        ];
        rows.extend(
            unexplained
                .into_iter()
                .filter(|row| row.1 > 0)
                .map(|(category, bytes)| MemoryHolder {
                    category,
                    bytes,
                    end_nanos: end,
                    ..MemoryHolder::default()
                }),
        );
        rows.sort_by_key(|row| std::cmp::Reverse(row.bytes));
        let cut = rows.len() > MAX_HOLDERS;
        rows.truncate(MAX_HOLDERS);
        (rows, cut)
    }

    /// Bytes over a stretch of time: after each event, or the maximum of each of [`MAX_MEMORY_POINTS`] equal stretches.
    fn points(&self, from: i64, to: i64) -> Points {
        let inside = |event: &&&MemoryEvent| from <= event.time && event.time <= to;
        let is_short = self.events.iter().filter(inside).count() < MAX_MEMORY_POINTS;
        let length = i128::from(to) - i128::from(from) + 1;
        let bucket = |index: usize, time: i64| {
            if is_short {
                return index;
            }
            // One stretch less: the state at the start is a point too.
            let stretches = MAX_MEMORY_POINTS as i128 - 1;
            let place = (i128::from(time) - i128::from(from)) * stretches / length.max(1);
            usize::try_from(place).unwrap_or(0)
        };
        let (mut state, changes) = self.changes();
        let mut points = Points::default();
        let purposes = self.purposes();
        let split = |state: &Bytes, time: i64, allocated: u64| {
            let recorded = purposes.and_then(|purposes| purposes.at(time, allocated));
            fitted(recorded.unwrap_or(*state), allocated)
        };
        // The bytes reserved before the first event are unknown; they seldom shrink.
        let reserved = self.events.first().map_or(0, |first| first.reserved);
        let mut counts = (before(&self.events), reserved);
        let mut has_begun = false;
        for (index, (event, change)) in self.events.iter().zip(&changes).enumerate() {
            if event.time > to {
                break;
            }
            if event.time >= from && !has_begun {
                points.push(None, from, counts, split(&state, from, counts.0));
                has_begun = true;
            }
            for (life, sign) in change.iter().zip([1, -1]) {
                if let Some(life) = self.lives.get(*life as usize) {
                    state[column(life.category)] += sign * i128::from(life.bytes);
                }
            }
            counts = (event.allocated, event.reserved);
            if event.time >= from {
                let bytes = split(&state, event.time, counts.0);
                points.push(Some(bucket(index, event.time)), event.time, counts, bytes);
            }
        }
        if !has_begun && !self.events.is_empty() {
            points.push(None, from, counts, split(&state, from, counts.0));
        }
        points
    }

    /// Bytes by purpose from a file about this device.
    fn purposes(&self) -> Option<&Purposes> {
        self.model.purposes_of(self.key)
    }

    /// Bytes by column before the first event, and the lives that begin and end at each event; [`NONE`] if missing.
    fn changes(&self) -> (Bytes, Vec<[u32; 2]>) {
        let mut changes = vec![[NONE; 2]; self.events.len()];
        let mut state = Bytes::default();
        state[column(MemoryCategory::Kept)] = i128::from(self.kept);
        for (number, life) in (0_u32..).zip(&self.lives) {
            match changes.get_mut(life.begin as usize) {
                Some(change) => change[0] = number,
                None => state[column(life.category)] += i128::from(life.bytes),
            }
            if let Some(change) = changes.get_mut(life.end as usize) {
                change[1] = number;
            }
        }
        (state, changes)
    }
}

/// Bytes before the first event, as the file counts them.
fn before(events: &[&MemoryEvent]) -> u64 {
    events.first().map_or(0, |first| {
        let before = i128::from(first.allocated) - i128::from(first.bytes);
        u64::try_from(before).unwrap_or(0)
    })
}

/// Points of the series: the moment of the maximum of allocated bytes of each bucket.
#[derive(Default)]
struct Points {
    times: Vec<i64>,
    allocated: Vec<u64>,
    reserved: Vec<u64>,
    columns: [Vec<u64>; CATEGORIES.len()],
    bucket: Option<usize>,
}

impl Points {
    /// Adds a state to its bucket; a state without a bucket is a separate point.
    fn push(
        &mut self,
        bucket: Option<usize>,
        time: i64,
        (allocated, reserved): (u64, u64),
        bytes: Bytes,
    ) {
        let bytes = bytes.map(|bytes| u64::try_from(bytes).unwrap_or(0));
        let is_same = bucket.is_some() && bucket == self.bucket;
        self.bucket = bucket;
        if is_same {
            set_last(&mut self.reserved, reserved, |last| last < reserved);
            if self.allocated.last() >= Some(&allocated) {
                return;
            }
            set_last(&mut self.times, time, |_| true);
            set_last(&mut self.allocated, allocated, |_| true);
            for (column, bytes) in self.columns.iter_mut().zip(bytes) {
                set_last(column, bytes, |_| true);
            }
            return;
        }
        self.times.push(time);
        self.allocated.push(allocated);
        self.reserved.push(reserved);
        for (column, bytes) in self.columns.iter_mut().zip(bytes) {
            column.push(bytes);
        }
    }

    /// Series of the categories that have bytes.
    fn series(&self) -> Vec<MemorySeries> {
        let named = CATEGORIES.iter().zip(&self.columns);
        let used = named.filter(|(_, bytes)| bytes.iter().any(|bytes| *bytes > 0));
        let series = used.map(|(category, bytes)| MemorySeries {
            category: *category,
            bytes: bytes.clone(),
        });
        series.collect()
    }
}

/// Replaces the last value if it is wanted.
fn set_last<T: Copy>(column: &mut [T], value: T, is_wanted: impl Fn(T) -> bool) {
    if let Some(last) = column.last_mut().filter(|last| is_wanted(**last)) {
        *last = value;
    }
}

/// Share of the reserved bytes that are not allocated at the peak, 0 to 1, for the rule about fragmentation.
pub fn fragmentation(total: &MemoryTotal) -> f64 {
    let reserved = total.peak_reserved_bytes;
    reserved.saturating_sub(total.peak_len_bytes) as f64 / reserved.max(1) as f64
}

/// Minimum bytes of each step; with more than [`MAX_STRETCHES`] steps, the minimum of each stretch of steps.
fn least_by_step(model: &Model, events: &[&MemoryEvent]) -> Vec<(i64, u64)> {
    let mut least = Vec::with_capacity(model.steps.list.len());
    let mut later = events.iter().peekable();
    let mut now = before(events);
    for step in &model.steps.list {
        while let Some(event) = later.next_if(|event| event.time < step.begin) {
            now = event.allocated;
        }
        let mut lowest = now;
        while let Some(event) = later.next_if(|event| event.time < step.end) {
            now = event.allocated;
            lowest = lowest.min(now);
        }
        least.push((step.number, lowest));
    }
    let stretch = least.len().div_ceil(MAX_STRETCHES).max(1);
    let joined = least.chunks(stretch).filter_map(|steps| {
        let bytes = steps.iter().map(|step| step.1).min()?;
        Some((steps.first()?.0, bytes))
    });
    joined.collect()
}

/// Minimum bytes of each step on a device, as in [`MemoryAnswer::least_by_step`].
pub fn least(model: &Model, device: &str) -> Vec<(i64, u64)> {
    let found = devices(model)
        .into_iter()
        .find(|(key, _)| device_name(*key) == device);
    found.map_or_else(Vec::new, |(_, events)| {
        least_by_step(model, &in_time(&events))
    })
}

/// Growth of the minimum bytes of steps; `None` with fewer than three steps.
pub fn growth(least: &[(i64, u64)], total: &MemoryTotal) -> Option<MemoryGrowth> {
    let points = least
        .iter()
        .map(|(step, bytes)| (*step as f64, *bytes as f64));
    let points: Vec<(f64, f64)> = points.collect();
    let slope = robust::slope(&points)?;
    let room = total.device_len_bytes.checked_sub(total.peak_len_bytes);
    let room = room.filter(|_| total.share().is_some() && slope.low > 0.0);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a cast of floats saturates; both numbers are above 0"
    )]
    let steps_until_full = room.map(|room| (room as f64 / slope.slope) as u64);
    Some(MemoryGrowth {
        slope: slope.slope,
        low: slope.low,
        high: slope.high,
        steps_until_full,
    })
}
