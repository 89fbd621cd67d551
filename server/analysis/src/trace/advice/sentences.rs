//! Sentences for the head of a profile: the time of a step, the waiting in it, and the gain of the advice.

use std::cmp::Reverse;

use trainscope_api::Sentence;
use trainscope_api::profile::{Advice, DeviceShare, SessionSummary, StepSource};
use trainscope_format::digits::{bytes, count, nanos, percent};

use super::facts::{Facts, MIN_STEPS};
use super::{Judgement, Lack, Limits};

/// Maximum number of changes with a gain in the overview.
const SHOWN: usize = 5;

/// Maximum number of devices in the sentence.
const DEVICES: usize = 8;

fn text(nanos_of: i64) -> String {
    nanos(nanos_of.unsigned_abs())
}

/// Kind of the device, by its name or by that of one of its streams.
fn device(summary: &SessionSummary) -> &'static str {
    let lanes = summary.lanes.iter().map(|lane| &lane.process);
    let mut names = lanes
        .chain(&summary.device_name)
        .map(|name| name.to_ascii_lowercase());
    let kind = names.find_map(|name| match name {
        name if name.contains("ascend") => Some("NPU"),
        name if name.contains("/device:tpu") => Some("TPU"),
        _ => None,
    });
    let is_mtia = || summary.categories.contains_key("mtia_ccp_events");
    kind.unwrap_or_else(|| if is_mtia() { "MTIA" } else { "GPU" })
}

/// The waiting device; for several devices, the share of the time that each works.
fn who_waits(summary: &SessionSummary) -> (String, String) {
    if summary.devices.is_empty() {
        let device = device(summary);
        return (format!("the {device} waits"), format!("{device} 在等待"));
    }
    let each = |device: &DeviceShare| format!("{} {}", device.name, percent(device.utilization));
    let shown: Vec<String> = summary.devices.iter().take(DEVICES).map(each).collect();
    let left = summary.devices.len().saturating_sub(DEVICES);
    let (mut en, mut zh) = (shown.join(", "), shown.join("、"));
    if left > 0 {
        en = format!("{en} and {left} more");
        zh = format!("{zh} 等另外 {left} 个");
    }
    (
        format!("no device works (time that each works: {en})"),
        format!("没有设备在工作（各设备工作的时间占比：{zh}）"),
    )
}

/// True for a recording of memory without any slice.
fn is_memory_alone(summary: &SessionSummary) -> bool {
    summary.lanes.is_empty() && !summary.memory.is_empty()
}

/// The peak of a recording of memory alone.
fn only_memory(summary: &SessionSummary) -> Option<Sentence> {
    if !is_memory_alone(summary) {
        return None;
    }
    let highest = summary
        .memory
        .iter()
        .max_by_key(|total| total.peak_len_bytes)?;
    let failures: u64 = summary.memory.iter().map(|total| total.failures).sum();
    let (peak, whole) = (bytes(highest.peak_len_bytes), text(summary.extent_nanos));
    let (en, zh) = match failures {
        0 => (String::new(), String::new()),
        1 => (
            ", and an allocation failed".to_owned(),
            "，有 1 次分配失败".to_owned(),
        ),
        more => {
            let more = count(more);
            (
                format!(", and {more} allocations failed"),
                format!("，有 {more} 次分配失败"),
            )
        }
    };
    Some(Sentence {
        en: format!("Only memory was recorded, for {whole}: it peaks at {peak}{en}."),
        zh: format!("只记录了 {whole} 的内存：峰值 {peak}{zh}。"),
    })
}

