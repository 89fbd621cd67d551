//! Sampling and dump policies: selection of steps and tensors, and of the figures to compute.

use trainscope_format::statistics::Role;
use trainscope_format::tensor::Tolerance;
use wildmatch::WildMatch;

/// Selected steps and names.
#[derive(Clone, Debug, Default)]
struct Selection {
    first: u64,
    every: u64,
    names: Vec<WildMatch>,
    excluded: Vec<WildMatch>,
}

impl Selection {
    fn has_step(&self, step: i64) -> bool {
        u64::try_from(step).is_ok_and(|step| {
            step < self.first || (self.every > 0 && step.is_multiple_of(self.every))
        })
    }

    fn has_name(&self, name: &str) -> bool {
        let is_one = |patterns: &[WildMatch]| patterns.iter().any(|pattern| pattern.matches(name));
        (self.names.is_empty() || is_one(&self.names)) && !is_one(&self.excluded)
    }
}

/// Selection of tensors, steps and figures for statistics. `docs/src/recording/rust.md` lists the cost of each.
///
/// ```
/// use trainscope_collector::{Role, SamplePolicy};
///
/// // Weights and their changes, in the first three steps, then in every hundredth.
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
    /// Selects steps that are multiples of `steps`, including step 0; none if it is 0.
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

    /// Adds a histogram of exponents (powers of two), which bounds the share of elements in a range. On by default.
    #[must_use]
    pub fn exponents(mut self, is_on: bool) -> Self {
        self.exponents = is_on;
        self
    }

    /// Adds a hash of the content, which detects equal tensors. On by default.
    #[must_use]
    pub fn hash(mut self, is_on: bool) -> Self {
        self.hash = is_on;
        self
    }

    /// Adds the difference from the previous sample of the tensor. Needs memory for a copy of it.
    #[must_use]
    pub fn change(self) -> Self {
        self.change_within(Tolerance::default())
    }

    /// The same with another tolerance for equality.
    #[must_use]
    pub fn change_within(mut self, tolerance: Tolerance) -> Self {
        self.change = Some(tolerance);
        self
    }

    /// Adds a histogram of 64 bins. The bins are reused as long as the elements fit and fill them; otherwise a second
    /// pass over the tensor is needed.
    #[must_use]
    pub fn histograms(mut self) -> Self {
        self.histograms = true;
        self
    }

    /// Adds statistics of each channel for tensors of this role: channels are slices along this axis, 0 the outermost.
    #[must_use]
    pub fn channels(mut self, role: Role, axis: usize) -> Self {
        self.channels.push((role, axis));
        self
    }

    /// `true` if figures of a tensor with this role depend on the order of its elements.
    pub(crate) fn needs_order(&self, role: Role) -> bool {
        self.change.is_some() || self.channel_axis(role).is_some()
    }

    /// The same policy with the figures that a judgement needs of a tensor with this role and number of axes.
    #[cfg(feature = "live")]
    pub(crate) fn with_needs(
        &self,
        needs: &trainscope_analysis::watchpoint::Needs,
        role: Role,
        axes: usize,
    ) -> Self {
        let mut policy = self.clone();
        policy.exponents |= needs.exponents;
        policy.hash |= needs.hash;
        policy.change = policy.change.or(needs.change);
        if needs.channels && policy.channel_axis(role).is_none() {
            let shape = vec![1; axes];
            let found = trainscope_analysis::watchpoint::channel_axis(&shape);
            policy.channels.extend(found.map(|axis| (role, axis)));
        }
        policy
    }

    pub(crate) fn channel_axis(&self, role: Role) -> Option<usize> {
        let of_role = self.channels.iter().find(|(wanted, _)| *wanted == role);
        of_role.map(|(_, axis)| *axis)
    }
}

/// Selection of tensors and steps to dump in full: none by default. A copy of each waits in the queue.
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
    /// Selects steps that are multiples of `steps`; none if it is 0.
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

    /// Adds, in up to `steps` steps, the tensor in which statistics find a NaN or an infinity, and those after it in
    /// that step.
    #[must_use]
    pub fn at_not_finite(mut self, steps: u64) -> Self {
        self.not_finite_steps = steps;
        self
    }

    /// Limits the total number of steps, including triggered ones.
    #[must_use]
    pub fn at_most(mut self, steps: u64) -> Self {
        self.most_steps = steps;
        self
    }
}

/// Methods of a policy by which steps and tensors are selected.
macro_rules! selects {
    ($policy:ident) => {
        impl $policy {
            /// Selects no steps except after a trigger.
            pub fn never() -> Self {
                Self::every(0)
            }

            /// Adds steps 0 to `steps` − 1.
            #[must_use]
            pub fn first(mut self, steps: u64) -> Self {
                self.selection.first = steps;
                self
            }

            /// Restricts to tensors whose name matches this pattern or an earlier one: `*` is any text, `?` one
            /// character.
            #[must_use]
            pub fn matching(mut self, pattern: &str) -> Self {
                self.selection.names.push(WildMatch::new(pattern));
                self
            }

            /// Excludes tensors whose name matches this pattern, also if another pattern selects them.
            #[must_use]
            pub fn except(mut self, pattern: &str) -> Self {
                self.selection.excluded.push(WildMatch::new(pattern));
                self
            }

            pub(crate) fn has_step(&self, step: i64) -> bool {
                self.selection.has_step(step)
            }

            pub(crate) fn wants(&self, step: i64, name: &str) -> bool {
                self.selection.has_step(step) && self.selection.has_name(name)
            }

            pub(crate) fn has_name(&self, name: &str) -> bool {
                self.selection.has_name(name)
            }
        }
    };
}

selects!(SamplePolicy);
selects!(DumpPolicy);

#[cfg(test)]
mod tests {
    use super::{DumpPolicy, SamplePolicy};

    #[test]
    fn steps_and_names() {
        let policy = SamplePolicy::every(10)
            .first(3)
            .matching("fc?.*")
            .matching("*.bias")
            .except("conv.b*2");
        let steps: Vec<i64> = (-10..25)
            .filter(|&step| policy.wants(step, "fc1.weight"))
            .collect();
        assert_eq!(steps, [0, 1, 2, 10, 20]);
        assert!(policy.wants(0, "conv.bias"));
        assert!(!policy.wants(0, "conv.weight"));
        assert!(!policy.wants(0, "conv.b2") && !policy.wants(0, "conv.bias2"));
        assert!(!SamplePolicy::never().wants(0, "x"));
        assert!(!DumpPolicy::default().wants(0, "x"));
        assert!(DumpPolicy::never().first(1).wants(0, "x"));
    }
}
