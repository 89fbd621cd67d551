//! One row of a table of operators in detail.

use std::collections::{BTreeMap, HashMap};

use trainscope_api::profile::{MAX_STRETCHES, OperatorAnswer, OperatorGroup, OperatorRow};
use trainscope_format::trace::TextId;

use super::groups::Groups;
use super::{Operators, Scale, rows};
use crate::trace::Model;
use crate::trace::figures::rounded;
use crate::trace::kernels::short_name;
use crate::trace::steps::StepRange;

/// Bins of a distribution of durations, equal on a logarithmic scale.
const BINS: u32 = 24;
/// Maximum number of rows of shapes, kernels and callers.
const MAX_ROWS: usize = 200;
/// Maximum number of sequences of kernels.
const MAX_SEQUENCES: usize = 10;
/// Maximum number of kernels of one call in a sequence.
const MAX_KERNELS: usize = 64;

/// Answer of `GET /api/profile/operator`, without the node of the graph; `None` if the row is missing.
pub fn operator(
    model: &Model,
    by: OperatorGroup,
    name: &str,
    shapes: Option<&str>,
    range: StepRange,
) -> Option<OperatorAnswer> {
    let operators = Operators::new(model);
    let mut rows = operators.table(by, range).rows.into_iter();
    let row = rows.find(|row| row.name == name && shapes.is_none_or(|text| row.shapes == text))?;
    let scale = Scale::new(model, range);
    let mut groups = Groups::new(model, by);
    let mut is_own = |slice: u32| {
        let group = groups.of(slice);
        let label = &groups.labels[group];
        label.name == row.name && label.shapes == row.shapes && label.r#type == row.r#type
    };
    let mut answer = if by.is_of_kernels() {
        let slices = model.slices().filter(|slice| {
            model.is_device(*slice) && scale.chosen.holds(model.span(*slice).0) && is_own(*slice)
        });
        let slices: Vec<u32> = slices.collect();
        let is_launched: Vec<bool> = membership(model.trace.slices.len(), &slices);
        let launches = operators.launched.iter();
        let launches = launches.filter(|work| is_launched[work.slice as usize]);
        let callers = launches.map(|work| operators.calls.slices[work.call]);
        let callers = counted(model, callers);
        let mut answer = times(model, &slices, range, callers);
        let variants = operators.kernel_rows(OperatorGroup::Variant, slices.into_iter(), &scale);
        // One name is the row itself.
        if variants.len() > 1 {
            answer.kernels = variants;
        }
        answer
    } else {
        let calls = (0..operators.calls.len()).filter(|call| {
            operators.is_chosen(*call, &scale) && is_own(operators.calls.slices[*call])
        });
        let calls: Vec<usize> = calls.collect();
        operators.answer(&calls, &scale, range)
    };
    answer.row = row;
    Some(answer)
}

fn membership(len: usize, slices: &[u32]) -> Vec<bool> {
    let mut is_in = vec![false; len];
    for slice in slices {
        is_in[*slice as usize] = true;
    }
    is_in
}

/// Distribution, times by step, longest call and callers.
fn times(
    model: &Model,
    slices: &[u32],
    range: StepRange,
    callers: Vec<(String, u64)>,
) -> OperatorAnswer {
    let mut answer = OperatorAnswer {
        callers,
        by_step: by_step(model, slices, range),
        ..OperatorAnswer::default()
    };
    let length = |slice: u32| {
        let (begin, end) = model.span(slice);
        end.saturating_sub(begin)
    };
    let durations: Vec<i64> = slices.iter().map(|slice| length(*slice)).collect();
    (answer.edges_nanos, answer.counts) = distribution(&durations);
    // The first of the longest ones.
    let longest = slices.iter().rev().max_by_key(|slice| length(**slice));
    if let Some(longest) = longest {
        answer.longest_at_nanos = model.span(*longest).0.saturating_sub(model.origin());
        answer.longest_nanos = length(*longest);
    }
    answer
}

/// Edges of bins, and the number of durations in each.
#[expect(
    clippy::cast_possible_truncation,
    reason = "an edge between two durations"
)]
fn distribution(durations: &[i64]) -> (Vec<i64>, Vec<u64>) {
    let (Some(least), Some(most)) = (durations.iter().min(), durations.iter().max()) else {
        return (Vec::new(), Vec::new());
    };
    let from = (*least).max(1) as f64;
    let ratio = (*most).max(1) as f64 / from;
    let edge = |bin: u32| (from * ratio.powf(f64::from(bin) / f64::from(BINS))).round() as i64;
    let mut edges: Vec<i64> = (1..BINS).map(edge).collect();
    edges.retain(|edge| least < edge && edge < most);
    edges.dedup();
    edges.insert(0, *least);
    edges.push(*most);
    let mut counts = vec![0; edges.len() - 1];
    for duration in durations {
        let bin = edges.partition_point(|edge| edge <= duration);
        let bin = bin.clamp(1, counts.len());
        counts[bin - 1] += 1;
    }
    (edges, counts)
}

/// Mean time of a call by step; with many steps, by ranges of steps under their first number.
fn by_step(model: &Model, slices: &[u32], range: StepRange) -> Vec<(i64, i64)> {
    let steps = model.steps_in(range);
    let mut sums = vec![(0_i64, 0_i64); steps.len()];
    for slice in slices {
        let (begin, end) = model.span(*slice);
        let step = steps.partition_point(|step| step.end <= begin);
        if steps.get(step).is_some_and(|step| step.begin <= begin) {
            sums[step].0 += 1;
            sums[step].1 = sums[step].1.saturating_add(end.saturating_sub(begin));
        }
    }
    let each = steps.len().div_ceil(MAX_STRETCHES).max(1);
    let stretches = steps.chunks(each).zip(sums.chunks(each));
    let means = stretches.filter_map(|(steps, sums)| {
        let calls = sums.iter().map(|sum| sum.0).sum();
        let nanos = sums.iter().map(|sum| sum.1).fold(0, i64::saturating_add);
        (calls > 0).then(|| (steps[0].number, rounded(nanos, calls)))
    });
    means.collect()
}

