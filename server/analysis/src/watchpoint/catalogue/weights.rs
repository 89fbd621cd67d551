//! Conditions about weights.

use trainscope_api::guide::Topic;
use trainscope_format::Severity;

use super::tensors::{MAX_ABOVE, MIN_BELOW, NOT_FINITE, STATISTIC_ABOVE, STATISTIC_BELOW, ZEROS};
use super::{BASE, Condition, Key, Need, Parameter, Prose, Range, Target, limit, text};
use crate::watchpoint::checks::{change, initial, ranks, standstill, update, zeros};

/// Summand of a denominator that may be 0.
const EPSILON: Parameter =
    limit(Key::Epsilon, Range::NotNegative).says("added to the denominator", "加在分母上");

pub(crate) static WEIGHT_INITIALIZATION: Condition = Condition {
    id: "weight_initialization",
    target: Target::Weight,
    parameters: &[ZEROS.at(100.0), MAX_ABOVE, MIN_BELOW],
    recommended: false,
    is_formula: true,
    formula: Some(zeros::initial),
    judge: Some(initial::incumbent),
    en: Prose {
        says: "weight initialization",
        checks: "The percentage of zeros, the maximum or the minimum of a weight at its first record.",
        matters: "All-zero weights keep units identical; large weights explode.",
        not_judged: "Later records of the weight.",
        advice: "Check the initializer and its arguments.",
    },
    zh: Prose {
        says: "权重初始化",
        checks: "权重首次记录时的零元素百分比、最大值或最小值。",
        matters: "全零权重使各单元始终相同；过大的权重使输出爆炸。",
        not_judged: "该权重首次之后的记录。",
        advice: "检查初始化方法及其参数。",
    },
    ..BASE
};

pub(crate) static BAD_INITIALIZATION: Condition = Condition {
    id: "bad_initialization",
    target: Target::Weight,
    parameters: &[
        limit(Key::VarianceLt, Range::Positive)
            .says("fan_in × variance below", "fan_in × 方差小于")
            .at(1e-5),
        limit(Key::VarianceGt, Range::Positive)
            .says("fan_in × variance above", "fan_in × 方差大于")
            .at(50.0),
    ],
    judge: Some(initial::weights),
    en: Prose {
        says: "bad weight initialization",
        checks: "At step 0 or 1 a matrix is all zero without a gradient, is constant, or fan_in × variance is outside variance_lt to variance_gt (Glorot 1, He 2, PyTorch 1/3).",
        matters: "The model does not learn, or diverges at once.",
        not_judged: "The recording starts later; vectors, embeddings, and single rows that are no matrix of a layer (tokens, gains); an all-zero last layer or branch that gets a gradient.",
        advice: "Use the initializer of the framework that fits the next activation (He for ReLU, Glorot for tanh).",
    },
    zh: Prose {
        says: "权重初始化不当",
        checks: "迭代 0 或 1 时矩阵全零且无梯度、处处相同，或 fan_in × 方差超出 variance_lt 至 variance_gt（Glorot 1，He 2，PyTorch 1/3）。",
        matters: "模型不学习，或立刻发散。",
        not_judged: "记录开始较晚；向量、嵌入，以及不属于层矩阵的单行参数（token、增益）；能得到梯度的全零末层或分支。",
        advice: "按后接激活函数选用框架自带的初始化（ReLU 用 He，tanh 用 Glorot）。",
    },
    ..BASE
};

pub(crate) static WEIGHT_OVERFLOW: Condition = Condition {
    id: "weight_overflow",
    target: Target::Weight,
    en: Prose {
        says: "NaN or Inf in a weight",
        matters: "A weight that is NaN stays NaN.",
        not_judged: "Always judged.",
        advice: "Likely causes: a learning rate that is too high, an overflowed gradient, a corrupt checkpoint.",
        ..NOT_FINITE.en
    },
    zh: Prose {
        says: "权重中有 NaN 或 Inf",
        matters: "权重一旦为 NaN，就始终为 NaN。",
        not_judged: "始终判断。",
        advice: "可能的原因：学习率过高、梯度溢出、检查点损坏。",
        ..NOT_FINITE.zh
    },
    ..NOT_FINITE
};

