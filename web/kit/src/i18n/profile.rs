//! The texts of profiles: steps, operators, memory, ranks, comparison.

use crate::format;
use crate::i18n::{Text, many};

mod memory;
mod ranks;

pub use memory::MemoryTexts;
pub use ranks::RanksTexts;

/// Name of something by its id in answers; `None` for ids without one.
type NameOf = fn(&str) -> Option<&'static str>;

/// Sentence about steps: all, outliers, median, spread, the part that grew and its growth.
type StepsSentence = fn(u64, u64, &str, &str, Option<(&str, &str)>) -> String;

texts! {
    /// The parts of a step, in the list of runs and on the pages of profiles.
    PartTexts

    /// Kinds of time with a device and without one: compute, communication, copy, data, host, idle.
    kinds: [[Text; 6]; 2] =
        [
            ["Compute", "Collective", "Copy", "Data wait", "Host", "Idle"],
            ["Compute", "Collective", "Copy", "Data wait", "Host", "Other"],
        ],
        [
            ["计算", "集合通信", "拷贝", "等待数据", "主机", "空闲"],
            ["计算", "集合通信", "拷贝", "等待数据", "主机", "其他"],
        ];
    /// Mean step: its length, number of steps.
    mean_step: fn(&str, u64) -> String =
        |length, steps| match steps {
            1 => format!("A step takes {length}."),
            steps => format!(
                "A step takes {length}, mean of {} steps.",
                format::count(steps)
            ),
        },
        |length, steps| match steps {
            1 => format!("每个迭代 {length}。"),
            steps => format!(
                "每个迭代 {length}（{} 个迭代的均值）。",
                format::count(steps)
            ),
        };
}

