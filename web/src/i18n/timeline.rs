//! The texts of the timeline, in both languages.

use crate::format;

/// Texts of lanes, search, the panel below them and the keys.
pub struct TimelineTexts {
    pub none: &'static str,
    pub none_next: &'static str,
    pub unreadable: &'static str,
    /// Events, steps, bytes.
    pub totals: fn(u64, u64, &str) -> String,
    /// The files are being read: bytes so far, all bytes.
    pub reading: fn(&str, &str) -> String,
    pub truncated: &'static str,
    /// Places that could not be read.
    pub damaged: fn(u64) -> String,
    /// Lanes, steps or counters were left out.
    pub cut: &'static str,
    /// Label of the picture: lanes, steps, stretch of time.
    pub picture: fn(u64, u64, &str) -> String,
    /// The selected slice: name, duration, begin.
    pub selected: fn(&str, &str, &str) -> String,
    pub copied: &'static str,
    pub whole: &'static str,
    pub steps: &'static str,
    pub step: fn(i64) -> String,
    pub session_time: &'static str,
    pub wall_time: &'static str,
    pub turn_clock: &'static str,
    pub pinned: &'static str,
    pub pin: fn(&str) -> String,
    pub unpin: fn(&str) -> String,
    pub fold: fn(&str) -> String,
    pub unfold: fn(&str) -> String,
    /// Lanes without slices.
    pub empty_lanes: fn(u64) -> String,
    pub counters: &'static str,
    /// Least, mean and greatest value.
    pub counter_heads: [&'static str; 3],
    /// Length of the view, of the session.
    pub part: fn(&str, &str) -> String,
    /// Zoom, pan, fit, drag.
    pub hints: [&'static str; 4],
    pub search: &'static str,
    pub search_help: &'static str,
    /// Matches in view, all matches.
    pub matches: fn(u64, u64) -> String,
    pub previous_match: &'static str,
    pub next_match: &'static str,
    pub choose_lanes: &'static str,
    /// Lanes that are shown, all lanes.
    pub lanes_of: fn(u64, u64) -> String,
    pub all_lanes: &'static str,
    pub copy: &'static str,
    pub fit: &'static str,
    pub panel: &'static str,
    pub turn_panel: &'static str,
    /// Area, flame chart, slice.
    pub tabs: [&'static str; 3],
    /// Heads of totals: of the view, of the area.
    pub about: [&'static str; 2],
    pub lanes: fn(u64) -> String,
    pub slices: fn(u64) -> String,
    pub drop_area: &'static str,
    /// Busy in view, in the area.
    pub busy: [&'static str; 2],
    pub name: &'static str,
    pub lane: &'static str,
    pub share: &'static str,
    /// Total, self, mean, count.
    pub columns: [&'static str; 4],
    pub nothing_in_area: &'static str,
    pub first_names: fn(u64) -> String,
    pub save_totals: &'static str,
    pub no_slice: &'static str,
    pub no_slice_next: &'static str,
    /// Names of kinds of time.
    pub kinds: [&'static str; 6],
    /// Names of phases.
    pub phases: [(&'static str, &'static str); 4],
    /// A cell of so many slices.
    pub one_of: fn(u64) -> String,
    pub node: &'static str,
    pub begin: &'static str,
    pub duration: &'static str,
    /// Median, 99th percentile.
    pub median: fn(&str, &str) -> String,
    pub own_time: &'static str,
    pub launched_by: &'static str,
    pub before: fn(&str) -> String,
    pub launches: &'static str,
    pub more: fn(u64) -> String,
    pub before_it: &'static str,
    pub idle: fn(&str) -> String,
    pub category: &'static str,
    pub arguments: &'static str,
    pub no_arguments: &'static str,
    pub parents: &'static str,
    /// Arrows into the slice, out of it.
    pub flows: [&'static str; 2],
    pub direction: &'static str,
    /// Top down, bottom up.
    pub directions: [&'static str; 2],
    pub flame_label: &'static str,
    pub whole_flame: &'static str,
    pub frame_slices: &'static str,
    pub no_stacks: &'static str,
    pub save_stacks: &'static str,
    /// Effects of keys, in the order of the help panel.
    pub keys: [&'static str; 17],
    pub mark_text: &'static str,
    pub marked: &'static str,
    pub drop_mark: &'static str,
    /// Lines about what the profiler was not asked for: steps, devices, stacks.
    pub missing: [&'static str; 3],
    pub close: &'static str,
}

fn plural(count: u64, one: &str, many: &str) -> String {
    if count == 1 {
        format!("1 {one}")
    } else {
        format!("{} {many}", format::count(count))
    }
}

pub(super) static EN: TimelineTexts = TimelineTexts {
    none: "No profile was recorded",
    none_next: "Record one into the folder of the run; it appears here while it is written:",
    unreadable: "The profile cannot be read",
    totals: |events, steps, bytes| {
        let events = plural(events, "event", "events");
        let steps = plural(steps, "step", "steps");
        format!("{events} · {steps} · {bytes}, read as needed")
    },
    reading: |read, total| format!("Reading: {read} of {total}."),
    truncated: "The file ends before its last event is complete; everything before is shown.",
    damaged: |places| {
        let places = plural(places, "place", "places");
        format!("{places} could not be read; everything else is shown.")
    },
    cut: "There are more lanes, steps or counters than can be listed; the first ones are shown.",
    picture: |lanes, steps, stretch| {
        let lanes = plural(lanes, "lane", "lanes");
        let steps = plural(steps, "step", "steps");
        format!("Timeline of {lanes} and {steps}, {stretch}")
    },
    selected: |name, length, begin| format!("{name}, {length}, begins at {begin}"),
    copied: "The link was copied",
    whole: "whole trace",
    steps: "steps",
    step: |step| format!("step {}", format::integer(step)),
    session_time: "session time",
    wall_time: "wall time",
    turn_clock: "Show wall time or time since the begin of the session",
    pinned: "Pinned",
    pin: |lane| format!("Pin {lane}"),
    unpin: |lane| format!("Unpin {lane}"),
    fold: |name| format!("Fold {name}"),
    unfold: |name| format!("Unfold {name}"),
    empty_lanes: |lanes| format!("+ {} empty", format::count(lanes)),
    counters: "Counters",
    counter_heads: ["least", "mean", "most"],
    part: |length, all| format!("{length} of {all}"),
    hints: ["zoom", "pan", "fit", "drag to select"],
    search: "Search slices",
    search_help: "Part of a name, /expression/, kind:comm, lane:\"stream 7\", dur:>1ms, step:2617",
    matches: |in_view, all| {
        format!(
            "{} of {} in view",
            format::count(in_view),
            format::count(all)
        )
    },
    previous_match: "Previous match (N)",
    next_match: "Next match (n)",
    choose_lanes: "Choose lanes",
    lanes_of: |shown, all| format!("Lanes {} of {}", format::count(shown), format::count(all)),
    all_lanes: "Show all lanes",
    copy: "Copy a link to this view (c)",
    fit: "Fit the selection, or everything (f)",
    panel: "Details",
    turn_panel: "Fold or unfold the details (q)",
    tabs: ["Totals", "Flame chart", "Slice"],
    about: ["In view", "Selection"],
    lanes: |lanes| plural(lanes, "lane", "lanes"),
    slices: |slices| plural(slices, "slice", "slices"),
    drop_area: "Drop the selection",
    busy: ["Busy in view", "Busy in selection"],
    name: "Name",
    lane: "Lane",
    share: "Share",
    columns: ["Total", "Self", "Mean", "Count"],
    nothing_in_area: "No slices here",
    first_names: |names| {
        format!(
            "The first {} names; the file has more.",
            format::count(names)
        )
    },
    save_totals: "Download as CSV",
    no_slice: "No slice selected",
    no_slice_next: "Click a slice, or press n for the next match of the search.",
    kinds: ["compute", "communication", "copy", "data", "host", "idle"],
    phases: [
        ("data", "data"),
        ("forward", "forward"),
        ("backward", "backward"),
        ("update", "update"),
    ],
    one_of: |count| format!("one of {}", format::count(count)),
    node: "node",
    begin: "begin",
    duration: "duration",
    median: |median, most| format!("median {median}, 99 % ≤ {most}"),
    own_time: "self",
    launched_by: "launched by",
    before: |delay| format!("{delay} before"),
    launches: "launches",
    more: |more| format!("and {} more", format::count(more)),
    before_it: "before it",
    idle: |idle| format!("idle for {idle}"),
    category: "category",
    arguments: "Arguments",
    no_arguments: "No arguments were recorded",
    parents: "Inside of",
    flows: ["Arrows from", "Arrows to"],
    direction: "Direction",
    directions: ["Top down", "Bottom up"],
    flame_label: "Flame chart",
    whole_flame: "all",
    frame_slices: "show its slices",
    no_stacks: "No slices here",
    save_stacks: "Download as folded stacks",
    keys: [
        "zoom",
        "pan",
        "step before, after",
        "fit the selection; again: everything",
        "everything",
        "next, previous slice of the row",
        "parent, first child",
        "other end of an arrow: back, forward",
        "next, previous match",
        "mark the slice",
        "mark it for good, with a text",
        "go to a mark",
        "pin the lane",
        "fold the details",
        "copy a link",
        "open the step on Steps",
        "open the operator in the graph",
    ],
    mark_text: "Text of the mark, then ↵",
    marked: "Marked",
    drop_mark: "Remove the mark",
    missing: [
        "Call profiler.step() after each batch, and steps are shown.",
        "With activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA] there are rows of the device.",
        "With with_stack=True there are Python frames.",
    ],
    close: "Close",
};

pub(super) static ZH: TimelineTexts = TimelineTexts {
    none: "未记录性能数据",
    none_next: "将性能数据记录到训练的文件夹中，写入时即会显示在此处：",
    unreadable: "性能数据无法读取",
    totals: |events, steps, bytes| {
        format!(
            "{} 个事件 · {} 个迭代 · {bytes}，按需读取",
            format::count(events),
            format::count(steps)
        )
    },
    reading: |read, total| format!("正在读取：{read}，共 {total}。"),
    truncated: "文件在最后一个事件完整之前结束；此前的内容均已显示。",
    damaged: |places| format!("{} 处无法读取；其余内容均已显示。", format::count(places)),
    cut: "泳道、迭代或计数器过多，仅显示前面的部分。",
    picture: |lanes, steps, stretch| {
        format!(
            "{} 条泳道、{} 个迭代的时间线，{stretch}",
            format::count(lanes),
            format::count(steps)
        )
    },
    selected: |name, length, begin| format!("{name}，{length}，开始于 {begin}"),
    copied: "链接已复制",
    whole: "全部",
    steps: "迭代",
    step: |step| format!("迭代 {}", format::integer(step)),
    session_time: "会话时间",
    wall_time: "钟表时间",
    turn_clock: "切换钟表时间与会话开始后的时间",
    pinned: "已固定",
    pin: |lane| format!("固定 {lane}"),
    unpin: |lane| format!("取消固定 {lane}"),
    fold: |name| format!("折叠 {name}"),
    unfold: |name| format!("展开 {name}"),
    empty_lanes: |lanes| format!("+ {} 条空", format::count(lanes)),
    counters: "计数器",
    counter_heads: ["最小", "平均", "最大"],
    part: |length, all| format!("{length}，共 {all}"),
    hints: ["缩放", "平移", "适应", "拖动以选择"],
    search: "搜索时间片",
    search_help: "名称的一部分、/表达式/、kind:comm、lane:\"stream 7\"、dur:>1ms、step:2617",
    matches: |in_view, all| format!("可见 {}，共 {}", format::count(in_view), format::count(all)),
    previous_match: "上一个匹配（N）",
    next_match: "下一个匹配（n）",
    choose_lanes: "选择泳道",
    lanes_of: |shown, all| format!("泳道 {} / {}", format::count(shown), format::count(all)),
    all_lanes: "显示全部泳道",
    copy: "复制此视图的链接（c）",
    fit: "适应所选或全部（f）",
    panel: "详情",
    turn_panel: "折叠或展开详情（q）",
    tabs: ["合计", "火焰图", "时间片"],
    about: ["可见范围", "所选范围"],
    lanes: |lanes| format!("{} 条泳道", format::count(lanes)),
    slices: |slices| format!("{} 个时间片", format::count(slices)),
    drop_area: "取消所选范围",
    busy: ["可见范围的繁忙占比", "所选范围的繁忙占比"],
    name: "名称",
    lane: "泳道",
    share: "占比",
    columns: ["总时间", "自身", "平均", "次数"],
    nothing_in_area: "此处没有时间片",
    first_names: |names| format!("仅显示前 {} 个名称，文件中更多。", format::count(names)),
    save_totals: "下载 CSV",
    no_slice: "未选择时间片",
    no_slice_next: "点击一个时间片，或按 n 转到下一个搜索匹配。",
    kinds: ["计算", "通信", "拷贝", "数据", "主机", "空闲"],
    phases: [
        ("data", "数据"),
        ("forward", "前向"),
        ("backward", "反向"),
        ("update", "参数更新"),
    ],
    one_of: |count| format!("{} 个之一", format::count(count)),
    node: "节点",
    begin: "开始",
    duration: "时长",
    median: |median, most| format!("中位数 {median}，99 % ≤ {most}"),
    own_time: "自身",
    launched_by: "下发者",
    before: |delay| format!("早 {delay}"),
    launches: "下发",
    more: |more| format!("等 {} 个", format::count(more + 1)),
    before_it: "此前",
    idle: |idle| format!("空闲 {idle}"),
    category: "类别",
    arguments: "参数",
    no_arguments: "未记录参数",
    parents: "所在",
    flows: ["箭头来自", "箭头指向"],
    direction: "方向",
    directions: ["自顶向下", "自底向上"],
    flame_label: "火焰图",
    whole_flame: "全部",
    frame_slices: "显示其时间片",
    no_stacks: "此处没有时间片",
    save_stacks: "下载折叠栈",
    keys: [
        "缩放",
        "平移",
        "上一个、下一个迭代",
        "适应所选；再按：全部",
        "全部",
        "同一行的下一个、上一个时间片",
        "上级、第一个下级",
        "箭头的另一端：后退、前进",
        "下一个、上一个匹配",
        "标记时间片",
        "永久标记并附文字",
        "转到标记",
        "固定泳道",
        "折叠详情",
        "复制链接",
        "在迭代页打开该迭代",
        "在计算图中打开该算子",
    ],
    mark_text: "标记的文字，然后按 ↵",
    marked: "已标记",
    drop_mark: "移除标记",
    missing: [
        "在每个批次后调用 profiler.step()，即可显示迭代。",
        "使用 activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]，即有设备的泳道。",
        "使用 with_stack=True，即有 Python 调用栈。",
    ],
    close: "关闭",
};
