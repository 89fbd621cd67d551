//! Conditions about the loss and other scalars.

use trainscope_format::Severity;

use super::{BASE, Condition, ConditionNeeds, NOTHING, Range, Target, limit, text};
use crate::watchpoint::checks::{held_out, initial, loss, plateau, precision};
use crate::watchpoint::target::Class;

pub(super) static LOSS_NAN: Condition = Condition {
    id: "loss_nan",
    target: Target::Scalar,
    severity: Severity::Error,
    watches: |_, _| false,
    judge: Some(loss::not_finite),
    says: text("loss is NaN or Inf", "损失为 NaN 或 Inf"),
    checks: text(
        "A loss is NaN or Inf; a validation loss only if it stays so until the end.",
        "损失为 NaN 或无穷；留出损失仅在持续如此时。",
    ),
    matters: text("Nothing is learned from this step on.", "此后不再学习。"),
    not_judged: text("Always judged.", "始终判断。"),
    advice: text(
        "Find the first non-finite tensor; the loss is only a consequence. If no tensors were recorded, record statistics. \
         Otherwise lower the learning rate (or the loss scale in fp16) and inspect the batch.",
        "从第一个出现 NaN 或 Inf 的张量查起，损失只是其结果。若未记录张量，请记录其统计量。此外可降低学习率（fp16 下降低损失缩放），并检查该批次数据。",
    ),
    counts: text("points NaN or ±∞", "个点为 NaN 或 ±∞"),
    ..BASE
};

pub(super) static LOSS_SPIKE: Condition = Condition {
    id: "loss_spike",
    target: Target::Scalar,
    parameters: &[
        limit(
            "z_gt",
            Range::Positive,
            text("robust z-score above", "稳健 z 值大于"),
        )
        .at(6.0),
        limit(
            "window",
            Range::Count,
            text(
                "number of previous points to compare with",
                "用于比较的此前点数",
            ),
        )
        .at(256.0)
        .support(),
        limit(
            "factor_gt",
            Range::Positive,
            text("value / median of the window above", "与窗口中位数之比大于"),
        )
        .at(1.1),
    ],
    severity: Severity::Warning,
    needs: ConditionNeeds {
        history: true,
        ..NOTHING
    },
    watches: |_, _| false,
    judge: Some(loss::spike),
    says: text("loss spike", "损失突增"),
    checks: text(
        "A point exceeds the median of the window by more than z_gt robust standard deviations and by factor_gt, and is at least twice its maximum.",
        "某点高于窗口中位数超过 z_gt 个稳健标准差、factor_gt 倍，且为窗口最高值的两倍。",
    ),
    matters: text(
        "A bad batch, or an update that was too large.",
        "坏批次，或走得过远的更新。",
    ),
    not_judged: text(
        "Fewer than 5 previous points; a loss far below chance level, which few samples dominate.",
        "此前少于 5 点；远低于随机猜测、由少数样本构成的损失。",
    ),
    advice: text(
        "Inspect the batch; resume from an earlier checkpoint and skip it; clip the gradient.",
        "查看该批次；回退并跳过；裁剪梯度。",
    ),
    ..BASE
};

pub(super) static LOSS_DIVERGENCE: Condition = Condition {
    id: "loss_divergence",
    target: Target::Scalar,
    parameters: &[limit(
        "factor_gt",
        Range::Positive,
        text("loss / best loss above", "损失与最好值之比大于"),
    )
    .at(2.0)],
    severity: Severity::Warning,
    patience: 3,
    needs: ConditionNeeds {
        history: true,
        ..NOTHING
    },
    watches: |_, _| false,
    judge: Some(loss::divergence),
    says: text("loss diverges", "损失发散"),
    checks: text(
        "The loss is above factor_gt times its best value and 1.2 times its initial value, at 3 consecutive points or until it is NaN.",
        "损失连续 3 点（或直到变为 NaN）大于最好值的 factor_gt 倍且大于起始的 1.2 倍。",
    ),
    matters: text("The model gets worse.", "模型在变差。"),
    not_judged: text(
        "Below chance level, for a classifier.",
        "分类器低于随机猜测水平时。",
    ),
    advice: text(
        "Lower the learning rate; check the sign of the loss, and that gradients are zeroed.",
        "降低学习率；检查损失符号，以及梯度是否清零。",
    ),
    ..BASE
};

