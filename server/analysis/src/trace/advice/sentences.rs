//! Sentences for the head of a profile: the time of a step, the waiting in it, and the gain of the advice.

use trainscope_api::profile::{Advice, Sentence, SessionSummary, StepSource};
use trainscope_format::digits::{count, nanos, percent};

/// Number of advices with a gain that the overview shows.
const SHOWN: usize = 5;

fn text(nanos_of: i64) -> String {
    nanos(nanos_of.unsigned_abs())
}

/// Time of a step, and the part of it that is waiting.
pub(super) fn sentence(summary: &SessionSummary) -> Sentence {
    if summary.steps_from == StepSource::None {
        let whole = text(summary.extent_nanos);
        return Sentence {
            en: format!("No steps were recorded: the whole recording of {whole} counts as one."),
            zh: format!("未记录迭代：整个 {whole} 的记录按一次迭代计算。"),
        };
    }
    let parts = summary.mean_parts_nanos;
    let mean = summary.mean_step_nanos;
    let step = text(mean);
    let share = |nanos: i64| percent(nanos as f64 / mean.max(1) as f64);
    if summary.device.is_some() {
        let busy = parts.kernel + parts.memcpy + parts.memset + parts.communication;
        let waiting = mean.saturating_sub(busy).max(0);
        let (time, part) = (text(waiting), share(waiting));
        return Sentence {
            en: format!("A step takes {step}; for {time} of it ({part}) the GPU waits."),
            zh: format!("每次迭代 {step}，其中 {time}（{part}）GPU 在等待。"),
        };
    }
    if let Some(input) = summary.input.filter(|input| input.waited_nanos > 0) {
        let batches = i64::try_from(input.batches).unwrap_or(i64::MAX);
        let wait = text(input.waited_nanos / (batches - 1).max(1));
        let part = percent(input.share);
        return Sentence {
            en: format!(
                "A step takes {step}; the training waits {wait} for each batch, {part} of its time."
            ),
            zh: format!("每次迭代 {step}；训练每批等待数据 {wait}，占其时间的 {part}。"),
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

/// Advice in one sentence, with the time of a step that follows it.
pub(super) fn detail(summary: &SessionSummary) -> Sentence {
    if summary.steps_from == StepSource::None {
        return Sentence::default();
    }
    let gaining = summary.advice.iter().filter(|own| own.gain_nanos > 0);
    let shown: Vec<&Advice> = gaining.take(SHOWN).collect();
    let gain: i64 = shown.iter().map(|own| own.gain_nanos).sum();
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
        Some(less) => (
            format!("a step would take about {less} at best"),
            format!("每次迭代最好约为 {less}"),
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
