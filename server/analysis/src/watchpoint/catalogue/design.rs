//! Conditions about the program itself: the rules of the guided diagnosis, one condition each, by the name of the rule.

use trainscope_format::Severity;

use super::{BASE, Condition, Target, text};
use crate::watchpoint::checks::design;

/// A condition that hits where its rule says fault, or note.
const RULE: Condition = Condition {
    target: Target::Run,
    severity: Severity::Warning,
    watches: |_, _| false,
    judge: Some(design::remarked),
    ..BASE
};

pub(super) static SETTINGS: Condition = Condition {
    id: "settings",
    says: text(
        "a hyper-parameter cannot train a model",
        "超参数取值无法训练模型",
    ),
    checks: text(
        "A learning rate is 0, negative, not finite or above 1000; a batch has fewer than 1 sample, or 1 with batch \
         normalisation; momentum, a beta, dropout or label smoothing is outside [0, 1); weight decay is negative. A note \
         where the value is only unusual.",
        "学习率为 0、负数、非有限数或大于 1000；批大小小于 1，或使用批归一化时为 1；动量、beta、dropout 或标签平滑不在 \
         [0, 1) 内；权重衰减为负。仅仅少见的取值为提示。",
    ),
    matters: text(
        "Each step subtracts learning rate × gradient (Goodfellow et al., Deep Learning, algorithm 8.1): outside of these \
         ranges the formula of the optimizer does not converge for any model.",
        "每步减去学习率 × 梯度（Goodfellow 等，《深度学习》，算法 8.1）：超出这些范围时，优化器的公式对任何模型都不收敛。",
    ),
    not_judged: text(
        "Neither a learning rate nor a batch size was recorded.",
        "未记录学习率和批大小。",
    ),
    advice: text(
        "Correct the value in the configuration of the training.",
        "请在训练配置中更正该值。",
    ),
    ..RULE
};

pub(super) static LOSS_ACTIVATION: Condition = Condition {
    id: "loss_activation",
    says: text(
        "the activation before the loss is missing or applied twice",
        "损失前缺少激活函数，或激活函数重复",
    ),
    checks: text(
        "A loss that applies softmax or sigmoid itself gets probabilities or rectified scores; a loss of probabilities or \
         of their logarithms gets scores; or one softmax feeds another.",
        "自带 softmax 或 sigmoid 的损失得到概率或截断的得分；需要概率或对数概率的损失得到得分；或两个 softmax 相连。",
    ),
    matters: text(
        "softmax(softmax(x)) of C classes lies between 1 / (C - 1 + e) and e / (C - 1 + e), so the loss cannot fall below \
         ln(C - 1 + e) - 1. What each loss expects is in the documentation of its framework.",
        "C 个类别的 softmax(softmax(x)) 介于 1 / (C - 1 + e) 与 e / (C - 1 + e) 之间，损失不可能低于 ln(C - 1 + e) - 1。\
         各损失的输入要求见其框架文档。",
    ),
    not_judged: text(
        "No graph was recorded, or it ends before the loss.",
        "未记录计算图，或计算图在损失之前结束。",
    ),
    advice: text(
        "Give the loss what its documentation asks for: scores, probabilities or their logarithms.",
        "按损失函数的文档提供得分、概率或对数概率。",
    ),
    ..RULE
};

pub(super) static BROADCAST: Condition = Condition {
    id: "broadcast",
    says: text(
        "a difference is broadcast to a table of all pairs",
        "差值被广播成两两组合的表",
    ),
    checks: text(
        "A loss or a difference that is reduced to one compares [n, 1] with [n], or [n]s of which one is a column: the \
         result is [n, n].",
        "损失或随后归约的差值比较了 [n, 1] 与 [n] 等形状：结果为 [n, n]。",
    ),
    matters: text(
        "By the rules of broadcasting of NumPy, each answer is compared with the targets of all samples: the model learns \
         their mean.",
        "按 NumPy 的广播规则，每个输出会与所有样本的目标比较：模型只学到目标的均值。",
    ),
    not_judged: text(
        "No graph was recorded, or it has no shapes.",
        "未记录计算图，或图中没有形状。",
    ),
    advice: text(
        "Squeeze the column, or give both the same shape.",
        "对列向量使用 squeeze，或使两者形状一致。",
    ),
    ..RULE
};

