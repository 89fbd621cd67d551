//! The texts of ranks side by side.

use crate::format;
use crate::i18n::{Text, many};

texts! {
    /// The ranks of a job.
    RanksTexts

    one_rank = "Only one rank was recorded", "只记录了一个 rank";
    rank_name: fn(u32) -> String = |rank| format!("rank {rank}"), |rank| format!("rank {rank}");
    ranks_of: fn(u64) -> String =
        |ranks| many(ranks, "rank", "ranks"),
        |ranks| format!("{} 个 rank", format::count(ranks));
    open_rank: fn(u32) -> String = |rank| format!("Open rank {rank}"), |rank| format!("打开 rank {rank}");
    /// No rank is slow: ranks, steps.
    no_straggler: fn(u64, u64) -> String =
        |ranks, steps| format!("No rank of {} is slow in {}.", format::count(ranks), many(steps, "step", "steps")),
        |ranks, steps| format!("{} 个迭代中，{} 个 rank 都不慢。", format::count(steps), format::count(ranks));
    /// A slow rank: its first slow step, slow steps.
    straggler: fn(&str, u64) -> String =
        |from, steps| format!("Since step {from} ({}).", many(steps, "step", "steps")),
        |from, steps| format!("自迭代 {from} 起（{} 个迭代）。", format::count(steps));
    side_by_side = "Ranks side by side", "各 rank 对照";
    mean_step = "mean of all steps", "全部迭代的平均";
    /// First and last step.
    mean_of_steps: fn(&str, &str) -> String =
        |first, last| format!("mean of steps {first}–{last}"),
        |first, last| format!("迭代 {first}–{last} 的平均");
    /// Bars, ranks.
    ranks_ends: fn(u64, u64) -> String =
        |shown, all| format!("mean step, {} slowest and fastest of {}", format::count(shown), format::count(all)),
        |shown, all| format!("迭代平均，{} 个中最慢与最快的 {} 个", format::count(all), format::count(shown));
    rank_orders: [Text; 2] = ["Rank", "Compute"], ["rank", "计算"];
    waits_for_others = "waits for others", "等待其他 rank";
    /// Additional time of compute.
    waited_for: fn(&str) -> String = |time| format!("waited for: {time}"), |time| format!("被等待 {time}");
    clock_offset = "clock", "时钟";
    when_began = "When it began", "何时开始";
    /// Against the median; sizes.
    map_beside: [Text; 2] =
        ["against the median of the ranks at that step", "time per step"],
        ["与该迭代各 rank 的中位数相比", "每个迭代的时间"];
    /// Compute, waiting, length of a step.
    quantities: [Text; 4] = ["Waited for", "Compute", "Waiting", "Step"], ["被等待", "计算", "等待", "迭代"];
    median_of_ranks = "median of the ranks", "各 rank 的中位数";
    against_communication = "Compute against communication", "计算与通信";
    /// A usual rank, the slowest one, a step.
    pair: fn(u32, u32, &str) -> String =
        |usual, slow, step| format!("ranks {usual} and {slow}, the later one, at step {step}"),
        |usual, slow, step| format!("迭代 {step}：rank {usual} 与较晚的 rank {slow}");
    all_arrived =
        "The dashed line: all ranks have arrived, the collective starts. Pale: waiting for it.",
        "虚线：所有 rank 均已到达，集合通信开始。浅色：等待。";
    no_collectives = "No collectives were recorded.", "未记录集合通信。";
    /// Name, size, time, hidden, spread of arrival, bandwidth.
    collective_columns: [Text; 6] =
        ["Collective", "Size", "Time", "Hidden", "Spread", "Bus"],
        ["集合通信", "大小", "耗时", "被掩盖", "到达差", "总线"];
    process_groups = "Process groups", "进程组";
    groups_beside = "of a rank in the whole recording", "每个 rank 在整个记录中的平均值";
    /// Mark of a group in which ranks send to one another.
    point_to_point = "send and receive", "点对点收发";
    /// Name, size, count, bytes, time, time without compute.
    group_columns: [Text; 6] =
        ["Group", "Ranks", "Count", "Size", "Time", "Exposed"],
        ["进程组", "rank 数", "次数", "大小", "耗时", "未掩盖"];
    links = "Links between ranks", "rank 之间的链路";
    of_links: fn(u64, u64) -> String =
        |rows, all| format!("the {} slowest of {}", format::count(rows), format::count(all)),
        |rows, all| format!("{} 条中最慢的 {} 条", format::count(all), format::count(rows));
    link_columns: [Text; 5] =
        ["Link", "Transport", "Size", "Time", "Bandwidth"],
        ["链路", "传输方式", "大小", "耗时", "带宽"];
    lost = "Lost time", "损失的时间";
    lost_beside = "mean time that a rank waits for the others", "每个 rank 等待其他 rank 的平均时间";
    slowest = "waited for", "被等待者";
    in_steps: fn(u64) -> String =
        |steps| format!("in {}", many(steps, "step", "steps")),
        |steps| format!("在这 {} 个迭代中", format::count(steps));
    /// Multiplied by the number of waiting ranks.
    times_ranks: fn(u64) -> String =
        |ranks| format!("times the {} others", format::count(ranks.saturating_sub(1))),
        |ranks| format!("乘以其他 {} 个 rank", format::count(ranks.saturating_sub(1)));
}
