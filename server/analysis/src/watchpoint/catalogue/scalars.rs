//! Conditions about the loss and other scalars.

use trainscope_api::guide::Topic;
use trainscope_format::Severity;

use super::{
    BASE, Combination, Condition, Key, Need, Parameter, Prose, Range, Target, limit, text,
};
use crate::watchpoint::checks::{held_out, initial, loss, plateau, precision, rate};
use crate::watchpoint::model::scalars::Meaning;
use crate::watchpoint::model::subject::Class;

/// The losses that are minimised.
const LOSS: &[Meaning] = &[Meaning::Loss];
/// These, and those on held-out data.
const LOSSES: &[Meaning] = &[Meaning::Loss, Meaning::HeldOutLoss];

/// Points of a curve that a rule needs.
const POINTS: Parameter =
    limit(Key::Points, Range::Count).says("minimum number of points", "所需点数");

pub(crate) static LOSS_NAN: Condition = Condition {
    id: "loss_nan",
    target: Target::Scalar,
    reads_scalars: LOSSES,
    topic: Topic::Loss,
    finds_not_finite: true,
    severity: Severity::Error,
    judge: Some(loss::not_finite),
    counts: crate::watchpoint::model::finding::POINTS,
    en: Prose {
        says: "loss is NaN or Inf",
        checks: "A loss is NaN or Inf; a validation loss only if it stays so until the end.",
        matters: "Nothing is learned from this step on.",
        not_judged: "Always judged.",
        advice: "Find the first non-finite tensor; the loss is only a consequence. If no tensors were recorded, record statistics. \
         Otherwise lower the learning rate (or the loss scale in fp16) and inspect the batch.",
    },
    zh: Prose {
        says: "损失为 NaN 或 Inf",
        checks: "损失为 NaN 或 Inf；验证损失仅在持续到结束时计入。",
        matters: "此后不再学习。",
        not_judged: "始终判断。",
        advice: "从第一个出现 NaN 或 Inf 的张量查起，损失只是其结果。若未记录张量，请记录其统计量。此外可降低学习率（fp16 下降低损失缩放），并检查该批次数据。",
    },
    ..BASE
};

pub(crate) static SCALAR_NOT_FINITE: Condition = Condition {
    id: "scalar_not_finite",
    target: Target::Scalar,
    topic: Topic::Loss,
    finds_not_finite: true,
    judge: Some(loss::scalar_not_finite),
    counts: crate::watchpoint::model::finding::POINTS,
    en: Prose {
        says: "a scalar is NaN or infinite",
        checks: "The number of points of any scalar that are NaN, Inf or −Inf is above 0.",
        matters: "NaN is what IEEE 754 (section 7.2) gives for an invalid operation, Inf for a division by zero or an overflow: \
         something that the scalar is computed from was one of these.",
        not_judged: "A warning or error of another condition about the same scalar and steps says the same.",
        advice: "Check how the scalar is computed. Some programs write NaN for *not measured*: leave those points out.",
    },
    zh: Prose {
        says: "标量为 NaN 或无穷",
        checks: "任一标量中 NaN、Inf、−Inf 的点数大于 0。",
        matters: "按 IEEE 754（7.2 节），NaN 是无效运算的结果，Inf 来自除以零或上溢：该标量的某个输入就是如此。",
        not_judged: "同一标量在相同迭代上已有其他条件的警告或错误时，不重复报告。",
        advice: "检查该标量的计算方式。有些程序用 NaN 表示“未测量”：不要写入这些点。",
    },
    ..BASE
};

pub(crate) static LOSS_SPIKE: Condition = Condition {
    id: "loss_spike",
    target: Target::Scalar,
    reads_scalars: LOSS,
    parameters: &[
        limit(Key::ZGt, Range::Positive)
            .says("robust z-score above", "稳健 z 值大于")
            .at(6.0),
        limit(Key::Window, Range::Count)
            .says(
                "number of previous points to compare with",
                "用于对比的此前点数",
            )
            .at(256.0)
            .support(),
        limit(Key::FactorGt, Range::Positive)
            .says("value / median of the window above", "与窗口中位数之比大于")
            .at(1.1),
    ],
    topic: Topic::Loss,
    severity: Severity::Warning,
    needs: &[Need::History],
    combination: Combination::All,
    judge: Some(loss::spike),
    en: Prose {
        says: "loss spike",
        checks: "A point exceeds the median of the window by more than z_gt robust standard deviations and by factor_gt, and is at least twice its maximum; after negative losses, it exceeds the maximum of at least 16 points by three times their range.",
        matters: "A bad batch, or an update that was too large.",
        not_judged: "Fewer than 5 previous points; a loss far below chance level, which few samples dominate. Only a note for losses that may rise in a healthy run (see loss_divergence).",
        advice: "Inspect the batch; resume from an earlier checkpoint and skip it; clip the gradient.",
    },
    zh: Prose {
        says: "损失突增",
        checks: "某点高于窗口中位数超过 z_gt 个稳健标准差、factor_gt 倍，且为窗口最高值的两倍；此前有负值时，须超出至少 16 个点的最大值达其极差的三倍。",
        matters: "该批次有问题，或一次更新过大。",
        not_judged: "此前少于 5 点；远低于随机猜测、由少数样本构成的损失。对可能上升的损失（见 loss_divergence）仅作提示。",
        advice: "检查该批次；从较早的检查点恢复并跳过它；裁剪梯度。",
    },
    ..BASE
};

