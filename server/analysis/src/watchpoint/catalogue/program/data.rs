//! Conditions about batches: inputs, targets and seeds.

use super::super::design::of;
use super::super::{Condition, Prose};
use crate::diagnosis::Rule;

pub(crate) static LABELS_SHIFTED: Condition = Condition {
    en: Prose {
        says: "labels shifted wrongly",
        checks: "Over at least 3 batches, more than 99 % of the targets of a sequence equal the inputs at the same position (not \
         shifted), or two positions later (shifted twice), and less than 90 % those of the next position.",
        matters: "A language model predicts the next token. Without a shift it only copies; with two it predicts the token after the next.",
        not_judged: "Inputs that are no sequences of tokens; no fact of the targets was recorded (trainscope run, or run.watch).",
        advice: "Shift once: logits[:, :-1] with labels[:, 1:]. Models of transformers shift labels=input_ids themselves.",
    },
    zh: Prose {
        says: "标签移位有误",
        checks: "在至少 3 个批次中，序列的目标有超过 99 % 等于同一位置的输入（未移位）或后两个位置的输入（移位两次），而等于下一位置的不到 90 %。",
        matters: "语言模型预测下一个词元。不移位只是复制；移位两次则预测再下一个词元。",
        not_judged: "输入不是词元序列；没有记录目标的事实（trainscope run 或 run.watch）。",
        advice: "只移位一次：logits[:, :-1] 与 labels[:, 1:]。transformers 的模型会自行对 labels=input_ids 移位。",
    },
    ..of(Rule::LabelsShifted)
};

pub(crate) static LABEL_IN_FEATURES: Condition = Condition {
    en: Prose {
        says: "label among the features",
        checks: "A feature of the input has a correlation above 0.99 with the label, in at least 96 samples. A note if the target is a \
         number and no class: one feature may explain it.",
        matters: "The model reads the answer from its input: its accuracy is high, and of no use without that feature.",
        not_judged: "Inputs with more than two axes; fewer samples; no fact of the targets was recorded (trainscope run, or run.watch).",
        advice: "Leave the feature out, and everything that is known only after the label.",
    },
    zh: Prose {
        says: "特征中含有标签",
        checks: "在至少 96 个样本中，输入的某个特征与标签的相关系数大于 0.99。目标为数值而非类别时为提示：一个特征可能足以解释它。",
        matters: "模型从输入中直接读出答案：准确率很高，但离开该特征就没有用处。",
        not_judged: "输入超过两个轴；样本过少；没有记录目标的事实（trainscope run 或 run.watch）。",
        advice: "去掉该特征，以及一切在标签之后才能得知的信息。",
    },
    ..of(Rule::LabelInFeatures)
};

pub(crate) static ONE_LABEL: Condition = Condition {
    en: Prose {
        says: "labels do not vary",
        checks: "All labels of all batches are the same; or all labels of a batch are, in half of the batches and at least 3, and differ \
         between batches. At least 5 batches with 8 labels each on average. A note: more than 85 % of at least 100 labels are of \
         one class.",
        matters: "With one label there is nothing to learn. Batches of one class each pull the model to that class.",
        not_judged: "Losses that are not over classes; padding; no fact of the targets was recorded (trainscope run, or run.watch).",
        advice: "Print the labels of two batches. Shuffle the samples: sorted data give batches of one class.",
    },
    zh: Prose {
        says: "类别标签没有变化",
        checks: "全部批次的类别标签都相同；或在一半以上（且至少 3 个）的批次中批次内类别标签全部相同，而批次之间不同。至少 5 个批次，平均每批 8 个类别标签。\
         提示：至少 100 个类别标签中有超过 85 % 属于同一类别。",
        matters: "只有一种类别标签就没有可学的东西。每批只含一个类别时，模型会被轮流拉向各个类别。",
        not_judged: "非分类损失；填充；没有记录目标的事实（trainscope run 或 run.watch）。",
        advice: "打印两个批次的类别标签。打乱样本：排序过的数据会得到单一类别的批次。",
    },
    ..of(Rule::OneLabel)
};

pub(crate) static INPUT_SCALE: Condition = Condition {
    en: Prose {
        says: "features are not scaled",
        checks: "The root mean square of a feature of the input is above 1000. A note if the first layer normalizes. Or the first dense or convolutional layer gets whole numbers from 0 to between 128 and 255 in at least 64 features: bytes of pictures.",
        matters: "The gradient of a weight is proportional to its feature: no learning rate suits features of 0.01 and of 5000 (LeCun \
         et al. 1998, Efficient BackProp, section 4.3).",
        not_judged: "Inputs of whole numbers; no fact of the inputs was recorded (trainscope run, or run.watch).",
        advice: "Subtract the mean of each feature and divide by its standard deviation, both from the training set.",
    },
    zh: Prose {
        says: "特征未缩放",
        checks: "输入某个特征的均方根大于 1000。若第一层为归一化则为提示。或首个全连接层或卷积层在至少 64 个特征中得到 0 到 128–255 的整数，即图片的原始字节。",
        matters: "权重的梯度与其特征成正比：没有哪个学习率同时适合 0.01 和 5000 的特征（LeCun 等 1998，Efficient BackProp，4.3 节）。",
        not_judged: "整数输入；没有记录输入的事实（trainscope run 或 run.watch）。",
        advice: "每个特征减去均值并除以标准差，两者取自训练集。",
    },
    ..of(Rule::InputScale)
};

pub(crate) static SEEDED_IN_LOOP: Condition = Condition {
    en: Prose {
        says: "seed set at every step",
        checks: "manual_seed was called after the first update at least 3 times, and at half of the updates.",
        matters: "Dropout, augmentation and sampling repeat the same random numbers: each step uses the same mask and the same batch.",
        not_judged: "A seed for each epoch; the number of updates is not known; no fact of seeds was recorded (trainscope run, or run.watch).",
        advice: "Set the seed once, before the training.",
    },
    zh: Prose {
        says: "每个迭代都设置随机种子",
        checks: "第一次更新之后调用 manual_seed 至少 3 次，且不少于更新次数的一半。",
        matters: "dropout、数据增强和采样会重复相同的随机数：每个迭代都用相同的掩码和相同的批次。",
        not_judged: "每轮设置一次种子；更新次数未知；没有记录种子的事实（trainscope run 或 run.watch）。",
        advice: "只在训练前设置一次种子。",
    },
    ..of(Rule::SeededInLoop)
};
