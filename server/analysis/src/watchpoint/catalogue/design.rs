//! Conditions about the program itself: the rules of the guided diagnosis, one condition each, with the name of the
//! rule.

use trainscope_format::Severity;

use super::{BASE, Condition, Prose, Target};
use crate::diagnosis::Rule;
use crate::watchpoint::checks::design;

/// A condition whose hits are faults and notes of a rule, without texts.
pub(super) const fn of(rule: Rule) -> Condition {
    Condition {
        id: rule.name(),
        target: Target::Run,
        severity: Severity::Warning,
        topic: rule.topic(),
        rule: Some(rule),
        judge: Some(design::remarked),
        ..BASE
    }
}

pub(crate) static SETTINGS: Condition = Condition {
    en: Prose {
        says: "implausible hyper-parameter",
        checks: "A learning rate is 0, negative, not finite or above 1000; a batch has fewer than 1 sample, or 1 with batch \
         normalisation; momentum, a beta, dropout or label smoothing is outside [0, 1); weight decay is negative. Of the \
         optimizer as the program runs it: also an eps that is 0 in the type of the weights, and Adam with a weight_decay of 0.05 \
         or more, which is L2 there, and a highest learning rate of Adam, Lion or RMSprop of more than 5 times the mean |weight| \
         before the first update (median over matrices). A batch normalisation has a momentum above 0.5. A note where the value is only unusual.",
        matters: "Each step subtracts learning rate × gradient (Goodfellow et al., Deep Learning, algorithm 8.1): outside of these \
         ranges the formula of the optimizer does not converge for any model.",
        not_judged: "Neither a learning rate nor a batch size was recorded, nor the settings of the optimizer (trainscope run, or \
         run.watch with the optimizer).",
        advice: "Correct the value in the configuration of the training.",
    },
    zh: Prose {
        says: "超参数取值异常",
        checks: "学习率为 0、负数、非有限数或大于 1000；批次大小小于 1，或使用批归一化时为 1；动量、beta、dropout 或标签平滑不在 \
         [0, 1) 内；权重衰减为负。按程序实际运行的优化器还包括：eps 在权重的类型中为 0；Adam 的 weight_decay 不小于 0.05（在 Adam 中即 L2）；Adam、Lion 或 RMSprop 的最高学习率超过首次更新前权重绝对值均值（各矩阵的中位数）的 5 倍。\
         批归一化的 momentum 大于 0.5。仅仅少见的取值为提示。",
        matters: "每个迭代减去学习率 × 梯度（Goodfellow 等，《深度学习》，算法 8.1）：超出这些范围时，优化器的公式对任何模型都不收敛。",
        not_judged: "未记录学习率和批次大小，也未记录优化器的设置（trainscope run，或带优化器的 run.watch）。",
        advice: "请在训练配置中更正该值。",
    },
    ..of(Rule::Settings)
};

