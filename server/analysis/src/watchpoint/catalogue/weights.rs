//! Conditions about weights.

use trainscope_format::Severity;

use super::{BASE, Condition, ConditionNeeds, NOTHING, Range, Target, limit, text};
use crate::watchpoint::checks::{
    change, initial, magnitude, overflow, ranks, standstill, update, zeros,
};

pub(super) static WEIGHT_INITIALIZATION: Condition = Condition {
    id: "weight_initialization",
    target: Target::Weight,
    parameters: &[
        limit(
            "zero_percentage_ge",
            Range::Percentage,
            text("percentage of zeros at least", "零元素百分比不低于"),
        )
        .at(100.0),
        limit("max_gt", Range::Finite, text("maximum above", "最大值大于")),
        limit("min_lt", Range::Finite, text("minimum below", "最小值小于")),
    ],
    severity: Severity::Info,
    recommended: false,
    is_formula: true,
    watches: |subject, _| subject.is(Target::Weight),
    formula: Some(zeros::initial),
    judge: Some(initial::incumbent),
    says: text("how a weight begins", "权重的初值"),
    ..BASE
};

pub(super) static BAD_INITIALIZATION: Condition = Condition {
    id: "bad_initialization",
    target: Target::Weight,
    parameters: &[
        limit(
            "variance_lt",
            Range::Positive,
            text("variance by inputs below", "方差乘输入数小于"),
        )
        .at(1e-5),
        limit(
            "variance_gt",
            Range::Positive,
            text("variance by inputs above", "方差乘输入数大于"),
        )
        .at(50.0),
    ],
    severity: Severity::Info,
    watches: |subject, _| subject.is(Target::Weight),
    judge: Some(initial::weights),
    says: text(
        "a weight begins so that it cannot learn",
        "权重的初值使其无法学习",
    ),
    ..BASE
};

pub(super) static WEIGHT_OVERFLOW: Condition = Condition {
    id: "weight_overflow",
    target: Target::Weight,
    severity: Severity::Error,
    is_formula: true,
    watches: |subject, _| subject.is(Target::Weight),
    formula: Some(overflow::not_finite_count),
    judge: Some(overflow::judge),
    says: text("NaN or Inf in a weight", "权重中有 NaN 或 Inf"),
    ..BASE
};

pub(super) static WEIGHT_NOT_CHANGED: Condition = Condition {
    id: "weight_not_changed",
    target: Target::Weight,
    parameters: &[
        limit(
            "rtol",
            Range::NotNegative,
            text("relative tolerance", "相对容差"),
        )
        .at(1e-5)
        .support(),
        limit(
            "atol",
            Range::NotNegative,
            text("absolute tolerance", "绝对容差"),
        )
        .at(1e-8)
        .support(),
        limit(
            "equal_nan",
            Range::Switch,
            text("NaN and NaN are the same", "NaN 与 NaN 视为相同"),
        )
        .at(0.0)
        .support(),
    ],
    severity: Severity::Warning,
    patience: 3,
    is_formula: true,
    needs: ConditionNeeds {
        hash: true,
        change: true,
        ..NOTHING
    },
    watches: |subject, _| subject.is(Target::Weight),
    formula: Some(change::not_changed),
    judge: Some(standstill::judge),
    says: text("a weight does not learn", "权重没有学习"),
    ..BASE
};

pub(super) static FROZEN_BUT_TRAINABLE: Condition = Condition {
    id: "frozen_but_trainable",
    target: Target::Weight,
    severity: Severity::Warning,
    patience: 3,
    needs: ConditionNeeds {
        hash: true,
        history: true,
        ..NOTHING
    },
    watches: |subject, _| subject.is(Target::Weight),
    judge: Some(standstill::judge),
    says: text(
        "a weight has a gradient and never moves",
        "权重有梯度却从不变化",
    ),
    ..BASE
};

