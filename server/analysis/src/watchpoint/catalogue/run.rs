//! Conditions about ranks and time.

use trainscope_format::Severity;

use super::{BASE, Condition, ConditionNeeds, NOTHING, Range, Target, limit, text};
use crate::watchpoint::checks::{program, ranks};
use crate::watchpoint::target::Class;

pub(super) static RANK_DIVERGENCE: Condition = Condition {
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
    ..BASE
};

pub(super) static SILENT_CORRUPTION: Condition = Condition {
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
    says: text(
        "one weight of one rank differs without a reason",
        "某个 rank 的某个权重无故不同",
    ),
    ..BASE
};

pub(super) static STALLED: Condition = Condition {
    id: "stalled",
    target: Target::Run,
    parameters: &[
        limit(
            "secs_gt",
            Range::Positive,
            text("seconds without a record above", "无记录的秒数大于"),
        )
        .at(1800.0),
        limit(
            "factor_gt",
            Range::Positive,
            text("by the usual time above", "与通常间隔之比大于"),
        )
        .at(20.0),
    ],
    severity: Severity::Info,
    watches: |_, _| false,
    judge: Some(program::stalled),
    says: text("nothing was recorded for long", "长时间没有记录"),
    ..BASE
};
