//! The texts of the curves, in both languages.

use crate::format;

/// Curves.
pub struct ScalarsTexts {
    /// Title of the page.
    pub title: &'static str,
    /// Heading of the list of runs.
    pub runs: &'static str,
    /// Displayed runs: number, total.
    pub of: fn(&str, &str) -> String,
    /// Link in the head of a card that is drawn by time because its steps start again with each epoch.
    pub per_epoch: &'static str,
    /// Its title.
    pub per_epoch_title: &'static str,
    /// Button and field.
    pub add_run: &'static str,
    /// Nothing to add.
    pub no_run_to_add: &'static str,
    /// State of a run whose lines are off.
    pub hidden: &'static str,
    /// State of a run that grows.
    pub live: &'static str,
    /// State of a run whose files are gone.
    pub gone: &'static str,
    /// Title of a run's row.
    pub run_row: fn(&str) -> String,
    /// Placeholder and label of the filter.
    pub filter: &'static str,
    /// The filter is no regular expression; every tag stays.
    pub bad_filter: &'static str,
    /// Heading of the pinned tags.
    pub pinned: &'static str,
    /// Label of the tree.
    pub tags: &'static str,
    /// Label of a tick box of a tag or group.
    pub show_tag: fn(&str) -> String,
    /// Tick everything, nothing.
    pub all_tags: &'static str,
    /// Foot of the panel: tags, points.
    pub all_kept: fn(u64, u64) -> String,
    /// Foot: the list of tags was too long for one answer.
    pub tags_cut: &'static str,
    /// The x axis.
    pub x_axis: &'static str,
    /// Choices of the x axis.
    pub step: &'static str,
    /// Time since the run began.
    pub relative: &'static str,
    /// Time of day.
    pub wall: &'static str,
    /// The y axis.
    pub y_axis: &'static str,
    /// Choices of the y axis.
    pub linear: &'static str,
    /// Logarithmic.
    pub log: &'static str,
    /// Symmetric logarithmic.
    pub symlog: &'static str,
    pub smoothing: &'static str,
    pub min_max: &'static str,
    /// Tick box: points that a restart has written again.
    pub superseded: &'static str,
    /// Title of the range chip.
    pub zoomed: &'static str,
    /// Range of all: `0 – 3,000`, `of 5,000`.
    pub of_all: fn(&str) -> String,
    /// Button: everything, key `f`.
    pub fit: &'static str,
    /// Buttons of a card.
    pub full: &'static str,
    /// Back from the full page.
    pub small: &'static str,
    /// Menu of a card.
    pub more: &'static str,
    /// Pin a tag.
    pub pin: &'static str,
    /// Take the pin away.
    pub unpin: &'static str,
    pub download_csv: &'static str,
    pub download_png: &'static str,
    pub as_table: &'static str,
    /// Head of the read-out: the step.
    pub at_step: fn(&str) -> String,
    /// Column heads of the read-out.
    pub smoothed: &'static str,
    /// Recorded value.
    pub value: &'static str,
    /// Last recorded value of a bucket.
    pub last_of: &'static str,
    /// Least of a bucket.
    pub min: &'static str,
    /// Greatest of a bucket.
    pub max: &'static str,
    /// `NaN from 412 to 1,184`: class, first, last.
    pub non_finite: fn(&str, &str, &str) -> String,
    /// `+Inf at 411`: class, step.
    pub inf_at: fn(&str, &str) -> String,
    /// So many runs have the same curve.
    pub equal: fn(u64) -> String,
    /// Accessible description of a canvas: tag, number of lines, first step, last step.
    pub canvas: fn(&str, u64, &str, &str) -> String,
    /// Part of that description: line name and the steps that are not finite.
    pub canvas_part: fn(&str, &str) -> String,
    /// A card without points in the range.
    pub no_points: &'static str,
    /// A card with an older picture whose request failed.
    pub card_failed: &'static str,
    /// A card without a picture whose request failed.
    pub no_answer: &'static str,
    /// The run has no scalars: title.
    pub none: fn(&str) -> String,
    pub none_next: &'static str,
    /// Title when no run is displayed.
    pub none_shown: &'static str,
    pub none_shown_next: &'static str,
    /// The filter hides all: title with the number of tags.
    pub nothing_matches: fn(u64) -> String,
    pub nothing_matches_next: &'static str,
    pub clear_filter: &'static str,
    /// No tag is ticked.
    pub none_ticked: &'static str,
    pub none_ticked_next: &'static str,
    pub tick_all: &'static str,
    /// The tags are being asked for.
    pub loading: &'static str,
    /// A damaged file: path, byte.
    pub damaged: fn(&str, &str) -> String,
    /// A file that cannot be opened: path.
    pub unreadable: fn(&str) -> String,
    /// A file whose last record is not whole: path, byte.
    pub torn: fn(&str, &str) -> String,
    /// More such files.
    pub and_more: fn(u64) -> String,
    /// Consequence of a damaged file.
    pub damaged_next: &'static str,
    /// Choice of the x axis: another scalar.
    pub x_tag: &'static str,
    /// Title of the list of scalars for the x axis.
    pub x_tag_title: &'static str,
    /// Button: choices that are made now and then.
    pub options: &'static str,
    /// Scale of the x axis.
    pub x_scale: &'static str,
    /// Range of the y axis.
    pub y_range: &'static str,
    /// Everything has room.
    pub all_values: &'static str,
    /// Switch that excludes outliers from the plot's range.
    pub no_outliers: &'static str,
    /// Label of the choice of smoothing.
    pub smoothing_kind: &'static str,
    /// Exponential moving average.
    pub ema: &'static str,
    /// Mean of a window.
    pub running_mean: &'static str,
    /// Gaussian window.
    pub gaussian: &'static str,
    /// Label of the choice of card size.
    pub card_size: &'static str,
    /// Small cards.
    pub size_small: &'static str,
    /// Medium ones.
    pub size_medium: &'static str,
    /// Large ones.
    pub size_large: &'static str,
    /// Switch that zooms all cards together.
    pub linked: &'static str,
    /// Label of the choice of grouping key.
    pub group_runs: &'static str,
    /// Nothing.
    pub group_none: &'static str,
    /// Their folder.
    pub group_folder: &'static str,
    /// A regular expression over their names.
    pub group_pattern: &'static str,
    /// Label of that expression.
    pub pattern: &'static str,
    /// Hint about grouping by a pattern.
    pub pattern_hint: &'static str,
    /// Label of the list of groups.
    pub groups: &'static str,
    /// A run without the hyper-parameter.
    pub not_recorded: &'static str,
    /// Meaning of the band around a group's line.
    pub spread: &'static str,
    /// Standard deviation.
    pub deviation: &'static str,
    /// Standard error of the mean.
    pub std_error: &'static str,
    /// Column: mean of a group.
    pub mean: &'static str,
    /// Column: lower edge of the band.
    pub below: &'static str,
    /// Column: upper edge of the band.
    pub above: &'static str,
    /// Column: difference to the baseline.
    pub minus_baseline: &'static str,
    /// Badge of the baseline.
    pub baseline: &'static str,
    /// Button: compare the others with this run.
    pub make_baseline: &'static str,
    /// Link: show so many other runs of the folder, too.
    pub compare_folder: fn(u64) -> String,
    /// In the title of a run's row: its hue is another one here than elsewhere.
    pub other_colour: &'static str,
    /// Button: show this run alone.
    pub only_this: &'static str,
    /// Button: step back to the range before.
    pub step_back: &'static str,
    /// Button: show everything of a card that is zoomed by itself.
    pub fit_card: &'static str,
    /// Chip while only single cards are zoomed.
    pub own_zooms: &'static str,
    /// Chip while nothing is zoomed any more but one can step back.
    pub whole_range: &'static str,
    pub whole_screen: &'static str,
    pub download_json: &'static str,
    pub download_svg: &'static str,
    /// Button: all cards.
    pub download_all: &'static str,
    /// Heading of its menu: number of cards.
    pub all_cards: fn(u64) -> String,
    /// Menu item: set limits.
    pub limits: &'static str,
    /// Heading of the panel.
    pub limits_title: &'static str,
    /// The first limit.
    pub first_limit: &'static str,
    /// The second one.
    pub second_limit: &'static str,
    /// Combination of both.
    pub joint: &'static str,
    /// Beyond both.
    pub and: &'static str,
    /// Beyond either.
    pub or: &'static str,
    /// With how many runs they are kept.
    pub limits_kept: fn(u64) -> String,
    pub save_limits: &'static str,
    pub remove_limits: &'static str,
    /// Over a limit: its words, points beyond, whether there may be more.
    pub alert: fn(&str, u64, bool) -> String,
    /// A card whose runs have not recorded what x counts.
    pub no_x: fn(&str) -> String,
    /// A link leads to a tag that no shown run has.
    pub no_tag: fn(&str) -> String,
    /// Table: rows shown of all.
    pub rows_of: fn(&str, &str) -> String,
    /// Table: what to do for all.
    pub rows_next: &'static str,
}

