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
    ..BASE
};