pub(crate) static LOSS_ACTIVATION: Condition = Condition {
    en: Prose {
        says: "loss does not fit output activation",
        checks: "Error: softmax over a single unit; a cross-entropy over classes with a single unit; a loss of probabilities after \
         no activation, ReLU, tanh or another one whose values are not probabilities. Warning: a loss that applies softmax \
         or sigmoid itself after softmax, sigmoid or ReLU; categorical cross-entropy after sigmoid; a squared or absolute \
         error after softmax; two softmax in a row. Note: binary cross-entropy after softmax; a squared or absolute error \
         after ReLU, a warning if 5 % of the targets are negative. Also a warning: log_softmax along the samples; the only loss of one optimizer with a sign by which updates make it larger. The loss is the one that the program computed, if a fact of it \
         was recorded, or an operation of the graph, or what Keras was compiled with.",
        matters: "softmax of one number is 1 whatever it is. The logarithm of a number that is not a probability does not exist, or is \
         clipped and has no gradient. softmax(softmax(x)) of C classes is between 1 / (C - 1 + e) and e / (C - 1 + e), so \
         the loss cannot fall below ln(C - 1 + e) - 1. No threshold: the table follows from the formulas of the losses \
         (documentation of from_logits in Keras, of CrossEntropyLoss and BCELoss in PyTorch; NeuraLint, TOSEM 2021).",
        not_judged: "Neither a fact of the loss (trainscope run, or run.watch) nor a graph that includes it was recorded; an activation or a \
         loss that is a function of the program.",
        advice: "Losses that apply the activation themselves take logits, with no activation at the end of the model: CrossEntropyLoss \
         and BCEWithLogitsLoss in PyTorch, SoftmaxCrossEntropyWithLogits, CrossEntropyLoss and BCEWithLogitsLoss in MindSpore, \
         and losses with from_logits=True in Keras. Others take the result: log_softmax for NLLLoss, sigmoid for BCELoss; in \
         Keras, where from_logits is False by default, softmax for CategoricalCrossentropy and SparseCategoricalCrossentropy, \
         sigmoid for BinaryCrossentropy. Several classes need a unit for each, yes or no needs one unit. A number: no \
         activation and a squared or absolute error.",
    },
    zh: Prose {
        says: "损失与输出激活函数不匹配",
        checks: "错误：对单个单元做 softmax；多类交叉熵只有一个单元；需要概率的损失之前没有激活函数，或是 ReLU、tanh 等输出不是概率的函数。\
         警告：自带 softmax 或 sigmoid 的损失之前是 softmax、sigmoid 或 ReLU；sigmoid 之后使用多类交叉熵；softmax 之后使用平方或绝对误差；\
         两个 softmax 相连。提示：softmax 之后使用二元交叉熵；ReLU 之后使用平方或绝对误差（5 % 的目标值为负时为警告）。另有警告：沿样本维度计算 log_softmax；由单个优化器训练的唯一损失，其符号使更新把它变大。损失取自程序实际计算的损失（若记录了相关事实），\
         否则取自计算图的算子或 Keras 的编译配置。",
        matters: "单个数的 softmax 恒为 1。不是概率的数没有对数，或被截断而没有梯度。C 个类别的 softmax(softmax(x)) 介于 1 / (C - 1 + e) 与 \
         e / (C - 1 + e) 之间，损失不可能低于 ln(C - 1 + e) - 1。没有阈值：此表由损失的公式得出（Keras 的 from_logits 文档、PyTorch 的 \
         CrossEntropyLoss 与 BCELoss 文档；NeuraLint，TOSEM 2021）。",
        not_judged: "既未记录损失的事实（trainscope run 或 run.watch），也没有包含损失的计算图；激活函数或损失是程序自定义的函数。",
        advice: "自带激活函数的损失需要 logits，模型末尾不加激活函数：PyTorch 的 CrossEntropyLoss 与 BCEWithLogitsLoss，MindSpore 的 \
         SoftmaxCrossEntropyWithLogits、CrossEntropyLoss 与 BCEWithLogitsLoss，Keras 中 from_logits=True 的损失。其他损失需要激活后的结果：\
         NLLLoss 配 log_softmax，BCELoss 配 sigmoid；Keras 的 from_logits 默认为 False，CategoricalCrossentropy 与 SparseCategoricalCrossentropy \
         配 softmax，BinaryCrossentropy 配 sigmoid。多类之一：每类一个单元；是或否：一个单元。数值：不用激活函数，平方或绝对误差。",
    },
    ..of(Rule::LossActivation)
};

pub(crate) static BROADCAST: Condition = Condition {
    en: Prose {
        says: "accidental broadcasting",
        checks: "A loss or a difference that is reduced to one compares [n, 1] with [n], or [n]s of which one is a column: the \
         result is [n, n]. A fact of the loss that the program computed decides, if one was recorded; a note if one target is \
         compared with all outputs, which may be meant.",
        matters: "By the rules of broadcasting of NumPy, each answer is compared with the targets of all samples: the model learns \
         their mean.",
        not_judged: "Neither a fact of the loss (trainscope run, or run.watch) nor a graph with shapes was recorded.",
        advice: "Squeeze the column, or give both the same shape.",
    },
    zh: Prose {
        says: "意外的广播",
        checks: "损失或随后归约的差值比较了 [n, 1] 与 [n] 等形状：结果为 [n, n]。若记录了程序所计算损失的事实则以它为准；一个目标与所有输出比较可能是有意的，为提示。",
        matters: "按 NumPy 的广播规则，每个输出会与所有样本的目标比较：模型只学到目标的均值。",
        not_judged: "既未记录损失的事实（trainscope run 或 run.watch），也没有带形状的计算图。",
        advice: "对列向量使用 squeeze，或使两者形状一致。",
    },
    ..of(Rule::Broadcast)
};

pub(crate) static UNUSED_PARAMETERS: Condition = Condition {
    en: Prose {
        says: "unused parameter",
        checks: "A trainable parameter of the graph feeds no operation.",
        matters: "Without an operation there is no gradient: the parameter keeps its initial value.",
        not_judged: "No graph was recorded, it names no parameters, or it was traced and holds only what ran.",
        advice: "Call the layer in the forward pass, or remove it.",
    },
    zh: Prose {
        says: "未使用的参数",
        checks: "计算图中的可训练参数不是任何算子的输入。",
        matters: "没有算子就没有梯度：参数保持初始值。",
        not_judged: "未记录计算图、图中未列出参数，或图由追踪得到、只含运行过的部分。",
        advice: "在前向计算中调用该层，或将其删除。",
    },
    ..of(Rule::UnusedParameters)
};