/// Names of slices with their number, the commonest first.
fn counted(model: &Model, slices: impl Iterator<Item = u32>) -> Vec<(String, u64)> {
    let mut counts: BTreeMap<TextId, u64> = BTreeMap::new();
    for slice in slices {
        let name = model.trace.slices.names[slice as usize];
        *counts.entry(name).or_default() += 1;
    }
    let names = counts.into_iter();
    let mut names: Vec<(String, u64)> = names
        .map(|(name, count)| (model.trace.texts.get(name).to_owned(), count))
        .collect();
    names.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    names.truncate(MAX_ROWS);
    names
}

impl Operators<'_> {
    fn answer(&self, calls: &[usize], scale: &Scale, range: StepRange) -> OperatorAnswer {
        let model = self.model;
        let counting = calls.iter().copied();
        let counting = counting.filter(|call| self.calls.counts(model, *call));
        let slices: Vec<u32> = counting.map(|call| self.calls.slices[call]).collect();
        let parents = calls.iter().filter(|call| self.calls.counts(model, **call));
        let parents = parents.filter_map(|call| self.calls.parent(*call));
        let callers = counted(model, parents.map(|call| self.calls.slices[call]));
        let mut answer = times(model, &slices, range, callers);

        let mut shapes = Groups::new(model, OperatorGroup::Shape);
        let sums = self.call_sums(&mut shapes, calls.iter().copied(), scale);
        let all = sums
            .iter()
            .map(|sum| sum.self_nanos)
            .fold(0, i64::saturating_add);
        answer.shapes = rows(&shapes, sums, all, scale.count);
        answer.shapes.truncate(MAX_ROWS);

        let work = self.work_below(calls);
        let slices = work.iter().map(|(slice, _)| *slice);
        answer.kernels = self.kernel_rows(OperatorGroup::Kernel, slices, scale);
        answer.sequences = sequences(model, &work);
        answer
    }

    /// Rows of kernels, up to [`MAX_ROWS`].
    fn kernel_rows(
        &self,
        by: OperatorGroup,
        slices: impl Iterator<Item = u32>,
        scale: &Scale,
    ) -> Vec<OperatorRow> {
        let mut groups = Groups::new(self.model, by);
        let sums = self.kernel_sums(&mut groups, slices, scale);
        let all = sums
            .iter()
            .map(|sum| sum.self_nanos)
            .fold(0, i64::saturating_add);
        let mut kernels = rows(&groups, sums, all, scale.count);
        kernels.truncate(MAX_ROWS);
        kernels
    }

    /// Device work below some calls, in the order of its launches, with the outermost of these calls around it.
    fn work_below(&self, calls: &[usize]) -> Vec<(u32, usize)> {
        let mut outermost = vec![usize::MAX; self.calls.len()];
        for call in calls {
            outermost[*call] = *call;
        }
        for call in 0..outermost.len() {
            if let Some(parent) = self.calls.parent(call)
                && outermost[parent] != usize::MAX
            {
                outermost[call] = outermost[parent];
            }
        }
        let launched = self.launched.iter();
        let below = launched.map(|work| (work.slice, outermost[work.call]));
        below.filter(|(_, call)| *call != usize::MAX).collect()
    }
}

/// Commonest sequences of kernels of one call.
fn sequences(model: &Model, work: &[(u32, usize)]) -> Vec<(Vec<String>, u64)> {
    let mut by_call: BTreeMap<usize, Vec<TextId>> = BTreeMap::new();
    for (slice, call) in work {
        let names = by_call.entry(*call).or_default();
        if names.len() < MAX_KERNELS {
            names.push(model.trace.slices.names[*slice as usize]);
        }
    }
    let mut counts: HashMap<Vec<TextId>, u64, foldhash::fast::RandomState> = HashMap::default();
    for names in by_call.into_values() {
        *counts.entry(names).or_default() += 1;
    }
    // Kernels with other template arguments have the same short name.
    let mut short: BTreeMap<Vec<&str>, u64> = BTreeMap::new();
    #[expect(
        clippy::iter_over_hash_type,
        reason = "sums do not depend on the order"
    )]
    for (names, count) in &counts {
        let names = names
            .iter()
            .map(|name| short_name(model.trace.texts.get(*name)));
        *short.entry(names.collect()).or_default() += count;
    }
    let mut sequences: Vec<(Vec<&str>, u64)> = short.into_iter().collect();
    sequences.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    sequences.truncate(MAX_SEQUENCES);
    let owned = sequences
        .into_iter()
        .map(|(names, count)| (names.into_iter().map(ToOwned::to_owned).collect(), count));
    owned.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_hold_every_duration() {
        for durations in [
            vec![0],
            vec![5, 5],
            vec![0, 1, 2],
            vec![100, 250, 1_000_000, 7],
            (0..1_000).collect(),
        ] {
            let (edges, counts) = distribution(&durations);
            assert_eq!(edges.len(), counts.len() + 1);
            assert_eq!(counts.iter().sum::<u64>(), durations.len() as u64);
            assert!(
                edges.windows(2).all(|pair| pair[0] < pair[1])
                    || durations.iter().all(|duration| *duration == durations[0])
            );
            let first = durations
                .iter()
                .filter(|duration| **duration < edges[1])
                .count() as u64;
            assert!(counts[0] == first || counts.len() == 1);
        }
        assert_eq!(distribution(&[]), (Vec::new(), Vec::new()));
    }
}
