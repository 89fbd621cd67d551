//! Conditions about any tensor.

use trainscope_format::Severity;

use super::{BASE, Condition, ConditionNeeds, NOTHING, Parameter, Range, Target, limit, text};
use crate::watchpoint::checks::{data, magnitude, overflow, precision, program, range, zeros};
use crate::watchpoint::target::Class;

pub(super) static TENSOR_OVERFLOW: Condition = Condition {
    id: "tensor_overflow",
    target: Target::Tensor,
    severity: Severity::Error,
    is_formula: true,
    watches: |subject, context| {
        !context || !(subject.is(Target::Weight) || subject.is(Target::Gradient))
    },
    formula: Some(overflow::not_finite_count),
    judge: Some(overflow::judge),
    says: text("NaN or Inf in a tensor", "张量中有 NaN 或 Inf"),
    checks: text(
        "The number of elements that are NaN, Inf or -Inf is above 0.",
        "NaN、Inf、-Inf 元素的个数大于 0。",
    ),
    matters: text(
        "Everything that is computed from such an element is lost, and the first one tells where.",
        "由这样的元素算出的一切都失去意义，而最早出现的那个指明了位置。",
    ),
    not_judged: text(
        "In context: only -Inf in front of something that minds none, so that all that follows in the step is finite: a mask. Weights and gradients have conditions of their own.",
        "在上下文中：仅有 -Inf 且该步后续全为有限值（掩码）时不算；权重与梯度另有条件。",
    ),
    advice: text(
        "Look at what the operation was given: logarithm or root of zero, division by zero, exponents that are too large, half precision, or the data themselves.",
        "查看该算子的输入：零的对数或平方根、除以零、指数过大、半精度，或数据本身。",
    ),
    ..BASE
};

pub(super) static OPERATOR_OVERFLOW: Condition = Condition {
    id: "operator_overflow",
    target: Target::Tensor,
    severity: Severity::Error,
    is_formula: true,
    watches: |_, _| false,
    judge: Some(program::operator_overflow),
    says: text("the device reported an overflow", "设备报告了溢出"),
    checks: text(
        "The device has noted that an operator overflowed in a step.",
        "设备记录某算子在某一步溢出。",
    ),
    matters: text(
        "It is seen even where the result was clipped to a finite number afterwards.",
        "即使结果随后被截断为有限值也能看到。",
    ),
    not_judged: text(
        "There are no overflow files, or they are in a form that has to be converted first.",
        "没有溢出文件，或其格式需要先转换。",
    ),
    advice: text(
        "Check that the operator's real inputs fit its type.",
        "检查该算子的真实输入是否符合其数据类型。",
    ),
    ..BASE
};

pub(super) static NEAR_OVERFLOW: Condition = Condition {
    id: "near_overflow",
    target: Target::Tensor,
    parameters: &[limit(
        "share_gt",
        Range::Share,
        text(
            "max |x| by the largest number of the type above",
            "max |x| 与该类型最大值之比大于",
        ),
    )
    .at(0.5)],
    severity: Severity::Warning,
    formula: Some(precision::near_overflow),
    judge: Some(precision::near_overflow_judge),
    says: text(
        "close to what the type can hold",
        "接近该类型所能表示的上限",
    ),
    checks: text(
        "max |x| is above share_gt of the largest number that the type holds (f16: 65,504).",
        "max |x| 超过该类型最大值的 share_gt 倍（f16：65504）。",
    ),
    matters: text(
        "It warns before there is an Inf, from which nobody recovers.",
        "在出现不可恢复的 Inf 之前发出警告。",
    ),
    not_judged: text(
        "The tensor is of integers, or holds NaN or Inf. Gradients of a scaled loss are meant to come near.",
        "整数张量，或含 NaN/Inf。经损失缩放的梯度本应接近上限。",
    ),
    advice: text(
        "Compute this part in f32 or bf16, normalise its input, or lower the learning rate.",
        "此处改用 f32 或 bf16，归一化其输入，或降低学习率。",
    ),
    ..BASE
};