pub(crate) static LOSS_DIVERGENCE: Condition = Condition {
    id: "loss_divergence",
    target: Target::Scalar,
    reads_scalars: LOSS,
    parameters: &[limit(Key::FactorGt, Range::Positive)
        .says("loss / best loss above", "损失与最好值之比大于")
        .at(2.0)],
    topic: Topic::Loss,
    severity: Severity::Warning,
    patience: 3,
    needs: &[Need::History],
    judge: Some(loss::divergence),
    en: Prose {
        says: "loss diverges",
        checks: "The loss is above factor_gt times its best value and 1.2 times its initial value, at 3 consecutive points (9 if neighboring points scatter by more than 20 %) or until it is NaN; or the median of its last 15 % of points is above 3 times its best and half the way back to its initial value, above 4 times the noise, and does not fall. A loss with negative values: it ends as far above its initial value as it had fallen, by at least 10 times the noise (from second differences, Gasser et al. 1986). Or it loses half of its fall, and does not fall again: fall and rise are 10 times the noise each. The rise is 5.5 times what a random walk of the same steps is expected to reach.",
        matters: "The model gets worse.",
        not_judged: "A classifier below chance level; a rise after the learning rate was raised (warm restart). Below a factor of 1e6 also: losses of reinforcement learning (td, q, critic, value, policy, actor, advantage, entropy, or a reward or return beside it), of adversarial networks, of several models with an optimizer and a loss each, of chosen actions or policies by the facts of the program, losses whose targets have doubled in size, regularization terms (kl, aux, penalty), and a part of a loss whose total does not rise: they may rise in a healthy run.",
        advice: "Lower the learning rate; check the sign of the loss, and that gradients are zeroed.",
    },
    zh: Prose {
        says: "损失发散",
        checks: "损失连续 3 点（相邻点波动超过 20 % 时为 9 点，或直到变为 NaN）大于最好值的 factor_gt 倍且大于起始的 1.2 倍；或最后 15 % 点的中位数大于最好值的 3 倍、回升过半、超出噪声 4 倍且不再下降。含负值的损失：最终高出起始值的幅度不小于曾下降的幅度，且至少为噪声（由二阶差分估计，Gasser 等 1986）的 10 倍；或下降的幅度回升过半且不再下降，升降均至少为噪声的 10 倍。上升幅度须达到同样步长随机游走预期的 5.5 倍。",
        matters: "模型在变差。",
        not_judged: "分类器低于随机猜测水平时；学习率上调（热重启）之后的上升。百万倍以内还包括：强化学习的损失（td、q、critic、value、policy、actor、advantage、entropy，或同时记录了 reward/return）、对抗网络的损失、各有优化器和损失的多个模型、按程序事实属于所选动作或策略的损失、目标值的大小已翻倍的损失、正则项（kl、aux、penalty），以及总损失并未上升的分项损失：它们在正常训练中也会上升。",
        advice: "降低学习率；检查损失符号，以及梯度是否清零。",
    },
    ..BASE
};

