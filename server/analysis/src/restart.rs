//! Restarts and concurrent writers: which points of several files are the series one means.
//!
//! A training that is started again from a checkpoint writes steps a second time. The points of the first attempt from
//! there on are *superseded*: kept, but not part of the curve. Two writers that write the same tag at the same time are
//! two series.

/// What is known of the points that one file holds of one tag.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extent {
    /// Wall time of the first point, seconds since 1970.
    pub first_wall_time_secs: f64,
    /// Wall time of the last point.
    pub last_wall_time_secs: f64,
}

/// Groups the extents of one (rank, tag) into writers: each inner list holds indices of `extents` that follow one
/// another in time. The first list is the series shown by default; each further one was written concurrently.
///
/// `extents` are in the order of their file names, which decides where wall times say nothing (NaN, or all equal).
pub fn writers(extents: &[Extent]) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..extents.len()).collect();
    // Stable: equal times keep the order of the names. NaN comes last, or first if its sign says so.
    order.sort_by(|a, b| {
        let time = |index: &usize| extents[*index].first_wall_time_secs;
        time(a).total_cmp(&time(b))
    });
    let mut writers: Vec<Vec<usize>> = Vec::new();
    for index in order {
        let begin = extents[index].first_wall_time_secs;
        let follows = |writer: &&mut Vec<usize>| {
            writer.last().is_some_and(|last| {
                let end = extents[*last].last_wall_time_secs;
                // Not `begin > end`: times that cannot be compared, or no clock at all, mean one after the other.
                end.partial_cmp(&begin)
                    .is_none_or(|order| order.is_lt() || (order.is_eq() && end == 0.0))
            })
        };
        match writers.iter_mut().find(follows) {
            Some(writer) => writer.push(index),
            None => writers.push(vec![index]),
        }
    }
    writers
}

/// For the files of one writer in time order: the highest step of each that later files have not written again.
pub fn step_limits(min_steps: &[i64]) -> Vec<i64> {
    let mut limits = vec![i64::MAX; min_steps.len()];
    let mut limit = i64::MAX;
    for (i, min_step) in min_steps.iter().enumerate().rev() {
        limits[i] = limit;
        limit = limit.min(min_step.saturating_sub(1));
    }
    limits
}

/// Marks which points of one file are live: those after which, in the same file, no lower step was written, and whose
/// step is at most `limit`. Equal steps are all live. Returns the lowest step seen, for the points before these.
pub fn mark_live(steps: &[i64], limit: i64, live: &mut Vec<bool>) -> i64 {
    live.clear();
    live.resize(steps.len(), false);
    let mut limit = limit;
    for (mark, step) in live.iter_mut().zip(steps).rev() {
        *mark = *step <= limit;
        limit = limit.min(*step);
    }
    limit
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extent(first: f64, last: f64) -> Extent {
        Extent {
            first_wall_time_secs: first,
            last_wall_time_secs: last,
        }
    }

    #[test]
    fn files_one_after_the_other_are_one_writer_and_overlapping_ones_are_two() {
        assert_eq!(
            writers(&[extent(10.0, 20.0), extent(0.0, 9.0)]),
            [vec![1, 0]]
        );
        assert_eq!(
            writers(&[extent(0.0, 10.0), extent(5.0, 15.0)]),
            [vec![0], vec![1]]
        );
        assert_eq!(
            writers(&[extent(0.0, 10.0), extent(5.0, 15.0), extent(11.0, 12.0)]),
            [vec![0, 2], vec![1]]
        );
        assert_eq!(writers(&[extent(0.0, 0.0), extent(0.0, 0.0)]), [vec![0, 1]]);
        assert_eq!(
            writers(&[extent(f64::NAN, f64::NAN), extent(1.0, 2.0)]),
            [vec![1, 0]]
        );
        assert_eq!(writers(&[]), Vec::<Vec<usize>>::new());
    }

    #[test]
    fn a_restart_supersedes_what_the_attempts_before_wrote_from_its_first_step_on() {
        assert_eq!(step_limits(&[0, 50, 20]), [19, 19, i64::MAX]);
        assert_eq!(step_limits(&[5, i64::MIN]), [i64::MIN, i64::MAX]);
    }

    #[test]
    fn a_step_that_goes_back_in_one_file_supersedes_and_an_equal_one_does_not() {
        let mut live = Vec::new();
        assert_eq!(mark_live(&[0, 1, 2, 1, 2, 2, 3], i64::MAX, &mut live), 0);
        assert_eq!(live, [true, true, false, true, true, true, true]);
        mark_live(&[0, 1, 2], 1, &mut live);
        assert_eq!(live, [true, true, false]);
    }
}