pub(super) static LOSS_PLATEAU: Condition = Condition {
    id: "loss_plateau",
    target: Target::Scalar,
    parameters: &[
        limit(
            "points",
            Range::Count,
            text("minimum number of points", "所需点数"),
        )
        .at(100.0)
        .support(),
        limit(
            "change_lt",
            Range::Share,
            text(
                "change between first and last third below",
                "首尾三分之一之间的变化小于",
            ),
        )
        .at(0.05),
    ],
    severity: Severity::Info,
    needs: ConditionNeeds {
        history: true,
        ..NOTHING
    },
    watches: |_, _| false,
    judge: Some(plateau::flat),
    says: text("loss plateau", "损失停滞"),
    checks: text(
        "The medians of the first and the last third of the points differ by less than change_lt; a warning if they are at chance level, ln(classes).",
        "首尾三分之一的点的中位数相差小于 change_lt；处于随机猜测水平 ln(类别数) 时为警告。",
    ),
    matters: text(
        "Labels may not match their inputs, or the model cannot learn.",
        "标签与输入不符，或模型无法学习。",
    ),
    not_judged: text(
        "Too few points; a loss that fell before it became flat.",
        "点数不足。先下降后平坦不算。",
    ),
    advice: text(
        "Check that labels match their inputs; try to overfit a single batch; raise the learning rate.",
        "检查标签与输入是否对应；故意过拟合一个批次；提高学习率。",
    ),
    ..BASE
};

pub(super) static SLOW_CONVERGENCE: Condition = Condition {
    id: "slow_convergence",
    target: Target::Scalar,
    parameters: &[
        limit(
            "points",
            Range::Count,
            text("minimum number of points", "所需点数"),
        )
        .at(200.0)
        .support(),
        limit(
            "fall_lt",
            Range::Share,
            text("decrease below", "下降幅度小于"),
        )
        .at(0.1),
    ],
    severity: Severity::Info,
    needs: ConditionNeeds {
        history: true,
        ..NOTHING
    },
    watches: |_, _| false,
    judge: Some(plateau::slow),
    says: text("slow convergence", "收敛缓慢"),
    checks: text(
        "Over all recorded points, at least the minimum number, the loss has fallen by less than fall_lt.",
        "在全部记录点（不少于所需点数）内损失下降不足 fall_lt。",
    ),
    matters: text("Much time for little progress.", "耗时多而进展少。"),
    not_judged: text(
        "Too few points; a loss that was low from the start.",
        "点数不足；一开始就很低的损失。",
    ),
    advice: text(
        "Raise the learning rate, or use an adaptive optimizer.",
        "提高学习率，或使用自适应优化器。",
    ),
    ..BASE
};

pub(super) static LOSS_OSCILLATION: Condition = Condition {
    id: "loss_oscillation",
    target: Target::Scalar,
    parameters: &[
        limit(
            "share_gt",
            Range::Share,
            text("share of reversals above", "转向比例大于"),
        )
        .at(0.5),
        limit(
            "points",
            Range::Count,
            text("number of last points to judge", "考察的点数"),
        )
        .at(50.0)
        .support(),
    ],
    severity: Severity::Info,
    needs: ConditionNeeds {
        history: true,
        ..NOTHING
    },
    watches: |_, _| false,
    judge: Some(plateau::swinging),
    says: text("loss oscillates", "损失震荡"),
    checks: text(
        "The share of reversals of direction among the last points, smoothed over 3, is above share_gt.",
        "最近若干点（三点平滑）中转向比例大于 share_gt。",
    ),
    matters: text("Updates overshoot the minimum.", "更新越过了极小值。"),
    not_judged: text("Too few points.", "点数不足。"),
    advice: text(
        "Lower the learning rate, or use larger batches.",
        "降低学习率，或增大批次。",
    ),
    ..BASE
};

