//! Rules about communication and ranks.

use std::collections::BTreeMap;

use trainscope_api::profile::{LateCause, RanksAnswer};
use trainscope_format::Severity;
use trainscope_format::digits::{bytes, nanos, percent};
use trainscope_format::trace::TraceFormat;

use super::super::{Role, ranges, ranks};
use super::facts::{Claim, Facts, Finding, Words};
use super::{Lack, Limits, Verdict};

/// The other ranks, if there are any with steps in common.
fn others<'a>(facts: &Facts<'a>) -> Result<&'a RanksAnswer, Lack> {
    let ranks = facts.ranks.filter(|ranks| ranks.ranks.len() > 1);
    let ranks = ranks.ok_or(Lack::OneRank)?;
    if ranks.steps.is_empty() {
        return Err(Lack::NoSteps);
    }
    Ok(ranks)
}

/// Time a step that this rank waits for others.
fn waiting(facts: &Facts<'_>) -> i64 {
    let row = others(facts).ok().and_then(|all| {
        let index = all
            .ranks
            .iter()
            .position(|rank| rank.rank == facts.summary.rank)?;
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
    let gain = a_step.saturating_sub(waiting(facts)).max(0);
    let (time, part) = (nanos(a_step.unsigned_abs()), percent(share));
    let (kind, share_of_kind) = exposed_most(facts);
    let of_kind = percent(share_of_kind);
    let (kind_en, kind_zh) = match kind.names() {
        Some((en, zh)) => (
            format!(": {of_kind} of it is {en}"),
            format!("，其中 {of_kind} 为 {zh}"),
        ),
        None => (
            "; no name tells its kind".to_owned(),
            "，名称未说明其类型".to_owned(),
        ),
    };
    let Words { each, each_zh, .. } = facts.words();
    Ok(Some(Finding {
        value: share,
        limit: limits.exposed_share,
        severity: Severity::Warning,
        claim: Claim::AtMost(facts.ranges.of(Role::Communication).to_vec(), gain),
        evidence: [
            format!(
                "{time} of communication{each} ({part}) is not overlapped by kernels{kind_en}."
            ),
            format!("{each_zh}有 {time}（{part}）的通信期间没有 kernel 在计算{kind_zh}。"),
        ],
        step: facts.clearest(|_, time| time.communication - time.hidden),
        remedy: kind.remedy(facts.model.trace.head.format),
        ..Finding::default()
    }))
}

/// Kinds of communication, each with a remedy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Exchange {
    AllReduce,
    Gather,
    AllToAll,
    Broadcast,
    #[default]
    Other,
}

impl Exchange {
    /// Kind of a kernel or operator of NCCL, RCCL, HCCL, Gloo or XLA, by its name. NCCL runs both all-to-all and
    /// pipelines of layers as kernels that send and receive.
    fn of(name: &str) -> Self {
        let name: String = name
            .chars()
            .filter(char::is_ascii_alphanumeric)
            .map(|letter| letter.to_ascii_lowercase())
            .collect();
        let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
        if has(&["allreduce"]) {
            Self::AllReduce
        } else if has(&["allgather", "reducescatter"]) {
            Self::Gather
        } else if has(&["alltoall", "sendrecv", "send", "recv", "receive"]) {
            Self::AllToAll
        } else if has(&["bcast", "broad"]) {
            Self::Broadcast
        } else {
            Self::Other
        }
    }

    /// Names in English and Chinese; `None` if the name of the communication does not tell its kind.
    const fn names(self) -> Option<(&'static str, &'static str)> {
        Some(match self {
            Self::AllReduce => ("all-reduce", "all-reduce"),
            Self::Gather => (
                "all-gather and reduce-scatter",
                "all-gather 与 reduce-scatter",
            ),
            Self::AllToAll => ("all-to-all or send and receive", "all-to-all 或点对点收发"),
            Self::Broadcast => ("sent by one rank to all", "由一个 rank 发往全部"),
            Self::Other => return None,
        })
    }

    /// The remedy for this kind, empty if it has none; `None` for that of the rule.
    const fn remedy(self, format: TraceFormat) -> Option<&'static str> {
        match (format, self) {
            (TraceFormat::Kineto, Self::Gather) => Some(
                "layer.set_modules_to_forward_prefetch([next_layer])  # after fully_shard(layer)",
            ),
            (TraceFormat::Kineto, Self::AllToAll) => Some(
                "work = dist.all_to_all_single(out, x, async_op=True)  # other work, then work.wait()",
            ),
            (TraceFormat::Kineto, Self::Broadcast) => {
                Some("DistributedDataParallel(model, broadcast_buffers=False)")
            }
            (TraceFormat::Mindspore, Self::Gather) => Some(
                "mindspore.set_auto_parallel_context(comm_fusion={\"allgather\": {\"mode\": \"auto\", \"config\": None}})",
            ),
            (TraceFormat::Kineto | TraceFormat::Mindspore, Self::Other)
            | (TraceFormat::Mindspore, Self::AllToAll | Self::Broadcast) => Some(""),
            _ => None,
        }
    }
}

