//! Ranks that others wait for: the last arrivals at collectives, their cost to the others, and their causes.

use trainscope_api::profile::{LateBy, Parts, RanksAnswer, Straggler};

use super::super::robust;
use super::collectives::{Collective, Meeting, ends_before};
use super::{RankDigest, Table, medians, rounded, sum};

/// Steps that take this multiple of their length because of one rank are slow (chosen: above the noise of equal devices).
pub const SLOW: f64 = 1.01;
/// A rank is slow for at least this number of steps in a row; single slow steps have other reasons.
pub const SLOW_STEPS: usize = 10;
/// Within a row, one step in this number may be fast, and one more: another rank may be later by chance (chosen).
const FAST_STEPS: usize = 10;
/// With fewer steps, all must be slow.
const FEW_STEPS: usize = 12;
/// In recordings of fewer steps, one rank is last by chance.
const CHANCE_STEPS: usize = 3;
/// Multiples of the time that must be lost in recordings of few and of fewer steps (chosen).
const FEW_FACTOR: f64 = 3.0;
const CHANCE_FACTOR: f64 = 6.0;

/// Lateness of ranks at collectives, by step.
pub(super) struct Lateness {
    /// Time that all others together wait for a rank, by rank and step.
    pub(super) nanos: Vec<Vec<i64>>,
    /// Causes of the lateness of each rank, in the collectives at which it was the last.
    pub(super) by: Vec<LateBy>,
}

impl Lateness {
    /// Lateness in the common steps of a table; that of compute if there are no collectives.
    pub(super) fn new(
        of: &[RankDigest],
        by_rank: &[&[Collective]],
        meetings: &[Meeting],
        table: &Table,
    ) -> Self {
        if meetings.is_empty() {
            return Self::of_compute(&table.compute);
        }
        let spans = &table.spans;
        let mut late = Self {
            nanos: spans.iter().map(|spans| vec![0; spans.len()]).collect(),
            by: vec![LateBy::default(); spans.len()],
        };
        let before: Vec<Vec<i64>> = by_rank
            .iter()
            .map(|collectives| ends_before(collectives))
            .collect();
        for meeting in meetings {
            let arrival = |(rank, place): &(usize, usize)| {
                let begin = by_rank.get(*rank)?.get(*place)?.begin;
                Some(begin.saturating_sub(meeting.offset_of(*rank)))
            };
            let last = meeting.members.iter().max_by_key(|member| arrival(member));
            let Some((last, place)) = last.copied() else {
                continue;
            };
            let waits = meeting.members.iter().filter_map(|one| {
                let collective = by_rank.get(one.0)?.get(one.1)?;
                let length = collective.end.saturating_sub(collective.begin);
                Some(meeting.arrived.saturating_sub(arrival(one)?).min(length))
            });
            let waited = waits.fold(0, i64::saturating_add);
            let Some(step) = table.step_at(last, by_rank[last][place].begin) else {
                continue;
            };
            let cell = &mut late.nanos[last][step];
            *cell = cell.saturating_add(waited);
            let windows = meeting.members.iter().filter_map(|(rank, place)| {
                let (from, _) = *spans.get(*rank)?.get(step)?;
                let since = (*before.get(*rank)?.get(*place)?).max(from);
                let window = (since, by_rank[*rank][*place].begin.max(since));
                let began = since.saturating_sub(meeting.offset_of(*rank));
                Some((*rank, began, of.get(*rank)?.parts_of(window)))
            });
            add(&mut late.by[last], last, &windows.collect::<Vec<_>>());
        }
        late
    }

    /// Without collectives: compute beyond the median, for which the others would wait.
    fn of_compute(compute: &[Vec<i64>]) -> Self {
        let medians = medians(compute);
        let others = compute.len().saturating_sub(1) as f64;
        let beyond = |times: &Vec<i64>| -> Vec<i64> {
            let cells = times.iter().zip(&medians);
            let late = cells.map(|(time, median)| (*time as f64 - median).max(0.0) * others);
            late.map(rounded).collect()
        };
        let nanos: Vec<Vec<i64>> = compute.iter().map(beyond).collect();
        let by = nanos.iter().map(|row| LateBy {
            compute_nanos: sum(row),
            ..LateBy::default()
        });
        Self {
            by: by.collect(),
            nanos,
        }
    }
}

