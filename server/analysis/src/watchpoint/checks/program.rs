//! Reports of the device, and gaps in the clock.

use trainscope_format::digits;

use super::{Evidence, Judgement};
use crate::watchpoint::model::condition::Watchpoint;
use crate::watchpoint::model::key::Key;
use crate::watchpoint::model::missing::Missing;
use crate::watchpoint::model::new_hit::NewHit;
use crate::watchpoint::model::run::{LATE_FLOW, Phase, Run};
use crate::watchpoint::model::scalars::{Meaning, median};

/// Operators that overflowed according to the device.
pub(crate) fn operator_overflow(run: &Run<'_>, _: u32, watchpoint: &Watchpoint) -> Judgement {
    let mut judged = Judgement::default();
    for overflowed in &run.knowledge.overflowed {
        let (rank, step) = (overflowed.rank, overflowed.step);
        let Some(operator) = &overflowed.operator else {
            let why = (Missing::UnreadOverflowFiles, step, 1);
            judged.missing.push((rank, overflowed.reason.clone(), why));
            continue;
        };
        if !watchpoint.covers(operator) {
            continue;
        }
        let place = run.places.of(operator).map_or(i64::MAX, i64::from);
        let (flow, evidence) = ((Phase::Forward, place), Evidence::of(Key::Count, 1.0));
        let hit = NewHit {
            node: Some(operator.clone()),
            ..NewHit::of_name(operator, (rank, step), flow, evidence)
        };
        judged.found.push(hit.saying(
            format!("{operator} overflows (reported by the device)"),
            format!("{operator} 溢出（设备报告）"),
        ));
    }
    if run.knowledge.overflowed.is_empty() && !watchpoint.context {
        let first = run.steps.first().unwrap_or(0);
        let why = (Missing::NoOverflowFiles, first, run.steps.len());
        judged.missing.push((0, "".into(), why));
    }
    judged
}

/// Minimum number of intervals for a usual one. Chosen.
const MIN_PAUSES: usize = 8;

/// Times between two records of one attempt that are far longer than usual: one hit a rank for all losses that stop.
pub(crate) fn stalled(run: &Run<'_>, _: u32, watchpoint: &Watchpoint) -> Judgement {
    let least_secs = watchpoint.limits.value(Key::SecsGt);
    let factor = watchpoint.limits.value(Key::FactorGt);
    let mut found = Vec::new();
    // Rank, and times around a pause.
    let mut reported: Vec<(u32, f64, f64)> = Vec::new();
    for series in run.scalars(Meaning::Loss) {
        let times = &series.wall_times_secs;
        let pauses: Vec<f64> = times.windows(2).map(|w| w[1] - w[0]).collect();
        let Some(usual) = median(pauses.iter().copied().filter(|p| *p > 0.0)) else {
            continue;
        };
        let limit = least_secs.max(factor * usual);
        let is_within = |index: usize| !series.begins.contains(&series.steps[index + 1]);
        let mut stalls = pauses.iter().enumerate();
        let stall = stalls.find(|(index, pause)| **pause > limit && is_within(*index));
        let Some((index, pause)) = stall.filter(|_| pauses.len() >= MIN_PAUSES) else {
            continue;
        };
        let (from, to) = (times[index], times[index + 1]);
        let is_known =
            |known: &(u32, f64, f64)| known.0 == series.rank && known.1 < to && from < known.2;
        if reported.iter().any(is_known) {
            continue;
        }
        reported.push((series.rank, from, to));
        let step = series.steps[index];
        let hit = NewHit::of_scalar(series, step, LATE_FLOW, (Key::SecsGt, *pause)).against(limit);
        let (tag, pause, usual) = (&series.tag, digits::span(*pause), digits::span(usual));
        found.push(hit.saying(
            format!("{tag}: no data for {pause} (usual interval {usual})"),
            format!("{tag}：{pause} 内没有记录（通常间隔 {usual}）"),
        ));
    }
    found.into()
}
