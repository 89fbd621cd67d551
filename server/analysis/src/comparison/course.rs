//! Differences of one tensor or scalar over steps: those that any tolerance needs.
//!
//! Only differences that are worse than all before them are kept: the first one beyond any tolerance is among them.

use super::measure::{exceeds, is_worse};

/// A difference that is worse than all at earlier steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stair {
    /// Step of the base.
    pub step: i64,
    /// Step of the other run.
    pub other_step: i64,
    /// Relative difference.
    pub difference: f64,
    /// Values of the base and of the other run, for a scalar.
    pub values: Option<(f64, f64)>,
    /// True if no elements were recorded: the difference is one of statistics.
    pub by_statistics: bool,
}

/// Differences over steps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Course {
    /// In the order of steps, each worse than the one before.
    pub stairs: Vec<Stair>,
    /// Number of points before each stair.
    before: Vec<u64>,
    /// Number of compared steps.
    pub compared: u64,
    /// True if anything differs, even by a bit.
    pub differs: bool,
    /// True if the shapes differ at some step.
    pub has_other_shape: bool,
}

impl Course {
    /// Adds the difference at the next step.
    pub fn add(&mut self, stair: Stair) {
        let before = self.compared;
        self.compared += 1;
        let worst = self.stairs.last().map_or(0.0, |last| last.difference);
        if is_worse(stair.difference, worst) {
            self.differs = true;
            self.stairs.push(stair);
            self.before.push(before);
        }
    }

    /// Differences that are worse than all before them, each with the number of points before it.
    pub(super) fn points(&self) -> impl Iterator<Item = (u64, &Stair)> {
        self.before.iter().copied().zip(&self.stairs)
    }

    /// First difference beyond a tolerance.
    pub fn parting(&self, tolerance: f64) -> Option<&Stair> {
        self.stairs
            .iter()
            .find(|stair| exceeds(stair.difference, tolerance))
    }

    /// Largest difference within a tolerance before the first one beyond it.
    pub fn largest_within(&self, tolerance: f64) -> Option<&Stair> {
        self.stairs
            .iter()
            .take_while(|stair| !exceeds(stair.difference, tolerance))
            .last()
    }
}

/// The differences at steps 0, 1, 2, …
#[cfg(test)]
impl FromIterator<f64> for Course {
    fn from_iter<T: IntoIterator<Item = f64>>(differences: T) -> Self {
        let mut course = Self::default();
        for (step, difference) in (0..).zip(differences) {
            course.add(Stair {
                step,
                other_step: step,
                difference,
                values: None,
                by_statistics: false,
            });
        }
        course
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_tolerance_finds_its_first_step() {
        let differences = [0.0, 0.1, 0.05, 0.3, 0.2, f64::NAN, 0.9];
        let course: Course = differences.into_iter().collect();
        for tolerance in [0.0, 0.01, 0.1, 0.15, 0.3, 1.0] {
            let mut all = (0..).zip(differences);
            let first = all.find(|(_, difference)| exceeds(*difference, tolerance));
            let found = course.parting(tolerance).map(|stair| stair.step);
            assert_eq!(found, first.map(|point| point.0), "{tolerance}");
        }
        assert_eq!(course.largest_within(0.2).map(|stair| stair.step), Some(1));
        assert_eq!(course.compared, 7);
    }
}
