//! Columns of a map over steps: one step each, or stretches of consecutive steps if there are too many.

/// Consecutive steps in one column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// First step.
    pub first: i64,
    /// Last step.
    pub last: i64,
    /// Number of steps.
    pub steps: u64,
}

/// At most `most` stretches of ascending steps. The step `alone` has a separate stretch.
pub fn stretches(steps: &[i64], most: usize, alone: Option<i64>) -> Vec<Stretch> {
    let part = |steps: &[i64], most: usize| -> Vec<Stretch> {
        let len = steps.len().div_ceil(most.max(1)).max(1);
        let chunks = steps.chunks(len);
        chunks.filter_map(stretch).collect()
    };
    if steps.len() <= most {
        return part(steps, steps.len());
    }
    let at = alone.and_then(|step| steps.binary_search(&step).ok());
    let Some(at) = at else {
        return part(steps, most);
    };
    let (before, rest) = steps.split_at(at);
    let (single, after) = rest.split_at(1);
    // Both sides get a share of the columns by their length, and at least one if they have steps.
    let room = most.saturating_sub(3);
    let share = room * before.len() / steps.len();
    let mut all = part(before, share + 1);
    all.extend(stretch(single));
    all.extend(part(after, room - share + 1));
    all
}

fn stretch(steps: &[i64]) -> Option<Stretch> {
    Some(Stretch {
        first: *steps.first()?,
        last: *steps.last()?,
        steps: steps.len() as u64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_is_in_one_stretch() {
        for count in [0, 1, 7, 200, 201, 1_000, 12_345] {
            let steps: Vec<i64> = (0..count).map(|step| step * 3).collect();
            for alone in [None, Some(0), Some(300), Some(count * 3 - 3), Some(1)] {
                let all = stretches(&steps, 200, alone);
                assert!(all.len() <= 200, "{count} {alone:?}: {}", all.len());
                assert_eq!(
                    all.iter().map(|stretch| stretch.steps).sum::<u64>(),
                    steps.len() as u64
                );
                assert!(all.windows(2).all(|two| two[0].last < two[1].first));
                let is_step = alone.filter(|step| steps.contains(step));
                assert!(is_step.is_none_or(|step| {
                    all.iter()
                        .any(|stretch| (stretch.first, stretch.last) == (step, step))
                }));
            }
        }
    }
}
