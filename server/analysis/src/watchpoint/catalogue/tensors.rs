//! Conditions about any tensor.

use trainscope_api::guide::Topic;
use trainscope_format::Severity;

use super::{BASE, Condition, Key, Need, Parameter, Prose, Range, Target, limit, text};
use crate::diagnosis::Rule;
use crate::watchpoint::checks::{data, magnitude, overflow, precision, program, range, zeros};
use crate::watchpoint::model::subject::Class;

/// Limit for mean |x|.
pub(super) const ABS_MEAN_BELOW: Parameter =
    limit(Key::AbsMeanLt, Range::NotNegative).says("mean |x| below", "|x| 的均值小于");
/// Limit for the maximum.
pub(super) const MAX_BELOW: Parameter =
    limit(Key::MaxLt, Range::Finite).says("maximum below", "最大值小于");
/// Limit for the minimum.
pub(super) const MIN_BELOW: Parameter =
    limit(Key::MinLt, Range::Finite).says("minimum below", "最小值小于");
/// Limit for the mean.
pub(super) const MEAN_BELOW: Parameter =
    limit(Key::MeanLt, Range::Finite).says("mean below", "均值小于");
/// Limit for the percentage of zeros.
pub(super) const ZEROS: Parameter = limit(Key::ZeroPercentageGe, Range::Percentage)
    .says("percentage of zeros at least", "零元素百分比不低于");
/// Limit for the maximum.
pub(super) const MAX_ABOVE: Parameter =
    limit(Key::MaxGt, Range::Finite).says("maximum above", "最大值大于");

/// A condition on NaN and infinite elements.
pub(super) const NOT_FINITE: Condition = Condition {
    finds_not_finite: true,
    severity: Severity::Error,
    is_formula: true,
    reads_histograms: true,
    formula: Some(overflow::not_finite_count),
    judge: Some(overflow::judge),
    counts: crate::watchpoint::model::finding::NOT_FINITE,
    en: Prose {
        checks: "The number of elements that are NaN, +Inf or −Inf is above 0.",
        ..BASE.en
    },
    zh: Prose {
        checks: "NaN、Inf、−Inf 元素的个数大于 0。",
        ..BASE.zh
    },
    ..BASE
};

pub(crate) static TENSOR_OVERFLOW: Condition = Condition {
    id: "tensor_overflow",
    target: Target::Tensor,
    watches: Some(|subject, context| {
        !context || !(subject.is(Target::Weight) || subject.is(Target::Gradient))
    }),
    en: Prose {
        says: "NaN or Inf in a tensor",
        matters: "Everything computed from such an element is lost; the first one shows where it started.",
        not_judged: "In context: masks, where only −Inf occurs and all later tensors of the step are finite or masked as well, or that were masks at earlier steps; buffers of 0 and −Inf that never change. Weights and gradients have their own conditions.",
        advice: "Check the operator's inputs: log or sqrt of zero, division by zero, exp of large values, fp16 range, or the data itself.",
        ..NOT_FINITE.en
    },
    zh: Prose {
        says: "张量中有 NaN 或 Inf",
        matters: "由这样的元素算出的一切都失去意义，最早出现的元素指明问题从何处开始。",
        not_judged: "结合上下文时：仅有 −Inf 且该迭代后续全为有限值或同为掩码，或此前的迭代已是掩码；只含 0 与 −Inf 且从不变化的缓冲区。权重与梯度另有条件。",
        advice: "查看该算子的输入：零的对数或平方根、除以零、过大的指数、fp16 的范围，或数据本身。",
        ..NOT_FINITE.zh
    },
    ..NOT_FINITE
};

pub(crate) static OPERATOR_OVERFLOW: Condition = Condition {
    id: "operator_overflow",
    finds_not_finite: true,
    severity: Severity::Error,
    is_formula: true,
    watches: Some(|_, _| false),
    judge: Some(program::operator_overflow),
    counts: text("overflows", "次溢出"),
    en: Prose {
        says: "operator overflow reported by the device",
        checks: "The device reported that an operator overflowed.",
        matters: "It is reported even if the result was clipped to a finite value afterwards.",
        not_judged: "There are no overflow files, or they must be converted first.",
        advice: "Check that the actual inputs of the operator fit its data type.",
    },
    zh: Prose {
        says: "设备报告算子溢出",
        checks: "设备记录某算子在某一迭代溢出。",
        matters: "即使结果随后被截断为有限值也能看到。",
        not_judged: "没有溢出文件，或其格式需要先转换。",
        advice: "检查该算子的真实输入是否符合其数据类型。",
    },
    ..BASE
};

