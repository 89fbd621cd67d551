//! One step of the slowest rank and of a usual one on one clock: compute against collectives.

use trainscope_api::profile::{MeetingRow, Phase, RankTrack, RanksAnswer, StepPair};

use super::super::{Model, Role};
use super::collectives::{Collective, Meeting};
use super::{RankDigest, RankModel, Span, medians, step_spans};

/// Maximum number of stretches of compute, and of collectives, of one rank; more are joined or left out.
const MAX_STRETCHES: usize = 100;
/// Gaps shorter than this part of a step are invisible: chosen, two pixels of the picture.
const VISIBLE: i64 = 200;

/// The step in which a slow rank became slow; without a slow rank, the step with the longest wait for one rank. `None`
/// without two ranks that have a step in common.
pub(super) fn pair(
    of: &[RankDigest],
    models: &[RankModel<'_>],
    answer: &RanksAnswer,
    by_rank: &[&[Collective]],
    (offsets, meetings): (&[i64], &[Meeting]),
) -> Option<StepPair> {
    let cell = |table: &[Vec<i64>], rank: usize, step: usize| {
        let row = table.get(rank);
        row.and_then(|row| row.get(step)).copied().unwrap_or(0)
    };
    let late = |rank: usize, step: usize| cell(&answer.late_nanos, rank, step);
    let latest = |step: usize| (0..of.len()).max_by_key(|rank| late(*rank, step));
    let slow = answer.stragglers.first();
    let of_slow =
        slow.and_then(|slow| answer.steps.iter().position(|step| *step == slow.from_step));
    let greatest = || {
        let steps = 0..answer.steps.len();
        steps.max_by_key(|step| latest(*step).map(|rank| late(rank, *step)))
    };
    let step = of_slow.or_else(greatest)?;
    let slowest = match slow {
        Some(slow) => of.iter().position(|rank| rank.rank == slow.rank)?,
        None => latest(step)?,
    };
    // Without collectives no rank waits, and compute decides which rank is usual.
    let has_waits = answer.wait_nanos.iter().flatten().any(|wait| *wait > 0);
    let usual_by = if has_waits {
        &answer.wait_nanos
    } else {
        &answer.compute_nanos
    };
    let median = *medians(usual_by).get(step)?;
    let distance = |rank: &usize| (cell(usual_by, *rank, step) as f64 - median).abs();
    let usual = (0..of.len())
        .filter(|rank| *rank != slowest)
        .min_by(|a, b| distance(a).total_cmp(&distance(b)))?;
    let number = *answer.steps.get(step)?;
    let span = |rank: usize| {
        let spans = step_spans(&of.get(rank)?.steps, &[number]);
        spans.first().copied()
    };
    let track = |rank: usize| {
        let offset = offsets.get(rank).copied().unwrap_or(0);
        let step = span(rank)?;
        Some(RankTrack {
            rank: of.get(rank)?.rank,
            compute: stretches(models.get(rank)?.model, step, offset),
            collectives: arrivals(rank, by_rank.get(rank)?, meetings, step, offset),
            end_nanos: step.1.saturating_sub(offset),
        })
    };
    let mut tracks = vec![track(usual)?, track(slowest)?];
    let begins = tracks.iter().flat_map(|track| {
        let compute = track.compute.iter().map(|phase| phase.begin_nanos);
        compute.chain(
            track
                .collectives
                .iter()
                .map(|collective| collective.begin_nanos),
        )
    });
    let zero = begins.min()?;
    for track in &mut tracks {
        track.end_nanos = track.end_nanos.saturating_sub(zero);
        for phase in &mut track.compute {
            phase.begin_nanos = phase.begin_nanos.saturating_sub(zero);
            phase.end_nanos = phase.end_nanos.saturating_sub(zero);
        }
        for collective in &mut track.collectives {
            collective.begin_nanos = collective.begin_nanos.saturating_sub(zero);
            collective.arrived_nanos = collective.arrived_nanos.saturating_sub(zero);
            collective.end_nanos = collective.end_nanos.saturating_sub(zero);
        }
    }
    Some(StepPair {
        step: number,
        tracks,
    })
}

/// Compute within a step by phase, on the clock of the first rank: slices of one phase are one stretch, unless a gap
/// between them can be seen.
fn stretches(model: &Model, (from, to): Span, offset: i64) -> Vec<Phase> {
    let has = |role: Role| {
        let mut slices = model.slices();
        slices.any(|slice| model.roles.get(slice as usize) == Some(&role))
    };
    let wanted = if has(Role::Kernel) {
        Role::Kernel
    } else {
        Role::Operators
    };
    let least_gap = to.saturating_sub(from) / VISIBLE;
    let slices = model.slices();
    let chosen = slices.filter(|slice| model.roles.get(*slice as usize) == Some(&wanted));
    let mut found: Vec<(i64, i64, u32)> = chosen
        .map(|slice| {
            let (begin, end) = model.span(slice);
            (begin.max(from), end.min(to), slice)
        })
        .filter(|(begin, end, _)| begin < end)
        .collect();
    found.sort_unstable();
    let mut stretches: Vec<Phase> = Vec::new();
    for (begin, end, slice) in found {
        let (begin, end) = (begin.saturating_sub(offset), end.saturating_sub(offset));
        let kind = model.phases.get(slice as usize).copied();
        let kind = kind.unwrap_or_default();
        let is_full = stretches.len() == MAX_STRETCHES;
        let (mut begin, mut is_joined) = (begin, false);
        if let Some(last) = stretches.last_mut() {
            let is_near = begin.saturating_sub(last.end_nanos) <= least_gap;
            is_joined = is_full || is_near && last.kind == kind || end <= last.end_nanos;
            if is_joined {
                last.end_nanos = last.end_nanos.max(end);
            }
            begin = begin.max(last.end_nanos);
        }
        if !is_joined {
            stretches.push(Phase {
                kind,
                begin_nanos: begin,
                end_nanos: end,
            });
        }
    }
    stretches
}

/// Collectives of a rank that begin within a step, on the clock of the first rank, with the arrival of the last one; of
/// many the longest.
fn arrivals(
    rank: usize,
    collectives: &[Collective],
    meetings: &[Meeting],
    (from, to): Span,
    offset: i64,
) -> Vec<MeetingRow> {
    let mut arrived: Vec<Option<i64>> = vec![None; collectives.len()];
    for meeting in meetings {
        for (member, place) in &meeting.members {
            if let (true, Some(slot)) = (*member == rank, arrived.get_mut(*place)) {
                *slot = Some(meeting.arrived);
            }
        }
    }
    let inside = collectives.iter().zip(arrived);
    let inside = inside.filter(|(one, _)| (from..to).contains(&one.begin));
    let mut rows: Vec<MeetingRow> = inside
        .map(|(one, arrived)| {
            let begin = one.begin.saturating_sub(offset);
            let end = one.end.saturating_sub(offset);
            MeetingRow {
                begin_nanos: begin,
                arrived_nanos: arrived.map_or(begin, |arrived| arrived.min(end).max(begin)),
                end_nanos: end,
            }
        })
        .collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.end_nanos.saturating_sub(row.begin_nanos)));
    rows.truncate(MAX_STRETCHES);
    rows.sort_by_key(|row| row.begin_nanos);
    rows
}
