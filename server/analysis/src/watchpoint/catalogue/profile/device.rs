//! Conditions about devices that wait, and about work that takes longer than needed.

use super::{Condition, Key, Prose, Range, limit, of};
use crate::trace::advice::Rule;
use trainscope_format::Severity;

pub(crate) static DEVICE_IDLE: Condition = Condition {
    severity: Severity::Info,
    parameters: &[
        limit(Key::ShareGt, Range::Share)
            .says("idle share of the device above", "设备空闲的比例大于")
            .at(0.30),
        limit(Key::UtilizationLt, Range::Share)
            .says(
                "utilization, for a warning, below",
                "达到警告级别的利用率小于",
            )
            .at(0.50)
            .support(),
    ],
    en: Prose {
        says: "device is idle",
        checks: "1 - (time in which kernels, copies or communication run) / time of the steps exceeds share_gt; a warning if kernels \
         and communication run for less than utilization_lt of the time.",
        matters: "A device that waits costs as much as one that computes. 50 % is the limit of the profiler of TensorBoard.",
        not_judged: "No device or no steps were recorded.",
        advice: "Find the cause among the other findings: waiting for data, for the host or for other ranks; else a larger batch.",
    },
    zh: Prose {
        says: "设备空闲",
        checks: "1 -（kernel、拷贝或通信运行的时间）/ 迭代时间超过 share_gt；kernel 与通信的时间少于 utilization_lt 时为警告。",
        matters: "等待的设备与计算的设备花费相同。50 % 是 TensorBoard 性能分析器的限值。",
        not_judged: "未记录设备或迭代。",
        advice: "从其他结果中找原因：等待数据、等待主机或等待其他 rank；否则增大批次。",
    },
    ..of(Rule::DeviceIdle)
};

pub(crate) static HOST_BOUND: Condition = Condition {
    recommended: true,
    parameters: &[limit(Key::ShareGt, Range::Share)
        .says(
            "idle time caused by the host / steps above",
            "由主机引起的空闲占迭代时间的比例大于",
        )
        .at(0.20)],
    en: Prose {
        says: "device waits for the host",
        checks: "Gaps of a stream whose next kernel was launched after the gap had started, without those in which the host waited \
         for data or for the device, divided by the time of the steps, exceed share_gt.",
        matters: "The device is faster than the program that gives it work (host wait of Holistic Trace Analysis): a faster device \
         would not make the steps shorter.",
        not_judged: "No device, no steps or no launches were recorded.",
        advice: "Launch fewer and larger kernels: torch.compile, CUDA graphs (mode=\"reduce-overhead\"), a larger batch, \
         optimizers with fused=True or foreach=True, and no Python loops over samples or layers.",
    },
    zh: Prose {
        says: "设备在等待主机",
        checks: "流中的空隙，其后的 kernel 在空隙开始之后才下发，去掉主机等待数据或等待设备的部分，除以迭代时间，超过 share_gt。",
        matters: "设备比给它下发任务的程序快（Holistic Trace Analysis 的 host wait）：更快的设备不会缩短迭代。",
        not_judged: "未记录设备、迭代或下发调用。",
        advice: "下发更少、更大的 kernel：torch.compile、CUDA graphs（mode=\"reduce-overhead\"）、更大的批次、fused=True 或 foreach=True \
         的优化器，不用 Python 循环遍历样本或层。",
    },
    ..of(Rule::HostBound)
};

pub(crate) static LAUNCH_BOUND: Condition = Condition {
    parameters: &[
        limit(Key::ShareGt, Range::Share)
            .says(
                "kernels shorter than their launch above",
                "短于其下发调用的 kernel 的比例大于",
            )
            .at(0.50),
        limit(Key::IdleGt, Range::Share)
            .says(
                "idle time caused by host or kernels / steps above",
                "由主机或 kernel 间隔引起的空闲占迭代时间的比例大于",
            )
            .at(0.10),
    ],
    en: Prose {
        says: "launches take longer than kernels",
        checks: "More than share_gt of the kernels are shorter than the call that launches them, and the idle time of cause host or \
         kernel, divided by the time of the steps, exceeds idle_gt.",
        matters: "A call takes some microseconds, whatever it launches (short kernels of Holistic Trace Analysis).",
        not_judged: "No device, no steps or no launches were recorded.",
        advice: "Join kernels: torch.compile, CUDA graphs, fused optimizers and layers, or a larger batch.",
    },
    zh: Prose {
        says: "下发比 kernel 更耗时",
        checks: "超过 share_gt 的 kernel 短于其下发调用，且由主机或 kernel 间隔引起的空闲除以迭代时间，超过 idle_gt。",
        matters: "无论下发什么，一次调用都要几微秒（Holistic Trace Analysis 的 short kernels）。",
        not_judged: "未记录设备、迭代或下发调用。",
        advice: "合并 kernel：torch.compile、CUDA graphs、融合的优化器与层，或更大的批次。",
    },
    ..of(Rule::LaunchBound)
};

