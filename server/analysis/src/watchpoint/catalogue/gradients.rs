//! Conditions about gradients.

use trainscope_format::Severity;

use super::{BASE, Condition, ConditionNeeds, NOTHING, Range, Target, limit, text};
use crate::watchpoint::checks::{explosion, magnitude, overflow, precision, vanishing};

pub(super) static GRADIENT_EXPLODING: Condition = Condition {
    id: "gradient_exploding",
    target: Target::Gradient,
    severity: Severity::Error,
    is_formula: true,
    watches: |subject, _| subject.is(Target::Gradient),
    formula: Some(overflow::not_finite_count),
    judge: Some(overflow::judge),
    says: text("NaN or Inf in a gradient", "梯度中有 NaN 或 Inf"),
    checks: text(
        "The number of elements that are NaN, Inf or -Inf is above 0.",
        "NaN、Inf、-Inf 元素的个数大于 0。",
    ),
    matters: text(
        "The next update makes the weights NaN.",
        "下一次更新会使权重变成 NaN。",
    ),
    not_judged: text(
        "In context: a step that was not taken because of it, as programs that scale the loss do, unless the scale never settles.",
        "在上下文中：因此跳过的步（损失缩放的做法）不算，除非缩放一直不稳定。",
    ),
    advice: text(
        "Check the inputs of the backward operators and the loss scale; roots and logarithms near zero have infinite slopes.",
        "检查反向算子的输入与损失缩放；零附近的平方根与对数斜率无穷。",
    ),
    ..BASE
};

pub(super) static GRADIENT_VANISHING: Condition = Condition {
    id: "gradient_vanishing",
    target: Target::Gradient,
    parameters: &[
        limit(
            "abs_mean_lt",
            Range::NotNegative,
            text("mean |x| below", "|x| 的均值小于"),
        )
        .recommended_at(1e-9),
        limit("max_lt", Range::Finite, text("maximum below", "最大值小于")),
        limit("min_lt", Range::Finite, text("minimum below", "最小值小于")),
        limit("mean_lt", Range::Finite, text("mean below", "均值小于")),
    ],
    severity: Severity::Warning,
    patience: 3,
    is_formula: true,
    watches: |subject, _| subject.is(Target::Gradient),
    formula: Some(magnitude::too_small),
    judge: Some(vanishing::judge),
    says: text("a gradient is next to nothing", "梯度几乎为零"),
    checks: text(
        "Mean |x| (or another figure) is below its limit; in context: at 3 steps in a row, or below 1e-7 where the first layer's norm is a thousandth of the last one's, or the loss stays at guessing.",
        "|x| 的均值（或其他统计量）小于阈值；在上下文中：连续 3 步，或首层范数只有末层千分之一或损失停在随机猜测时小于 1e-7。",
    ),
    matters: text(
        "Layers far from the loss do not learn.",
        "远离损失的层学不到东西。",
    ),
    not_judged: text(
        "NaN or Inf; gradients of zeros are another condition; where the loss has fallen, gradients have too, and it is a note.",
        "含 NaN/Inf；全零梯度属另一条件；损失已下降时仅作提示。",
    ),
    advice: text(
        "Use ReLU-like activations, norms or residual connections; check the initialisation; raise the loss scale in half precision.",
        "使用 ReLU 类激活、归一化或残差；检查初始化；半精度时提高损失缩放。",
    ),
    ..BASE
};

pub(super) static GRADIENT_TOO_LARGE: Condition = Condition {
    id: "gradient_too_large",
    target: Target::Gradient,
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
    watches: |subject, _| subject.is(Target::Gradient),
    formula: Some(magnitude::too_large),
    says: text(
        "a figure of a gradient is above its limit",
        "梯度的某个统计量高于阈值",
    ),
    checks: text(
        "Mean |x|, maximum, minimum or mean is above its limit; any of those that are given.",
        "|x| 的均值、最大值、最小值或均值高于给定的阈值，任一成立即可。",
    ),
    matters: text("Large gradients make large updates.", "大梯度导致大更新。"),
    not_judged: text(
        "The tensor holds NaN or Inf: then figures of the rest do not speak for it.",
        "含 NaN/Inf：其余元素的统计量不能代表它。",
    ),
    advice: text(
        "Check the inputs of the backward operators and the loss scale; clip the gradient.",
        "检查反向算子的输入与损失缩放；裁剪梯度。",
    ),
    ..BASE
};

