//! Conditions about gradients.

use trainscope_api::guide::Topic;
use trainscope_format::Severity;

use super::tensors::{
    ABS_MEAN_BELOW, MAX_BELOW, MEAN_BELOW, MIN_BELOW, NOT_FINITE, STATISTIC_ABOVE,
};
use super::{BASE, Condition, Key, Need, Prose, Range, Target, limit};
use crate::watchpoint::checks::{explosion, magnitude, overflow, precision, vanishing};

pub(crate) static GRADIENT_EXPLODING: Condition = Condition {
    id: "gradient_exploding",
    target: Target::Gradient,
    judge: Some(overflow::gradients),
    en: Prose {
        says: "NaN or Inf in a gradient",
        checks: "The number of elements that are NaN, +Inf or −Inf is above 0; in context also: the recorded gradient norm is NaN or Inf, and no recorded gradient shows it.",
        matters: "The next update turns the weights into NaN.",
        not_judged: "In context: steps that loss scaling skipped (the scale falls, the weights do not change, or, where neither is recorded, the loss remains finite), and infinite norms after which all weights and the loss are finite, unless the loss scale never stabilizes.",
        advice: "Check the inputs of the backward operators and the loss scale; sqrt and log have infinite slopes at zero.",
    },
    zh: Prose {
        says: "梯度中有 NaN 或 Inf",
        checks: "NaN、Inf、−Inf 元素的个数大于 0；结合上下文时还包括：记录的梯度范数为 NaN 或 Inf，而没有记录的梯度能显示它。",
        matters: "下一次更新会使权重变成 NaN。",
        not_judged: "结合上下文时：因此跳过的迭代（损失缩放的做法）不算，范数为无穷大而之后的权重与损失都是有限值的也不算，除非缩放一直不稳定。",
        advice: "检查反向算子的输入与损失缩放；平方根与对数在零处的斜率为无穷大。",
    },
    ..NOT_FINITE
};

pub(crate) static GRADIENT_VANISHING: Condition = Condition {
    id: "gradient_vanishing",
    target: Target::Gradient,
    parameters: &[
        ABS_MEAN_BELOW.recommended_at(1e-9),
        MAX_BELOW,
        MIN_BELOW,
        MEAN_BELOW,
    ],
    severity: Severity::Warning,
    patience: 3,
    is_formula: true,
    formula: Some(magnitude::too_small),
    judge: Some(vanishing::judge),
    compares_layers: true,
    en: Prose {
        says: "vanishing gradient",
        checks: "Mean |x| (or another statistic) is below its threshold; in context: at 3 consecutive steps, or below 1e-7 if the norm of the first layer is a thousandth of that of the last, or the loss stays at chance level.",
        matters: "Layers far from the loss do not learn.",
        not_judged: "Gradients with NaN or Inf; all-zero gradients have their own condition; gradients that begin small and grow tenfold. Only a note if the loss has already fallen, unless the gradient is below the rounding of the others at every step.",
        advice: "Use ReLU-like activations, normalization or residual connections; check the initialization; raise the loss scale in fp16.",
    },
    zh: Prose {
        says: "梯度消失",
        checks: "|x| 的均值（或其他统计量）小于阈值；结合上下文时：连续 3 个迭代，或首层范数只有末层千分之一或损失停在随机猜测时小于 1e-7。",
        matters: "远离损失的层学不到东西。",
        not_judged: "含 NaN/Inf；全零梯度属另一条件；起始很小但增长十倍的梯度。损失已下降时仅作提示，除非该梯度在每个迭代都低于其他梯度的舍入误差。",
        advice: "使用 ReLU 类激活函数、归一化或残差；检查初始化；fp16 下提高损失缩放。",
    },
    ..BASE
};

pub(crate) static GRADIENT_TOO_LARGE: Condition = Condition {
    id: "gradient_too_large",
    target: Target::Gradient,
    en: Prose {
        says: "gradient statistic above threshold",
        matters: "Large gradients cause large updates.",
        advice: "Check the inputs of the backward operators and the loss scale; clip the gradient.",
        ..STATISTIC_ABOVE.en
    },
    zh: Prose {
        says: "梯度的某个统计量高于阈值",
        matters: "大梯度导致大更新。",
        advice: "检查反向算子的输入与损失缩放；裁剪梯度。",
        ..STATISTIC_ABOVE.zh
    },
    ..STATISTIC_ABOVE
};

