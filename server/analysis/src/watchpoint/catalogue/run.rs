//! Conditions about ranks and time.

use trainscope_format::Severity;

use super::{
    BASE, Combination, Condition, ConditionNeeds, Key, NOTHING, Range, Target, limit, text,
};
use crate::diagnosis::Topic;
use crate::watchpoint::checks::{program, ranks};
use crate::watchpoint::model::subject::Class;

pub(crate) static RANK_DIVERGENCE: Condition = Condition {
    id: "rank_divergence",
    target: Target::Run,
    severity: Severity::Error,
    needs: ConditionNeeds {
        hash: true,
        history: true,
        ..NOTHING
    },
    watches: |subject, _| matches!(subject.class, Class::Weight | Class::Gradient),
    judge: Some(ranks::divergence),
    says: text("replicas differ between ranks", "各 rank 的副本不一致"),
    checks: text(
        "The hash of a replicated weight, or of an averaged gradient, differs between ranks; a gradient that never agreed counts if its weight agreed at that step and differs at the next.",
        "复制的权重或平均后的梯度的哈希在各 rank 间不同；从未一致的梯度，若其权重在该迭代一致而在下一迭代不同，也算在内。",
    ),
    matters: text(
        "Diverged replicas train different models and average them.",
        "分叉的副本在训练不同的模型，再把它们平均。",
    ),
    not_judged: text(
        "No hashes were recorded; tensors that never agreed (not replicated).",
        "没有哈希；从未一致的张量（并非副本）。",
    ),
    advice: text(
        "Check for a skipped all-reduce or broadcast, that all ranks run every step, and that seeds match where required.",
        "是否漏掉规约或广播？所有 rank 是否都执行每次迭代？该相同的随机种子是否相同？",
    ),
    counts: text("steps differ", "次迭代不一致"),
    ..BASE
};

pub(crate) static SILENT_CORRUPTION: Condition = Condition {
    id: "silent_corruption",
    target: Target::Run,
    severity: Severity::Info,
    needs: ConditionNeeds {
        hash: true,
        history: true,
        ..NOTHING
    },
    watches: |subject, _| matches!(subject.class, Class::Weight | Class::Gradient),
    judge: Some(ranks::corruption),
    says: text("possible silent data corruption", "疑似静默数据损坏"),
    checks: text(
        "A single weight of a single rank is the first to differ, after steps at which all ranks agreed.",
        "在各 rank 一致之后，只有一个 rank 的一个权重首先不同。",
    ),
    matters: text(
        "Programs do not cause this; memory or a device may be faulty.",
        "程序不会这样：可能是内存或设备故障。",
    ),
    not_judged: text(
        "More than one tensor differs at that step.",
        "该迭代有多个张量不同。",
    ),
    advice: text("Test the device of that rank.", "检测该 rank 的设备。"),
    counts: text("weight differs", "个权重不同"),
    ..BASE
};

pub(crate) static STALLED: Condition = Condition {
    id: "stalled",
    target: Target::Run,
    parameters: &[
        limit(
            Key::SecsGt,
            Range::Positive,
            text("seconds without a record above", "无记录的秒数大于"),
        )
        .at(1800.0),
        limit(
            Key::FactorGt,
            Range::Positive,
            text("pause / usual interval above", "与通常间隔之比大于"),
        )
        .at(20.0),
    ],
    topic: Topic::Loss,
    severity: Severity::Info,
    watches: |_, _| false,
    combination: Combination::All,
    judge: Some(program::stalled),
    says: text("recording stalled", "记录停滞"),
    checks: text(
        "The interval between two points exceeds secs_gt seconds and factor_gt times the usual interval.",
        "两点之间超过 secs_gt 秒且超过通常间隔的 factor_gt 倍。",
    ),
    matters: text(
        "A hanging job costs as much as a running one.",
        "停滞与训练一样花钱。",
    ),
    not_judged: text("Wall times were not recorded.", "没有记录时间。"),
    advice: text(
        "Check the data loader, checkpointing and collective operations at that time.",
        "查看当时的数据加载、检查点与集合通信。",
    ),
    ..BASE
};
