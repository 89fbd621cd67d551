//! Conditions about activations.

use trainscope_format::Severity;

use super::tensors::RANGE_PARAMETERS;
use super::{BASE, Condition, Key, Need, Prose, Range, Target, limit};
use crate::watchpoint::checks::{range, units};

pub(crate) static ACTIVATION_RANGE: Condition = Condition {
    id: "activation_range",
    target: Target::Activation,
    parameters: RANGE_PARAMETERS,
    recommended: false,
    is_formula: true,
    needs: &[Need::Exponents],
    formula: Some(range::range),
    en: Prose {
        says: "share of activations in a range",
        checks: "The percentage of elements inside the range (ends included), or maximum - minimum, is below or above its threshold.",
        matters: "Saturated or dead activations pass no gradient.",
        not_judged: "See tensor_range.",
        advice: "Check the range of the inputs of the activation.",
    },
    zh: Prose {
        says: "激活值落在某范围内的比例",
        checks: "落在范围内（含端点）的元素百分比，或最大值减最小值，低于或高于阈值。",
        matters: "饱和或失活的函数不传递梯度。",
        not_judged: "同 tensor_range。",
        advice: "检查激活函数输入的范围。",
    },
    ..BASE
};

pub(crate) static DEAD_RELU: Condition = Condition {
    id: "dead_relu",
    target: Target::Activation,
    parameters: &[
        limit(Key::UnitsGt, Range::Share)
            .says("share of dead units above", "失活单元比例大于")
            .at(0.8),
        limit(Key::ZerosGt, Range::Share)
            .says(
                "without per-unit statistics: share of zeros above",
                "无单元统计时，零的比例大于",
            )
            .at(0.99),
    ],
    severity: Severity::Warning,
    patience: 3,
    needs: &[Need::Channels, Need::History],
    judge: Some(units::dead),
    en: Prose {
        says: "dead ReLU",
        checks: "The share of units whose output was 0 for the last 40 samples is above units_gt at 3 consecutive observations, until the end. Without per-unit statistics: the share of zeros is above zeros_gt.",
        matters: "A unit that never fires receives no gradient and cannot recover.",
        not_judged: "Layers that are not known to be ReLU. Only a note for narrow layers whose units were inactive from the start.",
        advice: "Lower the learning rate, check the biases, or use LeakyReLU.",
    },
    zh: Prose {
        says: "失活的 ReLU",
        checks: "对最近 40 个样本都输出零的单元比例连续 3 次且直到结束都大于 units_gt；无单元统计时：零的比例大于 zeros_gt。",
        matters: "从不激活的单元得不到梯度，也无法恢复。",
        not_judged: "不是 ReLU 层，或无从得知。窄层中单元从一开始就不激活时，仅作提示。",
        advice: "降低学习率、检查偏置、改用 LeakyReLU。",
    },
    ..BASE
};

pub(crate) static SATURATED_ACTIVATION: Condition = Condition {
    id: "saturated_activation",
    target: Target::Activation,
    parameters: &[
        limit(Key::UnitsGt, Range::Share)
            .says("share of saturated units above", "饱和单元比例大于")
            .at(0.5),
        limit(Key::SlopeLt, Range::Share)
            .says(
                "mean slope / maximum slope below",
                "平均斜率与最大斜率之比小于",
            )
            .at(0.05),
    ],
    patience: 3,
    needs: &[Need::Channels, Need::History],
    judge: Some(units::saturated),
    en: Prose {
        says: "saturated tanh/sigmoid",
        checks: "Hidden tanh or sigmoid layers: the share of saturated units is above units_gt, or the mean slope (1 - y^2, y - y^2) relative to the maximum slope is below slope_lt, at 3 consecutive observations, until the end.",
        matters: "Saturated units pass no gradient.",
        not_judged: "The last layer, which may saturate. Only a note if the loss still falls and units saturated gradually.",
        advice: "Normalize the inputs, use smaller weights, or add a normalization layer before the activation.",
    },
    zh: Prose {
        says: "tanh/sigmoid 饱和",
        checks: "隐藏层的 tanh 或 sigmoid：饱和单元比例大于 units_gt，或平均斜率与最大斜率之比小于 slope_lt，连续 3 次且直到结束。",
        matters: "饱和的单元不传递梯度。",
        not_judged: "末层不判断，它可以饱和。模型仍在学习且单元逐步饱和时，仅作提示。",
        advice: "归一化输入，减小权重，在激活函数前加归一化。",
    },
    ..BASE
};

pub(crate) static ATTENTION_COLLAPSE: Condition = Condition {
    id: "attention_collapse",
    target: Target::Activation,
    parameters: &[
        limit(Key::ConcentrationGt, Range::Share)
            .says("concentration above", "集中度大于")
            .at(0.9),
        limit(Key::LogitGt, Range::Positive)
            .says("largest logit above", "最大 logit 大于")
            .at(50.0),
    ],
    patience: 3,
    needs: &[Need::History],
    judge: Some(units::collapsed_attention),
    en: Prose {
        says: "attention collapse",
        checks: "The squared attention weights of each query, summed over keys and averaged over queries, exceed concentration_gt (1: a single key), or it is above 0.5 and the largest logit exceeds logit_gt, at 3 consecutive observations, until the end.",
        matters: "Attention to a single key passes no gradient to the scores.",
        not_judged: "The last softmax, which is the output; fewer than 3 keys.",
        advice: "Normalize queries and keys, scale by 1/sqrt(d), or lower the learning rate.",
    },
    zh: Prose {
        says: "注意力坍缩",
        checks: "每个查询的权重平方和均值大于 concentration_gt（1 表示只关注一个键），或大于 0.5 且最大 logit 大于 logit_gt，连续 3 次且直到结束。",
        matters: "只关注一个键的注意力不向打分传递梯度。",
        not_judged: "末层 softmax（即输出）；少于 3 个键。",
        advice: "归一化查询与键，除以 sqrt(d)，或降低学习率。",
    },
    ..BASE
};
