//! Rules about memory.

use trainscope_api::profile::{MemoryTotal, PhaseKind};
use trainscope_format::Severity;
use trainscope_format::digits::{bytes, count};
use trainscope_format::trace::{SliceClass, TraceFormat};

use super::super::ranges::{self, Span};
use super::super::{Model, memory, robust};
use super::facts::{Claim, Facts, Finding};
use super::{Lack, Limits, Verdict};

/// Calls of the allocators of devices that wait for all kernels.
const ALLOCATOR: [&str; 8] = [
    "cudaMalloc",
    "cudaFree",
    "hipMalloc",
    "hipFree",
    "cuMemAlloc_v2",
    "cuMemFree_v2",
    "cuMemCreate",
    "cuMemRelease",
];

fn totals<'a>(facts: &Facts<'a>) -> Result<&'a [MemoryTotal], Lack> {
    let totals = &facts.summary.memory;
    if totals.is_empty() {
        return Err(Lack::NoMemory);
    }
    Ok(totals)
}

/// Reason why the share of used memory is unknown for all devices.
fn lack_of_share(totals: &[MemoryTotal]) -> Lack {
    let is_sized = totals.iter().any(|total| total.device_len_bytes > 0);
    if is_sized {
        Lack::NoTotals
    } else {
        Lack::NoDeviceSize
    }
}

/// True for a trace of PyTorch's operators that has neither a backward pass nor an update.
fn is_inference(model: &Model) -> bool {
    let trains = |phase: &PhaseKind| matches!(phase, PhaseKind::Backward | PhaseKind::Update);
    model.trace.head.format == TraceFormat::Kineto
        && model
            .slices()
            .any(|slice| model.class(slice) == SliceClass::Operator)
        && !model.phases.iter().any(trains)
}

/// Finding of an allocation that failed.
fn failed(facts: &Facts<'_>, limits: &Limits) -> Option<Finding> {
    let model = facts.model;
    let failures = &model.trace.memory_failures;
    let first = failures.first()?;
    let (allocated, reserved) = memory::levels_before(model, first);
    let unused = reserved.saturating_sub(allocated);
    let count = count(failures.len() as u64);
    let (asked, free) = (bytes(first.bytes), bytes(first.free));
    let (spare, of) = (bytes(unused), bytes(reserved));
    let is_fragmented = unused >= first.bytes;
    // Requested bytes, divided by the available bytes.
    let wanted = reserved.saturating_add(first.bytes) as f64;
    let possible = reserved.saturating_add(first.free).max(1) as f64;
    Some(Finding {
        value: wanted / possible,
        limit: limits.memory_share,
        severity: Severity::Error,
        evidence: [
            format!(
                "Out of memory ({count}×): {asked} were asked for, {free} of the device were free, and {spare} of {of} reserved bytes were \
                 not allocated."
            ),
            format!(
                "内存不足（{count} 次）：申请 {asked}，设备空闲 {free}，保留的 {of} 中有 {spare} 未分配。"
            ),
        ],
        remedy: is_fragmented.then_some("PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"),
        ..Finding::default()
    })
}

pub(super) fn near_limit(facts: &Facts<'_>, limits: &Limits) -> Verdict {
    let totals = totals(facts)?;
    if let Some(finding) = failed(facts, limits) {
        return Ok(Some(finding));
    }
    let shares = totals
        .iter()
        .filter_map(|total| Some((total.share()?, total)));
    let fullest = shares.max_by(|a, b| a.0.total_cmp(&b.0));
    let (share, fullest) = fullest.ok_or_else(|| lack_of_share(totals))?;
    if share <= limits.memory_share {
        return Ok(None);
    }
    let room = fullest
        .device_len_bytes
        .saturating_sub(fullest.peak_len_bytes);
    let (peak, size, room) = (
        bytes(fullest.peak_len_bytes),
        bytes(fullest.device_len_bytes),
        bytes(room),
    );
    let severity = if is_inference(facts.model) {
        // Servers of models fill the memory with a cache on purpose.
        Severity::Info
    } else if share > limits.memory_share_error {
        Severity::Error
    } else {
        Severity::Warning
    };
    Ok(Some(Finding {
        value: share,
        limit: limits.memory_share,
        severity,
        evidence: [
            format!("Memory peaks at {peak} of {size}: {room} to spare."),
            format!("内存峰值 {peak}，共 {size}：余 {room}。"),
        ],
        step: fullest.peak_step,
        ..Finding::default()
    }))
}