/// The kind with the maximum exposed time, and its share of the exposed time of all kinds. Two collectives at a time
/// count twice.
fn exposed_most(facts: &Facts<'_>) -> (Exchange, f64) {
    let model = facts.model;
    let compute = facts.ranges.of(Role::Kernel);
    let mut kinds: BTreeMap<Exchange, i64> = BTreeMap::new();
    for slice in model.slices() {
        let (begin, end) = model.span(slice);
        if model.roles[slice as usize] != Role::Communication || !facts.holds(begin) {
            continue;
        }
        let hidden = ranges::total(&ranges::cut(compute, begin, end));
        let sum = kinds.entry(Exchange::of(model.name(slice))).or_default();
        *sum = sum.saturating_add(end.saturating_sub(begin).saturating_sub(hidden));
    }
    let all = kinds.values().copied().fold(0, i64::saturating_add);
    let most = kinds.into_iter().max_by_key(|sum| sum.1);
    let (kind, most) = most.unwrap_or_default();
    (kind, most as f64 / all.max(1) as f64)
}

pub(super) fn straggler(facts: &Facts<'_>, limits: &Limits) -> Verdict {
    let all = others(facts)?;
    let steps = usize::try_from(limits.slow_steps).unwrap_or(usize::MAX);
    let slow = ranks::stragglers(all, limits.slowness, steps);
    let Some(slow) = slow.first() else {
        return Ok(None);
    };
    let (rank, from) = (slow.rank, slow.from_step);
    let wait = nanos(slow.gain_nanos.unsigned_abs());
    let [why, reason] = ranks::late_by(slow.cause);
    let (en, zh) = if slow.steps > 1 {
        (
            format!(" from step {from} on, {} steps in a row", slow.steps),
            format!("从迭代 {from} 起连续 {} 个迭代，", slow.steps),
        )
    } else {
        (format!(" in step {from}"), format!("迭代 {from} 中，"))
    };
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
            format!("The other ranks wait {wait} a step for rank {rank}{why}{en}."),
            format!("{zh}其他 rank 每个迭代等待 rank {rank} {wait}{reason}。"),
        ],
        step: Some(from),
        rank: Some(rank),
        remedy: remedy_of(facts, slow.cause),
    }))
}

/// The remedy for a cause; `None` for that of the rule.
fn remedy_of(facts: &Facts<'_>, cause: Option<LateCause>) -> Option<&'static str> {
    let head = &facts.model.trace.head;
    let is_torch = head.format == TraceFormat::Kineto;
    let is_amd = head.devices.iter().any(|device| {
        let name = device.name.to_ascii_lowercase();
        name.contains("amd") || name.contains("instinct")
    });
    match cause {
        Some(LateCause::Data) if is_torch => {
            Some("DataLoader(..., num_workers=8, prefetch_factor=4, persistent_workers=True)")
        }
        Some(LateCause::Copies) if is_torch => {
            Some("DataLoader(..., pin_memory=True); batch.to(device, non_blocking=True)")
        }
        Some(LateCause::Host | LateCause::Begin) => {
            Some("numactl --cpunodebind=N --membind=N python train.py  # N: the node of its GPU")
        }
        Some(LateCause::Compute) if is_torch && is_amd => {
            Some("rocm-smi --showclocks --showtemp --showpower")
        }
        _ => None,
    }
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
        .map(|rank| rank.median_step_nanos.unsigned_abs());
    let peaks = all.ranks.iter().map(|rank| rank.peak_len_bytes);
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
    /// Maximum less minimum, divided by the mean.
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