texts! {
    /// Texts of the pages about profiles, except the timeline.
    ProfileTexts

    /// Titles of the views: overview, steps, operators, memory, cluster, compare, SQL.
    views: [Text; 7] =
        ["Overview", "Steps", "Operators", "Memory", "Cluster", "Compare", "SQL"],
        ["概览", "迭代", "算子", "内存", "集群", "对比", "SQL"];
    pipeline = "Data pipeline", "数据流水线";
    /// Name of the choice of session, rank and steps.
    recording = "Recording", "记录";
    steps = "Steps", "迭代";
    choose_steps = "Choose steps", "选择迭代范围";
    session = "session", "会话";
    rank = "rank", "rank";
    open_timeline = "open in timeline", "在时间线中打开";

    none = "No profile was recorded", "未记录性能分析";
    none_next =
        "Record a few steps with the profiler of your framework, into the folder of the run:",
        "用训练框架自带的性能分析器记录几个迭代，写入该训练的文件夹：";
    /// Title and sentence of a run without other records, from the size of its files.
    alone: (Text, fn(&str) -> String) =
        ("Nothing else was recorded", |size| {
            format!("{size} of profiles. Scalars or tensors are needed to judge the training itself.")
        }),
        ("没有其他记录", |size| {
            format!("性能分析共 {size}。没有标量和张量，因此无法判断训练本身。")
        });
    /// Title and sentence above the code that records the loss too.
    loss_too: (Text, Text) =
        ("To see the loss too", "In the same folder, the profile becomes part of that run:"),
        ("同时查看损失", "写入同一文件夹，性能分析即成为该训练的一部分：");
    /// Title, and a link to the comparison with another profile.
    against: (Text, Text) = ("To compare", "Compare with another profile"), ("对比", "与另一个性能分析对比");
    reading = "The profile is being read", "正在读取性能分析";
    /// Bytes read, all bytes.
    bytes_of: fn(&str, &str) -> String = |read, all| format!("{read} of {all}"), |read, all| format!("{read} / {all}");
    /// Something to know about a profile that was read.
    remark = "Note", "提示";
    truncated =
        "The file ends in the middle of an event; everything before it is shown.",
        "文件在某个事件中间结束；此前的内容均已显示。";
    /// Number of places that could not be read.
    damaged: fn(u64) -> String =
        |places| format!("{} could not be read; everything else is shown.", many(places, "place", "places")),
        |places| format!("有 {} 处无法读取；其余内容均已显示。", format::count(places));
    unread = "The profile could not be read", "无法读取性能分析";
    /// Between two sentences.
    between = " ", "";
    download = "Download", "下载";
    /// More entries of a list.
    more: fn(u64) -> String =
        |more| format!("{} more", format::count(more)),
        |more| format!("还有 {} 项", format::count(more));

    /// Button: the whole timeline.
    open_all = "Open timeline", "打开时间线";
    /// Mean time of a step.
    step_takes: fn(&str) -> String = |time| format!("A step takes {time}."), |time| format!("每个迭代耗时 {time}。");
    /// Steps are guessed from an annotation of this name.
    steps_by: fn(&str) -> String =
        |name| format!("Steps are guessed from the annotation “{name}”."),
        |name| format!("迭代由标注“{name}”推断得出。");
    no_steps =
        "Call profiler.step() after each batch to record steps.",
        "在每个批次之后调用 profiler.step() 即可记录迭代。";
    /// Number of files next to the profile that are not read.
    unread_files: fn(u64) -> String =
        |files| format!("{} of the profiler beside it are not read", many(files, "file", "files")),
        |files| format!("旁边有 {} 个性能分析文件未读取", format::count(files));
    unread_which = "Which, and why", "哪些文件，为何未读取";
    /// With steps, and without.
    where_time: [Text; 2] = ["Where a step's time goes", "Where the time goes"], ["迭代耗时分布", "耗时分布"];
    /// Mean time of a step.
    mean: fn(&str) -> String = |time| format!("mean {time}"), |time| format!("平均 {time}");
    hidden = "hidden communication", "被掩盖的通信";
    cut_off = "cut off by the recording", "记录不完整";
    /// Label of the picture: number of steps.
    parts_label: fn(u64) -> String =
        |steps| format!("Parts of {}", many(steps, "step", "steps")),
        |steps| format!("{} 个迭代的耗时组成", format::count(steps));
    /// A step by its number, or the longest of several.
    step: fn(&str, u64) -> String =
        |number, of| match of {
            0 | 1 => format!("step {number}"),
            of => format!("step {number}, the longest of {}", format::count(of)),
        },
        |number, of| match of {
            0 | 1 => format!("迭代 {number}"),
            of => format!("迭代 {number}，{} 个中最长的", format::count(of)),
        };

    would_help = "What would help", "优化建议";
    /// With steps, and without.
    gain: [Text; 2] = ["gain per step", "gain"], ["每个迭代的收益", "收益"];
    at_best =
        "at best; its share of the time from the start of one step to that of the next",
        "最多；占从一个迭代开始到下一个开始的时间的比例";
    /// Number of rules that found nothing.
    passed: fn(u64) -> String =
        |rules| match rules {
            1 => "1 rule found nothing to improve".to_owned(),
            rules => format!("{} rules found nothing to improve", format::count(rules)),
        },
        |rules| format!("{} 条规则未发现可优化之处", format::count(rules));
    /// Number of rules that could not be judged.
    not_judged: fn(u64) -> String =
        |rules| format!("{} not judged", format::count(rules)),
        |rules| format!("{} 条未作判断", format::count(rules));
    /// Number of rules whose subject the profile lacks.
    not_applicable: fn(u64) -> String =
        |rules| match rules {
            1 => "1 does not apply".to_owned(),
            rules => format!("{} do not apply", format::count(rules)),
        },
        |rules| format!("{} 条不适用", format::count(rules));
    code = "Code", "代码";
    /// A session of the address that the run does not have.
    gone: fn(&str) -> String =
        |session| format!("The run has no session “{session}”"),
        |session| format!("该训练没有会话“{session}”");
    gone_next =
        "It was removed or renamed. Choose another session above.",
        "它已被删除或改名，请在上方选择另一个会话。";

    /// Name and meaning: utilization, multiprocessors, occupancy, tensor cores, FLOP/s, overlap, peak of memory, launch
    /// delay.
    tiles: [[Text; 2]; 8] =
        [
            [
                "Utilization",
                "Share of the steps during which kernels ran: union of kernels and collectives ÷ time from the start of the first step to the end of the last one.",
            ],
            [
                "SM efficiency, est.",
                "Mean of min(1, blocks per multiprocessor) over the same time: below the utilization where kernels are too small for the device.",
            ],
            [
                "Occupancy", "Achieved occupancy as estimated by the profiler, weighted by the time of the kernels.",
            ],
            ["Tensor cores", "Share of the time of kernels that use tensor cores, by their names."],
            [
                "FLOP/s",
                "FLOPs of the operators, from the shapes of their inputs, without what is recomputed for the backward pass, ÷ time of the steps.",
            ],
            ["Overlap", "Share of the communication that is hidden behind kernels."],
            ["Peak memory", "Maximum of the bytes allocated at once, on the device with the highest peak."],
            [
                "Launch delay",
                "Median time from the end of a launch call to the start of its work: near 0 means that the device waits for the host, large values that work is queued.",
            ],
        ],
        [
            [
                "利用率",
                "有 kernel 运行的时间占比：kernel 与集合通信时间的并集 ÷ 第一个迭代开始到最后一个迭代结束的时间。",
            ],
            [
                "SM 效率（估计）",
                "min(1, 每个多处理器的 block 数) 的平均值：低于利用率说明 kernel 太小，不足以占满设备。",
            ],
            ["占用率", "分析器估计的实际占用率，按 kernel 时间加权。"],
            ["Tensor Core", "使用 Tensor Core 的 kernel 的时间占比（按名称判断）。"],
            ["FLOP/s", "由算子输入形状算出的 FLOPs（不含反向传播中的重计算）÷ 迭代时间。"],
            ["通信掩盖率", "被 kernel 掩盖的通信时间占比。"],
            ["内存峰值", "峰值最高的设备上分配的最多字节数。"],
            [
                "下发延迟", "从下发调用结束到设备开始执行的时间的中位数：接近 0 说明设备在等主机，较大说明任务在排队。",
            ],
        ];
    /// Share of the peak that the FLOPs reach (MFU), next to their rate.
    mfu: fn(&str) -> String = |share| format!("MFU {share}"), |share| format!("MFU {share}");
    flops_in_part: fn(&str) -> String =
        |share| format!("counted for {share} of the products"),
        |share| format!("仅计入 {share} 的矩阵乘法");
    of_peak = "peak", "峰值";
    peak_label = "Peak of the device, TFLOP/s", "设备峰值，TFLOP/s";
    peak_title =
        "Peak of the device for these operators: as in the data sheet of the device, if it is listed, or as typed here. It is kept with the notes of the run.",
        "这些算子在该设备上的峰值：设备在列表中时取自其数据手册，也可以在此输入。输入的值与训练的备注一起保存。";
    /// Data that a profile lacks: device, shapes, stacks, memory, other ranks.
    lacks: [Text; 5] =
        [
            "The profile has no kernels of a device.", "Shapes of inputs were not recorded.",
            "Stacks were not recorded, so scopes may be missing.", "Allocations were not recorded.",
            "Record the same steps on every rank, below the same folder.",
        ],
        [
            "该性能分析没有设备上的 kernel。", "未记录输入形状。", "未记录调用栈，可能缺少作用域。",
            "未记录内存分配。", "在每个 rank 上记录相同的迭代，写入同一个文件夹之下。",
        ];
    /// Before the code that records it.
    to_record = "To record them:", "记录方法：";
    since_recording = "since the recording began", "从记录开始算起";
    at_most: fn(&str) -> String = |time| format!("at most {time}"), |time| format!("最长 {time}");
    idle = "Idle device", "设备空闲";
    idle_beside = "gaps of the streams by cause", "各流的空隙，按原因";
    cause: NameOf =
        |id| {
            Some(match id {
                "host" => "Waits for the host",
                "kernel" => "Between kernels",
                "other_stream" => "Waits for another stream",
                "other" => "Other",
                _ => return None,
            })
        },
        |id| {
            Some(match id {
                "host" => "等待主机",
                "kernel" => "kernel 之间",
                "other_stream" => "等待其他流",
                "other" => "其他",
                _ => return None,
            })
        };
    cause_meaning: NameOf =
        |id| {
            Some(match id {
                "host" => "The next work was launched only after the gap had begun.",
                "kernel" => "The next work was queued; the gap is as short as any between two kernels.",
                "other_stream" => "Work of another stream ended just before the gap did.",
                _ => return None,
            })
        },
        |id| {
            Some(match id {
                "host" => "空隙开始之后，下一个任务才被下发。",
                "kernel" => "下一个任务已在排队，空隙与任意两个 kernel 之间的一样短。",
                "other_stream" => "空隙结束之前，另一个流的任务刚刚结束。",
                _ => return None,
            })
        };
    gaps: fn(u64) -> String = |gaps| many(gaps, "gap", "gaps"), |gaps| format!("{} 处", format::count(gaps));
    longest_gap: fn(&str) -> String =
        |time| format!("The longest takes {time}: open it in the timeline."),
        |time| format!("最长的一处为 {time}，点击在时间线中打开。");
    /// Heading: activity of the host during the idle time of the device.
    meanwhile = "what the host did meanwhile", "其间主机在做什么";
    doing: NameOf =
        |id| {
            Some(match id {
                "data" => "Waiting for data",
                "waiting" => "Waiting for the device",
                "python" => "Python",
                "operators" => "Operators",
                "nothing" => "Nothing recorded",
                _ => return None,
            })
        },
        |id| {
            Some(match id {
                "data" => "等待数据",
                "waiting" => "等待设备",
                "python" => "Python",
                "operators" => "算子",
                "nothing" => "没有记录",
                _ => return None,
            })
        };
    path = "Critical path", "关键路径";
    path_meaning = "time on the critical path per step", "每个迭代中关键路径上的时间";
    /// Link: the path in the timeline.
    draw_path = "Show in the timeline", "在时间线中显示";
    segment: NameOf =
        |id| {
            Some(match id {
                "kernel" => "Kernels",
                "communication" => "Collectives",
                "memcpy" => "Copies",
                "memset" => "Memset",
                "data" => "Data wait",
                "host" => "Host",
                "launch" => "Launch delay",
                "between_kernels" => "Between kernels",
                _ => return None,
            })
        },
        |id| {
            Some(match id {
                "kernel" => "kernel",
                "communication" => "集合通信",
                "memcpy" => "拷贝",
                "memset" => "Memset",
                "data" => "等待数据",
                "host" => "主机",
                "launch" => "下发延迟",
                "between_kernels" => "kernel 之间",
                _ => return None,
            })
        };

    operators = "Operators", "算子";
    /// Number of shown operators and of all, their share of the time.
    of_operators: fn(u64, u64, &str) -> String =
        |shown, all, share| format!("{} of {}, {share} of the time", format::count(shown), many(all, "row", "rows")),
        |shown, all, share| format!("{} / {} 行，占时间的 {share}", format::count(shown), format::count(all));
    /// The operator with the maximum time: name, time, share; `true` if the time is that of a step.
    most_time: fn(&str, &str, &str, bool) -> String =
        |name, time, share, is_of_step| {
            let step = if is_of_step { " per step" } else { "" };
            format!("{name} takes the most time: {time}{step}, {share}.")
        },
        |name, time, share, is_of_step| {
            let step = if is_of_step { "每个迭代 " } else { "" };
            format!("{name} 耗时最多：{step}{time}，占 {share}。")
        };
    /// Number of operators that take half of the time, and of all.
    half_time: fn(u64, u64) -> String =
        |some, all| format!("{} of {} take half of the time.", format::count(some), format::count(all)),
        |some, all| format!("{} 个中的 {} 个占一半时间。", format::count(all), format::count(some));
    group = "Group", "分组";
    /// By type, name, scope, shape; kernels.
    groups: [Text; 6] =
        ["By type", "By name", "By scope", "By shape", "Kernels", "Full names"],
        ["按类型", "按名称", "按作用域", "按形状", "Kernel", "完整名称"];
    /// Head of the first column for each of the groups.
    group_heads: [Text; 6] =
        ["Type", "Operator", "Scope", "Operator", "Kernel", "Kernel"],
        ["类型", "算子", "作用域", "算子", "Kernel", "Kernel"];
    filter = "name, type:… or > 1 ms", "名称、type:… 或 > 1 ms";
    filter_title =
        "Text of names, type:TEXT for types, > 1 ms for self time",
        "名称中的文字；type:文字 按类型；> 1 ms 按自身耗时";
    /// Name, type, shapes, self time, total time, calls, mean, p99, device time, share, occupancy, tensor cores, FLOPs,
    /// share of the peak, bandwidth, share of the roofline.
    columns: [Text; 16] =
        [
            "Name", "Type", "Shapes", "Self time per step", "Total", "Calls", "Mean", "p99", "Device", "Share",
            "Occupancy", "Tensor", "FLOPs", "Of peak", "Moved", "Of roofline",
        ],
        [
            "名称", "类型", "形状", "每迭代自身耗时", "总耗时", "调用", "平均", "p99", "设备", "占比", "占用率",
            "Tensor", "FLOPs", "占峰值", "搬运", "占 roofline",
        ];
    /// Bound by the rate of the units, by memory.
    bounds: [Text; 2] = ["compute", "memory"], ["计算", "内存"];
    /// Self time of a recording without steps.
    self_time = "Self time", "自身耗时";
    /// Full names of a kernel.
    variants = "Full names", "完整名称";
    choose_columns = "Columns", "列";
    flops_by_scope = "FLOPs of a step by scope", "每个迭代的 FLOPs，按作用域";
    /// Operators outside of all scopes.
    no_scope = "outside of scopes", "不在作用域内";
    rows = "rows", "行";
    open_slices = "Show its slices in the timeline", "在时间线中显示它的时间片";
    median = "median", "中位数";
    p99 = "p99", "p99";
    calls = "calls", "调用次数";
    total = "total", "总耗时";
    /// Caption of a distribution: calls.
    time_of_call: fn(u64) -> String =
        |calls| format!("time of a call, {}", many(calls, "call", "calls")),
        |calls| format!("单次调用耗时，共 {} 次", format::count(calls));
    mean_by_step = "mean per step", "各迭代的平均值";
    node = "Node of the graph", "计算图中的节点";
    longest_call: fn(&str) -> String = |time| format!("Longest call: {time}"), |time| format!("最长的一次：{time}");
    shapes = "by shape", "按形状";
    kernels = "kernels it launches", "下发的 kernel";
    callers = "called by", "调用者";
    sequences = "most frequent sequences of kernels", "最常见的 kernel 序列";

    open_step: fn(&str) -> String = |number| format!("Open step {number}"), |number| format!("打开迭代 {number}");
    steps_sentence: StepsSentence =
        |all, outliers, median, spread, grown| {
            let regular = all.saturating_sub(outliers);
            let head = match (all, outliers) {
                (1, _) => format!("One step was recorded: it takes {median}"),
                (_, 0) => format!(
                    "{} steps, median {median}, all within {spread}",
                    format::count(all)
                ),
                _ => format!(
                    "{} steps, median {median}, {} within {spread}",
                    format::count(all),
                    format::count(regular)
                ),
            };
            match (outliers, grown) {
                (0, _) => format!("{head}."),
                (many, None) => format!("{head}; {} take longer.", format::count(many)),
                (many, Some((part, time))) => format!(
                    "{head}; {} take longer, mostly {part}: {time} more.",
                    format::count(many)
                ),
            }
        },
        |all, outliers, median, spread, grown| {
            let head = match (all, outliers) {
                (1, _) => format!("只记录了一个迭代，耗时 {median}"),
                (_, 0) => format!(
                    "{} 个迭代，中位数 {median}，偏差均在 {spread} 以内",
                    format::count(all)
                ),
                _ => format!(
                    "{} 个迭代，中位数 {median}，其中 {} 个偏差在 {spread} 以内",
                    format::count(all),
                    format::count(all.saturating_sub(outliers))
                ),
            };
            match (outliers, grown) {
                (0, _) => format!("{head}。"),
                (many, None) => format!("{head}；{} 个更长。", format::count(many)),
                (many, Some((part, time))) => format!(
                    "{head}；{} 个更长，主要是{part}：多 {time}。",
                    format::count(many)
                ),
            }
        };
    too_few_to_drift = "Too few steps to see a drift.", "迭代太少，看不出变化趋势。";
    /// From the first quarter of the steps to the last one: no change, longer, shorter by a share.
    drift: [fn(&str) -> String; 3] =
        [
            |_| "No drift: the last steps are as long as the first ones.".to_owned(),
            |share| format!("Steps become longer: the last quarter takes {share} more than the first."),
            |share| format!("Steps become shorter: the last quarter takes {share} less than the first."),
        ],
        [
            |_| "没有变化趋势：最后的迭代与最初的一样长。".to_owned(),
            |share| format!("迭代越来越长：最后四分之一比最初四分之一多 {share}。"),
            |share| format!("迭代越来越短：最后四分之一比最初四分之一少 {share}。"),
        ];
    step_trace = "Step trace", "迭代轨迹";
    one_row = "one row a step", "每行一个迭代";
    order = "Order", "排序";
    /// By time, by length.
    orders: [Text; 2] = ["Time", "Longest"], ["时间", "最长"];
    align = "Align at", "对齐";
    /// At the start of the step, at the start of the forward pass.
    aligns: [Text; 2] = ["Start", "Forward"], ["开始", "前向"];
    /// Data, forward, backward, update, communication, host, interval, forward and backward, recomputation.
    phases: [Text; 9] =
        [
            "Data wait", "Forward", "Backward", "Update", "Collective", "Host", "Between steps",
            "Forward and backward", "Recomputation",
        ],
        ["等待数据", "前向", "反向", "更新", "集合通信", "主机", "迭代间隙", "前向与反向", "重计算"];
    step_title: fn(&str) -> String = |number| format!("Step {number}"), |number| format!("迭代 {number}");
    against_median: fn(u64) -> String =
        |steps| format!("against the median of {}", format::count(steps)),
        |steps| format!("与 {} 个的中位数相比", format::count(steps));
    /// Links to other pages at a step.
    step_curves = "Curves at this step", "该迭代的曲线";
    step_debugger = "Debugger at this step", "该迭代的调试器";
    previous_step = "Previous row", "上一行";
    next_step = "Next row", "下一行";
    phase = "Phase", "阶段";
    this = "this", "该迭代";
    difference = "difference", "差";
    step_total = "Step", "迭代";
    lengths = "Length of a step", "迭代长度";
    /// Steps, outliers.
    lengths_beside: fn(u64, u64) -> String =
        |steps, outliers| match outliers {
            0 => many(steps, "step", "steps"),
            _ => format!(
                "{}, {}",
                many(steps, "step", "steps"),
                many(outliers, "outlier", "outliers")
            ),
        },
        |steps, outliers| match outliers {
            0 => format!("{} 个迭代", format::count(steps)),
            _ => format!(
                "{} 个迭代，{} 个异常",
                format::count(steps),
                format::count(outliers)
            ),
        };
    over_steps = "Phases over steps", "各迭代的阶段";

    both_timelines = "Both timelines, aligned at a step", "两条时间线，按迭代对齐";
    compare_with = "Compare with", "对比";
    compare_none = "There is nothing to compare with yet", "还没有可以对比的性能分析";
    compare_next =
        "Record another session or rank of this run, or choose another run that has a profile.",
        "为该训练再记录一个会话或 rank，或选择另一个有性能分析的训练。";
    /// Ratio of medians, its interval.
    ratio: fn(&str, &str, &str) -> String =
        |ratio, low, high| format!("Ratio of the medians: {ratio}, 95 % interval {low} to {high}."),
        |ratio, low, high| format!("中位数之比 {ratio}，95 % 区间 {low} 至 {high}。");
    not_recorded = "not recorded", "未记录";
    /// Name, self time here and there, difference, calls, change.
    diff_columns: [Text; 6] =
        ["Name", "Here per step", "There", "Difference", "Calls", "Change"],
        ["名称", "此处每迭代", "对比", "差", "调用", "变化"];
    only_here = "only here", "仅此处";
    only_there = "only there", "仅对比";
    side_by_side_parts = "Parts of a step", "迭代的组成";
    here = "here", "此处";
    there = "there", "对比";
    peak = "Peak memory", "内存峰值";

    /// Name of the field of a statement.
    sql_label = "Statement", "语句";
    sql_run = "Run", "运行";
    sql_hint =
        "One SELECT of SQLite over all ranks. Ctrl+Enter runs it.",
        "一条 SQLite 的 SELECT 语句，覆盖全部 rank。按 Ctrl+Enter 运行。";
    /// Titles of statements: kernels, time by rank, steps, delays of launches.
    sql_examples: [Text; 4] =
        ["Kernels", "Time by rank", "Slow steps", "Launch delays"],
        ["kernel", "各 rank 耗时", "慢迭代", "下发延迟"];
    /// A statement that was not run, or not to its end.
    sql_refused = "The statement has no rows", "语句没有结果";
    sql_result = "Rows", "结果";
    /// Number of rows, seconds, and whether there are more rows.
    sql_rows: fn(u64, &str, bool) -> String =
        |rows, seconds, is_cut| {
            if is_cut {
                format!("the first {} in {seconds} s", many(rows, "row", "rows"))
            } else {
                format!("{} in {seconds} s", many(rows, "row", "rows"))
            }
        },
        |rows, seconds, is_cut| {
            let rows = format::count(rows);
            if is_cut {
                format!("前 {rows} 行，用时 {seconds} s")
            } else {
                format!("{rows} 行，用时 {seconds} s")
            }
        };
    sql_tables = "Tables", "表";
}
