//! Waiting times of the training: from the spans of its lane for getting data, or from the times at which it took each
//! batch.
//!
//! Spans are folded over profiles. A lane counts as training only if it also does something else: a lane that only
//! loads runs in parallel to the training. Spans about data are recognised by name; nested ones count once.

use std::collections::{BTreeMap, HashMap};

use trainscope_api::profile::InputShare;
use trainscope_format::queues::Batch;
use trainscope_format::{Profile, Severity};

use super::MIN_SAMPLES;

/// Share of the time above which waiting is a warning.
const MUCH: f64 = 0.1;
const MOST: f64 = 0.5;
/// Share of batches above which an empty queue of the device is a warning, as in `MindInsight`.
const OFTEN_EMPTY: f64 = 0.3;

/// Names of spans in which a program gets its data, in lower case and without separators.
pub(crate) const INPUT_NAMES: [&str; 17] = [
    "data",
    "dataset",
    "dataload",
    "dataloading",
    "datawait",
    "datafetch",
    "datatime",
    "loaddata",
    "loadbatch",
    "nextbatch",
    "getbatch",
    "getdata",
    "getnext",
    "fetch",
    "fetchdata",
    "input",
    "inputwait",
];

/// Accumulates profiles of one rank and computes waiting times.
#[derive(Clone, Debug, Default)]
pub struct Waiting {
    lanes: HashMap<String, BTreeMap<i64, LaneTime>>,
}

/// Time of a lane in one step.
#[derive(Clone, Debug, Default)]
struct LaneTime {
    from_nanos: i64,
    to_nanos: i64,
    /// Intervals in which it got data.
    input: Vec<(i64, i64)>,
    does_more: bool,
}

/// Total and waiting time of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StepTime {
    /// The step.
    pub step: i64,
    /// Time from its first span to the end of its last one, on the lane of the training.
    pub whole_nanos: u64,
    /// Part of it spent on getting data.
    pub input_nanos: u64,
}

/// Source of the times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clock {
    /// The program, by spans of one lane.
    #[default]
    Spans,
    /// The data set, at each request for a batch: the program waits after it.
    Iterator,
    /// The transfer of batches to the device. It waits instead of the device, unless its queue runs empty.
    Device,
}

/// Waiting times of the steps of a training.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InputTimes {
    /// Source of the times.
    pub clock: Clock,
    /// The lane that waits; empty if the times do not come from spans.
    pub lane: String,
    /// All steps in order; for batches all but the first, which fills the queues and has no predecessor.
    pub steps: Vec<StepTime>,
    /// State of the queue when batches were requested, if it was recorded.
    pub found: Option<QueueState>,
}

/// State of the queue when the batches of [`InputTimes::steps`] were requested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueState {
    /// Batches with a recorded queue length.
    pub batches: u64,
    /// Number of batches that found it empty.
    pub empty: u64,
    /// Waiting time for the very first batch, which is not among these.
    pub first_nanos: u64,
}

impl Waiting {
    /// Adds a profile.
    pub fn observe(&mut self, profile: &Profile) {
        let inputs: Vec<bool> = profile.names.iter().map(|name| is_input(name)).collect();
        for span in &profile.spans {
            let lane = profile.lanes.get(span.lane as usize);
            let (Some(lane), Some(is_input)) = (lane, inputs.get(span.name as usize)) else {
                continue;
            };
            let duration = i64::try_from(span.duration_nanos).unwrap_or(i64::MAX);
            let (from, to) = (span.start_nanos, span.start_nanos.saturating_add(duration));
            if !self.lanes.contains_key(lane) {
                self.lanes.insert(lane.clone(), BTreeMap::new());
            }
            let Some(steps) = self.lanes.get_mut(lane) else {
                continue;
            };
            let spent = steps.entry(span.step).or_insert(LaneTime {
                from_nanos: from,
                to_nanos: to,
                ..LaneTime::default()
            });
            spent.from_nanos = spent.from_nanos.min(from);
            spent.to_nanos = spent.to_nanos.max(to);
            if *is_input {
                spent.input.push((from, to));
            } else {
                spent.does_more = true;
            }
        }
    }

    /// Times of the lane that trains: it gets data and does something else in the maximum number of steps. `None` if no
    /// lane does both.
    pub fn times(self) -> Option<InputTimes> {
        let both = |steps: &BTreeMap<i64, LaneTime>| {
            let both = steps
                .values()
                .filter(|time| time.does_more && !time.input.is_empty());
            both.count()
        };
        let counted = self
            .lanes
            .into_iter()
            .map(|(lane, steps)| (both(&steps), lane, steps));
        let counted = counted.filter(|(count, ..)| *count > 0);
        // Of equal lanes the first by name, to be deterministic.
        let (_, lane, steps) = counted.max_by(|a, b| a.0.cmp(&b.0).then_with(|| b.1.cmp(&a.1)))?;
        let steps = steps.into_iter().map(|(step, spent)| StepTime {
            step,
            whole_nanos: spent.to_nanos.abs_diff(spent.from_nanos),
            input_nanos: covered(spent.input),
        });
        Some(InputTimes {
            lane,
            steps: steps.collect(),
            ..InputTimes::default()
        })
    }
}

