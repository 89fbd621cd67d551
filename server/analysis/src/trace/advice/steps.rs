//! Rules about waiting for data, the lengths of steps, compilation, and the recording itself.

use trainscope_api::timeline::TimeKind;
use trainscope_format::Severity;
use trainscope_format::digits::{count, nanos, percent};

use super::super::ranges::{self, Span};
use super::super::{Role, Step, figures, robust};
use super::facts::{Claim, Facts, Finding, Words, length};
use super::{Lack, Limits, Verdict};

/// Cost of a Python frame to the profiler, nanoseconds: chosen, a call of its hook on a current processor.
const FRAME_NANOS: i64 = 1_000;
/// Minimum number of steps for a warning about the share of outliers: chosen, as for trends.
const WARNING_STEPS: usize = 20;
/// Maximum number of points of a trend. With more steps, a point is the median of neighbours.
const MAX_POINTS: usize = 1_000;
/// Parts of the names of compilation: timed sections and files of `PyTorch`'s compilers, and XLA's.
const COMPILERS: [&str; 7] = [
    "(dynamo_timed)",
    "torch/_dynamo/convert_frame.py",
    "torch/_inductor/compile_fx.py",
    "torch/jit/_trace.py",
    "torch/jit/_script.py",
    "backend_compile",
    "XlaCompile",
];

fn text(nanos_of: i64) -> String {
    nanos(nanos_of.unsigned_abs())
}

/// True if the work launched by most steps ends after the end of the next step on the host.
pub(super) fn runs_behind(steps: &[Step]) -> bool {
    let pairs = steps.windows(2);
    let behind = pairs.clone().filter(|two| two[0].end > two[1].host_end);
    2 * behind.count() > pairs.count()
}

pub(super) fn data(facts: &Facts<'_>, limits: &Limits) -> Verdict {
    let input = facts.summary.input;
    if let (Err(lack), None) = (facts.needs_time(), input) {
        return Err(lack);
    }
    let total = facts.sum(|time| time.parts.data);
    let by_spans = if facts.needs_time().is_ok() {
        facts.share(total)
    } else {
        0.0
    };
    let by_iterator = input.filter(|input| input.share > by_spans);
    let share = by_iterator.map_or(by_spans, |input| input.share);
    if share <= limits.data_share {
        return Ok(None);
    }
    let severity = if share > limits.data_share_error {
        Severity::Error
    } else {
        Severity::Warning
    };
    let part = percent(share);
    let (claim, evidence) = if let Some(input) = by_iterator {
        let each = input.mean_waited_nanos;
        let (wait, whole, empty) = (text(each), text(input.mean_whole_nanos), count(input.empty));
        let evidence = [
            format!(
                "Of the {whole} from batch to batch the training waits {wait} ({part}) for data; the queue was empty {empty} times."
            ),
            format!("每批共 {whole}，其中训练等待数据 {wait}（{part}）；队列为空 {empty} 次。"),
        ];
        (Claim::Apart(each), evidence)
    } else {
        let wait = text(facts.a_step(total));
        let Words {
            each,
            each_zh,
            all_zh,
            ..
        } = facts.words();
        let evidence = [
            format!("Waiting for data takes {wait}{each}, {part} of it."),
            format!("{each_zh}等待数据 {wait}，占{all_zh}的 {part}。"),
        ];
        let busy = [
            Role::Memcpy,
            Role::Memset,
            Role::Communication,
            Role::Runtime,
        ];
        let data = busy
            .iter()
            .fold(facts.ranges.of(Role::Data).to_vec(), |data, role| {
                ranges::minus(&data, facts.ranges.of(*role))
            });
        (Claim::Spans(data), evidence)
    };
    Ok(Some(Finding {
        value: share,
        limit: limits.data_share,
        severity,
        claim,
        evidence,
        step: facts.clearest(|_, time| time.parts.data),
        ..Finding::default()
    }))
}

