//! The texts of the curves, in both languages.

use crate::format;

texts! {
    /// Curves.
    ScalarsTexts

    title = "Scalars", "标量";
    runs = "Runs", "训练";
    /// Displayed runs: number, total.
    of: fn(&str, &str) -> String = |shown, all| format!("{shown} of {all}"), |shown, all| format!("{shown} / {all}");
    per_epoch = "by time: steps restart each epoch", "按时间：迭代数每轮重计";
    per_epoch_title =
        "The steps of this tag start again with each epoch, so the card counts relative time. Click to show all cards by relative time.",
        "此标签的迭代数在每轮开始时重新计数，因此卡片按相对时间显示。点击后所有卡片按相对时间显示。";
    add_run = "Add a run", "添加训练";
    no_run_to_add = "No other run has this name.", "没有其他同名训练。";
    hidden = "hidden", "已隐藏";
    live = "live", "训练中";
    gone = "gone", "已移除";
    /// Title of a run's row.
    run_row: fn(&str) -> String =
        |run| format!("{run}: click to show or hide, double-click to show only this run"),
        |run| format!("{run}：单击显示或隐藏，双击仅显示此训练");
    filter = "Filter tags (regular expression)", "筛选标签（正则表达式）";
    bad_filter = "Not a regular expression yet; all tags are shown.", "还不是有效的正则表达式，暂显示全部标签。";
    pinned = "pinned", "已固定";
    tags = "Tags", "标签";
    /// Label of a tick box of a tag or group.
    show_tag: fn(&str) -> String = |tag| format!("Show {tag}"), |tag| format!("显示 {tag}");
    all_tags = "all tags", "全部标签";
    /// Foot of the panel: tags, points.
    all_kept: fn(u64, u64) -> String =
        |tags, points| {
            let tag_noun = if tags == 1 { "tag" } else { "tags" };
            let point_noun = if points == 1 { "point" } else { "points" };
            format!(
                "{} {tag_noun} · {} {point_noun} · all kept",
                format::count(tags),
                format::count(points)
            )
        },
        |tags, points| format!("{} 个标签 · {} 个点 · 全部保留", format::count(tags), format::count(points));
    tags_cut = "more tags than fit in one list", "标签过多，列表不完整";
    x_axis = "x axis", "横轴";
    step = "Step", "迭代";
    relative = "Relative", "相对时间";
    wall = "Wall", "绝对时间";
    y_axis = "y axis", "纵轴";
    linear = "Linear", "线性";
    log = "Log", "对数";
    symlog = "Symlog", "对称对数";
    smoothing = "Smoothing", "平滑度";
    min_max = "Min–max", "极值带";
    superseded = "Show overwritten steps", "显示被覆盖的迭代";
    /// An attempt of several: its number, and its start.
    attempt: fn(u64, Option<&str>) -> String =
        |number, when| match when {
            Some(when) => format!("attempt {number}, {when}"),
            None => format!("attempt {number}"),
        },
        |number, when| match when {
            Some(when) => format!("第 {number} 次尝试，{when}"),
            None => format!("第 {number} 次尝试"),
        };
    zoomed = "Zoomed range", "缩放范围";
    /// Range of all: `0 – 3,000`, `of 5,000`.
    of_all: fn(&str) -> String = |all| format!("of {all}"), |all| format!("/ {all}");
    fit = "Fit (f)", "适应全部 (f)";
    full = "Full page", "全页显示";
    small = "Back to all cards", "返回全部卡片";
    more = "More", "更多";
    pin = "Pin", "固定";
    unpin = "Unpin", "取消固定";
    download_csv = "Download CSV", "下载 CSV";
    download_png = "Download PNG", "下载 PNG";
    as_table = "Show as table", "以表格显示";
    /// Head of the read-out: the step.
    at_step: fn(&str) -> String = |step| format!("step {step}"), |step| format!("迭代 {step}");
    smoothed = "smoothed", "平滑值";
    value = "value", "原始值";
    last_of = "last", "末值";
    min = "min", "最小";
    max = "max", "最大";
    /// `NaN from 412 to 1,184`: class, first, last.
    non_finite: fn(&str, &str, &str) -> String =
        |class, first, last| {
            if first == last {
                format!("{class} at {first}")
            } else {
                format!("{class} from {first} to {last}")
            }
        },
        |class, first, last| {
            if first == last {
                format!("迭代 {first} 为 {class}")
            } else {
                format!("迭代 {first} – {last} 为 {class}")
            }
        };
    /// `+Inf at 411`: class, step.
    inf_at: fn(&str, &str) -> String =
        |class, step| format!("{class} at {step}"),
        |class, step| format!("{class}：迭代 {step}");
    /// Number of runs that have the same curve.
    equal: fn(u64) -> String =
        |runs| match runs {
            2 => "equal in both runs".to_owned(),
            _ => format!("equal in all {runs} runs"),
        },
        |runs| format!("{runs} 个训练相同");
    /// Accessible description of a canvas: tag, number of lines, first step, last step.
    canvas: fn(&str, u64, &str, &str) -> String =
        |tag, lines, first, last| {
            let noun = if lines == 1 { "line" } else { "lines" };
            format!("{tag}, {lines} {noun}, {first} to {last}")
        },
        |tag, lines, first, last| format!("{tag}，{lines} 条曲线，{first} 至 {last}");
    /// Part of that description: line name and the steps that are not finite.
    canvas_part: fn(&str, &str) -> String =
        |line, what| format!("{line}: {what}"),
        |line, what| format!("{line}：{what}");
    no_points = "No points in this range.", "此范围内没有点。";
    card_failed = "Not updated: no answer from the server", "未更新：服务器没有应答";
    no_answer = "No answer from the server", "服务器没有应答";
    /// The run has no scalars: title.
    none: fn(&str) -> String = |run| format!("{run} has no scalars"), |run| format!("{run} 没有标量");
    none_next =
        "Nothing that can be drawn as a curve was recorded. Scalars appear here as soon as one of its files holds them.",
        "没有记录可以画成曲线的数据。文件中一旦出现标量，就会显示在这里。";
    none_shown = "No run is shown.", "没有显示任何训练。";
    none_shown_next = "Click a run at the left to show its curves.", "单击左侧的训练以显示其曲线。";
    /// The filter hides all: title with the number of tags.
    nothing_matches: fn(u64) -> String =
        |tags| format!("None of {} tags matches the filter.", format::count(tags)),
        |tags| format!("{} 个标签中没有匹配项。", format::count(tags));
    nothing_matches_next =
        "Parts of names match too; upper case matters only if it is typed.",
        "名称的一部分即可匹配；输入大写字母时才区分大小写。";
    clear_filter = "Clear filter", "清除筛选";
    none_ticked = "No tags selected.", "未选择标签。";
    none_ticked_next = "Select tags or groups at the left.", "请在左侧勾选标签或分组。";
    tick_all = "Select all", "全部勾选";
    loading = "Reading the tags…", "正在读取标签…";
    /// A damaged file: path, byte.
    damaged: fn(&str, &str) -> String =
        |path, byte| format!("{path} is damaged at byte {byte}."),
        |path, byte| format!("{path} 在第 {byte} 字节处损坏。");
    /// A file that cannot be opened: path.
    unreadable: fn(&str) -> String = |path| format!("{path} cannot be read."), |path| format!("{path} 无法读取。");
    /// A file whose last record is not whole: path, byte.
    torn: fn(&str, &str) -> String =
        |path, byte| format!("{path} is truncated at byte {byte}; everything before it is shown."),
        |path, byte| format!("{path} 在第 {byte} 字节处被截断，此前的内容均已显示。");
    /// More such files.
    and_more: fn(u64) -> String =
        |files| match files {
            1 => "1 more file".to_owned(),
            _ => format!("{files} more files"),
        },
        |files| format!("另有 {files} 个文件");
    damaged_next = "Everything else is shown.", "其余内容均已显示。";
    x_tag = "Tag…", "标签…";
    x_tag_title = "Another scalar as x axis", "以另一标量作横轴";
    options = "View options", "显示选项";
    x_scale = "X scale", "横轴刻度";
    y_range = "Y range", "纵轴范围";
    all_values = "All values", "全部值";
    no_outliers = "Without outliers", "忽略离群值";
    smoothing_kind = "Smoothing by", "平滑方式";
    ema = "EMA", "指数平均";
    running_mean = "Mean", "滑动平均";
    gaussian = "Gaussian", "高斯";
    card_size = "Cards", "卡片大小";
    size_small = "Small", "小";
    size_medium = "Medium", "中";
    size_large = "Large", "大";
    linked = "Zoom all cards together", "所有卡片同步缩放";
    group_runs = "Group runs by", "训练分组";
    group_none = "nothing", "不分组";
    group_folder = "folder", "按文件夹";
    group_pattern = "name…", "按名称…";
    pattern = "Regular expression over names of runs", "训练名称的正则表达式";
    pattern_hint =
        "Runs for which its first group, or all that matches, is equal become one line.",
        "第一个捕获组（或整个匹配）相同的训练合并为一条曲线。";
    groups = "Groups", "分组";
    not_recorded = "not recorded", "未记录";
    spread = "Band", "区间";
    deviation = "± std dev", "± 标准差";
    std_error = "± std error", "± 标准误差";
    mean = "mean", "均值";
    below = "lower", "下界";
    above = "upper", "上界";
    minus_baseline = "− baseline", "与基线之差";
    baseline = "baseline", "基线";
    make_baseline = "Compare the others with this run", "以此训练为基线进行对比";
    /// Link: show a number of other runs of the folder, too.
    compare_folder: fn(u64) -> String =
        |runs| format!("Compare with folder ({runs})"),
        |runs| format!("与文件夹中其他 {runs} 个训练对比");
    other_colour = "Another run on this page has its usual colour.", "其常用颜色在本页已用于另一训练。";
    only_this = "Show only this run", "仅显示此训练";
    step_back = "Previous range (z)", "返回上一范围 (z)";
    fit_card = "Show all of this card", "显示此卡片的全部";
    own_zooms = "Single cards", "部分卡片";
    whole_range = "All", "全部";
    whole_screen = "Full screen", "全屏";
    download_json = "Download JSON", "下载 JSON";
    download_svg = "Download SVG", "下载 SVG";
    download_all = "Download all cards", "下载全部卡片";
    /// Heading of its menu: number of cards.
    all_cards: fn(u64) -> String =
        |cards| match cards {
            1 => "1 card".to_owned(),
            _ if cards > 200 => format!("{} cards; pictures: the first 200", format::count(cards)),
            _ => format!("{cards} cards"),
        },
        |cards| {
            if cards > 200 {
                format!("{} 张卡片；图片仅含前 200 张", format::count(cards))
            } else {
                format!("{cards} 张卡片")
            }
        };
    limits = "Thresholds…", "阈值…";
    limits_title = "Thresholds", "阈值";
    first_limit = "First threshold", "第一阈值";
    second_limit = "Second threshold", "第二阈值";
    joint = "Combined by", "两个阈值的关系";
    and = "and", "且";
    or = "or", "或";
    /// Number of runs with which they are stored.
    limits_kept: fn(u64) -> String =
        |runs| match runs {
            1 => "Saved for 1 run:".to_owned(),
            _ => format!("Saved for {} runs:", format::count(runs)),
        },
        |runs| format!("保存到 {} 个训练：", format::count(runs));
    save_limits = "Save", "保存";
    remove_limits = "Remove", "移除";
    /// Over a limit: its words, points beyond, whether there may be more.
    alert: fn(&str, u64, bool) -> String =
        |limit, points, is_least| {
            let noun = if points == 1 { "point" } else { "points" };
            let more = if is_least { " or more" } else { "" };
            format!("{limit}: {} {noun}{more}", format::count(points))
        },
        |limit, points, is_least| {
            let least = if is_least { "至少 " } else { "" };
            format!("{limit}：{least}{} 个点", format::count(points))
        };
    /// A card whose runs have not recorded the scalar of the x axis.
    no_x: fn(&str) -> String =
        |tag| format!("No points recorded together with {tag}."),
        |tag| format!("没有与 {tag} 一同记录。");
    /// A link leads to a tag that no shown run has.
    no_tag: fn(&str) -> String =
        |tag| format!("No shown run has {tag}; other tags are listed."),
        |tag| format!("所选训练没有 {tag}，以下是其他标签。");
    /// Table: rows shown of all.
    rows_of: fn(&str, &str) -> String =
        |shown, all| format!("{shown} of {all} points"),
        |shown, all| format!("{shown} / {all} 个点");
    rows_next = "Zoom in, or download the CSV for all of them.", "放大范围，或下载 CSV 以获得全部。";
}
