//! Spans and counters as columns. Times are deltas, most of which take one to four bytes.

use crate::message::Message;
use crate::profile::{Counter, LaneKind, NotAProfile, Profile, Span, SpanFlow, SpanKind};
use crate::wire::{Fields, Value, doubles, text, varints, zigzags};

/// Names 1, lanes 2; of the spans: names 3, lanes 4, steps 5, begins 6, durations 7; of the counters: names 8, times
/// 9, values 10; kinds of names 11, of lanes 12; of the flows: lanes 13, times 14, lanes 15 and times 16 of the ends.
/// Steps and times are deltas to the one before. Columns of kinds are left out if all are 0.
pub(crate) fn write(profile: &Profile) -> Message {
    let mut message = Message::default();
    for name in &profile.names {
        message.bytes(1, name.as_bytes());
    }
    for lane in &profile.lanes {
        message.bytes(2, lane.as_bytes());
    }
    let spans = &profile.spans;
    let counters = &profile.counters;
    message.packed_varints(3, spans.iter().map(|span| span.name.into()));
    message.packed_varints(4, spans.iter().map(|span| span.lane.into()));
    message.packed_zigzags(5, differences(spans.iter().map(|span| span.step)));
    message.packed_zigzags(6, differences(spans.iter().map(|span| span.start_nanos)));
    message.packed_varints(7, spans.iter().map(|span| span.duration_nanos));
    message.packed_varints(8, counters.iter().map(|counter| counter.name.into()));
    message.packed_zigzags(
        9,
        differences(counters.iter().map(|counter| counter.time_nanos)),
    );
    message.packed_doubles(10, counters.iter().map(|counter| counter.value));
    if profile
        .name_kinds
        .iter()
        .any(|kind| *kind != SpanKind::Other)
    {
        message.packed_varints(11, profile.name_kinds.iter().map(|kind| *kind as u64));
    }
    if profile
        .lane_kinds
        .iter()
        .any(|kind| *kind != LaneKind::Thread)
    {
        message.packed_varints(12, profile.lane_kinds.iter().map(|kind| *kind as u64));
    }
    let flows = &profile.flows;
    message.packed_varints(13, flows.iter().map(|flow| flow.from_lane.into()));
    message.packed_zigzags(14, differences(flows.iter().map(|flow| flow.from_nanos)));
    message.packed_varints(15, flows.iter().map(|flow| flow.to_lane.into()));
    message.packed_zigzags(16, differences(flows.iter().map(|flow| flow.to_nanos)));
    message
}

fn differences(values: impl Iterator<Item = i64>) -> impl Iterator<Item = i64> {
    values.scan(0_i64, |last, value| {
        Some(value.wrapping_sub(std::mem::replace(last, value)))
    })
}

impl Profile {
    /// Decodes the bytes of [`ProfileSource::data`](crate::ProfileSource::data).
    pub fn read(bytes: &[u8]) -> Result<Self, NotAProfile> {
        read(bytes)
    }
}

/// Size limit: writers put a few thousand spans into a value, and decoded values take up to ten times their length.
const MAX_BYTES: usize = 64 << 20;

/// Columns of one table must be equally long, and names and lanes must exist.
pub(crate) fn read(message: &[u8]) -> Result<Profile, NotAProfile> {
    if message.len() > MAX_BYTES {
        return Err(NotAProfile);
    }
    let mut profile = Profile::default();
    let mut columns: [Vec<u64>; 17] = Default::default();
    let mut values = Vec::new();
    for field in Fields::of(message) {
        match field? {
            (1, Value::Bytes(name)) => profile.names.push(text(name)),
            (2, Value::Bytes(lane)) => profile.lanes.push(text(lane)),
            (number @ (3 | 4 | 7 | 8 | 11 | 12 | 13 | 15), value) => {
                varints(value, |value| columns[number as usize].push(value))?;
            }
            (number @ (5 | 6 | 9 | 14 | 16), value) => {
                let column = &mut columns[number as usize];
                let mut last = column.last().map_or(0, |last| last.cast_signed());
                zigzags(value, |difference| {
                    last = last.wrapping_add(difference);
                    column.push(last.cast_unsigned());
                })?;
            }
            (10, value) => doubles(value, &mut values)?,
            _ => {}
        }
    }
    let [
        _,
        _,
        _,
        names,
        lanes,
        steps,
        starts,
        durations,
        counted,
        times,
        _,
        name_kinds,
        lane_kinds,
        from_lanes,
        from_times,
        to_lanes,
        to_times,
    ] = columns;
    let is_even = [&lanes, &steps, &starts, &durations]
        .iter()
        .all(|column| column.len() == names.len())
        && times.len() == counted.len()
        && values.len() == counted.len()
        && [&from_times, &to_lanes, &to_times]
            .iter()
            .all(|column| column.len() == from_lanes.len())
        && name_kinds.len() <= profile.names.len()
        && lane_kinds.len() <= profile.lanes.len();
    if !is_even {
        return Err(NotAProfile);
    }
    let index = |number: u64, table: &[String]| {
        let index = u32::try_from(number).ok();
        index
            .filter(|&index| (index as usize) < table.len())
            .ok_or(NotAProfile)
    };
    for row in 0..names.len() {
        profile.spans.push(Span {
            name: index(names[row], &profile.names)?,
            lane: index(lanes[row], &profile.lanes)?,
            step: steps[row].cast_signed(),
            start_nanos: starts[row].cast_signed(),
            duration_nanos: durations[row],
        });
    }
    for row in 0..counted.len() {
        profile.counters.push(Counter {
            name: index(counted[row], &profile.names)?,
            time_nanos: times[row].cast_signed(),
            value: values[row],
        });
    }
    for row in 0..from_lanes.len() {
        profile.flows.push(SpanFlow {
            from_lane: index(from_lanes[row], &profile.lanes)?,
            from_nanos: from_times[row].cast_signed(),
            to_lane: index(to_lanes[row], &profile.lanes)?,
            to_nanos: to_times[row].cast_signed(),
        });
    }
    profile.name_kinds = kinds(&name_kinds, &SpanKind::ALL);
    profile.lane_kinds = kinds(&lane_kinds, &LaneKind::ALL);
    Ok(profile)
}

/// Kinds by their numbers; unknown numbers become the first kind.
fn kinds<T: Copy + Default>(numbers: &[u64], all: &[T]) -> Vec<T> {
    let kind = |number: &u64| all.get(usize::try_from(*number).ok()?).copied();
    let kinds = numbers.iter().map(kind);
    kinds.map(Option::unwrap_or_default).collect()
}