pub(super) fn growth(facts: &Facts<'_>, limits: &Limits) -> Verdict {
    let totals = totals(facts)?;
    facts.needs_enough_steps()?;
    let needed = usize::try_from(limits.growth_steps).unwrap_or(usize::MAX);
    if facts.steps.len() < needed {
        return Err(Lack::TooFewSteps);
    }
    let edges = facts.steps.first().zip(facts.steps.last());
    let (first, last) = edges.map_or((0, 0), |(first, last)| (first.number, last.number));
    let mut worst: Option<(f64, f64, &MemoryTotal)> = None;
    for total in totals {
        let by_step = memory::least(facts.model, &total.device);
        let judged = by_step
            .iter()
            .filter(|least| (first..=last).contains(&least.0));
        let points: Vec<(f64, f64)> = judged
            .map(|least| (least.0 as f64, least.1 as f64))
            .collect();
        let Some(slope) = robust::slope(&points).filter(|slope| slope.low > 0.0) else {
            continue;
        };
        let grown = slope.slope * (last - first) as f64;
        let share = grown / total.peak_len_bytes.max(1) as f64;
        if share > limits.growth_share && worst.is_none_or(|worst| worst.0 < share) {
            worst = Some((share, slope.slope, total));
        }
    }
    let Some((share, slope, total)) = worst else {
        return Ok(None);
    };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a cast of floats saturates; both numbers are above 0"
    )]
    let (each, left) = {
        let room = total.device_len_bytes.saturating_sub(total.peak_len_bytes);
        (slope as u64, (room as f64 / slope) as u64)
    };
    let each = bytes(each.max(1));
    let (mut en, mut zh) = (
        format!("The minimum memory of each step grows by {each} a step"),
        format!("最低内存每个迭代增长 {each}"),
    );
    if total.share().is_some() {
        let left = count(left);
        en = format!("{en}: full in {left} steps");
        zh = format!("{zh}：{left} 个迭代后占满");
    }
    Ok(Some(Finding {
        value: share,
        limit: limits.growth_share,
        severity: Severity::Warning,
        evidence: [format!("{en}."), format!("{zh}。")],
        step: Some(last),
        ..Finding::default()
    }))
}

pub(super) fn fragmentation(facts: &Facts<'_>, limits: &Limits) -> Verdict {
    let totals = totals(facts)?;
    let reserving = || totals.iter().filter(|total| total.peak_reserved_bytes > 0);
    if reserving().next().is_none() {
        return Err(Lack::NoReserved);
    }
    let sized = reserving().filter(|total| total.device_len_bytes > 0);
    let share = memory::fragmentation;
    let worst = sized.max_by(|a, b| share(a).total_cmp(&share(b)));
    let worst = worst.ok_or(Lack::NoDeviceSize)?;
    let (fragmented, of) = (share(worst), worst.peak_reserved_bytes);
    let reserved = of as f64 / worst.device_len_bytes as f64;
    if fragmented <= limits.fragmentation_share || reserved <= limits.reserved_share {
        return Ok(None);
    }
    let (free, of) = (bytes(of.saturating_sub(worst.peak_len_bytes)), bytes(of));
    Ok(Some(Finding {
        value: fragmented,
        limit: limits.fragmentation_share,
        severity: Severity::Info,
        evidence: [
            format!("{free} of {of} reserved bytes are not allocated at the peak."),
            format!("峰值时，保留的 {of} 中有 {free} 未分配。"),
        ],
        step: worst.peak_step,
        ..Finding::default()
    }))
}

pub(super) fn allocator(facts: &Facts<'_>, limits: &Limits) -> Verdict {
    facts.needs_enough_steps()?;
    if !facts.has_runtime() {
        return Err(Lack::NoLaunches);
    }
    let later = facts.later_than(limits.allocator_warmup_steps);
    if later.is_empty() {
        return Err(Lack::TooFewSteps);
    }
    let model = facts.model;
    let calls = facts.calls.iter().copied();
    let calls = calls.filter(|slice| ALLOCATOR.contains(&model.name(*slice)));
    let is_later = |slice: &u32| {
        let begin = model.span(*slice).0;
        !ranges::cut(&later, begin, begin.saturating_add(1)).is_empty()
    };
    let calls: Vec<u32> = calls.filter(is_later).collect();
    if calls.is_empty() {
        return Ok(None);
    }
    let mut spans: Vec<Span> = calls.iter().map(|slice| model.span(*slice)).collect();
    spans.extend(facts.idle_behind(calls.iter().copied()));
    let spans = facts.within(spans);
    let number = count(calls.len() as u64);
    Ok(Some(Finding {
        value: calls.len() as f64,
        severity: Severity::Warning,
        evidence: [
            format!("The allocator of the device is called {number} times after the first steps."),
            format!("最初几个迭代之后，设备的分配器被调用了 {number} 次。"),
        ],
        step: facts.clearest_of(&spans),
        claim: Claim::Spans(spans),
        ..Finding::default()
    }))
}
