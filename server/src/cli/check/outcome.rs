//! Outcome of a training that `check --live` has followed.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use trainscope_analysis::watchpoint::Hit;

use super::super::words;

/// Outcome of a training that was followed.
#[derive(Clone, Debug, Serialize)]
pub(super) struct LiveOutcome {
    /// The command and its arguments; empty if a folder was followed.
    pub(super) command: Vec<String>,
    /// Exit status, or 128 + n for signal n; `None` without a command.
    pub(super) status: Option<i32>,
    /// Step at which it stopped itself because of a hit; `None` for a signal, which ends a training at any point.
    pub(super) stopped_at_step: Option<i64>,
    pub(super) total_steps: Option<i64>,
    pub(super) ran_secs: f64,
    /// Seconds that the rest of the steps would have taken.
    pub(super) saved_secs: Option<f64>,
    /// Seconds from the gate at which the hit was found until the stop.
    pub(super) found_after_secs: Option<f64>,
    pub(super) stopped_by: Option<StopSource>,
    #[serde(skip)]
    pub(super) is_interrupted: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum StopSource {
    /// The training itself, by our collector.
    Training,
    Signal,
}

/// The collector's report about a stop, in the file that `TRAINSCOPE_STOP_REPORT` names.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct StopReport {
    step: i64,
    #[serde(default)]
    pub(super) total_steps: Option<i64>,
    #[serde(default)]
    step_secs: Option<f64>,
    #[serde(default)]
    pub(super) found_after_secs: Option<f64>,
}

impl StopReport {
    /// Reads the file; `None` if the training has not stopped itself.
    pub(super) fn read(path: &Path) -> Option<Self> {
        serde_json::from_slice(&fs::read(path).ok()?).ok()
    }
}

impl LiveOutcome {
    /// Adds the facts about a stop.
    pub(super) fn stop(&mut self, stop: Option<StopReport>, is_signalled: bool) {
        match stop {
            Some(stop) => {
                self.stopped_by = Some(StopSource::Training);
                self.stopped_at_step = Some(stop.step);
                self.total_steps = stop.total_steps;
                self.found_after_secs = stop.found_after_secs;
                let rest = stop
                    .total_steps
                    .map(|total| total.saturating_sub(stop.step));
                let secs = stop.step_secs.filter(|secs| secs.is_finite());
                self.saved_secs = rest.zip(secs).map(|(rest, secs)| rest.max(0) as f64 * secs);
            }
            None => self.stopped_by = is_signalled.then_some(StopSource::Signal),
        }
    }

    /// The outcome as sentences, with the hit that caused a stop; `None` if nothing was stopped.
    pub(super) fn sentence(&self, hit: Option<&Hit>) -> Option<String> {
        let number = |step: i64| words::count(step.max(0).unsigned_abs());
        let span = |secs| words::span(Duration::try_from_secs_f64(secs).unwrap_or_default());
        let by = match (self.stopped_by?, self.stopped_at_step) {
            (StopSource::Training, Some(step)) => format!(" at step {}", number(step)),
            (StopSource::Training, None) => String::new(),
            (StopSource::Signal, _) => " by a signal".to_owned(),
        };
        let of = match self.total_steps {
            Some(total) => format!(" of {}", number(total)),
            None => String::new(),
        };
        let ran = span(self.ran_secs);
        let saved = match self.saved_secs {
            Some(secs) => format!(": {} were not spent", span(secs)),
            None => ", and would have gone on".to_owned(),
        };
        let mut text = format!("Stopped{by}{of} after {ran}{saved}.");
        if let Some(hit) = hit {
            let is_of_stop = self.stopped_at_step == Some(hit.step);
            let label = if is_of_stop { "Reason" } else { "First hit" };
            let title = hit.condition.en.says;
            // Writing to a string cannot fail.
            let _infallible = write!(
                text,
                " {label}: {title} at step {} in {}",
                number(hit.step),
                words::name(&hit.tensor, None)
            );
            if is_of_stop && let Some(secs) = self.found_after_secs {
                let _infallible = write!(text, ", seen {secs:.1} s later");
            }
            text.push('.');
        }
        Some(text)
    }
}