pub(super) static UNUSED_PARAMETERS: Condition = Condition {
    id: "unused_parameters",
    says: text(
        "a parameter is used by no operation",
        "参数未被任何算子使用",
    ),
    checks: text(
        "A trainable parameter of the graph feeds no operation.",
        "计算图中的可训练参数不是任何算子的输入。",
    ),
    matters: text(
        "Without an operation there is no gradient: the parameter keeps its initial value.",
        "没有算子就没有梯度：参数保持初始值。",
    ),
    not_judged: text(
        "No graph was recorded, it names no parameters, or it was traced and holds only what ran.",
        "未记录计算图、图中未列出参数，或图由追踪得到、只含运行过的部分。",
    ),
    advice: text(
        "Call the layer in the forward pass, or remove it.",
        "在前向计算中调用该层，或将其删除。",
    ),
    ..RULE
};

pub(super) static USELESS_BIAS: Condition = Condition {
    id: "useless_bias",
    severity: Severity::Info,
    says: text(
        "a bias is removed by the normalisation after it",
        "偏置被其后的归一化抵消",
    ),
    checks: text(
        "The output of a layer with a bias is used by a batch normalisation alone.",
        "带偏置的层，其输出仅由批归一化使用。",
    ),
    matters: text(
        "(x + b) - mean(x + b) = x - mean(x) (Ioffe and Szegedy 2015, section 3.2): the bias costs memory and has no effect.",
        "(x + b) - mean(x + b) = x - mean(x)（Ioffe 与 Szegedy 2015，3.2 节）：偏置占用内存而没有作用。",
    ),
    not_judged: text("No graph was recorded.", "未记录计算图。"),
    advice: text("Build the layer without a bias.", "构建该层时不使用偏置。"),
    ..RULE
};

pub(super) static SHUFFLING: Condition = Condition {
    id: "shuffling",
    severity: Severity::Info,
    says: text("samples are not shuffled", "样本未打乱"),
    checks: text(
        "The data pipeline has a sequential sampler and no operation that shuffles.",
        "数据流程使用顺序采样且没有打乱操作。",
    ),
    matters: text(
        "Batches of neighbours are not independent samples, which the estimate of the gradient assumes (Goodfellow et al., \
         Deep Learning, section 8.1.3).",
        "相邻样本组成的批次并非独立样本，而梯度估计以此为前提（Goodfellow 等，《深度学习》，8.1.3 节）。",
    ),
    not_judged: text(
        "The data pipeline was not recorded, or does not tell its sampler.",
        "未记录数据流程，或其中没有采样器信息。",
    ),
    advice: text(
        "Shuffle the samples of the training set once per epoch.",
        "训练集的样本每轮打乱一次。",
    ),
    ..RULE
};

pub(super) static SCALING: Condition = Condition {
    id: "scaling",
    severity: Severity::Info,
    says: text("pixels are not scaled", "像素值未归一化"),
    checks: text(
        "The data pipeline reads pictures of 0 to 255 and has no operation that changes their range.",
        "数据流程读取 0 到 255 的图像，且没有改变取值范围的操作。",
    ),
    matters: text(
        "Inputs far from mean 0 and spread 1 make training slow (LeCun et al. 1998, Efficient BackProp, section 4.3).",
        "输入远离均值 0、标准差 1 会使训练变慢（LeCun 等 1998，Efficient BackProp，4.3 节）。",
    ),
    not_judged: text(
        "The data pipeline was not recorded, or does not tell what it reads.",
        "未记录数据流程，或其中没有数据来源。",
    ),
    advice: text(
        "Divide by 255, or subtract the mean and divide by the standard deviation.",
        "除以 255，或减去均值后除以标准差。",
    ),
    ..RULE
};
