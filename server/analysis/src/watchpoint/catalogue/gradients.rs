//! Conditions about gradients.

use trainscope_format::Severity;

use super::tensors::{NOT_FINITE, STATISTIC_ABOVE};
use super::{BASE, Condition, ConditionNeeds, Key, NOTHING, Range, Target, limit, text};
use crate::diagnosis::Topic;
use crate::watchpoint::checks::{explosion, magnitude, overflow, precision, vanishing};

pub(crate) static GRADIENT_EXPLODING: Condition = Condition {
    id: "gradient_exploding",
    target: Target::Gradient,
    watches: |subject, _| subject.is(Target::Gradient),
    judge: Some(overflow::gradients),
    says: text("NaN or Inf in a gradient", "梯度中有 NaN 或 Inf"),
    checks: text(
        "The number of elements that are NaN, +Inf or −Inf is above 0; in context also: the recorded gradient norm is NaN or Inf, and no recorded gradient shows it.",
        "NaN、Inf、−Inf 元素的个数大于 0；在上下文中还包括：记录的梯度范数为 NaN 或 Inf，而没有记录的梯度能显示它。",
    ),
    matters: text(
        "The next update turns the weights into NaN.",
        "下一次更新会使权重变成 NaN。",
    ),
    not_judged: text(
        "In context: steps that loss scaling skipped (the scale falls, the weights do not change, or, where neither is recorded, the loss remains finite), unless the loss scale never stabilizes.",
        "在上下文中：因此跳过的迭代（损失缩放的做法）不算，除非缩放一直不稳定。",
    ),
    advice: text(
        "Check the inputs of the backward operators and the loss scale; sqrt and log have infinite slopes at zero.",
        "检查反向算子的输入与损失缩放；零附近的平方根与对数斜率无穷。",
    ),
    ..NOT_FINITE
};

pub(crate) static GRADIENT_VANISHING: Condition = Condition {
    id: "gradient_vanishing",
    target: Target::Gradient,
    parameters: &[
        limit(
            Key::AbsMeanLt,
            Range::NotNegative,
            text("mean |x| below", "|x| 的均值小于"),
        )
        .recommended_at(1e-9),
        limit(
            Key::MaxLt,
            Range::Finite,
            text("maximum below", "最大值小于"),
        ),
        limit(
            Key::MinLt,
            Range::Finite,
            text("minimum below", "最小值小于"),
        ),
        limit(Key::MeanLt, Range::Finite, text("mean below", "均值小于")),
    ],
    severity: Severity::Warning,
    patience: 3,
    is_formula: true,
    watches: |subject, _| subject.is(Target::Gradient),
    formula: Some(magnitude::too_small),
    judge: Some(vanishing::judge),
    says: text("vanishing gradient", "梯度消失"),
    checks: text(
        "Mean |x| (or another statistic) is below its threshold; in context: at 3 consecutive steps, or below 1e-7 if the norm of the first layer is a thousandth of that of the last, or the loss stays at chance level.",
        "|x| 的均值（或其他统计量）小于阈值；在上下文中：连续 3 次迭代，或首层范数只有末层千分之一或损失停在随机猜测时小于 1e-7。",
    ),
    matters: text(
        "Layers far from the loss do not learn.",
        "远离损失的层学不到东西。",
    ),
    not_judged: text(
        "Gradients with NaN or Inf; all-zero gradients have their own condition. Only a note if the loss has already fallen.",
        "含 NaN/Inf；全零梯度属另一条件；损失已下降时仅作提示。",
    ),
    advice: text(
        "Use ReLU-like activations, normalization or residual connections; check the initialization; raise the loss scale in fp16.",
        "使用 ReLU 类激活、归一化或残差；检查初始化；半精度时提高损失缩放。",
    ),
    ..BASE
};

pub(crate) static GRADIENT_TOO_LARGE: Condition = Condition {
    id: "gradient_too_large",
    target: Target::Gradient,
    watches: |subject, _| subject.is(Target::Gradient),
    says: text(
        "gradient statistic above threshold",
        "梯度的某个统计量高于阈值",
    ),
    matters: text("Large gradients cause large updates.", "大梯度导致大更新。"),
    advice: text(
        "Check the inputs of the backward operators and the loss scale; clip the gradient.",
        "检查反向算子的输入与损失缩放；裁剪梯度。",
    ),
    ..STATISTIC_ABOVE
};

pub(crate) static EXPLODING_NORM: Condition = Condition {
    id: "exploding_norm",
    target: Target::Gradient,
    parameters: &[limit(
        Key::FactorGt,
        Range::Positive,
        text(
            "norm / median of previous norms above",
            "范数与此前中位数之比大于",
        ),
    )
    .at(10.0)],
    topic: Topic::Loss,
    severity: Severity::Info,
    needs: ConditionNeeds {
        history: true,
        ..NOTHING
    },
    watches: |subject, _| subject.is(Target::Gradient),
    judge: Some(explosion::norm),
    says: text("gradient norm spike", "梯度范数突增"),
    checks: text(
        "The gradient norm is above factor_gt times the median of up to 128 previous norms, or grows by that factor over nearly every step.",
        "梯度范数大于此前（至多 128 个）中位数的 factor_gt 倍，或几乎每次迭代增长直至该倍数。",
    ),
    matters: text(
        "A single step of this size can undo many earlier ones.",
        "这样一次迭代会抵消许多次迭代。",
    ),
    not_judged: text(
        "Fewer than 2 previous norms; fewer than 5, unless the factor is 100 times factor_gt. Only a note if the loss sets no new maximum, unless it is still high and the norm spikes again.",
        "此前少于 2 个范数；少于 5 个时须达到 factor_gt 的 100 倍；损失没有创新高时仅作提示，除非损失仍高且范数再次跃升。",
    ),
    advice: text(
        "Clip the gradient; inspect the batch; check that gradients are zeroed before each step.",
        "裁剪梯度；查看该批次；每次迭代前是否清零梯度？",
    ),
    ..BASE
};

