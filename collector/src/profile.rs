//! Spans and counters on their way into a file: many of them in one record, with each name once.

use std::collections::HashMap;

use trainscope_format::encode::Moment;
use trainscope_format::profile::{Counter, Profile, Span};

/// Maximum number of spans and counters in one record: some hundred kilobytes of memory for readers.
const MOST: usize = 4_096;

/// Spans and counters for the next record.
#[derive(Debug, Default)]
pub(crate) struct Profiler {
    profile: Profile,
    names: HashMap<String, u32>,
    lanes: HashMap<String, u32>,
}

impl Profiler {
    pub(crate) fn span(
        &mut self,
        [name, lane]: [&str; 2],
        step: i64,
        start_nanos: i64,
        duration_nanos: u64,
    ) {
        let name = number(&mut self.names, &mut self.profile.names, name);
        let lane = number(&mut self.lanes, &mut self.profile.lanes, lane);
        self.profile.spans.push(Span {
            name,
            lane,
            step,
            start_nanos,
            duration_nanos,
        });
    }

    pub(crate) fn counter(&mut self, name: &str, time_nanos: i64, value: f64) {
        let name = number(&mut self.names, &mut self.profile.names, name);
        self.profile.counters.push(Counter {
            name,
            time_nanos,
            value,
        });
    }

    pub(crate) fn is_full(&self) -> bool {
        self.profile.spans.len() + self.profile.counters.len() >= MOST
    }

    /// Takes the collected spans and counters, if any, with their first step and last time.
    pub(crate) fn take(&mut self) -> Option<(Moment, Profile)> {
        let (_, last_nanos) = self.profile.extent_nanos()?;
        self.names.clear();
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