pub(crate) static SYNC_IN_STEP: Condition = Condition {
    parameters: &[
        limit(Key::CallsGe, Range::Positive)
            .says(
                "waiting calls a step, besides the last, at least",
                "除最后一次外，每个迭代的等待调用不小于",
            )
            .at(1.0),
        limit(Key::IdleGt, Range::Share)
            .says(
                "idle time after them / steps above",
                "其后的空闲占迭代时间的比例大于",
            )
            .at(0.02),
    ],
    en: Prose {
        says: "host waits for the device",
        checks: "Calls in the forward pass, the backward pass or the update wait for the device (…Synchronize, synchronous copies \
         below item, nonzero or is_nonzero) at least calls_ge times a step besides the last, and the device is idle \
         after them for more than idle_gt of the steps.",
        matters: "The host cannot launch ahead while it waits, so the device is idle until the next launch.",
        not_judged: "No device, no steps or no launches were recorded.",
        advice: "Remove .item(), .cpu(), print(tensor) and conditions on tensors from the loop, or do them every hundredth step; copy \
         with non_blocking=True.",
    },
    zh: Prose {
        says: "主机在等待设备",
        checks: "前向、反向或更新中的调用等待设备（…Synchronize，item、nonzero、is_nonzero 之下的同步拷贝），除最后一次外每个迭代至少 \
         calls_ge 次，且其后设备空闲超过迭代时间的 idle_gt。",
        matters: "主机等待时无法提前下发，设备在下一次下发之前空闲。",
        not_judged: "未记录设备、迭代或下发调用。",
        advice: "从循环中去掉 .item()、.cpu()、print(tensor) 和对张量的条件判断，或每一百个迭代做一次；拷贝时使用 non_blocking=True。",
    },
    ..of(Rule::SyncInStep)
};

pub(crate) static PAGEABLE_COPIES: Condition = Condition {
    parameters: &[limit(Key::ShareGt, Range::Share)
        .says(
            "copies from pageable memory / steps above",
            "可分页内存的拷贝占迭代时间的比例大于",
        )
        .at(0.02)],
    en: Prose {
        says: "copies from pageable memory",
        checks: "Copies from pageable memory of the host to a device take more than share_gt of the time of the steps.",
        matters: "The driver copies pageable memory into pinned memory first, and the call does not return before (CUDA C++ Best \
         Practices Guide, pinned memory).",
        not_judged: "No device or no steps were recorded.",
        advice: "DataLoader(pin_memory=True) and tensor.to(device, non_blocking=True).",
    },
    zh: Prose {
        says: "从可分页内存拷贝",
        checks: "从主机的可分页内存到设备的拷贝超过迭代时间的 share_gt。",
        matters: "驱动程序先把可分页内存复制到锁页内存，调用在此之前不返回（CUDA C++ 最佳实践指南，锁页内存）。",
        not_judged: "未记录设备或迭代。",
        advice: "使用 DataLoader(pin_memory=True) 和 tensor.to(device, non_blocking=True)。",
    },
    ..of(Rule::PageableCopies)
};

pub(crate) static TENSOR_CORES_UNUSED: Condition = Condition {
    severity: Severity::Info,
    parameters: &[limit(Key::ShareGt, Range::Share)
        .says(
            "kernel time of operators that could use them above",
            "可使用 Tensor Core 的算子占 kernel 时间的比例大于",
        )
        .at(0.30)],
    en: Prose {
        says: "tensor cores are not used",
        checks: "A device of compute capability 7.0 or later runs no kernel on its tensor cores, and more than share_gt of the kernel \
         time belongs to matrix products, convolutions and attention.",
        matters: "Tensor cores multiply matrices of 16 bits, or TF32, several times as fast as other cores.",
        not_judged: "No kernels were recorded, or the kind of the device is unknown.",
        advice: "torch.autocast with bfloat16 or float16, torch.backends.cuda.matmul.allow_tf32 = True, and sizes that are multiples \
         of 8.",
    },
    zh: Prose {
        says: "未使用 Tensor Core",
        checks: "计算能力 7.0 及以上的设备没有 kernel 使用 Tensor Core，且超过 share_gt 的 kernel 时间属于矩阵乘、卷积和注意力。",
        matters: "Tensor Core 对 16 位或 TF32 矩阵的乘法比其他计算单元快数倍。",
        not_judged: "未记录 kernel，或设备型号未知。",
        advice: "使用 bfloat16 或 float16 的 torch.autocast，torch.backends.cuda.matmul.allow_tf32 = True，尺寸取 8 的倍数。",
    },
    ..of(Rule::TensorCoresUnused)
};

pub(crate) static MANY_SMALL_OPTIMIZER_KERNELS: Condition = Condition {
    severity: Severity::Info,
    parameters: &[
        limit(Key::KernelsGt, Range::Count)
            .says(
                "kernels of one name in an update above",
                "一次更新中同名 kernel 的数量大于",
            )
            .at(50.0),
        limit(Key::MicrosLt, Range::Positive)
            .says(
                "their mean duration in microseconds below",
                "其平均时长（微秒）小于",
            )
            .at(10.0),
    ],
    en: Prose {
        says: "many small kernels in updates",
        checks: "The update of a step launches more than kernels_gt kernels of one name whose mean duration is below micros_lt.",
        matters: "An optimizer that updates the parameters one by one launches kernels for each of them, and each launch takes longer \
         than the kernel.",
        not_judged: "No launches or no steps were recorded, or no slice is an update.",
        advice: "torch.optim.AdamW(…, fused=True) or foreach=True.",
    },
    zh: Prose {
        says: "更新中有大量小 kernel",
        checks: "一个迭代的更新下发超过 kernels_gt 个同名 kernel，其平均时长小于 micros_lt。",
        matters: "逐个更新参数的优化器为每个参数下发 kernel，每次下发比 kernel 本身更久。",
        not_judged: "未记录下发调用或迭代，或没有更新的时间片。",
        advice: "torch.optim.AdamW(…, fused=True) 或 foreach=True。",
    },
    ..of(Rule::ManySmallOptimizerKernels)
};