pub(super) static INITIAL_LOSS: Condition = Condition {
    id: "initial_loss",
    target: Target::Scalar,
    parameters: &[limit(
        "distance_gt",
        Range::Positive,
        text(
            "relative distance from chance level above",
            "与随机猜测的相对距离大于",
        ),
    )
    .at(0.2)],
    severity: Severity::Info,
    watches: |_, _| false,
    judge: Some(initial::loss),
    says: text("unexpected initial loss", "初始损失异常"),
    checks: text(
        "|first loss - ln(classes)| / ln(classes) is above distance_gt; a warning above 3 ln(classes).",
        "|初始损失 - ln(类别数)| / ln(类别数) 大于 distance_gt；超过三倍时为警告。",
    ),
    matters: text(
        "An untrained classifier guesses; a much higher loss means confident wrong predictions.",
        "未训练的分类器等于猜测；远高于此说明它确信错误。",
    ),
    not_judged: text(
        "No accuracy was recorded, the number of classes is unknown, or the recording starts later.",
        "没有记录准确率、类别数未知，或记录开始较晚。",
    ),
    advice: text(
        "Check the initialization of the last layer and the range of the inputs.",
        "检查末层初始化与输入范围。",
    ),
    ..BASE
};

pub(super) static OVERFIT: Condition = Condition {
    id: "overfit",
    target: Target::Scalar,
    parameters: &[limit(
        "gap_gt",
        Range::Positive,
        text(
            "(validation − training) / training above",
            "（验证−训练）与训练之比大于",
        ),
    )
    .at(0.1)],
    severity: Severity::Info,
    patience: 3,
    needs: ConditionNeeds {
        history: true,
        ..NOTHING
    },
    watches: |_, _| false,
    judge: Some(held_out::overfit),
    says: text("overfitting", "过拟合"),
    checks: text(
        "The validation loss has risen above its best value at several measurements while the training loss fell, and (validation - training) / training is above gap_gt; a warning if it has risen by half.",
        "验证损失多次高于其最好值而训练损失继续下降，且 (验证 - 训练) / 训练 大于 gap_gt；上升一半时为警告。",
    ),
    matters: text(
        "The model memorizes its training data.",
        "模型在死记训练数据。",
    ),
    not_judged: text("Too few measurements.", "测量次数不足。"),
    advice: text(
        "Stop earlier, regularize, or use more data.",
        "提前停止、正则化，或增加数据。",
    ),
    ..BASE
};

pub(super) static UNDERFIT: Condition = Condition {
    id: "underfit",
    target: Target::Scalar,
    parameters: &[
        limit(
            "points",
            Range::Count,
            text("minimum number of points", "所需点数"),
        )
        .at(500.0)
        .support(),
        limit(
            "left_gt",
            Range::Share,
            text("loss / chance level above", "占随机猜测损失的比例大于"),
        )
        .at(0.9),
    ],
    severity: Severity::Info,
    needs: ConditionNeeds {
        history: true,
        ..NOTHING
    },
    watches: |_, _| false,
    judge: Some(plateau::underfit),
    says: text("underfitting", "欠拟合"),
    checks: text(
        "After the minimum number of points the loss is still above left_gt of chance level.",
        "达到所需点数后，损失仍高于随机猜测水平的 left_gt。",
    ),
    matters: text(
        "The model is too small, or was trained too briefly.",
        "模型太小，或训练太短。",
    ),
    not_judged: text(
        "No accuracy was recorded; too few points.",
        "没有记录准确率；点数不足。",
    ),
    advice: text(
        "Train longer, or with a larger model.",
        "训练更久，或使用更大的模型。",
    ),
    ..BASE
};

