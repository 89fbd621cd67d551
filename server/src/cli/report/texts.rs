//! The texts of a report in both languages.

use trainscope_api::runs::FileStatus;
use trainscope_format::Kind;

use super::Language;
use crate::cli::words::{count, plural};

type Text = &'static str;

/// Defines the fixed texts of the page: name, type, English and Chinese.
macro_rules! texts {
    ($($name:ident: $type:ty = $en:expr, $zh:expr;)+) => {
        /// Fixed texts of the page.
        pub(super) struct Texts {
            $(pub(super) $name: $type,)+
        }

        const EN: Texts = Texts { $($name: $en,)+ };
        const ZH: Texts = Texts { $($name: $zh,)+ };
    };
}

texts! {
    code: Text = "en", "zh";
    report: Text = "run report", "训练报告";
    severities: [Text; 3] = ["error", "warning", "note"], ["错误", "警告", "提示"];
    facts: [Text; 6] =
        ["watchpoints", "steps", "tensors", "ranks", "files", "last loss"],
        ["监测点", "迭代", "张量", "rank 数", "文件", "最新损失"];
    first_cause: Text = "First cause", "最初原因";
    place: Text = "Where", "位置";
    found: Text = "Found", "实际值";
    limit: Text = "Limit", "阈值";
    explains: Text = "Hits that follow", "由此引起的命中";
    source: Text = "Source", "源码";
    advice: Text = "Try", "建议";
    diagnosis: Text = "Guided diagnosis", "引导式诊断";
    diagnosis_order: Text = "in the order to check", "按排查顺序";
    topics: [Text; 7] =
        ["What was recorded", "Hyper-parameters", "Model structure", "Input data", "Loss curve", "Accuracy", "Speed"],
        ["已记录的数据", "超参数", "模型结构", "输入数据", "损失曲线", "准确率", "速度"];
    states: [Text; 4] = ["not judged", "passed", "note", "fault"], ["未作判断", "通过", "提示", "问题"];
    more_like_it: fn(u64) -> String =
        |hits| format!("and {}", plural(hits, "more hit", "more hits")),
        |hits| format!("另有 {hits} 个命中");
    record: Text = "Record it", "记录方法";
    hits: Text = "Hits", "命中";
    hits_order: Text = "by step, in data-flow order", "按迭代和数据流顺序；实际值与阈值";
    step: Text = "step", "迭代";
    severity: Text = "Severity", "严重程度";
    tensor: Text = "Tensor or scalar", "张量或标量";
    rank: Text = "Rank", "Rank";
    watchpoint: Text = "Watchpoint", "监测点";
    more_hits: Text = "more hits", "个其他命中";
    curves: Text = "Curves", "曲线";
    distributions: Text = "Distributions", "分布";
    landscapes: Text = "Loss landscapes", "损失函数地形图";
    images: Text = "Images", "图像";
    configuration: Text = "Configuration", "训练配置";
    lineage: Text = "Lineage", "溯源";
    watchpoints: Text = "Watchpoints", "监测点";
    recommended: Text = "recommended watchpoints", "推荐的监测点";
    no_hit: Text = "no hits", "未命中";
    without_hit: Text = "watchpoints without hits", "个监测点未命中";
    not_judged: Text = "Not judged", "未作判断";
    unread_type: Text = "Unsupported element type", "不支持的类型";
    files: Text = "Files", "文件";
    damaged: Text = "Damaged", "损坏";
    offset: Text = "byte", "字节";
    no_script: Text = "one file, no script, nothing is loaded from elsewhere", "单个文件，无脚本，不加载外部资源";
    compared_with: Text = "Compared with", "对比";
    first_partings: Text = "First differences", "最先出现差异";
    difference: Text = "Difference", "差异";
    different_settings: Text = "Settings that differ", "不同的配置";
    setting: Text = "Setting", "配置项";
    left_out: fn(&str) -> String =
        |count| format!("{count} more are not on this page"),
        |count| format!("另有 {count} 项未列出");
    not_here: fn(&str) -> String =
        |counts| format!("Not in this report: {counts}; trainscope start shows them."),
        |counts| format!("此报告未包含：{counts}；运行 trainscope start 查看。");
    last: Text = "last", "最新";
    chain: Text = "From the first bad operation to the loss", "从首个异常运算到损失";
    chain_columns: [Text; 4] = ["Operation", "Module", "Result", "Line"], ["运算", "模块", "结果", "代码行"];
    probes: Text = "Checks of the first batch", "首批数据检查";
    probe_results: [Text; 3] = ["failed", "not tried", "passed"], ["未通过", "未执行", "通过"];
    program: Text = "The program", "程序";
    program_parts: [Text; 5] =
        ["Model", "Optimizer", "Loss functions", "Data", "Training loop"],
        ["模型", "优化器", "损失函数", "数据", "训练循环"];
    profile: Text = "Profile", "性能分析";
    part: Text = "Part of a step", "迭代的组成";
    parts: [Text; 8] =
        ["kernels", "copies", "memset", "communication", "calls of the runtime", "waiting for data", "operators", "other"],
        ["kernel", "拷贝", "memset", "通信", "运行时调用", "等待数据", "算子", "其他"];
    per_step: Text = "A step", "每个迭代";
    share: Text = "Share", "占比";
    at_best: Text = "A step, at best", "每个迭代最多";
    operator: Text = "Operator", "算子";
    operator_columns: [Text; 4] =
        ["Calls", "Self time a step", "Share", "FLOPs"],
        ["调用次数", "每个迭代自身耗时", "占比", "FLOPs"];
    peak_memory: Text = "Peak of memory, device", "内存峰值，设备";
    since_recording: Text = "counted since the recording began", "自采集开始起计";
    rank_columns: [Text; 4] =
        ["Step, median", "Compute, all steps", "Waiting for others", "Slow steps"],
        ["迭代中位数", "计算（全部迭代）", "等待其他 rank", "慢迭代数"];
}

