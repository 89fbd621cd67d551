//! Conditions about the memory of devices.

use super::{Condition, Key, Prose, Range, limit, of};
use crate::trace::advice::Rule;
use trainscope_format::Severity;

pub(crate) static MEMORY_NEAR_LIMIT: Condition = Condition {
    recommended: true,
    parameters: &[
        limit(Key::ShareGt, Range::Share)
            .says(
                "peak / memory of the device above",
                "峰值占设备内存的比例大于",
            )
            .at(0.90),
        limit(Key::ShareErrorGt, Range::Share)
            .says(
                "the same, for an error, above",
                "同上，达到错误级别的比例大于",
            )
            .at(0.98)
            .support(),
    ],
    en: Prose {
        says: "device memory is nearly full",
        checks: "The peak of allocated memory, divided by the memory of the device, exceeds share_gt; an error beyond share_error_gt, or if an \
         allocation failed: the value is then what was reserved and asked for, divided by what was reserved and free. In a profile without a backward pass or an update it is a note: servers of models fill the memory on purpose.",
        matters: "A longer sample or a fragmented allocator makes the next step run out of memory; close to the limit, the allocator \
         returns memory to the device again and again. 90 % is the limit of the profiler of TensorBoard.",
        not_judged: "Allocations were not recorded, or the size of the device is unknown.",
        advice: "Checkpoint activations (torch.utils.checkpoint), train in 16 bits, accumulate gradients over smaller batches, or shard \
         the optimizer's state.",
    },
    zh: Prose {
        says: "设备内存接近用满",
        checks: "已分配内存的峰值除以设备内存，超过 share_gt；超过 share_error_gt 或有分配失败为错误：此时的值为（已保留＋申请）÷（已保留＋空闲）。没有反向传播和更新的性能分析只作提示：推理服务会有意占满内存。",
        matters: "更长的样本或内存碎片会使下一个迭代内存不足；接近上限时，分配器会反复把内存归还设备。90 % 是 TensorBoard 性能分析器的限值。",
        not_judged: "未记录内存分配，或设备内存大小未知。",
        advice: "使用激活检查点（torch.utils.checkpoint）、16 位训练、用更小的批次累积梯度，或切分优化器状态。",
    },
    ..of(Rule::MemoryNearLimit)
};

pub(crate) static MEMORY_GROWTH: Condition = Condition {
    recommended: true,
    parameters: &[
        limit(Key::ShareGt, Range::Share)
            .says(
                "growth over the session / peak above",
                "会话期间的增长与峰值之比大于",
            )
            .at(0.01),
        limit(Key::Steps, Range::Count)
            .says("minimum number of steps", "最少的迭代数")
            .at(20.0)
            .support(),
    ],
    en: Prose {
        says: "memory grows from step to step",
        checks: "The least allocated memory of each step has a slope (Theil-Sen) whose 95 % interval is above 0, over at least steps \
         steps, and the growth over the session, divided by the peak, exceeds share_gt.",
        matters: "Memory that is not released after a step fills the device sooner or later.",
        not_judged: "Allocations were not recorded, or fewer steps.",
        advice: "Keep numbers instead of tensors between steps (loss.item(), tensor.detach()), and do not append outputs with their \
         graph to a list.",
    },
    zh: Prose {
        says: "内存随迭代增长",
        checks: "每个迭代的最小已分配内存的斜率（Theil–Sen）的 95 % 区间大于 0，至少 steps 个迭代，且会话期间的增长除以峰值超过 share_gt。",
        matters: "迭代后不释放的内存迟早会占满设备。",
        not_judged: "未记录内存分配，或迭代数更少。",
        advice: "迭代之间保存数值而不是张量（loss.item()、tensor.detach()），不要把带计算图的输出加入列表。",
    },
    ..of(Rule::MemoryGrowth)
};

pub(crate) static MEMORY_FRAGMENTATION: Condition = Condition {
    severity: Severity::Info,
    parameters: &[
        limit(Key::ShareGt, Range::Share)
            .says(
                "unallocated share of reserved memory above",
                "保留内存中未分配的比例大于",
            )
            .at(0.30),
        limit(Key::ReservedGt, Range::Share)
            .says(
                "reserved / memory of the device above",
                "保留内存占设备内存的比例大于",
            )
            .at(0.50),
    ],
    en: Prose {
        says: "device memory is fragmented",
        checks: "(reserved - allocated) / reserved at the peak exceeds share_gt, and reserved memory, divided by that of the device, \
         exceeds reserved_gt.",
        matters: "Reserved memory in pieces of the wrong size cannot be used: the program runs out of memory while some is free.",
        not_judged: "Reserved memory was not recorded, or the size of the device is unknown.",
        advice: "Set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, and pad samples to few different lengths.",
    },
    zh: Prose {
        says: "设备内存碎片化",
        checks: "峰值时（保留 - 已分配）/ 保留超过 share_gt，且保留内存除以设备内存超过 reserved_gt。",
        matters: "大小不合适的碎片无法使用：仍有空闲内存时程序就会内存不足。",
        not_judged: "未记录保留的内存，或设备内存大小未知。",
        advice: "设置 PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True，并把样本补齐到少数几种长度。",
    },
    ..of(Rule::MemoryFragmentation)
};

pub(crate) static ALLOCATOR_IN_STEP: Condition = Condition {
    recommended: true,
    parameters: &[limit(Key::SkipSteps, Range::Count)
        .says("number of first steps not judged", "不判断的最初迭代数")
        .at(2.0)
        .support()],
    counts: super::super::text("allocator calls", "次分配器调用"),
    en: Prose {
        says: "device memory allocated within steps",
        checks: "cudaMalloc or cudaFree is called in a step after the first skip_steps ones of the session.",
        matters: "The framework keeps the memory that it once allocated; a call of the device's allocator waits for all kernels. In a \
         steady training there is none after the first steps.",
        not_judged: "No calls of the runtime or no further steps were recorded.",
        advice: "Pad samples to few different lengths, allocate the longest one first, do not call torch.cuda.empty_cache() in the loop, \
         and leave some memory free.",
    },
    zh: Prose {
        says: "迭代中分配设备内存",
        checks: "会话最初 skip_steps 个迭代之后，迭代中调用了 cudaMalloc 或 cudaFree。",
        matters: "框架会保留已分配的内存；调用设备的分配器要等待所有 kernel。平稳的训练在最初几个迭代之后不会调用。",
        not_judged: "未记录运行时调用，或没有更多迭代。",
        advice: "把样本补齐到少数几种长度，先分配最长的样本，不要在循环中调用 torch.cuda.empty_cache()，并留出空闲内存。",
    },
    ..of(Rule::AllocatorInStep)
};
