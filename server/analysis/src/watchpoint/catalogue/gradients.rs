//! Conditions about gradients.

use trainscope_format::Severity;

use super::{BASE, Condition, ConditionNeeds, NOTHING, Range, Target, limit, text};
use crate::watchpoint::checks::{explosion, magnitude, overflow, precision, vanishing};

pub(super) static GRADIENT_EXPLODING: Condition = Condition {
    id: "gradient_exploding",
    target: Target::Gradient,
    severity: Severity::Error,
    is_formula: true,
    watches: |subject, _| subject.is(Target::Gradient),
    formula: Some(overflow::not_finite_count),
    judge: Some(overflow::judge),
    says: text("NaN or Inf in a gradient", "梯度中有 NaN 或 Inf"),
    ..BASE
};

pub(super) static GRADIENT_VANISHING: Condition = Condition {
    id: "gradient_vanishing",
    target: Target::Gradient,
    parameters: &[
        limit(
            "abs_mean_lt",
            Range::NotNegative,
            text("mean |x| below", "|x| 的均值小于"),
        )
        .recommended_at(1e-9),
        limit("max_lt", Range::Finite, text("maximum below", "最大值小于")),
        limit("min_lt", Range::Finite, text("minimum below", "最小值小于")),
        limit("mean_lt", Range::Finite, text("mean below", "均值小于")),
    ],
    severity: Severity::Warning,
    patience: 3,
    is_formula: true,
    watches: |subject, _| subject.is(Target::Gradient),
    formula: Some(magnitude::too_small),
    judge: Some(vanishing::judge),
    says: text("a gradient is next to nothing", "梯度几乎为零"),
    ..BASE
};

pub(super) static GRADIENT_TOO_LARGE: Condition = Condition {
    id: "gradient_too_large",
    target: Target::Gradient,
    parameters: &[
        limit(
            "abs_mean_gt",
            Range::NotNegative,
            text("mean |x| above", "|x| 的均值大于"),
        ),
        limit("max_gt", Range::Finite, text("maximum above", "最大值大于")),
        limit("min_gt", Range::Finite, text("minimum above", "最小值大于")),
        limit("mean_gt", Range::Finite, text("mean above", "均值大于")),
    ],
    severity: Severity::Info,
    recommended: false,
    is_formula: true,
    watches: |subject, _| subject.is(Target::Gradient),
    formula: Some(magnitude::too_large),
    says: text(
        "a figure of a gradient is above its limit",
        "梯度的某个统计量高于阈值",
    ),
    ..BASE
};

pub(super) static EXPLODING_NORM: Condition = Condition {
    id: "exploding_norm",
    target: Target::Gradient,
    parameters: &[limit(
        "factor_gt",
        Range::Positive,
        text(
            "norm by the median of those before above",
            "范数与此前中位数之比大于",
        ),
    )
    .at(10.0)],
    severity: Severity::Info,
    needs: ConditionNeeds {
        history: true,
        ..NOTHING
    },
    watches: |subject, _| subject.is(Target::Gradient),
    judge: Some(explosion::norm),
    says: text("the norm of the gradient jumps", "梯度范数突增"),
    ..BASE
};

pub(super) static GRAD_NORM_ZSCORE: Condition = Condition {
    id: "grad_norm_zscore",
    target: Target::Gradient,
    parameters: &[
        limit(
            "z_gt",
            Range::Positive,
            text("robust z of the logarithm above", "对数的稳健 z 值大于"),
        )
        .at(6.0),
        limit(
            "window",
            Range::Count,
            text("norms before that it is held against", "用于比较的此前步数"),
        )
        .at(128.0)
        .support(),
    ],
    severity: Severity::Info,
    needs: ConditionNeeds {
        history: true,
        ..NOTHING
    },
    watches: |subject, _| subject.is(Target::Gradient),
    judge: Some(explosion::zscore),
    says: text("the norm of the gradient stands out", "梯度范数异常突出"),
    ..BASE
};

pub(super) static UNDERFLOW_FP16: Condition = Condition {
    id: "underflow_fp16",
    target: Target::Gradient,
    parameters: &[limit(
        "share_gt",
        Range::Share,
        text(
            "share below the smallest normal number above",
            "小于最小规格化数的比例大于",
        ),
    )
    .at(0.05)],
    severity: Severity::Info,
    patience: 3,
    watches: |subject, _| subject.is(Target::Gradient),
    formula: Some(precision::underflow),
    judge: Some(precision::underflow_judge),
    says: text(
        "gradients are too small for half precision",
        "梯度小到半精度难以表示",
    ),
    ..BASE
};

pub(super) static CLIP_ALWAYS: Condition = Condition {
    id: "clip_always",
    target: Target::Gradient,
    parameters: &[limit(
        "share_gt",
        Range::Share,
        text(
            "share of steps that are clipped above",
            "被裁剪的步数比例大于",
        ),
    )
    .at(0.9)],
    severity: Severity::Info,
    needs: ConditionNeeds {
        history: true,
        ..NOTHING
    },
    watches: |subject, _| subject.is(Target::Gradient),
    judge: Some(explosion::always_clipped),
    says: text(
        "gradients are clipped at almost every step",
        "几乎每一步都在裁剪梯度",
    ),
    ..BASE
};
