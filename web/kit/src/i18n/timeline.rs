//! The texts of the timeline, in both languages.

use crate::format;
use crate::i18n::{Text, many};

texts! {
    /// Texts of lanes, search, the panel below them and the keys.
    TimelineTexts

    none = "No profile was recorded", "未记录性能分析";
    none_next =
        "Record one into the folder of the run; it appears here while it is written:",
        "将性能分析记录到训练的文件夹中，写入时即会显示在此处：";
    unreadable = "The profile cannot be read", "性能分析无法读取";
    /// Events, steps, bytes.
    totals: fn(u64, u64, &str) -> String =
        |events, steps, bytes| {
            let events = many(events, "event", "events");
            let steps = many(steps, "step", "steps");
            format!("{events} · {steps} · {bytes}, read as needed")
        },
        |events, steps, bytes| {
            format!(
                "{} 个事件 · {} 个迭代 · {bytes}，按需读取",
                format::count(events),
                format::count(steps)
            )
        };
    /// The files are being read: bytes so far, all bytes.
    reading: fn(&str, &str) -> String =
        |read, total| format!("Reading: {read} of {total}. Slices, steps and totals are those of this part."),
        |read, total| format!("正在读取：{read}，共 {total}。时间片、迭代和合计只包含这一部分。");
    /// Lanes, steps or counters were left out.
    cut =
        "There are more lanes, steps or counters than can be listed; the first ones are shown.",
        "泳道、迭代或计数器过多，仅显示前面的部分。";
    /// Label of the picture: lanes, steps, stretch of time.
    picture: fn(u64, u64, &str) -> String =
        |lanes, steps, stretch| {
            let lanes = many(lanes, "lane", "lanes");
            let steps = many(steps, "step", "steps");
            format!("Timeline of {lanes} and {steps}, {stretch}")
        },
        |lanes, steps, stretch| {
            format!(
                "{} 条泳道、{} 个迭代的时间线，{stretch}",
                format::count(lanes),
                format::count(steps)
            )
        };
    /// The selected slice: name, duration, start.
    selected: fn(&str, &str, &str) -> String =
        |name, length, begin| format!("{name}, {length}, starts at {begin}"),
        |name, length, begin| format!("{name}，{length}，开始于 {begin}");
    copied = "The link was copied", "链接已复制";
    whole = "whole trace", "全部";
    steps = "steps", "迭代";
    /// Links of a step: curves, hits of watchpoints, page of steps.
    step_links: [Text; 3] = ["Scalars", "Debugger", "Steps"], ["标量", "调试器", "迭代"];
    /// Title of these links.
    of_step = "its step", "所属迭代";
    step: fn(i64) -> String =
        |step| format!("step {}", format::integer(step)),
        |step| format!("迭代 {}", format::integer(step));
    session_time = "session time", "会话时间";
    wall_time = "wall time", "钟表时间";
    turn_clock = "Show wall time or time since the start of the session", "切换钟表时间与会话开始后的时间";
    pinned = "Pinned", "已固定";
    pin: fn(&str) -> String = |lane| format!("Pin {lane}"), |lane| format!("固定 {lane}");
    unpin: fn(&str) -> String = |lane| format!("Unpin {lane}"), |lane| format!("取消固定 {lane}");
    fold: fn(&str) -> String = |name| format!("Fold {name}"), |name| format!("折叠 {name}");
    unfold: fn(&str) -> String = |name| format!("Unfold {name}"), |name| format!("展开 {name}");
    /// Lanes without slices.
    empty_lanes: fn(u64) -> String =
        |lanes| format!("{} without work", many(lanes, "lane", "lanes")),
        |lanes| format!("{} 条泳道没有工作", format::count(lanes));
    /// Names of groups without a process, by their kind.
    unnamed: [(Text, Text); 2] =
        [("derived", "Derived"), ("profiler", "Profiler")],
        [("derived", "推导"), ("profiler", "性能分析器")];
    counters = "Counters", "计数器";
    curves = "Curves", "曲线";
    choose_curves = "Curves above the lanes", "泳道上方的曲线";
    filter_curves = "Filter scalars", "筛选标量";
    /// Number of chosen curves, and of available ones.
    curves_of: fn(u64, u64) -> String =
        |chosen, most| format!("{chosen} of at most {most} curves"),
        |chosen, most| format!("已选 {chosen} 条曲线，最多 {most} 条");
    no_scalars = "The run has no scalars.", "此训练没有标量。";
    /// Reason why curves have no place.
    no_clock =
        "The clock of this profile does not say when it began, so curves have no place in it.",
        "此性能分析的时钟未说明开始时刻，因此无法放置曲线。";
    no_points = "no points", "无数据点";
    /// The switch of the critical path, and the reason if it is missing.
    path = "Critical path of the steps", "迭代的关键路径";
    no_path =
        "No launches of kernels were recorded: the critical path is unknown.",
        "未记录 kernel 下发，无法得出关键路径。";
    /// The path is drawn in part only.
    path_cut =
        "Parts of the critical path are not drawn: zoom in to see them.",
        "关键路径未完整绘制，放大可查看其余部分。";
    /// The choice of a second session, and none.
    second = "Second session or rank below", "下方的第二个会话或 rank";
    no_second = "No second session", "无第二个会话";
    /// The choice of all other ranks of the session.
    all_ranks = "All ranks of this session", "此会话的全部 rank";
    rank: fn(u32) -> String = |rank| format!("rank {rank}"), |rank| format!("rank {rank}");
    align = "Aligned at", "对齐方式";
    /// At the start, by the clock, at the first step of both.
    alignments: [Text; 3] =
        ["the start of both", "the same wall time", "their first common step"],
        ["两者的开始", "相同的钟表时间", "首个共同的迭代"];
    at_step: fn(&str) -> String = |step| format!("step {step}"), |step| format!("迭代 {step}");
    not_by_clock =
        "One of the two does not say when it began; their starts are aligned instead.",
        "其中之一未说明开始时刻，改为对齐开始处。";
    not_at_step =
        "One of the two does not have this step; their starts are aligned instead.",
        "其中之一没有此迭代，改为对齐开始处。";
    /// Minimum, mean and maximum value.
    counter_heads: [Text; 3] = ["min", "mean", "max"], ["最小", "平均", "最大"];
    /// Length of the view, of the session.
    part: fn(&str, &str) -> String =
        |length, all| format!("{length} of {all}"),
        |length, all| format!("{length}，共 {all}");
    /// Zoom, pan, fit, drag.
    hints: [Text; 4] = ["zoom", "pan", "fit", "drag to select"], ["缩放", "平移", "适应", "拖动以选择"];
    search = "Search slices", "搜索时间片";
    search_help =
        "Part of a name, /expression/, kind:comm, lane:\"stream 7\", dur:>1ms, step:2617, args:text",
        "名称的一部分、/表达式/、kind:comm、lane:\"stream 7\"、dur:>1ms、step:2617、args:text";
    /// Matches in view, all matches.
    matches: fn(u64, u64) -> String =
        |in_view, all| format!("{} of {} in view", format::count(in_view), format::count(all)),
        |in_view, all| format!("可见 {}，共 {}", format::count(in_view), format::count(all));
    /// Arguments are being read.
    searching = "Searching…", "正在搜索…";
    /// Matches of a search that did not read everything.
    not_all: fn(&str) -> String = |found| format!("{found}, not all searched"), |found| format!("{found}，未全部搜索");
    previous_match = "Previous match (N)", "上一个匹配（N）";
    next_match = "Next match (n)", "下一个匹配（n）";
    choose_lanes = "Choose lanes", "选择泳道";
    /// Lanes that are shown, all lanes.
    lanes_of: fn(u64, u64) -> String =
        |shown, all| format!("Lanes {} of {}", format::count(shown), format::count(all)),
        |shown, all| format!("泳道 {} / {}", format::count(shown), format::count(all));
    all_lanes = "Show all lanes", "显示全部泳道";
    copy = "Copy a link to this view (c)", "复制此视图的链接（c）";
    fit = "Fit the selection, or everything (f)", "适应所选或全部（f）";
    panel = "Details", "详情";
    turn_panel = "Fold or unfold the details (q)", "折叠或展开详情（q）";
    /// Area, flame chart, slice.
    tabs: [Text; 3] = ["Totals", "Flame chart", "Slice"], ["合计", "火焰图", "时间片"];
    /// Heads of totals: of the view, of the area.
    about: [Text; 2] = ["In view", "Selection"], ["可见范围", "所选范围"];
    lanes: fn(u64) -> String =
        |lanes| many(lanes, "lane", "lanes"),
        |lanes| format!("{} 条泳道", format::count(lanes));
    slices: fn(u64) -> String =
        |slices| many(slices, "slice", "slices"),
        |slices| format!("{} 个时间片", format::count(slices));
    drop_area = "Drop the selection", "取消所选范围";
    /// Busy in view, in the area.
    busy: [Text; 2] = ["Busy in view", "Busy in selection"], ["可见范围的繁忙占比", "所选范围的繁忙占比"];
    name = "Name", "名称";
    lane = "Lane", "泳道";
    share = "Share", "占比";
    /// Total, self, mean, count.
    columns: [Text; 4] = ["Total", "Self", "Mean", "Count"], ["总耗时", "自身", "平均", "次数"];
    nothing_in_area = "No slices here", "此处没有时间片";
    first_names: fn(u64) -> String =
        |names| format!("The first {} names; the file has more.", format::count(names)),
        |names| format!("仅显示前 {} 个名称，文件中更多。", format::count(names));
    save_totals = "Download as CSV", "下载 CSV";
    no_slice = "No slice selected", "未选择时间片";
    no_slice_next =
        "Click a slice, or press n for the next match of the search.",
        "点击一个时间片，或按 n 转到下一个搜索匹配。";
    /// Names of kinds of time.
    kinds: [Text; 6] =
        ["compute", "communication", "copy", "data", "host", "idle"],
        ["计算", "通信", "拷贝", "数据", "主机", "空闲"];
    /// Names of phases.
    phases: [(Text, Text); 5] =
        [
            ("data", "data"), ("forward", "forward"), ("backward", "backward"), ("update", "update"),
            ("recomputation", "recomputation"),
        ],
        [
            ("data", "数据"), ("forward", "前向"), ("backward", "反向"), ("update", "参数更新"),
            ("recomputation", "重计算"),
        ];
    /// A cell of a number of slices.
    one_of: fn(u64) -> String =
        |count| format!("one of {}", format::count(count)),
        |count| format!("{} 个之一", format::count(count));
    node = "node", "节点";
    begin = "begin", "开始";
    duration = "duration", "时长";
    /// Median, 99th percentile.
    median: fn(&str, &str) -> String =
        |median, most| format!("median {median}, 99 % ≤ {most}"),
        |median, most| format!("中位数 {median}，99 % ≤ {most}");
    own_time = "self", "自身";
    launched_by = "launched by", "下发者";
    before: fn(&str) -> String = |delay| format!("{delay} before"), |delay| format!("早 {delay}");
    launches = "launches", "下发";
    more: fn(u64) -> String =
        |more| format!("and {} more", format::count(more)),
        |more| format!("等 {} 个", format::count(more + 1));
    before_it = "before it", "此前";
    idle: fn(&str) -> String = |idle| format!("idle for {idle}"), |idle| format!("空闲 {idle}");
    category = "category", "类别";
    arguments = "Arguments", "参数";
    no_arguments = "No arguments were recorded", "未记录参数";
    parents = "Inside of", "所在";
    /// Arrows into the slice, out of it.
    flows: [Text; 2] = ["Arrows from", "Arrows to"], ["箭头来自", "箭头指向"];
    direction = "Direction", "方向";
    /// Top down, bottom up.
    directions: [Text; 2] = ["Top down", "Bottom up"], ["自顶向下", "自底向上"];
    flame_label = "Flame chart", "火焰图";
    whole_flame = "all", "全部";
    frame_slices = "show its slices", "显示其时间片";
    no_stacks = "No slices here", "此处没有时间片";
    save_stacks = "Download as folded stacks", "下载折叠栈";
    mark_text = "Text of the mark, then ↵", "标记的文字，然后按 ↵";
    marked = "Marked", "已标记";
    drop_mark = "Remove the mark", "移除标记";
    /// Lines about data that the profiler did not record: steps, devices, stacks.
    missing: [Text; 3] =
        [
            "Call profiler.step() after each batch to see steps.",
            "Record activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA] to see device rows.",
            "Record with_stack=True to see Python frames.",
        ],
        [
            "在每个批次后调用 profiler.step()，即可显示迭代。",
            "使用 activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]，即有设备的泳道。",
            "使用 with_stack=True，即有 Python 调用栈。",
        ];
}
