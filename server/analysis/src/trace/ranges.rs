//! Sorted ranges of time that do not touch each other: unions, intersections and differences.

/// Begin and end of a range, half-open.
pub type Span = (i64, i64);

/// Union of ranges in any order; empty ones are dropped.
pub fn merge(mut spans: Vec<Span>) -> Vec<Span> {
    spans.retain(|(begin, end)| begin < end);
    // Slices come lane by lane in order of time: a stable sort merges these runs.
    spans.sort_by_key(|span| span.0);
    let mut merged: Vec<Span> = Vec::with_capacity(spans.len().min(1024));
    for (begin, end) in spans {
        match merged.last_mut() {
            Some(last) if begin <= last.1 => last.1 = last.1.max(end),
            _ => merged.push((begin, end)),
        }
    }
    merged
}

/// Appends a range to a list for [`merge`], joined with the last one if they touch: nested slices take no space.
pub fn push(spans: &mut Vec<Span>, begin: i64, end: i64) {
    if begin >= end {
        return;
    }
    match spans.last_mut() {
        Some(last) if last.0 <= begin && begin <= last.1 => last.1 = last.1.max(end),
        _ => spans.push((begin, end)),
    }
}

/// Parts of merged ranges between two times.
pub fn cut(spans: &[Span], begin: i64, end: i64) -> Vec<Span> {
    let touching = within(spans, begin, end).iter();
    let cut = touching.map(|(from, to)| ((*from).max(begin), (*to).min(end)));
    cut.filter(|(from, to)| from < to).collect()
}

/// Merged ranges that touch the time between two times, uncut.
pub fn within(spans: &[Span], begin: i64, end: i64) -> &[Span] {
    let from = spans.partition_point(|span| span.1 <= begin);
    let to = spans.partition_point(|span| span.0 < end).max(from);
    spans.get(from..to).unwrap_or_default()
}

/// Intersection of merged ranges.
pub fn meet(left: &[Span], right: &[Span]) -> Vec<Span> {
    let (mut i, mut j) = (0, 0);
    let mut both = Vec::new();
    while let (Some(a), Some(b)) = (left.get(i), right.get(j)) {
        let (begin, end) = (a.0.max(b.0), a.1.min(b.1));
        if begin < end {
            both.push((begin, end));
        }
        if a.1 < b.1 {
            i += 1;
        } else {
            j += 1;
        }
    }
    both
}

/// Merged ranges without the time of others.
pub fn minus(left: &[Span], right: &[Span]) -> Vec<Span> {
    let mut rest = Vec::new();
    let mut first = 0;
    for (begin, end) in left {
        let mut begin = *begin;
        while right.get(first).is_some_and(|other| other.1 <= begin) {
            first += 1;
        }
        let others = right.get(first..).unwrap_or_default().iter();
        for (from, to) in others.take_while(|other| other.0 < *end) {
            if *from > begin {
                rest.push((begin, *from));
            }
            begin = begin.max(*to);
        }
        if begin < *end {
            rest.push((begin, *end));
        }
    }
    rest
}

/// Sum of lengths, at most `i64::MAX`.
pub fn total(spans: &[Span]) -> i64 {
    let lengths = spans.iter().map(|(begin, end)| end.saturating_sub(*begin));
    lengths.fold(0, i64::saturating_add)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn moments(spans: &[Span]) -> Vec<bool> {
        (0..64)
            .map(|time| spans.iter().any(|(a, b)| *a <= time && time < *b))
            .collect()
    }

    fn spans() -> impl Strategy<Value = Vec<Span>> {
        proptest::collection::vec((0_i64..64, 0_i64..64), 0..12)
    }

    proptest! {
        #[test]
        fn ranges_hold_the_moments_of_their_definition(a in spans(), b in spans(), from in 0_i64..64, to in 0_i64..64) {
            let valid: Vec<Span> = a.iter().copied().filter(|(a, b)| a < b).collect();
            let (left, right) = (merge(a), merge(b));
            prop_assert_eq!(moments(&left), moments(&valid));
            for merged in [&left, &cut(&left, from, to), &meet(&left, &right), &minus(&left, &right)] {
                prop_assert!(merged.windows(2).all(|pair| pair[0].1 <= pair[1].0));
                prop_assert!(merged.iter().all(|(a, b)| a < b));
                let count = moments(merged).iter().filter(|m| **m).count();
                prop_assert_eq!(total(merged), i64::try_from(count).unwrap_or(-1));
            }
            let (ml, mr) = (moments(&left), moments(&right));
            for time in 0..64_usize {
                let at = i64::try_from(time).unwrap_or(-1);
                prop_assert_eq!(moments(&meet(&left, &right))[time], ml[time] && mr[time]);
                prop_assert_eq!(moments(&minus(&left, &right))[time], ml[time] && !mr[time]);
                prop_assert_eq!(moments(&cut(&left, from, to))[time], ml[time] && from <= at && at < to);
            }
        }

        #[test]
        fn joined_pushes_merge_to_the_same(a in spans()) {
            let mut pushed = Vec::new();
            for (begin, end) in &a {
                push(&mut pushed, *begin, *end);
            }
            prop_assert_eq!(merge(pushed), merge(a));
        }
    }
}
