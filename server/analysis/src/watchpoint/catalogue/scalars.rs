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
    says: text("the loss is no number", "损失不是有限数"),
    checks: text(
        "A loss is NaN or infinite; a held-out loss only if it stays so.",
        "损失为 NaN 或无穷；留出损失仅在持续如此时。",
    ),
    matters: text("From there on nothing is learned.", "此后不再学习。"),
    not_judged: text(
        "Never: each such element counts.",
        "从不例外：每个这样的元素都算。",
    ),
    advice: text(
        "Begin with the first tensor that is not finite, if tensors were recorded: the loss only follows from it. If not, \
         record their statistics; lower the learning rate, or the loss scale in half precision; look at the batch.",
        "若记录了张量，从第一个非有限的张量查起：损失只是其结果。若未记录，请记录其统计量；降低学习率，半精度下降低损失缩放；检查该批次数据。",
    ),
    ..BASE
};

pub(super) static LOSS_SPIKE: Condition = Condition {
    id: "loss_spike",
    target: Target::Scalar,
    parameters: &[
        limit(
            "z_gt",
            Range::Positive,
            text("robust z above", "稳健 z 值大于"),
        )
        .at(6.0),
        limit(
            "window",
            Range::Count,
            text(
                "points before that it is held against",
                "用于比较的此前点数",
            ),
        )
        .at(256.0)
        .support(),
        limit(
            "factor_gt",
            Range::Positive,
            text("by the median of the window above", "与窗口中位数之比大于"),
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
    says: text("the loss jumps", "损失突增"),
    checks: text(
        "A point lies above the median of the window by more than z_gt spreads, by factor_gt, and at twice its highest.",
        "某点高于窗口中位数超过 z_gt 个稳健标准差、factor_gt 倍，且为窗口最高值的两倍。",
    ),
    matters: text(
        "A bad batch, or an update that went too far.",
        "坏批次，或走得过远的更新。",
    ),
    not_judged: text(
        "Fewer than 5 points before; a loss far below guessing, which few samples make.",
        "此前少于 5 点；远低于随机猜测、由少数样本构成的损失。",
    ),
    advice: text(
        "Look at the batch; go back a little and skip it; clip the gradient.",
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
        text("by the best above", "与最好值之比大于"),
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
    says: text("the loss runs away", "损失发散"),
    checks: text(
        "The loss is above factor_gt times its best and 1.2 times where it began, at 3 points in a row, or until it is NaN.",
        "损失连续 3 点（或直到变为 NaN）大于最好值的 factor_gt 倍且大于起始的 1.2 倍。",
    ),
    matters: text("The training unlearns.", "训练在倒退。"),
    not_judged: text(
        "Below guessing, for a classifier.",
        "分类器低于随机猜测水平时。",
    ),
    advice: text(
        "Lower the learning rate; check the sign of the loss, and that gradients are set to zero.",
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
            text("points that are needed", "所需点数"),
        )
        .at(100.0)
        .support(),
        limit(
            "change_lt",
            Range::Share,
            text(
                "change from the first to the last third below",
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
    says: text("the loss stays where it is", "损失停滞"),
    checks: text(
        "Medians of thirds of at least so many points differ by less than change_lt; a warning where they lie at ln(classes).",
        "至少若干点的三分段中位数相差小于 change_lt；处于 ln(类别数) 时为警告。",
    ),
    matters: text(
        "Labels that do not belong to their inputs, or a model that cannot learn.",
        "标签与输入不符，或模型无法学习。",
    ),
    not_judged: text(
        "Too few points. A loss that fell and is flat since is no plateau.",
        "点数不足。先下降后平坦不算。",
    ),
    advice: text(
        "Check that labels belong to inputs; overfit one batch on purpose; raise the learning rate.",
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
            text("points that are needed", "所需点数"),
        )
        .at(200.0)
        .support(),
        limit("fall_lt", Range::Share, text("fall below", "下降幅度小于")).at(0.1),
    ],
    severity: Severity::Info,
    needs: ConditionNeeds {
        history: true,
        ..NOTHING
    },
    watches: |_, _| false,
    judge: Some(plateau::slow),
    says: text("the loss falls slowly", "损失下降缓慢"),
    checks: text(
        "Over at least so many points the loss has fallen by less than fall_lt.",
        "在至少若干点内损失下降不足 fall_lt。",
    ),
    matters: text("Time is spent for little.", "耗时而收获甚少。"),
    not_judged: text(
        "Too few points; a loss that was low from the beginning.",
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
            text("share of turns above", "转向比例大于"),
        )
        .at(0.5),
        limit(
            "points",
            Range::Count,
            text("points that are looked at", "考察的点数"),
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
    says: text("the loss swings", "损失震荡"),
    checks: text(
        "Of the last so many points, smoothed over 3, the share of turns is above share_gt.",
        "最近若干点（三点平滑）中转向比例大于 share_gt。",
    ),
    matters: text("Steps are too long for the valley.", "步长对谷底来说太大。"),
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
            "distance from guessing by guessing above",
            "与随机猜测的相对距离大于",
        ),
    )
    .at(0.2)],
    severity: Severity::Info,
    watches: |_, _| false,
    judge: Some(initial::loss),
    says: text(
        "the first loss is not what guessing gives",
        "初始损失与随机猜测不符",
    ),
    checks: text(
        "|first loss - ln(classes)| / ln(classes) is above distance_gt; a warning above three times ln(classes).",
        "|初始损失 - ln(类别数)| / ln(类别数) 大于 distance_gt；超过三倍时为警告。",
    ),
    matters: text(
        "An untrained classifier guesses; one that begins far above is certain of something wrong.",
        "未训练的分类器等于猜测；远高于此说明它确信错误。",
    ),
    not_judged: text(
        "No accuracy was recorded, the number of classes is not known, or the recording begins later.",
        "没有记录准确率、类别数未知，或记录开始较晚。",
    ),
    advice: text(
        "Check the initialisation of the last layer, and the range of the inputs.",
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
            "(held-out − training) by training above",
            "（留出−训练）与训练之比大于",
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
    says: text("learned by heart", "过拟合"),
    checks: text(
        "The held-out loss has risen from its best at several measurements while the training's own fell, and (held-out - training) / training is above gap_gt; a warning where it has risen by half.",
        "留出损失多次高于其最好值而训练损失继续下降，且 (留出 - 训练) / 训练 大于 gap_gt；上升一半时为警告。",
    ),
    matters: text("The model learns its data by heart.", "模型在死记数据。"),
    not_judged: text("Too few measurements.", "测量次数不足。"),
    advice: text(
        "Stop earlier, regularise, or use more data.",
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
            text("points that are needed", "所需点数"),
        )
        .at(500.0)
        .support(),
        limit(
            "left_gt",
            Range::Share,
            text("what is left of guessing above", "占随机猜测损失的比例大于"),
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
    says: text("little is learned at the end", "直到结束也没学到多少"),
    checks: text(
        "After so many points the loss is still above left_gt of what guessing gives.",
        "若干点后损失仍高于随机猜测的 left_gt。",
    ),
    matters: text(
        "The model is too small, or trained too short.",
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
                "held-out by training loss above",
                "留出损失与训练损失之比大于",
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
        "batch norm keeps other statistics than it trains with",
        "批归一化的统计量与训练不符",
    ),
    checks: text(
        "Running statistics never change while their layer is trained, a running variance is outside of its limits, or the held-out loss is gap_gt times the training's own in a model with batch norm.",
        "训练时运行统计量从不变化、运行方差超出范围，或含批归一化的模型中留出损失是训练损失的 gap_gt 倍。",
    ),
    matters: text(
        "Then the model is measured on other numbers than it was trained on.",
        "这样评估所用的统计量与训练不同。",
    ),
    not_judged: text(
        "The norm itself is frozen; neither running statistics nor a held-out loss were recorded.",
        "该归一化层已冻结；既无运行统计量也无留出损失。",
    ),
    advice: text(
        "Call train() before training and eval() before measuring; check momentum.",
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
    says: text("the loss scale does not settle", "损失缩放无法稳定"),
    checks: text(
        "After the search at the beginning the loss scale falls 3 times within 50 steps; or it falls at half of all steps, or below 1.",
        "初始搜索之后 50 步内下降 3 次；或在一半的步中下降，或低于 1。",
    ),
    matters: text(
        "Each fall is a step that was not taken.",
        "每次下降都意味着丢掉一步。",
    ),
    not_judged: text(
        "No loss scale was recorded. The search at the beginning is no fault.",
        "没有记录损失缩放。初始搜索不算故障。",
    ),
    advice: text(
        "Let the scale grow less often; look for what overflows.",
        "降低缩放增长频率；找出溢出之处。",
    ),
    ..BASE
};

pub(super) static LEARNING_RATE_JUMP: Condition = Condition {
    id: "learning_rate_jump",
    target: Target::Scalar,
    parameters: &[limit(
        "factor_gt",
        Range::Positive,
        text("by the highest before above", "与此前最大值之比大于"),
    )
    .at(10.0)],
    severity: Severity::Info,
    needs: ConditionNeeds {
        history: true,
        ..NOTHING
    },
    watches: |_, _| false,
    judge: Some(plateau::rate_jump),
    says: text("the learning rate jumps", "学习率突增"),
    checks: text(
        "The learning rate is above factor_gt times its highest before, or is not a finite number.",
        "学习率大于此前最高值的 factor_gt 倍，或不是有限数值。",
    ),
    matters: text(
        "By itself a note; it is named as the first cause of what goes wrong right after.",
        "本身仅作提示；若随后出问题，则作为首因。",
    ),
    not_judged: text("The first two points.", "前两个点。"),
    advice: text(
        "Check the schedule and its units (steps or epochs).",
        "检查学习率计划及其单位（步或轮）。",
    ),
    ..BASE
};