pub(crate) static LOSS_PLATEAU: Condition = Condition {
    id: "loss_plateau",
    target: Target::Scalar,
    reads_scalars: LOSS,
    parameters: &[
        POINTS.at(100.0).support(),
        limit(Key::ChangeLt, Range::Share)
            .says(
                "largest change from the first fifth below",
                "与首个五分之一相比的最大变化小于",
            )
            .at(0.05),
    ],
    topic: Topic::Loss,
    needs: &[Need::History],
    judge: Some(plateau::flat),
    en: Prose {
        says: "loss plateau",
        checks: "The medians of all fifths of the points differ from that of the first by less than change_lt; a warning if they are at chance level, ln(classes): within 15 % with an accuracy recorded, within 5 % if only the first loss (within 5 % of ln(classes)) or integer labels (within 25 %) show that it is a cross entropy.",
        matters: "Labels may not match their inputs, or the model cannot learn.",
        not_judged: "Too few points; a loss that fell before it became flat.",
        advice: "Check that labels match their inputs; try to overfit a single batch; raise the learning rate.",
    },
    zh: Prose {
        says: "损失停滞",
        checks: "各五分之一的点的中位数与首个相差均小于 change_lt；处于随机猜测水平 ln(类别数) 时为警告：记录了准确率时相差 15 % 以内；仅由初始损失（相差 5 % 以内）或整数类别标签（相差 25 % 以内）判断为交叉熵时相差 5 % 以内。",
        matters: "标签与输入不符，或模型无法学习。",
        not_judged: "点数不足。先下降后平坦不算。",
        advice: "检查标签与输入是否对应；故意过拟合一个批次；提高学习率。",
    },
    ..BASE
};

pub(crate) static SLOW_CONVERGENCE: Condition = Condition {
    id: "slow_convergence",
    target: Target::Scalar,
    reads_scalars: LOSS,
    parameters: &[
        POINTS.at(200.0).support(),
        limit(Key::FallLt, Range::Share)
            .says("decrease below", "下降幅度小于")
            .at(0.1),
    ],
    topic: Topic::Loss,
    needs: &[Need::History],
    judge: Some(plateau::slow),
    en: Prose {
        says: "slow convergence",
        checks: "Over all recorded points, at least the minimum number, the loss has fallen by less than fall_lt, and further than a random walk would.",
        matters: "Much time for little progress.",
        not_judged: "Too few points; a loss that was low from the start.",
        advice: "Raise the learning rate, or use an adaptive optimizer.",
    },
    zh: Prose {
        says: "收敛缓慢",
        checks: "在全部记录点（不少于所需点数）内损失下降不足 fall_lt，但超过随机游走所及。",
        matters: "耗时多而进展少。",
        not_judged: "点数不足；一开始就很低的损失。",
        advice: "提高学习率，或使用自适应优化器。",
    },
    ..BASE
};

pub(crate) static LOSS_OSCILLATION: Condition = Condition {
    id: "loss_oscillation",
    target: Target::Scalar,
    reads_scalars: LOSS,
    parameters: &[
        limit(Key::ShareGt, Range::Share)
            .says("share of reversals above", "转向比例大于")
            .at(0.9),
        limit(Key::Points, Range::Count)
            .says("number of last points to judge", "考察的点数")
            .at(50.0)
            .support(),
    ],
    topic: Topic::Loss,
    needs: &[Need::History],
    judge: Some(plateau::swinging),
    en: Prose {
        says: "loss oscillates",
        checks: "The share of reversals of direction among the last points is above share_gt, and the loss swings by more than 1 % of its level. Independent noise reverses at two of three points, and at nine of ten of 50 points in fewer than one of 50,000 curves.",
        matters: "Updates overshoot the minimum.",
        not_judged: "Too few points.",
        advice: "Lower the learning rate, or use larger batches.",
    },
    zh: Prose {
        says: "损失震荡",
        checks: "最近若干点中转向比例大于 share_gt，且摆动超过其水平的 1%。独立噪声约在三分之二的点上转向；50 个点中有九成转向的，五万条曲线中不到一条。",
        matters: "更新越过了极小值。",
        not_judged: "点数不足。",
        advice: "降低学习率，或增大批次。",
    },
    ..BASE
};

pub(crate) static INITIAL_LOSS: Condition = Condition {
    id: "initial_loss",
    target: Target::Scalar,
    reads_scalars: LOSS,
    parameters: &[limit(Key::DistanceGt, Range::Positive)
        .says(
            "relative distance from chance level above",
            "与随机猜测的相对距离大于",
        )
        .at(0.2)],
    topic: Topic::Loss,
    judge: Some(initial::loss),
    en: Prose {
        says: "unexpected initial loss",
        checks: "|first loss - ln(classes)| / ln(classes) is above distance_gt; a warning above 3 ln(classes).",
        matters: "An untrained classifier guesses; a much higher loss means confident wrong predictions.",
        not_judged: "The number of classes is unknown; neither an accuracy nor integer labels were recorded; the recording starts later.",
        advice: "Check the initialization of the last layer and the range of the inputs.",
    },
    zh: Prose {
        says: "初始损失异常",
        checks: "|初始损失 - ln(类别数)| / ln(类别数) 大于 distance_gt；超过三倍时为警告。",
        matters: "未训练的分类器等于猜测；远高于此说明它确信错误。",
        not_judged: "类别数未知；既没有准确率也没有整数类别标签；或记录开始较晚。",
        advice: "检查末层初始化与输入范围。",
    },
    ..BASE
};

