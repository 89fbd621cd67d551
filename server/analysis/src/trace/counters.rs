//! Numbers over time: the counters of a file, memory, queues of streams and the utilization of devices.

use std::borrow::Cow;
use std::collections::BTreeMap;

use trainscope_api::timeline::TimelineCounter;
use trainscope_format::trace::{LaneKind, MemoryEvent, NONE};

use super::ranges::{self, Span};
use super::{Model, Role, lane};

/// Maximum number of buckets of a counter in one answer.
pub const MAX_BUCKETS: usize = 400;
/// Time for which the utilization of a device is one value, nanoseconds: a millisecond.
const UTILIZATION_NANOS: i64 = 1_000_000;
/// Maximum number of values of the utilization of a device.
const MAX_UTILIZATION: usize = 16 * MAX_BUCKETS;

/// A series in order of time, on the clock of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Series<'model> {
    /// Name for display.
    pub name: String,
    /// `bytes`, `share` or empty.
    pub unit: &'static str,
    /// Times.
    pub times: Cow<'model, [i64]>,
    /// Value since each time.
    pub values: Cow<'model, [f64]>,
}

/// Memory of each device, then the counters of the file.
pub fn recorded(model: &Model) -> Vec<Series<'_>> {
    let mut devices: BTreeMap<(i32, i32), Vec<&MemoryEvent>> = BTreeMap::new();
    for event in &model.trace.memory {
        let entry = devices.entry((event.device_type, event.device));
        entry.or_default().push(event);
    }
    let mut series = Vec::new();
    for ((kind, device), mut events) in devices {
        events.sort_by_key(|event| event.time);
        series.push(Series {
            name: format!("memory {}", memory_name(kind, device)),
            unit: "bytes",
            times: events.iter().map(|event| event.time).collect(),
            values: events.iter().map(|event| event.allocated as f64).collect(),
        });
    }
    let counters = &model.trace.counters;
    let mut names: BTreeMap<&str, u32> = BTreeMap::new();
    for counter in counters {
        *names.entry(&counter.name).or_default() += 1;
    }
    for counter in counters {
        let is_only = names.get(counter.name.as_str()) == Some(&1);
        let len = counter.times.len().min(counter.values.len());
        let (times, values) = (&counter.times[..len], &counter.values[..len]);
        let (times, values) = if times.is_sorted() {
            (Cow::Borrowed(times), Cow::Borrowed(values))
        } else {
            let mut points: Vec<_> = times.iter().copied().zip(values.iter().copied()).collect();
            points.sort_by_key(|(time, _)| *time);
            let (times, values): (Vec<i64>, Vec<f64>) = points.into_iter().unzip();
            (times.into(), values.into())
        };
        series.push(Series {
            name: if is_only {
                counter.name.clone()
            } else {
                format!("{} · {}", counter.name, counter.process)
            },
            unit: "",
            times,
            values,
        });
    }
    series
}

/// Name of a device in memory events: type 0 is the host, 1 a GPU.
fn memory_name(kind: i32, device: i32) -> String {
    match kind {
        0 => "host".to_owned(),
        1 => format!("GPU {device}"),
        _ => format!("{kind}:{device}"),
    }
}

/// Launches that have not begun, for each stream with launches.
pub fn queues(model: &Model) -> Vec<Series<'static>> {
    let mut series = Vec::new();
    for (index, lane) in model.lanes.iter().enumerate() {
        let launched = lane.slices.clone().filter_map(|slice| {
            let call = model.launches[slice as usize];
            (call != NONE).then(|| (model.span(call).0, model.span(slice).0))
        });
        let (mut calls, mut begins): (Vec<i64>, Vec<i64>) = launched.unzip();
        if calls.is_empty() {
            continue;
        }
        calls.sort_unstable();
        begins.sort_unstable();
        let mut times = Vec::with_capacity(2 * calls.len());
        let mut values = Vec::with_capacity(2 * calls.len());
        let (mut call, mut begin, mut waiting) = (0, 0, 0_i64);
        while call < calls.len() || begin < begins.len() {
            let is_call = match (calls.get(call), begins.get(begin)) {
                (Some(call), Some(begin)) => call <= begin,
                (next, _) => next.is_some(),
            };
            let time = if is_call { calls[call] } else { begins[begin] };
            if is_call {
                call += 1;
                waiting += 1;
            } else {
                begin += 1;
                waiting -= 1;
            }
            times.push(time);
            values.push(waiting as f64);
        }
        series.push(Series {
            name: format!("queue {}", lane::name(model, index)),
            unit: "",
            times: times.into(),
            values: values.into(),
        });
    }
    series
}

