//! Conditions about any tensor.

use trainscope_format::Severity;

use super::{BASE, Condition, ConditionNeeds, NOTHING, Range, Target, limit, text};
use crate::watchpoint::checks::{data, magnitude, overflow, precision, program, range, zeros};
use crate::watchpoint::target::Class;

pub(super) static TENSOR_OVERFLOW: Condition = Condition {
    id: "tensor_overflow",
    target: Target::Tensor,
    severity: Severity::Error,
    is_formula: true,
    watches: |subject, context| {
        !context || !(subject.is(Target::Weight) || subject.is(Target::Gradient))
    },
    formula: Some(overflow::not_finite_count),
    judge: Some(overflow::judge),
    says: text("NaN or Inf in a tensor", "张量中有 NaN 或 Inf"),
    ..BASE
};

pub(super) static OPERATOR_OVERFLOW: Condition = Condition {
    id: "operator_overflow",
    target: Target::Tensor,
    severity: Severity::Error,
    is_formula: true,
    watches: |_, _| false,
    judge: Some(program::operator_overflow),
    says: text("the device reported an overflow", "设备报告了溢出"),
    ..BASE
};

pub(super) static NEAR_OVERFLOW: Condition = Condition {
    id: "near_overflow",
    target: Target::Tensor,
    parameters: &[limit(
        "share_gt",
        Range::Share,
        text(
            "max |x| by the largest number of the type above",
            "max |x| 与该类型最大值之比大于",
        ),
    )
    .at(0.5)],
    severity: Severity::Warning,
    formula: Some(precision::near_overflow),
    judge: Some(precision::near_overflow_judge),
    says: text(
        "close to what the type can hold",
        "接近该类型所能表示的上限",
    ),
    ..BASE
};

pub(super) static TENSOR_ALL_ZERO: Condition = Condition {
    id: "tensor_all_zero",
    target: Target::Tensor,
    parameters: &[limit(
        "zero_percentage_ge",
        Range::Percentage,
        text("percentage of zeros at least", "零元素百分比不低于"),
    )
    .at(100.0)],
    severity: Severity::Info,
    is_formula: true,
    formula: Some(zeros::all_zero),
    judge: Some(zeros::judge),
    says: text("all elements are zero", "所有元素为零"),
    ..BASE
};

pub(super) static TENSOR_RANGE: Condition = Condition {
    id: "tensor_range",
    target: Target::Tensor,
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
    formula: Some(range::range),
    says: text(
        "a share of elements is inside or outside of a range",
        "落在某范围内的元素比例",
    ),
    ..BASE
};

pub(super) static TENSOR_TOO_LARGE: Condition = Condition {
    id: "tensor_too_large",
    target: Target::Tensor,
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
    formula: Some(magnitude::too_large),
    says: text("a figure is above its limit", "某个统计量高于阈值"),
    ..BASE
};

pub(super) static TENSOR_TOO_SMALL: Condition = Condition {
    id: "tensor_too_small",
    target: Target::Tensor,
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
    formula: Some(magnitude::too_small),
    says: text("a figure is below its limit", "某个统计量低于阈值"),
    ..BASE
};

pub(super) static INPUT_RANGE: Condition = Condition {
    id: "input_range",
    target: Target::Tensor,
    parameters: &[limit(
        "abs_max_gt",
        Range::Positive,
        text("max |x| above", "max |x| 大于"),
    )
    .at(50.0)],
    severity: Severity::Info,
    needs: ConditionNeeds {
        history: true,
        ..NOTHING
    },
    watches: |subject, _| subject.class == Class::Input,
    judge: Some(data::input_range),
    says: text("inputs are out of the usual range", "输入超出常见范围"),
    ..BASE
};

pub(super) static CLASS_IMBALANCE: Condition = Condition {
    id: "class_imbalance",
    target: Target::Tensor,
    parameters: &[limit(
        "share_gt",
        Range::Share,
        text(
            "share of the most frequent label above",
            "最多标签的比例大于",
        ),
    )
    .at(0.85)],
    severity: Severity::Info,
    needs: ConditionNeeds {
        exponents: true,
        history: true,
        ..NOTHING
    },
    watches: |subject, _| subject.class == Class::Labels,
    judge: Some(data::imbalance),
    says: text("nearly all labels are the same", "几乎所有标签都相同"),
    ..BASE
};
