//! Sentences about the files of a run that explain its curves; they are not findings.

use trainscope_api::Sentence;
use trainscope_format::digits::count;

/// Several attempts in one folder, of which all but the first went back.
pub(super) fn attempts(attempts: u64) -> Sentence {
    let attempts = count(attempts);
    Sentence {
        en: format!(
            "{attempts} attempts in this folder; the curve is the newest value at each step."
        ),
        zh: format!("此文件夹中有 {attempts} 次尝试；曲线取每个迭代的最新值。"),
    }
}

/// Steps that continue below zero after the largest number of 32 bits.
pub(super) fn step_overflow() -> Sentence {
    Sentence::new(
        "The step counter overflowed 32 bits: 2^32 was added to the steps below 0 that followed.",
        "迭代计数器超出了 32 位：其后的负迭代数已加上 2^32。",
    )
}

/// A profile with more events than the reader takes.
pub(super) fn left_out(session: &str, events: u64) -> Sentence {
    let events = count(events);
    Sentence {
        en: format!(
            "{events} events of the profile {session} exceed a limit of the reader: they are counted only."
        ),
        zh: format!("性能分析 {session} 有 {events} 个事件超出读取上限，仅计数。"),
    }
}
