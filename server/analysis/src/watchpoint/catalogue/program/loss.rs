//! Conditions about the loss as the program computes it.

use trainscope_format::Severity;

use super::super::design::of;
use super::super::{Condition, Prose};
use crate::diagnosis::Rule;

pub(crate) static LOSS_WITHOUT_GRADIENT: Condition = Condition {
    severity: Severity::Error,
    en: Prose {
        says: "loss without a gradient",
        checks: "The loss whose backward() was called has no gradient function: it is a leaf, and requires_grad was set by hand.",
        matters: "backward() reaches no parameter, so no weight changes because of the loss.",
        not_judged: "No fact of the loss was recorded: use trainscope run, or run.watch(model, optimizer).",
        advice: "Compute the loss from the outputs of the model by differentiable functions: no argmax, item(), numpy(), detach() or \
         torch.tensor(…) between them.",
    },
    zh: Prose {
        says: "损失没有梯度",
        checks: "调用了 backward() 的损失没有梯度函数：它是叶子张量，requires_grad 是手动设置的。",
        matters: "backward() 到不了任何参数，权重不会因损失而变化。",
        not_judged: "没有记录损失的事实：请使用 trainscope run 或 run.watch(model, optimizer)。",
        advice: "用可微函数由模型输出计算损失：两者之间不要有 argmax、item()、numpy()、detach() 或 torch.tensor(…)。",
    },
    ..of(Rule::LossWithoutGradient)
};

pub(crate) static TARGET_SCALE: Condition = Condition {
    en: Prose {
        says: "targets far larger than outputs",
        checks: "In the first step, the root mean square of the targets of a squared, absolute or Huber loss is more than 100 times \
         that of the outputs, or of 1 if the outputs are smaller.",
        matters: "The last layer has to grow by that factor, with a learning rate that all other layers share.",
        not_judged: "Losses over classes; no fact of the loss was recorded (trainscope run, or run.watch).",
        advice: "Subtract the mean of the targets and divide by their standard deviation, and undo both in the predictions.",
    },
    zh: Prose {
        says: "目标值远大于输出",
        checks: "在第一个迭代中，平方、绝对或 Huber 损失的目标值的均方根超过输出的 100 倍（输出小于 1 时按 1 计）。",
        matters: "最后一层必须放大同样的倍数，而学习率与其他各层共用。",
        not_judged: "分类损失；没有记录损失的事实（trainscope run 或 run.watch）。",
        advice: "目标值减去均值并除以标准差，预测时再还原。",
    },
    ..of(Rule::TargetScale)
};
