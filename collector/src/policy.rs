//! What is looked at, and when: at which steps, which tensors, and what is computed of them.

use trainscope_format::statistics::Role;
use trainscope_format::tensor::Tolerance;
use wildmatch::WildMatch;

/// Which steps, and which names.
#[derive(Clone, Debug, Default)]
struct Selection {
    first: u64,
    every: u64,
    names: Vec<WildMatch>,
}

impl Selection {
    fn has_step(&self, step: i64) -> bool {
        u64::try_from(step).is_ok_and(|step| {
            step < self.first || (self.every > 0 && step.is_multiple_of(self.every))
        })
    }

    fn has_name(&self, name: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|pattern| pattern.matches(name))
    }
}

/// Of which tensors statistics are computed, at which steps, and which. `docs/src/recording/rust.md` says what each costs.
///
/// ```
/// use trainscope_collector::{Role, SamplePolicy};
///
/// // Of the first three steps, then of every hundredth: weights, and how they have changed.
/// let policy = SamplePolicy::every(100).first(3).matching("*.weight").change();
/// # let policy = policy.channels(Role::Weight, 0);
/// ```
#[derive(Clone, Debug)]
pub struct SamplePolicy {
    selection: Selection,
    pub(crate) exponents: bool,
    pub(crate) hash: bool,
    pub(crate) change: Option<Tolerance>,
    pub(crate) histograms: bool,
    channels: Vec<(Role, usize)>,
}

impl Default for SamplePolicy {
    /// Every tenth step, all tensors: counts, moments, exponents and a hash.
    fn default() -> Self {
        Self::every(10)
    }
}

impl SamplePolicy {
    /// Steps whose number is a multiple of `steps`, the step 0 among them; none if it is 0.
    pub fn every(steps: u64) -> Self {
        Self {
            selection: Selection {
                every: steps,
                ..Selection::default()
            },
            exponents: true,
            hash: true,
            change: None,
            histograms: false,
            channels: Vec::new(),
        }
    }

    /// No steps; those of a trigger still.
    pub fn never() -> Self {
        Self::every(0)
    }

    /// Also the steps 0 to `steps` − 1.
    #[must_use]
    pub fn first(mut self, steps: u64) -> Self {
        self.selection.first = steps;
        self
    }

    /// Only tensors whose name matches this pattern, or one that was given before: `*` is any text, `?` one character.
    #[must_use]
    pub fn matching(mut self, pattern: &str) -> Self {
        self.selection.names.push(WildMatch::new(pattern));
        self
    }

    /// How many elements there are of each power of two: tells shares of ranges. On unless said otherwise.
    #[must_use]
    pub fn exponents(mut self, is_on: bool) -> Self {
        self.exponents = is_on;
        self
    }

    /// A hash of the content: tells whether two tensors are the same. On unless said otherwise.
    #[must_use]
    pub fn hash(mut self, is_on: bool) -> Self {
        self.hash = is_on;
        self
    }

    /// How the tensor differs from when it was last looked at. Keeps a copy of it.
    #[must_use]
    pub fn change(self) -> Self {
        self.change_within(Tolerance::default())
    }

    /// The same, with what counts as equal.
    #[must_use]
    pub fn change_within(mut self, tolerance: Tolerance) -> Self {
        self.change = Some(tolerance);
        self
    }

    /// Also a histogram of 64 bins, which stay where they are for as long as the elements fit into them and fill them;
    /// a second look at the tensor where they have to move.
    #[must_use]
    pub fn histograms(mut self) -> Self {
        self.histograms = true;
        self
    }

    /// Also statistics of each unit, of tensors of this role: units are counted along this axis, 0 the outermost.
    #[must_use]
    pub fn channels(mut self, role: Role, axis: usize) -> Self {
        self.channels.push((role, axis));
        self
    }

    pub(crate) fn wants(&self, step: i64, name: &str) -> bool {
        self.selection.has_step(step) && self.selection.has_name(name)
    }

    pub(crate) fn has_name(&self, name: &str) -> bool {
        self.selection.has_name(name)
    }

    pub(crate) fn channel_axis(&self, role: Role) -> Option<usize> {
        let of_role = self.channels.iter().find(|(wanted, _)| *wanted == role);
        of_role.map(|(_, axis)| *axis)
    }
}

/// Which tensors are kept in full, and when: none unless said otherwise. A copy of each waits in the queue.
#[derive(Clone, Debug)]
pub struct DumpPolicy {
    selection: Selection,
    pub(crate) not_finite_steps: u64,
    pub(crate) most_steps: u64,
}

impl Default for DumpPolicy {
    fn default() -> Self {
        Self::never()
    }
}

impl DumpPolicy {
    /// Steps whose number is a multiple of `steps`; none if it is 0.
    pub fn every(steps: u64) -> Self {
        Self {
            selection: Selection {
                every: steps,
                ..Selection::default()
            },
            not_finite_steps: 0,
            most_steps: u64::MAX,
        }
    }

    /// No steps; those of a trigger still.
    pub fn never() -> Self {
        Self::every(0)
    }

    /// Also the steps 0 to `steps` − 1.
    #[must_use]
    pub fn first(mut self, steps: u64) -> Self {
        self.selection.first = steps;
        self
    }

    /// Only tensors whose name matches this pattern, or one that was given before.
    #[must_use]
    pub fn matching(mut self, pattern: &str) -> Self {
        self.selection.names.push(WildMatch::new(pattern));
        self
    }

    /// Also, in at most so many steps, the tensor in which statistics find a NaN or an infinity, and those that follow
    /// it in that step.
    #[must_use]
    pub fn at_not_finite(mut self, steps: u64) -> Self {
        self.not_finite_steps = steps;
        self
    }

    /// At most so many steps in all, triggered ones among them.
    #[must_use]
    pub fn at_most(mut self, steps: u64) -> Self {
        self.most_steps = steps;
        self
    }

    pub(crate) fn wants(&self, step: i64, name: &str) -> bool {
        self.selection.has_step(step) && self.selection.has_name(name)
    }

    pub(crate) fn has_name(&self, name: &str) -> bool {
        self.selection.has_name(name)
    }
}

#[cfg(test)]
mod tests {
    use super::{DumpPolicy, SamplePolicy};

    #[test]
    fn steps_and_names() {
        let policy = SamplePolicy::every(10)
            .first(3)
            .matching("fc?.*")
            .matching("*.bias");
        let steps: Vec<i64> = (-10..25)
            .filter(|&step| policy.wants(step, "fc1.weight"))
            .collect();
        assert_eq!(steps, [0, 1, 2, 10, 20]);
        assert!(policy.wants(0, "conv.bias"));
        assert!(!policy.wants(0, "conv.weight"));
        assert!(!SamplePolicy::never().wants(0, "x"));
        assert!(!DumpPolicy::default().wants(0, "x"));
        assert!(DumpPolicy::never().first(1).wants(0, "x"));
    }
}
