//! Conditions about activations.

use trainscope_format::Severity;

use super::{BASE, Condition, ConditionNeeds, NOTHING, Range, Target, limit, text};
use crate::watchpoint::checks::{range, units};

pub(super) static ACTIVATION_RANGE: Condition = Condition {
    id: "activation_range",
    target: Target::Activation,
    parameters: &[
        limit(
            "range_start_inclusive",
            Range::Finite,
            text("start of the range", "范围起点（含）"),
        )
        .support(),
        limit(
            "range_end_inclusive",
            Range::Finite,
            text("end of the range", "范围终点（含）"),
        )
        .support(),
        limit(
            "range_percentage_lt",
            Range::Percentage,
            text("percentage inside below", "范围内百分比小于"),
        ),
        limit(
            "range_percentage_gt",
            Range::Percentage,
            text("percentage inside above", "范围内百分比大于"),
        ),
        limit(
            "max_min_lt",
            Range::Positive,
            text("maximum − minimum below", "最大值减最小值小于"),
        ),
        limit(
            "max_min_gt",
            Range::NotNegative,
            text("maximum − minimum above", "最大值减最小值大于"),
        ),
    ],
    severity: Severity::Info,
    recommended: false,
    is_formula: true,
    needs: ConditionNeeds {
        exponents: true,
        ..NOTHING
    },
    watches: |subject, _| subject.is(Target::Activation),
    formula: Some(range::range),
    says: text(
        "a share of an activation is inside or outside of a range",
        "激活值落在某范围内的比例",
    ),
    ..BASE
};

pub(super) static DEAD_RELU: Condition = Condition {
    id: "dead_relu",
    target: Target::Activation,
    parameters: &[
        limit(
            "units_gt",
            Range::Share,
            text("share of dead units above", "失活单元比例大于"),
        )
        .at(0.8),
        limit(
            "zeros_gt",
            Range::Share,
            text(
                "without units: share of zeros above",
                "无单元统计时，零的比例大于",
            ),
        )
        .at(0.99),
    ],
    severity: Severity::Warning,
    patience: 3,
    needs: ConditionNeeds {
        channels: true,
        history: true,
        ..NOTHING
    },
    watches: |subject, _| subject.is(Target::Activation),
    judge: Some(units::dead),
    says: text("units that never fire", "从不激活的单元"),
    ..BASE
};

pub(super) static SATURATED_ACTIVATION: Condition = Condition {
    id: "saturated_activation",
    target: Target::Activation,
    parameters: &[
        limit(
            "units_gt",
            Range::Share,
            text("share of units at an end above", "处于两端的单元比例大于"),
        )
        .at(0.5),
        limit(
            "slope_lt",
            Range::Share,
            text(
                "mean slope by the steepest below",
                "平均斜率与最大斜率之比小于",
            ),
        )
        .at(0.05),
    ],
    severity: Severity::Info,
    patience: 3,
    needs: ConditionNeeds {
        channels: true,
        history: true,
        ..NOTHING
    },
    watches: |subject, _| subject.is(Target::Activation),
    judge: Some(units::saturated),
    says: text("tanh or sigmoid at their ends", "tanh 或 sigmoid 处于两端"),
    ..BASE
};

pub(super) static ATTENTION_COLLAPSE: Condition = Condition {
    id: "attention_collapse",
    target: Target::Activation,
    parameters: &[
        limit(
            "concentration_gt",
            Range::Share,
            text("concentration above", "集中度大于"),
        )
        .at(0.9),
        limit(
            "logit_gt",
            Range::Positive,
            text(
                "largest logit above, where the concentration is above a half",
                "集中度过半时，最大 logit 大于",
            ),
        )
        .at(50.0),
    ],
    severity: Severity::Info,
    patience: 3,
    needs: ConditionNeeds {
        history: true,
        ..NOTHING
    },
    watches: |subject, _| subject.is(Target::Activation),
    judge: Some(units::collapsed_attention),
    says: text("attention looks at one thing only", "注意力只看一处"),
    ..BASE
};
