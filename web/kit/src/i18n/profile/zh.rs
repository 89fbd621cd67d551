//! Profiles in Chinese.

use super::ProfileTexts;
use crate::format;

pub(in crate::i18n) static ZH: ProfileTexts = ProfileTexts {
    title: "性能分析",
    views: ["概览", "迭代", "算子", "内存", "集群", "对比", "SQL"],
    pipeline: "数据流水线",
    timeline: "时间线",
    recording: "记录",
    steps: "迭代",
    choose_steps: "选择迭代范围",
    session: "会话",
    rank: "rank",
    open_timeline: "在时间线中打开",
    key_rows: "下一行、上一行",

    none: "未记录性能分析",
    alone: ("没有其他记录", |size| {
        format!("性能分析共 {size}。没有标量和张量，因此无法判断训练本身。")
    }),
    loss_too: (
        "同时查看损失",
        "写入同一文件夹，性能分析即成为该训练的一部分：",
    ),
    against: ("对比", "与另一个性能分析对比"),
    none_next: "用训练框架自带的性能分析器记录几个迭代，写入该训练的文件夹：",
    reading: "正在读取性能分析",
    bytes_of: |read, all| format!("{read} / {all}"),
    remark: "提示",
    truncated: "文件在某个事件中间结束；此前的内容均已显示。",
    damaged: |places| {
        format!(
            "有 {} 处无法读取；其余内容均已显示。",
            format::count(places)
        )
    },
    unread: "无法读取性能分析",
    between: "",
    download: "下载",
    more: |more| format!("还有 {} 项", format::count(more)),

    open_all: "打开时间线",
    step_takes: |time| format!("每个迭代耗时 {time}。"),
    steps_by: |name| format!("迭代由标注“{name}”推断得出。"),
    unread_files: |files| format!("旁边有 {} 个性能分析文件未读取", format::count(files)),
    unread_which: "哪些文件，为何未读取",
    no_steps: "在每个批次之后调用 profiler.step() 即可记录迭代。",
    where_time: ["迭代耗时分布", "耗时分布"],
    mean: |time| format!("平均 {time}"),
    kinds: [
        ["计算", "集合通信", "拷贝", "等待数据", "主机", "空闲"],
        ["计算", "集合通信", "拷贝", "等待数据", "主机", "其他"],
    ],
    hidden: "被掩盖的通信",
    cut_off: "记录不完整",
    parts_label: |steps| format!("{} 个迭代的耗时组成", format::count(steps)),
    step: |number, of| match of {
        0 | 1 => format!("迭代 {number}"),
        of => format!("迭代 {number}，{} 个中最长的", format::count(of)),
    },

    would_help: "优化建议",
    gain: ["每个迭代的收益", "收益"],
    at_best: "最多；占从一个迭代开始到下一个开始的时间的比例",
    passed: |rules| format!("{} 条规则未发现可优化之处", format::count(rules)),
    not_judged: |rules| format!("{} 条无法判断", format::count(rules)),
    code: "代码",
    gone: |session| format!("该训练没有会话“{session}”"),
    gone_next: "它已被删除或改名，请在上方选择另一个会话。",

    tiles: [
        [
            "利用率",
            "有 kernel 运行的时间占比：kernel 与集合通信时间的并集 ÷ 第一个迭代开始到最后一个迭代结束的时间。",
        ],
        [
            "SM 效率（估计）",
            "min(1, 每个多处理器的 block 数) 的平均值：低于利用率说明 kernel 太小，不足以占满设备。",
        ],
        ["占用率", "分析器估计的实际占用率，按 kernel 时间加权。"],
        [
            "Tensor Core",
            "使用 Tensor Core 的 kernel 的时间占比（按名称判断）。",
        ],
        [
            "FLOP/s",
            "由算子输入形状算出的 FLOPs（不含反向传播中的重计算）÷ 迭代时间。",
        ],
        ["通信掩盖率", "被 kernel 掩盖的通信时间占比。"],
        ["内存峰值", "峰值最高的设备上分配的最多字节数。"],
        [
            "下发延迟",
            "从下发调用结束到设备开始执行的时间的中位数：接近 0 说明设备在等主机，较大说明任务在排队。",
        ],
    ],
    flops_in_part: |share| format!("仅计入 {share} 的矩阵乘法"),
    mfu: |share| format!("MFU {share}"),
    of_peak: "峰值",
    peak_label: "设备峰值，TFLOP/s",
    peak_title: "这些算子在该设备上的峰值：设备在列表中时取自其数据手册，也可以在此输入。输入的值与训练的备注一起保存。",
    lacks: [
        "该性能分析没有设备上的 kernel。",
        "未记录输入形状。",
        "未记录调用栈，可能缺少作用域。",
        "未记录内存分配。",
        "在每个 rank 上记录相同的迭代，写入同一个文件夹之下。",
    ],
    to_record: "记录方法：",
    since_recording: "从记录开始算起",
    at_most: |time| format!("最长 {time}"),
    idle: "设备空闲",
    idle_beside: "各流的空隙，按原因",
    cause: |id| {
        Some(match id {
            "host" => "等待主机",
            "kernel" => "kernel 之间",
            "other_stream" => "等待其他流",
            "other" => "其他",
            _ => return None,
        })
    },
    cause_meaning: |id| {
        Some(match id {
            "host" => "空隙开始之后，下一个任务才被下发。",
            "kernel" => "下一个任务已在排队，空隙与任意两个 kernel 之间的一样短。",
            "other_stream" => "空隙结束之前，另一个流的任务刚刚结束。",
            _ => return None,
        })
    },
    gaps: |gaps| format!("{} 处", format::count(gaps)),
    longest_gap: |time| format!("最长的一处为 {time}，点击在时间线中打开。"),
    meanwhile: "其间主机在做什么",
    doing: |id| {
        Some(match id {
            "data" => "等待数据",
            "waiting" => "等待设备",
            "python" => "Python",
            "operators" => "算子",
            "nothing" => "没有记录",
            _ => return None,
        })
    },
    path: "关键路径",
    path_meaning: "每个迭代中关键路径上的时间",
    draw_path: "在时间线中显示",
    segment: |id| {
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
    },

    operators: "算子",
    of_operators: |shown, all, share| {
        format!(
            "{} / {} 行，占时间的 {share}",
            format::count(shown),
            format::count(all)
        )
    },
    most_time: |name, time, share, is_of_step| {
        let step = if is_of_step { "每个迭代 " } else { "" };
        format!("{name} 耗时最多：{step}{time}，占 {share}。")
    },
    half_time: |some, all| {
        format!(
            "{} 个中的 {} 个占一半时间。",
            format::count(all),
            format::count(some)
        )
    },
    group: "分组",
    groups: [
        "按类型",
        "按名称",
        "按作用域",
        "按形状",
        "Kernel",
        "完整名称",
    ],
    group_heads: ["类型", "算子", "作用域", "算子", "Kernel", "Kernel"],
    self_time: "自身耗时",
    variants: "完整名称",
    filter: "名称、type:… 或 > 1 ms",
    filter_title: "名称中的文字；type:文字 按类型；> 1 ms 按自身耗时",
    columns: [
        "名称",
        "类型",
        "形状",
        "每迭代自身耗时",
        "总耗时",
        "调用",
        "平均",
        "p99",
        "设备",
        "占比",
        "占用率",
        "Tensor",
        "FLOPs",
        "占峰值",
        "搬运",
        "占 roofline",
    ],
    bounds: ["计算", "内存"],
    choose_columns: "列",
    flops_by_scope: "每个迭代的 FLOPs，按作用域",
    no_scope: "不在作用域内",
    rows: "行",
    open_slices: "在时间线中显示它的片段",
    median: "中位数",
    p99: "p99",
    calls: "调用次数",
    total: "总耗时",
    time_of_call: |calls| format!("单次调用耗时，共 {} 次", format::count(calls)),
    mean_by_step: "各迭代的平均值",
    node: "计算图中的节点",
    longest_call: |time| format!("最长的一次：{time}"),
    shapes: "按形状",
    kernels: "下发的 kernel",
    callers: "调用者",
    sequences: "最常见的 kernel 序列",

    open_step: |number| format!("打开迭代 {number}"),
    steps_sentence: |all, outliers, median, spread, grown| {
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
    },
    too_few_to_drift: "迭代太少，看不出变化趋势。",
    drift: [
        |_| "没有变化趋势：最后的迭代与最初的一样长。".to_owned(),
        |share| format!("迭代越来越长：最后四分之一比最初四分之一多 {share}。"),
        |share| format!("迭代越来越短：最后四分之一比最初四分之一少 {share}。"),
    ],
    step_trace: "迭代轨迹",
    one_row: "每行一个迭代",
    order: "排序",
    orders: ["时间", "最长"],
    align: "对齐",
    aligns: ["开始", "前向"],
    phases: [
        "等待数据",
        "前向",
        "反向",
        "更新",
        "集合通信",
        "主机",
        "迭代间隙",
        "前向与反向",
        "重计算",
    ],
    step_title: |number| format!("迭代 {number}"),
    against_median: |steps| format!("与 {} 个的中位数相比", format::count(steps)),
    step_curves: "该迭代的曲线",
    step_debugger: "该迭代的调试器",
    previous_step: "上一行",
    next_step: "下一行",
    phase: "阶段",
    this: "该迭代",
    difference: "差",
    step_total: "迭代",
    lengths: "迭代长度",
    lengths_beside: |steps, outliers| match outliers {
        0 => format!("{} 个迭代", format::count(steps)),
        _ => format!(
            "{} 个迭代，{} 个异常",
            format::count(steps),
            format::count(outliers)
        ),
    },
    over_steps: "各迭代的阶段",

    memory_none: "未记录内存",
    memory_sentence: |peak, device, step, largest| {
        let device = device.map(|(size, share)| format!("，占设备 {size} 的 {share}"));
        let step = step.map(|(into, number)| format!("，出现在迭代 {number} 开始后 {into}"));
        let largest = largest.map(|(bytes, name)| format!("；其中{name} {bytes}"));
        let [device, step, largest] = [device, step, largest].map(Option::unwrap_or_default);
        format!("内存峰值 {peak}{device}{step}{largest}。")
    },
    memory_grows: |slope, full| match full {
        None => format!("每个迭代增长 {slope}。"),
        Some(steps) => format!(
            "每个迭代增长 {slope}：再过 {} 个迭代设备将耗尽。",
            format::count(steps)
        ),
    },
    memory_steady: "各迭代之间没有增长。",
    without_addresses: "未记录地址，因此无法将分配与释放配对，类别未知。",
    since_begin: "字节数从记录开始算起，不含此前已分配的内存。",
    categories_from: [
        "类别由框架记录。",
        "类别由生命周期推断。",
        "类别由分配时的调用推断。",
    ],
    memory_failed: |failures, asked, at, free| match failures {
        1 => format!("{at} 时申请 {asked} 失败：设备空闲 {free}。"),
        more => format!(
            "{} 次分配失败，第一次在 {at} 申请 {asked}：设备空闲 {free}。",
            format::count(more)
        ),
    },
    open_peak: "打开峰值处",
    categories: [
        "权重",
        "优化器",
        "输入",
        "始终保留",
        "梯度",
        "激活",
        "自动微分",
        "工作区",
        "其他",
    ],
    memory_over: "内存随时间的变化",
    whole_session: "会话",
    device: "设备",
    host: "主机",
    device_size: |size| format!("设备 {size}"),
    reserved: "已保留",
    at_peak: "峰值处",
    at_moment: |time| format!("{time} 处"),
    back_to_peak: "回到峰值",
    holder_groups: ["按算子", "按作用域", "按分配", "火焰图"],
    line_groups: ["按代码行", "按调用路径"],
    line_column: "代码行",
    holder_columns: ["算子", "类别", "大小", "分配次数", "存活时间", "起止"],
    unknown_holder: "不在算子内",
    holds: |rows, held, all| format!("{} 行，{all} 中的 {held}", format::count(rows)),
    memory_fine: "内存相关的规则未发现问题。",
    memory_unjudged: |reasons| format!("未作判断：{reasons}。"),
    comma: "，",
    over_session: "随迭代的变化",
    least: "最小值",
    growth: "每迭代增长，95 % 区间",
    unused: "已保留但未使用",
    allocations: "分配次数",
    never_freed: "记录期间未释放",
    freed_unseen: "释放了记录前的分配",

    one_rank: "只记录了一个 rank",
    rank_name: |rank| format!("rank {rank}"),
    ranks_of: |ranks| format!("{} 个 rank", format::count(ranks)),
    open_rank: |rank| format!("打开 rank {rank}"),
    no_straggler: |ranks, steps| {
        format!(
            "{} 个迭代中，{} 个 rank 都不慢。",
            format::count(steps),
            format::count(ranks)
        )
    },
    straggler: |from, steps| format!("自迭代 {from} 起（{} 个迭代）。", format::count(steps)),
    side_by_side: "各 rank 对照",
    mean_step: "全部迭代的平均",
    mean_of_steps: |first, last| format!("迭代 {first}–{last} 的平均"),
    ranks_ends: |shown, all| {
        format!(
            "迭代平均，{} 个中最慢与最快的 {} 个",
            format::count(all),
            format::count(shown)
        )
    },
    rank_orders: ["rank", "计算"],
    waits_for_others: "等待其他 rank",
    waited_for: |time| format!("被等待 {time}"),
    clock_offset: "时钟",
    when_began: "何时开始",
    map_beside: ["与该迭代各 rank 的中位数相比", "每个迭代的时间"],
    quantities: ["被等待", "计算", "等待", "迭代"],
    median_of_ranks: "各 rank 的中位数",
    against_communication: "计算与通信",
    pair: |usual, slow, step| format!("迭代 {step}：rank {usual} 与较晚的 rank {slow}"),
    all_arrived: "虚线：所有 rank 均已到达，集合通信开始。浅色：等待。",
    no_collectives: "未记录集合通信。",
    collective_columns: ["集合通信", "大小", "耗时", "被掩盖", "到达差", "总线"],
    process_groups: "进程组",
    groups_beside: "每个 rank 在整个记录中的平均值",
    point_to_point: "点对点收发",
    group_columns: ["进程组", "rank 数", "次数", "大小", "耗时", "未掩盖"],
    links: "rank 之间的链路",
    of_links: |rows, all| {
        format!(
            "{} 条中最慢的 {} 条",
            format::count(all),
            format::count(rows)
        )
    },
    link_columns: ["链路", "传输方式", "大小", "耗时", "带宽"],
    lost: "损失的时间",
    lost_beside: "每个 rank 等待其他 rank 的平均时间",
    slowest: "被等待者",
    in_steps: |steps| format!("在这 {} 个迭代中", format::count(steps)),
    times_ranks: |ranks| {
        format!(
            "乘以其他 {} 个 rank",
            format::count(ranks.saturating_sub(1))
        )
    },

    both_timelines: "两条时间线，按迭代对齐",
    compare_with: "对比",
    compare_none: "还没有可以对比的性能分析",
    compare_next: "为该训练再记录一个会话或 rank，或选择另一个有性能分析的训练。",
    ratio: |ratio, low, high| format!("中位数之比 {ratio}，95 % 区间 {low} 至 {high}。"),
    not_recorded: "未记录",
    diff_columns: ["名称", "此处每迭代", "对比", "差", "调用", "变化"],
    only_here: "仅此处",
    only_there: "仅对比",
    side_by_side_parts: "迭代的组成",
    here: "此处",
    there: "对比",
    peak: "内存峰值",

    sql_label: "语句",
    sql_run: "运行",
    sql_hint: "一条 SQLite 的 SELECT 语句，覆盖全部 rank。按 Ctrl+Enter 运行。",
    sql_examples: ["kernel", "各 rank 耗时", "慢迭代", "下发延迟"],
    sql_refused: "语句没有结果",
    sql_result: "结果",
    sql_rows: |rows, seconds, is_cut| {
        let rows = format::count(rows);
        if is_cut {
            format!("前 {rows} 行，用时 {seconds} s")
        } else {
            format!("{rows} 行，用时 {seconds} s")
        }
    },
    sql_tables: "表",
};
