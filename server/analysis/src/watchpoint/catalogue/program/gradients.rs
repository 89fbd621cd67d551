//! Conditions about gradients: reached parameters, clearing, clipping and scaling.

use super::super::design::of;
use super::super::{Condition, Key, Prose, Range, limit};
use crate::diagnosis::Rule;
use crate::watchpoint::checks::norm;
use crate::watchpoint::model::scalars::Meaning;

pub(crate) static PARAMETERS_NOT_REACHED: Condition = Condition {
    en: Prose {
        says: "loss does not depend on parameters",
        checks: "Trainable parameters of a model that no loss reached in any backward pass, and that never had a gradient at an update. A note if others of the same layers were reached.",
        matters: "Without a path from the loss there is no gradient: the parameters keep their initial values.",
        not_judged: "Parameters with requires_grad=False; no fact of the backward passes was recorded (trainscope run, or run.watch).",
        advice: "Remove detach(), no_grad() or .data between the layer and the loss; use checkpointing with use_reentrant=False; or \
         set requires_grad=False if the parameters are frozen on purpose.",
    },
    zh: Prose {
        says: "损失不依赖部分参数",
        checks: "模型的可训练参数在任何反向传播中都未被损失到达，且在任何更新时都没有梯度。若同一层的其他参数被到达则为提示。",
        matters: "没有来自损失的路径就没有梯度：参数保持初始值。",
        not_judged: "requires_grad=False 的参数；没有记录反向传播的事实（trainscope run 或 run.watch）。",
        advice: "去掉该层与损失之间的 detach()、no_grad() 或 .data；检查点使用 use_reentrant=False；若有意冻结，请设 requires_grad=False。",
    },
    ..of(Rule::ParametersNotReached)
};

pub(crate) static PARAMETERS_NOT_REGISTERED: Condition = Condition {
    en: Prose {
        says: "parameters outside of the model",
        checks: "The loss reaches parameters that are neither in a watched model nor in an optimizer. A note if no attribute of the model \
         holds them.",
        matters: "They are not trained, not saved and not moved to a device: mostly layers in a Python list or dictionary.",
        not_judged: "No fact of the backward passes was recorded (trainscope run, or run.watch).",
        advice: "Use nn.ModuleList, nn.ModuleDict or nn.ParameterList. If they belong to a fixed model, set requires_grad=False.",
    },
    zh: Prose {
        says: "参数不在模型中",
        checks: "损失到达的参数既不在任何被观察的模型中，也不在任何优化器中。若模型的属性中也没有则为提示。",
        matters: "它们不会被训练、保存或移动到设备上：多半是放在 Python 列表或字典中的层。",
        not_judged: "没有记录反向传播的事实（trainscope run 或 run.watch）。",
        advice: "使用 nn.ModuleList、nn.ModuleDict 或 nn.ParameterList。若属于固定的模型，请设 requires_grad=False。",
    },
    ..of(Rule::ParametersNotRegistered)
};

pub(crate) static GRADIENTS_NOT_CLEARED: Condition = Condition {
    en: Prose {
        says: "gradients are not cleared",
        checks: "At half of the updates, and at least 3, the first backward pass after the update found gradients that are not 0. Of several models, at half of the updates of one, no backward pass since its last update began with gradients of 0.",
        matters: "backward() adds to the gradients: without zero_grad() each update follows the sum of all gradients so far, which \
         grows until the training diverges.",
        not_judged: "Optimizers that get a closure; fewer than 3 updates; no fact of the backward passes was recorded \
         (trainscope run, or run.watch).",
        advice: "Call optimizer.zero_grad() once for each update: before the first backward pass, or after step().",
    },
    zh: Prose {
        says: "梯度没有清零",
        checks: "在一半以上（且至少 3 次）的更新之后，第一次反向传播开始时梯度不为 0。有多个模型时：在某个模型一半以上的更新中，自其上次更新以来没有任何反向传播开始时梯度为 0。",
        matters: "backward() 会累加梯度：没有 zero_grad() 时，每次更新都沿着至今全部梯度之和，它不断增大直至训练发散。",
        not_judged: "使用闭包的优化器；更新少于 3 次；没有记录反向传播的事实（trainscope run 或 run.watch）。",
        advice: "每次更新调用一次 optimizer.zero_grad()：在第一次反向传播之前，或 step() 之后。",
    },
    ..of(Rule::GradientsNotCleared)
};