pub(crate) static OVERFIT: Condition = Condition {
    id: "overfit",
    target: Target::Scalar,
    reads_scalars: &[Meaning::HeldOutLoss],
    parameters: &[limit(Key::GapGt, Range::Positive)
        .says(
            "(validation − training) / training above",
            "（验证−训练）与训练之比大于",
        )
        .at(0.1)],
    topic: Topic::Metric,
    patience: 3,
    needs: &[Need::History],
    judge: Some(held_out::overfit),
    en: Prose {
        says: "overfitting",
        checks: "The validation loss has risen above its best value at several measurements while the training loss fell, and (validation - training) / training is above gap_gt; a warning if it has risen by half. The rise is 5.5 times what a random walk of the same steps is expected to reach.",
        matters: "The model memorizes its training data.",
        not_judged: "Too few measurements; a validation loss with negative values, of which there are no multiples.",
        advice: "Stop earlier, regularize, or use more data.",
    },
    zh: Prose {
        says: "过拟合",
        checks: "验证损失多次高于其最好值而训练损失继续下降，且 (验证 - 训练) / 训练 大于 gap_gt；上升一半时为警告。上升幅度须达到同样步长随机游走预期的 5.5 倍。",
        matters: "模型在死记训练数据。",
        not_judged: "测量次数不足；含负值的验证损失，倍数没有意义。",
        advice: "提前停止、正则化，或增加数据。",
    },
    ..BASE
};

pub(crate) static UNDERFIT: Condition = Condition {
    id: "underfit",
    target: Target::Scalar,
    reads_scalars: LOSS,
    parameters: &[
        POINTS.at(500.0).support(),
        limit(Key::LeftGt, Range::Share)
            .says("loss / chance level above", "占随机猜测损失的比例大于")
            .at(0.9),
    ],
    topic: Topic::Metric,
    needs: &[Need::History],
    judge: Some(plateau::underfit),
    en: Prose {
        says: "underfitting",
        checks: "After the minimum number of points the loss is still above left_gt of chance level.",
        matters: "The model is too small, or was trained too briefly.",
        not_judged: "No accuracy was recorded; too few points.",
        advice: "Train longer, or with a larger model.",
    },
    zh: Prose {
        says: "欠拟合",
        checks: "达到所需点数后，损失仍高于随机猜测水平的 left_gt。",
        matters: "模型太小，或训练太短。",
        not_judged: "没有记录准确率；点数不足。",
        advice: "训练更久，或使用更大的模型。",
    },
    ..BASE
};

pub(crate) static BATCHNORM_DRIFT: Condition = Condition {
    id: "batchnorm_drift",
    target: Target::Scalar,
    parameters: &[
        limit(Key::VarianceLt, Range::Positive)
            .says("running variance below", "运行方差小于")
            .at(1e-5),
        limit(Key::VarianceGt, Range::Positive)
            .says("running variance above", "运行方差大于")
            .at(1e5),
        limit(Key::GapGt, Range::Positive)
            .says(
                "validation / training loss above",
                "验证损失与训练损失之比大于",
            )
            .at(3.0),
    ],
    needs: &[Need::Hash, Need::History],
    watches: Some(|subject, _| subject.class == Class::Buffer),
    judge: Some(held_out::batch_norm),
    en: Prose {
        says: "BatchNorm running statistics drift",
        checks: "Running statistics never change while their layer is trained, a running variance is out of range, or the validation loss is gap_gt times the training loss in a model with BatchNorm.",
        matters: "The model is then evaluated with other statistics than it was trained with.",
        not_judged: "The layer itself is frozen; neither running statistics nor a validation loss were recorded.",
        advice: "Call train() before training and eval() before evaluation; check momentum.",
    },
    zh: Prose {
        says: "BatchNorm 运行统计量偏移",
        checks: "训练时运行统计量从不变化、运行方差超出范围，或含 BatchNorm 的模型中验证损失是训练损失的 gap_gt 倍。",
        matters: "这样评估所用的统计量与训练不同。",
        not_judged: "该归一化层已冻结；既无运行统计量也无验证损失。",
        advice: "训练前调用 train()，评估前调用 eval()；检查 momentum。",
    },
    ..BASE
};