impl InputTimes {
    /// Times from batches in order: a step is the time between two batches. `None` for fewer than two.
    pub fn of_batches(batches: &[Batch], clock: Clock) -> Option<Self> {
        let nanos = |millis: u64| millis.saturating_mul(1_000_000);
        let wait = |batch: &Batch| nanos(batch.wait_millis.unwrap_or(0));
        let (first, rest) = batches.split_first().filter(|(_, rest)| !rest.is_empty())?;
        let steps = batches.windows(2).map(|pair| {
            let whole = pair[1].at_millis.saturating_sub(pair[0].at_millis);
            let input_nanos = wait(&pair[1]);
            StepTime {
                step: pair[1].step,
                // Both are rounded to milliseconds, and clocks may go back.
                whole_nanos: nanos(u64::try_from(whole).unwrap_or(0)).max(input_nanos),
                input_nanos,
            }
        });
        let looked = rest.iter().filter_map(|batch| batch.queue);
        Some(Self {
            clock,
            lane: String::new(),
            steps: steps.collect(),
            found: Some(QueueState {
                batches: looked.clone().count() as u64,
                empty: looked.filter(|(size, _)| *size == 0).count() as u64,
                first_nanos: wait(first),
            }),
        })
    }

    /// Share of the time of all steps spent waiting, 0 to 1; 0 if no time was spent.
    pub fn share(&self) -> f64 {
        let sum =
            |of: fn(&StepTime) -> u64| self.steps.iter().map(|step| of(step) as f64).sum::<f64>();
        let whole = sum(|step| step.whole_nanos);
        if whole > 0.0 {
            sum(|step| step.input_nanos) / whole
        } else {
            0.0
        }
    }

    /// Mean time of a step, rounded like the means of profiles.
    pub fn mean(&self, of: fn(&StepTime) -> u64) -> u64 {
        let sum: u128 = self.steps.iter().map(|step| u128::from(of(step))).sum();
        let count = (self.steps.len() as u128).max(1);
        u64::try_from((sum + count / 2) / count).unwrap_or(u64::MAX)
    }

    /// Means for the summary of a profile.
    pub fn summary(&self) -> InputShare {
        let nanos = |mean: u64| i64::try_from(mean).unwrap_or(i64::MAX);
        InputShare {
            share: self.share(),
            // The first batch has no step.
            batches: self.steps.len() as u64 + 1,
            is_judged: self.is_judged(),
            mean_waited_nanos: nanos(self.mean(|step| step.input_nanos)),
            mean_whole_nanos: nanos(self.mean(|step| step.whole_nanos)),
            empty: self.found.map_or(0, |queue| queue.empty),
        }
    }

    /// True if there are enough steps, or batches of the device, to judge: [`MIN_SAMPLES`].
    pub fn is_judged(&self) -> bool {
        let samples = match self.clock {
            Clock::Device => self.found.unwrap_or_default().batches,
            Clock::Spans | Clock::Iterator => self.steps.len() as u64,
        };
        samples >= MIN_SAMPLES as u64
    }

    /// Severity; `None` if it is harmless or was not judged.
    pub fn severity(&self) -> Option<Severity> {
        if !self.is_judged() {
            return None;
        }
        if self.clock == Clock::Device {
            let found = self.found.unwrap_or_default();
            let share = found.empty as f64 / found.batches.max(1) as f64;
            return (share > OFTEN_EMPTY).then_some(Severity::Warning);
        }
        let share = self.share();
        if share > MOST {
            Some(Severity::Error)
        } else if share > MUCH {
            Some(Severity::Warning)
        } else {
            None
        }
    }

    /// The step that waited longest, the first of equal ones.
    pub fn longest(&self) -> Option<StepTime> {
        let longest = self.steps.iter().rev().max_by_key(|step| step.input_nanos);
        longest.copied()
    }
}

/// True for a span about getting data, by the last part of its name.
pub(crate) fn is_input(name: &str) -> bool {
    let last = name.rsplit('/').next().unwrap_or(name);
    let letters = last.chars().filter(|c| c.is_alphanumeric());
    let word: String = letters.flat_map(char::to_lowercase).collect();
    INPUT_NAMES.contains(&&*word) || word.contains("dataloader")
}

