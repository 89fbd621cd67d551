//! Conditions about outputs of a model and their targets.

use trainscope_api::guide::Topic;
use trainscope_format::Severity;

use super::{BASE, Condition, Key, Need, Prose, Range, Target, limit};
use crate::watchpoint::checks::{answers, contradiction};
use crate::watchpoint::model::scalars::Meaning;
use crate::watchpoint::model::subject::Class;

pub(crate) static UNREACHABLE_TARGETS: Condition = Condition {
    id: "unreachable_targets",
    parameters: &[limit(Key::PercentageGt, Range::Percentage)
        .says(
            "percentage of the targets out of reach above",
            "无法达到的目标的百分比大于",
        )
        .at(2.0)],
    severity: Severity::Warning,
    needs: &[Need::Exponents],
    watches: Some(|subject, _| subject.class == Class::Labels),
    judge: Some(answers::unreachable),
    en: Prose {
        says: "the output cannot reach the targets",
        checks: "More than percentage_gt percent of the targets are outside of what the last activation can give: 0 to 1 for sigmoid \
         and softmax, -1 to 1 for tanh, 0 and above for ReLU; for cross-entropies always 0 to 1. One part in twenty of that \
         range is allowed, for rounding and scaling. Source: the output range check of TheDeepChecker (TOSEM 2023).",
        matters: "The model learns to give the end of its range, whatever the input is; a cross-entropy falls below 0.",
        not_judged: "The last activation is not known from a graph or the order of layers; targets are class numbers; fewer than 8 targets. \
         2 percent leaves room for outliers of data that were scaled.",
        advice: "Classes: one unit for each class and a cross-entropy; softmax only where the loss does not apply it (PyTorch's \
         CrossEntropyLoss does). Numbers: no activation on the last layer, or scale the targets to its range.",
    },
    zh: Prose {
        says: "输出无法达到目标值",
        checks: "超过 percentage_gt % 的目标值超出最后一个激活函数的取值范围：sigmoid 与 softmax 为 0 到 1，tanh 为 -1 到 1，ReLU 不小于 0；\
         交叉熵始终为 0 到 1。允许超出该范围的二十分之一（舍入与缩放）。来源：TheDeepChecker（TOSEM 2023）的输出范围检查。",
        matters: "无论输入如何，模型都会趋向取值范围的端点；交叉熵会小于 0。",
        not_judged: "从计算图或层顺序无法得知最后的激活函数；目标为类别编号；目标少于 8 个。2 % 为缩放后数据的离群值留出余地。",
        advice: "分类：每个类别一个单元，使用交叉熵；仅当损失自身不做 softmax 时才加 softmax（PyTorch 的 CrossEntropyLoss 自带）。回归：最后一层不用激活函数，或把目标缩放到其范围内。",
    },
    ..BASE
};

pub(crate) static CONSTANT_OUTPUT: Condition = Condition {
    id: "constant_output",
    target: Target::Activation,
    parameters: &[limit(Key::PercentageGte, Range::Percentage)
        .says(
            "percentage of the recorded steps at least",
            "占记录的迭代的百分比不小于",
        )
        .at(80.0)],
    severity: Severity::Warning,
    needs: &[Need::Channels, Need::History],
    watches: Some(|subject, _| subject.class == Class::Activation),
    judge: Some(answers::constant),
    en: Prose {
        says: "constant output for all samples",
        checks: "Each unit of the last layer differs between the samples of a batch by less than a millionth of its size, at \
         percentage_gte percent of the recorded steps, while the targets (or, if they were not recorded, the inputs) differ.",
        matters: "The input does not reach the output, so no gradient reaches the layers: gradients of zeros follow from it.",
        not_judged: "Batches of fewer than 4 samples, fewer than 3 recorded steps, an unknown last layer. A last layer \
         initialized with zeros gives the same output at first, so 80 percent of the steps are required.",
        advice: "Softmax over a single unit? A ReLU at the end, or a narrow one before it, that is 0 for every sample? Saturated units \
         because inputs are not scaled?",
    },
    zh: Prose {
        says: "输出对所有样本都相同",
        checks: "在 percentage_gte % 的已记录迭代中，最后一层每个单元在批次内样本间的差异小于其大小的百万分之一，而目标（未记录时为输入）各不相同。",
        matters: "输入影响不到输出，各层也就得不到梯度：全零梯度由此而来。",
        not_judged: "批次少于 4 个样本、记录的迭代少于 3、最后一层未知。以零初始化的最后一层开始时输出相同，因此要求 80 % 的迭代。",
        advice: "是否对单个单元做 softmax？末尾或其前的窄 ReLU 层是否对所有样本为 0？是否因输入未缩放而饱和？",
    },
    ..BASE
};

pub(crate) static FRACTIONAL_CLASSES: Condition = Condition {
    id: "fractional_classes",
    parameters: &[limit(Key::PercentageGt, Range::Percentage)
        .says(
            "percentage between 0 and 1 above",
            "介于 0 与 1 之间的百分比大于",
        )
        .at(0.0)],
    severity: Severity::Error,
    needs: &[Need::Exponents],
    watches: Some(|subject, _| subject.class == Class::Labels),
    judge: Some(answers::class_numbers),
    en: Prose {
        says: "class labels are not integers",
        checks: "The loss takes numbers of classes (sparse cross-entropy), and a target is between 0 and 1, or the least or greatest \
         differs from an integer by more than a millionth.",
        matters: "They are cut to integers: labels that were divided by 255 all become class 0, and the loss falls to 0 at once.",
        not_judged: "The loss is not known from a graph or hyper-parameters. Any such number is a fault, so the limit is 0.",
        advice: "Scale the inputs and not the labels.",
    },
    zh: Prose {
        says: "类别编号不是整数",
        checks: "损失要求类别编号（稀疏交叉熵），而有目标介于 0 与 1 之间，或最小、最大值与整数相差超过百万分之一。",
        matters: "它们会被截断为整数：除以 255 的类别标签全部变为类别 0，损失立即降到 0。",
        not_judged: "从计算图或超参数无法得知损失。任何此类数值都是错误，因此阈值为 0。",
        advice: "缩放输入，不要缩放类别标签。",
    },
    ..BASE
};