/// Time of a step, and its waiting part.
pub(super) fn sentence(summary: &SessionSummary) -> Sentence {
    if let Some(sentence) = only_memory(summary) {
        return sentence;
    }
    let parts = summary.mean_parts_nanos;
    let mean = summary.mean_step_nanos;
    let step = text(mean);
    let share = |nanos: i64| percent(nanos as f64 / mean.max(1) as f64);
    let busy = parts.kernel + parts.memcpy + parts.memset + parts.communication;
    let waiting = mean.saturating_sub(busy).max(0);
    let (time, part) = (text(waiting), share(waiting));
    let (waits, waits_zh) = who_waits(summary);
    if summary.steps_from == StepSource::None {
        let whole = text(summary.extent_nanos);
        let (more, more_zh) = if summary.device.is_some() {
            (
                format!("; for {time} of it ({part}) {waits}"),
                format!("，其中 {time}（{part}）{waits_zh}"),
            )
        } else {
            Default::default()
        };
        return Sentence {
            en: format!(
                "No steps were recorded: the whole recording of {whole} counts as one{more}."
            ),
            zh: format!("未记录迭代：整个 {whole} 的记录按一个迭代计算{more_zh}。"),
        };
    }
    if summary.device.is_some() {
        return Sentence {
            en: format!("A step takes {step}; for {time} of it ({part}) {waits}."),
            zh: format!("每个迭代 {step}，其中 {time}（{part}）{waits_zh}。"),
        };
    }
    if let Some(input) = summary.input {
        let (wait, whole) = (text(input.mean_waited_nanos), text(input.mean_whole_nanos));
        let part = percent(input.share);
        return Sentence {
            en: format!(
                "A step takes {step}; of the {whole} from batch to batch the training waits {wait} ({part}) for data."
            ),
            zh: format!("每个迭代 {step}；每批共 {whole}，其中等待数据 {wait}（{part}）。"),
        };
    }
    if parts.data == 0 {
        return Sentence {
            en: format!("A step takes {step}; no waiting for data was recorded."),
            zh: format!("每个迭代 {step}；没有等待数据的记录。"),
        };
    }
    let (time, part) = (text(parts.data), share(parts.data));
    Sentence {
        en: format!("A step takes {step}; for {time} of it ({part}) it waits for data."),
        zh: format!("每个迭代 {step}，其中 {time}（{part}）在等待数据。"),
    }
}

/// The number of rules that were not judged, with the reasons, or why times of steps are not judged; `None` if all rules
/// that apply to the profile were judged.
pub(super) fn unjudged(facts: &Facts<'_>, judged: &Judgement) -> Option<Sentence> {
    if facts.needs_even_steps() == Err(Lack::UnevenSteps) {
        let (shortest, longest) = facts.range();
        let [shortest, longest, median] = [shortest, longest, facts.lengths.median].map(text);
        return Some(Sentence {
            en: format!(
                "Steps take from {shortest} to {longest}, median {median}: too uneven to judge."
            ),
            zh: format!(
                "迭代耗时从 {shortest} 到 {longest}，中位数 {median}：差异过大，未作判断。"
            ),
        });
    }
    let lacks = judged.not_judged.iter().map(|(_, lack)| *lack);
    let lacks: Vec<Lack> = lacks.filter(|lack| lack.leaves_open()).collect();
    // Some rules need more steps than the number in the sentence: they are among the others.
    let has_few_steps = facts.needs_enough_steps().is_err();
    let is_of_steps = |lack: &Lack| matches!(lack, Lack::TooFewSteps | Lack::NoSteps);
    let (of_steps, others): (Vec<Lack>, Vec<Lack>) = lacks
        .into_iter()
        .partition(|lack| has_few_steps && is_of_steps(lack));
    let sentences = [too_few_steps(facts, of_steps.len()), reasons(&others)];
    let sentences: Vec<Sentence> = sentences.into_iter().flatten().collect();
    let en: Vec<&str> = sentences.iter().map(|sentence| &*sentence.en).collect();
    let zh: String = sentences.iter().map(|sentence| &*sentence.zh).collect();
    (!en.is_empty()).then(|| Sentence::new(en.join(" "), zh))
}

/// The number of rules that need more steps than the profile has; `None` for 0.
fn too_few_steps(facts: &Facts<'_>, rules: usize) -> Option<Sentence> {
    if rules == 0 {
        return None;
    }
    let verb = if rules == 1 {
        "rule needs"
    } else {
        "rules need"
    };
    let rules = count(rules as u64);
    let (en, zh) = match (facts.model.steps.list.is_empty(), facts.steps.len()) {
        (true, _) => ("none was".to_owned(), "没有记录迭代".to_owned()),
        (_, 1) => ("1 whole one was".to_owned(), "仅完整记录了 1 个".to_owned()),
        (_, steps) => {
            let steps = count(steps as u64);
            (
                format!("{steps} whole ones were"),
                format!("完整记录了 {steps} 个"),
            )
        }
    };
    Some(Sentence {
        en: format!("{rules} {verb} at least {MIN_STEPS} steps, and {en} recorded: not judged."),
        zh: format!("{rules} 条规则至少需要 {MIN_STEPS} 个迭代，而{zh}：未作判断。"),
    })
}

/// The number of rules that were not judged for these reasons, the most frequent reason first; `None` for 0.
fn reasons(lacks: &[Lack]) -> Option<Sentence> {
    let mut reasons: Vec<(Lack, usize)> = Vec::new();
    for lack in lacks {
        match reasons.iter_mut().find(|(known, _)| known == lack) {
            Some((_, rules)) => *rules += 1,
            None => reasons.push((*lack, 1)),
        }
    }
    if reasons.is_empty() {
        return None;
    }
    reasons.sort_by_key(|(_, rules)| Reverse(*rules));
    let words = reasons.iter().map(|(lack, _)| lack.words());
    let (en, zh): (Vec<&str>, Vec<&str>) = words.map(|words| (words.en, words.zh)).unzip();
    let (verb, rules) = (
        if lacks.len() == 1 {
            "rule was"
        } else {
            "rules were"
        },
        count(lacks.len() as u64),
    );
    Some(Sentence {
        en: format!("{rules} {verb} not judged: {}.", en.join(", ")),
        zh: format!("{rules} 条规则未作判断：{}。", zh.join("，")),
    })
}

