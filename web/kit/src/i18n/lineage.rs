//! The texts of the page of lineage, in both languages.

use trainscope_api::importance::{Measure, Reason};
use trainscope_api::table::{ColumnGroup, ColumnSource};
use trainscope_charts::parallel::LaneNames;

use crate::format;

pub struct LineageTexts {
    pub title: &'static str,
    pub model: &'static str,
    pub dataset: &'static str,
    pub tab: &'static str,
    pub lines: &'static str,
    pub table: &'static str,
    pub filter_placeholder: &'static str,
    pub keep_only: &'static str,
    pub exclude: &'static str,
    pub reset: &'static str,
    pub colour_by: &'static str,
    pub by_run: &'static str,
    pub group_by: &'static str,
    pub group_offer: &'static str,
    pub no_groups: &'static str,
    pub group_rows: &'static str,
    pub pareto: &'static str,
    pub pareto_hint: &'static str,
    pub front: &'static str,
    pub views: &'static str,
    pub view_name: &'static str,
    pub save_view: &'static str,
    pub export: &'static str,
    pub best: &'static str,
    /// The best result of a run with errors.
    pub best_with_errors: &'static str,
    pub all_values: &'static str,
    pub sources_differ: &'static str,
    pub axis_menu: &'static str,
    pub linear: &'static str,
    pub log: &'static str,
    pub symlog: &'static str,
    pub shown_together: &'static str,
    pub apart: fn(&str) -> String,
    pub summary: &'static str,
    pub upside_down: &'static str,
    pub colour_by_this: &'static str,
    pub remove: &'static str,
    pub find_column: &'static str,
    pub no_row: &'static str,
    pub what_moves: &'static str,
    pub target: &'static str,
    pub measure_label: &'static str,
    pub goal: &'static str,
    pub less: &'static str,
    pub more: &'static str,
    pub computing: &'static str,
    pub no_importance: &'static str,
    pub pairs: &'static str,
    pub kind: &'static str,
    pub runs: &'static str,
    pub removed: &'static str,
    pub base: &'static str,
    pub as_base: &'static str,
    pub keep_kind: &'static str,
    pub open_pipelines: &'static str,
    pub no_pipelines: &'static str,
    pub no_pipelines_next: &'static str,
    pub failed: &'static str,
    pub failed_next: &'static str,
    pub no_runs: &'static str,
    pub no_runs_next: &'static str,
    pub one_run: &'static str,
    pub no_parameters: &'static str,
    pub no_parameters_next: &'static str,
    /// Names of lanes beside axes.
    pub lanes: LaneNames,
    /// Number of files that cannot be read, and of values and columns beyond a limit.
    pub unread: fn(u64) -> String,
    /// Number of configuration files.
    pub files_unread: fn(u64) -> String,
    /// Number of values.
    pub values_left_out: fn(u64) -> String,
    /// Number of columns.
    pub columns_left_out: fn(u64) -> String,
    pub of_kept: &'static str,
    /// Rows that pass, of all.
    pub kept: fn(u64, u64) -> String,
    pub none_kept: &'static str,
    /// Description of the lines: all rows, kept ones, the first one.
    pub picture: fn(u64, u64, &str) -> String,
    /// Name of a column.
    pub remove_brush: fn(&str) -> String,
    /// Name of a view.
    pub remove_view: fn(&str) -> String,
    /// Least and greatest number of runs of a group.
    pub grouped: fn(u64, u64) -> String,
    /// Number of runs with NaN.
    pub with_nan: fn(u64) -> String,
    /// Number of columns with one value; with the flag they are shown.
    pub equal_columns: fn(u64, bool) -> String,
    /// Number of values of one column in one run.
    pub values: fn(u64) -> String,
    /// Names of columns that divide the runs equally.
    pub same_as: fn(&str) -> String,
    /// Number of parameters.
    pub without_bar: fn(u64) -> String,
    /// Names of a parameter and of the result.
    pub against: fn(&str, &str) -> String,
    /// Names of the result and of two parameters.
    pub by_both: fn(&str, &str, &str) -> String,
    /// Name of the result.
    pub histogram: fn(&str) -> String,
    /// Number of runs.
    pub without_pipeline: fn(u64) -> String,
    /// The best result.
    pub best_of: fn(&str) -> String,
    /// Caption over columns.
    pub group: fn(ColumnGroup) -> &'static str,
    /// Measure of importance; none is chosen by the number of runs.
    pub measure: fn(Option<Measure>) -> &'static str,
    /// Reason of a missing bar.
    pub reason: fn(Reason) -> &'static str,
    /// Source of a value.
    pub source: fn(&ColumnSource) -> &'static str,
    /// Effects of the keys of the registry, in their order.
    pub keys: [&'static str; 17],
}

pub const EN: LineageTexts = LineageTexts {
    title: "Lineage",
    model: "Model",
    dataset: "Dataset",
    tab: "What is compared",
    lines: "Parallel coordinates",
    table: "Runs",
    filter_placeholder: "lr:1e-4..1e-2, opt:adam, text",
    keep_only: "Keep only these",
    exclude: "Exclude",
    reset: "Reset",
    colour_by: "Colour by",
    by_run: "run",
    group_by: "Group by",
    group_offer: "All varying parameters but seeds, hosts and paths",
    no_groups: "No groups",
    group_rows: "Runs are one row if these agree",
    pareto: "Pareto",
    pareto_hint: "Choose two or three results",
    front: "front",
    views: "Views",
    view_name: "Name of this view",
    save_view: "Save",
    export: "Export",
    best: "best",
    best_with_errors: "best, errors",
    all_values: "All values",
    sources_differ: "Sources of this value disagree",
    axis_menu: "drag to move, click for options",
    linear: "Linear",
    log: "Logarithmic",
    symlog: "Symmetric logarithmic",
    shown_together: "Merge with",
    apart: |key| format!("Separate {key}"),
    summary: "Value of the curve",
    upside_down: "Invert axis",
    colour_by_this: "Colour by this",
    remove: "Remove",
    find_column: "Find a column",
    no_row: "The server has no values of this run.",
    what_moves: "What affects",
    target: "Result",
    measure_label: "Measure of importance",
    goal: "Better end",
    less: "lower is better",
    more: "higher is better",
    computing: "Computing …",
    unread: |count| format!("{count} not read"),
    files_unread: |count| format!("more configuration files that cannot be read: {count}"),
    values_left_out: |count| {
        format!("values cut or left out, as too long, too many, or too deep in a file: {count}")
    },
    columns_left_out: |count| format!("columns left out, which few runs have: {count}"),
    of_kept: "Only of the kept runs",
    no_importance: "The importances could not be computed. The scatter plots and the table stay.",
    pairs: "Interactions",
    kind: "Kind",
    runs: "Runs",
    removed: "removed",
    base: "base",
    as_base: "as base",
    keep_kind: "Keep the runs of this kind",
    open_pipelines: "Open both pipelines",
    no_pipelines: "No data pipeline was recorded",
    no_pipelines_next: "MindSpore's SummaryCollector records it by itself; collectors of trainscope record it with `dataset`.",
    failed: "The table of runs could not be read",
    failed_next: "The server did not answer. What is shown comes back with the connection.",
    no_runs: "No runs yet",
    no_runs_next: "As soon as two trainings have written files, their parameters and results are compared here.",
    one_run: "There is only one run. Record a second one, or remove a filter.",
    no_parameters: "No run has a parameter",
    no_parameters_next: "One of these lines records them; a configuration file in the folder of a run is read too.",
    lanes: LaneNames {
        missing: "no value",
        text: "text",
    },
    kept: |kept, all| format!("{} of {} kept", format::count(kept), format::count(all)),
    none_kept: "No run matches the filter and all brushes.",
    picture: |all, kept, best| {
        format!(
            "{} runs, {} kept; first {best}",
            format::count(all),
            format::count(kept)
        )
    },
    remove_brush: |name| format!("Remove the brush of {name}"),
    remove_view: |name| format!("Remove the view {name}"),
    grouped: |least, most| {
        if least == most {
            format!("grouped: {least} runs each")
        } else {
            format!("grouped: {least} to {most} runs each")
        }
    },
    with_nan: |runs| {
        if runs == 1 {
            "1 run with NaN".to_owned()
        } else {
            format!("{runs} runs with NaN")
        }
    },
    equal_columns: |count, shown| {
        if shown {
            format!("Hide {} equal columns", format::count(count))
        } else {
            format!(
                "{} equal columns hidden: show them with their values",
                format::count(count)
            )
        }
    },
    values: |count| format!("{count} values"),
    same_as: |names| format!("same as {names}"),
    without_bar: |count| {
        if count == 1 {
            "1 parameter without a bar".to_owned()
        } else {
            format!("{count} parameters without a bar")
        }
    },
    against: |x, y| format!("{x} against {y}"),
    by_both: |target, a, b| format!("{target} by {a} and {b}: mean of the forest"),
    histogram: |name| format!("{name} of all runs"),
    without_pipeline: |runs| {
        if runs == 1 {
            "1 run without a recorded pipeline.".to_owned()
        } else {
            format!("{} runs without a recorded pipeline.", format::count(runs))
        }
    },
    best_of: |value| format!("best {value}"),
    group: |group| match group {
        ColumnGroup::Parameter => "Hyper-parameters",
        ColumnGroup::Data => "Dataset",
        ColumnGroup::Result => "Results",
        ColumnGroup::Run => "Run",
        ColumnGroup::Note => "Notes",
    },
    measure: |measure| match measure {
        None => "automatic",
        Some(Measure::Variance) => "share of variance",
        Some(Measure::BestTenth) => "being in the top 10 %",
        Some(Measure::Rank) => "rank correlation",
        Some(Measure::Linear) => "linear correlation",
    },
    reason: |reason| match reason {
        Reason::Constant => "constant",
        Reason::NamesEachRun => "names each run",
        Reason::NoNumber => "no number",
        Reason::TooFewRuns => "too few runs",
        Reason::BeyondLimit => "beyond the limit of parameters",
    },
    source: |source| match source {
        ColumnSource::Hparams => "hyper-parameters",
        ColumnSource::Lineage => "lineage",
        ColumnSource::Configuration(_) => "configuration file",
        ColumnSource::Program => "the program",
        ColumnSource::Scalars => "scalars",
        ColumnSource::Files => "files",
        ColumnSource::Judgement => "watchpoints",
        ColumnSource::Notes => "notes",
    },
    keys: [
        "next, previous run",
        "select the run",
        "open the run; keep only the brushed ones",
        "compare the selected runs",
        "scalars of the selected runs",
        "all values of the run",
        "hide the run",
        "tag; note",
        "next, previous axis",
        "move the axis",
        "move the brush",
        "resize the brush",
        "new brush; remove the axis",
        "logarithmic; invert axis",
        "colour by the axis",
        "remove all brushes",
        "table as CSV",
    ],
};

pub const ZH: LineageTexts = LineageTexts {
    title: "溯源",
    model: "模型",
    dataset: "数据集",
    tab: "比较对象",
    lines: "平行坐标",
    table: "训练",
    filter_placeholder: "lr:1e-4..1e-2、opt:adam、文本",
    keep_only: "只保留这些",
    exclude: "排除",
    reset: "重置",
    colour_by: "着色依据",
    by_run: "训练",
    group_by: "分组",
    group_offer: "除种子、主机和路径外的全部变化参数",
    no_groups: "不分组",
    group_rows: "下列参数相同的训练合为一行",
    pareto: "帕累托",
    pareto_hint: "选择两个或三个结果",
    front: "前沿",
    views: "视图",
    view_name: "此视图的名称",
    save_view: "保存",
    export: "导出",
    best: "最佳",
    best_with_errors: "最佳，有错误",
    all_values: "全部取值",
    sources_differ: "该值的多个来源不一致",
    axis_menu: "拖动可移动，点击查看更多",
    linear: "线性",
    log: "对数",
    symlog: "对称对数",
    shown_together: "合并显示到",
    apart: |key| format!("单独显示 {key}"),
    summary: "曲线取值",
    upside_down: "反转坐标轴",
    colour_by_this: "按此着色",
    remove: "移除",
    find_column: "查找列",
    no_row: "服务器没有该训练的取值。",
    what_moves: "影响因素：",
    target: "结果",
    measure_label: "重要性度量",
    goal: "更优方向",
    less: "越小越好",
    more: "越大越好",
    computing: "计算中……",
    unread: |count| format!("{count} 项未读取"),
    files_unread: |count| format!("另有 {count} 个配置文件无法读取"),
    values_left_out: |count| format!("{count} 个值被截断或略去：过长、过多或在文件中嵌套过深"),
    columns_left_out: |count| format!("略去 {count} 列，只有少数训练含有它们"),
    of_kept: "仅针对保留的训练",
    no_importance: "无法计算重要性；散点图和表格不受影响。",
    pairs: "交互作用",
    kind: "类别",
    runs: "训练",
    removed: "已移除",
    base: "基线",
    as_base: "设为基线",
    keep_kind: "保留该类别的训练",
    open_pipelines: "打开两条数据流水线",
    no_pipelines: "没有记录数据流水线",
    no_pipelines_next: "MindSpore 的 SummaryCollector 会自动记录；trainscope 的采集器用 `dataset` 记录。",
    failed: "无法读取训练表",
    failed_next: "服务器没有应答；连接恢复后内容会重新显示。",
    no_runs: "还没有训练",
    no_runs_next: "两个训练写出文件后，这里会比较它们的参数和结果。",
    one_run: "只有一个训练，没有可比较的对象。请再记录一个训练，或取消筛选。",
    no_parameters: "没有训练记录了参数",
    no_parameters_next: "下列任一行即可记录参数；训练文件夹中的配置文件也会被读取。",
    lanes: LaneNames {
        missing: "无值",
        text: "文本",
    },
    kept: |kept, all| format!("保留 {} / {}", format::count(kept), format::count(all)),
    none_kept: "没有训练同时符合筛选条件和所有刷选范围。",
    picture: |all, kept, best| {
        format!(
            "共 {} 个训练，保留 {} 个；首位 {best}",
            format::count(all),
            format::count(kept)
        )
    },
    remove_brush: |name| format!("清除 {name} 的刷选"),
    remove_view: |name| format!("删除视图 {name}"),
    grouped: |least, most| {
        if least == most {
            format!("已分组：每组 {least} 个训练")
        } else {
            format!("已分组：每组 {least} 至 {most} 个训练")
        }
    },
    with_nan: |runs| format!("{runs} 个训练含 NaN"),
    equal_columns: |count, shown| {
        if shown {
            format!("隐藏 {} 个取值相同的列", format::count(count))
        } else {
            format!(
                "已隐藏 {} 个取值相同的列：显示它们及其取值",
                format::count(count)
            )
        }
    },
    values: |count| format!("{count} 个值"),
    same_as: |names| format!("与 {names} 相同"),
    without_bar: |count| format!("{count} 个参数没有重要性"),
    against: |x, y| format!("{x} 与 {y}"),
    by_both: |target, a, b| format!("{target} 随 {a} 和 {b} 变化：随机森林均值"),
    histogram: |name| format!("全部训练的 {name}"),
    without_pipeline: |runs| format!("{} 个训练没有记录数据流水线。", format::count(runs)),
    best_of: |value| format!("最佳 {value}"),
    group: |group| match group {
        ColumnGroup::Parameter => "超参",
        ColumnGroup::Data => "数据集",
        ColumnGroup::Result => "结果",
        ColumnGroup::Run => "训练",
        ColumnGroup::Note => "备注",
    },
    measure: |measure| match measure {
        None => "自动",
        Some(Measure::Variance) => "方差占比",
        Some(Measure::BestTenth) => "进入前 10 %",
        Some(Measure::Rank) => "秩相关",
        Some(Measure::Linear) => "线性相关",
    },
    reason: |reason| match reason {
        Reason::Constant => "取值相同",
        Reason::NamesEachRun => "各训练均不相同",
        Reason::NoNumber => "不是数值",
        Reason::TooFewRuns => "训练太少",
        Reason::BeyondLimit => "超出参数数量上限",
    },
    source: |source| match source {
        ColumnSource::Hparams => "超参记录",
        ColumnSource::Lineage => "溯源记录",
        ColumnSource::Configuration(_) => "配置文件",
        ColumnSource::Program => "程序",
        ColumnSource::Scalars => "标量",
        ColumnSource::Files => "文件",
        ColumnSource::Judgement => "监测点",
        ColumnSource::Notes => "备注",
    },
    keys: [
        "下一个、上一个训练",
        "选中该训练",
        "打开该训练；只保留刷选的训练",
        "对比所选训练",
        "所选训练的标量",
        "该训练的全部取值",
        "隐藏该训练",
        "标签；备注",
        "下一个、上一个坐标轴",
        "移动坐标轴",
        "移动刷选范围",
        "调整刷选范围",
        "新建刷选；移除坐标轴",
        "对数刻度；反转坐标轴",
        "按该坐标轴着色",
        "清除全部刷选",
        "将表格导出为 CSV",
    ],
};
