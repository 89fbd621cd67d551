//! Conditions about activations.

use trainscope_format::Severity;

use super::tensors::RANGE_PARAMETERS;
use super::{BASE, Condition, ConditionNeeds, Key, NOTHING, Range, Target, limit, text};
use crate::watchpoint::checks::{range, units};

pub(crate) static ACTIVATION_RANGE: Condition = Condition {
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
        "share of activations in a range",
        "激活值落在某范围内的比例",
    ),
    checks: text(
        "The percentage of elements inside the range (ends included), or maximum - minimum, is below or above its threshold.",
        "落在范围内（含端点）的元素百分比，或最大值减最小值，低于或高于阈值。",
    ),
    matters: text(
        "Saturated or dead activations pass no gradient.",
        "饱和或失活的函数不传递梯度。",
    ),
    not_judged: text("See tensor_range.", "同 tensor_range。"),
    advice: text(
        "Check the range of the inputs of the activation.",
        "检查激活函数输入的范围。",
    ),
    ..BASE
};

pub(crate) static DEAD_RELU: Condition = Condition {
    id: "dead_relu",
    target: Target::Activation,
    parameters: &[
        limit(
            Key::UnitsGt,
            Range::Share,
            text("share of dead units above", "失活单元比例大于"),
        )
        .at(0.8),
        limit(
            Key::ZerosGt,
            Range::Share,
            text(
                "without per-unit statistics: share of zeros above",
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
    says: text("dead ReLU", "失活的 ReLU"),
    checks: text(
        "The share of units whose output was 0 for the last 40 samples is above units_gt at 3 consecutive observations, until the end. Without per-unit statistics: the share of zeros is above zeros_gt.",
        "对最近 40 个样本都输出零的单元比例连续 3 次且直到结束都大于 units_gt；无单元统计时：零的比例大于 zeros_gt。",
    ),
    matters: text(
        "A unit that never fires receives no gradient and cannot recover.",
        "从不激活的单元得不到梯度，也无法恢复。",
    ),
    not_judged: text(
        "Layers that are not known to be ReLU. Only a note for narrow layers whose units were inactive from the start.",
        "不是 ReLU 层，或无从得知。若窄层中单元从一开始就沉默，则仅作提示。",
    ),
    advice: text(
        "Lower the learning rate, check the biases, or use LeakyReLU.",
        "降低学习率、检查偏置、使用 leaky 激活。",
    ),
    ..BASE
};

pub(crate) static SATURATED_ACTIVATION: Condition = Condition {
    id: "saturated_activation",
    target: Target::Activation,
    parameters: &[
        limit(
            Key::UnitsGt,
            Range::Share,
            text("share of saturated units above", "饱和单元比例大于"),
        )
        .at(0.5),
        limit(
            Key::SlopeLt,
            Range::Share,
            text(
                "mean slope / maximum slope below",
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
    says: text("saturated tanh/sigmoid", "tanh/sigmoid 饱和"),
    checks: text(
        "Hidden tanh or sigmoid layers: the share of saturated units is above units_gt, or the mean slope (1 - y^2, y - y^2) relative to the maximum slope is below slope_lt, at 3 consecutive observations, until the end.",
        "隐藏层的 tanh 或 sigmoid：饱和单元比例大于 units_gt，或平均斜率与最大斜率之比小于 slope_lt，连续 3 次且直到结束。",
    ),
    matters: text(
        "Saturated units pass no gradient.",
        "饱和的单元不传递梯度。",
    ),
    not_judged: text(
        "The last layer, which may saturate. Only a note if the loss still falls and units saturated gradually.",
        "末层可以确定。模型仍在学习且单元逐步饱和时仅作提示。",
    ),
    advice: text(
        "Normalize the inputs, use smaller weights, or add a normalization layer before the activation.",
        "归一化输入，减小权重，在激活前加归一化。",
    ),
    ..BASE
};

pub(crate) static ATTENTION_COLLAPSE: Condition = Condition {
    id: "attention_collapse",
    target: Target::Activation,
    parameters: &[
        limit(
            Key::ConcentrationGt,
            Range::Share,
            text("concentration above", "集中度大于"),
        )
        .at(0.9),
        limit(
            Key::LogitGt,
            Range::Positive,
            text("largest logit above", "最大 logit 大于"),
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
    says: text("attention collapse", "注意力坍缩"),
    checks: text(
        "The squared attention weights of each query, summed over keys and averaged over queries, exceed concentration_gt (1: a single key), or it is above 0.5 and the largest logit exceeds logit_gt, at 3 consecutive observations, until the end.",
        "每个查询的权重平方和均值大于 concentration_gt（1 表示只看一个键），或大于 0.5 且最大 logit 大于 logit_gt，连续 3 次且直到结束。",
    ),
    matters: text(
        "Attention to a single key passes no gradient to the scores.",
        "只看一处的注意力不会把梯度传给打分。",
    ),
    not_judged: text(
        "The last softmax, which is the output; fewer than 3 keys.",
        "末层 softmax（即输出）；少于 3 个键。",
    ),
    advice: text(
        "Normalize queries and keys, scale by 1/sqrt(d), or lower the learning rate.",
        "归一化 q、k，除以宽度的平方根，降低学习率。",
    ),
    ..BASE
};
