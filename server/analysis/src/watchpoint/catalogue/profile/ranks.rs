//! Conditions about communication and ranks.

use super::{Condition, Key, Prose, Range, limit, of};
use crate::trace::advice::Rule;
use trainscope_format::Severity;

pub(crate) static EXPOSED_COMMUNICATION: Condition = Condition {
    recommended: true,
    parameters: &[limit(Key::ShareGt, Range::Share)
        .says(
            "exposed communication / time of the steps above",
            "未被掩盖的通信占迭代时间的比例大于",
        )
        .at(0.10)],
    en: Prose {
        says: "communication delays the steps",
        checks: "Communication during which no kernel computes, divided by the time of the steps, exceeds share_gt.",
        matters: "Communication during computation costs no time; what is exposed is added to each step (Holistic Trace Analysis, \
         overlap of communication and computation). 10 % is the limit of the profiler of TensorBoard.",
        not_judged: "No device or no steps were recorded.",
        advice: "Overlap the gradients' all-reduce with the backward pass (larger or smaller buckets: \
         DistributedDataParallel(bucket_cap_mb=…, gradient_as_bucket_view=True)), accumulate gradients with no_sync(), or send \
         them in 16 bits.",
    },
    zh: Prose {
        says: "通信拖慢迭代",
        checks: "没有计算 kernel 时的通信时间除以迭代时间，超过 share_gt。",
        matters: "与计算重叠的通信不花时间，未被掩盖的部分则加到每次迭代上（Holistic Trace Analysis 的通信计算重叠）。10 % 是 \
         TensorBoard 性能分析器的限值。",
        not_judged: "未记录设备或迭代。",
        advice: "使梯度的 all-reduce 与反向传播重叠（调整分桶：DistributedDataParallel(bucket_cap_mb=…, \
         gradient_as_bucket_view=True)），用 no_sync() 累积梯度，或以 16 位传输。",
    },
    ..of(Rule::ExposedCommunication)
};

pub(crate) static STRAGGLER_RANK: Condition = Condition {
    recommended: true,
    parameters: &[
        limit(Key::FactorGt, Range::Positive)
            .says(
                "compute / median over ranks above",
                "计算时间与各 rank 中位数之比大于",
            )
            .at(1.10),
        limit(Key::FactorErrorGt, Range::Positive)
            .says(
                "the same, for an error, above",
                "同上，达到错误级别的比值大于",
            )
            .at(1.5)
            .support(),
        limit(Key::Steps, Range::Count)
            .says("number of steps in a row", "连续的迭代数")
            .at(10.0)
            .support(),
    ],
    en: Prose {
        says: "a rank slows down the others",
        checks: "The time in which a rank computes, divided by the median over ranks, exceeds factor_gt in at least steps steps in a \
         row; in all of at least 3, if fewer than 12 were recorded. An error beyond factor_error_gt.",
        matters: "A collective ends when the last rank arrives: all ranks wait for the slowest one. MindInsight notes 20 %.",
        not_judged: "Only one rank was profiled, or the ranks have no steps in common.",
        advice: "Compare that rank's clock rate, temperature, memory bandwidth and other programs with those of the others, then the \
         size of its batches.",
    },
    zh: Prose {
        says: "一个 rank 拖慢其他 rank",
        checks: "一个 rank 的计算时间除以各 rank 的中位数，在至少 steps 次连续迭代中超过 factor_gt；记录少于 12 次时，需全部迭代且至少 3 次。\
         超过 factor_error_gt 为错误。",
        matters: "集合通信在最后一个 rank 到达后才结束：所有 rank 都等待最慢的一个。MindInsight 的提示值为 20 %。",
        not_judged: "只采集了一个 rank，或各 rank 没有共同的迭代。",
        advice: "先与其他 rank 比较时钟频率、温度、内存带宽和其他程序，再比较批的大小。",
    },
    ..of(Rule::StragglerRank)
};

pub(crate) static UNEVEN_RANKS: Condition = Condition {
    severity: Severity::Info,
    parameters: &[limit(Key::ShareGt, Range::NotNegative)
        .says(
            "spread over ranks / mean above",
            "各 rank 的极差与均值之比大于",
        )
        .at(0.20)],
    en: Prose {
        says: "load of ranks is uneven",
        checks: "The greatest less the least median step, or peak of memory, over ranks, divided by their mean, exceeds share_gt, and \
         no single rank is the slow one.",
        matters: "The slowest rank determines the time of a step, the fullest one the size of a batch. The limit is that of \
         MindInsight's helper.",
        not_judged: "Only one rank was profiled.",
        advice: "Distribute layers, experts or samples more evenly, for example batches of equal length.",
    },
    zh: Prose {
        says: "各 rank 负载不均",
        checks: "各 rank 的迭代时间中位数或内存峰值的最大值减最小值，除以均值，超过 share_gt，且不是单个 rank 慢。",
        matters: "最慢的 rank 决定迭代时间，内存占用最多的 rank 决定批大小。限值与 MindInsight 的助手相同。",
        not_judged: "只采集了一个 rank。",
        advice: "更均匀地分配层、专家或样本，例如使各批长度相近。",
    },
    ..of(Rule::UnevenRanks)
};
