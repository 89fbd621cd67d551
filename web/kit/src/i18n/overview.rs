//! The texts of the overview of a run, in both languages.

use trainscope_api::findings::Counts;

use crate::format;
use crate::i18n::{Text, many};

texts! {
    /// Texts of the run overview.
    OverviewTexts

    open_debugger = "Open in debugger", "在调试器中打开";
    show_scalars = "Show scalars", "查看标量";
    /// Link to the step of the first cause; the argument is a number.
    at_step: fn(&str) -> String = |step| format!("Step {step}"), |step| format!("迭代 {step}");
    colon = ": ", "：";
    semicolon = "; ", "；";
    comma = ", ", "，";
    gap = " ", "";
    stop = ".", "。";
    /// Findings by severity, and the number of watchpoints that reported them.
    hits: fn(Counts, u64) -> String =
        |counts, watchpoints| {
            let words: [fn(u64) -> String; 2] = [
                |n| many(n, "error", "errors"),
                |n| many(n, "warning", "warnings"),
            ];
            let problems = many(counts.problems(), "hit", "hits");
            let notes = many(counts.info, "note", "notes");
            let hits = match (counts.problems(), counts.info) {
                (_, 0) => problems,
                (0, _) => notes,
                _ => format!("{problems} + {notes}"),
            };
            let from = many(watchpoints, "watchpoint", "watchpoints");
            match by_severity(counts, words, ", ") {
                severities if severities.is_empty() => format!("{hits} from {from}."),
                severities => format!("{hits} from {from}: {severities}."),
            }
        },
        |counts, watchpoints| {
            let words: [fn(u64) -> String; 2] = [
                |n| format!("{} 个错误", format::count(n)),
                |n| format!("{} 个警告", format::count(n)),
            ];
            let problems = format!("{} 个命中", format::count(counts.problems()));
            let notes = format!("{} 个提示", format::count(counts.info));
            let hits = match (counts.problems(), counts.info) {
                (_, 0) => problems,
                (0, _) => notes,
                _ => format!("{problems} + {notes}"),
            };
            let from = format!("{} 个监测点共 ", format::count(watchpoints));
            match by_severity(counts, words, "，") {
                severities if severities.is_empty() => format!("{from}{hits}。"),
                severities => format!("{from}{hits}：{severities}。"),
            }
        };
    /// A scalar that is not finite from a step to the end: tag, class, step.
    stays: fn(&str, &str, &str) -> String =
        |tag, class, step| format!("{tag} is {class} from step {step} on."),
        |tag, class, step| format!("自迭代 {step} 起 {tag} 为 {class}。");
    behind = "The run has grown since and is being checked again.", "此后训练又有新数据，正在重新判断。";
    guide = "Guided diagnosis", "引导式诊断";
    guide_order = "in the order to check", "按排查顺序";
    /// Rules that found nothing, and those that could not be judged.
    checks: fn(u64, u64) -> String =
        |fine, unknown| format!("{} passed, {unknown} not judged", many(fine, "check", "checks")),
        |fine, unknown| format!("{fine} 项检查通过，{unknown} 项未作判断");
    /// Subjects of the rows of the diagnosis, 0 to 6.
    topics: [Text; 7] =
        ["What was recorded", "Hyper-parameters", "Model structure", "Input data", "Loss curve", "Result", "Speed"],
        ["已记录的数据", "超参数", "模型结构", "输入数据", "损失曲线", "结果", "速度"];
    /// Numbers of tags.
    tags: fn(u64) -> String = |n| many(n, "tag", "tags"), |n| format!("{} 个标签", format::count(n));
    /// Numbers of values.
    values: fn(u64) -> String = |n| many(n, "value", "values"), |n| format!("{} 项", format::count(n));
    /// Numbers of nodes.
    nodes: fn(u64) -> String = |n| many(n, "node", "nodes"), |n| format!("{} 个节点", format::count(n));
    /// Numbers of tensors.
    tensors: fn(u64) -> String = |n| many(n, "tensor", "tensors"), |n| format!("{} 个张量", format::count(n));
    /// Numbers of profiles.
    profiles: fn(u64) -> String = |n| many(n, "profile", "profiles"), |n| format!("{} 份性能分析", format::count(n));
    /// Numbers of points.
    points: fn(u64) -> String = |n| many(n, "point", "points"), |n| format!("{} 个点", format::count(n));
    /// Numbers of steps.
    steps: fn(u64) -> String = |n| many(n, "step", "steps"), |n| format!("{} 个迭代", format::count(n));
    /// Numbers of recorded texts or pictures.
    records: fn(u64) -> String = |n| many(n, "record", "records"), |n| format!("{} 条记录", format::count(n));
    no_tensors = "Weights and gradients were not recorded.", "未记录权重和梯度。";
    nothing_read = "No record could be read.", "未能读取任何记录。";
    /// Link to the files of the run.
    files = "Files", "文件";
    /// Summary of the code that records them: the framework.
    record_with: fn(&str) -> String =
        |framework| format!("Code for {framework}:"),
        |framework| format!("{framework} 代码：");
    /// Number of undecided conditions, and the missing data.
    undecided: fn(u64, &str) -> String =
        |n, why| format!("{} not judged: {why}", many(n, "check", "checks")),
        |n, why| format!("{} 项检查未作判断：{why}", format::count(n));
    /// Number of tensors of unsupported element types, and the types.
    unread: fn(u64, &str) -> String =
        |n, types| {
            let tensors = many(n, "tensor", "tensors");
            format!("{tensors} not judged: element type {types} is not supported")
        },
        |n, types| format!("{} 个张量未作判断：不支持元素类型 {types}", format::count(n));
    /// Number of files of one step that hold a tensor of the same name, the tensor and the step.
    shared: fn(u64, &str, i64) -> String =
        |files, tensor, step| {
            format!("{files} files hold {tensor} at step {step}: no step was recognized in their names")
        },
        |files, tensor, step| format!("{files} 个文件在迭代 {step} 都含有 {tensor}：文件名中没有可识别的迭代数");
    /// Number of watchpoints without findings.
    found_nothing: fn(u64) -> String =
        |n| format!("{}, no hits", many(n, "watchpoint", "watchpoints")),
        |n| format!("{} 个监测点均未命中", format::count(n));
    /// Number of further findings.
    more_hits: fn(u64) -> String =
        |n| format!("and {}", many(n, "more hit", "more hits")),
        |n| format!("另有 {} 个命中", format::count(n));
    /// The best value: value, step.
    best: fn(&str, &str) -> String =
        |value, step| format!("best {value} at step {step}"),
        |value, step| format!("最佳 {value}（迭代 {step}）");
    most_likely = "Try:", "建议：";
    onset = "Where it started", "问题起点";
    last_steps = "Tensors at the last steps", "最近迭代的张量";
    onset_order = "tensors × recorded steps", "张量 × 已记录的迭代";
    first = "first cause", "最初原因";
    finite = "finite", "有限值";
    grows = "range growing", "范围增大";
    /// A measured quantity: near its limit, and beyond it.
    limit_parts: [Text; 2] = ["near the limit", "hit"], ["接近阈值", "命中"];
    /// Tooltip of a cell: tensor, step, state.
    cell: fn(&str, &str, &str) -> String =
        |tensor, step, what| format!("{tensor}, step {step}: {what}"),
        |tensor, step, what| format!("{tensor}，迭代 {step}：{what}");
    no_record = "not recorded", "未记录";
    configuration = "Configuration", "训练配置";
    /// A tensor and a step.
    tensor_at: fn(&str, &str) -> String =
        |tensor, step| format!("{tensor} at step {step}"),
        |tensor, step| format!("迭代 {step} 的 {tensor}");
    /// Number of elements that are not finite, and of all.
    bad_elements: fn(&str, &str) -> String =
        |bad, all| format!("{bad} of {all} elements are NaN or ±∞"),
        |bad, all| format!("{all} 个元素中有 {bad} 个不是有限值");
    /// All elements are finite.
    good_elements: fn(&str) -> String =
        |all| format!("all {all} elements are finite"),
        |all| format!("{all} 个元素均为有限值");
    /// No element of a histogram is finite: their number, whether some are NaN, whether some are infinite, the step.
    none_finite: fn(&str, bool, bool, &str) -> String =
        |all, has_nan, has_inf, step| {
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
        |all, has_nan, has_inf, step| {
            let what = match (has_nan, has_inf) {
                (true, true) => "NaN 或 ±Inf",
                (true, false) => "NaN",
                (false, _) => "±Inf",
            };
            format!("迭代 {step} 的 {all} 个元素均为 {what}")
        };
    /// Watchpoints without hits.
    no_hit: fn(u64) -> String =
        |n| format!("{}, no hits", many(n, "other watchpoint", "other watchpoints")),
        |n| format!("另有 {} 个监测点未命中", format::count(n));
    /// Accessible description of a heat map: tag, steps.
    heat: fn(&str, u64) -> String =
        |tag, steps| format!("Distribution of {tag} over {}", many(steps, "step", "steps")),
        |tag, steps| format!("{tag} 的分布，共 {} 个迭代", format::count(steps));
    /// Accessible description of the curve: tag, last value.
    curve: fn(&str, &str) -> String =
        |tag, value| format!("Curve of {tag}, last value {value}"),
        |tag, value| format!("{tag} 的曲线，最新值 {value}");
}

/// Errors and warnings that are not 0, in words.
fn by_severity(counts: Counts, words: [fn(u64) -> String; 2], comma: &str) -> String {
    let counts = [counts.error, counts.warning];
    let some = counts
        .into_iter()
        .zip(words)
        .filter(|(count, _)| *count > 0);
    let some: Vec<String> = some.map(|(count, word)| word(count)).collect();
    some.join(comma)
}