pub(crate) static WEIGHT_NOT_CHANGED: Condition = Condition {
    id: "weight_not_changed",
    target: Target::Weight,
    parameters: &[
        limit(Key::Rtol, Range::NotNegative)
            .says("relative tolerance", "相对容差")
            .at(1e-5)
            .support(),
        limit(Key::Atol, Range::NotNegative)
            .says("absolute tolerance", "绝对容差")
            .at(1e-8)
            .support(),
        limit(Key::EqualNan, Range::Switch)
            .says("NaN equals NaN", "NaN 与 NaN 视为相同")
            .at(0.0)
            .support(),
    ],
    severity: Severity::Warning,
    patience: 3,
    is_formula: true,
    needs: &[Need::Hash, Need::Change],
    formula: Some(change::not_changed),
    judge: Some(standstill::judge),
    counts: text("changed elements", "个变化的元素"),
    en: Prose {
        says: "weight not updated",
        checks: "|now - before| <= atol + rtol * |before| for every element, at consecutive recorded steps; in context: bit-identical, until the end of the recording, and for twice as long as ever before. Of weights with histograms alone: the histograms of all of them, offsets apart, are bit-identical in the last 3 records or more.",
        matters: "The weight is missing in the optimizer, detached, frozen by mistake, or its updates are rounded away.",
        not_judged: "The previous step or its change was not recorded. In context: the weight has no gradient while others have (frozen on purpose), its gradient is zero or far below all others, the learning rate has decayed to zero, or tiny updates are rounded away in a model that is already good.",
        advice: "Check that it is in the optimizer (compare model.parameters() with param_groups), that the learning rate is not 0, and that step() is called.",
    },
    zh: Prose {
        says: "权重未更新",
        checks: "连续若干记录的迭代中每个元素都满足 |现在 - 之前| <= atol + rtol * |之前|；结合上下文时：逐位相同、直到记录结束，且比以往长一倍。仅有直方图的权重：除偏置外，全部权重的直方图在最近 3 次或更多记录中逐位相同。",
        matters: "该权重未加入优化器、梯度被切断、被误冻结，或更新在舍入时丢失。",
        not_judged: "上一迭代或其变化未记录。结合上下文时：其他权重有梯度而它没有（有意冻结），梯度为零或远小于其他，学习率已自然降到零，或模型已很好而更新因学习率极小被舍入。",
        advice: "检查它是否在优化器中（对比 model.parameters() 与 param_groups）、学习率是否为 0、是否调用了 step()。",
    },
    ..BASE
};

pub(crate) static FROZEN_BUT_TRAINABLE: Condition = Condition {
    id: "frozen_but_trainable",
    target: Target::Weight,
    severity: Severity::Warning,
    patience: 3,
    needs: &[Need::Hash, Need::History],
    judge: Some(standstill::with_gradient),
    counts: text("changed elements", "个变化的元素"),
    en: Prose {
        says: "weight with gradient never updated",
        checks: "As weight_not_changed in context, for weights with a recorded, nonzero gradient.",
        matters: "It receives a gradient but is not updated.",
        not_judged: "No gradient was recorded for it.",
        advice: "Add it to the optimizer, or set requires_grad = False if it should be frozen.",
    },
    zh: Prose {
        says: "权重有梯度却未更新",
        checks: "同结合上下文时的 weight_not_changed，针对记录了非零梯度的权重。",
        matters: "它得到梯度却没有更新。",
        not_judged: "没有记录其梯度。",
        advice: "将其加入优化器；若有意冻结，请设 requires_grad 为 false。",
    },
    ..BASE
};

