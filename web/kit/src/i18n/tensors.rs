//! Texts of the tensors page, in both languages.

use crate::format;
use crate::i18n::Text;

texts! {
    /// Values of tensors.
    TensorsTexts

    /// Field over the list: number of tensors.
    filter: fn(u64) -> String =
        |count| match count {
            1 => "1 tensor".to_owned(),
            _ => format!("{} tensors", format::count(count)),
        },
        |count| format!("{} 个张量", format::count(count));
    /// A role by its name in the API.
    role: fn(&str) -> Text =
        |role| match role {
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
        |role| match role {
            "weight" => "权重",
            "gradient" => "梯度",
            "activation" => "激活值",
            "input" => "输入",
            "output" => "输出",
            "loss" => "损失",
            "optimizer_state" => "优化器",
            "frozen_weight" => "冻结",
            _ => "其他",
        };
    all = "all", "全部";
    nothing_matches = "No matching tensors.", "没有匹配的张量。";
    /// Tensors were left out: sent, all.
    cut: fn(u64, u64) -> String =
        |sent, all| format!("First {} of {}: filter to see the others", format::count(sent), format::count(all)),
        |sent, all| format!("显示 {} / {}，请筛选以查看其余张量", format::count(sent), format::count(all));
    none = "No tensors were recorded", "没有记录张量";
    none_next =
        "Record statistics with run.watch of the Python package or with the collector for Rust, or save tensors \
        as npy or safetensors, one folder or file per step; MindSpore dumps are read as they are.",
        "用 Python 包的 run.watch 或 Rust 采集器记录统计量，或按迭代将张量写为 npy 或 safetensors 文件；MindSpore 的 dump 数据可直接读取。";
    rank = "Rank", "Rank";
    /// Before the number of a step.
    step: fn(i64) -> String =
        |step| format!("step {}", format::integer(step)),
        |step| format!("迭代 {}", format::integer(step));
    previous_step = "Previous step (←)", "上一迭代 (←)";
    next_step = "Next step (→)", "下一迭代 (→)";
    steps = "Step", "迭代";
    range = "Range", "范围";
    std = "Std", "标准差";
    norm = "Norm", "范数";
    /// Label of the chart: tensor.
    chart: fn(&str) -> String = |tensor| format!("{tensor} over steps"), |tensor| format!("{tensor} 随迭代的变化");
    /// Some steps are not read yet: bytes left.
    pending: fn(u64) -> String =
        |left| format!("{} to read", format::bytes(left)),
        |left| format!("待读取 {}", format::bytes(left));
    slice = "Slice", "切片";
    slice_help = "NumPy syntax: 17, 3, 48:70, :", "与 NumPy 写法相同：17, 3, 48:70, :";
    swap = "Swap rows and columns", "交换行与列";
    /// Label of an axis: number.
    axis: fn(usize) -> String = |axis| format!("axis {axis}"), |axis| format!("维度 {axis}");
    free = "Show this axis in the table", "在表中展开该维度";
    current = "Current", "当前";
    other = "Compared", "对比值";
    difference = "Difference", "差值";
    compare = "Compare with", "对比";
    with_previous = "previous step", "上一迭代";
    with_first = "first step", "首个迭代";
    /// Choice: a rank.
    with_rank: fn(u32) -> String = |rank| format!("rank {rank}"), |rank| format!("rank {rank}");
    /// Choice: a run.
    with_run: fn(&str) -> String = |run| run.to_owned(), |run| run.to_owned();
    /// Number of differing elements, of loaded elements, and of all in the slice.
    beyond: fn(u64, u64, u64) -> String =
        |beyond, loaded, all| {
            let (beyond, loaded_text) = (format::count(beyond), format::count(loaded));
            if loaded < all {
                let all = format::count(all);
                format!("{beyond} of the {loaded_text} loaded differ ({all} in the slice)")
            } else {
                format!("{beyond} of {loaded_text} differ")
            }
        },
        |beyond, loaded, all| {
            let (beyond, loaded_text) = (format::count(beyond), format::count(loaded));
            if loaded < all {
                let all = format::count(all);
                format!("已加载的 {loaded_text} 个元素中 {beyond} 个不同（切片共 {all} 个）")
            } else {
                format!("{beyond} / {loaded_text} 个元素不同")
            }
        };
    /// Foot of the table: elements that can be scrolled to.
    in_table: fn(u64) -> String =
        |all| match all {
            1 => "1 value".to_owned(),
            _ => format!("{} values", format::count(all)),
        },
        |all| format!("{} 个值", format::count(all));
    /// Classes of elements: NaN, −∞, negative, zero, positive, +∞.
    classes: [Text; 6] = ["NaN", "−∞", "negative", "zero", "positive", "+∞"], ["NaN", "−∞", "负值", "零", "正值", "+∞"];
    l2_norm = "L2 norm", "L2 范数";
    zeros = "zeros", "零值个数";
    nothing_finite = "No finite values", "没有有限值";
    absolute = "Absolute tolerance", "绝对容差";
    relative = "Relative tolerance", "相对容差";
    values = "Values", "张量值";
    empty = "This slice has no elements.", "该切片没有元素。";
    too_long =
        "Too long to scroll: enter a range in the slice to see the rest.",
        "浏览器无法继续滚动：请在切片中给出范围以查看其余部分。";
    only_statistics = "Only statistics were recorded", "仅记录了统计量";
    /// Of a step whose elements were not recorded.
    no_values_at: fn(i64) -> String =
        |step| format!("Only statistics were recorded at step {}", format::integer(step)),
        |step| format!("迭代 {} 仅记录了统计量", format::integer(step));
    nearest_values = "The nearest steps with values:", "最近的有完整值的迭代：";
    dumps = "values", "有值";
    dumps_title = "Steps at which all values were recorded", "记录了完整值的迭代";
    only_statistics_next =
        "Dump the tensor to see its values; the chart above shows its statistics.",
        "如需查看张量值，请完整 dump 该张量；所有迭代都仅有上方曲线中的信息。";
    unreadable = "Values cannot be read", "无法读取这些值";
    not_shown = "Values of this type are not shown", "不显示此类型的值";
    elements = "Elements", "元素";
    statistics = "Statistics", "统计量";
    histogram = "Histogram", "直方图";
    of_slice = "of this slice", "当前切片";
    bins = "Bins", "分箱数";
    /// Description of the picture: from, to.
    histogram_label: fn(&str, &str) -> String =
        |from, to| format!("Elements of the slice from {from} to {to}"),
        |from, to| format!("切片元素分布，从 {from} 到 {to}");
    jump = "Jump to", "跳转到";
    first_nan = "first NaN", "首个 NaN";
    first_pos_inf = "first +∞", "首个 +∞";
    first_neg_inf = "first −∞", "首个 −∞";
    /// Button: look at all of a large tensor.
    look_at_all: fn(&str) -> String = |size| format!("Read all {size}"), |size| format!("读取全部 {size}");
    /// Progress of reading: bytes read, all.
    looking: fn(&str, &str) -> String =
        |read, all| format!("{read} of {all} read"),
        |read, all| format!("已读取 {read} / {all}");
    stop = "Stop reading", "停止读取";
    whole = "whole tensor", "整个张量";
    debugger = "Debugger", "调试器";
    show_values = "Show values", "查看张量值";
}

#[cfg(test)]
mod tests {
    use crate::i18n::Locale;

    #[test]
    fn a_count_over_a_part_of_the_slice_says_so() {
        let beyond = Locale::En.texts().tensors().beyond;
        let whole = beyond(3, 4, 4);
        assert_eq!(whole, "3 of 4 differ");
        let part = beyond(960, 1_024, 1_600);
        assert_eq!(part, "960 of the 1,024 loaded differ (1,600 in the slice)");
    }
}