/// A kind of time in a sentence.
const fn name_of(kind: TimeKind) -> (&'static str, &'static str) {
    match kind {
        TimeKind::Compute => ("compute", "计算"),
        TimeKind::Communication => ("communication", "通信"),
        TimeKind::Copy => ("copies", "拷贝"),
        TimeKind::Data => ("waiting for data", "等待数据"),
        TimeKind::Host => ("work of the host", "主机工作"),
        TimeKind::Idle => ("time without any work", "空闲"),
    }
}

pub(super) fn outliers(facts: &Facts<'_>, limits: &Limits) -> Verdict {
    facts.needs_enough_steps()?;
    let is_outlier = |index: &usize| {
        let step = facts.steps.get(*index);
        step.is_some_and(|step| facts.lengths.is_outlier(length(step)))
    };
    let found: Vec<usize> = (0..facts.steps.len()).filter(is_outlier).collect();
    let share = found.len() as f64 / facts.count() as f64;
    if share <= limits.outlier_share {
        return Ok(None);
    }
    let grown = facts.summary.outlier_growth.map(|grown| {
        let (en, zh) = name_of(grown.kind);
        let more = text(grown.nanos);
        (
            format!("; most of it, {more}, is {en}"),
            format!("；其中最多的是{zh}，{more}"),
        )
    });
    let (en, zh) = grown.unwrap_or_default();
    let steps = found.iter().filter_map(|index| facts.steps.get(*index));
    let median = facts.lengths.median;
    let longer = steps
        .clone()
        .map(|step| length(step).saturating_sub(median));
    let gain = facts.a_step(longer.fold(0, i64::saturating_add));
    let spans = ranges::merge(steps.clone().map(|step| (step.begin, step.end)).collect());
    let (number, all) = (count(found.len() as u64), count(facts.steps.len() as u64));
    let is_warning = share > limits.outlier_share_warning && facts.steps.len() >= WARNING_STEPS;
    Ok(Some(Finding {
        value: share,
        limit: limits.outlier_share,
        severity: if is_warning {
            Severity::Warning
        } else {
            Severity::Info
        },
        claim: Claim::AtMost(spans, gain),
        evidence: [
            format!("{number} of {all} steps are far longer than the others{en}."),
            format!("{all} 个迭代中有 {number} 个明显更久{zh}。"),
        ],
        step: steps
            .max_by_key(|step| length(step))
            .map(|step| step.number),
        ..Finding::default()
    }))
}

pub(super) fn drift(facts: &Facts<'_>, limits: &Limits) -> Verdict {
    facts.needs_enough_steps()?;
    let needed = usize::try_from(limits.drift_steps).unwrap_or(usize::MAX);
    if facts.steps.len() < needed {
        return Err(Lack::TooFewSteps);
    }
    let lengths: Vec<i64> = facts.steps.iter().map(length).collect();
    let each = lengths.len().div_ceil(MAX_POINTS).max(1);
    let points: Vec<(f64, f64)> = lengths
        .chunks(each)
        .enumerate()
        .map(|(index, chunk)| {
            let median = figures::median(&mut chunk.to_vec());
            ((index * each) as f64, median as f64)
        })
        .collect();
    let median = facts.lengths.median.max(1) as f64;
    let slope = robust::slope(&points).ok_or(Lack::TooFewSteps)?;
    let share = slope.slope * lengths.len() as f64 / median;
    let is_trend = robust::probability(slope.deviations) < limits.drift_probability;
    if share <= limits.drift_share || !is_trend {
        return Ok(None);
    }
    let (part, steps) = (percent(share), count(lengths.len() as u64));
    Ok(Some(Finding {
        value: share,
        limit: limits.drift_share,
        severity: Severity::Warning,
        evidence: [
            format!("Steps became longer by {part} of the median over {steps} steps."),
            format!("在 {steps} 个迭代中，迭代时间增长了中位数的 {part}。"),
        ],
        step: facts.steps.last().map(|step| step.number),
        ..Finding::default()
    }))
}

