//! The texts of the page of lineage, in both languages.

use trainscope_api::importance::{Measure, Reason};
use trainscope_api::table::{ColumnGroup, ColumnSource};
use trainscope_charts::parallel::LaneNames;

use crate::format;
use crate::i18n::Text;

texts! {
    LineageTexts

    model = "Model", "模型";
    dataset = "Dataset", "数据集";
    tab = "What is compared", "对比对象";
    lines = "Parallel coordinates", "平行坐标";
    table = "Runs", "训练";
    filter_placeholder = "lr:1e-4..1e-2, opt:adam, text", "lr:1e-4..1e-2、opt:adam、文本";
    keep_only = "Keep only these", "只保留这些";
    exclude = "Exclude", "排除";
    reset = "Reset", "重置";
    colour_by = "Colour by", "着色依据";
    by_run = "run", "训练";
    group_by = "Group by", "分组";
    group_offer = "All varying parameters but seeds, hosts and paths", "除种子、主机和路径外的全部变化参数";
    no_groups = "No groups", "不分组";
    group_rows = "Runs are one row if these agree", "下列参数相同的训练合为一行";
    pareto = "Pareto", "帕累托";
    pareto_hint = "Choose two or three results", "选择两个或三个结果";
    front = "front", "前沿";
    views = "Views", "视图";
    view_name = "Name of this view", "此视图的名称";
    save_view = "Save", "保存";
    export = "Export", "导出";
    best = "best", "最佳";
    /// The best result of a run with errors.
    best_with_errors = "best, errors", "最佳，有错误";
    all_values = "All values", "全部取值";
    sources_differ = "Sources of this value disagree", "该值的多个来源不一致";
    axis_menu = "drag to move, click for options", "拖动可移动，点击查看更多";
    linear = "Linear", "线性";
    log = "Logarithmic", "对数";
    symlog = "Symmetric logarithmic", "对称对数";
    shown_together = "Merge with", "合并显示到";
    apart: fn(&str) -> String = |key| format!("Separate {key}"), |key| format!("单独显示 {key}");
    summary = "Value of the curve", "曲线取值";
    upside_down = "Invert axis", "反转坐标轴";
    colour_by_this = "Colour by this", "按此着色";
    remove = "Remove", "移除";
    find_column = "Find a column", "查找列";
    no_row = "The server has no values of this run.", "服务器没有该训练的取值。";
    what_moves = "What affects", "影响因素：";
    target = "Result", "结果";
    measure_label = "Measure of importance", "重要性度量";
    goal = "Better end", "更优方向";
    less = "lower is better", "越小越好";
    more = "higher is better", "越大越好";
    computing = "Computing …", "计算中……";
    no_importance =
        "The importances could not be computed. The scatter plots and the table stay.",
        "无法计算重要性；散点图和表格不受影响。";
    pairs = "Interactions", "交互作用";
    kind = "Kind", "类别";
    runs = "Runs", "训练";
    removed = "removed", "已移除";
    base = "base", "基线";
    as_base = "as base", "设为基线";
    keep_kind = "Keep the runs of this kind", "保留该类别的训练";
    open_pipelines = "Open both pipelines", "打开两条数据流水线";
    no_pipelines = "No data pipeline was recorded", "没有记录数据流水线";
    no_pipelines_next =
        "MindSpore's SummaryCollector records it by itself; collectors of trainscope record it with `dataset`.",
        "MindSpore 的 SummaryCollector 会自动记录；trainscope 的采集器用 `dataset` 记录。";
    failed = "The table of runs could not be read", "无法读取训练表";
    failed_next =
        "The server did not answer. What is shown comes back with the connection.",
        "服务器没有应答；连接恢复后内容会重新显示。";
    no_runs = "No runs yet", "还没有训练";
    no_runs_next =
        "As soon as two trainings have written files, their parameters and results are compared here.",
        "两个训练写出文件后，这里会对比它们的参数和结果。";
    one_run =
        "There is only one run. Record a second one, or remove a filter.",
        "只有一个训练，没有可对比的对象。请再记录一个训练，或取消筛选。";
    no_parameters = "No run has a parameter", "没有训练记录了参数";
    no_parameters_next =
        "One of these lines records them; a configuration file in the folder of a run is read too.",
        "下列任一行即可记录参数；训练文件夹中的配置文件也会被读取。";
    /// Names of lanes next to axes.
    lanes: LaneNames =
        LaneNames {
            missing: "no value",
            text: "text",
        },
        LaneNames {
            missing: "无值",
            text: "文本",
        };
    /// Number of files that cannot be read, and of values and columns beyond a limit.
    unread: fn(u64) -> String = |count| format!("{count} not read"), |count| format!("{count} 项未读取");
    /// Number of configuration files.
    files_unread: fn(u64) -> String =
        |count| format!("more configuration files that cannot be read: {count}"),
        |count| format!("另有 {count} 个配置文件无法读取");
    /// Number of values.
    values_left_out: fn(u64) -> String =
        |count| format!("values cut or left out, as too long, too many, or too deep in a file: {count}"),
        |count| format!("{count} 个值被截断或略去：过长、过多或在文件中嵌套过深");
    /// Number of columns.
    columns_left_out: fn(u64) -> String =
        |count| format!("columns left out, which few runs have: {count}"),
        |count| format!("略去 {count} 列，只有少数训练含有它们");
    of_kept = "Only of the kept runs", "仅针对保留的训练";
    /// Rows that pass, of all.
    kept: fn(u64, u64) -> String =
        |kept, all| format!("{} of {} kept", format::count(kept), format::count(all)),
        |kept, all| format!("保留 {} / {}", format::count(kept), format::count(all));
    none_kept = "No run matches the filter and all brushes.", "没有训练同时符合筛选条件和所有刷选范围。";
    /// Description of the lines: all rows, kept ones, the first one.
    picture: fn(u64, u64, &str) -> String =
        |all, kept, best| format!("{} runs, {} kept; first {best}", format::count(all), format::count(kept)),
        |all, kept, best| format!("共 {} 个训练，保留 {} 个；首位 {best}", format::count(all), format::count(kept));
    /// Name of a column.
    remove_brush: fn(&str) -> String =
        |name| format!("Remove the brush of {name}"),
        |name| format!("清除 {name} 的刷选");
    /// Name of a view.
    remove_view: fn(&str) -> String = |name| format!("Remove the view {name}"), |name| format!("删除视图 {name}");
    /// Minimum and maximum number of runs of a group.
    grouped: fn(u64, u64) -> String =
        |least, most| {
            if least == most {
                format!("grouped: {least} runs each")
            } else {
                format!("grouped: {least} to {most} runs each")
            }
        },
        |least, most| {
            if least == most {
                format!("已分组：每组 {least} 个训练")
            } else {
                format!("已分组：每组 {least} 至 {most} 个训练")
            }
        };
    /// Number of runs with NaN.
    with_nan: fn(u64) -> String =
        |runs| { if runs == 1 { "1 run with NaN".to_owned() } else { format!("{runs} runs with NaN") } },
        |runs| format!("{runs} 个训练含 NaN");
    /// Number of columns with one value; with the flag they are shown.
    equal_columns: fn(u64, bool) -> String =
        |count, shown| {
            if shown {
                format!("Hide {} equal columns", format::count(count))
            } else {
                format!(
                    "{} equal columns hidden: show them with their values",
                    format::count(count)
                )
            }
        },
        |count, shown| {
            if shown {
                format!("隐藏 {} 个取值相同的列", format::count(count))
            } else {
                format!(
                    "已隐藏 {} 个取值相同的列：显示它们及其取值",
                    format::count(count)
                )
            }
        };
    /// Number of values of one column in one run.
    values: fn(u64) -> String = |count| format!("{count} values"), |count| format!("{count} 个值");
    /// Names of columns that divide the runs equally.
    same_as: fn(&str) -> String = |names| format!("same as {names}"), |names| format!("与 {names} 相同");
    /// Number of parameters.
    without_bar: fn(u64) -> String =
        |count| {
            if count == 1 {
                "1 parameter without a bar".to_owned()
            } else {
                format!("{count} parameters without a bar")
            }
        },
        |count| format!("{count} 个参数没有重要性");
    /// Names of a parameter and of the result.
    against: fn(&str, &str) -> String = |x, y| format!("{x} against {y}"), |x, y| format!("{x} 与 {y}");
    /// Names of the result and of two parameters.
    by_both: fn(&str, &str, &str) -> String =
        |target, a, b| format!("{target} by {a} and {b}: mean of the forest"),
        |target, a, b| format!("{target} 随 {a} 和 {b} 变化：随机森林均值");
    /// Name of the result.
    histogram: fn(&str) -> String = |name| format!("{name} of all runs"), |name| format!("全部训练的 {name}");
    /// Number of runs.
    without_pipeline: fn(u64) -> String =
        |runs| {
            if runs == 1 {
                "1 run without a recorded pipeline.".to_owned()
            } else {
                format!("{} runs without a recorded pipeline.", format::count(runs))
            }
        },
        |runs| format!("{} 个训练没有记录数据流水线。", format::count(runs));
    /// The best result.
    best_of: fn(&str) -> String = |value| format!("best {value}"), |value| format!("最佳 {value}");
    /// Caption over columns.
    group: fn(ColumnGroup) -> Text =
        |group| match group {
            ColumnGroup::Parameter => "Hyper-parameters",
            ColumnGroup::Data => "Dataset",
            ColumnGroup::Result => "Results",
            ColumnGroup::Run => "Run",
            ColumnGroup::Note => "Notes",
        },
        |group| match group {
            ColumnGroup::Parameter => "超参数",
            ColumnGroup::Data => "数据集",
            ColumnGroup::Result => "结果",
            ColumnGroup::Run => "训练",
            ColumnGroup::Note => "备注",
        };
    /// Measure of importance; `None` is chosen by the number of runs.
    measure: fn(Option<Measure>) -> Text =
        |measure| match measure {
            None => "automatic",
            Some(Measure::Variance) => "share of variance",
            Some(Measure::BestTenth) => "being in the top 10 %",
            Some(Measure::Rank) => "rank correlation",
            Some(Measure::Linear) => "linear correlation",
        },
        |measure| match measure {
            None => "自动",
            Some(Measure::Variance) => "方差占比",
            Some(Measure::BestTenth) => "进入前 10 %",
            Some(Measure::Rank) => "秩相关",
            Some(Measure::Linear) => "线性相关",
        };
    /// Reason of a missing bar.
    reason: fn(Reason) -> Text =
        |reason| match reason {
            Reason::Constant => "constant",
            Reason::NamesEachRun => "names each run",
            Reason::NoNumber => "no number",
            Reason::TooFewRuns => "too few runs",
            Reason::BeyondLimit => "beyond the limit of parameters",
        },
        |reason| match reason {
            Reason::Constant => "取值相同",
            Reason::NamesEachRun => "各训练均不相同",
            Reason::NoNumber => "不是数值",
            Reason::TooFewRuns => "训练太少",
            Reason::BeyondLimit => "超出参数数量上限",
        };
    /// Source of a value.
    source: fn(&ColumnSource) -> Text =
        |source| match source {
            ColumnSource::Hparams => "hyper-parameters",
            ColumnSource::Lineage => "lineage",
            ColumnSource::Configuration(_) => "configuration file",
            ColumnSource::Program => "the program",
            ColumnSource::Scalars => "scalars",
            ColumnSource::Files => "files",
            ColumnSource::Judgement => "watchpoints",
            ColumnSource::Notes => "notes",
        },
        |source| match source {
            ColumnSource::Hparams => "超参数记录",
            ColumnSource::Lineage => "溯源记录",
            ColumnSource::Configuration(_) => "配置文件",
            ColumnSource::Program => "程序",
            ColumnSource::Scalars => "标量",
            ColumnSource::Files => "文件",
            ColumnSource::Judgement => "监测点",
            ColumnSource::Notes => "备注",
        };
}