pub(super) static TENSOR_ALL_ZERO: Condition = Condition {
    id: "tensor_all_zero",
    target: Target::Tensor,
    parameters: &[limit(
        "zero_percentage_ge",
        Range::Percentage,
        text("percentage of zeros at least", "零元素百分比不低于"),
    )
    .at(100.0)],
    severity: Severity::Info,
    is_formula: true,
    formula: Some(zeros::all_zero),
    judge: Some(zeros::judge),
    says: text("all elements are zero", "所有元素为零"),
    checks: text(
        "100 * zeros / elements is at least zero_percentage_ge.",
        "100 × 零元素数 / 元素总数 不低于 zero_percentage_ge。",
    ),
    matters: text(
        "An input of zeros teaches nothing, a layer that answers zero lets nothing through, a gradient of zeros moves no weight.",
        "全零输入学不到东西，全零输出阻断信号，全零梯度不更新权重。",
    ),
    not_judged: text(
        "The tensor holds NaN or Inf. In context: weights and offsets may begin with zeros; a gradient may be zero for some steps where a part of the model had no samples.",
        "含 NaN/Inf。在上下文中：权重与偏置可以从零开始；模型的某部分没有样本时梯度可以暂时为零。",
    ),
    advice: text(
        "Look at what it is computed from; a gradient of zeros: is the branch detached, or the layer behind it dead?",
        "查看其来源；若梯度为零：分支是否被 detach，后面的层是否失活？",
    ),
    ..BASE
};

/// What every condition on a range of elements takes.
pub(super) const RANGE_PARAMETERS: &[Parameter] = &[
    limit(
        "range_start_inclusive",
        Range::Finite,
        text("start of the range", "范围起点（含）"),
    )
    .support(),
    limit(
        "range_end_inclusive",
        Range::Finite,
        text("end of the range", "范围终点（含）"),
    )
    .support(),
    limit(
        "range_percentage_lt",
        Range::Percentage,
        text("percentage inside below", "范围内百分比小于"),
    ),
    limit(
        "range_percentage_gt",
        Range::Percentage,
        text("percentage inside above", "范围内百分比大于"),
    ),
    limit(
        "max_min_lt",
        Range::Positive,
        text("maximum − minimum below", "最大值减最小值小于"),
    ),
    limit(
        "max_min_gt",
        Range::NotNegative,
        text("maximum − minimum above", "最大值减最小值大于"),
    ),
];

pub(super) static TENSOR_RANGE: Condition = Condition {
    id: "tensor_range",
    target: Target::Tensor,
    parameters: RANGE_PARAMETERS,
    severity: Severity::Info,
    recommended: false,
    is_formula: true,
    needs: ConditionNeeds {
        exponents: true,
        ..NOTHING
    },
    formula: Some(range::range),
    says: text(
        "a share of elements is inside or outside of a range",
        "落在某范围内的元素比例",
    ),
    checks: text(
        "The percentage of elements inside the range (ends included) is below or above its limit, or maximum - minimum is.",
        "落在范围内（含端点）的元素百分比，或最大值减最小值，低于或高于阈值。",
    ),
    matters: text("You know where values belong.", "你知道数值应处的范围。"),
    not_judged: text(
        "The tensor holds NaN or Inf; or recorded statistics bound the percentage from both sides and the limit lies between.",
        "含 NaN/Inf；或统计量只能从两侧界定百分比而阈值恰在其间。",
    ),
    advice: text(
        "Look at the tensors it is computed from.",
        "查看其输入张量。",
    ),
    ..BASE
};

pub(super) static TENSOR_TOO_LARGE: Condition = Condition {
    id: "tensor_too_large",
    target: Target::Tensor,
    parameters: &[
        limit(
            "abs_mean_gt",
            Range::NotNegative,
            text("mean |x| above", "|x| 的均值大于"),
        ),
        limit("max_gt", Range::Finite, text("maximum above", "最大值大于")),
        limit("min_gt", Range::Finite, text("minimum above", "最小值大于")),
        limit("mean_gt", Range::Finite, text("mean above", "均值大于")),
    ],
    severity: Severity::Info,
    recommended: false,
    is_formula: true,
    formula: Some(magnitude::too_large),
    says: text("a figure is above its limit", "某个统计量高于阈值"),
    checks: text(
        "Mean |x|, maximum, minimum or mean is above its limit; any of those that are given.",
        "|x| 的均值、最大值、最小值或均值高于给定的阈值，任一成立即可。",
    ),
    matters: text("You know how large it may be.", "你知道它应有多大。"),
    not_judged: text(
        "The tensor holds NaN or Inf: then figures of the rest do not speak for it.",
        "含 NaN/Inf：其余元素的统计量不能代表它。",
    ),
    advice: text(
        "Look at the tensors it is computed from.",
        "查看其输入张量。",
    ),
    ..BASE
};

