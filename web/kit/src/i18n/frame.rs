//! The texts around every page: titles, rail, bar, search, help, states.

use crate::format;
use crate::i18n::{Text, many};
use trainscope_api::findings::Counts;

texts! {
    /// Names of pages.
    TitleTexts

    runs = "Runs", "训练列表";
    scalars = "Scalars", "标量";
    compare = "Compare", "对比";
    lineage = "Lineage", "溯源";
    overview = "Overview", "训练看板";
    histograms = "Histograms", "参数分布图";
    graph = "Graph", "计算图";
    pipeline = "Data pipeline", "数据流水线";
    tensors = "Tensors", "张量";
    debugger = "Debugger", "调试器";
    profile = "Profile", "性能分析";
    landscape = "Loss landscape", "损失函数地形图";
    timeline = "Timeline", "时间线";
    /// Titles of the pages: pictures, text, precision and recall.
    recorded: [Text; 3] = ["Images and audio", "Text", "PR curves"], ["图像与音频", "文本", "PR 曲线"];
}

texts! {
    /// Rail, bar, search, help.
    FrameTexts

    help = "Help", "帮助";
    settings = "Settings", "设置";
    main_navigation = "Main", "主导航";
    switch_run = "Switch to another run", "切换到其他训练";
    find_run = "Find a run", "查找训练";
    search = "Search pages, runs, tags, nodes", "搜索页面、训练、标签、节点";
    /// Nothing found.
    search_nothing: fn(&str) -> String =
        |text| format!("Nothing contains “{text}”"),
        |text| format!("没有内容包含“{text}”");
    found_pages = "Pages", "页面";
    found_runs = "Runs", "训练";
    found_tags = "Tags", "标签";
    /// Tags of other runs than the page's.
    found_tags_of_runs = "Tags of runs", "各训练的标签";
    found_nodes = "Nodes", "节点";
    /// Numbers of hits of a run: errors and warnings, then notes.
    hits: fn(Counts) -> String =
        |counts| match (counts.problems(), counts.info) {
            (problems, 0) => format::count(problems),
            (0, notes) => many(notes, "note", "notes"),
            (problems, notes) => {
                format!(
                    "{} + {}",
                    format::count(problems),
                    many(notes, "note", "notes")
                )
            }
        },
        |counts| match (counts.problems(), counts.info) {
            (problems, 0) => format::count(problems),
            (0, notes) => format!("{} 个提示", format::count(notes)),
            (problems, notes) => {
                format!(
                    "{} + {} 个提示",
                    format::count(problems),
                    format::count(notes)
                )
            }
        };
    step = "step", "迭代";
    live = "live", "训练中";
    stopped = "stopped", "已停止";
    gone = "gone", "已移除";
    unknown = "unknown", "未知";
    skip = "Skip to content", "跳到内容";
    /// Time of the newest points; the argument is an age.
    updated: fn(&str) -> String = |age| format!("Last data {age}"), |age| format!("最新数据：{age}");
    pause = "Pause live update", "暂停实时更新";
    resume = "Resume live update", "恢复实时更新";
    paused = "Paused", "已暂停";
    offline = "No connection", "未连接";
    other_language = "中文", "English";
    dark_theme = "Dark theme", "深色主题";
    light_theme = "Light theme", "浅色主题";
    close = "Close", "关闭";
    /// Reading progress of the server: bytes, total, files.
    reading: fn(&str, &str, u64) -> String =
        |read, total, files| format!("reading {read} of {total} · {}", many(files, "file", "files")),
        |read, total, files| format!("已读取 {read}，共 {total} · {} 个文件", format::count(files));
    /// Below the title of the list: runs, folders, size.
    runs_summary: fn(u64, u64, &str) -> String =
        |runs, folders, size| {
            let runs = many(runs, "run", "runs");
            if folders > 1 {
                format!("{runs} in {} folders · {size}", format::count(folders))
            } else {
                format!("{runs} · {size}")
            }
        },
        |runs, folders, size| {
            let runs = format::count(runs);
            if folders > 1 {
                let folders = format::count(folders);
                format!("{folders} 个文件夹，{runs} 个训练 · {size}")
            } else {
                format!("{runs} 个训练 · {size}")
            }
        };
    runs_cut = "more runs than fit in one list", "训练过多，列表未完整显示";
    /// Word in the title of a tab.
    waiting = "waiting", "等待中";
    number_waiting: fn(u64) -> String =
        |count| format!("{} waiting", format::count(count)),
        |count| format!("{} 个等待中", format::count(count));
    /// Heading of the list of connected trainings.
    live_sessions = "Live sessions", "实时会话";
    base_run = "(this folder)", "（本文件夹）";
    /// Group summary: number of runs.
    runs_count: fn(u64) -> String = |count| many(count, "run", "runs"), |count| format!("{} 个训练", format::count(count));
}

