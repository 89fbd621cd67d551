//! Sets of recorded steps: millions of them take little memory, as most are consecutive.

use roaring::RoaringTreemap;

#[derive(Clone, Debug, Default)]
pub(crate) struct Steps(RoaringTreemap);

/// Negative steps come before others, in the set as everywhere.
const fn shifted(step: i64) -> u64 {
    step.cast_unsigned() ^ (1 << 63)
}

const fn back(number: u64) -> i64 {
    (number ^ (1 << 63)).cast_signed()
}

impl Steps {
    pub(crate) fn insert(&mut self, step: i64) {
        self.0.insert(shifted(step));
    }

    pub(crate) fn first(&self) -> Option<i64> {
        self.0.min().map(back)
    }

    pub(crate) fn last(&self) -> Option<i64> {
        self.0.max().map(back)
    }

    pub(crate) fn len(&self) -> u64 {
        self.0.len()
    }

    /// Iterates in ascending order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = i64> {
        self.0.iter().map(back)
    }
}

#[cfg(test)]
mod tests {
    use super::Steps;

    #[test]
    fn steps_are_kept_in_order() {
        let mut steps = Steps::default();
        for step in [5, 3, 4, -7, i64::MAX, i64::MIN, 5] {
            steps.insert(step);
        }
        let all: Vec<i64> = steps.iter().collect();
        assert_eq!(all, [i64::MIN, -7, 3, 4, 5, i64::MAX]);
        assert_eq!((steps.first(), steps.len()), (Some(i64::MIN), 6));
    }
}