pub(crate) static NEAR_OVERFLOW: Condition = Condition {
    id: "near_overflow",
    parameters: &[limit(Key::ShareGt, Range::Share)
        .says(
            "max |x| / maximum of the type above",
            "max |x| 与该类型最大值之比大于",
        )
        .at(0.5)],
    severity: Severity::Warning,
    formula: Some(precision::near_overflow),
    judge: Some(precision::near_overflow_judge),
    en: Prose {
        says: "near overflow",
        checks: "max |x| is above share_gt of the largest finite number of the type (fp16: 65,504).",
        matters: "It warns before an Inf occurs, from which a run does not recover.",
        not_judged: "Integers and 8-bit floats, which are scaled to their largest number; tensors with NaN or Inf; a minimum or maximum that equals the type's limit to the bit, which is a mask (torch.finfo(dtype).min). Only a note for gradients of a scaled loss, which come near by design.",
        advice: "Compute this part in fp32 or bf16, normalize its input, or lower the learning rate.",
    },
    zh: Prose {
        says: "接近溢出",
        checks: "max |x| 超过该类型最大值的 share_gt 倍（fp16：65,504）。",
        matters: "在出现不可恢复的 Inf 之前发出警告。",
        not_judged: "整数张量与 8 位浮点数（按设计缩放到上限）；含 NaN/Inf；最小值或最大值恰等于类型极限（掩码，如 torch.finfo(dtype).min）。经损失缩放的梯度本应接近上限，仅作提示。",
        advice: "此处改用 fp32 或 bf16，归一化其输入，或降低学习率。",
    },
    ..BASE
};

pub(crate) static TENSOR_ALL_ZERO: Condition = Condition {
    id: "tensor_all_zero",
    parameters: &[ZEROS.at(100.0)],
    is_formula: true,
    formula: Some(zeros::all_zero),
    judge: Some(zeros::judge),
    en: Prose {
        says: "all elements are zero",
        checks: "100 × zeros / elements is at least zero_percentage_ge.",
        matters: "All-zero inputs carry no information, all-zero outputs block the signal, all-zero gradients update no weight.",
        not_judged: "Tensors with NaN or Inf. In context: weights and biases may start at zero; a gradient may be zero for some steps if part of the model had no samples, and for good after the loss has reached exactly 0 (hinge losses).",
        advice: "Check its inputs. For a zero gradient, check for a detached branch or a dead layer behind it.",
    },
    zh: Prose {
        says: "所有元素为零",
        checks: "100 × 零元素数 / 元素总数 不低于 zero_percentage_ge。",
        matters: "全零输入不含信息，全零输出阻断信号，全零梯度不更新权重。",
        not_judged: "含 NaN/Inf。结合上下文时：权重与偏置可以从零开始；模型的某部分没有样本时梯度可以暂时为零；损失降到恰好为 0 之后（合页损失）梯度可以一直为零。",
        advice: "查看其来源；若梯度为零：分支是否被 detach，后面的层是否失活？",
    },
    ..BASE
};

/// Parameters of every condition on a range of elements.
pub(super) const RANGE_PARAMETERS: &[Parameter] = &[
    limit(Key::RangeStartInclusive, Range::Finite)
        .says("range from", "范围从")
        .support(),
    limit(Key::RangeEndInclusive, Range::Finite)
        .says("range to (inclusive)", "范围到（含两端）")
        .support(),
    limit(Key::RangePercentageLt, Range::Percentage).says(
        "percentage of elements inside the range below",
        "范围内元素的百分比小于",
    ),
    limit(Key::RangePercentageGt, Range::Percentage).says(
        "percentage of elements inside the range above",
        "范围内元素的百分比大于",
    ),
    limit(Key::MaxMinLt, Range::Positive).says("maximum − minimum below", "最大值减最小值小于"),
    limit(Key::MaxMinGt, Range::NotNegative).says("maximum − minimum above", "最大值减最小值大于"),
];