pub(crate) static LOSS_CONTRADICTION: Condition = Condition {
    id: "loss_contradiction",
    target: Target::Scalar,
    reads_scalars: &[Meaning::Loss, Meaning::HeldOutLoss],
    parameters: &[
        limit(Key::ExcessGt, Range::NotNegative)
            .says(
                "share of wrong answers beyond what the loss allows above",
                "错误比例超出损失所允许的部分大于",
            )
            .at(0.03),
        limit(Key::LossLt, Range::Finite)
            .says("cross-entropy below", "交叉熵小于")
            .at(-1e-3),
    ],
    topic: Topic::Loss,
    severity: Severity::Warning,
    needs: &[Need::History],
    judge: Some(contradiction::contradiction),
    en: Prose {
        says: "loss and accuracy contradict each other",
        checks: "A cross-entropy is below loss_lt; or 1 - accuracy is above loss / (ln 2 / 4) by more than excess_gt, at half of the points \
         and at the last. A wrong answer gives the right class a probability of at most one half, so it costs at least ln 2, or a \
         quarter of that with a class weight of 0.25: this holds for softmax over classes and for one sigmoid unit, whatever the \
         data are. Without a known loss: it is negative beside an accuracy, below -1 or after a positive start; or it stays above \
         ln(C - 1 + e) - 1 and ends near it at an accuracy of 80 %, which is the floor of a softmax of a softmax of C classes.",
        matters: "What is minimised is not what is measured: targets of the wrong type or range, or an output that does not fit the loss.",
        not_judged: "Losses with dice, likelihood, similarity and the like in their names; fewer points than 50 for the floor. For the bound: \
         the loss is not known from a graph; labels are smoothed or classes left out; several outputs or losses. With class or \
         sample weights below 0.25 the bound does not hold. 0.03 covers accuracies of single batches.",
        advice: "Compare targets and outputs by shape, type and range: class numbers for sparse cross-entropy, 0 or 1 for a sigmoid.",
    },
    zh: Prose {
        says: "损失与准确率互相矛盾",
        checks: "交叉熵小于 loss_lt；或在一半以上的点及最后一点，1 - 准确率比 loss / (ln 2 / 4) 大 excess_gt 以上。错误的预测给正确类别的概率不超过二分之一，\
         代价至少为 ln 2，类别权重为 0.25 时为其四分之一：对 softmax 分类和单个 sigmoid 单元恒成立，与数据无关。损失未知时：在记录准确率的同时损失为负（小于 -1，或由正变负）；或损失始终高于 ln(C - 1 + e) - 1 并在 80 % 的准确率下接近它，\
         即 C 个类别两次 softmax 的下界。",
        matters: "最小化的目标与度量的指标不一致：目标的类型或范围有误，或输出与损失不符。",
        not_judged: "名称中含 dice、likelihood、similarity 等的损失；判断下界时少于 50 个点。判断界限时：从计算图无法得知损失；标签平滑或忽略某些类别；多个输出或损失。类别或样本权重小于 0.25 时该界限不成立。0.03 覆盖单批次准确率的波动。",
        advice: "对照目标与输出的形状、类型和范围：稀疏交叉熵用类别编号，sigmoid 用 0 或 1。",
    },
    ..BASE
};

pub(crate) static CONSTANT_LOSS: Condition = Condition {
    id: "constant_loss",
    target: Target::Scalar,
    reads_scalars: &[Meaning::Loss],
    parameters: &[limit(Key::ChangeLte, Range::NotNegative)
        .says(
            "(greatest − least) / greatest at most",
            "最大值与最小值之差除以最大值不大于",
        )
        .at(1e-6)],
    topic: Topic::Loss,
    severity: Severity::Warning,
    needs: &[Need::History],
    judge: Some(contradiction::still),
    en: Prose {
        says: "the loss never changes",
        checks: "Over all points of the training loss, greatest less least is at most change_lte of the greatest: at least 3 points of \
         epochs, or 20 of batches.",
        matters: "Nothing is learned: no weight moves, or none reaches the loss. A millionth is some ten times the rounding of single precision.",
        not_judged: "A loss of 0, which a hinge loss may have for good; parts of a loss.",
        advice: "Is the learning rate 0? Are all layers frozen? Is the output the same for every sample, as of a softmax over one unit \
         or a dead ReLU?",
    },
    zh: Prose {
        says: "损失始终不变",
        checks: "训练损失全部点的最大值与最小值之差不超过最大值的 change_lte：至少 3 个轮次点，或 20 个批次点。",
        matters: "没有学到任何东西：权重没有变化，或影响不到损失。百万分之一约为单精度舍入误差的十倍。",
        not_judged: "损失为 0（合页损失可能一直如此）；损失的组成部分。",
        advice: "学习率是否为 0？是否所有层都被冻结？输出是否对所有样本都相同（单个单元的 softmax 或失活的 ReLU）？",
    },
    ..BASE
};