pub(crate) static EXPLODING_NORM: Condition = Condition {
    id: "exploding_norm",
    target: Target::Gradient,
    parameters: &[limit(Key::FactorGt, Range::Positive)
        .says(
            "norm / median of previous norms above",
            "范数与此前中位数之比大于",
        )
        .at(10.0)],
    topic: Topic::Loss,
    needs: &[Need::History],
    judge: Some(explosion::norm),
    en: Prose {
        says: "gradient norm spike",
        checks: "The gradient norm is above factor_gt times the median of up to 128 previous norms, or grows by that factor over nearly every step.",
        matters: "A single step of this size can undo many earlier ones.",
        not_judged: "Fewer than 2 previous norms; fewer than 5, unless the factor is 100 times factor_gt. Only a note if the loss sets no new maximum, unless it is still high and the norm spikes again.",
        advice: "Clip the gradient; inspect the batch; check that gradients are zeroed before each step.",
    },
    zh: Prose {
        says: "梯度范数突增",
        checks: "梯度范数大于此前（至多 128 个）中位数的 factor_gt 倍，或几乎每个迭代增长直至该倍数。",
        matters: "一次这样的迭代可能抵消此前的许多个。",
        not_judged: "此前少于 2 个范数；少于 5 个时须达到 factor_gt 的 100 倍；损失没有创新高时仅作提示，除非损失仍高且范数再次跃升。",
        advice: "裁剪梯度；查看该批次；检查每个迭代前是否清零梯度。",
    },
    ..BASE
};

pub(crate) static GRAD_NORM_ZSCORE: Condition = Condition {
    id: "grad_norm_zscore",
    target: Target::Gradient,
    parameters: &[
        limit(Key::ZGt, Range::Positive)
            .says(
                "robust z-score of the logarithm above",
                "对数的稳健 z 值大于",
            )
            .at(6.0),
        limit(Key::Window, Range::Count)
            .says(
                "number of previous norms to compare with",
                "用于对比的此前迭代数",
            )
            .at(128.0)
            .support(),
    ],
    topic: Topic::Loss,
    needs: &[Need::History],
    judge: Some(explosion::zscore),
    en: Prose {
        says: "gradient norm outlier",
        checks: "ln of the norm exceeds the median of the window by more than z_gt robust standard deviations (median absolute deviation / 0.6745), and so does its rise from the norm before among the changes of the window.",
        matters: "Detects outliers among steady norms that a fixed factor misses.",
        not_judged: "Fewer than 16 previous norms.",
        advice: "Inspect the batch of that step.",
    },
    zh: Prose {
        says: "梯度范数离群",
        checks: "范数的对数高于窗口中位数超过 z_gt 个稳健标准差，其相对前一范数的增幅在窗口内的变化中也是如此。",
        matters: "在范数平稳时能发现固定倍数遗漏的异常。",
        not_judged: "此前少于 16 个范数。",
        advice: "查看该迭代的批次。",
    },
    ..BASE
};

pub(crate) static UNDERFLOW_FP16: Condition = Condition {
    id: "underflow_fp16",
    target: Target::Gradient,
    parameters: &[limit(Key::ShareGt, Range::Share)
        .says(
            "share of subnormal elements above",
            "小于最小规格化数的比例大于",
        )
        .at(0.05)],
    patience: 3,
    formula: Some(precision::underflow),
    judge: Some(precision::underflow_judge),
    en: Prose {
        says: "underflow of fp16 gradients",
        checks: "The share of nonzero elements below 2^-14 (fp16 subnormals), over all fp16 gradients of a step, is above share_gt at 3 consecutive steps.",
        matters: "Subnormals lose precision, and below 2^-24 they become zero: weights stop learning.",
        not_judged: "Gradients that are not fp16. A warning from 20 % on, if the loss does not fall.",
        advice: "Use loss scaling (GradScaler), or bf16.",
    },
    zh: Prose {
        says: "fp16 梯度下溢",
        checks: "fp16 梯度的非零元素中，小于 2^-14 的比例大于 share_gt，按迭代合计，连续 3 个迭代。",
        matters: "它们丢失精度，小于 2^-24 时变为零：权重停止学习。",
        not_judged: "非 fp16 的梯度。达到 20 %且没有学到东西时为警告。",
        advice: "使用损失缩放（gradient scaler），或改用 bf16。",
    },
    ..BASE
};

pub(crate) static CLIP_ALWAYS: Condition = Condition {
    id: "clip_always",
    target: Target::Gradient,
    parameters: &[limit(Key::ShareGt, Range::Share)
        .says("share of clipped steps above", "被裁剪的迭代比例大于")
        .at(0.9)],
    topic: Topic::Hyperparameters,
    needs: &[Need::History],
    judge: Some(explosion::always_clipped),
    en: Prose {
        says: "gradients clipped at almost every step",
        checks: "The norm of the recorded gradients is below the recorded norm before clipping at more than share_gt of the steps.",
        matters: "The clipping threshold, not the gradient, then sets the step size.",
        not_judged: "Fewer than 8 steps, or loss scaling is used. A warning if less than 0.1 % of the norm is left, or less than 5 % while the loss is flat from step 0 on.",
        advice: "Raise max_norm to the typical gradient norm.",
    },
    zh: Prose {
        says: "几乎每个迭代都在裁剪梯度",
        checks: "记录的梯度范数低于所记录的裁剪前范数的迭代比例大于 share_gt。",
        matters: "此时步长由裁剪阈值而非梯度决定。",
        not_judged: "少于 8 个迭代，或使用损失缩放。剩余不足千分之一，或不足 5 % 而损失从迭代 0 起一直平坦时为警告。",
        advice: "将 max_norm 提高到范数的通常水平。",
    },
    ..BASE
};
