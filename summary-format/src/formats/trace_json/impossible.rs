//! Slices with impossible times: profilers write kernels that last 236 years, and kernels that began in 1970.

use super::columns::Columns;
use super::structure::MAX_DAMAGES;
use crate::trace::{NONE, Slices, TraceDamage};

const HOUR_NANOS: i64 = 3_600 * 1_000_000_000;
/// Chosen: recordings are shorter, and have no gap of this length. Of the two sides of such a gap, the larger one is
/// real.
const DAY_NANOS: i64 = 24 * HOUR_NANOS;

impl Columns {
    /// Removes slices that begin a day apart from all others, and those that end an hour after the last one began. Each
    /// counts as damage at its place. Without such slices, the cost is a pass over the times.
    pub(super) fn drop_impossible(&mut self) {
        let slices = &self.trace.slices;
        let first = slices.begins.iter().min().copied().unwrap_or_default();
        let last = (0..slices.len()).map(|slice| slices.end(slice)).max();
        if last.is_none_or(|last| last.saturating_sub(first) <= DAY_NANOS) {
            return;
        }
        let (first, last) = real_begins(&slices.begins);
        let end = last.saturating_add(HOUR_NANOS);
        let is_real: Vec<bool> = (0..slices.len())
            .map(|slice| (first..=last).contains(&slices.begins[slice]) && slices.end(slice) <= end)
            .collect();
        for slice in (0..slices.len()).filter(|slice| !is_real[*slice]) {
            let category = usize::from(self.trace.slices.categories[slice]);
            if let Some(total) = self.trace.categories.get_mut(category) {
                total.count = total.count.saturating_sub(1);
                total.nanos = total
                    .nanos
                    .saturating_sub(self.trace.slices.durations[slice]);
            }
            let counts = &mut self.trace.counts;
            counts.damaged += 1;
            if counts.damaged <= MAX_DAMAGES {
                let offset = self.trace.slices.places[slice];
                counts.damages.push(TraceDamage { offset, len: 0 });
            }
        }
        self.keep(&is_real);
    }

    /// Keeps some slices, and gives open ones their new numbers.
    fn keep(&mut self, is_kept: &[bool]) {
        let mut numbers = vec![NONE; is_kept.len()];
        let kept = (0..is_kept.len()).filter(|slice| is_kept[*slice]);
        for (number, slice) in (0..).zip(kept) {
            numbers[slice] = number;
        }
        let lists = self.open.values_mut().chain(self.open_async.values_mut());
        for slice in lists.flatten() {
            *slice = numbers.get(*slice as usize).copied().unwrap_or(NONE);
        }
        let Slices {
            begins,
            durations,
            names,
            lanes,
            categories,
            links,
            details,
            places,
        } = &mut self.trace.slices;
        retain(begins, is_kept);
        retain(durations, is_kept);
        retain(names, is_kept);
        retain(lanes, is_kept);
        retain(categories, is_kept);
        retain(links, is_kept);
        retain(details, is_kept);
        retain(places, is_kept);
    }
}

fn retain<T>(column: &mut Vec<T>, is_kept: &[bool]) {
    let mut kept = is_kept.iter().copied();
    column.retain(|_| kept.next().unwrap_or(true));
}

/// First and last begin of the largest group without a gap of a day.
fn real_begins(begins: &[i64]) -> (i64, i64) {
    let mut begins = begins.to_vec();
    begins.sort_unstable();
    let groups = begins.chunk_by(|a, b| b.saturating_sub(*a) <= DAY_NANOS);
    let largest = groups.max_by_key(|group| group.len()).unwrap_or_default();
    let edges = largest.first().copied().zip(largest.last().copied());
    edges.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::TraceReader;
    use super::{DAY_NANOS, HOUR_NANOS};

    fn read(events: &[(i64, i64)]) -> crate::trace::Trace {
        let event = |(begin, length): &(i64, i64)| {
            let [ts, dur] =
                [begin, length].map(|time| format!("{}.{:03}", time / 1_000, time % 1_000));
            format!(
                r#"{{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":{ts},"dur":{dur}}}"#
            )
        };
        let events: Vec<String> = events.iter().map(event).collect();
        let mut reader = TraceReader::new();
        reader.push(format!(r#"{{"traceEvents":[{}]}}"#, events.join(",")).as_bytes());
        reader.finish()
    }

    #[test]
    fn slices_that_cannot_be_are_damage() {
        let day = 20_000 * DAY_NANOS;
        let usual = [(day, 50), (day + 100, 50), (day + 200, 50)];
        let century = 100 * 365 * DAY_NANOS;
        for odd in [(0, 5), (day + 120, century), (day + 3 * DAY_NANOS, 5)] {
            let mut events = usual.to_vec();
            events.insert(1, odd);
            let trace = read(&events);
            assert_eq!(trace.slices.begins, [day, day + 100, day + 200], "{odd:?}");
            assert_eq!(trace.categories[0].count, 3);
            assert_eq!(trace.categories[0].nanos, 150);
            assert_eq!(trace.counts.damaged, 1);
            assert!(trace.counts.damages[0].offset > 0);
            assert_eq!(trace.counts.events, 4);
        }
    }

    #[test]
    fn long_recordings_are_kept() {
        let hours: Vec<(i64, i64)> = (0..60)
            .map(|hour| (hour * HOUR_NANOS, HOUR_NANOS))
            .collect();
        let trace = read(&hours);
        assert_eq!((trace.slices.len(), trace.counts.damaged), (60, 0));
        let frame = read(&[(0, 20 * HOUR_NANOS), (5, 5)]);
        assert_eq!((frame.slices.len(), frame.counts.damaged), (2, 0));
    }
}