/// Advice in one sentence, with the resulting time of a step.
pub(super) fn detail(summary: &SessionSummary) -> Sentence {
    let gaining = summary.advice.iter().filter(|advice| advice.gain_nanos > 0);
    let shown: Vec<&Advice> = gaining.take(SHOWN).collect();
    let gain: i64 = shown.iter().map(|advice| advice.gain_nanos).sum();
    let detail = told(summary, &shown, gain);
    match &summary.unjudged {
        Some(open) => Sentence {
            en: format!("{} {}", detail.en, open.en),
            zh: format!("{}{}", detail.zh, open.zh),
        },
        None => detail,
    }
}

/// True for a device that waits for a larger share of the steps than `device_idle` allows.
fn waits_long(summary: &SessionSummary) -> bool {
    let busy = summary.device.map_or(i64::MAX, |device| device.busy_nanos);
    let steps = i64::try_from(summary.whole_steps.max(1)).unwrap_or(i64::MAX);
    let all = summary.mean_step_nanos.saturating_mul(steps);
    let idle = all.saturating_sub(busy) as f64 / all.max(1) as f64;
    idle > Limits::default().idle_share
}

/// Waiting without a known cause, with the main activity of the host meanwhile.
fn unexplained(summary: &SessionSummary) -> Sentence {
    let doing = summary.host_while_idle_nanos.iter();
    let doing = doing
        .max_by_key(|entry| *entry.1)
        .and_then(|(kind, nanos)| {
            let (en, zh) = match &**kind {
                "data" => ("waits for data", "在等待数据"),
                "waiting" => (
                    "is in calls that wait for the device",
                    "处于等待设备的调用中",
                ),
                "python" => ("runs Python", "在运行 Python"),
                "operators" => ("is in operators", "在执行算子"),
                _ => return None,
            };
            let time = text(*nanos);
            Some((
                format!("; meanwhile the host {en} for {time} in all"),
                format!("；其间主机共有 {time} {zh}"),
            ))
        });
    let (en, zh) = doing.unwrap_or_default();
    Sentence {
        en: format!("No rule names the cause of this waiting{en}."),
        zh: format!("没有规则能指出等待的原因{zh}。"),
    }
}

/// The gain of the shown advice, or the number of rules that found nothing.
fn told(summary: &SessionSummary, shown: &[&Advice], gain: i64) -> Sentence {
    if is_memory_alone(summary) {
        let (en, zh) = if summary.memory.iter().any(|total| total.by_stacks) {
            (
                "The Memory page shows what was allocated, and by which lines.",
                "“内存”页显示分配了什么、由哪些代码行分配。",
            )
        } else {
            (
                "The Memory page shows what was allocated; call stacks were not recorded.",
                "“内存”页显示分配了什么；未记录调用栈。",
            )
        };
        return Sentence::new(en, zh);
    }
    if shown.is_empty() && waits_long(summary) {
        return unexplained(summary);
    }
    if shown.is_empty() {
        let passed = count(summary.passed.len() as u64);
        return Sentence {
            en: format!("{passed} rules found nothing that would make it shorter."),
            zh: format!("{passed} 条规则均未发现可缩短之处。"),
        };
    }
    // Waiting between steps is not part of a step.
    let less = summary.mean_step_nanos.saturating_sub(gain);
    let (number, less, gain) = (shown.len(), (less > 0).then(|| text(less)), text(gain));
    let (en, zh) = match less {
        Some(less) if summary.steps_from == StepSource::None => (
            format!("the recording could take about {less}"),
            format!("整个记录可降至约 {less}"),
        ),
        Some(less) => (
            format!("a step could drop to about {less}"),
            format!("每个迭代可降至约 {less}"),
        ),
        None => (
            format!("each batch would come up to {gain} earlier"),
            format!("每批最多可提前 {gain}"),
        ),
    };
    if number == 1 {
        return Sentence {
            en: format!("With the change below {en}."),
            zh: format!("采用下面的改动后，{zh}。"),
        };
    }
    Sentence {
        en: format!("With the {number} changes below {en}."),
        zh: format!("采用下面的 {number} 项改动后，{zh}。"),
    }
}