texts! {
    /// Descriptions of keyboard shortcuts for the help panel.
    KeyTexts

    title = "Keyboard", "键盘快捷键";
    everywhere = "Everywhere", "所有页面";
    in_runs = "In the list of runs", "训练列表";
    in_charts = "In charts", "图表";
    in_debugger = "In the debugger", "调试器";
    search = "search", "搜索";
    help = "this help", "显示本帮助";
    pause = "pause or resume live update", "暂停或恢复实时更新";
    escape = "close, leave, clear", "关闭、离开、清除";
    rows = "next, previous row", "下一行、上一行";
    open = "open the run", "打开训练";
    select = "select the run", "选择训练";
    compare = "compare the selected runs", "对比所选训练";
    together = "scalars of the selected runs", "所选训练的标量";
    fit = "fit to all steps", "适应全部迭代";
    steps = "previous, next recorded step", "上一个、下一个已记录的迭代";
    zoom = "zoom in, out", "放大、缩小";
    pan = "pan left, right", "向左、向右平移";
    step_back = "back to the range before", "返回上一范围";
    cards = "next, previous card", "下一张、上一张卡片";
    pin = "pin the card", "固定卡片";
    full = "card on the full page", "卡片全页显示";
    drag = "zoom to a range", "缩放到所选范围";
    double_click = "fit to all steps", "适应全部迭代";
    wheel_zoom = "zoom", "缩放";
    wheel_pan = "pan", "平移";
    /// Names of gestures: drag, double-click, `Ctrl` with the wheel, `⇧` with the wheel.
    gestures: [Text; 4] = ["drag", "double-click", "Ctrl wheel", "⇧ wheel"], ["拖动", "双击", "Ctrl 滚轮", "⇧ 滚轮"];
    fit_graph = "fit to the page", "适应页面";
    node = "next node in that direction", "该方向的下一个节点";
    open_scope = "open or close the scope", "展开或折叠作用域";
    path = "path from here, to here", "路径的起点、终点";
    edit = "edit the watchpoint", "编辑监测点";
    in_steps = "Images, text, tensors, data pipeline", "图像、文本、张量、数据流水线";
    other_step = "previous, next step", "上一个、下一个迭代";
    play = "play or stop all steps of images", "播放或停止图像的各迭代";
    other_tensor = "next, previous tensor", "下一个、上一个张量";
    operations = "next, previous operation", "下一个、上一个操作";
    /// Effects of the keys of the registry, in their order.
    of_compare: [Text; 5] =
        [
            "next, previous tensor", "previous, next step", "previous, next divergence", "next run as baseline",
            "swap both runs",
        ],
        ["下一个、上一个张量", "上一个、下一个迭代", "上一个、下一个差异处", "以下一个训练为基线", "交换两个训练"];
    /// Effects of the keys of the registry, in their order.
    of_lineage: [Text; 17] =
        [
            "next, previous run", "select the run", "open the run; keep only the brushed ones",
            "compare the selected runs", "scalars of the selected runs", "all values of the run", "hide the run",
            "tag; note", "next, previous axis", "move the axis", "move the brush", "resize the brush",
            "new brush; remove the axis", "logarithmic; invert axis", "colour by the axis", "remove all brushes",
            "table as CSV",
        ],
        [
            "下一个、上一个训练", "选中该训练", "打开该训练；只保留刷选的训练", "对比所选训练", "所选训练的标量",
            "该训练的全部取值", "隐藏该训练", "标签；备注", "下一个、上一个坐标轴", "移动坐标轴", "移动刷选范围",
            "调整刷选范围", "新建刷选；移除坐标轴", "对数刻度；反转坐标轴", "按该坐标轴着色", "清除全部刷选",
            "将表格导出为 CSV",
        ];
    /// Keys: map, surface, scale, other landscape, turn.
    of_landscape: [Text; 5] =
        [
            "Show the map large", "Show the surface large", "Linear or logarithmic colours", "Other landscape",
            "Turn the surface",
        ],
        ["放大等高线图", "放大三维曲面", "线性或对数颜色", "切换地形", "旋转曲面"];
    /// Effects of keys, in the order of the help panel.
    of_timeline: [Text; 17] =
        [
            "zoom", "pan", "step before, after", "fit the selection; again: everything", "everything",
            "next, previous slice of the row", "parent, first child", "other end of an arrow: back, forward",
            "next, previous match", "mark the slice", "mark it for good, with a text", "go to a mark",
            "pin the lane", "fold the details", "copy a link", "open the step on Steps",
            "open the operator in the graph",
        ],
        [
            "缩放", "平移", "上一个、下一个迭代", "适应所选；再按：全部", "全部", "同一行的下一个、上一个时间片",
            "上级、第一个下级", "箭头的另一端：后退、前进", "下一个、上一个匹配", "标记时间片", "永久标记并附文字",
            "转到标记", "固定泳道", "折叠详情", "复制链接", "在迭代页打开该迭代", "在计算图中打开该算子",
        ];
    next_hit = "next, previous hit", "下一个、上一个命中";
    next_step = "previous, next step of the tensor", "张量的上一个、下一个迭代";
    key_rows = "next, previous row", "下一行、上一行";
    open_timeline = "open in timeline", "在时间线中打开";
}

