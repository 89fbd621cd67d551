//! The texts of a report in both languages.

use trainscope_api::runs::FileStatus;

use super::Language;

/// Fixed texts of the page.
pub(super) struct Texts {
    pub(super) code: &'static str,
    pub(super) report: &'static str,
    pub(super) severities: [&'static str; 3],
    pub(super) facts: [&'static str; 6],
    pub(super) first_cause: &'static str,
    pub(super) place: &'static str,
    pub(super) found: &'static str,
    pub(super) limit: &'static str,
    pub(super) explains: &'static str,
    pub(super) source: &'static str,
    pub(super) advice: &'static str,
    pub(super) diagnosis: &'static str,
    pub(super) diagnosis_order: &'static str,
    pub(super) topics: [&'static str; 6],
    pub(super) states: [&'static str; 4],
    pub(super) more_like_it: fn(u64) -> String,
    pub(super) found_nothing: fn(u64) -> String,
    pub(super) record: &'static str,
    pub(super) hits: &'static str,
    pub(super) hits_order: &'static str,
    pub(super) step: &'static str,
    pub(super) severity: &'static str,
    pub(super) tensor: &'static str,
    pub(super) rank: &'static str,
    pub(super) watchpoint: &'static str,
    pub(super) more_hits: &'static str,
    pub(super) curves: &'static str,
    pub(super) distributions: &'static str,
    pub(super) images: &'static str,
    pub(super) configuration: &'static str,
    pub(super) lineage: &'static str,
    pub(super) watchpoints: &'static str,
    pub(super) recommended: &'static str,
    pub(super) no_hit: &'static str,
    pub(super) without_hit: &'static str,
    pub(super) not_judged: &'static str,
    pub(super) unread_type: &'static str,
    pub(super) files: &'static str,
    pub(super) damaged: &'static str,
    pub(super) offset: &'static str,
    pub(super) no_script: &'static str,
    pub(super) only_damaged: &'static str,
    pub(super) left_out: fn(&str) -> String,
    pub(super) last: &'static str,
}

pub(super) const fn of(language: Language) -> &'static Texts {
    match language {
        Language::En => &EN,
        Language::Zh => &ZH,
    }
}

/// Question of a rule in the diagnosis.
pub(super) fn rule(language: Language, rule: &str) -> &'static str {
    let [en, zh] = match rule {
        "settings" => ["Hyper-parameter values", "超参数取值"],
        "loss_activation" => ["Activation before the loss", "损失前的激活函数"],
        "broadcast" => ["Accidental broadcast", "意外广播"],
        "unused_parameters" => ["Unused parameters", "未使用的参数"],
        "useless_bias" => ["Bias before normalization", "归一化前的偏置"],
        "linear_layers" => ["Activation between layers", "层间的激活函数"],
        "shuffling" => ["Sample order", "样本顺序"],
        "scaling" => ["Value range", "样本取值范围"],
        _ => ["Other", "其他"],
    };
    if language == Language::En { en } else { zh }
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

/// Reason why something was not judged, by its name in the API.
pub(super) fn missing(language: Language, reason: &str) -> &'static str {
    let [en, zh] = match reason {
        "nan" => ["values are NaN", "值为 NaN"],
        "inf" => ["values are ±Inf", "值为无穷大"],
        "no_previous" => ["no previous step", "没有前一个迭代"],
        "no_change" => ["changes were not recorded", "未记录变化量"],
        "tolerance" => [
            "changes were counted with another tolerance",
            "变化量按其他容差统计",
        ],
        "no_exponents" => ["exponents were not recorded", "未记录指数分布"],
        "bounds" => ["only the elements decide", "只有逐元素数据才能判断"],
        "no_channels" => ["no per-unit statistics", "没有按单元的统计"],
        "no_hash" => ["no content hashes", "没有内容哈希"],
        "too_short" => ["too few steps", "迭代数过少"],
        "no_overflow_files" => ["operator overflows were not recorded", "未记录算子溢出"],
        "unread_overflow_files" => [
            "overflow files must be converted first",
            "溢出文件需要先转换",
        ],
        "empty" => ["no elements", "没有元素"],
        "only_histogram" => ["only a histogram was recorded", "仅记录了直方图"],
        _ => ["something was not recorded", "缺少记录"],
    };
    if language == Language::En { en } else { zh }
}

const EN: Texts = Texts {
    code: "en",
    report: "run report",
    severities: ["error", "warning", "note"],
    facts: [
        "watchpoints",
        "steps",
        "tensors",
        "ranks",
        "files",
        "last loss",
    ],
    first_cause: "First cause",
    place: "Where",
    found: "Found",
    limit: "Limit",
    explains: "Hits that follow",
    source: "Source",
    advice: "Try",
    diagnosis: "Guided diagnosis",
    diagnosis_order: "in the order to check",
    topics: [
        "What was recorded",
        "Hyper-parameters",
        "Model structure",
        "Input data",
        "Loss curve",
        "Accuracy",
    ],
    states: ["skipped", "passed", "note", "fault"],
    more_like_it: |hits| {
        let noun = if hits == 1 { "hit" } else { "hits" };
        format!("and {hits} more {noun}")
    },
    found_nothing: |watchpoints| {
        let noun = if watchpoints == 1 {
            "watchpoint"
        } else {
            "watchpoints"
        };
        format!("{watchpoints} {noun}, no hits")
    },
    record: "Record it",
    hits: "Hits",
    hits_order: "by step, in data-flow order",
    step: "step",
    severity: "Severity",
    tensor: "Tensor or scalar",
    rank: "Rank",
    watchpoint: "Watchpoint",
    more_hits: "more hits",
    curves: "Curves",
    distributions: "Distributions",
    images: "Images",
    configuration: "Configuration",
    lineage: "Lineage",
    watchpoints: "Watchpoints",
    recommended: "recommended watchpoints",
    no_hit: "no hits",
    without_hit: "watchpoints without hits",
    not_judged: "Not judged",
    unread_type: "Type that is not computed with",
    files: "Files",
    damaged: "Damaged",
    offset: "byte",
    no_script: "one file, no script, nothing is loaded from elsewhere",
    only_damaged: " Some files could not be read.",
    left_out: |count| format!("{count} more are not on this page"),
    last: "last",
};

const ZH: Texts = Texts {
    code: "zh",
    report: "训练报告",
    severities: ["错误", "警告", "提示"],
    facts: ["监测点", "迭代", "张量", "rank 数", "文件", "最新损失"],
    first_cause: "最初原因",
    place: "位置",
    found: "实际值",
    limit: "阈值",
    explains: "由此引起的命中",
    source: "源码",
    advice: "建议",
    diagnosis: "引导式诊断",
    diagnosis_order: "按排查顺序",
    topics: [
        "记录内容",
        "超参数",
        "模型结构",
        "输入数据",
        "损失曲线",
        "准确率",
    ],
    states: ["跳过", "通过", "提示", "问题"],
    more_like_it: |hits| format!("另有 {hits} 个命中"),
    found_nothing: |watchpoints| format!("{watchpoints} 个监测点未命中"),
    record: "记录方法",
    hits: "命中",
    hits_order: "按迭代和数据流顺序；实际值与阈值",
    step: "迭代",
    severity: "级别",
    tensor: "张量或标量",
    rank: "Rank",
    watchpoint: "监测点",
    more_hits: "个其他命中",
    curves: "曲线",
    distributions: "分布",
    images: "图像",
    configuration: "训练配置",
    lineage: "溯源",
    watchpoints: "监测点",
    recommended: "推荐的监测点",
    no_hit: "未命中",
    without_hit: "个监测点未命中",
    not_judged: "无法判断",
    unread_type: "不参与计算的类型",
    files: "文件",
    damaged: "损坏",
    offset: "字节",
    no_script: "单个文件，无脚本，不加载外部资源",
    only_damaged: "部分文件无法读取。",
    left_out: |count| format!("另有 {count} 项未列出"),
    last: "最新",
};
