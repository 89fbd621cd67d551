//! Memory by purpose as `PyTorch` itself exports it, instead of the guess from lifetimes.

use trainscope_api::profile::{
    MAX_MEMORY_POINTS, MemoryAnswer, MemoryCategory, MemorySeries, MemoryTotal,
};
use trainscope_format::formats::memory_timeline::{MemoryTimeline, total};
use trainscope_format::trace::MemoryEvent;

use super::categories::{Bytes, column};
use super::{DeviceKey, devices, in_time};
use crate::trace::Model;
use crate::trace::figures::median;

/// Nanoseconds of a microsecond, to which the times of the file are rounded.
const ROUNDING_NANOS: i64 = 1_000;

/// Category of each column of the file.
const COLUMNS: [MemoryCategory; 9] = [
    MemoryCategory::Kept,
    MemoryCategory::Parameters,
    MemoryCategory::Optimizer,
    MemoryCategory::Inputs,
    MemoryCategory::Workspace,
    MemoryCategory::Activations,
    MemoryCategory::Gradients,
    MemoryCategory::Autograd,
    MemoryCategory::Other,
];

/// Bytes by purpose of one device over time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Purposes {
    device: DeviceKey,
    /// Points in order of time, on the clock of the trace.
    points: Vec<(i64, [u64; 9])>,
}

impl Purposes {
    /// The points that may be about a moment of the trace: those of its microsecond, else the last one before it.
    fn around(&self, time: i64) -> &[(i64, [u64; 9])] {
        let after = |time: i64| self.points.partition_point(|point| point.0 <= time);
        let first = after(time.saturating_sub(ROUNDING_NANOS));
        let last = after(time.saturating_add(ROUNDING_NANOS - 1));
        if first < last {
            &self.points[first..last]
        } else if first == 0 {
            // The first point: bytes from before the recording.
            &self.points[..self.points.len().min(1)]
        } else {
            &self.points[first - 1..first]
        }
    }

    /// Bytes by column of an answer at a moment; of several points, those of the point with the nearest sum.
    pub(super) fn at(&self, time: i64, allocated: u64) -> Option<Bytes> {
        let points = self.around(time).iter().rev();
        let (_, bytes) = points.min_by_key(|point| total(&point.1).abs_diff(allocated))?;
        let mut columns = Bytes::default();
        for (category, bytes) in COLUMNS.iter().zip(bytes) {
            columns[column(*category)] += i128::from(*bytes);
        }
        Some(columns)
    }

    /// Differences between the sums of the points and the counts of the events of a device, at the same moments.
    fn differences(&self, events: &[&MemoryEvent]) -> Vec<i64> {
        let same = events.iter().filter_map(|event| {
            let point = self.around(event.time).last()?;
            let is_same = point.0.abs_diff(event.time) < ROUNDING_NANOS.unsigned_abs();
            let sums = i64::try_from(total(&point.1))
                .ok()
                .zip(i64::try_from(event.allocated).ok());
            sums.filter(|_| is_same)
                .map(|(sum, allocated)| sum - allocated)
        });
        same.collect()
    }
}

impl Model {
    /// Bytes by purpose of a device, if a file next to the trace has them.
    pub(super) fn purposes_of(&self, device: DeviceKey) -> Option<&Purposes> {
        self.memory_purposes
            .as_ref()
            .filter(|purposes| purposes.device == device)
    }

    /// Takes over a file of the same session: the purposes of the memory of its device, and the bytes that were
    /// allocated before the recording, which the trace does not count. Files of other sessions may be next to a trace:
    /// they have few moments in common with it.
    pub fn add_memory_timeline(&mut self, timeline: &MemoryTimeline) {
        let Some(offset) = self.trace.head.unix_offset_nanos else {
            return;
        };
        let times = timeline
            .times
            .iter()
            .map(|time| time.saturating_sub(offset));
        let mut purposes = Purposes {
            points: times.zip(timeline.bytes.iter().copied()).collect(),
            ..Purposes::default()
        };
        purposes.points.sort_by_key(|point| point.0);
        let matches = devices(self).into_iter().map(|(device, events)| {
            let differences = purposes.differences(&in_time(&events));
            (differences.len() * 2 >= events.len(), device, differences)
        });
        let matches = matches.filter(|(is_same, ..)| *is_same);
        let Some((_, device, mut differences)) = matches.max_by_key(|entry| entry.2.len()) else {
            return;
        };
        let before = u64::try_from(median(&mut differences)).unwrap_or(0);
        for event in &mut self.trace.memory {
            if (event.device_type, event.device) == device {
                event.allocated = event.allocated.saturating_add(before);
            }
        }
        purposes.device = device;
        self.memory_purposes = Some(purposes);
    }
}