pub(crate) static LOSSSCALE_THRASH: Condition = Condition {
    id: "lossscale_thrash",
    target: Target::Scalar,
    reads_scalars: &[Meaning::LossScale],
    topic: Topic::Hyperparameters,
    needs: &[Need::History],
    judge: Some(precision::thrash_judge),
    counts: text("decreases", "次下降"),
    en: Prose {
        says: "unstable loss scale",
        checks: "After the initial search the loss scale falls 3 times within 50 steps, or it falls at half of all steps, or below 1.",
        matters: "Each decrease is a skipped step.",
        not_judged: "No loss scale was recorded; the initial search.",
        advice: "Increase the growth interval of the scale; find what overflows.",
    },
    zh: Prose {
        says: "损失缩放不稳定",
        checks: "初始搜索之后 50 个迭代内下降 3 次；或在一半的迭代中下降，或低于 1。",
        matters: "每次下降都意味着丢掉一个迭代。",
        not_judged: "没有记录损失缩放；初始搜索阶段。",
        advice: "降低缩放增长频率；找出溢出之处。",
    },
    ..BASE
};

pub(crate) static LEARNING_RATE_JUMP: Condition = Condition {
    id: "learning_rate_jump",
    target: Target::Scalar,
    reads_scalars: &[Meaning::LearningRate],
    parameters: &[limit(Key::FactorGt, Range::Positive)
        .says("rate / previous maximum above", "与此前最大值之比大于")
        .at(10.0)],
    topic: Topic::Hyperparameters,
    needs: &[Need::History],
    judge: Some(rate::rate_jump),
    en: Prose {
        says: "learning rate jump",
        checks: "The learning rate is above factor_gt times its previous maximum, or is NaN or Inf.",
        matters: "Only a note by itself; it becomes the first cause of what fails right after.",
        not_judged: "The first two points.",
        advice: "Check the schedule and its units (steps or epochs).",
    },
    zh: Prose {
        says: "学习率突增",
        checks: "学习率大于此前最高值的 factor_gt 倍，或不是有限数值。",
        matters: "本身仅作提示；若随后出问题，则作为最初原因。",
        not_judged: "前两个点。",
        advice: "检查学习率计划及其单位（迭代或轮次）。",
    },
    ..BASE
};

pub(crate) static LEARNING_RATE_RANGE: Condition = Condition {
    id: "learning_rate_range",
    target: Target::Scalar,
    reads_scalars: &[Meaning::LearningRate],
    parameters: &[
        limit(Key::RateGt, Range::Positive)
            .says("learning rate above", "学习率大于")
            .at(10.0),
        limit(Key::FadedLt, Range::Share)
            .says("learning rate / its highest below", "与最高值之比小于")
            .at(1e-3),
    ],
    topic: Topic::Loss,
    needs: &[Need::History],
    judge: Some(rate::range),
    en: Prose {
        says: "implausible learning rate",
        checks: "The learning rate, recorded at each step or as a hyper-parameter, is above rate_gt or negative; or it falls below faded_lt times its highest in the first half of the training and stays there. A warning above 1000, below 0, where the loss overflows or doubles its worst, or where the faded rate leaves a loss that is flat above half of its first value.",
        matters: "Usual rates are 1e-5 to 1: 10 is ten times the highest in use (LARS with large batches), and a rate of a thousandth of the highest no longer moves weights by what float32 resolves in an epoch.",
        not_judged: "Learning rate not recorded. Several learning rates: one may be 0 on purpose.",
        advice: "Correct the learning rate: 1e-3 for Adam and 1e-1 for SGD are usual first choices. If it fades too early, step the schedule once per epoch, or give it the number of batches.",
    },
    zh: Prose {
        says: "学习率不合理",
        checks: "学习率（逐迭代记录或作为超参数）大于 rate_gt 或为负；或在训练前半段就降到最高值的 faded_lt 倍以下并保持。大于 1000、小于 0、损失溢出或达到最差值的两倍，或学习率过早衰减而损失停在初值一半以上时为警告。",
        matters: "常用学习率为 1e-5 到 1：10 是实际使用的最高值（大批次 LARS）的十倍；降到最高值千分之一后权重几乎不再变化。",
        not_judged: "未记录学习率。有多个学习率时，其中某个可以有意为 0。",
        advice: "修正学习率：Adam 常从 1e-3、SGD 常从 1e-1 开始。若过早衰减，请每轮更新一次计划，或按批次数设定其长度。",
    },
    ..BASE
};
