//! The texts of live sessions, in both languages.

use crate::format;
use crate::i18n::Text;

texts! {
    /// Texts of the bar of a live session.
    SessionTexts

    bar = "Live session", "实时会话";
    /// States in the order of the API.
    states: [Text; 8] =
        ["connecting", "running", "pausing", "waiting", "stepping", "stopping", "ended", "lost"],
        ["连接中", "运行中", "暂停中", "等待中", "单步中", "停止中", "已结束", "无消息"];
    /// The step at which a training waits, as a step of its tensors.
    now = "now", "当前";
    now_title = "Values in the memory of the training, which waits", "训练内存中的值，训练正在等待";
    live_values = "Values now", "当前值";
    /// A training that runs and is not connected.
    not_connected = "This training runs and is not connected.", "该训练正在运行，尚未连接。";
    attach = "Attach", "连接";
    asked =
        "Asked: it connects within a second or two if it records with trainscope on this machine.",
        "已请求：如果它在本机用 trainscope 记录，将在一两秒内连接。";
    no_answer =
        "It did not answer: it does not record with trainscope, or runs on another machine.",
        "没有应答：该训练未用 trainscope 记录，或运行在其他机器上。";
    joining: fn(u64, u64) -> String =
        |here, all| format!("Connecting: {} of {} ranks", format::count(here), format::count(all)),
        |here, all| format!("正在连接：{} / {} 个 rank", format::count(here), format::count(all));
    /// Step, and number of steps of the whole training.
    running: fn(&str, Option<&str>) -> String =
        |step, of| match of {
            Some(of) => format!("Running, step {step} of {of}"),
            None => format!("Running, step {step}"),
        },
        |step, of| match of {
            Some(of) => format!("运行中，迭代 {step} / {of}"),
            None => format!("运行中，迭代 {step}"),
        };
    pausing: fn(u64, u64) -> String =
        |waiting, all| {
            format!(
                "Pausing at the next step: {} of {} ranks wait",
                format::count(waiting),
                format::count(all)
            )
        },
        |waiting, all| {
            format!(
                "将在下一个迭代暂停：{} / {} 个 rank 已等待",
                format::count(waiting),
                format::count(all)
            )
        };
    before_update: fn(&str) -> String =
        |step| format!("Waiting before the update of step {step}"),
        |step| format!("在迭代 {step} 更新之前等待");
    after_step: fn(&str) -> String =
        |step| format!("Waiting after step {step}"),
        |step| format!("在迭代 {step} 之后等待");
    at_node: fn(&str, &str) -> String =
        |step, node| format!("Waiting at {node} of step {step}"),
        |step, node| format!("在迭代 {step} 的 {node} 处等待");
    /// Number of ranks that wait, each at a separate step, and of all.
    waiting_apart: fn(u64, u64) -> String =
        |waiting, all| {
            format!(
                "Waiting: {} of {} ranks, each at its own step",
                format::count(waiting),
                format::count(all)
            )
        },
        |waiting, all| format!("等待中：{} / {} 个 rank，各在自己的迭代", format::count(waiting), format::count(all));
    /// Reasons of a hold: a hit, a person, steps, a node, the start.
    reasons: [Text; 5] =
        ["a watchpoint was hit", "paused by hand", "step finished", "the node is reached", "at its first step"],
        ["命中监测点", "手动暂停", "迭代已完成", "已到达节点", "在第一个迭代"];
    /// The watchpoints that paused it were changed.
    no_hit_now = "no watchpoint is hit at this step now", "该迭代现在没有命中监测点";
    goes_on: fn(&str) -> String =
        |time| format!("continues automatically in {time}"),
        |time| format!("{time} 后自动继续");
    stepping: fn(u64, u64) -> String =
        |done, of| format!("Stepping, {} of {}", format::count(done), format::count(of)),
        |done, of| format!("单步执行，{} / {}", format::count(done), format::count(of));
    stopping = "Stopping at the next step", "将在下一个迭代停止";
    lost: fn(&str) -> String =
        |time| format!("No contact with the training for {time}; what it recorded is below."),
        |time| format!("训练已 {time} 没有消息；下面是它记录的内容。");
    finished: fn(&str) -> String = |step| format!("Ended at step {step}"), |step| format!("在迭代 {step} 结束");
    stopped: fn(&str) -> String = |step| format!("Stopped at step {step}"), |step| format!("在迭代 {step} 停止");
    failed: fn(&str) -> String = |step| format!("Failed at step {step}"), |step| format!("在迭代 {step} 失败");
    interrupted: fn(&str) -> String =
        |step| format!("Interrupted at step {step}"),
        |step| format!("在迭代 {step} 中断");
    pause = "Pause", "暂停";
    /// Number of connected ranks, and of all.
    partial_question: fn(u64, u64) -> String =
        |here, all| {
            format!(
                "{} of {} ranks are connected: the others will wait for these in a collective, whose watchdog may end the job.",
                format::count(here),
                format::count(all)
            )
        },
        |here, all| {
            format!(
                "已连接 {} / {} 个 rank：其他 rank 将在集合通信中等待它们，看门狗可能会终止作业。",
                format::count(here),
                format::count(all)
            )
        };
    pause_these = "Pause these", "暂停这些";
    each_question =
        "Each rank will wait at its own next step. A rank that computes may wait for a held one in a collective, whose watchdog may end the job.",
        "每个 rank 将在自己的下一个迭代等待。仍在计算的 rank 可能在集合通信中等待它，看门狗可能会终止作业。";
    hold_each = "Hold ranks independently", "各自暂停";
    hold_together = "Hold ranks together", "一起暂停";
    /// Modes in which ranks are held: together, separately.
    modes: [Text; 2] =
        ["Held together, at one step", "Each is held at its own next step"],
        ["一起暂停在同一迭代", "各自暂停在自己的下一个迭代"];
    go_on = "Continue", "继续";
    step = "Step", "单步";
    steps = "Number of steps", "迭代数";
    to_node = "To layer…", "运行到某层…";
    find_node = "Find a layer", "查找层";
    no_node = "The training has no such layer.", "训练中没有这样的层。";
    more_nodes = "There are more: type a part of the name.", "还有更多：请输入名称的一部分。";
    run_to_here = "Run to here", "运行到此处";
    stop = "Stop", "停止";
    stop_question = "Stop the training?", "停止训练？";
    keep = "Keep it running", "继续运行";
    keep_activations = "Activations to keep", "要保留的激活值";
    keep_patterns = "Keep activations of these layers", "保留这些层的激活值";
    keep_cost =
        "From the next forward pass on, until the step ends: the training needs their memory in addition, on its device. * is any text.",
        "从下一次前向计算起保留到该迭代结束：训练的设备需要额外的内存来存放它们。* 表示任意文本。";
    keep_these = "Keep", "保留";
    keep_none = "Keep none", "全部不保留";
    more_time = "10 more minutes", "再等 10 分钟";
    pauses_at = "Pause on", "暂停条件";
    pauses = "A hit pauses the training", "命中时暂停训练";
    pauses_not = "A hit does not pause the training", "命中时不暂停训练";
    /// Errors, warnings, all hits, nothing.
    levels: [Text; 4] = ["errors", "warnings", "all hits", "nothing"], ["错误", "警告", "所有命中", "不暂停"];
    ranks: fn(u64) -> String =
        |ranks| format!("{} ranks", format::count(ranks)),
        |ranks| format!("{} 个 rank", format::count(ranks));
    /// Number of ranks, and a lost one with the time since its last message.
    rank_lost: fn(u64, u32, &str) -> String =
        |ranks, rank, time| format!("{} ranks, rank {rank}: no contact for {time}", format::count(ranks)),
        |ranks, rank, time| format!("{} 个 rank，rank {rank} 已 {time} 没有消息", format::count(ranks));
    rank: fn(u32, &str, &str) -> String =
        |rank, step, host| format!("rank {rank}, step {step}, {host}"),
        |rank, step, host| format!("rank {rank}，迭代 {step}，{host}");
    rank_name: fn(u32) -> String = |rank| format!("rank {rank}"), |rank| format!("rank {rank}");
    /// Between a rank and its note or error.
    colon = ": ", "：";
    unreachable = "The server cannot be reached.", "无法连接服务器。";
    /// Notes: gate missed, pausing off, limit of a pause, rank lost, interrupted, not all joined, rule over ranks.
    notes: [Text; 7] =
        [
            "a rank missed a gate, and the others went on", "ranks are not at the same gates: hits pause no longer",
            "the limit of the pause was reached", "a rank was lost, and the others went on",
            "a signal ended the pause", "not all ranks have connected: hits do not pause",
            "a rule over all ranks was hit",
        ],
        [
            "一个 rank 错过了关口，其他 rank 已继续", "各 rank 不在同一关口：命中不再暂停", "暂停已达到时限",
            "一个 rank 失去连接，其他 rank 已继续", "信号结束了暂停", "并非所有 rank 都已连接：命中不会暂停",
            "命中了跨 rank 的规则",
        ];
    hits: fn(&str, u64) -> String =
        |tensor, more| match more {
            0 => tensor.to_owned(),
            more => format!("{tensor} and {} more", format::count(more)),
        },
        |tensor, more| match more {
            0 => tensor.to_owned(),
            more => format!("{tensor} 以及另外 {} 个", format::count(more)),
        };
}