pub(crate) static FROZEN_WEIGHTS: Condition = Condition {
    id: "frozen_weights",
    target: Target::Weight,
    needs: &[Need::Hash, Need::History],
    judge: Some(standstill::frozen),
    counts: text("frozen weights", "个冻结的权重"),
    en: Prose {
        says: "frozen weights",
        checks: "The hash of a weight is the same at all recorded steps; no gradient is recorded for it; and other weights of the run change. One note for all such weights.",
        matters: "Usual in fine-tuning (frozen backbones, adapters), and a mistake where the whole model should learn.",
        not_judged: "Fewer than 3 steps, which the note says; no hashes; the program itself gives the role of a frozen weight; no weight changes at all, which is weight_not_changed.",
        advice: "If it is not meant: set requires_grad to true, and give the weights to the optimizer.",
    },
    zh: Prose {
        says: "冻结的权重",
        checks: "权重的哈希在所有记录的迭代中都相同，没有记录其梯度，而其他权重有变化。所有这类权重合为一条提示。",
        matters: "微调中很常见（冻结主干、适配器）；若整个模型都应学习，则是错误。",
        not_judged: "少于 3 个迭代（提示中会说明）；没有哈希；程序已声明为冻结权重；所有权重都不变（见 weight_not_changed）。",
        advice: "若非有意：请设 requires_grad 为 true，并将这些权重交给优化器。",
    },
    ..BASE
};

pub(crate) static WEIGHT_CHANGE_TOO_LARGE: Condition = Condition {
    id: "weight_change_too_large",
    target: Target::Weight,
    parameters: &[
        limit(Key::AbsMeanUpdateRatioGt, Range::NotNegative)
            .says(
                "mean |Δ| / mean |before| above",
                "mean |Δ| 与 mean |之前| 之比大于",
            )
            .at(0.1)
            .recommended_at(1.0),
        EPSILON.at(1e-9).support(),
    ],
    topic: Topic::Hyperparameters,
    severity: Severity::Warning,
    is_formula: true,
    needs: &[Need::Change],
    formula: Some(change::too_large),
    judge: Some(update::too_large),
    en: Prose {
        says: "weight update too large",
        checks: "mean |now - before| / (mean |before| + epsilon) is above the threshold.",
        matters: "An update as large as the weight destroys what was learned.",
        not_judged: "The previous step is missing, or either holds NaN or Inf. In context: the records are more than one step apart, or the weight was zero. Only a note if the loss did not suffer and the learning rate had not jumped.",
        advice: "Lower the learning rate, add a warmup, or clip the gradient.",
    },
    zh: Prose {
        says: "权重更新过大",
        checks: "mean |现在 - 之前| / (mean |之前| + epsilon) 大于阈值。",
        matters: "与权重同样大的更新会忘掉所学。",
        not_judged: "缺少上一迭代，或任一含 NaN/Inf。结合上下文时：间隔多于一个迭代、之前全零，或损失未受影响且学习率没有突增（仅作提示）。",
        advice: "降低学习率、预热、裁剪梯度。",
    },
    ..BASE
};

pub(crate) static WEIGHT_CHANGE_TOO_SMALL: Condition = Condition {
    id: "weight_change_too_small",
    target: Target::Weight,
    parameters: &[
        limit(Key::AbsMeanUpdateRatioLt, Range::NotNegative)
            .says(
                "mean |Δ| / mean |before| below",
                "mean |Δ| 与 mean |之前| 之比小于",
            )
            .at(1e-4)
            .recommended_at(2e-5),
        EPSILON.at(1e-9).support(),
    ],
    topic: Topic::Hyperparameters,
    is_formula: true,
    needs: &[Need::Change],
    formula: Some(change::too_small),
    judge: Some(update::too_small),
    en: Prose {
        says: "weight update too small",
        checks: "The same ratio is below the threshold; in context: for all weights, averaged over all steps, while the loss stays at chance level.",
        matters: "The model hardly changes.",
        not_judged: "As weight_change_too_large. In context: fine-tuning may use updates this small.",
        advice: "Raise the learning rate; check the optimizer and the gradient.",
    },
    zh: Prose {
        says: "权重更新过小",
        checks: "同一比值小于阈值；结合上下文时：所有权重、全部迭代平均，且损失停在随机猜测水平。",
        matters: "模型几乎不变。",
        not_judged: "同 weight_change_too_large。结合上下文时：微调可以使用很小的步长。",
        advice: "提高学习率；检查优化器与梯度。",
    },
    ..BASE
};

