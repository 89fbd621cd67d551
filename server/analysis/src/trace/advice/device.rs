//! Rules about devices that wait, and about work that takes longer than needed.

use std::collections::BTreeMap;

use trainscope_api::profile::PhaseKind;
use trainscope_format::Severity;
use trainscope_format::digits::{brief, nanos, percent};
use trainscope_format::trace::{SliceClass, TextId};

use super::super::idle::Cause;
use super::super::kernels::{MatrixUnits, TensorCores, matrix_units, multiplies, short_name};
use super::super::ranges::{self, Span};
use super::super::work::{ancestors, launch, operator};
use super::super::{Model, Role};
use super::facts::{Claim, Facts, Finding, Words};
use super::{Lack, Limits, Verdict};

/// Operators within which a call waits for a value of the device.
const READS: [&str; 5] = [
    "aten::item",
    "aten::_local_scalar_dense",
    "aten::is_nonzero",
    "aten::nonzero",
    "aten::equal",
];
/// Capability of the first devices with tensor cores (Volta).
const TENSOR_CORE_CAPABILITY: u32 = 7;
fn text(nanos_of: i64) -> String {
    nanos(nanos_of.unsigned_abs())
}

pub(super) fn idle(facts: &Facts<'_>, limits: &Limits) -> Verdict {
    facts.needs_device()?;
    let share = facts.share(ranges::total(&facts.idle));
    if share <= limits.idle_share {
        return Ok(None);
    }
    let (first, last) = (facts.steps.first(), facts.steps.last());
    let span = first
        .zip(last)
        .map_or(0, |(first, last)| last.end - first.begin);
    let utilization = facts.sum(|time| time.kernels) as f64 / span.max(1) as f64;
    let is_low = utilization < limits.utilization_warning;
    let (idle, used) = (percent(share), percent(utilization));
    let Words { all, all_zh, .. } = facts.words();
    Ok(Some(Finding {
        value: share,
        limit: limits.idle_share,
        severity: if is_low {
            Severity::Warning
        } else {
            Severity::Info
        },
        evidence: [
            format!(
                "The device is idle for {idle} of {all}; kernels run for {used} of the time. A larger batch raises throughput, and makes no step shorter."
            ),
            format!(
                "设备在{all_zh}的 {idle} 中空闲；kernel 运行的时间占 {used}。增大批次可提高吞吐量，但不缩短迭代。"
            ),
        ],
        step: facts.clearest_of(&facts.idle),
        ..Finding::default()
    }))
}

pub(super) fn host(facts: &Facts<'_>, limits: &Limits) -> Verdict {
    facts.needs_launches()?;
    let spans = facts.host_idle(&[Cause::Host], |_| true);
    let total = ranges::total(&spans);
    let share = facts.share(total);
    if share <= limits.host_idle_share {
        return Ok(None);
    }
    let (time, part) = (text(facts.a_step(total)), percent(share));
    let Words { each, each_zh, .. } = facts.words();
    Ok(Some(Finding {
        value: share,
        limit: limits.host_idle_share,
        severity: Severity::Warning,
        evidence: [
            format!(
                "The device waits {time}{each} ({part}) for kernels that were not launched yet."
            ),
            format!("{each_zh}设备有 {time}（{part}）在等待尚未下发的 kernel。"),
        ],
        step: facts.clearest_of(&spans),
        claim: Claim::Spans(spans),
        ..Finding::default()
    }))
}

pub(super) fn launches(facts: &Facts<'_>, limits: &Limits) -> Verdict {
    facts.needs_launches()?;
    let model = facts.model;
    let is_short = |slice: u32| {
        let call = launch(model, slice).map(|call| model.span(call));
        let (begin, end) = model.span(slice);
        call.is_some_and(|call| end - begin < call.1 - call.0)
    };
    let kernels = facts.device.iter().copied();
    let kernels = kernels.filter(|slice| model.roles[*slice as usize] == Role::Kernel);
    let kernels: Vec<u32> = kernels.collect();
    let short = kernels.iter().filter(|slice| is_short(**slice)).count();
    let share = short as f64 / kernels.len().max(1) as f64;
    let causes = [Cause::Host, Cause::Kernel];
    let idle = facts.share(ranges::total(&facts.host_idle(&causes, |_| true)));
    if share <= limits.short_kernel_share || idle <= limits.launch_idle_share {
        return Ok(None);
    }
    let spans = facts.host_idle(&causes, is_short);
    let (part, gaps) = (percent(share), percent(idle));
    let Words { all, all_zh, .. } = facts.words();
    Ok(Some(Finding {
        value: share,
        limit: limits.short_kernel_share,
        severity: Severity::Warning,
        evidence: [
            format!(
                "{part} of the kernels are shorter than the call that launches them; gaps between kernels take {gaps} of {all}."
            ),
            format!("{part} 的 kernel 短于下发它的调用；kernel 之间的空隙占{all_zh}的 {gaps}。"),
        ],
        step: facts.clearest_of(&spans),
        claim: Claim::Spans(spans),
        ..Finding::default()
    }))
}