pub(super) const EN: ScalarsTexts = ScalarsTexts {
    per_epoch: "by time: steps restart each epoch",
    per_epoch_title: "The steps of this tag start again with each epoch, so the card counts relative time. Click to show all cards by relative time.",
    title: "Scalars",
    runs: "Runs",
    of: |shown, all| format!("{shown} of {all}"),
    add_run: "Add a run",
    no_run_to_add: "No other run has this name.",
    hidden: "hidden",
    live: "live",
    gone: "gone",
    run_row: |run| format!("{run}: click to show or hide, double-click to show only this run"),
    filter: "Filter tags (regular expression)",
    bad_filter: "Not a regular expression yet; all tags are shown.",
    pinned: "pinned",
    tags: "Tags",
    show_tag: |tag| format!("Show {tag}"),
    all_tags: "all tags",
    all_kept: |tags, points| {
        let tag_noun = if tags == 1 { "tag" } else { "tags" };
        let point_noun = if points == 1 { "point" } else { "points" };
        format!(
            "{} {tag_noun} · {} {point_noun} · all kept",
            format::count(tags),
            format::count(points)
        )
    },
    tags_cut: "more tags than fit in one list",
    x_axis: "x axis",
    step: "Step",
    relative: "Relative",
    wall: "Wall",
    y_axis: "y axis",
    linear: "Linear",
    log: "Log",
    symlog: "Symlog",
    smoothing: "Smoothing",
    min_max: "Min–max",
    superseded: "Show overwritten steps",
    zoomed: "Zoomed range",
    of_all: |all| format!("of {all}"),
    fit: "Fit (f)",
    full: "Full page",
    small: "Back to all cards",
    more: "More",
    pin: "Pin",
    unpin: "Unpin",
    download_csv: "Download CSV",
    download_png: "Download PNG",
    as_table: "Show as table",
    at_step: |step| format!("step {step}"),
    smoothed: "smoothed",
    value: "value",
    last_of: "last",
    min: "min",
    max: "max",
    non_finite: |class, first, last| {
        if first == last {
            format!("{class} at {first}")
        } else {
            format!("{class} from {first} to {last}")
        }
    },
    inf_at: |class, step| format!("{class} at {step}"),
    equal: |runs| match runs {
        2 => "equal in both runs".to_owned(),
        _ => format!("equal in all {runs} runs"),
    },
    canvas: |tag, lines, first, last| {
        let noun = if lines == 1 { "line" } else { "lines" };
        format!("{tag}, {lines} {noun}, {first} to {last}")
    },
    canvas_part: |line, what| format!("{line}: {what}"),
    no_points: "No points in this range.",
    card_failed: "Not updated: no answer from the server",
    no_answer: "No answer from the server",
    none: |run| format!("{run} has no scalars"),
    none_next: "Nothing that can be drawn as a curve was recorded. Scalars appear here as soon as one of its files holds them.",
    none_shown: "No run is shown.",
    none_shown_next: "Click a run at the left to show its curves.",
    nothing_matches: |tags| format!("None of {} tags matches the filter.", format::count(tags)),
    nothing_matches_next: "Parts of names match too; upper case matters only if it is typed.",
    clear_filter: "Clear filter",
    none_ticked: "No tags selected.",
    none_ticked_next: "Select tags or groups at the left.",
    tick_all: "Select all",
    loading: "Reading the tags…",
    damaged: |path, byte| format!("{path} is damaged at byte {byte}."),
    unreadable: |path| format!("{path} cannot be read."),
    torn: |path, byte| {
        format!("{path} is truncated at byte {byte}; everything before it is shown.")
    },
    and_more: |files| match files {
        1 => "1 more file".to_owned(),
        _ => format!("{files} more files"),
    },
    damaged_next: "Everything else is shown.",
    x_tag: "Tag…",
    x_tag_title: "Another scalar as x axis",
    options: "View options",
    x_scale: "X scale",
    y_range: "Y range",
    all_values: "All values",
    no_outliers: "Without outliers",
    smoothing_kind: "Smoothing by",
    ema: "EMA",
    running_mean: "Mean",
    gaussian: "Gaussian",
    card_size: "Cards",
    size_small: "Small",
    size_medium: "Medium",
    size_large: "Large",
    linked: "Zoom all cards together",
    group_runs: "Group runs by",
    group_none: "nothing",
    group_folder: "folder",
    group_pattern: "name…",
    pattern: "Regular expression over names of runs",
    pattern_hint: "Runs for which its first group, or all that matches, is equal become one line.",
    groups: "Groups",
    not_recorded: "not recorded",
    spread: "Band",
    deviation: "± std dev",
    std_error: "± std error",
    mean: "mean",
    below: "lower",
    above: "upper",
    minus_baseline: "− baseline",
    baseline: "baseline",
    make_baseline: "Compare the others with this run",
    compare_folder: |runs| format!("Compare with folder ({runs})"),
    other_colour: "Another run on this page has its usual colour.",
    only_this: "Show only this run",
    step_back: "Previous range (z)",
    fit_card: "Show all of this card",
    own_zooms: "Single cards",
    whole_range: "All",
    whole_screen: "Full screen",
    download_json: "Download JSON",
    download_svg: "Download SVG",
    download_all: "Download all cards",
    all_cards: |cards| match cards {
        1 => "1 card".to_owned(),
        _ if cards > 200 => format!("{} cards; pictures: the first 200", format::count(cards)),
        _ => format!("{cards} cards"),
    },
    limits: "Thresholds…",
    limits_title: "Thresholds",
    first_limit: "First threshold",
    second_limit: "Second threshold",
    joint: "Combined by",
    and: "and",
    or: "or",
    limits_kept: |runs| match runs {
        1 => "Saved for 1 run:".to_owned(),
        _ => format!("Saved for {} runs:", format::count(runs)),
    },
    save_limits: "Save",
    remove_limits: "Remove",
    alert: |limit, points, is_least| {
        let noun = if points == 1 { "point" } else { "points" };
        let more = if is_least { " or more" } else { "" };
        format!("{limit}: {} {noun}{more}", format::count(points))
    },
    no_x: |tag| format!("No points recorded together with {tag}."),
    no_tag: |tag| format!("No shown run has {tag}; other tags are listed."),
    rows_of: |shown, all| format!("{shown} of {all} points"),
    rows_next: "Zoom in, or download the CSV for all of them.",
};

