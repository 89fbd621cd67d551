//! Ranks of a session side by side: clocks, compute, waiting for others, slow ranks and collectives.

use std::collections::BTreeMap;

use trainscope_api::profile::{Parts, RankRow, RanksAnswer, Sentence, Straggler};
use trainscope_format::digits::{nanos, percent};

use super::parts::{self, RoleRanges};
use super::ranges::{self, Span};
use super::steps::StepRange;
use super::{Model, Role, figures, robust};

mod collectives;
mod links;
mod pair;

use collectives::{Collective, Meeting};

/// Compute above this multiple of the median over ranks is slow (chosen: twice the spread of equal devices).
pub const SLOW: f64 = 1.10;
/// A rank is slow for at least so many steps in a row; single slow steps have other reasons.
pub const SLOW_STEPS: usize = 10;
/// Of fewer steps, all must be slow.
const FEW_STEPS: usize = 12;
/// Minimum number of steps of a slow rank.
const LEAST_STEPS: usize = 3;
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

/// Compares ranks. Times of other ranks are moved to the clock of the first one, by the ends of the same collectives.
pub fn ranks(of: &[RankModel<'_>]) -> RanksAnswer {
    let steps = common_steps(of);
    let own: Vec<Vec<Collective>> = of
        .iter()
        .map(|rank| collectives::of_model(rank.model))
        .collect();
    let offsets = collectives::offsets(&own);
    let meetings = collectives::meetings(&own, &offsets);
    let mut table = Table::new(of, &steps);
    table.add_waits(&own, &meetings);
    let medians = medians(&table.compute);
    let streak = |own: &Vec<i64>| longest(&ratios(own, &medians), SLOW);
    let streaks: Vec<Option<Streak>> = table.compute.iter().map(streak).collect();
    let rows = of.iter().enumerate().map(|(index, rank)| {
        let streak = streaks.get(index).copied().flatten();
        let head = &rank.model.trace.head;
        RankRow {
            rank: rank.rank,
            host: head.host.clone(),
            compute_nanos: sum(&table.compute[index]),
            wait_nanos: table.waits_total[index],
            median_step_nanos: figures::median(&mut lengths(rank.model)),
            slow_steps: streak.map_or(0, |streak| streak.steps as u64),
            slow_from_step: streak.and_then(|streak| steps.get(streak.first).copied()),
            offset_nanos: clock_offset(of, index, offsets[index]),
            peak_len_bytes: peak_len(rank.model),
            ..RankRow::default()
        }
    });
    let rows: Vec<RankRow> = rows.collect();
    let lost_nanos = table.lost();
    let kept = (MAX_CELLS / of.len().max(1)).min(steps.len());
    let (collectives, cut) = collectives::rows(of, &own, &meetings, MAX_COLLECTIVES);
    let is_cut = cut || kept < steps.len();
    let mut answer = RanksAnswer {
        ranks: rows,
        steps,
        compute_nanos: table.compute,
        wait_nanos: table.waits,
        length_nanos: table.lengths,
        collectives,
        links: links::rows(of),
        lost_nanos,
        cut: is_cut,
        ..RanksAnswer::default()
    };
    answer.stragglers = stragglers(&answer, SLOW, SLOW_STEPS);
    add_parts(of, &mut answer);
    answer.sentence = sentence(&answer);
    answer.pair = pair::pair(of, &answer, &own, (&offsets, &meetings));
    keep(&mut answer, kept);
    answer
}

/// Most bytes allocated on one device.
fn peak_len(model: &Model) -> u64 {
    let memory = model.trace.memory.iter();
    memory.map(|event| event.allocated).max().unwrap_or(0)
}

/// Leaves out the last steps.
fn keep(answer: &mut RanksAnswer, steps: usize) {
    let RanksAnswer {
        compute_nanos,
        wait_nanos,
        length_nanos,
        ..
    } = answer;
    for rows in [compute_nanos, wait_nanos, length_nanos] {
        for own in rows {
            own.truncate(steps);
        }
    }
    answer.steps.truncate(steps);
}

/// Numbers of the steps that all ranks recorded, in order.
fn common_steps(of: &[RankModel<'_>]) -> Vec<i64> {
    let mut counts: BTreeMap<i64, usize> = BTreeMap::new();
    for rank in of {
        let list = &rank.model.steps.list;
        let mut numbers: Vec<i64> = list.iter().map(|step| step.number).collect();
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
fn lengths(model: &Model) -> Vec<i64> {
    let whole = model.whole_steps_in(StepRange::default()).into_iter();
    whole
        .map(|step| step.end.saturating_sub(step.begin))
        .collect()
}

/// Adds the mean parts of the whole steps, of those only in which the slowest rank is slow.
fn add_parts(of: &[RankModel<'_>], answer: &mut RanksAnswer) {
    let slow = answer.stragglers.first();
    answer.parts_steps = slow.map(|slow| (slow.from_step, slow.to_step));
    let range = StepRange {
        since: slow.map(|slow| slow.from_step),
        until: slow.map(|slow| slow.to_step),
    };
    for (index, (rank, row)) in of.iter().zip(&mut answer.ranks).enumerate() {
        let ranges = RoleRanges::new(rank.model);
        let whole = rank.model.whole_steps_in(range).into_iter();
        let parts: Vec<Parts> = whole.map(|step| ranges.time(&step).parts).collect();
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

/// The clock of a rank minus that of the first, since 1970 if both count so.
fn clock_offset(of: &[RankModel<'_>], index: usize, offset: i64) -> i64 {
    let unix = |index: usize| {
        let rank: Option<&RankModel<'_>> = of.get(index);
        rank.and_then(|rank| rank.model.trace.head.unix_offset_nanos)
    };
    match (unix(index), unix(0)) {
        (Some(own), Some(first)) => offset.saturating_add(own.saturating_sub(first)),
        _ => offset,
    }
}

/// Begins and ends of steps by their numbers; of several with one number the first.
fn step_spans(model: &Model, steps: &[i64]) -> Vec<Span> {
    let mut spans: BTreeMap<i64, Span> = BTreeMap::new();
    for step in &model.steps.list {
        spans.entry(step.number).or_insert((step.begin, step.end));
    }
    let own = steps.iter().filter_map(|number| spans.get(number).copied());
    own.collect()
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
}

impl Table {
    fn new(of: &[RankModel<'_>], steps: &[i64]) -> Self {
        let spans = of.iter().map(|rank| step_spans(rank.model, steps));
        let spans: Vec<Vec<Span>> = spans.collect();
        let compute = of.iter().zip(&spans).map(|(rank, spans)| {
            let compute = compute(rank.model);
            let own = spans
                .iter()
                .map(|(begin, end)| ranges::total(&ranges::cut(&compute, *begin, *end)));
            own.collect()
        });
        let length = |spans: &Vec<Span>| -> Vec<i64> {
            let own = spans.iter();
            own.map(|(begin, end)| end.saturating_sub(*begin)).collect()
        };
        Self {
            compute: compute.collect(),
            waits: spans.iter().map(|spans| vec![0; spans.len()]).collect(),
            lengths: spans.iter().map(length).collect(),
            waits_total: vec![0; of.len()],
            spans,
        }
    }

    /// Adds the time from the begin of each collective to the arrival of all ranks, at most its own length.
    fn add_waits(&mut self, own: &[Vec<Collective>], meetings: &[Meeting]) {
        // Steps are in the order of their numbers, which a file need not share with time.
        let in_time: Vec<Vec<(Span, usize)>> = self
            .spans
            .iter()
            .map(|spans| {
                let mut spans: Vec<(Span, usize)> = spans.iter().copied().zip(0..).collect();
                spans.sort_unstable();
                spans
            })
            .collect();
        for meeting in meetings {
            for (rank, place) in &meeting.members {
                let Some(one) = own.get(*rank).and_then(|own| own.get(*place)) else {
                    continue;
                };
                let arrived = meeting.arrived.saturating_add(meeting.offset_of(*rank));
                let wait = arrived.min(one.end).saturating_sub(one.begin).max(0);
                self.waits_total[*rank] = self.waits_total[*rank].saturating_add(wait);
                let spans = &in_time[*rank];
                let step = spans.partition_point(|(span, _)| span.0 <= one.begin);
                let step = step.checked_sub(1).and_then(|step| spans.get(step));
                let step = step.filter(|(span, _)| one.begin < span.1);
                if let Some(cell) = step.and_then(|(_, step)| self.waits[*rank].get_mut(*step)) {
                    *cell = cell.saturating_add(wait);
                }
            }
        }
    }

    /// Mean over steps of the most compute less the median, times the other ranks.
    fn lost(&self) -> i64 {
        let medians = medians(&self.compute);
        let others = self.compute.len().saturating_sub(1);
        let most = |step: usize| {
            self.compute
                .iter()
                .filter_map(move |own| own.get(step))
                .max()
        };
        let lost = medians.iter().enumerate().map(|(step, median)| {
            let most = most(step).copied().unwrap_or_default();
            (most as f64 - median).max(0.0)
        });
        let mean = lost.sum::<f64>() / medians.len().max(1) as f64;
        rounded(mean * others as f64)
    }
}

/// Time during which a rank computes: kernels without collectives; without a device, operators outside of
/// communication and data.
fn compute(model: &Model) -> Vec<Span> {
    let ranges = RoleRanges::new(model);
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

/// Slow steps in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Streak {
    first: usize,
    steps: usize,
}

/// The longest run of slow steps, of equally long ones the first.
fn longest(ratios: &[f64], slowness: f64) -> Option<Streak> {
    let mut best: Option<Streak> = None;
    let mut first = None;
    for (step, ratio) in ratios.iter().enumerate() {
        if *ratio <= slowness {
            first = None;
            continue;
        }
        let begin = *first.get_or_insert(step);
        let steps = step + 1 - begin;
        if best.is_none_or(|best| best.steps < steps) {
            best = Some(Streak {
                first: begin,
                steps,
            });
        }
    }
    best
}

/// Number of slow steps in a row that make a straggler, of so many steps.
fn streak_length(of_steps: usize, steps: usize) -> usize {
    if of_steps < FEW_STEPS {
        of_steps.max(LEAST_STEPS)
    } else {
        steps
    }
}

/// Ranks that compute slower than a multiple of the median for a number of steps in a row, the slowest first.
pub fn stragglers(answer: &RanksAnswer, slowness: f64, steps: usize) -> Vec<Straggler> {
    let compute = &answer.compute_nanos;
    let medians = medians(compute);
    let need = streak_length(medians.len(), steps);
    let mut slow = Vec::new();
    for (rank, own) in answer.ranks.iter().zip(compute) {
        let ratios = ratios(own, &medians);
        let Some(streak) = longest(&ratios, slowness).filter(|streak| streak.steps >= need) else {
            continue;
        };
        let range = streak.first..streak.first + streak.steps;
        let own = sum(own.get(range.clone()).unwrap_or_default()) as f64;
        let median: f64 = medians.get(range.clone()).unwrap_or_default().iter().sum();
        slow.push(Straggler {
            rank: rank.rank,
            from_step: answer.steps.get(range.start).copied().unwrap_or_default(),
            to_step: answer.steps.get(range.end - 1).copied().unwrap_or_default(),
            steps: streak.steps as u64,
            slowness: own / median,
            gain_nanos: rounded((own - median) / streak.steps.max(1) as f64),
        });
    }
    slow.sort_by(|a, b| b.slowness.total_cmp(&a.slowness));
    slow
}

/// Median of the compute over ranks of each step.
fn medians(compute: &[Vec<i64>]) -> Vec<f64> {
    let steps = compute.first().map_or(0, Vec::len);
    let column = |step: usize| -> Vec<i64> {
        let own = compute.iter();
        own.filter_map(|own| own.get(step).copied()).collect()
    };
    (0..steps)
        .map(|step| robust::median(&column(step)))
        .collect()
}

/// Compute of a rank divided by the median over ranks, by step; 1 where nothing was computed.
fn ratios(own: &[i64], medians: &[f64]) -> Vec<f64> {
    let cells = own.iter().zip(medians);
    let ratios = cells.map(|(own, median)| {
        if *median > 0.0 {
            *own as f64 / median
        } else {
            1.0
        }
    });
    ratios.collect()
}

fn sentence(answer: &RanksAnswer) -> Sentence {
    let text = |nanos_of: i64| nanos(nanos_of.unsigned_abs());
    let (ranks, steps) = (answer.ranks.len(), answer.steps.len());
    if let Some(slow) = answer.stragglers.first() {
        let own = answer.ranks.iter().find(|row| row.rank == slow.rank);
        let step = text(own.map_or(0, |row| row.parts_nanos.total()));
        let (rank, more, lost) = (
            slow.rank,
            percent(slow.slowness - 1.0),
            text(slow.gain_nanos),
        );
        return Sentence {
            en: format!(
                "Rank {rank} computes {more} slower than the others; they wait {lost} of every {step} step for it."
            ),
            zh: format!(
                "rank {rank} 的计算比其他 rank 慢 {more}；每个 {step} 的迭代中，其他 rank 等待它 {lost}。"
            ),
        };
    }
    match (ranks, steps) {
        (0 | 1, _) => Sentence {
            en: "One rank was recorded: there is nothing to compare.".to_owned(),
            zh: "只记录了一个 rank，无从比较。".to_owned(),
        },
        (_, 0) => Sentence {
            en: "The ranks have no step in common: they cannot be compared.".to_owned(),
            zh: "各 rank 没有共同的迭代，无法比较。".to_owned(),
        },
        _ => Sentence {
            en: format!("None of the {ranks} ranks is slow for long in {steps} steps."),
            zh: format!("在 {steps} 个迭代中，{ranks} 个 rank 均未持续变慢。"),
        },
    }
}