pub(super) fn waits(facts: &Facts<'_>, limits: &Limits) -> Verdict {
    facts.needs_launches()?;
    let calls = waiting_in_work(facts);
    let each = calls.len() as f64 / facts.count() as f64;
    let spans = facts.idle_behind(calls.iter().copied());
    let share = facts.share(ranges::total(&spans));
    if each < limits.sync_calls || share <= limits.sync_idle_share {
        return Ok(None);
    }
    let (calls, part) = (brief(each), percent(share));
    let words = facts.words();
    let (a_step, a_step_zh, all, all_zh) = (words.each, words.each_zh, words.all, words.all_zh);
    Ok(Some(Finding {
        value: each,
        limit: limits.sync_calls,
        severity: Severity::Warning,
        evidence: [
            format!(
                "{calls} calls{a_step} wait for the device before the end; it is idle behind them for {part} of {all}."
            ),
            format!(
                "{a_step_zh}有 {calls} 次调用在结束前等待设备；其后设备空闲占{all_zh}的 {part}。"
            ),
        ],
        step: facts.clearest_of(&spans),
        claim: Claim::Spans(spans),
        ..Finding::default()
    }))
}

/// Calls that wait in the forward pass, the backward pass or the update, or for a value of the device, without the last
/// waiting call of each step.
fn waiting_in_work(facts: &Facts<'_>) -> Vec<u32> {
    let model = facts.model;
    let mut waits: Vec<u32> = facts.waits.clone();
    waits.sort_unstable_by_key(|slice| model.span(*slice).0);
    let mut calls = Vec::new();
    for step in &facts.steps {
        let from = waits.partition_point(|slice| model.span(*slice).0 < step.begin);
        let to = waits.partition_point(|slice| model.span(*slice).0 < step.end);
        let in_step = waits.get(from..to.max(from)).unwrap_or_default();
        let earlier = in_step.split_last().map_or(&[][..], |(_, earlier)| earlier);
        let in_work = earlier.iter().filter(|slice| is_in_work(model, **slice));
        calls.extend(in_work);
    }
    calls
}

fn is_in_work(model: &Model, slice: u32) -> bool {
    let phase = model.phases.get(slice as usize).copied();
    let is_work = matches!(
        phase.unwrap_or_default(),
        PhaseKind::Forward | PhaseKind::Recomputation | PhaseKind::Backward | PhaseKind::Update
    );
    is_work || ancestors(model, slice).any(|slice| READS.contains(&model.name(slice)))
}

pub(super) fn pageable(facts: &Facts<'_>, limits: &Limits) -> Verdict {
    facts.needs_device()?;
    let model = facts.model;
    let copies = facts.device.iter().copied().filter(|slice| {
        model.class(*slice) == SliceClass::Memcpy && {
            let name = model.name(*slice);
            name.contains("HtoD") && name.contains("Pageable")
        }
    });
    let copies: Vec<Span> = copies.map(|slice| model.span(slice)).collect();
    let count = brief(copies.len() as f64 / facts.count() as f64);
    let spans = facts.within(copies);
    let share = facts.share(ranges::total(&spans));
    if share <= limits.pageable_share {
        return Ok(None);
    }
    let part = percent(share);
    let Words {
        each,
        each_zh,
        all,
        all_zh,
    } = facts.words();
    Ok(Some(Finding {
        value: share,
        limit: limits.pageable_share,
        severity: Severity::Warning,
        evidence: [
            format!("Copies from pageable memory take {part} of {all}: {count}{each}."),
            format!("{each_zh}有 {count} 次拷贝来自可分页内存，占{all_zh}的 {part}。"),
        ],
        step: facts.clearest_of(&spans),
        claim: Claim::Spans(spans),
        ..Finding::default()
    }))
}

