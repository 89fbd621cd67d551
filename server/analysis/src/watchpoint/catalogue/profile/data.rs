//! Conditions about waiting for data, and about the recording itself.

use super::{Condition, Key, Prose, Range, limit, of};
use crate::trace::advice::Rule;
use trainscope_format::Severity;

pub(crate) static DATA_BOUND: Condition = Condition {
    recommended: true,
    parameters: &[
        limit(Key::ShareGt, Range::Share)
            .says(
                "waiting for data / time of the steps above",
                "等待数据的时间占迭代时间的比例大于",
            )
            .at(0.10),
        limit(Key::ShareErrorGt, Range::Share)
            .says(
                "the same, for an error, above",
                "同上，达到错误级别的比例大于",
            )
            .at(0.50)
            .support(),
    ],
    en: Prose {
        says: "steps wait for data",
        checks: "The part of the steps in which the program waits for the next batch, or the waiting time of the data \
         set's iterator, divided by the time of the steps, exceeds share_gt; an error beyond share_error_gt. Data parts \
         are slices of the data loader during which no device works.",
        matters: "All devices are idle while a batch is being prepared. The profiler of TensorBoard notes a share of 5 %; twice that \
         is a delay that more workers can remove.",
        not_judged: "Neither steps nor an iterator of a data set were recorded.",
        advice: "Load data in more processes (PyTorch: DataLoader(num_workers=…, pin_memory=True, prefetch_factor=…); MindSpore: \
         num_parallel_workers, prefetch; TensorFlow: map(num_parallel_calls=AUTOTUNE), prefetch), or prepare them once and \
         store them.",
    },
    zh: Prose {
        says: "迭代在等待数据",
        checks: "程序等待下一批数据的部分，或数据集迭代器的等待时间，除以迭代时间，超过 share_gt；超过 share_error_gt 为错误。\
         数据部分是没有设备在工作时的数据加载时间片。",
        matters: "准备一批数据时，所有设备都空闲。TensorBoard 的性能分析器在 5 % 时提示；两倍于此的延迟可以用更多进程消除。",
        not_judged: "既未记录迭代，也未记录数据集的迭代器。",
        advice: "用更多进程加载数据（PyTorch：DataLoader(num_workers=…, pin_memory=True, prefetch_factor=…)；MindSpore：\
         num_parallel_workers、prefetch；TensorFlow：map(num_parallel_calls=AUTOTUNE)、prefetch），或提前处理并保存数据。",
    },
    ..of(Rule::DataBound)
};

pub(crate) static PROFILER_OVERHEAD: Condition = Condition {
    severity: Severity::Info,
    parameters: &[limit(Key::ShareGt, Range::Share)
        .says(
            "cost of the profiler / time of the steps above",
            "性能分析器的开销占迭代时间的比例大于",
        )
        .at(0.05)],
    en: Prose {
        says: "profiler slows down the steps",
        checks: "The overhead that the profiler recorded of itself, and 1 µs for each Python frame, divided by the time of the \
         steps, exceeds share_gt.",
        matters: "All times of such a profile are longer than those of the training, most of all those of short operators.",
        not_judged: "The recording has no duration.",
        advice: "Profile without stacks, shapes and memory (with_stack=False, record_shapes=False, profile_memory=False) to measure \
         times, and with them to find the code.",
    },
    zh: Prose {
        says: "性能分析器拖慢了迭代",
        checks: "分析器记录的自身开销，加上每个 Python 栈帧 1 µs，除以迭代时间，超过 share_gt。",
        matters: "这样的数据中所有时间都比实际训练长，短算子尤其如此。",
        not_judged: "记录没有时长。",
        advice: "测量时间时不记录调用栈、形状和内存（with_stack=False、record_shapes=False、profile_memory=False）；查找代码时再打开。",
    },
    ..of(Rule::ProfilerOverhead)
};

pub(crate) static PROFILE_DAMAGED: Condition = Condition {
    severity: Severity::Info,
    counts: super::super::text("places not read", "处无法读取"),
    en: Prose {
        says: "profile is damaged or incomplete",
        checks: "A file of the profile ends before its last event is complete, has events that cannot be read, or says that events \
         were dropped.",
        matters: "Sums and shares of an incomplete profile are too small; everything that was read is shown.",
        not_judged: "Files that are still being written.",
        advice: "Let the profiler stop before the program ends, and record fewer steps or fewer kinds of events.",
    },
    zh: Prose {
        says: "性能分析损坏或不完整",
        checks: "性能分析的文件在最后一个事件完整之前结束，含有无法读取的事件，或注明丢弃了事件。",
        matters: "不完整的数据中，总和与比例偏小；所有读到的内容都会显示。",
        not_judged: "仍在写入的文件。",
        advice: "在程序结束前停止性能分析器，并减少记录的迭代数或事件种类。",
    },
    ..of(Rule::ProfileDamaged)
};
