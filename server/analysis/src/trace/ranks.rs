//! Ranks of a session side by side: clocks, compute, waiting for others, slow ranks and collectives.

use std::collections::BTreeMap;

use trainscope_api::Sentence;
use trainscope_api::profile::{LateCause, Parts, RankRow, RanksAnswer};
use trainscope_format::digits::{nanos, percent};

use super::parts::{self, RoleRanges};
use super::ranges::{self, Span};
use super::steps::StepRange;
use super::{Model, Role, Step, figures, robust};

mod collectives;
mod digest;
mod groups;
mod late;
mod links;
mod pair;

use collectives::{Collective, Meeting};
pub use digest::RankDigest;
use late::Lateness;
pub use late::{SLOW, SLOW_STEPS, stragglers};

/// Maximum number of cells of the matrices of ranks and steps.
const MAX_CELLS: usize = 100_000;
/// Maximum number of rows of collectives.
const MAX_COLLECTIVES: usize = 200;

/// One rank and its trace.
#[derive(Clone, Copy, Debug)]
pub struct RankModel<'m> {
    /// Number of the rank.
    pub rank: u32,
    /// Its trace.
    pub model: &'m Model,
}

/// Compares ranks, with one step of the slowest rank and of a usual one. Times of other ranks are moved to the clock of
/// the first one, by the ends of the same collectives.
pub fn ranks_of(models: &[RankModel<'_>]) -> RanksAnswer {
    let digests = models
        .iter()
        .map(|rank| RankDigest::of(rank.rank, rank.model));
    let digests: Vec<RankDigest> = digests.collect();
    compare(&digests, models)
}

/// Like [`ranks_of`], without traces, and so without the step of two ranks.
pub fn ranks(of: &[RankDigest]) -> RanksAnswer {
    compare(of, &[])
}

fn compare(of: &[RankDigest], models: &[RankModel<'_>]) -> RanksAnswer {
    let steps = common_steps(of);
    let by_rank: Vec<&[Collective]> = of.iter().map(|rank| &*rank.collectives).collect();
    let origins = of.iter().map(|rank| rank.unix_offset_nanos);
    let origins: Vec<Option<i64>> = origins.collect();
    let offsets = collectives::offsets(&by_rank, &origins);
    let meetings = collectives::meetings(&by_rank, &offsets);
    let mut table = Table::new(of, &steps);
    table.add_waits(&by_rank, &meetings);
    let late = Lateness::new(of, &by_rank, &meetings, &table);
    let rows = of.iter().enumerate().map(|(index, rank)| RankRow {
        rank: rank.rank,
        host: rank.host.clone(),
        compute_nanos: sum(&table.compute[index]),
        wait_nanos: table.waits_total[index],
        median_step_nanos: figures::median(&mut lengths(rank)),
        late_by: late.by.get(index).copied().unwrap_or_default(),
        offset_nanos: clock_offset(of, index, offsets[index]),
        peak_len_bytes: rank.peak_len_bytes,
        ..RankRow::default()
    });
    let rows: Vec<RankRow> = rows.collect();
    let lost = sum(&late.nanos.iter().map(|row| sum(row)).collect::<Vec<_>>());
    let lost_nanos = lost / i64::try_from(steps.len()).unwrap_or(i64::MAX).max(1);
    let kept = (MAX_CELLS / of.len().max(1)).min(steps.len());
    let (collectives, cut) =
        collectives::rows(&by_rank, &meetings, MAX_COLLECTIVES, |rank, span| {
            of.get(rank).map_or(0, |rank| rank.compute_of(span))
        });
    let is_cut = cut || kept < steps.len();
    let mut answer = RanksAnswer {
        ranks: rows,
        steps,
        compute_nanos: table.compute,
        wait_nanos: table.waits,
        late_nanos: late.nanos,
        begin_nanos: begins(of, &table.spans),
        length_nanos: table.lengths,
        collectives,
        groups: groups::rows(of.iter().flat_map(|rank| &rank.groups)),
        links: links::rows(of),
        lost_nanos,
        cut: is_cut,
        ..RanksAnswer::default()
    };
    for index in 0..of.len() {
        let streak = late::streak(&answer, index, SLOW);
        answer.ranks[index].slow_steps = streak.map_or(0, |streak| streak.steps as u64);
        let first = streak.and_then(|streak| answer.steps.get(streak.first).copied());
        answer.ranks[index].slow_from_step = first;
    }
    answer.stragglers = stragglers(&answer, SLOW, SLOW_STEPS);
    answer.is_uneven = waiting_share(&answer) > WAITING;
    add_parts(of, &mut answer);
    answer.sentence = sentence(&answer);
    answer.pair = pair::pair(of, models, &answer, &by_rank, (&offsets, &meetings));
    keep(&mut answer, kept);
    answer
}

/// Leaves out the last steps.
fn keep(answer: &mut RanksAnswer, steps: usize) {
    let RanksAnswer {
        compute_nanos,
        wait_nanos,
        late_nanos,
        begin_nanos,
        length_nanos,
        ..
    } = answer;
    for row in [
        compute_nanos,
        wait_nanos,
        late_nanos,
        begin_nanos,
        length_nanos,
    ]
    .into_iter()
    .flatten()
    {
        row.truncate(steps);
    }
    answer.steps.truncate(steps);
}

/// Numbers of the steps that all ranks recorded, in order.
fn common_steps(of: &[RankDigest]) -> Vec<i64> {
    let mut counts: BTreeMap<i64, usize> = BTreeMap::new();
    for rank in of {
        let mut numbers: Vec<i64> = rank.steps.iter().map(|step| step.number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        for number in numbers {
            *counts.entry(number).or_default() += 1;
        }
    }
    let common = counts.into_iter().filter(|(_, count)| *count == of.len());
    common.map(|(number, _)| number).collect()
}

/// Lengths of the whole steps.
fn lengths(rank: &RankDigest) -> Vec<i64> {
    let whole = rank.whole_steps_in(StepRange::default()).into_iter();
    whole
        .map(|step| step.end.saturating_sub(step.begin))
        .collect()
}

/// Adds the mean parts of the whole steps; with a slow rank, only of the steps in which it is slow.
fn add_parts(of: &[RankDigest], answer: &mut RanksAnswer) {
    let slow = answer.stragglers.first();
    answer.parts_steps = slow.map(|slow| (slow.from_step, slow.to_step));
    let range = StepRange {
        since: slow.map(|slow| slow.from_step),
        until: slow.map(|slow| slow.to_step),
    };
    let ranks = of.iter().zip(&mut answer.ranks);
    for (index, (rank, row)) in ranks.enumerate() {
        let whole = rank.whole_steps_in(range).into_iter();
        let parts: Vec<Parts> = whole
            .map(|step| rank.parts_of((step.begin, step.end)))
            .collect();
        row.parts_nanos = parts::mean(&parts);
        let waits = answer.wait_nanos.get(index).into_iter().flatten();
        let cells = answer.steps.iter().zip(waits);
        let cells = cells.filter(|(step, _)| range.holds(**step));
        let waits: Vec<i64> = cells.map(|(_, wait)| *wait).collect();
        row.parts_wait_nanos = sum(&waits) / i64::try_from(waits.len()).unwrap_or(i64::MAX).max(1);
    }
}

fn sum(values: &[i64]) -> i64 {
    values.iter().copied().fold(0, i64::saturating_add)
}

/// The clock of a rank minus that of the first, since 1970 if both count from there.
fn clock_offset(of: &[RankDigest], index: usize, offset: i64) -> i64 {
    let unix = |index: usize| {
        let rank: Option<&RankDigest> = of.get(index);
        rank.and_then(|rank| rank.unix_offset_nanos)
    };
    match (unix(index), unix(0)) {
        (Some(clock), Some(first)) => offset.saturating_add(clock.saturating_sub(first)),
        _ => offset,
    }
}

/// Begins and ends of steps by their numbers; of several with one number the first.
fn step_spans(of_rank: &[Step], steps: &[i64]) -> Vec<Span> {
    let mut spans: BTreeMap<i64, Span> = BTreeMap::new();
    for step in of_rank {
        spans.entry(step.number).or_insert((step.begin, step.end));
    }
    let found = steps.iter().filter_map(|number| spans.get(number).copied());
    found.collect()
}

/// Begins of the common steps since the start of the session of each rank.
fn begins(of: &[RankDigest], spans: &[Vec<Span>]) -> Vec<Vec<i64>> {
    let rows = of.iter().zip(spans).map(|(rank, spans)| {
        let origin = rank.origin;
        let begins = spans.iter().map(|(begin, _)| begin.saturating_sub(origin));
        begins.collect()
    });
    rows.collect()
}

/// Times by rank and step.
struct Table {
    compute: Vec<Vec<i64>>,
    waits: Vec<Vec<i64>>,
    lengths: Vec<Vec<i64>>,
    /// Waiting of each rank in all of its collectives, also outside of common steps.
    waits_total: Vec<i64>,
    /// Begins and ends of the common steps of each rank.
    spans: Vec<Vec<Span>>,
    /// The same in order of time, with the indices of the steps. The order of their numbers may be another one.
    in_time: Vec<Vec<(Span, usize)>>,
}

impl Table {
    fn new(of: &[RankDigest], steps: &[i64]) -> Self {
        let spans = of.iter().map(|rank| step_spans(&rank.steps, steps));
        let spans: Vec<Vec<Span>> = spans.collect();
        let compute = of.iter().zip(&spans).map(|(rank, spans)| {
            let times = spans.iter().map(|span| rank.compute_of(*span));
            times.collect()
        });
        let length = |spans: &Vec<Span>| -> Vec<i64> {
            let spans = spans.iter();
            spans
                .map(|(begin, end)| end.saturating_sub(*begin))
                .collect()
        };
        let in_time = |spans: &Vec<Span>| {
            let mut spans: Vec<(Span, usize)> = spans.iter().copied().zip(0..).collect();
            spans.sort_unstable();
            spans
        };
        Self {
            in_time: spans.iter().map(in_time).collect(),
            compute: compute.collect(),
            waits: spans.iter().map(|spans| vec![0; spans.len()]).collect(),
            lengths: spans.iter().map(length).collect(),
            waits_total: vec![0; of.len()],
            spans,
        }
    }

    /// Adds the time from the start of each collective to the arrival of all ranks, up to its length.
    fn add_waits(&mut self, by_rank: &[&[Collective]], meetings: &[Meeting]) {
        for meeting in meetings {
            for (rank, place) in &meeting.members {
                let Some(one) = by_rank
                    .get(*rank)
                    .and_then(|collectives| collectives.get(*place))
                else {
                    continue;
                };
                let arrived = meeting.arrived.saturating_add(meeting.offset_of(*rank));
                let wait = arrived.min(one.end).saturating_sub(one.begin).max(0);
                self.waits_total[*rank] = self.waits_total[*rank].saturating_add(wait);
                let step = self.step_at(*rank, one.begin);
                if let Some(cell) = step.and_then(|step| self.waits[*rank].get_mut(step)) {
                    *cell = cell.saturating_add(wait);
                }
            }
        }
    }

    /// Index of the common step of a rank at a time of its clock.
    fn step_at(&self, rank: usize, time: i64) -> Option<usize> {
        let spans = self.in_time.get(rank)?;
        let next = spans.partition_point(|(span, _)| span.0 <= time);
        let (span, step) = spans.get(next.checked_sub(1)?)?;
        (time < span.1).then_some(*step)
    }
}

/// Time during which a rank computes: kernels without collectives; without a device, operators outside of
/// communication and data.
fn compute(ranges: &RoleRanges) -> Vec<Span> {
    let kernels = ranges.of(Role::Kernel);
    if !kernels.is_empty() {
        return kernels.to_vec();
    }
    let others = [Role::Communication, Role::Data].map(|role| ranges.of(role));
    let operators = ranges::minus(ranges.of(Role::Operators), others[0]);
    ranges::minus(&operators, others[1])
}

fn rounded(nanos: f64) -> i64 {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a cast of floats saturates"
    )]
    let nanos = nanos.round() as i64;
    nanos
}

/// Median over ranks of each step.
fn medians(times: &[Vec<i64>]) -> Vec<f64> {
    let steps = times.first().map_or(0, Vec::len);
    let column = |step: usize| -> Vec<i64> {
        let rows = times.iter();
        rows.filter_map(|row| row.get(step).copied()).collect()
    };
    (0..steps)
        .map(|step| robust::median(&column(step)))
        .collect()
}

/// Ranks that wait for one another for more than this part of their steps are not well balanced (chosen).
const WAITING: f64 = 0.05;

/// Mean time per step that each of the other ranks waits.
fn waited(answer: &RanksAnswer) -> i64 {
    let others = i64::try_from(answer.ranks.len().saturating_sub(1)).unwrap_or(i64::MAX);
    answer.lost_nanos / others.max(1)
}

/// Share of the common steps in which ranks wait, mean of all ranks but one, 0 to 1.
fn waiting_share(answer: &RanksAnswer) -> f64 {
    let lengths: Vec<i64> = answer.length_nanos.iter().flatten().copied().collect();
    let mean = sum(&lengths) as f64 / lengths.len().max(1) as f64;
    (waited(answer) as f64 / mean.max(1.0)).min(1.0)
}

fn sentence(answer: &RanksAnswer) -> Sentence {
    let text = |nanos_of: i64| nanos(nanos_of.unsigned_abs());
    let (ranks, steps) = (answer.ranks.len(), answer.steps.len());
    if let Some(slow) = answer.stragglers.first() {
        let rank = slow.rank;
        let (lost, part) = (text(slow.gain_nanos), percent(slow.share()));
        let [why, reason] = late_by(slow.cause);
        return Sentence {
            en: format!("The other ranks wait {lost} ({part}) of every step for rank {rank}{why}."),
            zh: format!("每个迭代中，其他 rank 等待 rank {rank} {lost}（{part}）{reason}。"),
        };
    }
    let (waited_text, part) = (text(waited(answer)), percent(waiting_share(answer)));
    match (ranks, steps) {
        (0 | 1, _) => Sentence::new(
            "One rank was recorded: there is nothing to compare.",
            "只记录了一个 rank，无从对比。",
        ),
        (_, 0) => Sentence::new(
            "The ranks have no step in common: they cannot be compared.",
            "各 rank 没有共同的迭代，无法对比。",
        ),
        _ if answer.is_uneven => Sentence {
            en: format!(
                "The ranks wait {waited_text} ({part}) of every step for one another, but not for the same rank for long."
            ),
            zh: format!(
                "每个迭代中，各 rank 互相等待 {waited_text}（{part}），但并非长期等待同一个 rank。"
            ),
        },
        (_, 1) => Sentence {
            en: format!("None of the {ranks} ranks is late in the one step that all recorded."),
            zh: format!("在共同记录的 1 个迭代中，{ranks} 个 rank 均未迟到。"),
        },
        _ => Sentence {
            en: format!("None of the {ranks} ranks is slow for long in {steps} steps."),
            zh: format!("在 {steps} 个迭代中，{ranks} 个 rank 均未持续变慢。"),
        },
    }
}

/// Main cause of the lateness of a rank, as the end of a sentence in both languages.
pub(super) fn late_by(cause: Option<LateCause>) -> [&'static str; 2] {
    match cause {
        Some(LateCause::Compute) => [", whose compute takes longer", "：其计算耗时更长"],
        Some(LateCause::Copies) => [", whose copies take longer", "：其拷贝耗时更长"],
        Some(LateCause::Data) => [", which waits longer for data", "：其等待数据的时间更长"],
        Some(LateCause::Host) => [", whose host launches work later", "：其主机下发任务较晚"],
        Some(LateCause::Begin) => [", which begins the step later", "：其迭代开始较晚"],
        None => ["", ""],
    }
}