/// Share of each millisecond, or of longer stretches of a long recording, during which kernels run on a device.
pub fn utilization(model: &Model) -> Vec<Series<'static>> {
    let mut devices: BTreeMap<&str, (String, Vec<Span>)> = BTreeMap::new();
    for (index, lane) in model.trace.lanes.iter().enumerate() {
        if lane.kind != LaneKind::Device {
            continue;
        }
        let group = || (lane::group_name(model, index), Vec::new());
        let (_, spans) = devices.entry(&lane.process).or_insert_with(group);
        lane::spans(model, index, spans, |slice| {
            matches!(model.roles[slice], Role::Kernel | Role::Communication)
        });
    }
    devices.retain(|_, (_, spans)| !spans.is_empty());
    let (from, to) = (model.extent.start, model.extent.end);
    let parts = to.saturating_sub(from) / UTILIZATION_NANOS;
    let parts = usize::try_from(parts)
        .unwrap_or(1)
        .clamp(1, MAX_UTILIZATION);
    let series = devices.into_values().map(|(name, spans)| Series {
        name: format!("utilization {name}"),
        unit: "share",
        times: (0..parts).map(|part| edge(from, to, part, parts)).collect(),
        values: shares(&ranges::merge(spans), (from, to), parts).into(),
    });
    series.collect()
}

/// Start of one of `parts` equal stretches of time.
fn edge(from: i64, to: i64, part: usize, parts: usize) -> i64 {
    let span = i128::from(to) - i128::from(from);
    let offset = span * part as i128 / parts.max(1) as i128;
    i64::try_from(i128::from(from) + offset).unwrap_or(to)
}

/// Share of each of `parts` equal stretches of time that merged ranges cover, 0 to 1.
pub fn shares(spans: &[Span], (from, to): Span, parts: usize) -> Vec<f64> {
    let mut spans = spans.iter().copied().peekable();
    let stretches =
        (0..parts).map(|part| (edge(from, to, part, parts), edge(from, to, part + 1, parts)));
    let share = |(begin, end): Span| {
        let mut covered = 0;
        while let Some((first, last)) = spans.peek().copied() {
            covered += last.min(end).saturating_sub(first.max(begin)).max(0);
            // A range that goes on belongs to the next stretch too.
            if last > end {
                break;
            }
            spans.next();
        }
        covered as f64 / end.saturating_sub(begin).max(1) as f64
    };
    stretches.map(share).collect()
}

/// A series in at most [`MAX_BUCKETS`] buckets. The minimum of a bucket with NaN is NaN, and its maximum is that of the
/// other values: neither hides the other.
pub fn buckets(series: Series<'_>, model: &Model) -> TimelineCounter {
    let Series {
        name,
        unit,
        times,
        values,
    } = series;
    let mut counter = TimelineCounter {
        name,
        unit: unit.to_owned(),
        ..TimelineCounter::default()
    };
    let is_exact = times.len() <= MAX_BUCKETS;
    let span = model.extent.end.saturating_sub(model.origin()).max(1);
    let mut open = None;
    for (index, (time, value)) in times.iter().zip(values.iter()).enumerate() {
        let time = time.saturating_sub(model.origin());
        let bucket = if is_exact {
            index
        } else {
            let bucket = i128::from(time.clamp(0, span)) * MAX_BUCKETS as i128 / i128::from(span);
            usize::try_from(bucket).map_or(0, |bucket| bucket.min(MAX_BUCKETS - 1))
        };
        if open != Some(bucket) {
            open = Some(bucket);
            counter.times_nanos.push(time);
            counter.least.push(*value);
            counter.greatest.push(*value);
            counter.last.push(*value);
            continue;
        }
        if let Some(least) = counter.least.last_mut()
            && (value.is_nan() || *value < *least)
        {
            *least = *value;
        }
        if let Some(greatest) = counter.greatest.last_mut() {
            *greatest = greatest.max(*value);
        }
        if let Some(last) = counter.last.last_mut() {
            *last = *value;
        }
    }
    counter
}
