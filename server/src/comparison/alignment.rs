//! Positions of the points of two runs, by which they are compared.

use trainscope_analysis::comparison::align::{by_position, common_steps};
use trainscope_api::Sentence;
use trainscope_api::compare::Align;

use super::Side;
use super::recorded::RunNames;

/// Rule that pairs the points of two runs.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Alignment {
    Step,
    /// Steps times a factor of each run.
    Scaled([f64; 2]),
    /// Seconds after the start of each run.
    Time([f64; 2]),
}

/// Steps of points in ascending order, with their wall times if there are any.
pub(super) struct Points<'a> {
    pub(super) steps: &'a [i64],
    pub(super) wall_times_secs: &'a [f64],
}

impl Alignment {
    /// The rule for two runs. Without the settings that it needs: by step, with the reason.
    pub(super) fn new(
        align: Align,
        sides: [Side<'_>; 2],
        recorded: [&RunNames; 2],
    ) -> (Self, Option<Sentence>) {
        let by_step = |en: String, zh: String| (Self::Step, Some(Sentence { en, zh }));
        match align {
            Align::Step => (Self::Step, None),
            Align::Time => match recorded.map(|names| names.started_secs) {
                [Some(a), Some(b)] => (Self::Time([a, b]), None),
                _ => by_step(
                    "compared by step: a run has no times".to_owned(),
                    "按迭代对比：有一个训练没有时间".to_owned(),
                ),
            },
            Align::Samples | Align::Epoch => {
                let wanted: fn(Side<'_>) -> Result<f64, &'static str> = match align {
                    Align::Samples => samples_of_step,
                    _ => epochs_of_step,
                };
                match sides.map(|side| wanted(side).map_err(|key| (side.run, key))) {
                    [Ok(a), Ok(b)] => (Self::Scaled([a, b]), None),
                    [Err((run, key)), _] | [_, Err((run, key))] => by_step(
                        format!("compared by step: {run} does not record {key}"),
                        format!("按迭代对比：{run} 未记录 {key}"),
                    ),
                }
            }
        }
    }

    /// Pairs of steps of the base and of the other run.
    pub(super) fn pairs(&self, base: &Points<'_>, other: &Points<'_>) -> Vec<(i64, i64)> {
        let scaled = |points: &Points<'_>, scale: f64| -> Vec<(i64, f64)> {
            let steps = points.steps.iter();
            steps.map(|step| (*step, *step as f64 * scale)).collect()
        };
        let timed = |points: &Points<'_>, started: f64| -> Vec<(i64, f64)> {
            let times = points.steps.iter().zip(points.wall_times_secs);
            times.map(|(step, time)| (*step, time - started)).collect()
        };
        match self {
            Self::Step => common_steps(base.steps, other.steps),
            Self::Scaled([a, b]) => by_position(&scaled(base, *a), &scaled(other, *b)),
            Self::Time([a, b]) => by_position(&timed(base, *a), &timed(other, *b)),
        }
    }
}

/// A positive number among the settings of a run.
fn setting(side: Side<'_>, names: &[&str]) -> Option<f64> {
    let mut found = names
        .iter()
        .filter_map(|name| side.row.value(name).number());
    found.find(|number| *number > 0.0 && number.is_finite())
}

/// Samples of a step on all devices.
fn samples_of_step(side: Side<'_>) -> Result<f64, &'static str> {
    let batch = setting(side, &["batch_size", "bsize", "batch"]).ok_or("batch_size")?;
    Ok(batch * setting(side, &["device_count", "world_size"]).unwrap_or(1.0))
}

/// Epochs of a step.
fn epochs_of_step(side: Side<'_>) -> Result<f64, &'static str> {
    if let Some(steps) = setting(side, &["steps_per_epoch"]) {
        return Ok(1.0 / steps);
    }
    let samples = setting(side, &["data:train_size"]).ok_or("steps_per_epoch")?;
    Ok(samples_of_step(side)? / samples)
}