texts! {
    /// The settings panel.
    SettingsTexts

    in_this_browser = "In this browser", "本浏览器";
    theme = "Theme", "主题";
    /// System, light, dark.
    themes: [Text; 3] = ["As the system", "Light", "Dark"], ["跟随系统", "浅色", "深色"];
    language = "Language", "语言";
    of_browser = "As the browser", "跟随浏览器";
    live_update = "Live update", "实时更新";
    /// On, paused.
    live_updates: [Text; 2] = ["On", "Paused"], ["开启", "已暂停"];
    server = "Server", "服务器";
    version = "Version", "版本";
    folders = "Folders", "文件夹";
    runs = "Runs", "训练";
    files = "Files read", "已读取的文件";
    /// Number and size of files.
    files_read: fn(u64, &str) -> String =
        |files, size| format!("{} · {size}", format::count(files)),
        |files, size| format!("{} · {size}", format::count(files));
}

const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

texts! {
    /// Ages and dates.
    TimeTexts

    /// `2 s ago`
    secs_ago: fn(u64) -> String =
        |secs| match secs {
            0 => "just now".to_owned(),
            _ => format!("{secs} s ago"),
        },
        |secs| match secs {
            0 => "刚刚".to_owned(),
            _ => format!("{secs} 秒前"),
        };
    /// `6 min ago`
    minutes_ago: fn(u64) -> String = |minutes| format!("{minutes} min ago"), |minutes| format!("{minutes} 分钟前");
    /// `today 02:20`
    today_at: fn(&str) -> String = |clock| format!("today {clock}"), |clock| format!("今天 {clock}");
    /// `yesterday 02:20`
    yesterday_at: fn(&str) -> String = |clock| format!("yesterday {clock}"), |clock| format!("昨天 {clock}");
    /// From Sunday.
    weekdays: [Text; 7] =
        ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"],
        ["周日", "周一", "周二", "周三", "周四", "周五", "周六"];
    /// `14 Nov` or, with the flag, `14 Nov 2025`: year, month from 1, day.
    date: fn(u32, u32, u32, bool) -> String =
        |year, month, day, with_year| {
            let name = MONTHS.get(month as usize - 1).copied().unwrap_or("");
            if with_year {
                format!("{day} {name} {year}")
            } else {
                format!("{day} {name}")
            }
        },
        |year, month, day, with_year| {
            if with_year {
                format!("{year}年{month}月{day}日")
            } else {
                format!("{month}月{day}日")
            }
        };
}

