//! Sets of recorded steps: millions of them take little memory, as most are consecutive.

use roaring::RoaringTreemap;
use serde::{Deserialize, Serialize};

/// A set of steps.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Steps(#[serde(with = "stored")] RoaringTreemap);

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

/// Serialized as runs of consecutive numbers.
mod stored {
    use roaring::RoaringTreemap;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(
        steps: &RoaringTreemap,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let mut stretches: Vec<(u64, u64)> = Vec::new();
        for step in steps {
            match stretches.last_mut() {
                Some((_, last)) if last.checked_add(1) == Some(step) => *last = step,
                _ => stretches.push((step, step)),
            }
        }
        stretches.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<RoaringTreemap, D::Error> {
        let stretches = Vec::<(u64, u64)>::deserialize(deserializer)?;
        let mut steps = RoaringTreemap::new();
        for (first, last) in stretches {
            steps.insert_range(first..=last);
        }
        Ok(steps)
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
