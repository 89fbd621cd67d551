//! Profiles in Chinese.

use super::ProfileTexts;

pub(in crate::i18n) static ZH: ProfileTexts = ProfileTexts {
    title: "性能分析",
    views: ["概览", "迭代", "算子", "内存", "集群", "对比"],
    pipeline: "数据流水线",
    timeline: "时间线",
    steps: "迭代",
    choose_steps: "选择迭代范围",
    session: "会话",
    rank: "rank",
    open_timeline: "在时间线中打开",
    key_rows: "下一行、上一行",
};