pub(super) const fn of(language: Language) -> &'static Texts {
    match language {
        Language::En => &EN,
        Language::Zh => &ZH,
    }
}

/// Kinds that are on the page in part or not at all, with the name of one, of several, and in Chinese.
pub(super) const IN_PART: [(Kind, [Text; 3]); 7] = [
    (Kind::Histograms, ["histogram", "histograms", "直方图"]),
    (
        Kind::Landscapes,
        ["loss landscape", "loss landscapes", "损失函数地形图"],
    ),
    (Kind::Images, ["image", "images", "图像"]),
    (Kind::Audio, ["audio clip", "audio clips", "音频"]),
    (Kind::Text, ["text", "texts", "文本"]),
    (Kind::PrCurves, ["PR curve", "PR curves", "PR 曲线"]),
    (
        Kind::Explanations,
        ["explanation", "explanations", "模型解释"],
    ),
];

/// Numbers of tags that are not on the page; `None` without any.
pub(super) fn left_out(language: Language, counts: &[([Text; 3], u64)]) -> Option<String> {
    let counts = counts.iter().filter(|(_, number)| *number > 0);
    let counts = counts.map(|([one, many, zh], number)| match language {
        Language::En => plural(*number, one, many),
        Language::Zh => format!("{} 个{zh}", count(*number)),
    });
    let counts: Vec<String> = counts.collect();
    let comma = if language == Language::En {
        ", "
    } else {
        "、"
    };
    (!counts.is_empty()).then(|| (of(language).not_here)(&counts.join(comma)))
}

/// Text for the status of a file.
pub(super) fn status(language: Language, status: FileStatus) -> &'static str {
    let [en, zh] = match status {
        FileStatus::Live => ["live", "写入中"],
        FileStatus::Complete => ["complete", "完整"],
        FileStatus::Truncated => ["truncated", "被截断"],
        FileStatus::Damaged => ["damaged", "损坏"],
        FileStatus::Unreadable => ["unreadable", "无法读取"],
        FileStatus::Gone => ["gone", "已删除"],
    };
    if language == Language::En { en } else { zh }
}
