//! Conditions about optimizers.

use super::super::design::of;
use super::super::{Condition, Prose};
use crate::diagnosis::Rule;

pub(crate) static OPTIMIZER_PARAMETERS: Condition = Condition {
    en: Prose {
        says: "optimizer holds other parameters",
        checks: "An optimizer holds tensors that are in no watched model, while trainable parameters of the model are in no \
         optimizer; or two optimizers hold the same parameters, while the loss depends on others that are in none; or no optimizer was made, and no parameter of a model in training \
         mode has changed after any of at least 20 backward passes. A note: a \
         trainable parameter is in no optimizer, or one is in two groups or two optimizers, as with a wrapper. Tensors are \
         compared by identity.",
        matters: "Parameters that no optimizer holds keep their initial values; those in two are updated twice.",
        not_judged: "No fact of an optimizer was recorded (trainscope run, or run.watch with the optimizer). Parameters of other \
         models are no fault as long as every trainable one of the model is held, nor copies of the weights in another type.",
        advice: "Make the optimizer after the model is complete: after replacing a head, moving it with .to(), or wrapping it.",
    },
    zh: Prose {
        says: "优化器持有其他参数",
        checks: "优化器持有不属于任何被观察模型的张量，而模型的可训练参数不在任何优化器中；或两个优化器持有相同的参数，而损失依赖的其他参数\
         不在任何优化器中；或没有创建优化器，且训练模式下的模型在至少 20 次反向传播之后没有任何参数变化。提示：可训练参数不在任何优化器中，或同一参数在两个参数组或两个优化器中（如包装器）。按对象身份比较张量。",
        matters: "不在任何优化器中的参数保持初始值；同时在两处的参数会被更新两次。",
        not_judged: "没有记录优化器的事实（trainscope run，或带优化器的 run.watch）。只要模型的可训练参数都被持有，其他模型的参数不算问题，权重的其他类型副本也不算。",
        advice: "在模型完整之后再创建优化器：替换输出层、用 .to() 移动或包装模型之后。",
    },
    ..of(Rule::OptimizerParameters)
};

pub(crate) static LEARNING_RATE_GONE: Condition = Condition {
    en: Prose {
        says: "learning rate gone too early",
        checks: "The learning rate of an optimizer is below a thousandth of its highest value by half of its updates, and stays there. \
         At least 20 updates.",
        matters: "From there on the weights hardly change. Cosine and linear schedules are that low in their last percents only.",
        not_judged: "No settings of the optimizer were recorded (trainscope run, or run.watch with the optimizer).",
        advice: "Call scheduler.step() once for each epoch if its length is given in epochs, or give it the number of updates.",
    },
    zh: Prose {
        says: "学习率过早消失",
        checks: "在更新进行到一半之前，优化器的学习率已低于其最高值的千分之一，且不再回升。至少 20 次更新。",
        matters: "此后权重几乎不再变化。余弦与线性调度只在最后百分之几才会这么低。",
        not_judged: "没有记录优化器的设置（trainscope run，或带优化器的 run.watch）。",
        advice: "若调度器的长度以轮次计，每轮只调用一次 scheduler.step()；否则把长度设为更新次数。",
    },
    ..of(Rule::LearningRateGone)
};

pub(crate) static UPDATE_ROUNDED_AWAY: Condition = Condition {
    en: Prose {
        says: "updates are rounded away",
        checks: "Weights are bfloat16 or float16, and the highest learning rate of Adam, Lion or RMSprop divided by the mean |weight| \
         (median over the matrices) is below 2^-9 (bfloat16) or 2^-12 (float16).",
        matters: "An update of these optimizers is about the learning rate. One below half a unit in the last place of a weight \
         leaves it as it is: 8 significant bits in bfloat16, 11 in float16.",
        not_judged: "Weights of another type; optimizers whose updates depend on the size of the gradient, as SGD; no settings were \
         recorded (trainscope run, or run.watch with the optimizer).",
        advice: "Keep the weights in float32 and compute in autocast, or use an optimizer with stochastic rounding.",
    },
    zh: Prose {
        says: "更新被舍入掉",
        checks: "权重为 bfloat16 或 float16，且 Adam、Lion 或 RMSprop 的最高学习率除以权重绝对值均值（各矩阵的中位数）低于 2^-9（bfloat16）\
         或 2^-12（float16）。",
        matters: "这些优化器的更新约等于学习率。小于权重末位一半的更新不会改变权重：bfloat16 有 8 位有效位，float16 有 11 位。",
        not_judged: "其他类型的权重；更新取决于梯度大小的优化器（如 SGD）；没有记录设置（trainscope run，或带优化器的 run.watch）。",
        advice: "以 float32 保存权重并用 autocast 计算，或使用随机舍入的优化器。",
    },
    ..of(Rule::UpdateRoundedAway)
};