pub(super) static TENSOR_TOO_SMALL: Condition = Condition {
    id: "tensor_too_small",
    target: Target::Tensor,
    parameters: &[
        limit(
            "abs_mean_lt",
            Range::NotNegative,
            text("mean |x| below", "|x| 的均值小于"),
        ),
        limit("max_lt", Range::Finite, text("maximum below", "最大值小于")),
        limit("min_lt", Range::Finite, text("minimum below", "最小值小于")),
        limit("mean_lt", Range::Finite, text("mean below", "均值小于")),
    ],
    severity: Severity::Info,
    recommended: false,
    is_formula: true,
    formula: Some(magnitude::too_small),
    says: text("a figure is below its limit", "某个统计量低于阈值"),
    checks: text(
        "Mean |x|, maximum, minimum or mean is below its limit; any of those that are given.",
        "|x| 的均值、最大值、最小值或均值低于给定的阈值，任一成立即可。",
    ),
    matters: text("You know how small it may be.", "你知道它应有多小。"),
    not_judged: text(
        "The tensor holds NaN or Inf: then figures of the rest do not speak for it.",
        "含 NaN/Inf：其余元素的统计量不能代表它。",
    ),
    advice: text(
        "Look at the tensors it is computed from.",
        "查看其输入张量。",
    ),
    ..BASE
};

pub(super) static INPUT_RANGE: Condition = Condition {
    id: "input_range",
    target: Target::Tensor,
    parameters: &[limit(
        "abs_max_gt",
        Range::Positive,
        text("max |x| above", "max |x| 大于"),
    )
    .at(50.0)],
    severity: Severity::Info,
    needs: ConditionNeeds {
        history: true,
        ..NOTHING
    },
    watches: |subject, _| subject.class == Class::Input,
    judge: Some(data::input_range),
    says: text("inputs are out of the usual range", "输入超出常见范围"),
    checks: text(
        "max |x| of what is fed is above abs_max_gt; in context also: all inputs are of a size above 10, a batch is 8 times as large as those before, or every element is the same.",
        "输入的 max |x| 大于 abs_max_gt；在上下文中还包括：整体大小超过 10、某批次是此前的 8 倍，或所有元素相同。",
    ),
    matters: text(
        "Layers are made for inputs around 1; others saturate them or make the loss explode.",
        "网络层按约为 1 的输入设计，否则会饱和或使损失爆炸。",
    ),
    not_judged: text(
        "Inputs are integers (pictures, tokens), or a norm follows at once. A warning only where the loss shows it, or a batch stands out.",
        "整数输入（图像、词元），或紧接归一化层。仅当损失有所体现或某批次突出时才警告。",
    ),
    advice: text(
        "Normalise the data; look at the batch of that step.",
        "归一化数据；查看该步的批次。",
    ),
    ..BASE
};

pub(super) static CLASS_IMBALANCE: Condition = Condition {
    id: "class_imbalance",
    target: Target::Tensor,
    parameters: &[limit(
        "share_gt",
        Range::Share,
        text(
            "share of the most frequent label above",
            "最多标签的比例大于",
        ),
    )
    .at(0.85)],
    severity: Severity::Info,
    needs: ConditionNeeds {
        exponents: true,
        history: true,
        ..NOTHING
    },
    watches: |subject, _| subject.class == Class::Labels,
    judge: Some(data::imbalance),
    says: text("nearly all labels are the same", "几乎所有标签都相同"),
    checks: text(
        "The share of the most frequent label is above share_gt, over all labels seen; without labels, from the gradient of the last offset while the loss is what guessing gives.",
        "最多标签的比例大于 share_gt；没有标签时，由损失等于随机猜测时最后一层偏置的梯度推断。",
    ),
    matters: text(
        "The model learns to give one answer.",
        "模型会学成只给一个答案。",
    ),
    not_judged: text(
        "Fewer than 50 labels, or batches of fewer than 8 samples without labels.",
        "少于 50 个标签；或无标签且批次少于 8 个样本。",
    ),
    advice: text(
        "Look at the sampler; weight the classes or sample them evenly.",
        "检查采样器；对类别加权或均衡采样。",
    ),
    ..BASE
};
