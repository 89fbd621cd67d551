//! Estimated gain of more workers for the bottleneck of a pipeline.
//!
//! While the training waits, the bottleneck is never idle: the queue before it is full, or it is a source, and its
//! output is taken at once. At such a step, one batch occupies the bottleneck for the whole step. More workers share
//! that time until the training no longer waits. The next bottleneck is unknown: the estimate is a best case.

use super::{Clock, InputTimes};

/// Minimum number of steps for an estimate.
const MIN_STEPS: usize = 8;
/// Maximum number of workers in an estimate.
const MAX_WORKERS: u64 = 64;
/// Minimum gain of more workers, as a share of the step time.
const WORTH: f64 = 0.05;

/// Step time with a number of workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimate {
    /// Workers of the bottleneck.
    pub workers: u64,
    /// Mean time of a step, nanoseconds.
    pub step_nanos: u64,
}

/// Step times with the current number of workers, then with more workers while they gain enough. Empty without an
/// estimate: too few steps, hardly any waiting, or the device waited.
pub fn more_workers(times: &InputTimes, workers: u64) -> Vec<Estimate> {
    let is_known = times.clock != Clock::Device && times.steps.len() >= MIN_STEPS;
    if !is_known || workers == 0 || workers > MAX_WORKERS {
        return Vec::new();
    }
    let mean = |with: u64| {
        let shares = workers as f64 / with as f64;
        let steps = times.steps.iter().map(|step| {
            let whole = step.whole_nanos as f64;
            // A step without waiting was not held up.
            let without = step.whole_nanos.saturating_sub(step.input_nanos) as f64;
            (whole * shares).max(without).min(whole)
        });
        steps.sum::<f64>() / times.steps.len() as f64
    };
    let estimate = |with: u64| Estimate {
        workers: with,
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a cast of floats saturates"
        )]
        step_nanos: mean(with).round() as u64,
    };
    let mut all = vec![estimate(workers)];
    let worth = WORTH * all[0].step_nanos as f64;
    let mut with = workers;
    loop {
        // One more at first, then half as many more: a dozen rows reach the maximum.
        with += (with / 2).max(1);
        let more = estimate(with);
        let before = all[all.len() - 1].step_nanos;
        if with > MAX_WORKERS || (before.saturating_sub(more.step_nanos) as f64) <= worth {
            break;
        }
        all.push(more);
    }
    if all.len() == 1 {
        all.clear();
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::StepTime;

    /// Steps with their total and waiting time in milliseconds.
    fn times(steps: &[(u64, u64)]) -> InputTimes {
        let steps = steps.iter().map(|&(whole, input)| StepTime {
            step: 0,
            whole_nanos: whole * 1_000_000,
            input_nanos: input * 1_000_000,
        });
        InputTimes {
            clock: Clock::Iterator,
            steps: steps.collect(),
            ..InputTimes::default()
        }
    }

    fn millis(steps: &[(u64, u64)], workers: u64) -> Vec<(u64, u64)> {
        let all = more_workers(&times(steps), workers).into_iter();
        all.map(|estimate| (estimate.workers, estimate.step_nanos / 1_000_000))
            .collect()
    }

    #[test]
    fn workers_share_what_a_batch_takes_until_nothing_waits() {
        // A batch takes 160 ms, the training itself 40 ms.
        let found = millis(&[(160, 120); 10], 1);
        assert_eq!(found, [(1, 160), (2, 80), (3, 53), (4, 40)]);
        // Two already share 320 ms.
        assert_eq!(
            millis(&[(160, 100); 10], 2),
            [(2, 160), (3, 106), (4, 80), (6, 60)]
        );
    }

    #[test]
    fn steps_that_do_not_wait_stay_as_long_as_they_are() {
        let mut steps = vec![(40, 0); 10];
        steps.extend([(160, 120); 10]);
        assert_eq!(millis(&steps, 1), [(1, 100), (2, 60), (3, 46), (4, 40)]);
    }

    #[test]
    fn nothing_is_promised_that_the_times_do_not_carry() {
        assert!(millis(&[(160, 120); 7], 1).is_empty());
        assert!(millis(&[(160, 1); 10], 1).is_empty());
        assert!(millis(&[(160, 120); 10], 0).is_empty());
        assert!(millis(&[(0, 0); 10], 1).is_empty());
        let mut device = times(&[(160, 120); 10]);
        device.clock = Clock::Device;
        assert!(more_workers(&device, 1).is_empty());
        // If a step consists of waiting only, no number of workers ends it: the list is still finite.
        let all = millis(&[(1_000, 1_000); 10], 1);
        assert!(all.len() <= 8, "{all:?}");
        assert!(all.windows(2).all(|pair| pair[1].1 < pair[0].1), "{all:?}");
    }
}
