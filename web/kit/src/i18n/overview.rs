//! The texts of the overview of a run, in both languages.

use trainscope_api::findings::Counts;

use crate::format;

/// Texts of the run overview.
pub struct OverviewTexts {
    pub title: &'static str,
    pub open_debugger: &'static str,
    pub show_scalars: &'static str,
    /// Link to the step of the first cause; the argument is a number.
    pub at_step: fn(&str) -> String,
    pub colon: &'static str,
    pub semicolon: &'static str,
    pub comma: &'static str,
    pub gap: &'static str,
    /// Findings by severity, and the number of watchpoints that reported them.
    pub hits: fn(Counts, u64) -> String,
    /// A scalar that is not finite from a step to the end: tag, class, step.
    pub stays: fn(&str, &str, &str) -> String,
    pub behind: &'static str,
    pub guide: &'static str,
    pub guide_order: &'static str,
    /// Rules that found nothing, and those that could not be judged.
    pub checks: fn(u64, u64) -> String,
    /// Subjects of the rows of the diagnosis, 0 to 5.
    pub topics: [&'static str; 7],
    /// A number of what is recorded, by the name of the kind of row.
    pub tags: fn(u64) -> String,
    /// Numbers of values.
    pub values: fn(u64) -> String,
    /// Numbers of nodes.
    pub nodes: fn(u64) -> String,
    /// Numbers of tensors.
    pub tensors: fn(u64) -> String,
    /// Numbers of profiles.
    pub profiles: fn(u64) -> String,
    /// Numbers of points.
    pub points: fn(u64) -> String,
    /// Numbers of steps.
    pub steps: fn(u64) -> String,
    /// Numbers of recorded texts or pictures.
    pub records: fn(u64) -> String,
    /// Numbers of hits.
    pub hit_count: fn(u64) -> String,
    pub no_tensors: &'static str,
    /// Summary of the code that records them: the framework.
    pub record_with: fn(&str) -> String,
    /// Number of undecided conditions, and the missing data.
    pub undecided: fn(u64, &str) -> String,
    /// Number of tensors of unsupported element types, and the types.
    pub unread: fn(u64, &str) -> String,
    /// Number of files of one step that hold a tensor of the same name, the tensor and the step.
    pub shared: fn(u64, &str, i64) -> String,
    /// Number of watchpoints without findings.
    pub found_nothing: fn(u64) -> String,
    /// Number of further findings.
    pub more_hits: fn(u64) -> String,
    /// The best value: value, step.
    pub best: fn(&str, &str) -> String,
    pub most_likely: &'static str,
    pub onset: &'static str,
    pub last_steps: &'static str,
    pub onset_order: &'static str,
    pub first: &'static str,
    pub finite: &'static str,
    pub grows: &'static str,
    /// A measured quantity: near its limit, and beyond it.
    pub limit_parts: [&'static str; 2],
    /// Tooltip of a cell: tensor, step, state.
    pub cell: fn(&str, &str, &str) -> String,
    pub no_record: &'static str,
    pub configuration: &'static str,
    /// A tensor and a step.
    pub tensor_at: fn(&str, &str) -> String,
    /// Elements that are not finite: how many, all.
    pub bad_elements: fn(&str, &str) -> String,
    /// All elements are finite.
    pub good_elements: fn(&str) -> String,
    /// No element of a histogram is finite: how many, whether some are NaN, whether some are infinite, the step.
    pub none_finite: fn(&str, bool, bool, &str) -> String,
    /// Watchpoints without hits.
    pub no_hit: fn(u64) -> String,
    /// Accessible description of a heat map: tag, steps.
    pub heat: fn(&str, u64) -> String,
    /// Accessible description of the curve: tag, last value.
    pub curve: fn(&str, &str) -> String,
}

fn many(count: u64, one: &str, more: &str) -> String {
    let noun = if count == 1 { one } else { more };
    format!("{} {noun}", format::count(count))
}

/// Those that are not 0, in words.
fn by_severity(counts: Counts, words: [fn(u64) -> String; 3], comma: &str) -> String {
    let counts = [counts.error, counts.warning, counts.info];
    let some = counts
        .into_iter()
        .zip(words)
        .filter(|(count, _)| *count > 0);
    let some: Vec<String> = some.map(|(count, word)| word(count)).collect();
    some.join(comma)
}

pub(super) const EN: OverviewTexts = OverviewTexts {
    title: "Overview",
    open_debugger: "Open in debugger",
    show_scalars: "Show scalars",
    at_step: |step| format!("Step {step}"),
    colon: ": ",
    semicolon: "; ",
    comma: ", ",
    gap: " ",
    hits: |counts, watchpoints| {
        let words: [fn(u64) -> String; 3] = [
            |n| many(n, "error", "errors"),
            |n| many(n, "warning", "warnings"),
            |n| many(n, "note", "notes"),
        ];
        format!(
            "{} from {}: {}.",
            many(counts.error + counts.warning + counts.info, "hit", "hits"),
            many(watchpoints, "watchpoint", "watchpoints"),
            by_severity(counts, words, ", ")
        )
    },
    stays: |tag, class, step| format!("{tag} is {class} from step {step} on."),
    behind: "The run has grown since and is being checked again.",
    guide: "Guided diagnosis",
    guide_order: "in the order to check",
    checks: |fine, unknown| {
        format!(
            "{} passed, {unknown} skipped",
            many(fine, "check", "checks")
        )
    },
    topics: [
        "What was recorded",
        "Hyper-parameters",
        "Model structure",
        "Input data",
        "Loss curve",
        "Accuracy",
        "Speed",
    ],
    tags: |n| many(n, "tag", "tags"),
    values: |n| many(n, "value", "values"),
    nodes: |n| many(n, "node", "nodes"),
    tensors: |n| many(n, "tensor", "tensors"),
    profiles: |n| many(n, "profile", "profiles"),
    points: |n| many(n, "point", "points"),
    steps: |n| many(n, "step", "steps"),
    records: |n| many(n, "record", "records"),
    hit_count: |n| many(n, "hit", "hits"),
    no_tensors: "Weights and gradients were not recorded.",
    record_with: |framework| format!("Code for {framework}:"),
    undecided: |n, why| format!("{} skipped: {why}", many(n, "check", "checks")),
    unread: |n, types| {
        let tensors = many(n, "tensor", "tensors");
        format!("{tensors} not judged: element type {types} is not supported")
    },
    shared: |files, tensor, step| {
        format!("{files} files hold {tensor} at step {step}: no step was recognized in their names")
    },
    found_nothing: |n| format!("{}, no hits", many(n, "watchpoint", "watchpoints")),
    more_hits: |n| format!("and {}", many(n, "more hit", "more hits")),
    best: |value, step| format!("best {value} at step {step}"),
    most_likely: "Try:",
    onset: "Where it started",
    last_steps: "Tensors at the last steps",
    onset_order: "tensors × recorded steps",
    first: "first cause",
    finite: "finite",
    grows: "range growing",
    limit_parts: ["near the limit", "hit"],
    cell: |tensor, step, what| format!("{tensor}, step {step}: {what}"),
    no_record: "not recorded",
    configuration: "Configuration",
    tensor_at: |tensor, step| format!("{tensor} at step {step}"),
    bad_elements: |bad, all| format!("{bad} of {all} elements are NaN or ±∞"),
    good_elements: |all| format!("all {all} elements are finite"),
    none_finite: |all, has_nan, has_inf, step| {
        let what = match (has_nan, has_inf) {
            (true, true) => "NaN or ±Inf",
            (true, false) => "NaN",
            (false, _) => "±Inf",
        };
        if all == "1" {
            format!("the only element is {what} at step {step}")
        } else {
            format!("all {all} elements are {what} at step {step}")
        }
    },
    no_hit: |n| {
        format!(
            "{}, no hits",
            many(n, "other watchpoint", "other watchpoints")
        )
    },
    heat: |tag, steps| {
        format!(
            "Distribution of {tag} over {}",
            many(steps, "step", "steps")
        )
    },
    curve: |tag, value| format!("Curve of {tag}, last value {value}"),
};

pub(super) const ZH: OverviewTexts = OverviewTexts {
    title: "训练看板",
    open_debugger: "在调试器中打开",
    show_scalars: "查看标量",
    at_step: |step| format!("迭代 {step}"),
    colon: "：",
    semicolon: "；",
    comma: "，",
    gap: "",
    hits: |counts, watchpoints| {
        let words: [fn(u64) -> String; 3] = [
            |n| format!("{} 个错误", format::count(n)),
            |n| format!("{} 个警告", format::count(n)),
            |n| format!("{} 个提示", format::count(n)),
        ];
        format!(
            "{} 个监测点共 {} 个命中：{}。",
            format::count(watchpoints),
            format::count(counts.error + counts.warning + counts.info),
            by_severity(counts, words, "，")
        )
    },
    stays: |tag, class, step| format!("自迭代 {step} 起 {tag} 为 {class}。"),
    behind: "此后训练又有新数据，正在重新判断。",
    guide: "引导式诊断",
    guide_order: "按排查顺序",
    checks: |fine, unknown| format!("{fine} 项检查通过，{unknown} 项跳过"),
    topics: [
        "已记录的数据",
        "超参数",
        "模型结构",
        "输入数据",
        "损失曲线",
        "准确率",
        "速度",
    ],
    tags: |n| format!("{} 个标签", format::count(n)),
    values: |n| format!("{} 项", format::count(n)),
    nodes: |n| format!("{} 个节点", format::count(n)),
    tensors: |n| format!("{} 个张量", format::count(n)),
    profiles: |n| format!("{} 份性能分析", format::count(n)),
    points: |n| format!("{} 个点", format::count(n)),
    steps: |n| format!("{} 个迭代", format::count(n)),
    records: |n| format!("{} 条记录", format::count(n)),
    hit_count: |n| format!("{} 个命中", format::count(n)),
    no_tensors: "未记录权重和梯度。",
    record_with: |framework| format!("{framework} 代码："),
    undecided: |n, why| format!("{} 项检查跳过：{why}", format::count(n)),
    unread: |n, types| format!("{} 个张量未判断：不支持元素类型 {types}", format::count(n)),
    shared: |files, tensor, step| {
        format!("{files} 个文件在迭代 {step} 都含有 {tensor}：文件名中没有可识别的迭代数")
    },
    found_nothing: |n| format!("{} 个监测点均未命中", format::count(n)),
    more_hits: |n| format!("另有 {} 个命中", format::count(n)),
    best: |value, step| format!("最佳 {value}（迭代 {step}）"),
    most_likely: "建议：",
    onset: "问题起点",
    last_steps: "最近迭代的张量",
    onset_order: "张量 × 已记录的迭代",
    first: "最初原因",
    finite: "有限值",
    grows: "范围增大",
    limit_parts: ["接近阈值", "命中"],
    cell: |tensor, step, what| format!("{tensor}，迭代 {step}：{what}"),
    no_record: "未记录",
    configuration: "训练配置",
    tensor_at: |tensor, step| format!("迭代 {step} 的 {tensor}"),
    bad_elements: |bad, all| format!("{all} 个元素中有 {bad} 个不是有限值"),
    good_elements: |all| format!("{all} 个元素均为有限值"),
    none_finite: |all, has_nan, has_inf, step| {
        let what = match (has_nan, has_inf) {
            (true, true) => "NaN 或 ±Inf",
            (true, false) => "NaN",
            (false, _) => "±Inf",
        };
        format!("迭代 {step} 的 {all} 个元素均为 {what}")
    },
    no_hit: |n| format!("另有 {} 个监测点未命中", format::count(n)),
    heat: |tag, steps| format!("{tag} 的分布，共 {} 个迭代", format::count(steps)),
    curve: |tag, value| format!("{tag} 的曲线，最新值 {value}"),
};
