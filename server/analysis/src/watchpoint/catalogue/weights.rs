//! Conditions about weights.

use trainscope_format::Severity;

use super::tensors::{NOT_FINITE, STATISTIC_ABOVE, STATISTIC_BELOW};
use super::{BASE, Condition, ConditionNeeds, Key, NOTHING, Range, Target, limit, text};
use crate::diagnosis::Topic;
use crate::watchpoint::checks::{change, initial, ranks, standstill, update, zeros};

pub(crate) static WEIGHT_INITIALIZATION: Condition = Condition {
    id: "weight_initialization",
    target: Target::Weight,
    parameters: &[
        limit(
            Key::ZeroPercentageGe,
            Range::Percentage,
            text("percentage of zeros at least", "零元素百分比不低于"),
        )
        .at(100.0),
        limit(
            Key::MaxGt,
            Range::Finite,
            text("maximum above", "最大值大于"),
        ),
        limit(
            Key::MinLt,
            Range::Finite,
            text("minimum below", "最小值小于"),
        ),
    ],
    severity: Severity::Info,
    recommended: false,
    is_formula: true,
    watches: |subject, _| subject.is(Target::Weight),
    formula: Some(zeros::initial),
    judge: Some(initial::incumbent),
    says: text("weight initialization", "权重初始化"),
    checks: text(
        "The percentage of zeros, the maximum or the minimum of a weight at its first record.",
        "权重初始状态：零百分比、最大值、最小值。",
    ),
    matters: text(
        "All-zero weights keep units identical; large weights explode.",
        "全零权重使各单元保持相同；过大则爆炸。",
    ),
    not_judged: text("Later records of the weight.", "并非首次看到该权重。"),
    advice: text(
        "Check the initializer and its arguments.",
        "检查初始化方法及其参数。",
    ),
    ..BASE
};

pub(crate) static BAD_INITIALIZATION: Condition = Condition {
    id: "bad_initialization",
    target: Target::Weight,
    parameters: &[
        limit(
            Key::VarianceLt,
            Range::Positive,
            text("fan_in × variance below", "fan_in × 方差小于"),
        )
        .at(1e-5),
        limit(
            Key::VarianceGt,
            Range::Positive,
            text("fan_in × variance above", "fan_in × 方差大于"),
        )
        .at(50.0),
    ],
    severity: Severity::Info,
    watches: |subject, _| subject.is(Target::Weight),
    judge: Some(initial::weights),
    says: text("bad weight initialization", "权重初始化不当"),
    checks: text(
        "At step 0 or 1 a matrix is all zero without a gradient, is constant, or fan_in × variance is outside variance_lt to variance_gt (Glorot 1, He 2, PyTorch 1/3).",
        "迭代 0 或 1 时矩阵全零且无梯度、处处相同，或 fan_in × 方差超出 variance_lt 至 variance_gt（Glorot 1，He 2，PyTorch 1/3）。",
    ),
    matters: text(
        "The model does not learn, or diverges at once.",
        "这样的模型不会学习，或立刻爆炸。",
    ),
    not_judged: text(
        "The recording starts later; vectors and embeddings; an all-zero last layer or branch that gets a gradient.",
        "记录开始较晚；向量、嵌入；能得到梯度的全零末层或分支。",
    ),
    advice: text(
        "Use the initializer of the framework that fits the next activation (He for ReLU, Glorot for tanh).",
        "按后接激活函数选用框架自带的初始化（ReLU 用 He，tanh 用 Glorot）。",
    ),
    ..BASE
};

pub(crate) static WEIGHT_OVERFLOW: Condition = Condition {
    id: "weight_overflow",
    target: Target::Weight,
    watches: |subject, _| subject.is(Target::Weight),
    says: text("NaN or Inf in a weight", "权重中有 NaN 或 Inf"),
    matters: text(
        "A weight that is NaN stays NaN.",
        "变成 NaN 的权重无法恢复。",
    ),
    not_judged: text("Always judged.", "始终判断。"),
    advice: text(
        "Likely causes: a learning rate that is too high, an overflowed gradient, a corrupt checkpoint.",
        "可能的原因：学习率过高、梯度溢出、检查点损坏。",
    ),
    ..NOT_FINITE
};