pub(crate) static TENSOR_RANGE: Condition = Condition {
    id: "tensor_range",
    parameters: RANGE_PARAMETERS,
    recommended: false,
    is_formula: true,
    needs: &[Need::Exponents],
    formula: Some(range::range),
    en: Prose {
        says: "share of elements in a range",
        checks: "The percentage of elements inside the range (ends included), or maximum - minimum, is below or above its threshold.",
        matters: "The expected range of the values is known.",
        not_judged: "Tensors with NaN or Inf; cases where recorded statistics only bound the percentage and the threshold is between the bounds.",
        advice: "Check the tensors it is computed from.",
    },
    zh: Prose {
        says: "落在某范围内的元素比例",
        checks: "落在范围内（含端点）的元素百分比，或最大值减最小值，低于或高于阈值。",
        matters: "已知数值应处的范围。",
        not_judged: "含 NaN/Inf；或统计量只能从两侧界定百分比而阈值恰在其间。",
        advice: "检查计算它所用的张量。",
    },
    ..BASE
};

/// A condition on four statistics of a tensor, of which any one above its limit is a hit.
pub(super) const STATISTIC_ABOVE: Condition = Condition {
    parameters: &[
        limit(Key::AbsMeanGt, Range::NotNegative).says("mean |x| above", "|x| 的均值大于"),
        MAX_ABOVE,
        limit(Key::MinGt, Range::Finite).says("minimum above", "最小值大于"),
        limit(Key::MeanGt, Range::Finite).says("mean above", "均值大于"),
    ],
    recommended: false,
    is_formula: true,
    formula: Some(magnitude::too_large),
    en: Prose {
        checks: "Mean |x|, maximum, minimum or mean is above the given threshold; any one is enough.",
        not_judged: "Tensors with NaN or Inf: the statistics of the remaining elements are not representative.",
        ..BASE.en
    },
    zh: Prose {
        checks: "|x| 的均值、最大值、最小值或均值高于给定的阈值，任一成立即可。",
        not_judged: "含 NaN/Inf：其余元素的统计量不能代表它。",
        ..BASE.zh
    },
    ..BASE
};

/// A condition on four statistics of a tensor, of which any one below its limit is a hit.
pub(super) const STATISTIC_BELOW: Condition = Condition {
    parameters: &[ABS_MEAN_BELOW, MAX_BELOW, MIN_BELOW, MEAN_BELOW],
    recommended: false,
    is_formula: true,
    formula: Some(magnitude::too_small),
    en: Prose {
        checks: "Mean |x|, maximum, minimum or mean is below the given threshold; any one is enough.",
        not_judged: "Tensors with NaN or Inf: the statistics of the remaining elements are not representative.",
        ..BASE.en
    },
    zh: Prose {
        checks: "|x| 的均值、最大值、最小值或均值低于给定的阈值，任一成立即可。",
        not_judged: "含 NaN/Inf：其余元素的统计量不能代表它。",
        ..BASE.zh
    },
    ..BASE
};

pub(crate) static TENSOR_TOO_LARGE: Condition = Condition {
    id: "tensor_too_large",
    target: Target::Tensor,
    en: Prose {
        says: "statistic above threshold",
        matters: "The expected magnitude is known.",
        advice: "Check the tensors it is computed from.",
        ..STATISTIC_ABOVE.en
    },
    zh: Prose {
        says: "统计量高于阈值",
        matters: "已知其应有的大小。",
        advice: "检查计算它所用的张量。",
        ..STATISTIC_ABOVE.zh
    },
    ..STATISTIC_ABOVE
};

pub(crate) static TENSOR_TOO_SMALL: Condition = Condition {
    id: "tensor_too_small",
    target: Target::Tensor,
    en: Prose {
        says: "statistic below threshold",
        matters: "The expected magnitude is known.",
        advice: "Check the tensors it is computed from.",
        ..STATISTIC_BELOW.en
    },
    zh: Prose {
        says: "统计量低于阈值",
        matters: "已知其应有的大小。",
        advice: "检查计算它所用的张量。",
        ..STATISTIC_BELOW.zh
    },
    ..STATISTIC_BELOW
};