/// The answer of a file next to a trace without events of memory, or without a trace; an empty one for a file of
/// another session. With too many points, the point with the maximum bytes of each stretch is taken.
pub fn without_events(model: &Model, timeline: &MemoryTimeline) -> MemoryAnswer {
    let is_alone = model.trace.slices.is_empty() && model.trace.counts.events == 0;
    let edges = timeline.times.iter().min().zip(timeline.times.iter().max());
    let (origin, extent) = match (model.trace.head.unix_offset_nanos, edges) {
        // Without a trace the file is the session.
        (_, Some((first, last))) if is_alone => (*first, last.saturating_sub(*first)),
        (Some(offset), _) => (
            model.origin().saturating_add(offset),
            model.extent.end.saturating_sub(model.origin()),
        ),
        (None, _) => return MemoryAnswer::default(),
    };
    let points: Vec<(i64, &[u64; 9])> = (timeline.times.iter())
        .map(|time| time.saturating_sub(origin))
        .zip(&timeline.bytes)
        .collect();
    let is_within = |(time, _): &&(i64, &[u64; 9])| (0..=extent).contains(time);
    if points.iter().filter(is_within).count() * 2 < points.len() || points.is_empty() {
        return MemoryAnswer::default();
    }
    let stretch = points.len().div_ceil(MAX_MEMORY_POINTS);
    let reduced: Vec<(i64, &[u64; 9])> = points
        .chunks(stretch)
        .filter_map(|chunk| chunk.iter().max_by_key(|(_, bytes)| total(bytes)))
        .copied()
        .collect();
    let peak = reduced.iter().rev().max_by_key(|(_, bytes)| total(bytes));
    let peak = peak.map(|(time, bytes)| (*time, total(bytes)));
    let (peak_at_nanos, peak_len_bytes) = peak.unwrap_or_default();
    let series = COLUMNS.iter().enumerate();
    let series = series
        .map(|(column, category)| MemorySeries {
            category: *category,
            bytes: reduced.iter().map(|(_, bytes)| bytes[column]).collect(),
        })
        .filter(|series| series.bytes.iter().any(|bytes| *bytes > 0));
    MemoryAnswer {
        devices: vec![MemoryTotal {
            peak_len_bytes,
            peak_at_nanos,
            ..MemoryTotal::default()
        }],
        categories_from_file: true,
        times_nanos: reduced.iter().map(|(time, _)| *time).collect(),
        allocated: reduced.iter().map(|(_, bytes)| total(bytes)).collect(),
        series: series.collect(),
        at_nanos: peak_at_nanos,
        at_len_bytes: peak_len_bytes,
        ..MemoryAnswer::default()
    }
}

#[cfg(test)]
mod tests {
    use trainscope_api::profile::{MemoryAnswer, MemoryCategory};
    use trainscope_format::formats::memory_timeline::MemoryTimeline;
    use trainscope_format::trace::{MemoryEvent, Trace};

    use super::super::{MemoryAsk, memory};
    use super::{Model, without_events};

    /// Allocations of 10 bytes each on two devices, counted from the start of the recording.
    fn model() -> Model {
        let mut trace = Trace::default();
        trace.head.unix_offset_nanos = Some(1_000_000);
        trace.counts.events = 3;
        for (device_type, time) in [(0, 500), (0, 5_000), (1, 7_500)] {
            trace.memory.push(MemoryEvent {
                time,
                bytes: 10,
                address: time.unsigned_abs(),
                allocated: if time == 5_000 { 20 } else { 10 },
                device_type,
                ..MemoryEvent::default()
            });
        }
        Model::new(trace)
    }

    fn timeline(points: &[(i64, [u64; 9])]) -> MemoryTimeline {
        MemoryTimeline {
            times: points.iter().map(|point| point.0).collect(),
            bytes: points.iter().map(|point| point.1).collect(),
            ..MemoryTimeline::default()
        }
    }

    #[test]
    fn what_was_held_before_the_recording_is_in_every_number() {
        let mut with_file = model();
        let points = [
            (1_000_000, [0, 7, 0, 0, 0, 0, 0, 0, 0]),
            (1_000_000, [0, 7, 0, 0, 0, 10, 0, 0, 0]),
            (1_005_000, [0, 7, 0, 0, 0, 10, 0, 10, 1]),
        ];
        with_file.add_memory_timeline(&timeline(&points));
        let answer = memory(&with_file, &MemoryAsk::default());
        assert!(answer.categories_from_file);
        assert_eq!(answer.device, "0:0");
        assert_eq!(answer.allocated, [7, 17, 27]);
        let sums = (0..3).map(|at| {
            answer
                .series
                .iter()
                .map(|series| series.bytes[at])
                .sum::<u64>()
        });
        assert_eq!(sums.collect::<Vec<_>>(), answer.allocated);
        assert_eq!(answer.at_len_bytes, 27);
        assert_eq!(
            answer
                .holders
                .iter()
                .map(|holder| holder.bytes)
                .sum::<u64>(),
            27
        );
        let [host, other] = &*answer.devices else {
            panic!("two devices");
        };
        assert_eq!((host.peak_len_bytes, host.since_recording), (27, false));
        assert_eq!(other.peak_len_bytes, 10);
        let categories: Vec<_> = answer.series.iter().map(|series| series.category).collect();
        let expected = [
            MemoryCategory::Parameters,
            MemoryCategory::Activations,
            MemoryCategory::Autograd,
        ];
        assert_eq!(categories, expected);
        // A model that was stored has these bytes already.
        let mut again = Model::new(with_file.trace.clone());
        again.add_memory_timeline(&timeline(&points));
        assert_eq!(again, with_file);
    }

    #[test]
    fn a_file_without_a_trace_is_the_session() {
        let bytes = [0, 7, 0, 0, 0, 5, 0, 0, 1];
        let empty = Model::new(Trace::default());
        let answer = without_events(&empty, &timeline(&[(9_500, bytes), (9_600, bytes)]));
        assert_eq!(answer.times_nanos, [0, 100]);
        assert_eq!(answer.allocated, [13, 13]);
        assert_eq!(answer.devices[0].peak_len_bytes, 13);
    }

    #[test]
    fn a_file_of_another_session_is_not_used() {
        let mut with_file = model();
        let other = timeline(&[(9_000_000, [7; 9]), (9_010_000, [7; 9])]);
        with_file.add_memory_timeline(&other);
        assert_eq!(with_file, model());
        assert_eq!(without_events(&with_file, &other), MemoryAnswer::default());
    }
}
