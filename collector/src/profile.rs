//! Spans and counters on their way into a file: many of them in one record, with each name once.

use std::collections::HashMap;

use trainscope_format::encode::Moment;
use trainscope_format::profile::{Counter, LaneKind, Profile, Span, SpanFlow, SpanKind};

/// Maximum number of spans and counters in one record: a few hundred kilobytes of memory for readers.
const MAX: usize = 4_096;

/// Spans and counters for the next record.
#[derive(Debug, Default)]
pub(crate) struct Profiler {
    profile: Profile,
    /// Numbers of names of each kind.
    names: [HashMap<String, u32>; SpanKind::ALL.len()],
    lanes: HashMap<String, u32>,
    /// Kinds of lanes, for all records.
    lane_kinds: HashMap<String, LaneKind>,
}

impl Profiler {
    pub(crate) fn span(
        &mut self,
        kind: SpanKind,
        [name, lane]: [&str; 2],
        step: i64,
        start_nanos: i64,
        duration_nanos: u64,
    ) {
        let name = self.name(kind, name);
        let lane = self.lane_number(lane);
        self.profile.spans.push(Span {
            name,
            lane,
            step,
            start_nanos,
            duration_nanos,
        });
    }

    pub(crate) fn counter(&mut self, name: &str, time_nanos: i64, value: f64) {
        let name = self.name(SpanKind::Other, name);
        self.profile.counters.push(Counter {
            name,
            time_nanos,
            value,
        });
    }

    pub(crate) fn flow(&mut self, from: (&str, i64), to: (&str, i64)) {
        let flow = SpanFlow {
            from_lane: self.lane_number(from.0),
            from_nanos: from.1,
            to_lane: self.lane_number(to.0),
            to_nanos: to.1,
        };
        self.profile.flows.push(flow);
    }

    /// Sets the kind of a lane, also in the record that is being collected.
    pub(crate) fn lane(&mut self, name: &str, kind: LaneKind) {
        self.lane_kinds.insert(name.to_owned(), kind);
        let number = self.lanes.get(name).map(|number| *number as usize);
        if let Some(known) = number.and_then(|number| self.profile.lane_kinds.get_mut(number)) {
            *known = kind;
        }
    }

    fn name(&mut self, kind: SpanKind, name: &str) -> u32 {
        let names = &mut self.names[kind as usize];
        let number = number(names, &mut self.profile.names, name);
        let kinds = &mut self.profile.name_kinds;
        kinds.resize(self.profile.names.len().max(kinds.len()), kind);
        number
    }

    fn lane_number(&mut self, name: &str) -> u32 {
        let number = number(&mut self.lanes, &mut self.profile.lanes, name);
        let kinds = &mut self.profile.lane_kinds;
        if kinds.len() < self.profile.lanes.len() {
            kinds.push(self.lane_kinds.get(name).copied().unwrap_or_default());
        }
        number
    }

    pub(crate) fn is_full(&self) -> bool {
        let profile = &self.profile;
        profile.spans.len() + profile.counters.len() + profile.flows.len() >= MAX
    }

    /// Takes the collected spans, counters and flows, if any, with their first step and last time.
    pub(crate) fn take(&mut self) -> Option<(Moment, Profile)> {
        let (_, last_nanos) = self.profile.extent_nanos()?;
        self.names.iter_mut().for_each(HashMap::clear);
        self.lanes.clear();
        let profile = std::mem::take(&mut self.profile);
        let at = Moment {
            step: profile.spans.first().map_or(0, |span| span.step),
            wall_time_secs: last_nanos as f64 / 1e9,
        };
        Some((at, profile))
    }
}

/// Index of a name; a new name is appended.
fn number(numbers: &mut HashMap<String, u32>, names: &mut Vec<String>, name: &str) -> u32 {
    if let Some(&number) = numbers.get(name) {
        return number;
    }
    // At most as many as spans in a record.
    let number = u32::try_from(names.len()).unwrap_or(u32::MAX);
    numbers.insert(name.to_owned(), number);
    names.push(name.to_owned());
    number
}
