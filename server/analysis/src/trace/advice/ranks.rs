//! Rules about communication and ranks.

use trainscope_api::profile::RanksAnswer;
use trainscope_format::Severity;
use trainscope_format::digits::{bytes, nanos, percent};

use super::super::{Role, ranks};
use super::facts::{Claim, Facts, Finding};
use super::{Lack, Limits, Verdict};

/// The other ranks, if there are any with steps in common.
fn others<'a>(facts: &Facts<'a>) -> Result<&'a RanksAnswer, Lack> {
    let ranks = facts.ranks.filter(|ranks| ranks.ranks.len() > 1);
    ranks
        .filter(|own| !own.steps.is_empty())
        .ok_or(Lack::OneRank)
}

/// Time a step that this rank waits for others.
fn waiting(facts: &Facts<'_>) -> i64 {
    let row = others(facts).ok().and_then(|all| {
        let index = all
            .ranks
            .iter()
            .position(|own| own.rank == facts.summary.rank)?;
        let waits = all.wait_nanos.get(index)?;
        let count = i64::try_from(waits.len()).ok()?;
        Some(waits.iter().copied().fold(0, i64::saturating_add) / count.max(1))
    });
    row.unwrap_or(0)
}

pub(super) fn exposed(facts: &Facts<'_>, limits: &Limits) -> Verdict {
    facts.needs_device()?;
    let total = facts.sum(|time| time.communication - time.hidden);
    let share = facts.share(total);
    if share <= limits.exposed_share {
        return Ok(None);
    }
    let a_step = facts.a_step(total);
    let own = a_step.saturating_sub(waiting(facts)).max(0);
    let (time, part) = (nanos(a_step.unsigned_abs()), percent(share));
    Ok(Some(Finding {
        value: share,
        limit: limits.exposed_share,
        severity: Severity::Warning,
        claim: Claim::AtMost(facts.ranges.of(Role::Communication).to_vec(), own),
        evidence: [
            format!("{time} of communication per step ({part}) is not overlapped by kernels."),
            format!("每次迭代有 {time}（{part}）的通信期间没有 kernel 在计算。"),
        ],
        step: facts.clearest(|_, time| time.communication - time.hidden),
        ..Finding::default()
    }))
}

pub(super) fn straggler(facts: &Facts<'_>, limits: &Limits) -> Verdict {
    let all = others(facts)?;
    facts.needs_enough_steps()?;
    let steps = usize::try_from(limits.slow_steps).unwrap_or(usize::MAX);
    let slow = ranks::stragglers(all, limits.slowness, steps);
    let Some(slow) = slow.first() else {
        return Ok(None);
    };
    let (rank, from, count) = (slow.rank, slow.from_step, slow.steps);
    let (more, wait) = (
        percent(slow.slowness - 1.0),
        nanos(slow.gain_nanos.unsigned_abs()),
    );
    let communication = facts.ranges.of(Role::Communication).to_vec();
    let is_error = slow.slowness > limits.slowness_error;
    Ok(Some(Finding {
        value: slow.slowness,
        limit: limits.slowness,
        severity: if is_error {
            Severity::Error
        } else {
            Severity::Warning
        },
        claim: Claim::AtMost(communication, slow.gain_nanos),
        evidence: [
            format!(
                "Rank {rank} computes {more} slower than the median of the ranks from step {from} on, {count} steps in a row; the others wait {wait} a step."
            ),
            format!(
                "rank {rank} 从迭代 {from} 起连续 {count} 次迭代的计算比各 rank 的中位数慢 {more}；其他 rank 每次迭代等待 {wait}。"
            ),
        ],
        step: Some(from),
        rank: Some(rank),
    }))
}

pub(super) fn uneven(facts: &Facts<'_>, limits: &Limits) -> Verdict {
    let all = others(facts)?;
    facts.needs_time()?;
    let steps = usize::try_from(limits.slow_steps).unwrap_or(usize::MAX);
    if !ranks::stragglers(all, limits.slowness, steps).is_empty() {
        return Ok(None);
    }
    let lengths = all
        .ranks
        .iter()
        .map(|own| own.median_step_nanos.unsigned_abs());
    let peaks = all.ranks.iter().map(|own| own.peak_len_bytes);
    let (by_length, by_peak) = (Spread::of(lengths), Spread::of(peaks));
    let is_memory = by_peak.share > by_length.share;
    let spread = if is_memory { by_peak } else { by_length };
    if spread.share <= limits.uneven_share {
        return Ok(None);
    }
    let unit = if is_memory { bytes } else { nanos };
    let (low, high) = (unit(spread.least), unit(spread.most));
    let (en, zh) = if is_memory {
        ("Peaks of memory", "内存峰值")
    } else {
        ("Median steps", "迭代时间中位数")
    };
    Ok(Some(Finding {
        value: spread.share,
        limit: limits.uneven_share,
        severity: Severity::Info,
        evidence: [
            format!("{en} are between {low} and {high} over the ranks."),
            format!("各 rank 的{zh}在 {low} 与 {high} 之间。"),
        ],
        ..Finding::default()
    }))
}

/// Spread of a figure over ranks.
#[derive(Clone, Copy)]
struct Spread {
    least: u64,
    most: u64,
    /// Most less least, divided by the mean.
    share: f64,
}

impl Spread {
    fn of(values: impl Iterator<Item = u64> + Clone) -> Self {
        let count = values.clone().count().max(1) as f64;
        let mean = values.clone().map(|value| value as f64).sum::<f64>() / count;
        let least = values.clone().min().unwrap_or(0);
        let most = values.max().unwrap_or(0);
        let share = if mean > 0.0 {
            (most - least) as f64 / mean
        } else {
            0.0
        };
        Self { least, most, share }
    }
}