pub(crate) static UPDATE_RATIO: Condition = Condition {
    id: "update_ratio",
    target: Target::Weight,
    parameters: &[
        limit(Key::RatioLt, Range::NotNegative)
            .says("median update / weight below", "更新与权重之比的中位数小于")
            .at(1e-5),
        limit(Key::RatioGt, Range::NotNegative)
            .says("median update / weight above", "更新与权重之比的中位数大于")
            .at(0.1),
    ],
    topic: Topic::Hyperparameters,
    needs: &[Need::Change, Need::History],
    judge: Some(update::band),
    en: Prose {
        says: "implausible update-to-weight ratio",
        checks: "The median update-to-weight ratio is outside ratio_lt to ratio_gt; about 1e-3 is typical. A warning if weights shrink steadily or fluctuate strongly while the loss does not fall; updates before the minimum of the loss are no fault.",
        matters: "Updates that are too small learn nothing; updates that are too large overwrite what was learned.",
        not_judged: "Fewer than 6 steps; vectors.",
        advice: "Set the learning rate so that updates are about 1e-3 of the weight; lower the weight decay.",
    },
    zh: Prose {
        says: "更新与权重之比超出范围",
        checks: "更新与权重之比的中位数超出 ratio_lt 至 ratio_gt；1e-3 左右较为常见。权重不断缩小或剧烈波动且没有学到东西时为警告；损失到达最小值之前的更新不算问题。",
        matters: "更新过小，学不到内容；过大，则覆盖已学到的内容。",
        not_judged: "少于 6 个迭代；向量。",
        advice: "调节学习率使更新约为权重的 1e-3；减小权重衰减。",
    },
    ..BASE
};

pub(crate) static WEIGHT_TOO_LARGE: Condition = Condition {
    id: "weight_too_large",
    target: Target::Weight,
    en: Prose {
        says: "weight statistic above threshold",
        matters: "Unbounded weights make outputs grow.",
        advice: "Check the learning rate, the gradient, the weight decay and the previous value.",
        ..STATISTIC_ABOVE.en
    },
    zh: Prose {
        says: "权重的某个统计量高于阈值",
        matters: "权重无限增长会使输出增长。",
        advice: "检查学习率、梯度、权重衰减与更新前的值。",
        ..STATISTIC_ABOVE.zh
    },
    ..STATISTIC_ABOVE
};

pub(crate) static WEIGHT_TOO_SMALL: Condition = Condition {
    id: "weight_too_small",
    target: Target::Weight,
    en: Prose {
        says: "weight statistic below threshold",
        matters: "Weights near zero pass no signal.",
        advice: "Check the learning rate, the gradient, the weight decay and the previous value.",
        ..STATISTIC_BELOW.en
    },
    zh: Prose {
        says: "权重的某个统计量低于阈值",
        matters: "接近零的权重不传递信号。",
        advice: "检查学习率、梯度、权重衰减与更新前的值。",
        ..STATISTIC_BELOW.zh
    },
    ..STATISTIC_BELOW
};

pub(crate) static SHARED_WEIGHTS: Condition = Condition {
    id: "shared_weights",
    target: Target::Weight,
    needs: &[Need::Hash, Need::History],
    judge: Some(ranks::shared),
    counts: text("identical weight", "个相同的权重"),
    en: Prose {
        says: "tied weights",
        checks: "Two weights have identical content at every step.",
        matters: "If not intended, a layer was inserted twice.",
        not_judged: "Embeddings, which are often tied on purpose.",
        advice: "Create a separate layer object if the weights should not be shared.",
    },
    zh: Prose {
        says: "权重共享",
        checks: "两个权重在每个迭代内容都相同。",
        matters: "若非有意，说明某一层被加入了两次。",
        not_judged: "其中之一是嵌入，通常有意共享。",
        advice: "若不应共享权重，请为第二层单独建立对象。",
    },
    ..BASE
};