pub(super) fn tensor_cores(facts: &Facts<'_>, limits: &Limits) -> Verdict {
    facts.needs_device()?;
    if !facts.has_kernels() {
        return Err(Lack::NoDevice);
    }
    match facts.compute_major() {
        0 => return Err(Lack::NoCapability),
        major if major < TENSOR_CORE_CAPABILITY => return Ok(None),
        _ => {}
    }
    let model = facts.model;
    let cores = TensorCores::new(model);
    let (mut all, mut could, mut unknown) = (0_i64, 0_i64, 0_i64);
    for slice in facts.device.iter().copied() {
        if model.roles[slice as usize] != Role::Kernel {
            continue;
        }
        if cores.uses(model, slice) {
            return Ok(None);
        }
        let (begin, end) = model.span(slice);
        all += end - begin;
        let call = launch(model, slice).and_then(|call| operator(model, call));
        if call.is_some_and(|operator| multiplies(model.name(operator))) {
            match matrix_units(model.name(slice)) {
                MatrixUnits::Unknown => unknown += end - begin,
                _ => could += end - begin,
            }
        }
    }
    let share = could as f64 / all.max(1) as f64;
    if share <= limits.tensor_core_share {
        let open = (could + unknown) as f64 / all.max(1) as f64;
        if open > limits.tensor_core_share {
            return Err(Lack::UnknownKernels);
        }
        return Ok(None);
    }
    let (part, gain) = (percent(share), facts.a_step(could) / 2);
    let less = text(gain);
    let Words { each, each_zh, .. } = facts.words();
    Ok(Some(Finding {
        value: share,
        limit: limits.tensor_core_share,
        severity: Severity::Info,
        claim: Claim::Compute(gain),
        evidence: [
            format!(
                "Products of matrices take {part} of the kernel time, none of it on tensor cores; {less} less{each} if they were twice as fast."
            ),
            format!(
                "矩阵乘法占 kernel 时间的 {part}，均未使用 Tensor Core；若快一倍，{each_zh}可缩短 {less}。"
            ),
        ],
        ..Finding::default()
    }))
}

pub(super) fn update_kernels(facts: &Facts<'_>, limits: &Limits) -> Verdict {
    /// Microseconds in nanoseconds.
    const MICRO: f64 = 1_000.0;
    facts.needs_launches()?;
    let model = facts.model;
    let is_update = |slice: u32| {
        model.roles[slice as usize] == Role::Kernel
            && model.phases[slice as usize] == PhaseKind::Update
    };
    let mut names: BTreeMap<TextId, (u64, i64)> = BTreeMap::new();
    for slice in facts
        .device
        .iter()
        .copied()
        .filter(|slice| is_update(*slice))
    {
        let (begin, end) = model.span(slice);
        let sum = names
            .entry(model.trace.slices.names[slice as usize])
            .or_default();
        *sum = (sum.0 + 1, sum.1 + (end - begin));
    }
    let mut sums: BTreeMap<&str, (u64, i64)> = BTreeMap::new();
    for (name, (count, nanos)) in names {
        let sum = sums
            .entry(short_name(model.trace.texts.get(name)))
            .or_default();
        *sum = (sum.0 + count, sum.1 + nanos);
    }
    let steps = facts.count() as f64;
    let mut worst: Option<(&str, f64, f64)> = None;
    for (name, (count, nanos)) in &sums {
        let (each, mean) = (*count as f64 / steps, *nanos as f64 / *count as f64);
        let is_hit = each > limits.update_kernels && mean < limits.update_kernel_micros * MICRO;
        if is_hit && worst.is_none_or(|worst| each > worst.1) {
            worst = Some((name, each, mean));
        }
    }
    let Some((name, each, mean)) = worst else {
        return Ok(None);
    };
    let causes = [Cause::Host, Cause::Kernel, Cause::Other];
    let spans = facts.host_idle(&causes, is_update);
    let (count, mean) = (brief(each), brief(mean / MICRO));
    let words = facts.words();
    let (a_step, a_step_zh) = (words.each, words.each_zh);
    Ok(Some(Finding {
        value: each,
        limit: limits.update_kernels,
        severity: Severity::Info,
        evidence: [
            format!("The update launches `{name}` {count} times{a_step}, {mean} µs each."),
            format!("{a_step_zh}更新阶段下发 `{name}` {count} 次，每次 {mean} µs。"),
        ],
        step: facts.clearest_of(&spans),
        claim: Claim::Spans(spans),
        ..Finding::default()
    }))
}