pub(super) const ZH: ScalarsTexts = ScalarsTexts {
    per_epoch: "按时间：迭代数每轮重计",
    per_epoch_title: "此标签的迭代数在每轮开始时重新计数，因此卡片按相对时间显示。点击后所有卡片按相对时间显示。",
    title: "标量",
    runs: "训练",
    of: |shown, all| format!("{shown} / {all}"),
    add_run: "添加训练",
    no_run_to_add: "没有其他同名训练。",
    hidden: "已隐藏",
    live: "训练中",
    gone: "已移除",
    run_row: |run| format!("{run}：单击显示或隐藏，双击仅显示此训练"),
    filter: "筛选标签（正则表达式）",
    bad_filter: "还不是有效的正则表达式，暂显示全部标签。",
    pinned: "已固定",
    tags: "标签",
    show_tag: |tag| format!("显示 {tag}"),
    all_tags: "全部标签",
    all_kept: |tags, points| {
        format!(
            "{} 个标签 · {} 个点 · 全部保留",
            format::count(tags),
            format::count(points)
        )
    },
    tags_cut: "标签过多，列表不完整",
    x_axis: "横轴",
    step: "迭代",
    relative: "相对时间",
    wall: "绝对时间",
    y_axis: "纵轴",
    linear: "线性",
    log: "对数",
    symlog: "对称对数",
    smoothing: "平滑度",
    min_max: "极值带",
    superseded: "显示被覆盖的迭代",
    zoomed: "缩放范围",
    of_all: |all| format!("/ {all}"),
    fit: "适应全部 (f)",
    full: "全页显示",
    small: "返回全部卡片",
    more: "更多",
    pin: "固定",
    unpin: "取消固定",
    download_csv: "下载 CSV",
    download_png: "下载 PNG",
    as_table: "以表格显示",
    at_step: |step| format!("迭代 {step}"),
    smoothed: "平滑值",
    value: "原始值",
    last_of: "末值",
    min: "最小",
    max: "最大",
    non_finite: |class, first, last| {
        if first == last {
            format!("迭代 {first} 为 {class}")
        } else {
            format!("迭代 {first} – {last} 为 {class}")
        }
    },
    inf_at: |class, step| format!("{class}：迭代 {step}"),
    equal: |runs| format!("{runs} 个训练相同"),
    canvas: |tag, lines, first, last| format!("{tag}，{lines} 条曲线，{first} 至 {last}"),
    canvas_part: |line, what| format!("{line}：{what}"),
    no_points: "此范围内没有点。",
    card_failed: "未更新：服务器没有应答",
    no_answer: "服务器没有应答",
    none: |run| format!("{run} 没有标量"),
    none_next: "没有记录可以画成曲线的数据。文件中一旦出现标量，就会显示在这里。",
    none_shown: "没有显示任何训练。",
    none_shown_next: "单击左侧的训练以显示其曲线。",
    nothing_matches: |tags| format!("{} 个标签中没有匹配项。", format::count(tags)),
    nothing_matches_next: "名称的一部分即可匹配；输入大写字母时才区分大小写。",
    clear_filter: "清除筛选",
    none_ticked: "未选择标签。",
    none_ticked_next: "请在左侧勾选标签或分组。",
    tick_all: "全部勾选",
    loading: "正在读取标签…",
    damaged: |path, byte| format!("{path} 在第 {byte} 字节处损坏。"),
    unreadable: |path| format!("{path} 无法读取。"),
    torn: |path, byte| format!("{path} 在第 {byte} 字节处被截断，此前的内容均已显示。"),
    and_more: |files| format!("另有 {files} 个文件"),
    damaged_next: "其余内容均已显示。",
    x_tag: "标签…",
    x_tag_title: "以另一标量作横轴",
    options: "显示选项",
    x_scale: "横轴刻度",
    y_range: "纵轴范围",
    all_values: "全部值",
    no_outliers: "忽略离群值",
    smoothing_kind: "平滑方式",
    ema: "指数平均",
    running_mean: "滑动平均",
    gaussian: "高斯",
    card_size: "卡片大小",
    size_small: "小",
    size_medium: "中",
    size_large: "大",
    linked: "所有卡片同步缩放",
    group_runs: "训练分组",
    group_none: "不分组",
    group_folder: "按文件夹",
    group_pattern: "按名称…",
    pattern: "训练名称的正则表达式",
    pattern_hint: "第一个捕获组（或整个匹配）相同的训练合并为一条曲线。",
    groups: "分组",
    not_recorded: "未记录",
    spread: "区间",
    deviation: "± 标准差",
    std_error: "± 标准误差",
    mean: "均值",
    below: "下界",
    above: "上界",
    minus_baseline: "与基线之差",
    baseline: "基线",
    make_baseline: "以此训练为基线进行比较",
    compare_folder: |runs| format!("与文件夹中其他 {runs} 个训练比较"),
    other_colour: "其常用颜色在本页已用于另一训练。",
    only_this: "仅显示此训练",
    step_back: "返回上一范围 (z)",
    fit_card: "显示此卡片的全部",
    own_zooms: "部分卡片",
    whole_range: "全部",
    whole_screen: "全屏",
    download_json: "下载 JSON",
    download_svg: "下载 SVG",
    download_all: "下载全部卡片",
    all_cards: |cards| {
        if cards > 200 {
            format!("{} 张卡片；图片仅含前 200 张", format::count(cards))
        } else {
            format!("{cards} 张卡片")
        }
    },
    limits: "阈值…",
    limits_title: "阈值",
    first_limit: "第一阈值",
    second_limit: "第二阈值",
    joint: "两个阈值的关系",
    and: "且",
    or: "或",
    limits_kept: |runs| format!("保存到 {} 个训练：", format::count(runs)),
    save_limits: "保存",
    remove_limits: "移除",
    alert: |limit, points, is_least| {
        let least = if is_least { "至少 " } else { "" };
        format!("{limit}：{least}{} 个点", format::count(points))
    },
    no_x: |tag| format!("没有与 {tag} 一同记录。"),
    no_tag: |tag| format!("所选训练没有 {tag}，以下是其他标签。"),
    rows_of: |shown, all| format!("{shown} / {all} 个点"),
    rows_next: "放大范围，或下载 CSV 以获得全部。",
};