pub(crate) static WEIGHT_NOT_CHANGED: Condition = Condition {
    id: "weight_not_changed",
    target: Target::Weight,
    parameters: &[
        limit(
            Key::Rtol,
            Range::NotNegative,
            text("relative tolerance", "相对容差"),
        )
        .at(1e-5)
        .support(),
        limit(
            Key::Atol,
            Range::NotNegative,
            text("absolute tolerance", "绝对容差"),
        )
        .at(1e-8)
        .support(),
        limit(
            Key::EqualNan,
            Range::Switch,
            text("NaN equals NaN", "NaN 与 NaN 视为相同"),
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
    says: text("weight not updated", "权重未更新"),
    checks: text(
        "|now - before| <= atol + rtol * |before| for every element, at consecutive recorded steps; in context: bit-identical, until the end of the recording, and for twice as long as ever before. Of weights with histograms alone: the histograms of all of them, offsets apart, are bit-identical in the last 3 records or more.",
        "连续若干记录的迭代中每个元素都满足 |现在 - 之前| <= atol + rtol * |之前|；在上下文中：逐位相同、直到记录结束，且比以往长一倍。仅有直方图的权重：除偏置外，全部权重的直方图在最近 3 次或更多记录中逐位相同。",
    ),
    matters: text(
        "The weight is missing in the optimizer, detached, frozen by mistake, or its updates are rounded away.",
        "应学习却没有：未加入优化器、梯度被切断、误冻结，或更新被舍入。",
    ),
    not_judged: text(
        "The previous step or its change was not recorded. In context: the weight has no gradient while others have (frozen on purpose), its gradient is zero or far below all others, the learning rate has decayed to zero, or tiny updates are rounded away in a model that is already good.",
        "上一迭代或其变化未记录。在上下文中：其他权重有梯度而它没有（有意冻结），梯度为零或远小于其他，学习率已自然降到零，或模型已很好而更新因学习率极小被舍入。",
    ),
    advice: text(
        "Check that it is in the optimizer (compare model.parameters() with param_groups), that the learning rate is not 0, and that step() is called.",
        "检查它是否在优化器中（比较 model.parameters() 与 param_groups）、学习率是否为 0、是否调用了 step()。",
    ),
    counts: text("changed elements", "个变化的元素"),
    ..BASE
};

pub(crate) static FROZEN_BUT_TRAINABLE: Condition = Condition {
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
    judge: Some(standstill::with_gradient),
    says: text("weight with gradient never updated", "权重有梯度却未更新"),
    checks: text(
        "As weight_not_changed in context, for weights with a recorded, nonzero gradient.",
        "同上下文中的 weight_not_changed，针对记录了非零梯度的权重。",
    ),
    matters: text(
        "It receives a gradient but is not updated.",
        "它得到梯度却没有更新。",
    ),
    not_judged: text("No gradient was recorded for it.", "没有记录其梯度。"),
    advice: text(
        "Add it to the optimizer, or set requires_grad = False if it should be frozen.",
        "将其加入优化器；若有意冻结，请设 requires_grad 为 false。",
    ),
    counts: text("changed elements", "个变化的元素"),
    ..BASE
};

pub(crate) static FROZEN_WEIGHTS: Condition = Condition {
    id: "frozen_weights",
    target: Target::Weight,
    severity: Severity::Info,
    needs: ConditionNeeds {
        hash: true,
        history: true,
        ..NOTHING
    },
    watches: |subject, _| subject.is(Target::Weight),
    judge: Some(standstill::frozen),
    says: text("frozen weights", "冻结的权重"),
    checks: text(
        "The hash of a weight is the same at all recorded steps, at least 3; no gradient is recorded for it; and other weights of the run change. One note for all such weights.",
        "权重的哈希在所有记录的迭代（至少 3 次）中都相同，没有记录其梯度，而其他权重有变化。所有这类权重合为一条提示。",
    ),
    matters: text(
        "Usual in fine-tuning (frozen backbones, adapters), and a mistake where the whole model should learn.",
        "微调中很常见（冻结主干、适配器）；若整个模型都应学习，则是错误。",
    ),
    not_judged: text(
        "Fewer than 3 steps; no hashes; the program itself gives the role of a frozen weight; no weight changes at all, which is weight_not_changed.",
        "少于 3 次迭代；没有哈希；程序已声明为冻结权重；所有权重都不变（见 weight_not_changed）。",
    ),
    advice: text(
        "If it is not meant: set requires_grad to true, and give the weights to the optimizer.",
        "若非有意：请设 requires_grad 为 true，并将这些权重交给优化器。",
    ),
    counts: text("frozen weights", "个冻结的权重"),
    ..BASE
};

pub(crate) static WEIGHT_CHANGE_TOO_LARGE: Condition = Condition {
    id: "weight_change_too_large",
    target: Target::Weight,
    parameters: &[
        limit(
            Key::AbsMeanUpdateRatioGt,
            Range::NotNegative,
            text(
                "mean |Δ| / mean |before| above",
                "mean |Δ| 与 mean |之前| 之比大于",
            ),
        )
        .at(0.1)
        .recommended_at(1.0),
        limit(
            Key::Epsilon,
            Range::NotNegative,
            text("added to the denominator", "加在分母上"),
        )
        .at(1e-9)
        .support(),
    ],
    topic: Topic::Hyperparameters,
    severity: Severity::Warning,
    is_formula: true,
    needs: ConditionNeeds {
        change: true,
        ..NOTHING
    },
    watches: |subject, _| subject.is(Target::Weight),
    formula: Some(change::too_large),
    judge: Some(update::too_large),
    says: text("weight update too large", "权重更新过大"),
    checks: text(
        "mean |now - before| / (mean |before| + epsilon) is above the threshold.",
        "mean |现在 - 之前| / (mean |之前| + epsilon) 大于阈值。",
    ),
    matters: text(
        "An update as large as the weight destroys what was learned.",
        "与权重同样大的更新会忘掉所学。",
    ),
    not_judged: text(
        "The previous step is missing, or either holds NaN or Inf. In context: the records are more than one step apart, or the weight was zero. Only a note if the loss did not suffer and the learning rate had not jumped.",
        "缺少上一迭代，或任一含 NaN/Inf。在上下文中：间隔多于一次迭代、之前全零，或损失未受影响且学习率没有突增（仅作提示）。",
    ),
    advice: text(
        "Lower the learning rate, add a warmup, or clip the gradient.",
        "降低学习率、预热、裁剪梯度。",
    ),
    ..BASE
};

pub(crate) static WEIGHT_CHANGE_TOO_SMALL: Condition = Condition {
    id: "weight_change_too_small",
    target: Target::Weight,
    parameters: &[
        limit(
            Key::AbsMeanUpdateRatioLt,
            Range::NotNegative,
            text(
                "mean |Δ| / mean |before| below",
                "mean |Δ| 与 mean |之前| 之比小于",
            ),
        )
        .at(1e-4)
        .recommended_at(2e-5),
        limit(
            Key::Epsilon,
            Range::NotNegative,
            text("added to the denominator", "加在分母上"),
        )
        .at(1e-9)
        .support(),
    ],
    topic: Topic::Hyperparameters,
    severity: Severity::Info,
    is_formula: true,
    needs: ConditionNeeds {
        change: true,
        ..NOTHING
    },
    watches: |subject, _| subject.is(Target::Weight),
    formula: Some(change::too_small),
    judge: Some(update::too_small),
    says: text("weight update too small", "权重更新过小"),
    checks: text(
        "The same ratio is below the threshold; in context: for all weights, averaged over all steps, while the loss stays at chance level.",
        "同一比值小于阈值；在上下文中：所有权重、全部迭代平均，且损失停在随机猜测水平。",
    ),
    matters: text("The model hardly changes.", "模型几乎不变。"),
    not_judged: text(
        "As weight_change_too_large. In context: fine-tuning may use updates this small.",
        "同 weight_change_too_large。在上下文中：微调可以使用很小的步长。",
    ),
    advice: text(
        "Raise the learning rate; check the optimizer and the gradient.",
        "提高学习率；检查优化器与梯度。",
    ),
    ..BASE
};

pub(crate) static UPDATE_RATIO: Condition = Condition {
    id: "update_ratio",
    target: Target::Weight,
    parameters: &[
        limit(
            Key::RatioLt,
            Range::NotNegative,
            text("median update / weight below", "更新与权重之比的中位数小于"),
        )
        .at(1e-5),
        limit(
            Key::RatioGt,
            Range::NotNegative,
            text("median update / weight above", "更新与权重之比的中位数大于"),
        )
        .at(0.1),
    ],
    topic: Topic::Hyperparameters,
    severity: Severity::Info,
    needs: ConditionNeeds {
        change: true,
        history: true,
        ..NOTHING
    },
    watches: |subject, _| subject.is(Target::Weight),
    judge: Some(update::band),
    says: text(
        "implausible update-to-weight ratio",
        "更新与权重之比超出范围",
    ),
    checks: text(
        "The median update-to-weight ratio is outside ratio_lt to ratio_gt; about 1e-3 is typical. A warning if weights shrink steadily or fluctuate strongly while the loss does not fall; updates before the minimum of the loss are no fault.",
        "更新与权重之比的中位数超出 ratio_lt 至 ratio_gt；通常约为 1e-3。权重不断缩小或剧烈波动且没有学到东西时为警告；损失到达最小值之前的更新不算问题。",
    ),
    matters: text(
        "Updates that are too small learn nothing; updates that are too large overwrite what was learned.",
        "过小学不到，过大留不住。",
    ),
    not_judged: text("Fewer than 6 steps; vectors.", "少于 6 次迭代；向量。"),
    advice: text(
        "Set the learning rate so that updates are about 1e-3 of the weight; lower the weight decay.",
        "调节学习率使更新约为权重的 1e-3；减小权重衰减。",
    ),
    ..BASE
};

pub(crate) static WEIGHT_TOO_LARGE: Condition = Condition {
    id: "weight_too_large",
    target: Target::Weight,
    watches: |subject, _| subject.is(Target::Weight),
    says: text(
        "weight statistic above threshold",
        "权重的某个统计量高于阈值",
    ),
    matters: text(
        "Unbounded weights make outputs grow.",
        "权重无限增长会使输出增长。",
    ),
    advice: text(
        "Check the learning rate, the gradient, the weight decay and the previous value.",
        "查看学习率、梯度、衰减与更新前的权重。",
    ),
    ..STATISTIC_ABOVE
};

pub(crate) static WEIGHT_TOO_SMALL: Condition = Condition {
    id: "weight_too_small",
    target: Target::Weight,
    watches: |subject, _| subject.is(Target::Weight),
    says: text(
        "weight statistic below threshold",
        "权重的某个统计量低于阈值",
    ),
    matters: text(
        "Weights near zero pass no signal.",
        "接近零的权重不传递信号。",
    ),
    advice: text(
        "Check the learning rate, the gradient, the weight decay and the previous value.",
        "查看学习率、梯度、衰减与更新前的权重。",
    ),
    ..STATISTIC_BELOW
};

pub(crate) static SHARED_WEIGHTS: Condition = Condition {
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
    says: text("tied weights", "权重共享"),
    checks: text(
        "Two weights have identical content at every step.",
        "两个权重在每次迭代内容都相同。",
    ),
    matters: text(
        "If not intended, a layer was inserted twice.",
        "若非有意，则某层被放入两次。",
    ),
    not_judged: text(
        "Embeddings, which are often tied on purpose.",
        "其中之一是嵌入，通常有意共享。",
    ),
    advice: text(
        "Create a separate layer object if the weights should not be shared.",
        "若非有意共享，请为第二层单独建立对象。",
    ),
    counts: text("identical weight", "个相同的权重"),
    ..BASE
};
