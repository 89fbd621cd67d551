//! Texts of the debugger.

use crate::format;
use crate::i18n::{Text, many};
use trainscope_api::watchpoints::ParameterKind;
use trainscope_format::digits::Operator;

texts! {
    /// Watchpoints, hits, the tensor of a hit.
    DebuggerTexts

    /// Before the name of a condition.
    condition = "Condition", "条件";
    waiting = "This run has not been judged yet", "该训练尚未作判断";
    waiting_next =
        "It is checked as soon as its files are read; this page updates by itself.",
        "文件读取完成后会立即判断，页面会自动更新。";
    /// Number of watchpoints that could not be judged everywhere.
    open: fn(u64) -> String =
        |n| {
            let all = many(n, "watchpoint was", "watchpoints were");
            format!("{all} not judged for some tensors (see list).")
        },
        |n| format!("{} 个监测点未能全部判断，原因见列表。", format::count(n));
    /// Of a watchpoint: number of places where it was not judged, and the reason.
    unjudged: fn(u64, &str) -> String =
        |n, why| format!("{} not judged: {why}", format::count(n)),
        |n, why| format!("{} 项未作判断：{why}", format::count(n));
    stop = ".", "。";
    first_cause = "First cause:", "最初原因：";
    try_this = "Try:", "建议：";
    watchpoints = "Watchpoints", "监测点";
    recommended = "Recommended watchpoints", "推荐监测点";
    /// Subject of a condition, by its name in the API.
    target: fn(&str) -> Text =
        |target| match target {
            "weight" => "weights",
            "gradient" => "gradients",
            "activation" => "activations",
            "scalar" => "scalars",
            "run" => "entire run",
            "profile" => "profiles",
            _ => "all tensors",
        },
        |target| match target {
            "weight" => "权重",
            "gradient" => "梯度",
            "activation" => "激活值",
            "scalar" => "标量",
            "run" => "整个训练",
            "profile" => "性能分析",
            _ => "所有张量",
        };
    filter = "Tensor or watchpoint", "张量或监测点";
    hits = "Hits", "命中";
    tensor = "Tensor, in data-flow order", "张量（按数据流顺序）";
    watchpoint = "Watchpoint", "监测点";
    found = "Found", "实际值";
    limit = "Limit", "阈值";
    /// Button: all hits; the argument is their numbers.
    all: fn(&str) -> String = |hits| format!("All {hits}"), |hits| format!("全部 {hits}");
    /// A severity by its name in the API.
    severity: fn(&str) -> Text =
        |severity| match severity {
            "error" => "Errors",
            "warning" => "Warnings",
            _ => "Notes",
        },
        |severity| match severity {
            "error" => "错误",
            "warning" => "警告",
            _ => "提示",
        };
    first = "first cause", "最初原因";
    /// Mark of the first hit of a step: number of hits that follow from it.
    explains: fn(u64) -> String =
        |n| format!("{} follow", format::count(n)),
        |n| format!("引起 {} 个命中", format::count(n));
    /// Next to a tensor of a rank.
    rank: fn(u32) -> String = |rank| format!("rank {rank}"), |rank| format!("rank {rank}");
    nothing_matches = "No hits match the filter.", "没有匹配的命中。";
    no_hits = "No hits.", "没有监测点命中。";
    inspector = "Tensor of the hit", "命中的张量";
    show_curve = "Show in Scalars", "在标量中查看";
    /// Description of the curve of a hit: tag, step, value there.
    curve_label: fn(&str, &str, &str) -> String =
        |tag, step, value| format!("{tag} around step {step}, value {value}"),
        |tag, step, value| format!("{tag} 在迭代 {step} 附近的曲线，该处为 {value}");
    no_statistics = "Neither values nor statistics were recorded.", "该训练的文件中既没有它的值，也没有其统计量。";
    elements = "Elements", "元素";
    finite = "finite values", "有限值";
    /// Maximum, mean, mean |x|, minimum and standard deviation of finite elements.
    figures: [Text; 5] =
        ["max", "mean", "mean |x|", "min", "std"],
        ["最大值", "均值", "|x| 的均值", "最小值", "标准差"];
    magnitudes = "Magnitudes", "数量级";
    /// Description of the picture: from, to.
    magnitudes_label: fn(&str, &str) -> String =
        |from, to| format!("Elements by magnitude, from {from} to {to}"),
        |from, to| format!("按数量级统计的元素个数，从 {from} 到 {to}");
    /// Number of enabled watchpoints.
    on: fn(u64) -> String =
        |count| format!("{} on", format::count(count)),
        |count| format!("{} 个启用", format::count(count));
    use_recommended = "Use the recommended set", "使用推荐监测点";
    /// Confirmation: for all runs, for this run alone.
    confirm_recommended: [Text; 2] =
        [
            "Replace the watchpoints of all runs of this folder by the recommended set?",
            "Replace the watchpoints of this run only by the recommended set?",
        ],
        ["该文件夹下所有训练的监测点将替换为推荐监测点。", "仅该训练的监测点将替换为推荐监测点。"];
    recheck = "Check all recorded steps again", "重新判断所有已记录的迭代";
    /// Progress of judging: elements judged, total.
    judging: fn(&str, &str) -> String =
        |done, all| format!("Checking: {done} of {all}"),
        |done, all| format!("正在判断：{done} / {all}");
    behind = "The files have grown; checking continues.", "文件有新增内容，正在判断。";
    add = "Add a watchpoint", "添加监测点";
    edit = "Edit the watchpoint", "编辑监测点";
    remove = "Remove", "移除";
    save = "Save", "保存";
    cancel = "Cancel", "取消";
    copy_toml = "Copy as TOML for CI", "复制为 CI 用的 TOML";
    copied = "Copied", "已复制";
    of_run = "This run only", "仅该训练";
    of_all = "Shared by this folder", "该文件夹共用";
    only_run = "Only this run", "仅该训练";
    use_those_of_all = "Use the watchpoints of the folder", "改用该文件夹的监测点";
    /// The file cannot be parsed: reason.
    broken: fn(&str) -> String =
        |reason| {
            format!(
                "watchpoints.toml is invalid and was left unchanged; the last valid version is used. {reason}"
            )
        },
        |reason| format!("watchpoints.toml 无效，未作修改；使用此前有效的版本。{reason}");
    conflict =
        "Someone else changed the watchpoints; their version is shown. Repeat your change if it is still needed: typed values are kept until you cancel.",
        "其他人刚刚修改了监测点，列表已是对方的内容。如仍需要，请重新修改；已输入的内容会保留，直到取消。";
    unreachable = "The server could not be reached; nothing was changed.", "无法连接服务器，未作修改。";
    /// Button below the others: watchpoints without hits.
    without_hits: fn(u64) -> String =
        |n| format!("{} without hits", format::count(n)),
        |n| format!("{} 个未命中", format::count(n));
    /// Of a watchpoint, by the key `tensors` or `exclude`: the names.
    only: fn(&str, &str) -> String =
        |key, names| match key {
            "exclude" => format!("not {names}"),
            _ => format!("only {names}"),
        },
        |key, names| match key {
            "exclude" => format!("排除 {names}"),
            _ => format!("仅 {names}"),
        };
    /// After a change of a switch: its watchpoint.
    switched: fn(&str) -> String = |title| format!("Changed: {title}"), |title| format!("已更改：{title}");
    undo = "Undo", "撤销";
    /// Label of a switch: its watchpoint.
    switch: fn(&str) -> String = |title| format!("On: {title}"), |title| format!("启用：{title}");
    find_condition = "Find a condition", "查找条件";
    recommended_mark = "recommended", "推荐";
    matters = "Why it matters", "为何重要";
    not_judged = "Not judged when", "以下情况不判断";
    severity_label = "Severity", "严重程度";
    /// Choice of severity: that of the condition.
    as_usual: fn(&str) -> String = |severity| format!("Default ({severity})"), |severity| format!("默认（{severity}）");
    limits = "Limits", "阈值";
    /// Around the limits: *Alert when …*.
    alert_when: [Text; 2] = ["Alert when", ""], ["当", "时告警"];
    /// Between two limits: any one is enough; all must hold.
    or_and: [Text; 2] = ["or", "and"], ["或", "且"];
    /// Before the first parameter that follows the limits, and before each further one.
    with_and: [Text; 2] = ["with", "and"], ["其中", "、"];
    /// A comparison, between quantity and limit.
    comparison: fn(Operator) -> Text =
        |operator| match operator {
            Operator::Above => "is above",
            Operator::AtLeast => "is at least",
            Operator::Below => "is below",
            Operator::AtMost => "is at most",
        },
        |operator| match operator {
            Operator::Above => "大于",
            Operator::AtLeast => "不小于",
            Operator::Below => "小于",
            Operator::AtMost => "不大于",
        };
    quantity = "Quantity", "统计量";
    comparison_label = "Comparison", "比较方式";
    add_clause = "+ or", "+ 或";
    /// Button: take a limit away.
    remove_clause: fn(&str) -> String = |limit| format!("Remove “{limit}”"), |limit| format!("移除“{limit}”");
    /// At a field: its value is not permitted.
    must_be: fn(ParameterKind) -> Text =
        |kind| match kind {
            ParameterKind::Finite => "must be a number",
            ParameterKind::NotNegative => "must be at least 0",
            ParameterKind::Positive => "must be above 0",
            ParameterKind::Percentage => "must be from 0 to 100",
            ParameterKind::Share => "must be from 0 to 1",
            ParameterKind::Count => "must be a whole number of at least 1",
            ParameterKind::Whole => "must be a whole number of at least 0",
            ParameterKind::Step => "must be a whole number",
            ParameterKind::Switch => "must be on or off",
            ParameterKind::Text | ParameterKind::Names => "must be text",
        },
        |kind| match kind {
            ParameterKind::Finite => "须为数字",
            ParameterKind::NotNegative => "须不小于 0",
            ParameterKind::Positive => "须大于 0",
            ParameterKind::Percentage => "须在 0 到 100 之间",
            ParameterKind::Share => "须在 0 到 1 之间",
            ParameterKind::Count => "须为不小于 1 的整数",
            ParameterKind::Whole => "须为不小于 0 的整数",
            ParameterKind::Step => "须为整数",
            ParameterKind::Switch => "须为开或关",
            ParameterKind::Text | ParameterKind::Names => "须为文本",
        };
    needs_limit = "enter a limit", "请填写阈值";
    advanced = "Advanced", "高级";
    which = "Scope", "范围";
    off = "off", "关闭";
    several = "comma-separated", "多个名称用逗号分隔";
    steps = "Steps, e.g. 10-200", "迭代范围，如 10-200";
    /// Below the field: the text is not a range.
    no_range: fn(&str) -> String =
        |text| format!("“{text}” is not a range of steps; all steps are shown. Examples: 10-200, 10-, 412"),
        |text| format!("“{text}”不是迭代范围，已显示全部迭代。示例：10-200、10-、412");
    /// Equal hits of several steps, by their first and last step and their number.
    series: fn(&str, u64) -> [String; 2] =
        |steps, count| [format!("steps {steps}"), format!("{} steps", format::count(count))],
        |steps, count| [format!("迭代 {steps}"), format!("{} 个迭代", format::count(count))];
    all_ranks = "all ranks", "所有 rank";
    back_to_hit = "Back to the hit", "返回命中";
    /// The link to the step in the timeline of a profile.
    in_timeline = "Show the step in the timeline", "在时间线中显示该迭代";
    over_steps = "Over steps", "随迭代变化";
    /// Description of the chart: from, to.
    over_steps_label: fn(&str, &str) -> String =
        |from, to| format!("max |x| and mean |x| from step {from} to {to}; click to choose a step"),
        |from, to| format!("迭代 {from} 至 {to} 的最大绝对值与平均绝对值；点击选择");
    /// Below the chart, if it leaves steps out: number of its steps.
    nearest_steps: fn(u64) -> String =
        |count| format!("The {} recorded steps nearest to this one.", format::count(count)),
        |count| format!("仅显示最近的 {} 个已记录迭代。", format::count(count));
    all_steps = "All steps", "全部迭代";
    source = "Source", "源码";
    around = "Around this tensor", "该张量的上下游";
    guessed = "in recording order: no graph connects them", "按记录顺序：没有计算图连接它们";
    /// Names of the two displays: as the graph, as tensors.
    around_as: [Text; 2] = ["Graph", "Tensors"], ["计算图", "张量"];
    /// Of a node of the graph: nothing was recorded; link to it.
    of_node: [Text; 2] = ["not recorded", "Open in graph"], ["没有记录其数据", "在计算图中打开"];
    upstream = "from", "上游";
    downstream = "to", "下游";
    next_hit = "next, previous hit", "下一个、上一个命中";
    next_step = "previous, next step of the tensor", "张量的上一个、下一个迭代";
    lost =
        "This hit no longer exists: its file was removed, or the watchpoints changed.",
        "该命中已不存在：其文件已删除，或监测点已更改。";
}
