//! Conditions about activations.

use trainscope_format::Severity;

use super::tensors::RANGE_PARAMETERS;
use super::{BASE, Condition, ConditionNeeds, NOTHING, Range, Target, limit, text};
use crate::watchpoint::checks::{range, units};

pub(super) static ACTIVATION_RANGE: Condition = Condition {
    id: "activation_range",
    target: Target::Activation,
    parameters: RANGE_PARAMETERS,
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
    checks: text(
        "The percentage of elements inside the range (ends included) is below or above its limit, or maximum - minimum is.",
        "落在范围内（含端点）的元素百分比，或最大值减最小值，低于或高于阈值。",
    ),
    matters: text(
        "A saturated or dead function passes no gradient.",
        "饱和或失活的函数不传递梯度。",
    ),
    not_judged: text("As tensor_range.", "同 tensor_range。"),
    advice: text(
        "Check the range of the function's input.",
        "检查激活函数输入的范围。",
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
    checks: text(
        "The share of units that have answered zero to the last 40 samples is above units_gt at 3 observations in a row, until the end; without statistics by unit: the share of zeros above zeros_gt.",
        "对最近 40 个样本都输出零的单元比例连续 3 次且直到结束都大于 units_gt；无单元统计时：零的比例大于 zeros_gt。",
    ),
    matters: text(
        "A unit that never fires gets no gradient and stays so.",
        "从不激活的单元得不到梯度，也无法恢复。",
    ),
    not_judged: text(
        "The layer is not rectified, or it is not known to be. A note where units were silent from the beginning on in a narrow layer.",
        "不是 ReLU 层，或无从得知。若窄层中单元从一开始就沉默，则仅作提示。",
    ),
    advice: text(
        "Lower the learning rate, check the offsets, use a leaky activation.",
        "降低学习率、检查偏置、使用 leaky 激活。",
    ),
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
    checks: text(
        "Hidden tanh or sigmoid: the share of units at an end is above units_gt, or the mean slope (1 - y^2, y - y^2) by the steepest is below slope_lt, at 3 observations in a row, until the end.",
        "隐藏层的 tanh 或 sigmoid：处于两端的单元比例大于 units_gt，或平均斜率与最大斜率之比小于 slope_lt，连续 3 次且直到结束。",
    ),
    matters: text("Flat ends pass no gradient.", "平坦的两端不传递梯度。"),
    not_judged: text(
        "The last layer, which may be certain. A note where the model learns all the same, and units came to their ends bit by bit.",
        "末层可以确定。模型仍在学习且单元逐步饱和时仅作提示。",
    ),
    advice: text(
        "Normalise inputs, use smaller weights, put a norm before the activation.",
        "归一化输入，减小权重，在激活前加归一化。",
    ),
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
    checks: text(
        "The mean of the squared weights of each query, summed over keys, is above concentration_gt (1: one key only), or the largest logit is above logit_gt, at 3 observations in a row, until the end.",
        "每个查询的权重平方和均值大于 concentration_gt（1 表示只看一个键），或最大 logit 大于 logit_gt，连续 3 次且直到结束。",
    ),
    matters: text(
        "Attention that looks at one thing passes no gradient to the scores.",
        "只看一处的注意力不会把梯度传给打分。",
    ),
    not_judged: text(
        "The last softmax, which is the answer; fewer than 3 keys.",
        "末层 softmax（即输出）；少于 3 个键。",
    ),
    advice: text(
        "Normalise queries and keys, divide by the root of their width, lower the learning rate.",
        "归一化 q、k，除以宽度的平方根，降低学习率。",
    ),
    ..BASE
};
