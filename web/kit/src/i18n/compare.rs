//! The texts of the page of comparisons, in both languages.

use crate::format;
use crate::i18n::Text;

texts! {
    CompareTexts

    /// Tabs: summary, scalars, tensors, findings, graph, data, configuration.
    tabs: [Text; 7] =
        ["Summary", "Scalars", "Tensors", "Findings", "Graph", "Data", "Configuration"],
        ["概要", "标量", "张量", "命中", "计算图", "数据", "配置"];
    /// Points of the comparison: step, samples, epoch, time.
    aligns: [Text; 4] = ["step", "samples", "epoch", "time"], ["迭代", "样本数", "轮次", "时间"];
    align = "Align by", "对齐方式";
    tolerance = "Tolerance", "容差";
    relative = "relative", "相对";
    since = "from step", "起始迭代";
    base = "baseline", "基线";
    swap = "Swap both runs", "交换两个训练";
    add = "Add run", "添加训练";
    /// Takes a run out of the comparison.
    remove: fn(&str) -> String = |run| format!("Remove {run}"), |run| format!("移除 {run}");
    make_base: fn(&str) -> String = |run| format!("Make {run} the baseline"), |run| format!("以 {run} 为基线");
    choose = "Choose two runs", "选择两个训练";
    choose_next = "Choose a baseline, then a run to compare with it.", "先选择基线，再选择与其对比的训练。";
    /// Title and sentence with a baseline.
    choose_other = "Choose a run to compare", "选择要对比的训练";
    choose_other_next =
        "Runs with the same tags, of the same folder and with the most similar settings come first.",
        "标签相同、位于同一文件夹且设置最相近的训练排在最前。";
    /// Number of settings in which a run differs.
    differing: fn(u64) -> String =
        |count| match count {
            0 => "same settings".to_owned(),
            1 => "1 setting differs".to_owned(),
            count => format!("{} settings differ", format::count(count)),
        },
        |count| match count {
            0 => "设置相同".to_owned(),
            count => format!("{} 项设置不同", format::count(count)),
        };
    alone = "One run has nothing to be compared with", "只有一个训练，无从对比";
    alone_next =
        "Record a second run below the same folder, or start the server with the folder above both.",
        "请在同一文件夹下再记录一个训练，或以两者的上级文件夹启动服务器。";
    /// Too many runs to show at a time: all, shown.
    many: fn(usize, usize) -> String =
        |all, shown| format!("{all} runs: compare {shown} at a time; the first {shown} are shown."),
        |all, shown| format!("共 {all} 个训练：一次对比 {shown} 个，现显示前 {shown} 个。");
    in_lineage = "See all of them in Lineage", "在“溯源”页查看全部";
    open_both: fn(&str) -> String = |step| format!("Open both at step {step}"), |step| format!("打开两者的迭代 {step}");
    /// Bytes read, of all.
    reading: fn(&str, &str) -> String =
        |done, all| format!("{done} of {all} read"),
        |done, all| format!("已读取 {done}，共 {all}");
    read_all = "Read all tensors", "读取全部张量";
    partings_first_step = "Tensors after that step are not read yet.", "该迭代之后的张量尚未读取。";
    map = "Where they differ", "差异分布";
    map_beside = "relative difference, data-flow order × steps", "相对差异，数据流顺序 × 迭代";
    map_empty = "No tensor or scalar matches.", "没有匹配的张量或标量。";
    map_cell: fn(&str, &str, &str) -> String =
        |name, step, difference| format!("{name} at step {step}: {difference}"),
        |name, step, difference| format!("{name}，迭代 {step}：{difference}");
    /// Cells: absent, unread, other shape, unreadable.
    gaps: [Text; 4] =
        ["not recorded", "not read yet", "other shape", "cannot be read"],
        ["未记录", "尚未读取", "形状不同", "无法读取"];
    by_statistics = "(from statistics)", "（按统计量）";
    map_more: fn(u64, u64) -> String =
        |shown, all| format!("{} of {} rows", format::count(shown), format::count(all)),
        |shown, all| format!("{} 行，共 {} 行", format::count(shown), format::count(all));
    configuration = "Configuration", "配置";
    /// Settings that differ, and all.
    differ: fn(u64, u64) -> String =
        |differ, all| format!("{} of {} differ", format::count(differ), format::count(all)),
        |differ, all| format!("{} 项中 {} 项不同", format::count(all), format::count(differ));
    key = "Key", "名称";
    equal_more: fn(u64) -> String =
        |count| format!("{} more, all equal", format::count(count)),
        |count| format!("另有 {} 项相同", format::count(count));
    all_equal = "All settings are equal.", "所有设置均相同。";
    missing = "missing", "无";
    paths_differ: fn(u64) -> String =
        |count| match count {
            1 => "1 path differs".to_owned(),
            count => format!("{} paths differ", format::count(count)),
        },
        |count| format!("{} 个路径不同", format::count(count));
    no_settings = "No settings were recorded.", "未记录任何设置。";
    /// Groups of settings: parameters, data, results.
    groups: [Text; 3] = ["Parameters", "Data", "Results"], ["参数", "数据", "结果"];
    same_file = "The files are equal.", "文件相同。";
    graph = "Graph", "计算图";
    /// Nodes of both.
    nodes: fn(u64, u64) -> String =
        |a, b| format!("{} and {} nodes", format::count(a), format::count(b)),
        |a, b| format!("{} 和 {} 个节点", format::count(a), format::count(b));
    /// Number and type of nodes in a run only.
    only_nodes: fn(&str, &str) -> String =
        |nodes, run| format!("{nodes} only in {run}"),
        |nodes, run| format!("{nodes} 仅在 {run} 中");
    changed_nodes: fn(u64) -> String =
        |count| match count {
            1 => "1 node differs".to_owned(),
            count => format!("{} nodes differ", format::count(count)),
        },
        |count| format!("{} 个节点不同", format::count(count));
    same_graph = "Both graphs are equal.", "两个计算图相同。";
    order: fn(u64) -> String =
        |count| match count {
            1 => "topological order, 1 node a cell".to_owned(),
            count => format!("topological order, {count} nodes a cell"),
        },
        |count| format!("拓扑顺序，每格 {count} 个节点");
    /// Ends of the strip.
    ends: [Text; 2] = ["in", "loss"], ["输入", "损失"];
    open_graph = "Open the graphs side by side", "并排打开两个计算图";
    /// Limit of nodes.
    large_graph: fn(u64) -> String =
        |limit| format!("Too large to be compared: the limit is {} nodes.", format::count(limit)),
        |limit| format!("计算图过大，无法对比：上限为 {} 个节点。", format::count(limit));
    no_graph = "One of the runs has no graph.", "其中一个训练没有计算图。";
    first_parting = "First differences", "首次出现差异";
    step = "Step", "迭代";
    tensor = "Tensor or scalar", "张量或标量";
    difference = "Difference", "差异";
    nothing_parts = "No differences.", "没有差异。";
    scalar = "Scalar", "标量";
    points = "Points", "点数";
    parts = "Differs from step", "差异起始迭代";
    /// A run minus another one.
    minus: fn(&str, &str) -> String = |one, other| format!("{one} − {other}"), |one, other| format!("{one} − {other}");
    never = "never", "从不";
    /// Names in a run only.
    only_in: fn(&str, u64) -> String =
        |run, count| format!("Only in {run}: {}", format::count(count)),
        |run, count| format!("仅在 {run} 中：{}", format::count(count));
    no_scalars = "The runs have no scalar in common.", "两个训练没有相同的标量。";
    judging = "Hits are compared when both runs are checked.", "两个训练检查完毕后即可对比。";
    /// Findings in the base only, in the other run only, in both.
    findings: fn(&[String; 3]) -> String =
        |[base, other, both]| format!("only in the baseline: {base}; only in the other run: {other}; in both: {both}"),
        |[base, other, both]| format!("仅在基线：{base}；仅在另一训练：{other}；两者都有：{both}");
    finding = "Finding", "命中";
    no_findings = "No watchpoint has hit in either run.", "两个训练均没有监测点命中。";
    operation = "Operation", "操作";
    parameter = "Parameter", "参数";
    no_pipeline = "One of the runs has not recorded its data pipeline.", "其中一个训练未记录数据流水线。";
    same_pipeline = "Both pipelines are equal.", "两个数据流水线相同。";
    only_there = "only in this run", "仅在此训练中";
    open_pipeline = "Open the data pipeline", "打开数据流水线";
    statistic = "Statistic", "统计量";
    /// Statistics: mean, deviation, norm, minimum, maximum, NaN, ∞, zero.
    statistics: [Text; 8] =
        ["mean", "std", "L2 norm", "min", "max", "NaN", "±∞", "zero"],
        ["均值", "标准差", "L2 范数", "最小值", "最大值", "NaN", "±∞", "零"];
    no_elements =
        "No elements to compare: one of the runs recorded statistics only.",
        "没有可对比的元素：其中一个训练只记录了统计量。";
    histogram = "Histogram", "直方图";
    search = "Filter tensors", "筛选张量";
    all_roles = "All", "全部";
    download = "Download", "下载";
    faults: fn(u64) -> String =
        |count| match count {
            1 => "1 file or tensor could not be compared".to_owned(),
            count => format!(
                "{} files or tensors could not be compared",
                format::count(count)
            ),
        },
        |count| format!("{} 个文件或张量无法对比", format::count(count));
    compare_with = "Compare with…", "与…对比";
    compare_selected = "Compare", "对比";
}
