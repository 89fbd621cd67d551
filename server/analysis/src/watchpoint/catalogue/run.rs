//! Conditions about ranks and time.

use trainscope_api::guide::Topic;
use trainscope_format::Severity;

use super::{BASE, Combination, Condition, Key, Need, Prose, Range, Target, limit, text};
use crate::watchpoint::checks::{program, ranks};
use crate::watchpoint::model::subject::Class;

pub(crate) static RANK_DIVERGENCE: Condition = Condition {
    id: "rank_divergence",
    target: Target::Run,
    severity: Severity::Error,
    needs: &[Need::Hash, Need::History],
    watches: Some(|subject, _| matches!(subject.class, Class::Weight | Class::Gradient)),
    judge: Some(ranks::divergence),
    counts: text("steps differ", "个迭代不一致"),
    en: Prose {
        says: "replicas differ between ranks",
        checks: "The hash of a replicated weight, or of an averaged gradient, differs between ranks; a gradient that never agreed counts if its weight agreed at that step and differs at the next.",
        matters: "Diverged replicas train different models and average them.",
        not_judged: "No hashes were recorded; tensors that never agreed (not replicated).",
        advice: "Check for a skipped all-reduce or broadcast, that all ranks run every step, and that seeds match where required.",
    },
    zh: Prose {
        says: "各 rank 的副本不一致",
        checks: "复制的权重或平均后的梯度的哈希在各 rank 间不同；从未一致的梯度，若其权重在该迭代一致而在下一迭代不同，也算在内。",
        matters: "分叉的副本在训练不同的模型，再把它们平均。",
        not_judged: "没有哈希；从未一致的张量（并非副本）。",
        advice: "是否漏掉归约或广播？所有 rank 是否都执行每个迭代？该相同的随机种子是否相同？",
    },
    ..BASE
};

pub(crate) static SILENT_CORRUPTION: Condition = Condition {
    id: "silent_corruption",
    target: Target::Run,
    needs: &[Need::Hash, Need::History],
    watches: Some(|subject, _| matches!(subject.class, Class::Weight | Class::Gradient)),
    judge: Some(ranks::corruption),
    counts: text("weight differs", "个权重不同"),
    en: Prose {
        says: "possible silent data corruption",
        checks: "A single weight of a single rank is the first to differ, after steps at which all ranks agreed.",
        matters: "Programs do not cause this; memory or a device may be faulty.",
        not_judged: "More than one tensor differs at that step.",
        advice: "Test the device of that rank.",
    },
    zh: Prose {
        says: "疑似静默数据损坏",
        checks: "在各 rank 一致之后，只有一个 rank 的一个权重首先不同。",
        matters: "程序不会这样：可能是内存或设备故障。",
        not_judged: "该迭代有多个张量不同。",
        advice: "检测该 rank 的设备。",
    },
    ..BASE
};

pub(crate) static STALLED: Condition = Condition {
    id: "stalled",
    target: Target::Run,
    parameters: &[
        limit(Key::SecsGt, Range::Positive)
            .says("seconds without a record above", "无记录的秒数大于")
            .at(1800.0),
        limit(Key::FactorGt, Range::Positive)
            .says("pause / usual interval above", "与通常间隔之比大于")
            .at(20.0),
    ],
    topic: Topic::Loss,
    combination: Combination::All,
    judge: Some(program::stalled),
    en: Prose {
        says: "recording stalled",
        checks: "The interval between two points exceeds secs_gt seconds and factor_gt times the usual interval.",
        matters: "A hanging job costs as much as a running one.",
        not_judged: "Wall times were not recorded; the time until a training was started again, which writes another file.",
        advice: "Check the data loader, checkpointing and collective operations at that time.",
    },
    zh: Prose {
        says: "记录停滞",
        checks: "两点之间超过 secs_gt 秒且超过通常间隔的 factor_gt 倍。",
        matters: "停滞与训练一样花钱。",
        not_judged: "没有记录时间；训练重新启动之前的时间（重启会写入新文件）。",
        advice: "查看当时的数据加载、检查点与集合通信。",
    },
    ..BASE
};