pub(crate) static GRAD_NORM_ZSCORE: Condition = Condition {
    id: "grad_norm_zscore",
    target: Target::Gradient,
    parameters: &[
        limit(
            Key::ZGt,
            Range::Positive,
            text(
                "robust z-score of the logarithm above",
                "对数的稳健 z 值大于",
            ),
        )
        .at(6.0),
        limit(
            Key::Window,
            Range::Count,
            text(
                "number of previous norms to compare with",
                "用于比较的此前迭代数",
            ),
        )
        .at(128.0)
        .support(),
    ],
    topic: Topic::Loss,
    severity: Severity::Info,
    needs: ConditionNeeds {
        history: true,
        ..NOTHING
    },
    watches: |subject, _| subject.is(Target::Gradient),
    judge: Some(explosion::zscore),
    says: text("gradient norm outlier", "梯度范数离群"),
    checks: text(
        "ln of the norm exceeds the median of the window by more than z_gt robust standard deviations (median absolute deviation / 0.6745).",
        "范数的对数高于窗口中位数超过 z_gt 个稳健标准差。",
    ),
    matters: text(
        "Detects outliers among steady norms that a fixed factor misses.",
        "在范数平稳时能发现固定倍数遗漏的异常。",
    ),
    not_judged: text("Fewer than 16 previous norms.", "此前少于 16 个范数。"),
    advice: text("Inspect the batch of that step.", "查看该迭代的批次。"),
    ..BASE
};

pub(crate) static UNDERFLOW_FP16: Condition = Condition {
    id: "underflow_fp16",
    target: Target::Gradient,
    parameters: &[limit(
        Key::ShareGt,
        Range::Share,
        text(
            "share of subnormal elements above",
            "小于最小规格化数的比例大于",
        ),
    )
    .at(0.05)],
    severity: Severity::Info,
    patience: 3,
    watches: |subject, _| subject.is(Target::Gradient),
    formula: Some(precision::underflow),
    judge: Some(precision::underflow_judge),
    says: text("underflow of fp16 gradients", "fp16 梯度下溢"),
    checks: text(
        "The share of nonzero elements below 2^-14 (fp16 subnormals), over all fp16 gradients of a step, is above share_gt at 3 consecutive steps.",
        "半精度梯度的非零元素中，小于 2^-14 的比例大于 share_gt，按迭代合计，连续 3 次迭代。",
    ),
    matters: text(
        "Subnormals lose precision, and below 2^-24 they become zero: weights stop learning.",
        "它们丢失精度，小于 2^-24 时变为零：权重停止学习。",
    ),
    not_judged: text(
        "Gradients that are not fp16. A warning from 20 % on, if the loss does not fall.",
        "梯度不是半精度。达到五分之一且没有学到东西时为警告。",
    ),
    advice: text(
        "Use loss scaling (GradScaler), or bf16.",
        "使用损失缩放（gradient scaler），或改用 bf16。",
    ),
    ..BASE
};

pub(crate) static CLIP_ALWAYS: Condition = Condition {
    id: "clip_always",
    target: Target::Gradient,
    parameters: &[limit(
        Key::ShareGt,
        Range::Share,
        text("share of clipped steps above", "被裁剪的迭代比例大于"),
    )
    .at(0.9)],
    topic: Topic::Hyperparameters,
    severity: Severity::Info,
    needs: ConditionNeeds {
        history: true,
        ..NOTHING
    },
    watches: |subject, _| subject.is(Target::Gradient),
    judge: Some(explosion::always_clipped),
    says: text(
        "gradients clipped at almost every step",
        "几乎每次迭代都在裁剪梯度",
    ),
    checks: text(
        "The norm of the recorded gradients is below the recorded norm before clipping at more than share_gt of the steps.",
        "记录的梯度范数低于所记录的裁剪前范数的迭代比例大于 share_gt。",
    ),
    matters: text(
        "The clipping threshold, not the gradient, then sets the step size.",
        "此时步长由裁剪阈值而非梯度决定。",
    ),
    not_judged: text(
        "Fewer than 8 steps, or loss scaling is used. A warning if less than 0.1 % of the norm is left, or less than 5 % while the loss is flat from step 0 on.",
        "少于 8 次迭代，或使用损失缩放。剩余不足千分之一，或不足 5 % 而损失从迭代 0 起一直平坦时为警告。",
    ),
    advice: text(
        "Raise max_norm to the typical gradient norm.",
        "将 max_norm 提高到范数的通常水平。",
    ),
    ..BASE
};