pub(super) static WEIGHT_CHANGE_TOO_LARGE: Condition = Condition {
    id: "weight_change_too_large",
    target: Target::Weight,
    parameters: &[
        limit(
            "abs_mean_update_ratio_gt",
            Range::NotNegative,
            text(
                "mean |Δ| by mean |before| above",
                "mean |Δ| 与 mean |之前| 之比大于",
            ),
        )
        .at(0.1)
        .recommended_at(1.0),
        limit(
            "epsilon",
            Range::NotNegative,
            text("added to the denominator", "加在分母上"),
        )
        .at(1e-9)
        .support(),
    ],
    severity: Severity::Warning,
    is_formula: true,
    needs: ConditionNeeds {
        change: true,
        ..NOTHING
    },
    watches: |subject, _| subject.is(Target::Weight),
    formula: Some(change::too_large),
    judge: Some(update::too_large),
    says: text("an update is too large", "更新过大"),
    ..BASE
};

pub(super) static WEIGHT_CHANGE_TOO_SMALL: Condition = Condition {
    id: "weight_change_too_small",
    target: Target::Weight,
    parameters: &[
        limit(
            "abs_mean_update_ratio_lt",
            Range::NotNegative,
            text(
                "mean |Δ| by mean |before| below",
                "mean |Δ| 与 mean |之前| 之比小于",
            ),
        )
        .at(1e-4),
        limit(
            "epsilon",
            Range::NotNegative,
            text("added to the denominator", "加在分母上"),
        )
        .at(1e-9)
        .support(),
    ],
    severity: Severity::Info,
    is_formula: true,
    needs: ConditionNeeds {
        change: true,
        ..NOTHING
    },
    watches: |subject, _| subject.is(Target::Weight),
    formula: Some(change::too_small),
    judge: Some(update::too_small),
    says: text("an update is too small", "更新过小"),
    ..BASE
};

pub(super) static UPDATE_RATIO: Condition = Condition {
    id: "update_ratio",
    target: Target::Weight,
    parameters: &[
        limit(
            "ratio_lt",
            Range::NotNegative,
            text("usual ratio below", "通常比值小于"),
        )
        .at(1e-5),
        limit(
            "ratio_gt",
            Range::NotNegative,
            text("usual ratio above", "通常比值大于"),
        )
        .at(0.1),
    ],
    severity: Severity::Info,
    needs: ConditionNeeds {
        change: true,
        history: true,
        ..NOTHING
    },
    watches: |subject, _| subject.is(Target::Weight),
    judge: Some(update::band),
    says: text(
        "updates stay outside of a healthy band",
        "更新幅度长期偏离健康区间",
    ),
    ..BASE
};

pub(super) static WEIGHT_TOO_LARGE: Condition = Condition {
    id: "weight_too_large",
    target: Target::Weight,
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
    watches: |subject, _| subject.is(Target::Weight),
    formula: Some(magnitude::too_large),
    says: text(
        "a figure of a weight is above its limit",
        "权重的某个统计量高于阈值",
    ),
    ..BASE
};

pub(super) static WEIGHT_TOO_SMALL: Condition = Condition {
    id: "weight_too_small",
    target: Target::Weight,
    parameters: &[
        limit(
            "abs_mean_lt",
            Range::NotNegative,
            text("mean |x| below", "|x| 的均值小于"),
        ),
        limit("max_lt", Range::Finite, text("maximum below", "最大值小于")),
        limit("min_lt", Range::Finite, text("minimum below", "最小值小于")),
        limit("mean_lt", Range::Finite, text("mean below", "均值小于")),
    ],
    severity: Severity::Info,
    recommended: false,
    is_formula: true,
    watches: |subject, _| subject.is(Target::Weight),
    formula: Some(magnitude::too_small),
    says: text(
        "a figure of a weight is below its limit",
        "权重的某个统计量低于阈值",
    ),
    ..BASE
};

pub(super) static SHARED_WEIGHTS: Condition = Condition {
    id: "shared_weights",
    target: Target::Weight,
    severity: Severity::Info,
    needs: ConditionNeeds {
        hash: true,
        history: true,
        ..NOTHING
    },
    watches: |subject, _| subject.is(Target::Weight),
    judge: Some(ranks::shared),
    says: text("two weights are one and the same", "两个权重是同一个"),
    ..BASE
};