texts! {
    /// States of any page: a title with the fact, a sentence with the next step.
    StateTexts

    nowhere = "There is no page at this address", "该地址没有页面";
    nowhere_next =
        "The link may be from a newer version, or a part of it is missing.",
        "链接可能来自更新的版本，或者不完整。";
    /// Title: no run of that name.
    no_run: fn(&str) -> String = |run| format!("There is no run {run}"), |run| format!("没有名为 {run} 的训练");
    no_run_next =
        "It may have been renamed before this page was opened, or be in a folder that this server does not watch.",
        "它可能在打开本页之前已被重命名，或者位于服务器未监视的文件夹中。";
    all_runs = "All runs", "全部训练";
    no_code_offline = "No connection: this page was not opened before", "没有连接：此页面之前未打开过";
    no_code_offline_next =
        "It is loaded when the server answers again; pages that were open before still work.",
        "服务器恢复应答后即可加载；之前打开过的页面仍可使用。";
    no_code = "This page could not be loaded", "无法加载此页面";
    no_code_next =
        "Its code could not be fetched. If the server was updated, reload the page; pages that were open before still work.",
        "无法获取其代码。如果服务器已更新，请刷新页面；之前打开过的页面仍可使用。";
    try_again = "Try again", "重试";
    /// Title of a run whose files were removed.
    gone: fn(&str) -> String = |run| format!("{run} is no longer on the disk."), |run| format!("{run} 已不在磁盘上。");
    gone_next =
        "Its folder was removed or renamed. Everything read so far stays until the server is restarted.",
        "其文件夹已被移除或重命名。已读取的内容会保留到服务器重启为止。";
    /// No connection since a clock time.
    no_connection: fn(&str) -> String =
        |clock| format!("No connection to the server since {clock}."),
        |clock| format!("自 {clock} 起与服务器断开连接。");
    /// Seconds until the next attempt.
    trying_in: fn(u32) -> String = |secs| format!("Trying again in {secs} s."), |secs| format!("{secs} 秒后重试。");
    trying = "Trying again now.", "正在重试。";
    try_now = "Try now", "立即重试";
    /// Conflict with a concurrent note on the same subject: title and explanation.
    note_conflict: [Text; 2] =
        [
            "Someone else changed the same note.",
            "Their version is shown; make your change again if it still makes sense.",
        ],
        ["其他人已修改同一备注。", "已显示对方的内容；如仍需要，请重新修改。"];
    note_refused = "The change was not saved.", "修改未保存。";
    note_unreachable = "The server cannot be reached.", "无法连接服务器。";
    /// For screen readers: number of hits since the page was opened.
    new_hits: fn(u64) -> String =
        |hits| many(hits, "new hit", "new hits"),
        |hits| format!("{} 个新命中", format::count(hits));
    paused = "Live update is paused.", "实时更新已暂停。";
    /// Number of runs with new data.
    waiting: fn(usize) -> String =
        |runs| match runs {
            0 => "Nothing has changed since.".to_owned(),
            1 => "1 run has newer points.".to_owned(),
            _ => format!("{runs} runs have newer points."),
        },
        |runs| match runs {
            0 => "此后没有变化。".to_owned(),
            _ => format!("{runs} 个训练有新数据。"),
        };
    show_them = "Show them", "显示";
    loading = "Reading the runs", "正在读取训练";
    loading_next =
        "Runs appear as soon as they are read and keep their places.",
        "已读取的内容会立即显示且位置不变，其余内容随后出现。";
    unreachable = "The server cannot be reached", "无法连接服务器";
    unreachable_next =
        "Is trainscope still running? This page continues when it answers.",
        "trainscope 是否仍在运行？服务器恢复后本页会自动继续。";
    refused = "The server refused the request", "服务器拒绝了请求";
    misunderstood_next =
        "Page and server may be of different versions: reload the page.",
        "页面与服务器的版本可能不一致：请重新加载页面。";
}