pub(crate) static GRADIENTS_CLEARED_BETWEEN: Condition = Condition {
    en: Prose {
        says: "gradients cleared while accumulating",
        checks: "Updates of several backward passes in which a later pass found gradients of 0 again, as often as there are updates.",
        matters: "Only the last micro-batch counts: the batch is smaller than intended, and the others are computed for nothing.",
        not_judged: "Optimizers that get a closure; several models; fewer than 3 updates; no fact of the backward passes was recorded \
         (trainscope run, or run.watch).",
        advice: "Call zero_grad() once for each update, not once for each backward pass.",
    },
    zh: Prose {
        says: "累积期间清零了梯度",
        checks: "一次更新包含多次反向传播，而后面的反向传播开始时梯度又为 0，次数不少于更新次数。",
        matters: "只有最后一个小批次有效：实际批次比预期小，其余的计算都白费了。",
        not_judged: "使用闭包的优化器；多个模型；更新少于 3 次；没有记录反向传播的事实（trainscope run 或 run.watch）。",
        advice: "每次更新调用一次 zero_grad()，而不是每次反向传播调用一次。",
    },
    ..of(Rule::GradientsClearedBetween)
};

pub(crate) static CLIPPED_BEFORE_UNSCALING: Condition = Condition {
    en: Prose {
        says: "clipped before unscaling",
        checks: "At half of its calls, and at least 3, clip_grad_norm_ got gradients that the scaler had not unscaled; or the norm of \
         the gradient times the loss scale is within 1 % of its mean at 90 % of at least 10 steps.",
        matters: "Scaled gradients are some 65,536 times too large: all are cut to the same norm, and unscaling then makes the update \
         that much too small.",
        not_judged: "No scaler; no fact of the clipping was recorded (trainscope run, or run.watch).",
        advice: "Call scaler.unscale_(optimizer) before clip_grad_norm_.",
    },
    zh: Prose {
        says: "在反缩放之前裁剪",
        checks: "在一半以上（且至少 3 次）的调用中，clip_grad_norm_ 得到的是尚未反缩放的梯度；或在至少 10 个迭代中的 90 % 上，梯度范数与损失缩放的\
         乘积与其均值相差不到 1 %。",
        matters: "缩放后的梯度约大 65,536 倍：全部被裁到同一范数，反缩放后更新就小了同样的倍数。",
        not_judged: "没有使用缩放器；没有记录裁剪的事实（trainscope run 或 run.watch）。",
        advice: "在 clip_grad_norm_ 之前调用 scaler.unscale_(optimizer)。",
    },
    ..of(Rule::ClippedBeforeUnscaling)
};

pub(crate) static CLIPPED_NOTHING: Condition = Condition {
    reads_scalars: &[Meaning::GradientNorm],
    parameters: &[limit(Key::Points, Range::Count)
        .says("minimum number of points of a norm", "范数所需点数")
        .at(20.0)
        .support()],
    judge: Some(norm::zero),
    en: Prose {
        says: "gradient clipping has no effect",
        checks: "clip_grad_norm_ was called at least 3 times and got no parameter with a gradient; or a recorded gradient norm is \
         exactly 0 at all points, at least the minimum number, while the training loss changes.",
        matters: "Nothing is clipped, and the recorded norm says nothing: large gradients pass as they are.",
        not_judged: "A loss that does not change, and gradients whose statistics are 0 themselves; neither a norm nor a fact of the clipping \
         was recorded (trainscope run, or run.watch).",
        advice: "Give it a list of the parameters that are trained: model.parameters() is a generator, which is empty after its first use.",
    },
    zh: Prose {
        says: "梯度裁剪没有作用",
        checks: "clip_grad_norm_ 至少被调用 3 次而没有得到任何带梯度的参数；或记录的梯度范数在全部点（不少于所需点数）上恰好为 0，而训练损失在变化。",
        matters: "没有裁剪任何梯度，记录的范数也没有意义：过大的梯度原样通过。",
        not_judged: "损失不变，或梯度的统计量本身为 0；既没有记录范数，也没有记录裁剪的事实（trainscope run 或 run.watch）。",
        advice: "传入被训练参数的列表：model.parameters() 是生成器，用过一次就空了。",
    },
    ..of(Rule::ClippedNothing)
};

pub(crate) static LOSS_SCALE_COLLAPSED: Condition = Condition {
    en: Prose {
        says: "loss scale collapsed",
        checks: "The scale of the loss is below 0.001.",
        matters: "It is halved each time that gradients overflow, so they overflow whatever the scale is: NaN or Inf comes from the \
         forward pass, or from the loss itself, and every update is skipped.",
        not_judged: "No scaler; no fact of it was recorded (trainscope run, or run.watch).",
        advice: "Find the first NaN or Inf in the forward pass; compute the loss and normalizations in float32, or train in bfloat16.",
    },
    zh: Prose {
        says: "损失缩放崩溃",
        checks: "损失的缩放低于 0.001。",
        matters: "每次梯度溢出都会减半，因此无论缩放多少都会溢出：NaN 或 Inf 来自前向计算或损失本身，每次更新都被跳过。",
        not_judged: "没有使用缩放器；没有记录相关事实（trainscope run 或 run.watch）。",
        advice: "找出前向计算中首个 NaN 或 Inf；以 float32 计算损失与归一化，或改用 bfloat16 训练。",
    },
    ..of(Rule::LossScaleCollapsed)
};
