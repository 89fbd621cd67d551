//! Sentences for the head of a profile: the time of a step, the waiting in it, and the gain of the advice.

use trainscope_api::profile::{Advice, Sentence, SessionSummary, StepSource};
use trainscope_format::digits::{count, nanos, percent};

use super::facts::{Facts, MIN_STEPS};
use super::{Judgement, Lack};

/// Number of advices with a gain that the overview shows.
const SHOWN: usize = 5;

fn text(nanos_of: i64) -> String {
    nanos(nanos_of.unsigned_abs())
}

/// Kind of the device.
fn device(summary: &SessionSummary) -> &'static str {
    let is_ascend = |name: &String| name.to_ascii_lowercase().contains("ascend");
    if summary.device_name.as_ref().is_some_and(is_ascend) {
        "NPU"
    } else {
        "GPU"
    }
}

/// Time of a step, and the part of it that is waiting.
pub(super) fn sentence(summary: &SessionSummary) -> Sentence {
    let parts = summary.mean_parts_nanos;
    let mean = summary.mean_step_nanos;
    let step = text(mean);
    let share = |nanos: i64| percent(nanos as f64 / mean.max(1) as f64);
    let busy = parts.kernel + parts.memcpy + parts.memset + parts.communication;
    let waiting = mean.saturating_sub(busy).max(0);
    let (time, part) = (text(waiting), share(waiting));
    let device = device(summary);
    if summary.steps_from == StepSource::None {
        let whole = text(summary.extent_nanos);
        let (more, more_zh) = if summary.device.is_some() {
            (
                format!("; for {time} of it ({part}) the {device} waits"),
                format!("，其中 {time}（{part}）{device} 在等待"),
            )
        } else {
            Default::default()
        };
        return Sentence {
            en: format!(
                "No steps were recorded: the whole recording of {whole} counts as one{more}."
            ),
            zh: format!("未记录迭代：整个 {whole} 的记录按一次迭代计算{more_zh}。"),
        };
    }
    if summary.device.is_some() {
        return Sentence {
            en: format!("A step takes {step}; for {time} of it ({part}) the {device} waits."),
            zh: format!("每次迭代 {step}，其中 {time}（{part}）{device} 在等待。"),
        };
    }
    if let Some(input) = summary.input {
        let (wait, whole) = (text(input.mean_waited_nanos), text(input.mean_whole_nanos));
        let part = percent(input.share);
        return Sentence {
            en: format!(
                "A step takes {step}; of the {whole} from batch to batch the training waits {wait} ({part}) for data."
            ),
            zh: format!("每次迭代 {step}；每批共 {whole}，其中等待数据 {wait}（{part}）。"),
        };
    }
    if parts.data == 0 {
        return Sentence {
            en: format!("A step takes {step}; no waiting for data was recorded."),
            zh: format!("每次迭代 {step}；没有等待数据的记录。"),
        };
    }
    let (time, part) = (text(parts.data), share(parts.data));
    Sentence {
        en: format!("A step takes {step}; for {time} of it ({part}) it waits for data."),
        zh: format!("每次迭代 {step}，其中 {time}（{part}）在等待数据。"),
    }
}

/// The number of rules that lack steps, or the reason why times of steps are not judged; `None` if all are.
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
    // Some rules need more steps than others: each says so by itself.
    facts.needs_enough_steps().err()?;
    let lacks_steps = |lack: Lack| matches!(lack, Lack::TooFewSteps | Lack::NoSteps);
    let rules = judged.not_judged.iter().filter(|own| lacks_steps(own.1));
    let rules = rules.count() as u64;
    if rules == 0 {
        return None;
    }
    let (verb, rules) = (
        if rules == 1 {
            "rule needs"
        } else {
            "rules need"
        },
        count(rules),
    );
    let (en, zh) = match (facts.model.steps.list.is_empty(), facts.steps.len()) {
        (true, _) => ("none was".to_owned(), "没有记录迭代".to_owned()),
        (_, 1) => ("1 whole one was".to_owned(), "仅完整记录了 1 次".to_owned()),
        (_, steps) => {
            let steps = count(steps as u64);
            (
                format!("{steps} whole ones were"),
                format!("完整记录了 {steps} 次"),
            )
        }
    };
    Some(Sentence {
        en: format!("{rules} {verb} at least {MIN_STEPS} steps, and {en} recorded: not judged."),
        zh: format!("{rules} 条规则至少需要 {MIN_STEPS} 次迭代，而{zh}：未作判断。"),
    })
}

/// Advice in one sentence, with the time of a step that follows it.
pub(super) fn detail(summary: &SessionSummary) -> Sentence {
    let gaining = summary.advice.iter().filter(|own| own.gain_nanos > 0);
    let shown: Vec<&Advice> = gaining.take(SHOWN).collect();
    let gain: i64 = shown.iter().map(|own| own.gain_nanos).sum();
    let detail = told(summary, &shown, gain);
    match &summary.unjudged {
        Some(open) => Sentence {
            en: format!("{} {}", detail.en, open.en),
            zh: format!("{}{}", detail.zh, open.zh),
        },
        None => detail,
    }
}

/// The gain of the advice that is shown, or the number of rules that found nothing.
fn told(summary: &SessionSummary, shown: &[&Advice], gain: i64) -> Sentence {
    if shown.is_empty() {
        let passed = count(summary.passed.len() as u64);
        return Sentence {
            en: format!("{passed} rules found nothing that would make it shorter."),
            zh: format!("{passed} 条规则均未发现可缩短之处。"),
        };
    }
    // A wait between steps is no part of them.
    let less = summary.mean_step_nanos.saturating_sub(gain);
    let (number, less, gain) = (shown.len(), (less > 0).then(|| text(less)), text(gain));
    let (en, zh) = match less {
        Some(less) if summary.steps_from == StepSource::None => (
            format!("the recording could take about {less}"),
            format!("整个记录可降至约 {less}"),
        ),
        Some(less) => (
            format!("a step could drop to about {less}"),
            format!("每次迭代可降至约 {less}"),
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