/// Total time covered by at least one interval.
fn covered(mut stretches: Vec<(i64, i64)>) -> u64 {
    stretches.sort_unstable();
    let mut sum = 0;
    let mut until = i64::MIN;
    for (from, to) in stretches {
        let from = from.max(until);
        if to > from {
            sum += to.abs_diff(from);
            until = to;
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use trainscope_format::profile::Span;

    use super::*;

    /// Spans as (lane, name, step, start, duration).
    fn profile(spans: &[(u32, u32, i64, i64, u64)]) -> Profile {
        let names = ["data", "forward", "input/DataLoader.next", "data_parallel"];
        let spans = spans
            .iter()
            .map(|&(lane, name, step, start_nanos, duration_nanos)| Span {
                name,
                lane,
                step,
                start_nanos,
                duration_nanos,
            });
        Profile {
            names: names.map(str::to_owned).to_vec(),
            lanes: ["main", "loader"].map(str::to_owned).to_vec(),
            spans: spans.collect(),
            ..Profile::default()
        }
    }

    fn times(all: &[Profile]) -> Option<InputTimes> {
        let mut waiting = Waiting::default();
        for profile in all {
            waiting.observe(profile);
        }
        waiting.times()
    }

    #[test]
    fn what_lies_in_one_another_counts_once_and_gaps_count_for_the_step() {
        let one = profile(&[(0, 0, 0, 100, 40), (0, 2, 0, 110, 10), (0, 1, 0, 150, 50)]);
        let other = profile(&[(0, 1, 1, 230, 70), (0, 0, 1, 200, 5)]);
        let found = times(&[one, other]).unwrap();
        assert_eq!(found.lane, "main");
        let all: Vec<_> = found
            .steps
            .iter()
            .map(|step| (step.step, step.whole_nanos, step.input_nanos))
            .collect();
        assert_eq!(all, [(0, 100, 40), (1, 100, 5)]);
        assert_eq!(found.longest().unwrap().step, 0);
        assert!((found.share() - 0.225).abs() < 1e-12);
        assert!(!found.is_judged());
        assert_eq!(found.severity(), None, "two steps say too little");
    }

    #[test]
    fn waiting_is_judged_from_five_steps_on() {
        let steps = |count: i64| {
            let steps = (0..count).flat_map(|step| {
                let from = step * 100;
                [(0, 0, step, from, 30), (0, 1, step, from + 30, 70)]
            });
            times(&[profile(&steps.collect::<Vec<_>>())]).unwrap()
        };
        assert_eq!(steps(4).severity(), None);
        assert_eq!(steps(5).severity(), Some(Severity::Warning));
    }

    #[test]
    fn a_lane_that_only_loads_does_not_wait() {
        assert_eq!(
            times(&[profile(&[(1, 0, 0, 0, 90), (0, 1, 0, 0, 90)])]),
            None
        );
        assert_eq!(
            times(&[profile(&[(0, 3, 0, 0, 90), (0, 1, 0, 0, 9)])]),
            None
        );
        assert_eq!(times(&[]), None);
        // Invalid indices and overflowing times do not panic.
        let odd = profile(&[
            (9, 0, 0, 0, 1),
            (0, 9, 0, 0, 1),
            (0, 0, 0, i64::MAX, u64::MAX),
        ]);
        assert_eq!(times(&[odd]), None);
    }

    #[test]
    fn from_one_batch_to_the_next_is_a_step() {
        let batch = |step, at_millis, wait, size| Batch {
            step,
            at_millis,
            wait_millis: Some(wait),
            queue: Some((size, 16)),
        };
        let batches = [
            batch(1, 1_000, 163, 0),
            batch(2, 1_200, 120, 0),
            batch(3, 1_300, 0, 2),
            // Rounding, and a clock that goes back.
            batch(4, 1_309, 10, 0),
            batch(5, 1_200, 0, 1),
            batch(6, 1_200, 0, 1),
        ];
        let found = InputTimes::of_batches(&batches, Clock::Iterator).unwrap();
        let all = found.steps.iter();
        let all = all.map(|step| {
            (
                step.step,
                step.whole_nanos / 1_000_000,
                step.input_nanos / 1_000_000,
            )
        });
        let expected = [
            (2, 200, 120),
            (3, 100, 0),
            (4, 10, 10),
            (5, 0, 0),
            (6, 0, 0),
        ];
        assert_eq!(all.collect::<Vec<_>>(), expected);
        assert!((found.share() - 130.0 / 310.0).abs() < 1e-12);
        assert_eq!(found.severity(), Some(Severity::Warning));
        let queue = found.found.unwrap();
        assert_eq!((queue.batches, queue.empty), (5, 2));
        assert_eq!(queue.first_nanos, 163_000_000);

        // The transfer waits on behalf of the device as long as the queue is not empty.
        let mut device = InputTimes::of_batches(&batches, Clock::Device).unwrap();
        assert_eq!(device.severity(), Some(Severity::Warning));
        device.found = Some(QueueState { empty: 1, ..queue });
        assert_eq!(device.severity(), None);
        assert_eq!(InputTimes::of_batches(&batches[..1], Clock::Iterator), None);
    }

    #[test]
    fn names_tell_what_a_span_is_about() {
        for name in [
            "data",
            "train/Data",
            "load_batch",
            "enumerate(DataLoader)#next",
            "GetNext",
        ] {
            assert!(is_input(name), "{name}");
        }
        for name in [
            "data_parallel",
            "forward",
            "load_checkpoint",
            "",
            "batch_norm",
        ] {
            assert!(!is_input(name), "{name}");
        }
    }
}
