//! Duration of steps, and the report of a stop for the program that has started the training.

use std::collections::VecDeque;
use std::path::Path;
use std::time::{Duration, Instant};

use serde::Serialize;
use trainscope_format::session::Place;

/// Number of newest steps whose median is the duration of a step.
const STEPS: usize = 64;

/// Times of the newest gates.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    /// Phase and time of the last gate whose phase is measured.
    last: Option<(u8, Instant)>,
    steps: VecDeque<Duration>,
}

impl Pace {
    /// Notes a gate; the time between two gates of the first place is that of a step.
    pub(crate) fn pass(&mut self, place: &Place) {
        let phase = place.phase();
        if let Some((measured, at)) = self.last {
            if measured != phase {
                return;
            }
            if self.steps.len() >= STEPS {
                self.steps.pop_front();
            }
            self.steps.push_back(at.elapsed());
        }
        self.last = Some((phase, Instant::now()));
    }

    /// Median duration of a step in seconds; `None` before the second step.
    pub(crate) fn step_secs(&self) -> Option<f64> {
        let mut steps: Vec<Duration> = self.steps.iter().copied().collect();
        steps.sort_unstable();
        steps.get(steps.len() / 2).map(Duration::as_secs_f64)
    }
}

/// Facts about a stop.
#[derive(Debug, Serialize)]
pub(crate) struct StopReport {
    pub(crate) step: i64,
    pub(crate) total_steps: Option<i64>,
    pub(crate) step_secs: Option<f64>,
    /// Seconds from the gate at which the hit was found until the stop.
    pub(crate) found_after_secs: f64,
}

impl StopReport {
    /// Writes it to the file that `TRAINSCOPE_STOP_REPORT` names. A failure is ignored.
    pub(crate) fn write(&self, path: &Path) {
        if let Ok(text) = serde_json::to_vec(self) {
            drop(std::fs::write(path, text));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use trainscope_format::session::Place;

    use super::{Pace, STEPS};

    #[test]
    fn the_duration_of_a_step_is_a_median_over_the_newest() {
        let mut pace = Pace::default();
        assert_eq!(pace.step_secs(), None);
        pace.pass(&Place::BeforeUpdate);
        pace.pass(&Place::AfterStep);
        assert_eq!(pace.step_secs(), None);
        for _ in 0..2 * STEPS {
            pace.pass(&Place::BeforeUpdate);
        }
        assert_eq!(pace.steps.len(), STEPS);
        pace.steps = [5, 1, 900].map(Duration::from_secs).into();
        assert_eq!(pace.step_secs(), Some(5.0));
    }
}
