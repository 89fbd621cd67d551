//! The texts of the data pipeline, in both languages.

use crate::format;
use crate::i18n::Text;

/// Sentence of waiting time, whole time, share, and the name of that time.
type WaitSentence = fn(&str, &str, &str, &str) -> String;

texts! {
    /// Texts of the page about the data pipeline and the time training waits for data.
    PipelineTexts

    none = "The data pipeline was not recorded", "未记录数据流水线";
    none_next = "Record the dataset graph and the time each batch takes:", "记录训练前对数据所做的处理及其耗时：";
    no_graph = "The dataset graph was not recorded. To record it:", "未记录对数据所做的处理。可以这样记录：";
    /// Operations, batches or samples, batch size.
    totals: fn(u64, Option<i64>, Option<i64>) -> String =
        |operations, size, batch| {
            let operations = match operations {
                1 => "1 operation".to_owned(),
                many => format!("{} operations", format::count(many)),
            };
            let batch = batch.map(|batch| format!("{} samples per step", format::integer(batch)));
            let size = size.map(|size| format!("dataset of {}", format::integer(size)));
            joined(operations, [batch, size])
        },
        |operations, size, batch| {
            let operations = format!("{} 个操作", format::count(operations));
            let batch = batch.map(|batch| format!("每个迭代 {} 个样本", format::integer(batch)));
            let size = size.map(|size| format!("数据集大小 {}", format::integer(size)));
            joined(operations, [batch, size])
        };
    /// Operations are left out: shown, all.
    cut: fn(u64, u64) -> String =
        |shown, all| format!("the first {} of {} operations", format::count(shown), format::count(all)),
        |shown, all| format!("仅显示前 {} 个操作，共 {} 个", format::count(shown), format::count(all));
    choose = "Pipeline", "流水线";
    /// A pipeline of a rank and a step.
    of_rank: fn(u32, i64) -> String =
        |rank, step| format!("rank {rank}, step {}", format::integer(step)),
        |rank, step| format!("rank {rank}，迭代 {}", format::integer(step));
    rank: fn(u32) -> String = |rank| format!("rank {rank}"), |rank| format!("rank {rank}");
    /// Label of the picture.
    picture: fn(u64) -> String =
        |operations| format!("Data pipeline of {} operations, sources first", format::count(operations)),
        |operations| format!("由 {} 个操作组成的数据流水线，数据源在前", format::count(operations));
    unnamed = "without a name", "未命名";
    /// Place of an operation among all.
    place: fn(u64, u64) -> String =
        |place, all| format!("{} of {}", format::count(place), format::count(all)),
        |place, all| format!("{} / {}", format::count(place), format::count(all));
    parameters = "Parameters", "参数";
    transforms = "Transforms", "对每个样本的操作";
    sampler = "Sampler", "采样器";
    /// Heads: inputs, outputs.
    neighbours: [Text; 2] = ["From", "To"], ["输入", "输出"];
    no_parameters = "no parameters", "无参数";
    /// More rows of a list.
    more: fn(u64) -> String =
        |more| format!("{} more", format::count(more)),
        |more| format!("还有 {} 项", format::count(more));
    against = "Compare with…", "对比…";
    /// The other run's pipeline is the same, differs, or was not recorded.
    compared: [Text; 3] =
        ["The same pipeline", "The pipelines differ", "That run has no recorded pipeline"],
        ["流水线相同", "流水线不同", "该训练未记录流水线"];
    /// Only the other run has these operations.
    only_there: fn(&str) -> String = |names| format!("only there: {names}"), |names| format!("仅对方有：{names}");
    /// An operation: missing in the other run, or with other parameters there.
    differs: [Text; 2] = ["only here", "other parameters"], ["仅此处有", "参数不同"];
    /// Waiting by severity: harmless, a warning, an error.
    waits: [WaitSentence; 3] =
        [
            |wait,
            whole,
            share,
            of| format!("Data loading takes {share} of {of} ({wait} of {whole})."),
            |wait,
            whole,
            share,
            of| {
                format!("Training waits for data {share} of {of} ({wait} of {whole}).")
            },
            |wait,
            whole,
            share,
            of| {
                format!("Training mostly waits for data: {share} of {of} ({wait} of {whole}).")
            },
        ],
        [
            |wait,
            whole,
            share,
            of| format!("数据加载占{of}的 {share}（{whole} 中的 {wait}）。"),
            |wait,
            whole,
            share,
            of| {
                format!("训练在等待数据：占{of}的 {share}（{whole} 中的 {wait}）。")
            },
            |wait,
            whole,
            share,
            of| {
                format!("训练大部分时间在等待数据：占{of}的 {share}（{whole} 中的 {wait}）。")
            },
        ];
    /// Names of the whole that a share is of: the step, the time from batch to batch.
    wholes: [Text; 2] = ["the step", "the time from batch to batch"], ["每个迭代", "每批总时间"];
    /// Too few steps to judge their waiting: steps, waiting, time of a step.
    too_few_steps: fn(u64, &str, &str) -> String =
        |steps, wait, whole| match steps {
            1 => format!(
                "Only 1 step was profiled, too few to judge data loading: it took {wait} of {whole}."
            ),
            _ => format!(
                "Only {} steps were profiled, too few to judge data loading: it took {wait} of {whole} on average.",
                format::count(steps)
            ),
        },
        |steps, wait, whole| {
            format!(
                "仅有 {} 个迭代的性能分析，不足以判断数据加载：平均 {whole} 中占 {wait}。",
                format::count(steps)
            )
        };
    /// Too few samples of the queues to draw them.
    too_few_samples: fn(u64) -> String =
        |samples| match samples {
            1 => "The queues were sampled once, too few to judge or to draw over time.".to_owned(),
            _ => format!(
                "The queues were sampled {} times, too few to judge or to draw over time.",
                format::count(samples)
            ),
        },
        |samples| format!("队列仅有 {} 次采样，不足以判断或绘制随时间的变化。", format::count(samples));
    /// The step that waited longest: step, waiting, its time, steps profiled.
    longest: fn(&str, &str, &str, u64) -> String =
        |step, wait, whole, steps| {
            format!(
                "The longest wait is {wait} of {whole} at step {step}; {} steps were profiled.",
                format::count(steps)
            )
        },
        |step, wait, whole, steps| {
            format!(
                "等待最长的是迭代 {step}：{whole} 中等待 {wait}；共记录 {} 个迭代。",
                format::count(steps)
            )
        };
    advice =
        "Try more workers, a longer prefetch queue, or preprocessing the data once.",
        "增加工作线程、加长预取队列，或预先处理数据，可缩短迭代时间。";
    /// No profile; a profile without spans of data.
    not_timed: [Text; 2] =
        ["Data wait time was not recorded", "Data wait time was not recorded: the profile has no span named “data”"],
        ["未记录等待数据的时间", "未记录等待数据的时间：性能分析中没有名为 data 的区间"];
    not_timed_next =
        "run.steps times this by itself; elsewhere put a span named “data” around the line that gets a batch:",
        "在取一批数据的代码外加一个名为 data 的区间即可：";
    /// Queue state per batch: batches that found it empty, all batches, time of the first batch.
    found: fn(u64, u64, &str) -> String =
        |empty, batches, first| {
            format!(
                "{} of {} batches found the queue empty, not counting the first one ({first}).",
                format::count(empty),
                format::count(batches)
            )
        },
        |empty, batches, first| {
            format!(
                "{} 个批次中有 {} 个取数据时队列为空。首个批次（{first}）不计入。",
                format::count(batches),
                format::count(empty)
            )
        };
    /// The queue of the device, if it is filled in time and if not: empty, all.
    device: [fn(u64, u64) -> String; 2] =
        [
            |empty,
            batches| {
                format!(
                    "The device queue is filled in time: it was empty at {} of {} batches.",
                    format::count(empty),
                    format::count(batches)
                )
            },
            |empty,
            batches| {
                format!(
                    "Data arrives too slowly: the device queue was empty at {} of {} batches.",
                    format::count(empty),
                    format::count(batches)
                )
            },
        ],
        [
            |empty,
            batches| {
                format!(
                    "设备队列供数及时：{} 个批次中有 {} 个时队列为空。",
                    format::count(batches),
                    format::count(empty)
                )
            },
            |empty,
            batches| {
                format!(
                    "数据供给过慢：{} 个批次中有 {} 个时设备队列为空。",
                    format::count(batches),
                    format::count(empty)
                )
            },
        ];
    /// The operation that the rest waits for: its name, the fill of the queue before it, if any, and of the one after
    /// it.
    slow: fn(&str, Option<&str>, &str) -> String =
        |name, before, after| match before {
            Some(before) => format!(
                "{name} is the bottleneck: its input queue is {before} full, its output queue {after}."
            ),
            None => format!(
                "{name} is the bottleneck: it is the source, and its output queue is {after} full."
            ),
        },
        |name, before, after| match before {
            Some(before) => {
                format!("{name} 是瓶颈：它之前的队列占用 {before}，之后的队列占用 {after}。")
            }
            None => format!("{name} 是瓶颈：它是数据源，之后的队列占用 {after}。"),
        };
    /// Advice against slow operations: for a source, for any other operation.
    slow_advice: [Text; 2] =
        [
            "Try more workers (num_parallel_workers), fewer and larger files, faster storage or a cache; longer queues do not help.",
            "Try more workers (num_parallel_workers, python_multiprocessing for Python functions), a faster function or a cache; longer queues do not help.",
        ],
        [
            "增加工作线程（num_parallel_workers）、合并小文件、使用更快的存储或缓存会有帮助；加长队列没有帮助。",
            "增加工作线程（num_parallel_workers，Python 函数可用 python_multiprocessing）、优化函数或预先处理并缓存（cache）会有帮助；加长队列没有帮助。",
        ];
    slow_sign = "bottleneck", "瓶颈";
    /// The queue behind an operation: its fill, its capacity.
    queue: fn(&str, u64) -> String =
        |fill, capacity| format!("queue {fill} full, of {}", format::count(capacity)),
        |fill, capacity| format!("队列占用 {fill}，容量 {}", format::count(capacity));
    /// Capacity of a queue.
    of: fn(u64) -> String =
        |capacity| format!("of {}", format::count(capacity)),
        |capacity| format!("/ {}", format::count(capacity));
    ran = "Runtime", "运行情况";
    /// Workers; mean fill of the queue behind it; samples that found it empty; the share of their time that workers
    /// computed.
    ran_rows: [Text; 4] =
        ["workers", "mean fill of its queue", "samples with an empty queue", "workers busy (CPU), mean"],
        ["工作线程", "输出队列平均占用", "队列为空的采样", "工作线程平均繁忙（CPU）"];
    show = "Show", "显示";
    /// Views of operations: parameters, queues, processors.
    views: [Text; 3] = ["Parameters", "Queues", "CPU"], ["参数", "队列", "CPU"];
    /// Queues over time, then work over time: head, description, minimum and maximum.
    heat: [[Text; 4]; 2] =
        [
            ["Queues over time", "share of each queue that is filled", "empty", "full"],
            ["Work over time", "CPU time per worker", "0 %", "100 %"],
        ],
        [
            ["各时刻的队列", "各队列占用与容量之比", "空", "满"],
            ["各时刻的计算", "工作线程的计算时间，各按一个处理器计", "0 %", "100 %"],
        ];
    /// Number of samples that found a queue empty.
    empties: fn(u64) -> String =
        |empty| match empty {
            0 => "never empty".to_owned(),
            empty => format!("{} × empty", format::count(empty)),
        },
        |empty| match empty {
            0 => "从未为空".to_owned(),
            empty => format!("{} 次为空", format::count(empty)),
        };
    training = "training", "训练";
    /// Head of the estimates, their unit, and their basis.
    help: [Text; 3] =
        [
            "More workers", "time per batch, at best",
            "Assumes that this operation is the only bottleneck: while training waits, it is busy for the whole step, and more workers share that time.",
        ],
        [
            "改进估计", "每批时间，最好情况",
            "训练等待数据时，该操作从不空闲：处理一个批次与该迭代等长，增加工作线程可以分担。此后由哪个操作限制尚不可知。",
        ];
    /// Number of workers.
    with_workers: fn(u64) -> String =
        |workers| match workers {
            1 => "1 worker".to_owned(),
            many => format!("{} workers", format::count(many)),
        },
        |workers| format!("{} 个工作线程", format::count(workers));
    /// More workers than processors: number of processors.
    processors: fn(u64) -> String =
        |processors| {
            format!(
                "The machine has {} processors: more workers than that help only functions that wait for I/O.",
                format::count(processors)
            )
        },
        |processors| {
            format!(
                "本机有 {} 个处理器：工作线程多于此数时，仅对等待其他资源的函数有帮助。",
                format::count(processors)
            )
        };
    /// Batches a second, workers now, sufficient workers, time gained, its share.
    gain: fn(&str, u64, u64, &str, &str) -> String =
        |rate, now, enough, gained, share| {
            let now = match now {
                1 => "1 worker".to_owned(),
                many => format!("{} workers", format::count(many)),
            };
            format!(
                "With {now} it delivers {rate} batches per second; {} could save up to {gained} per batch ({share}).",
                format::count(enough)
            )
        },
        |rate, now, enough, gained, share| {
            format!(
                "它以 {} 个工作线程每秒给出 {rate} 个批次；若有 {} 个，每批最多可节省 {gained}（{share}）。",
                format::count(now),
                format::count(enough)
            )
        };
    between = " ", "";
    /// Label of the bars of a queue: samples, time between two.
    samples: fn(u64, &str) -> String =
        |samples, apart| match samples {
            1 => "Fill of the queue, 1 sample".to_owned(),
            many => format!(
                "Fill of the queue, {} samples, {apart} apart",
                format::count(many)
            ),
        },
        |samples, apart| match samples {
            1 => "队列占用，1 次采样".to_owned(),
            many => format!("队列占用，{} 次采样，间隔 {apart}", format::count(many)),
        };
    /// A file that could not be read: its path, the reason.
    fault: fn(&str, &str) -> String =
        |path, reason| format!("{path} cannot be read to its end: {reason}"),
        |path, reason| format!("{path} 无法完整读取：{reason}");
    over_steps = "Data wait time per step", "各迭代等待数据的时间";
    /// Next to it: lane.
    on_lane: fn(&str) -> String = |lane| format!("by the spans of lane {lane}"), |lane| format!("取自 {lane} 的区间");
    /// Next to it: measured at the data set, or at the queue of the device.
    clocks: [Text; 2] =
        ["measured at the dataset", "measured at the device queue"],
        ["取自数据集给出每个批次的时间", "取自批次送往设备的时间"];
    /// Read-out under the pointer: step or steps, waiting time, total time, share.
    reading: fn(&str, &str, &str, &str) -> String =
        |step, wait, whole, share| format!("step {step}: {wait} of {whole} ({share})"),
        |step, wait, whole, share| format!("迭代 {step}：{whole} 中等待 {wait}（{share}）");
    /// Label of the bars: steps, longest waiting.
    bars: fn(u64, &str) -> String =
        |steps, longest| format!("Data wait time of {} steps, {longest} at most", format::count(steps)),
        |steps, longest| format!("{} 个迭代中等待数据的时间，最长 {longest}", format::count(steps));
}

fn joined(first: String, others: [Option<String>; 2]) -> String {
    let all = std::iter::once(first).chain(others.into_iter().flatten());
    all.collect::<Vec<_>>().join(" · ")
}