pub(super) fn compilation(facts: &Facts<'_>, limits: &Limits) -> Verdict {
    facts.needs_enough_steps()?;
    let later = facts.later_than(limits.compile_warmup_steps);
    if later.is_empty() {
        return Err(Lack::TooFewSteps);
    }
    let model = facts.model;
    let compiles: Vec<bool> = model
        .trace
        .texts
        .iter()
        .map(|name| COMPILERS.iter().any(|part| name.contains(part)))
        .collect();
    let names = &model.trace.slices.names;
    let mut spans: Vec<Span> = Vec::new();
    for slice in model.slices() {
        let name = names[slice as usize].0 as usize;
        if compiles.get(name) == Some(&true) {
            let (begin, end) = model.span(slice);
            ranges::push(&mut spans, begin, end);
        }
    }
    let spans = ranges::meet(&ranges::merge(spans), &later);
    let inside = |step: &&super::super::Step| !ranges::cut(&spans, step.begin, step.end).is_empty();
    let steps = facts.steps.iter().filter(inside).count();
    if steps == 0 {
        return Ok(None);
    }
    let (number, time) = (count(steps as u64), text(ranges::total(&spans)));
    Ok(Some(Finding {
        value: steps as f64,
        severity: Severity::Warning,
        evidence: [
            format!("{number} steps after the first ones compile, for {time} in all."),
            format!("最初几个迭代之后，仍有 {number} 个迭代在编译，共 {time}。"),
        ],
        step: facts.clearest_of(&spans),
        claim: Claim::Spans(spans),
        ..Finding::default()
    }))
}

pub(super) fn overhead(facts: &Facts<'_>, limits: &Limits) -> Verdict {
    facts.needs_time()?;
    let frames = facts.frames;
    let recorded = ranges::total(&facts.overhead);
    let frame = facts
        .frame_nanos
        .map_or(FRAME_NANOS, |measured| measured.min(FRAME_NANOS));
    let cost = recorded.saturating_add(frames.saturating_mul(frame));
    let share = facts.share(cost).min(1.0);
    if share <= limits.overhead_share {
        return Ok(None);
    }
    let (part, frames) = (percent(share), count(frames.unsigned_abs()));
    let Words { all, all_zh, .. } = facts.words();
    Ok(Some(Finding {
        value: share,
        limit: limits.overhead_share,
        severity: Severity::Info,
        evidence: [
            format!(
                "The profiler itself takes about {part} of {all} ({frames} Python frames): times are distorted."
            ),
            format!("性能分析器自身约占{all_zh}的 {part}（{frames} 个 Python 栈帧）：时间有失真。"),
        ],
        ..Finding::default()
    }))
}

#[expect(clippy::unnecessary_wraps, reason = "the type of all rules")]
pub(super) fn damage(facts: &Facts<'_>, _: &Limits) -> Verdict {
    let counts = &facts.model.trace.counts;
    let lost = counts.damaged.saturating_add(counts.over_limit);
    let places = lost.saturating_add(u64::from(counts.truncated));
    if places == 0 {
        return Ok(None);
    }
    let (noun, verb) = if lost == 1 {
        ("place", "has an impossible time")
    } else {
        ("places", "have impossible times")
    };
    let places_lost = count(lost);
    let evidence = match (lost, counts.truncated) {
        (0, _) => [
            "The file ends before its last event is complete.".to_owned(),
            "文件在最后一个事件完整之前结束。".to_owned(),
        ],
        (_, false) => [
            format!("{places_lost} {noun} could not be read, or {verb}."),
            format!("{places_lost} 处无法读取，或时间不可能成立。"),
        ],
        (_, true) => [
            format!(
                "{places_lost} {noun} could not be read or {verb}, and the file ends before its last event is complete."
            ),
            format!("{places_lost} 处无法读取或时间不可能成立，且文件在最后一个事件完整之前结束。"),
        ],
    };
    Ok(Some(Finding {
        value: places as f64,
        severity: Severity::Info,
        evidence,
        ..Finding::default()
    }))
}