pub(super) static BATCHNORM_DRIFT: Condition = Condition {
    id: "batchnorm_drift",
    target: Target::Scalar,
    parameters: &[
        limit(
            "variance_lt",
            Range::Positive,
            text("running variance below", "运行方差小于"),
        )
        .at(1e-5),
        limit(
            "variance_gt",
            Range::Positive,
            text("running variance above", "运行方差大于"),
        )
        .at(1e5),
        limit(
            "gap_gt",
            Range::Positive,
            text(
                "validation / training loss above",
                "验证损失与训练损失之比大于",
            ),
        )
        .at(3.0),
    ],
    severity: Severity::Info,
    needs: ConditionNeeds {
        hash: true,
        history: true,
        ..NOTHING
    },
    watches: |subject, _| subject.class == Class::Buffer,
    judge: Some(held_out::batch_norm),
    says: text(
        "BatchNorm running statistics drift",
        "BatchNorm 运行统计量偏移",
    ),
    checks: text(
        "Running statistics never change while their layer is trained, a running variance is out of range, or the validation loss is gap_gt times the training loss in a model with BatchNorm.",
        "训练时运行统计量从不变化、运行方差超出范围，或含 BatchNorm 的模型中验证损失是训练损失的 gap_gt 倍。",
    ),
    matters: text(
        "The model is then evaluated with other statistics than it was trained with.",
        "这样评估所用的统计量与训练不同。",
    ),
    not_judged: text(
        "The layer itself is frozen; neither running statistics nor a validation loss were recorded.",
        "该归一化层已冻结；既无运行统计量也无验证损失。",
    ),
    advice: text(
        "Call train() before training and eval() before evaluation; check momentum.",
        "训练前调用 train()，评估前调用 eval()；检查 momentum。",
    ),
    ..BASE
};

pub(super) static LOSSSCALE_THRASH: Condition = Condition {
    id: "lossscale_thrash",
    target: Target::Scalar,
    severity: Severity::Info,
    needs: ConditionNeeds {
        history: true,
        ..NOTHING
    },
    watches: |_, _| false,
    judge: Some(precision::thrash_judge),
    says: text("unstable loss scale", "损失缩放不稳定"),
    checks: text(
        "After the initial search the loss scale falls 3 times within 50 steps, or it falls at half of all steps, or below 1.",
        "初始搜索之后 50 步内下降 3 次；或在一半的步中下降，或低于 1。",
    ),
    matters: text(
        "Each decrease is a skipped step.",
        "每次下降都意味着丢掉一步。",
    ),
    not_judged: text(
        "No loss scale was recorded; the initial search.",
        "没有记录损失缩放；初始搜索阶段。",
    ),
    advice: text(
        "Increase the growth interval of the scale; find what overflows.",
        "降低缩放增长频率；找出溢出之处。",
    ),
    counts: text("decreases", "次下降"),
    ..BASE
};

pub(super) static LEARNING_RATE_JUMP: Condition = Condition {
    id: "learning_rate_jump",
    target: Target::Scalar,
    parameters: &[limit(
        "factor_gt",
        Range::Positive,
        text("rate / previous maximum above", "与此前最大值之比大于"),
    )
    .at(10.0)],
    severity: Severity::Info,
    needs: ConditionNeeds {
        history: true,
        ..NOTHING
    },
    watches: |_, _| false,
    judge: Some(plateau::rate_jump),
    says: text("learning rate jump", "学习率突增"),
    checks: text(
        "The learning rate is above factor_gt times its previous maximum, or is NaN or Inf.",
        "学习率大于此前最高值的 factor_gt 倍，或不是有限数值。",
    ),
    matters: text(
        "Only a note by itself; it becomes the first cause of what fails right after.",
        "本身仅作提示；若随后出问题，则作为最初原因。",
    ),
    not_judged: text("The first two points.", "前两个点。"),
    advice: text(
        "Check the schedule and its units (steps or epochs).",
        "检查学习率计划及其单位（步或轮）。",
    ),
    ..BASE
};