/// Adds the time by which the last rank exceeds the median of the others since the previous collective, by part, and
/// its delay in leaving that collective or beginning the step. Windows have the rank, their start on the common clock,
/// and their parts.
fn add(by: &mut LateBy, last: usize, windows: &[(usize, i64, Parts)]) {
    let Some((_, since, parts)) = windows.iter().find(|window| window.0 == last) else {
        return;
    };
    let median = |value: &dyn Fn(&(usize, i64, Parts)) -> i64| {
        let others = windows.iter().filter(|window| window.0 != last);
        rounded(robust::median(&others.map(value).collect::<Vec<_>>()))
    };
    let more = |part: fn(&Parts) -> i64| {
        let usual = median(&|window| part(&window.2));
        part(parts).saturating_sub(usual).max(0)
    };
    // Without a device, operators are the compute.
    let has_device = windows.iter().any(|window| window.2.kernel > 0);
    let (compute, host) = if has_device {
        (
            more(|parts| parts.kernel),
            more(|parts| parts.runtime + parts.operators + parts.other),
        )
    } else {
        (
            more(|parts| parts.operators),
            more(|parts| parts.runtime + parts.other),
        )
    };
    let begin = since.saturating_sub(median(&|window| window.1)).max(0);
    for (sum, nanos) in [
        (&mut by.begin_nanos, begin),
        (&mut by.compute_nanos, compute),
        (
            &mut by.copies_nanos,
            more(|parts| parts.memcpy + parts.memset),
        ),
        (&mut by.data_nanos, more(|parts| parts.data)),
        (&mut by.host_nanos, host),
    ] {
        *sum = sum.saturating_add(nanos);
    }
}

/// Slow steps in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Streak {
    pub(super) first: usize,
    pub(super) steps: usize,
}

/// The longest run of steps in which the others wait for a rank, of equally long ones the first.
pub(super) fn streak(answer: &RanksAnswer, rank: usize, slowness: f64) -> Option<Streak> {
    let late = answer.late_nanos.get(rank)?;
    let others = answer.ranks.len().saturating_sub(1).max(1) as f64;
    let factor = match late.len() {
        0..CHANCE_STEPS => CHANCE_FACTOR,
        CHANCE_STEPS..FEW_STEPS => FEW_FACTOR,
        _ => 1.0,
    };
    let share = (1.0 - 1.0 / slowness) * factor;
    let lengths = medians(&answer.length_nanos);
    let mut best: Option<Streak> = None;
    let mut open: Option<Streak> = None;
    let mut fast = 0;
    for (step, (late, length)) in late.iter().zip(&lengths).enumerate() {
        if *late as f64 / others <= share * length {
            fast += 1;
            let most = open.map_or(0, |open| 1 + open.steps / FAST_STEPS);
            if fast > most || lengths.len() < FEW_STEPS {
                open = None;
            }
            continue;
        }
        if open.is_none() {
            fast = 0;
        }
        let first = open.map_or(step, |open| open.first);
        let streak = Streak {
            first,
            steps: step + 1 - first,
        };
        open = Some(streak);
        if best.is_none_or(|best| best.steps < streak.steps) {
            best = Some(streak);
        }
    }
    best
}

/// Ranks that others wait for in a number of consecutive steps, the slowest first. A slowness of 1.1 is a step that
/// takes 1.1 times its length without the waiting.
pub fn stragglers(answer: &RanksAnswer, slowness: f64, steps: usize) -> Vec<Straggler> {
    let lengths = medians(&answer.length_nanos);
    let need = if lengths.len() < FEW_STEPS {
        lengths.len()
    } else {
        steps
    };
    let others = answer.ranks.len().saturating_sub(1).max(1) as f64;
    let mut slow = Vec::new();
    for (index, rank) in answer.ranks.iter().enumerate() {
        let found = streak(answer, index, slowness).filter(|streak| streak.steps >= need);
        let Some(streak) = found else { continue };
        let range = streak.first..streak.first + streak.steps;
        let late = answer
            .late_nanos
            .get(index)
            .and_then(|row| row.get(range.clone()));
        let waited = sum(late.unwrap_or_default()) as f64 / others;
        let length: f64 = lengths.get(range.clone()).unwrap_or_default().iter().sum();
        slow.push(Straggler {
            rank: rank.rank,
            from_step: answer.steps.get(range.start).copied().unwrap_or_default(),
            to_step: answer.steps.get(range.end - 1).copied().unwrap_or_default(),
            steps: streak.steps as u64,
            slowness: length / (length - waited).max(1.0),
            gain_nanos: rounded(waited / streak.steps.max(1) as f64),
            cause: rank.late_by.largest(),
        });
    }
    slow.sort_by(|a, b| b.slowness.total_cmp(&a.slowness));
    slow
}