pub(super) static EXPLODING_NORM: Condition = Condition {
    id: "exploding_norm",
    target: Target::Gradient,
    parameters: &[limit(
        "factor_gt",
        Range::Positive,
        text(
            "norm by the median of those before above",
            "范数与此前中位数之比大于",
        ),
    )
    .at(10.0)],
    severity: Severity::Info,
    needs: ConditionNeeds {
        history: true,
        ..NOTHING
    },
    watches: |subject, _| subject.is(Target::Gradient),
    judge: Some(explosion::norm),
    says: text("the norm of the gradient jumps", "梯度范数突增"),
    checks: text(
        "The norm of the gradient is above factor_gt times the median of up to 128 before, or grows at nearly every step by as much.",
        "梯度范数大于此前（至多 128 个）中位数的 factor_gt 倍，或几乎每步增长直至该倍数。",
    ),
    matters: text("A step this far undoes many.", "这样一步会抵消许多步。"),
    not_judged: text(
        "Fewer than 5 norms; a note where the loss does not get worse than ever, unless it is still high and norms jump again.",
        "少于 5 个范数；损失没有创新高时仅作提示，除非损失仍高且范数再次跃升。",
    ),
    advice: text(
        "Clip the gradient; look at the batch; are gradients set to zero before each step?",
        "裁剪梯度；查看该批次；每步前是否清零梯度？",
    ),
    ..BASE
};

pub(super) static GRAD_NORM_ZSCORE: Condition = Condition {
    id: "grad_norm_zscore",
    target: Target::Gradient,
    parameters: &[
        limit(
            "z_gt",
            Range::Positive,
            text("robust z of the logarithm above", "对数的稳健 z 值大于"),
        )
        .at(6.0),
        limit(
            "window",
            Range::Count,
            text("norms before that it is held against", "用于比较的此前步数"),
        )
        .at(128.0)
        .support(),
    ],
    severity: Severity::Info,
    needs: ConditionNeeds {
        history: true,
        ..NOTHING
    },
    watches: |subject, _| subject.is(Target::Gradient),
    judge: Some(explosion::zscore),
    says: text("the norm of the gradient stands out", "梯度范数异常突出"),
    checks: text(
        "ln of the norm lies above the median of the window by more than z_gt spreads (median of distances, by 0.6745).",
        "范数的对数高于窗口中位数超过 z_gt 个稳健标准差。",
    ),
    matters: text(
        "It finds what a fixed factor misses where norms are steady.",
        "在范数平稳时能发现固定倍数遗漏的异常。",
    ),
    not_judged: text("Fewer than 16 norms before.", "此前少于 16 个范数。"),
    advice: text("Look at the batch of that step.", "查看该步的批次。"),
    ..BASE
};

pub(super) static UNDERFLOW_FP16: Condition = Condition {
    id: "underflow_fp16",
    target: Target::Gradient,
    parameters: &[limit(
        "share_gt",
        Range::Share,
        text(
            "share below the smallest normal number above",
            "小于最小规格化数的比例大于",
        ),
    )
    .at(0.05)],
    severity: Severity::Info,
    patience: 3,
    watches: |subject, _| subject.is(Target::Gradient),
    formula: Some(precision::underflow),
    judge: Some(precision::underflow_judge),
    says: text(
        "gradients are too small for half precision",
        "梯度小到半精度难以表示",
    ),
    checks: text(
        "Of the elements of half-precision gradients that are not zero, the share below 2^-14 is above share_gt, over all gradients of a step, at 3 steps in a row.",
        "半精度梯度的非零元素中，小于 2^-14 的比例大于 share_gt，按步合计，连续 3 步。",
    ),
    matters: text(
        "They lose bits, and below 2^-24 they are zero: weights stop to learn.",
        "它们丢失精度，小于 2^-24 时变为零：权重停止学习。",
    ),
    not_judged: text(
        "Gradients are not in half precision. A warning from a fifth on, while nothing is learned.",
        "梯度不是半精度。达到五分之一且没有学到东西时为警告。",
    ),
    advice: text(
        "Scale the loss (a gradient scaler), or use bf16.",
        "使用损失缩放（gradient scaler），或改用 bf16。",
    ),
    ..BASE
};

pub(super) static CLIP_ALWAYS: Condition = Condition {
    id: "clip_always",
    target: Target::Gradient,
    parameters: &[limit(
        "share_gt",
        Range::Share,
        text(
            "share of steps that are clipped above",
            "被裁剪的步数比例大于",
        ),
    )
    .at(0.9)],
    severity: Severity::Info,
    needs: ConditionNeeds {
        history: true,
        ..NOTHING
    },
    watches: |subject, _| subject.is(Target::Gradient),
    judge: Some(explosion::always_clipped),
    says: text(
        "gradients are clipped at almost every step",
        "几乎每一步都在裁剪梯度",
    ),
    checks: text(
        "The norm of the recorded gradients is below the recorded norm at more than share_gt of the steps.",
        "记录的梯度范数低于所记录的裁剪前范数的步数比例大于 share_gt。",
    ),
    matters: text(
        "Then the limit, not the gradient, sets the length of steps.",
        "此时步长由裁剪阈值而非梯度决定。",
    ),
    not_judged: text(
        "Fewer than 8 steps, or the loss is scaled. A warning where less than a thousandth is left.",
        "少于 8 步，或使用损失缩放。剩余不足千分之一时为警告。",
    ),
    advice: text(
        "Raise max_norm to what the norm usually is.",
        "将 max_norm 提高到范数的通常水平。",
    ),
    ..BASE
};
