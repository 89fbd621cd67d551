//! Conditions about the model: modes, embeddings, tied tensors, loaded weights, waits of its pass.

use super::super::design::of;
use super::super::{Condition, Prose};
use crate::diagnosis::Rule;

pub(crate) static EVALUATION_MODE: Condition = Condition {
    en: Prose {
        says: "trained in evaluation mode",
        checks: "A batch normalisation or a dropout is in evaluation mode at more than 20 % of the forward passes of the training, at \
         least 10. A note for a batch normalisation that is so at all of them: frozen statistics are usual in fine-tuning.",
        matters: "Dropout is off, and batch normalisation uses old statistics that are not updated any more.",
        not_judged: "Passes without gradients; no fact of the modes was recorded (trainscope run, or run.watch).",
        advice: "Call model.train() at the start of each epoch: evaluation leaves the model in model.eval().",
    },
    zh: Prose {
        says: "在评估模式下训练",
        checks: "在超过 20 % 的训练前向（至少 10 次）中，批归一化或 dropout 处于评估模式。批归一化全程如此则为提示：微调时常冻结统计量。",
        matters: "dropout 不起作用，批归一化使用不再更新的旧统计量。",
        not_judged: "不带梯度的前向；没有记录模式的事实（trainscope run 或 run.watch）。",
        advice: "每轮开始时调用 model.train()：评估会让模型停留在 model.eval()。",
    },
    ..of(Rule::EvaluationMode)
};

pub(crate) static EMBEDDING_ONE_ROW: Condition = Condition {
    en: Prose {
        says: "one row of embedding used",
        checks: "Of an embedding of at least 8 rows, only one row had a gradient, over at least 5 recorded steps.",
        matters: "All indices are the same: a position or a token that is always 0 adds a constant, and tells the model nothing.",
        not_judged: "Frozen embeddings; fewer recorded steps; no fact of it was recorded (trainscope run, or run.watch).",
        advice: "Print the indices that the embedding gets: torch.arange(length) for positions.",
    },
    zh: Prose {
        says: "嵌入只用到一行",
        checks: "至少 8 行的嵌入在至少 5 个记录的迭代中只有一行得到过梯度。",
        matters: "所有索引都相同：始终为 0 的位置或词元只是加上一个常数，没有提供任何信息。",
        not_judged: "冻结的嵌入；记录的迭代过少；没有记录相关事实（trainscope run 或 run.watch）。",
        advice: "打印传给嵌入的索引：位置应为 torch.arange(length)。",
    },
    ..of(Rule::EmbeddingOneRow)
};

pub(crate) static TIE_BROKEN: Condition = Condition {
    en: Prose {
        says: "tied weights drift apart",
        checks: "Two parameters of an embedding and an output layer were equal at the first recorded step and no longer are.",
        matters: "They were meant to be one: a copy is trained on its own after the first update.",
        not_judged: "Tensors that are one Parameter; no fact of it was recorded (trainscope run, or run.watch).",
        advice: "Assign the Parameter, not its values: head.weight = embedding.weight, again after loading or moving the model.",
    },
    zh: Prose {
        says: "共享权重不再相等",
        checks: "嵌入与输出层的两个参数在首个记录的迭代中相等，之后不再相等。",
        matters: "它们本应是同一个参数：副本在第一次更新后就各自训练。",
        not_judged: "本就是同一 Parameter 的张量；没有记录相关事实（trainscope run 或 run.watch）。",
        advice: "赋值 Parameter 本身而不是数值：head.weight = embedding.weight，加载或移动模型后需重新赋值。",
    },
    ..of(Rule::TieBroken)
};

pub(crate) static NOTHING_LOADED: Condition = Condition {
    en: Prose {
        says: "no weight was loaded",
        checks: "load_state_dict was called, and none of the names that it was given is in the model.",
        matters: "With strict=False this is no error: the model is trained from its initial weights.",
        not_judged: "No fact of it was recorded (trainscope run, or run.watch).",
        advice: "Compare the names: a prefix such as module. of DataParallel or model. of a checkpoint has to be removed or added.",
    },
    zh: Prose {
        says: "没有加载任何权重",
        checks: "调用了 load_state_dict，但给出的名称都不在模型中。",
        matters: "使用 strict=False 时这不会报错：模型从初始权重开始训练。",
        not_judged: "没有记录相关事实（trainscope run 或 run.watch）。",
        advice: "对照名称：需要去掉或添加前缀，如 DataParallel 的 module. 或检查点的 model.。",
    },
    ..of(Rule::NothingLoaded)
};

pub(crate) static WAITS_FOR_DEVICE: Condition = Condition {
    en: Prose {
        says: "forward pass waits for device",
        checks: "A line of the forward pass or of the loss asks for a value of a tensor on a device (item, tolist, cpu, numpy, an if \
         over it) at 90 % of at least 3 sampled steps.",
        matters: "The program waits until the device has done all that was asked of it, and the device waits for the next call afterwards.",
        not_judged: "Fewer sampled steps; lines after the backward pass began; compiled functions; no fact of lines was recorded \
         (trainscope run, or run.watch).",
        advice: "Keep the value a tensor on the device, and read it every hundred steps; torch.where instead of an if.",
    },
    zh: Prose {
        says: "前向传播等待设备",
        checks: "在至少 3 个记录的迭代中的 90 %，前向传播或损失的某一行读取设备上张量的值（item、tolist、cpu、numpy 或对其取 if）。",
        matters: "程序要等到设备完成此前的全部任务，之后设备又要等待下一次调用。",
        not_judged: "记录的迭代过少；反向传播开始之后的代码行；编译的函数；没有记录代码行的事实（trainscope run 或 run.watch）。",
        advice: "让该值保留为设备上的张量，每一百个迭代再读取；用 torch.where 代替 if。",
    },
    ..of(Rule::WaitsForDevice)
};
