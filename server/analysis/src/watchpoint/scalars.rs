//! The scalars that say how a training goes: which is the loss, the learning rate, … and their points by step.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// What a scalar is to the training.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) enum Meaning {
    Loss,
    HeldOutLoss,
    Accuracy,
    HeldOutAccuracy,
    LearningRate,
    GradientNorm,
    LossScale,
}

/// What a tag most likely is, and how sure that is: of several the lowest number wins. `None`: nothing that is judged.
pub(crate) fn meaning_of(tag: &str) -> Option<(Meaning, u8)> {
    let lower = tag.to_ascii_lowercase();
    let words: Vec<&str> = lower
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let has = |word: &str| words.contains(&word);
    let has_any = |of: &[&str]| of.iter().any(|word| has(word));
    let held_out = has_any(&[
        "val",
        "valid",
        "validation",
        "eval",
        "evaluation",
        "test",
        "dev",
    ]);
    let extra = u8::try_from(words.len()).unwrap_or(u8::MAX);
    let meaning = if has("scale") && has_any(&["loss", "grad", "scaler"]) || has("lossscale") {
        Meaning::LossScale
    } else if has_any(&["lr", "learningrate"]) || has("learning") && has("rate") {
        Meaning::LearningRate
    } else if has("norm") && has_any(&["grad", "gradient", "grads", "gradients"])
        || has_any(&["gradnorm", "gnorm"])
    {
        Meaning::GradientNorm
    } else if has_any(&["loss", "nll", "cost"]) {
        if held_out {
            Meaning::HeldOutLoss
        } else {
            Meaning::Loss
        }
    } else if has_any(&["accuracy", "acc", "top1"]) {
        if held_out {
            Meaning::HeldOutAccuracy
        } else {
            Meaning::Accuracy
        }
    } else {
        return None;
    };
    Some((meaning, extra))
}

/// Points of one tag of one rank, by ascending step; of a step that is written twice, the newer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Series {
    pub(crate) rank: u32,
    pub(crate) tag: Arc<str>,
    pub(crate) meaning: Meaning,
    pub(crate) doubt: u8,
    pub(crate) steps: Vec<i64>,
    pub(crate) values: Vec<f64>,
    /// Seconds since 1970, as written.
    pub(crate) wall_times_secs: Vec<f64>,
}

impl Series {
    pub(crate) fn new(rank: u32, tag: &str, (meaning, doubt): (Meaning, u8)) -> Self {
        Self {
            rank,
            tag: tag.into(),
            meaning,
            doubt,
            steps: Vec::new(),
            values: Vec::new(),
            wall_times_secs: Vec::new(),
        }
    }

    pub(crate) fn push(&mut self, step: i64, wall_time_secs: f64, value: f64) {
        if self.steps.last().is_some_and(|last| *last >= step) {
            let keep = self.steps.partition_point(|s| *s < step);
            self.steps.truncate(keep);
            self.values.truncate(keep);
            self.wall_times_secs.truncate(keep);
        }
        self.steps.push(step);
        self.values.push(value);
        self.wall_times_secs.push(wall_time_secs);
    }

    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }

    pub(crate) fn points(
        &self,
    ) -> impl DoubleEndedIterator<Item = (i64, f64)> + ExactSizeIterator + Clone {
        self.steps.iter().copied().zip(self.values.iter().copied())
    }

    /// The value at that step.
    pub(crate) fn at(&self, step: i64) -> Option<f64> {
        let index = self.steps.binary_search(&step).ok()?;
        self.values.get(index).copied()
    }

    /// Points from `from` on.
    pub(crate) fn since(&self, from: i64) -> impl Iterator<Item = (i64, f64)> {
        let start = self.steps.partition_point(|s| *s < from);
        self.points().skip(start)
    }

    /// Points after `from`.
    pub(crate) fn after(&self, from: i64) -> impl Iterator<Item = (i64, f64)> {
        let start = self.steps.partition_point(|s| *s <= from);
        self.points().skip(start)
    }

    /// Points up to `to`, and at it.
    pub(crate) fn until(&self, to: i64) -> impl ExactSizeIterator<Item = (i64, f64)> {
        let end = self.steps.partition_point(|s| *s <= to);
        self.points().take(end)
    }

    /// Points before `to`.
    pub(crate) fn before(&self, to: i64) -> impl Iterator<Item = (i64, f64)> {
        let end = self.steps.partition_point(|s| *s < to);
        self.points().take(end)
    }
}

/// The middle of some numbers, those that are NaN left out; `None` if there is none. Between two it is their mean.
pub(crate) fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.filter(|v| !v.is_nan()).collect();
    let half = values.len() / 2;
    if values.is_empty() {
        return None;
    }
    let middle = *values.select_nth_unstable_by(half, f64::total_cmp).1;
    if values.len() % 2 == 1 {
        return Some(middle);
    }
    let lower = values[..half]
        .iter()
        .copied()
        .fold(f64::NEG_INFINITY, f64::max);
    Some(f64::midpoint(lower, middle))
}

/// The median distance from the median, in units of a standard deviation.
pub(crate) fn spread(values: &[f64], middle: f64) -> f64 {
    1.4826 * median(values.iter().map(|v| (v - middle).abs())).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_of_several_frameworks_say_what_they_are() {
        for (tag, meaning) in [
            ("loss/train", Some(Meaning::Loss)),
            ("train/loss", Some(Meaning::Loss)),
            ("loss", Some(Meaning::Loss)),
            ("val_loss", Some(Meaning::HeldOutLoss)),
            ("loss/val", Some(Meaning::HeldOutLoss)),
            ("val/accuracy", Some(Meaning::HeldOutAccuracy)),
            ("train/accuracy", Some(Meaning::Accuracy)),
            ("learning_rate", Some(Meaning::LearningRate)),
            ("train/lr", Some(Meaning::LearningRate)),
            ("grad_norm", Some(Meaning::GradientNorm)),
            ("loss_scale", Some(Meaning::LossScale)),
            ("layer_norm", None),
            ("steps_per_second", None),
        ] {
            assert_eq!(meaning_of(tag).map(|m| m.0), meaning, "{tag}");
        }
    }

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median([3.0, 1.0, 2.0].into_iter()), Some(2.0));
        assert_eq!(median([4.0, 1.0, 2.0, 3.0].into_iter()), Some(2.5));
        assert_eq!(median([f64::NAN, 7.0].into_iter()), Some(7.0));
        assert_eq!(median(std::iter::empty()), None);
    }

    #[test]
    fn a_step_that_is_written_again_replaces_what_came_after() {
        let mut series = Series::new(0, "loss", (Meaning::Loss, 1));
        for (step, value) in [(0, 1.0), (1, 2.0), (2, 3.0), (1, 4.0)] {
            series.push(step, 0.0, value);
        }
        assert_eq!(series.points().collect::<Vec<_>>(), [(0, 1.0), (1, 4.0)]);
        assert_eq!(series.at(1), Some(4.0));
        assert_eq!(series.since(1).count(), 1);
        assert_eq!(series.before(1).count(), 1);
    }
}
