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
        advice: "All-reduce of gradients: overlap it with the backward pass (larger or smaller buckets: \
         DistributedDataParallel(bucket_cap_mb=…, gradient_as_bucket_view=True)), accumulate gradients with no_sync(), or send \
         them in 16 bits. All-gather and reduce-scatter: prefetch the next layer. All-to-all: start it before work that does not \
         need it, and move fewer embeddings or tokens.",
    },
    zh: Prose {
        says: "通信拖慢迭代",
        checks: "没有计算 kernel 时的通信时间除以迭代时间，超过 share_gt。",
        matters: "与计算重叠的通信不花时间，未被掩盖的部分则加到每个迭代上（Holistic Trace Analysis 的通信计算重叠）。10 % 是 \
         TensorBoard 性能分析器的限值。",
        not_judged: "未记录设备或迭代。",
        advice: "梯度的 all-reduce：使其与反向传播重叠（调整分桶：DistributedDataParallel(bucket_cap_mb=…, \
         gradient_as_bucket_view=True)），用 no_sync() 累积梯度，或以 16 位传输。all-gather 与 reduce-scatter：预取下一层。\
         all-to-all：在不依赖它的计算之前下发，并减少传输的嵌入或 token。",
    },
    ..of(Rule::ExposedCommunication)
};

pub(crate) static STRAGGLER_RANK: Condition = Condition {
    recommended: true,
    parameters: &[
        limit(Key::FactorGt, Range::Positive)
            .says(
                "length of steps / length without waiting for the rank, above",
                "迭代时间与不等待该 rank 时的时间之比大于",
            )
            .at(1.01),
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
        checks: "At each collective the other ranks wait for the last one to arrive. With this waiting, steps take more than factor_gt \
         times their length without it, for one rank, in at least steps steps in a row, of which one in \
         ten, and one more, may be faster; in all steps and with three times the time lost, if fewer than 12 were recorded, with six \
         times, if fewer than 3 were. Without collectives, compute beyond the median counts as \
         waiting. An error beyond factor_error_gt.",
        matters: "A collective ends when the last rank arrives: all ranks wait for the slowest one, whatever makes it late: kernels, \
         copies, data, its host, or what was before the step.",
        not_judged: "Only one rank was profiled, or the ranks have no steps in common.",
        advice: "If its kernels take longer, compare that rank's clock rate, temperature and size of batches with the others; if its \
         host is late, other programs and processor affinity; if it waits for data, its disk and its share of the data set.",
    },
    zh: Prose {
        says: "一个 rank 拖慢其他 rank",
        checks: "每次集合通信中，其他 rank 等待最后到达者。因等待同一个 rank，在至少 steps 个连续迭代中，迭代时间超过不等待时的 factor_gt 倍，\
         其中每十个可有一个例外，另加一个；记录少于 12 个时需全部迭代且损失的时间达三倍，少于 3 个时达六倍。没有集合通信时，超出中位数的计算时间视为等待。超过 factor_error_gt 为错误。",
        matters: "集合通信在最后一个 rank 到达后才结束：无论慢在 kernel、拷贝、数据、主机还是迭代之前，所有 rank 都等待最慢的一个。",
        not_judged: "只采集了一个 rank，或各 rank 没有共同的迭代。",
        advice: "若 kernel 更慢，对比时钟频率、温度和批次大小；若主机较晚，对比其他程序和处理器绑定；若等待数据，对比磁盘和数据划分。",
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
        matters: "最慢的 rank 决定迭代时间，内存占用最多的 rank 决定批次大小。限值与 MindInsight 的助手相同。",
        not_judged: "只采集了一个 rank。",
        advice: "更均匀地分配层、专家或样本，例如使各批次长度相近。",
    },
    ..of(Rule::UnevenRanks)
};
