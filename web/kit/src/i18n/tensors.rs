//! Texts of the tensors page, in both languages.

use crate::format;

/// Values of tensors.
pub struct TensorsTexts {
    pub title: &'static str,
    /// Field over the list: how many.
    pub filter: fn(u64) -> String,
    /// A role by its name in the API.
    pub role: fn(&str) -> &'static str,
    pub all: &'static str,
    pub nothing_matches: &'static str,
    /// Tensors were left out: sent, all.
    pub cut: fn(u64, u64) -> String,
    pub none: &'static str,
    pub none_next: &'static str,
    pub rank: &'static str,
    /// Before the number of a step.
    pub step: fn(i64) -> String,
    pub previous_step: &'static str,
    pub next_step: &'static str,
    pub steps: &'static str,
    pub range: &'static str,
    pub std: &'static str,
    pub norm: &'static str,
    /// Label of the chart: tensor.
    pub chart: fn(&str) -> String,
    /// Some steps are not read yet: how much is left.
    pub pending: fn(u64) -> String,
    pub slice: &'static str,
    pub slice_help: &'static str,
    pub swap: &'static str,
    /// Label of an axis: number.
    pub axis: fn(usize) -> String,
    pub free: &'static str,
    pub current: &'static str,
    pub other: &'static str,
    pub difference: &'static str,
    pub compare: &'static str,
    pub with_previous: &'static str,
    pub with_first: &'static str,
    /// Choice: a rank.
    pub with_rank: fn(u32) -> String,
    /// Choice: a run.
    pub with_run: fn(&str) -> String,
    /// Number of differing elements: of those that are loaded, and how many there are in the slice.
    pub beyond: fn(u64, u64, u64) -> String,
    /// Foot of the table: elements that can be scrolled to.
    pub in_table: fn(u64) -> String,
    /// Classes of elements: NaN, −∞, negative, zero, positive, +∞.
    pub classes: [&'static str; 6],
    pub l2_norm: &'static str,
    pub zeros: &'static str,
    pub nothing_finite: &'static str,
    pub absolute: &'static str,
    pub relative: &'static str,
    pub values: &'static str,
    pub empty: &'static str,
    pub too_long: &'static str,
    pub only_statistics: &'static str,
    /// Of a step whose elements were not recorded.
    pub no_values_at: fn(i64) -> String,
    pub nearest_values: &'static str,
    pub dumps: &'static str,
    pub dumps_title: &'static str,
    pub only_statistics_next: &'static str,
    pub unreadable: &'static str,
    pub not_shown: &'static str,
    pub elements: &'static str,
    pub statistics: &'static str,
    pub histogram: &'static str,
    pub of_slice: &'static str,
    pub bins: &'static str,
    /// Description of the picture: from, to.
    pub histogram_label: fn(&str, &str) -> String,
    pub jump: &'static str,
    pub first_nan: &'static str,
    pub first_pos_inf: &'static str,
    pub first_neg_inf: &'static str,
    /// Button: look at all of a large tensor.
    pub look_at_all: fn(&str) -> String,
    /// While that goes on: read, all.
    pub looking: fn(&str, &str) -> String,
    pub stop: &'static str,
    pub whole: &'static str,
    pub debugger: &'static str,
    pub show_values: &'static str,
}

pub(super) const EN: TensorsTexts = TensorsTexts {
    title: "Tensors",
    filter: |count| match count {
        1 => "1 tensor".to_owned(),
        _ => format!("{} tensors", format::count(count)),
    },
    role: |role| match role {
        "weight" => "weights",
        "gradient" => "gradients",
        "activation" => "activations",
        "input" => "inputs",
        "output" => "outputs",
        "loss" => "loss",
        "optimizer_state" => "optimizer",
        "frozen_weight" => "frozen",
        _ => "other",
    },
    all: "all",
    nothing_matches: "No matching tensors.",
    cut: |sent, all| {
        format!(
            "First {} of {}: filter to see the others",
            format::count(sent),
            format::count(all)
        )
    },
    none: "No tensors were recorded",
    none_next: "Record statistics with run.watch of the Python package or with the collector for Rust, or save tensors \
                as npy or safetensors, one folder or file per step; MindSpore dumps are read as they are.",
    rank: "Rank",
    step: |step| format!("step {}", format::integer(step)),
    previous_step: "Previous step (←)",
    next_step: "Next step (→)",
    steps: "Step",
    range: "Range",
    std: "Std",
    norm: "Norm",
    chart: |tensor| format!("{tensor} over steps"),
    pending: |left| format!("{} to read", format::bytes(left)),
    slice: "Slice",
    slice_help: "NumPy syntax: 17, 3, 48:70, :",
    swap: "Swap rows and columns",
    axis: |axis| format!("axis {axis}"),
    free: "Show this axis in the table",
    current: "Current",
    other: "Compared",
    difference: "Difference",
    compare: "Compare with",
    with_previous: "previous step",
    with_first: "first step",
    with_rank: |rank| format!("rank {rank}"),
    with_run: |run| run.to_owned(),
    beyond: |beyond, loaded, all| {
        let (beyond, loaded_text) = (format::count(beyond), format::count(loaded));
        if loaded < all {
            let all = format::count(all);
            format!("{beyond} of the {loaded_text} loaded differ ({all} in the slice)")
        } else {
            format!("{beyond} of {loaded_text} differ")
        }
    },
    in_table: |all| match all {
        1 => "1 value".to_owned(),
        _ => format!("{} values", format::count(all)),
    },
    classes: ["NaN", "−∞", "negative", "zero", "positive", "+∞"],
    l2_norm: "L2 norm",
    zeros: "zeros",
    nothing_finite: "No finite values",
    absolute: "Absolute tolerance",
    relative: "Relative tolerance",
    values: "Values",
    empty: "This slice has no elements.",
    too_long: "Too long to scroll: enter a range in the slice to see the rest.",
    only_statistics: "Only statistics were recorded",
    only_statistics_next: "Dump the tensor to see its values; the chart above shows its statistics.",
    no_values_at: |step| {
        format!(
            "Only statistics were recorded at step {}",
            format::integer(step)
        )
    },
    nearest_values: "The nearest steps with values:",
    dumps: "values",
    dumps_title: "Steps at which all values were recorded",
    unreadable: "Values cannot be read",
    not_shown: "Values of this type are not shown",
    elements: "Elements",
    statistics: "Statistics",
    histogram: "Histogram",
    of_slice: "of this slice",
    bins: "Bins",
    histogram_label: |from, to| format!("Elements of the slice from {from} to {to}"),
    jump: "Jump to",
    first_nan: "first NaN",
    first_pos_inf: "first +∞",
    first_neg_inf: "first −∞",
    look_at_all: |size| format!("Read all {size}"),
    looking: |read, all| format!("{read} of {all} read"),
    stop: "Stop reading",
    whole: "whole tensor",
    debugger: "Debugger",
    show_values: "Show values",
};

pub(super) const ZH: TensorsTexts = TensorsTexts {
    title: "张量",
    filter: |count| format!("{} 个张量", format::count(count)),
    role: |role| match role {
        "weight" => "权重",
        "gradient" => "梯度",
        "activation" => "激活值",
        "input" => "输入",
        "output" => "输出",
        "loss" => "损失",
        "optimizer_state" => "优化器",
        "frozen_weight" => "冻结",
        _ => "其他",
    },
    all: "全部",
    nothing_matches: "没有匹配的张量。",
    cut: |sent, all| {
        format!(
            "显示 {} / {}，请筛选以查看其余张量",
            format::count(sent),
            format::count(all)
        )
    },
    none: "没有记录张量",
    none_next: "用 Python 包的 run.watch 或 Rust 采集器记录统计量，或按迭代将张量写为 npy 或 safetensors 文件；MindSpore 的 dump 数据可直接读取。",
    rank: "Rank",
    step: |step| format!("迭代 {}", format::integer(step)),
    previous_step: "上一迭代 (←)",
    next_step: "下一迭代 (→)",
    steps: "迭代",
    range: "范围",
    std: "标准差",
    norm: "范数",
    chart: |tensor| format!("{tensor} 随迭代的变化"),
    pending: |left| format!("待读取 {}", format::bytes(left)),
    slice: "切片",
    slice_help: "与 NumPy 写法相同：17, 3, 48:70, :",
    swap: "交换行与列",
    axis: |axis| format!("维度 {axis}"),
    free: "在表中展开该维度",
    current: "当前",
    other: "对比值",
    difference: "差值",
    compare: "对比",
    with_previous: "上一迭代",
    with_first: "首个迭代",
    with_rank: |rank| format!("rank {rank}"),
    with_run: |run| run.to_owned(),
    beyond: |beyond, loaded, all| {
        let (beyond, loaded_text) = (format::count(beyond), format::count(loaded));
        if loaded < all {
            let all = format::count(all);
            format!("已加载的 {loaded_text} 个元素中 {beyond} 个不同（切片共 {all} 个）")
        } else {
            format!("{beyond} / {loaded_text} 个元素不同")
        }
    },
    in_table: |all| format!("{} 个值", format::count(all)),
    classes: ["NaN", "−∞", "负值", "零", "正值", "+∞"],
    l2_norm: "L2 范数",
    zeros: "零值个数",
    nothing_finite: "没有有限值",
    absolute: "绝对容差",
    relative: "相对容差",
    values: "张量值",
    empty: "该切片没有元素。",
    too_long: "浏览器无法继续滚动：请在切片中给出范围以查看其余部分。",
    only_statistics: "仅记录了统计量",
    only_statistics_next: "如需查看张量值，请完整 dump 该张量；所有迭代都仅有上方曲线中的信息。",
    no_values_at: |step| format!("迭代 {} 仅记录了统计量", format::integer(step)),
    nearest_values: "最近的有完整值的迭代：",
    dumps: "有值",
    dumps_title: "记录了完整值的迭代",
    unreadable: "无法读取这些值",
    not_shown: "不显示此类型的值",
    elements: "元素",
    statistics: "统计量",
    histogram: "直方图",
    of_slice: "当前切片",
    bins: "分箱数",
    histogram_label: |from, to| format!("切片元素分布，从 {from} 到 {to}"),
    jump: "跳转到",
    first_nan: "首个 NaN",
    first_pos_inf: "首个 +∞",
    first_neg_inf: "首个 −∞",
    look_at_all: |size| format!("读取全部 {size}"),
    looking: |read, all| format!("已读取 {read} / {all}"),
    stop: "停止读取",
    whole: "整个张量",
    debugger: "调试器",
    show_values: "查看张量值",
};

#[cfg(test)]
mod tests {
    use super::EN;

    #[test]
    fn a_count_over_a_part_of_the_slice_says_so() {
        let whole = (EN.beyond)(3, 4, 4);
        assert_eq!(whole, "3 of 4 differ");
        let part = (EN.beyond)(960, 1_024, 1_600);
        assert_eq!(part, "960 of the 1,024 loaded differ (1,600 in the slice)");
    }
}
