//! The texts of the data pipeline, in both languages.

use crate::format;

/// Sentence of waiting time, whole time, share, and the name of that time.
type WaitSentence = fn(&str, &str, &str, &str) -> String;

/// Texts of the page about the data pipeline and the time training waits for data.
pub struct PipelineTexts {
    pub title: &'static str,
    pub none: &'static str,
    pub none_next: &'static str,
    pub no_graph: &'static str,
    /// Operations, batches or samples, batch size.
    pub totals: fn(u64, Option<i64>, Option<i64>) -> String,
    /// Operations are left out: shown, all.
    pub cut: fn(u64, u64) -> String,
    pub choose: &'static str,
    /// A pipeline of a rank and a step.
    pub of_rank: fn(u32, i64) -> String,
    pub rank: fn(u32) -> String,
    /// Label of the picture.
    pub picture: fn(u64) -> String,
    pub unnamed: &'static str,
    /// Place of an operation among all.
    pub place: fn(u64, u64) -> String,
    pub parameters: &'static str,
    pub transforms: &'static str,
    pub sampler: &'static str,
    /// Heads: what feeds it, what it feeds.
    pub neighbours: [&'static str; 2],
    pub no_parameters: &'static str,
    /// More rows of a list.
    pub more: fn(u64) -> String,
    pub against: &'static str,
    /// The other run's pipeline is the same, differs, or was not recorded.
    pub compared: [&'static str; 3],
    /// Only the other run has these operations.
    pub only_there: fn(&str) -> String,
    /// An operation: the other run has none like it, or gives it other parameters.
    pub differs: [&'static str; 2],
    /// Waiting by how bad it is: no matter, a warning, an error.
    pub waits: [WaitSentence; 3],
    /// Names of the time that a share is of: the step, the time from batch to batch.
    pub wholes: [&'static str; 2],
    /// Too few steps to judge how long they waited: steps, waiting, time of a step.
    pub too_few_steps: fn(u64, &str, &str) -> String,
    /// Too few samples of the queues to draw them.
    pub too_few_samples: fn(u64) -> String,
    /// The step that waited longest: step, waiting, its time, steps profiled.
    pub longest: fn(&str, &str, &str, u64) -> String,
    pub advice: &'static str,
    /// No profile; a profile without spans of data.
    pub not_timed: [&'static str; 2],
    pub not_timed_next: &'static str,
    /// Queue state per batch: batches that found it empty, all batches, time of the first batch.
    pub found: fn(u64, u64, &str) -> String,
    /// The queue of the device, if it is filled in time and if not: empty, all.
    pub device: [fn(u64, u64) -> String; 2],
    /// The operation that the rest waits for: its name; how full the queue before it is, if there is one, and after it.
    pub slow: fn(&str, Option<&str>, &str) -> String,
    /// Advice against slow operations: for a source, for any other operation.
    pub slow_advice: [&'static str; 2],
    pub slow_sign: &'static str,
    /// The queue behind an operation: how full, how much it holds.
    pub queue: fn(&str, u64) -> String,
    /// Capacity of a queue.
    pub of: fn(u64) -> String,
    pub ran: &'static str,
    /// Workers; mean fill of the queue behind it; samples that found it empty; the share of their time that workers computed.
    pub ran_rows: [&'static str; 4],
    pub show: &'static str,
    /// Views of operations: parameters, queues, processors.
    pub views: [&'static str; 3],
    /// Queues over time, then work over time: head, what it is, least and most.
    pub heat: [[&'static str; 4]; 2],
    /// Number of samples that found a queue empty.
    pub empties: fn(u64) -> String,
    pub training: &'static str,
    /// Head of the estimates, their unit, and what they are made of.
    pub help: [&'static str; 3],
    /// Number of workers.
    pub with_workers: fn(u64) -> String,
    /// More workers than processors: how many there are.
    pub processors: fn(u64) -> String,
    /// Batches a second, workers now, workers that are enough, time gained, its share.
    pub gain: fn(&str, u64, u64, &str, &str) -> String,
    pub between: &'static str,
    /// Label of the bars of a queue: samples, time between two.
    pub samples: fn(u64, &str) -> String,
    /// A file that could not be read: its path, why.
    pub fault: fn(&str, &str) -> String,
    pub over_steps: &'static str,
    /// Beside it: lane.
    pub on_lane: fn(&str) -> String,
    /// Beside it: by the data set itself, by what brings batches to the device.
    pub clocks: [&'static str; 2],
    /// Read-out under the pointer: step or steps, waiting time, total time, share.
    pub reading: fn(&str, &str, &str, &str) -> String,
    /// Label of the bars: steps, longest waiting.
    pub bars: fn(u64, &str) -> String,
}

fn joined(first: String, others: [Option<String>; 2]) -> String {
    let all = std::iter::once(first).chain(others.into_iter().flatten());
    all.collect::<Vec<_>>().join(" · ")
}

pub(super) const EN: PipelineTexts = PipelineTexts {
    title: "Data pipeline",
    none: "The data pipeline was not recorded",
    none_next: "Record the dataset graph and the time each batch takes:",
    no_graph: "The dataset graph was not recorded. To record it:",
    totals: |operations, size, batch| {
        let operations = match operations {
            1 => "1 operation".to_owned(),
            many => format!("{} operations", format::count(many)),
        };
        let batch = batch.map(|batch| format!("{} samples per step", format::integer(batch)));
        let size = size.map(|size| format!("dataset of {}", format::integer(size)));
        joined(operations, [batch, size])
    },
    cut: |shown, all| {
        format!(
            "the first {} of {} operations",
            format::count(shown),
            format::count(all)
        )
    },
    choose: "Pipeline",
    of_rank: |rank, step| format!("rank {rank}, step {}", format::integer(step)),
    rank: |rank| format!("rank {rank}"),
    picture: |operations| {
        format!(
            "Data pipeline of {} operations, sources first",
            format::count(operations)
        )
    },
    unnamed: "without a name",
    place: |place, all| format!("{} of {}", format::count(place), format::count(all)),
    parameters: "Parameters",
    transforms: "Transforms",
    sampler: "Sampler",
    neighbours: ["From", "To"],
    no_parameters: "no parameters",
    more: |more| format!("{} more", format::count(more)),
    against: "Compare with…",
    compared: [
        "The same pipeline",
        "The pipelines differ",
        "That run has no recorded pipeline",
    ],
    only_there: |names| format!("only there: {names}"),
    differs: ["only here", "other parameters"],
    waits: [
        |wait, whole, share, of| format!("Data loading takes {share} of {of} ({wait} of {whole})."),
        |wait, whole, share, of| {
            format!("Training waits for data {share} of {of} ({wait} of {whole}).")
        },
        |wait, whole, share, of| {
            format!("Training mostly waits for data: {share} of {of} ({wait} of {whole}).")
        },
    ],
    wholes: ["the step", "the time from batch to batch"],
    too_few_steps: |steps, wait, whole| match steps {
        1 => format!(
            "Only 1 step was profiled, too few to judge data loading: it took {wait} of {whole}."
        ),
        _ => format!(
            "Only {} steps were profiled, too few to judge data loading: it took {wait} of {whole} on average.",
            format::count(steps)
        ),
    },
    too_few_samples: |samples| match samples {
        1 => "The queues were sampled once, too few to judge or to draw over time.".to_owned(),
        _ => format!(
            "The queues were sampled {} times, too few to judge or to draw over time.",
            format::count(samples)
        ),
    },
    longest: |step, wait, whole, steps| {
        format!(
            "The longest wait is {wait} of {whole} at step {step}; {} steps were profiled.",
            format::count(steps)
        )
    },
    advice: "Try more workers, a longer prefetch queue, or preprocessing the data once.",
    not_timed: [
        "Data wait time was not recorded",
        "Data wait time was not recorded: the profile has no span named “data”",
    ],
    not_timed_next: "run.steps times this by itself; elsewhere put a span named “data” around the line that gets a batch:",
    found: |empty, batches, first| {
        format!(
            "{} of {} batches found the queue empty, not counting the first one ({first}).",
            format::count(empty),
            format::count(batches)
        )
    },
    device: [
        |empty, batches| {
            format!(
                "The device queue is filled in time: it was empty at {} of {} batches.",
                format::count(empty),
                format::count(batches)
            )
        },
        |empty, batches| {
            format!(
                "Data arrives too slowly: the device queue was empty at {} of {} batches.",
                format::count(empty),
                format::count(batches)
            )
        },
    ],
    slow: |name, before, after| match before {
        Some(before) => format!(
            "{name} is the bottleneck: its input queue is {before} full, its output queue {after}."
        ),
        None => format!(
            "{name} is the bottleneck: it is the source, and its output queue is {after} full."
        ),
    },
    slow_advice: [
        "Try more workers (num_parallel_workers), fewer and larger files, faster storage or a cache; longer queues do not help.",
        "Try more workers (num_parallel_workers, python_multiprocessing for Python functions), a faster function or a cache; longer queues do not help.",
    ],
    slow_sign: "bottleneck",
    queue: |fill, capacity| format!("queue {fill} full, of {}", format::count(capacity)),
    of: |capacity| format!("of {}", format::count(capacity)),
    ran: "Runtime",
    ran_rows: [
        "workers",
        "mean fill of its queue",
        "samples with an empty queue",
        "workers busy (CPU), mean",
    ],
    show: "Show",
    views: ["Parameters", "Queues", "CPU"],
    heat: [
        [
            "Queues over time",
            "share of each queue that is filled",
            "empty",
            "full",
        ],
        ["Work over time", "CPU time per worker", "0 %", "100 %"],
    ],
    empties: |empty| match empty {
        0 => "never empty".to_owned(),
        empty => format!("{} × empty", format::count(empty)),
    },
    training: "training",
    help: [
        "More workers",
        "time per batch, at best",
        "Assumes that this operation is the only bottleneck: while training waits, it is busy for the whole step, and more workers share that time.",
    ],
    with_workers: |workers| match workers {
        1 => "1 worker".to_owned(),
        many => format!("{} workers", format::count(many)),
    },
    processors: |processors| {
        format!(
            "The machine has {} processors: more workers than that help only functions that wait for I/O.",
            format::count(processors)
        )
    },
    gain: |rate, now, enough, gained, share| {
        let now = match now {
            1 => "1 worker".to_owned(),
            many => format!("{} workers", format::count(many)),
        };
        format!(
            "With {now} it delivers {rate} batches per second; {} could save up to {gained} per batch ({share}).",
            format::count(enough)
        )
    },
    between: " ",
    samples: |samples, apart| match samples {
        1 => "Fill of the queue, 1 sample".to_owned(),
        many => format!(
            "Fill of the queue, {} samples, {apart} apart",
            format::count(many)
        ),
    },
    fault: |path, reason| format!("{path} cannot be read to its end: {reason}"),
    over_steps: "Data wait time per step",
    on_lane: |lane| format!("by the spans of lane {lane}"),
    clocks: ["measured at the dataset", "measured at the device queue"],
    reading: |step, wait, whole, share| format!("step {step}: {wait} of {whole} ({share})"),
    bars: |steps, longest| {
        format!(
            "Data wait time of {} steps, {longest} at most",
            format::count(steps)
        )
    },
};

pub(super) const ZH: PipelineTexts = PipelineTexts {
    title: "数据流水线",
    none: "未记录数据流水线",
    none_next: "记录训练前对数据所做的处理及其耗时：",
    no_graph: "未记录对数据所做的处理。可以这样记录：",
    totals: |operations, size, batch| {
        let operations = format!("{} 个算子", format::count(operations));
        let batch = batch.map(|batch| format!("每个迭代 {} 个样本", format::integer(batch)));
        let size = size.map(|size| format!("数据集大小 {}", format::integer(size)));
        joined(operations, [batch, size])
    },
    cut: |shown, all| {
        format!(
            "仅显示前 {} 个算子，共 {} 个",
            format::count(shown),
            format::count(all)
        )
    },
    choose: "流水线",
    of_rank: |rank, step| format!("rank {rank}，迭代 {}", format::integer(step)),
    rank: |rank| format!("rank {rank}"),
    picture: |operations| {
        format!(
            "由 {} 个算子组成的数据流水线，数据源在前",
            format::count(operations)
        )
    },
    unnamed: "未命名",
    place: |place, all| format!("{} / {}", format::count(place), format::count(all)),
    parameters: "参数",
    transforms: "对每个样本的操作",
    sampler: "采样器",
    neighbours: ["输入", "输出"],
    no_parameters: "无参数",
    more: |more| format!("还有 {} 项", format::count(more)),
    against: "对比…",
    compared: ["流水线相同", "流水线不同", "该训练未记录流水线"],
    only_there: |names| format!("仅对方有：{names}"),
    differs: ["仅此处有", "参数不同"],
    waits: [
        |wait, whole, share, of| format!("数据加载占{of}的 {share}（{whole} 中的 {wait}）。"),
        |wait, whole, share, of| {
            format!("训练在等待数据：占{of}的 {share}（{whole} 中的 {wait}）。")
        },
        |wait, whole, share, of| {
            format!("训练大部分时间在等待数据：占{of}的 {share}（{whole} 中的 {wait}）。")
        },
    ],
    wholes: ["每个迭代", "每批总时间"],
    too_few_steps: |steps, wait, whole| {
        format!(
            "仅有 {} 个迭代的性能分析，不足以判断数据加载：平均 {whole} 中占 {wait}。",
            format::count(steps)
        )
    },
    too_few_samples: |samples| {
        format!(
            "队列仅有 {} 次采样，不足以判断或绘制随时间的变化。",
            format::count(samples)
        )
    },
    longest: |step, wait, whole, steps| {
        format!(
            "等待最长的是迭代 {step}：{whole} 中等待 {wait}；共记录 {} 个迭代。",
            format::count(steps)
        )
    },
    advice: "增加工作线程、加长预取队列，或预先处理数据，可缩短迭代时间。",
    not_timed: [
        "未记录等待数据的时间",
        "未记录等待数据的时间：性能分析中没有名为 data 的区间",
    ],
    not_timed_next: "在取一批数据的代码外加一个名为 data 的区间即可：",
    found: |empty, batches, first| {
        format!(
            "{} 个批次中有 {} 个取数据时队列为空。首个批次（{first}）不计入。",
            format::count(batches),
            format::count(empty)
        )
    },
    device: [
        |empty, batches| {
            format!(
                "设备队列供数及时：{} 个批次中有 {} 个时队列为空。",
                format::count(batches),
                format::count(empty)
            )
        },
        |empty, batches| {
            format!(
                "数据供给过慢：{} 个批次中有 {} 个时设备队列为空。",
                format::count(batches),
                format::count(empty)
            )
        },
    ],
    slow: |name, before, after| match before {
        Some(before) => {
            format!("{name} 是慢算子：它之前的队列占用 {before}，之后的队列占用 {after}。")
        }
        None => format!("{name} 是慢算子：它是数据源，之后的队列占用 {after}。"),
    },
    slow_advice: [
        "增加工作线程（num_parallel_workers）、合并小文件、使用更快的存储或缓存会有帮助；加长队列没有帮助。",
        "增加工作线程（num_parallel_workers，Python 函数可用 python_multiprocessing）、优化函数或预先处理并缓存（cache）会有帮助；加长队列没有帮助。",
    ],
    slow_sign: "慢算子",
    queue: |fill, capacity| format!("队列占用 {fill}，容量 {}", format::count(capacity)),
    of: |capacity| format!("/ {}", format::count(capacity)),
    ran: "运行情况",
    ran_rows: [
        "工作线程",
        "输出队列平均占用",
        "队列为空的采样",
        "工作线程平均繁忙（CPU）",
    ],
    show: "显示",
    views: ["参数", "队列", "CPU"],
    heat: [
        ["各时刻的队列", "各队列占用与容量之比", "空", "满"],
        [
            "各时刻的计算",
            "工作线程的计算时间，各按一个处理器计",
            "0 %",
            "100 %",
        ],
    ],
    empties: |empty| match empty {
        0 => "从未为空".to_owned(),
        empty => format!("{} 次为空", format::count(empty)),
    },
    training: "训练",
    help: [
        "改进估计",
        "每批时间，最好情况",
        "训练等待数据时，该算子从不空闲：处理一个批次与该迭代等长，增加工作线程可以分担。此后由哪个算子限制尚不可知。",
    ],
    with_workers: |workers| format!("{} 个工作线程", format::count(workers)),
    processors: |processors| {
        format!(
            "本机有 {} 个处理器：工作线程多于此数时，仅对等待其他资源的函数有帮助。",
            format::count(processors)
        )
    },
    gain: |rate, now, enough, gained, share| {
        format!(
            "它以 {} 个工作线程每秒给出 {rate} 个批次；若有 {} 个，每批最多可节省 {gained}（{share}）。",
            format::count(now),
            format::count(enough)
        )
    },
    between: "",
    samples: |samples, apart| match samples {
        1 => "队列占用，1 次采样".to_owned(),
        many => format!("队列占用，{} 次采样，间隔 {apart}", format::count(many)),
    },
    fault: |path, reason| format!("{path} 无法完整读取：{reason}"),
    over_steps: "各迭代等待数据的时间",
    on_lane: |lane| format!("取自 {lane} 的区间"),
    clocks: ["取自数据集给出每个批次的时间", "取自批次送往设备的时间"],
    reading: |step, wait, whole, share| format!("迭代 {step}：{whole} 中等待 {wait}（{share}）"),
    bars: |steps, longest| {
        format!(
            "{} 个迭代中等待数据的时间，最长 {longest}",
            format::count(steps)
        )
    },
};
