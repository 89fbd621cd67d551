//! The texts of the memory of profiles.

use crate::format;
use crate::i18n::{Text, many};

/// Sentence about memory: peak; size and share of the device; time into a step and its number; bytes and name of the
/// largest category.
type MemorySentence =
    fn(&str, Option<(&str, &str)>, Option<(&str, &str)>, Option<(&str, &str)>) -> String;

texts! {
    /// The memory of a profile.
    MemoryTexts

    memory_none = "Memory was not recorded", "未记录内存";
    memory_sentence: MemorySentence =
        |peak, device, step, largest| {
            let device = device.map(|(size, share)| format!(" of {size} ({share})"));
            let step = step.map(|(into, number)| format!(", {into} into step {number}"));
            let largest =
                largest.map(|(bytes, name)| format!("; {bytes} of it are {}", name.to_lowercase()));
            let [device, step, largest] = [device, step, largest].map(Option::unwrap_or_default);
            format!("Memory peaks at {peak}{device}{step}{largest}.")
        },
        |peak, device, step, largest| {
            let device = device.map(|(size, share)| format!("，占设备 {size} 的 {share}"));
            let step = step.map(|(into, number)| format!("，出现在迭代 {number} 开始后 {into}"));
            let largest = largest.map(|(bytes, name)| format!("；其中{name} {bytes}"));
            let [device, step, largest] = [device, step, largest].map(Option::unwrap_or_default);
            format!("内存峰值 {peak}{device}{step}{largest}。")
        };
    /// Memory grows: bytes a step, steps until the device is full.
    memory_grows: fn(&str, Option<u64>) -> String =
        |slope, full| match full {
            None => format!("It grows by {slope} per step."),
            Some(steps) => format!(
                "It grows by {slope} per step: the device is full in {}.",
                many(steps, "step", "steps")
            ),
        },
        |slope, full| match full {
            None => format!("每个迭代增长 {slope}。"),
            Some(steps) => format!(
                "每个迭代增长 {slope}：再过 {} 个迭代设备将耗尽。",
                format::count(steps)
            ),
        };
    memory_steady = "It does not grow over the steps.", "各迭代之间没有增长。";
    since_begin =
        "Bytes count from the start of the recording: memory allocated before is not included.",
        "字节数从记录开始算起，不含此前已分配的内存。";
    without_addresses =
        "Addresses were not recorded, so allocations and releases are not paired, and categories are unknown.",
        "未记录地址，因此无法将分配与释放配对，类别未知。";
    /// Categories are those of a file; they follow from lifetimes; from call stacks.
    categories_from: [Text; 3] =
        [
            "Categories are those that the framework recorded.", "Categories follow from lifetimes.",
            "Categories follow from the calls that allocated.",
        ],
        ["类别由框架记录。", "类别由生命周期推断。", "类别由分配时的调用推断。"];
    /// Number of failed allocations; requested bytes, moment and free bytes of the first one.
    memory_failed: fn(u64, &str, &str, &str) -> String =
        |failures, asked, at, free| match failures {
            1 => format!("An allocation of {asked} failed at {at}: {free} of the device were free."),
            more => format!(
                "{} allocations failed, the first of {asked} at {at}: {free} of the device were free.",
                format::count(more)
            ),
        },
        |failures, asked, at, free| match failures {
            1 => format!("{at} 时申请 {asked} 失败：设备空闲 {free}。"),
            more => format!(
                "{} 次分配失败，第一次在 {at} 申请 {asked}：设备空闲 {free}。",
                format::count(more)
            ),
        };
    open_peak = "Open at the peak", "打开峰值处";
    /// Parameters, optimizer, inputs, kept, gradients, activations, autograd, workspace, other.
    categories: [Text; 9] =
        [
            "Weights", "Optimizer", "Inputs", "Kept throughout", "Gradients", "Activations", "Autograd",
            "Workspace", "Other",
        ],
        ["权重", "优化器", "输入", "始终保留", "梯度", "激活值", "自动微分", "工作区", "其他"];
    memory_over = "Memory over time", "内存随时间的变化";
    whole_session = "Session", "会话";
    device = "Device", "设备";
    host = "host", "主机";
    device_size: fn(&str) -> String = |size| format!("device {size}"), |size| format!("设备 {size}");
    reserved = "Reserved", "已保留";
    at_peak = "At the peak", "峰值处";
    at_moment: fn(&str) -> String = |time| format!("At {time}"), |time| format!("{time} 处");
    back_to_peak = "back to the peak", "回到峰值";
    /// By operator, by scope, by allocation, as a flame chart.
    holder_groups: [Text; 4] =
        ["By operator", "By scope", "By allocation", "Flame chart"],
        ["按算子", "按作用域", "按分配", "火焰图"];
    /// The first two of the groups if allocations have call stacks.
    line_groups: [Text; 2] = ["By line", "By call path"], ["按代码行", "按调用路径"];
    /// The first column if allocations have call stacks.
    line_column = "Line of the program", "代码行";
    /// Operator, category, bytes, allocations, lifetime, lifetime on the axis.
    holder_columns: [Text; 6] =
        ["Operator", "Kind", "Size", "Allocations", "Lifetime", "From, to"],
        ["算子", "类别", "大小", "分配次数", "存活时间", "起止"];
    unknown_holder = "outside of operators", "不在算子内";
    /// Rows, their bytes, all bytes of the moment.
    holds: fn(u64, &str, &str) -> String =
        |rows, held, all| format!("{}, {held} of {all}", many(rows, "row", "rows")),
        |rows, held, all| format!("{} 行，{all} 中的 {held}", format::count(rows));
    memory_fine = "The rules about memory found nothing.", "内存相关的规则未发现问题。";
    /// Reasons why no rule about memory was judged.
    memory_unjudged: fn(&str) -> String =
        |reasons| format!("Not judged: {reasons}."),
        |reasons| format!("未作判断：{reasons}。");
    comma = ", ", "，";
    over_session = "Over the steps", "随迭代的变化";
    least = "minimum", "最小值";
    growth = "growth per step, 95 % interval", "每个迭代增长，95 % 区间";
    unused = "reserved, not used", "已保留但未使用";
    allocations = "allocations", "分配次数";
    never_freed = "not released in the recording", "记录期间未释放";
    freed_unseen = "released, allocated before it", "释放了记录前的分配";
}