pub(crate) static INPUT_RANGE: Condition = Condition {
    id: "input_range",
    parameters: &[limit(Key::AbsMaxGt, Range::Positive)
        .says("max |x| above", "max |x| 大于")
        .at(50.0)],
    topic: Topic::Input,
    needs: &[Need::History],
    watches: Some(|subject, _| subject.class == Class::Input),
    judge: Some(data::input_range),
    en: Prose {
        says: "input out of range",
        checks: "max |x| of the model input is above abs_max_gt; in context also: the RMS of all inputs is above 10, the RMS of a batch is 8 times that of previous batches, or all elements are equal. An input is known by its role or name, or by its place: the output of an Identity, Flatten, Reshape or Dropout before the first layer with weights.",
        matters: "Layers expect inputs around 1; other inputs saturate them or make the loss explode.",
        not_judged: "Integer inputs (images, tokens), or inputs followed by a normalization layer. A warning only if the RMS is above 1000, the loss is affected, the next layer dies, saturates or comes near an overflow at the same step, or a single batch is an outlier.",
        advice: "Normalize the data; inspect the batch of that step.",
    },
    zh: Prose {
        says: "输入超出范围",
        checks: "模型输入的 max |x| 大于 abs_max_gt；结合上下文时还包括：全部输入的均方根大于 10、某批次的均方根是此前的 8 倍，或所有元素相同。输入由其角色、名称或位置确定：首个带权重的层之前的 Identity、Flatten、Reshape 或 Dropout 的输出。",
        matters: "网络层按约为 1 的输入设计，否则会饱和或使损失爆炸。",
        not_judged: "整数输入（图像、词元），或紧接归一化层。仅当均方根大于 1000、损失有所体现、下一层在同一迭代失活、饱和或接近溢出，或某批次突出时才警告。",
        advice: "归一化数据；查看该迭代的批次。",
    },
    ..BASE
};

pub(crate) static CLASS_IMBALANCE: Condition = Condition {
    id: "class_imbalance",
    parameters: &[limit(Key::ShareGt, Range::Share)
        .says(
            "share of the most frequent label above",
            "最常见类别标签的比例大于",
        )
        .at(0.85)],
    topic: Topic::Input,
    needs: &[Need::Exponents, Need::History],
    watches: Some(|subject, _| subject.class == Class::Labels),
    judge: Some(data::imbalance),
    en: Prose {
        says: "class imbalance",
        checks: "The share of the most frequent label, over all recorded labels, is above share_gt; without labels, it is estimated from the gradient of the last bias while the loss is at chance level.",
        matters: "The model learns to predict a single class.",
        not_judged: "Fewer than 50 labels, or batches of fewer than 8 samples without labels.",
        advice: "Check the sampler; weight the classes or sample them evenly.",
    },
    zh: Prose {
        says: "类别不均衡",
        checks: "最常见类别标签的比例大于 share_gt；没有类别标签时，由损失等于随机猜测时最后一层偏置的梯度推断。",
        matters: "模型会变得只预测一个类别。",
        not_judged: "少于 50 个类别标签；或没有类别标签且批次少于 8 个样本。",
        advice: "检查采样器；对类别加权或均衡采样。",
    },
    ..BASE
};

pub(crate) static REPEATED_BATCH: Condition = Condition {
    id: "repeated_batch",
    severity: Severity::Warning,
    needs: &[Need::Hash, Need::History],
    watches: Some(|subject, _| subject.class == Class::Input),
    topic: Topic::Input,
    rule: Some(Rule::RepeatedBatch),
    judge: Some(data::repeated),
    counts: text("equal steps", "个相同的迭代"),
    en: Prose {
        says: "same batch at every step",
        checks: "The hash of an input is the same at all recorded steps, at least 5; or of all batches that the program was seen with, at \
         least 10.",
        matters: "A model that is given one batch again and again memorizes it. A note only, as full-batch training gives the same hashes; a warning if an epoch of several batches of a data loader was begun for each backward pass, so that it always gave its first batch.",
        not_judged: "Fewer than 5 steps; no hashes; every element is the same number.",
        advice: "Check that the iterator of the data loader is made once per epoch, not once per step.",
    },
    zh: Prose {
        says: "每个迭代都是同一批数据",
        checks: "输入的哈希在所有记录的迭代（至少 5 个）中都相同；或程序运行中观察到的全部批次（至少 10 个）都相同。",
        matters: "反复使用同一批数据，模型只会记住这一批。仅作提示：整个数据集作为一批训练时也是如此；若每次反向传播都重新开始数据加载器的一轮（每轮有多个批次），因而总是得到第一个批次，则为警告。",
        not_judged: "少于 5 个迭代；没有哈希；所有元素相同。",
        advice: "检查数据加载器的迭代器是否每轮创建一次，而不是每个迭代创建一次。",
    },
    ..BASE
};