pub(crate) static USELESS_BIAS: Condition = Condition {
    severity: Severity::Info,
    en: Prose {
        says: "bias cancelled by normalization",
        checks: "The output of a layer with a bias is used by a batch normalisation alone.",
        matters: "(x + b) - mean(x + b) = x - mean(x) (Ioffe and Szegedy 2015, section 3.2): the bias costs memory and has no effect.",
        not_judged: "No graph was recorded.",
        advice: "Build the layer without a bias.",
    },
    zh: Prose {
        says: "偏置被归一化抵消",
        checks: "带偏置的层，其输出仅由批归一化使用。",
        matters: "(x + b) - mean(x + b) = x - mean(x)（Ioffe 与 Szegedy 2015，3.2 节）：偏置占用内存而没有作用。",
        not_judged: "未记录计算图。",
        advice: "构建该层时不使用偏置。",
    },
    ..of(Rule::UselessBias)
};

pub(crate) static LINEAR_LAYERS: Condition = Condition {
    severity: Severity::Info,
    en: Prose {
        says: "no activation between two layers",
        checks: "A dense or convolutional layer gets the output of another one directly, or through dropout and reshapes, and nothing \
         else uses that output. Edges of the graph are followed, not the order of layers.",
        matters: "W2 (W1 x + b1) + b2 = (W2 W1) x + (W2 b1 + b2): two linear layers compute what one can.",
        not_judged: "No graph was recorded. Only a note: a narrow layer between may be meant, as a factorization.",
        advice: "Add an activation between them, or remove one.",
    },
    zh: Prose {
        says: "两层之间没有激活函数",
        checks: "全连接层或卷积层直接（或只经过 dropout、变形）使用另一层的输出，且该输出没有其他用途。按计算图的边判断，而不是层的顺序。",
        matters: "W2 (W1 x + b1) + b2 = (W2 W1) x + (W2 b1 + b2)：两个线性层只相当于一个。",
        not_judged: "未记录计算图。仅为提示：中间的窄层可能是有意的低秩分解。",
        advice: "在两层之间加激活函数，或去掉一层。",
    },
    ..of(Rule::LinearLayers)
};

pub(crate) static SHUFFLING: Condition = Condition {
    severity: Severity::Info,
    en: Prose {
        says: "samples are not shuffled",
        checks: "The data pipeline has a sequential sampler and no operation that shuffles; or no loader of the training shuffles.",
        matters: "Batches of neighbours are not independent samples, which the estimate of the gradient assumes (Goodfellow et al., \
         Deep Learning, section 8.1.3).",
        not_judged: "Neither the data pipeline nor a data loader was recorded (trainscope run, or run.watch), or it does not tell its \
         sampler.",
        advice: "Shuffle the samples of the training set once per epoch.",
    },
    zh: Prose {
        says: "样本未打乱",
        checks: "数据流水线使用顺序采样且没有打乱操作；或训练的数据加载器都不打乱。",
        matters: "相邻样本组成的批次并非独立样本，而梯度估计以此为前提（Goodfellow 等，《深度学习》，8.1.3 节）。",
        not_judged: "未记录数据流水线和数据加载器（trainscope run 或 run.watch），或其中没有采样器信息。",
        advice: "训练集的样本每轮打乱一次。",
    },
    ..of(Rule::Shuffling)
};

pub(crate) static SCALING: Condition = Condition {
    severity: Severity::Info,
    en: Prose {
        says: "pixels are not scaled",
        checks: "The data pipeline reads pictures of 0 to 255 and has no operation that changes their range.",
        matters: "Inputs far from mean 0 and spread 1 make training slow (LeCun et al. 1998, Efficient BackProp, section 4.3).",
        not_judged: "The data pipeline was not recorded, or does not tell what it reads.",
        advice: "Divide by 255, or subtract the mean and divide by the standard deviation.",
    },
    zh: Prose {
        says: "像素值未归一化",
        checks: "数据流水线读取 0 到 255 的图像，且没有改变取值范围的操作。",
        matters: "输入远离均值 0、标准差 1 会使训练变慢（LeCun 等 1998，Efficient BackProp，4.3 节）。",
        not_judged: "未记录数据流水线，或其中没有数据来源。",
        advice: "除以 255，或减去均值后除以标准差。",
    },
    ..of(Rule::Scaling)
};
