//! The texts of live sessions, in both languages.

use crate::format;

/// Texts of the bar of a live session.
pub struct SessionTexts {
    pub bar: &'static str,
    /// Heading of the list of connected trainings.
    pub list: &'static str,
    /// Word in the title of a tab.
    pub waiting: &'static str,
    pub number_waiting: fn(u64) -> String,
    /// States in the order of the API.
    pub states: [&'static str; 8],
    /// The step at which a training waits, as a step of its tensors.
    pub now: &'static str,
    pub now_title: &'static str,
    pub live_values: &'static str,
    /// A training that runs and is not connected.
    pub not_connected: &'static str,
    pub attach: &'static str,
    pub asked: &'static str,
    pub no_answer: &'static str,
    pub joining: fn(u64, u64) -> String,
    /// Step, and number of steps of the whole training.
    pub running: fn(&str, Option<&str>) -> String,
    pub pausing: fn(u64, u64) -> String,
    pub before_update: fn(&str) -> String,
    pub after_step: fn(&str) -> String,
    pub at_node: fn(&str, &str) -> String,
    /// Numbers of ranks that wait, each at its own step, and of all.
    pub waiting_apart: fn(u64, u64) -> String,
    /// Reasons of a hold: a hit, a person, steps, a node, the start.
    pub reasons: [&'static str; 5],
    /// The watchpoints that paused it were changed.
    pub no_hit_now: &'static str,
    pub goes_on: fn(&str) -> String,
    pub stepping: fn(u64, u64) -> String,
    pub stopping: &'static str,
    pub lost: fn(&str) -> String,
    pub finished: fn(&str) -> String,
    pub stopped: fn(&str) -> String,
    pub failed: fn(&str) -> String,
    pub interrupted: fn(&str) -> String,
    pub pause: &'static str,
    /// Number of connected ranks, and of all.
    pub partial_question: fn(u64, u64) -> String,
    pub pause_these: &'static str,
    pub each_question: &'static str,
    pub hold_each: &'static str,
    pub hold_together: &'static str,
    /// Modes in which ranks are held: together, each by itself.
    pub modes: [&'static str; 2],
    pub go_on: &'static str,
    pub step: &'static str,
    pub steps: &'static str,
    pub to_node: &'static str,
    pub find_node: &'static str,
    pub no_node: &'static str,
    pub more_nodes: &'static str,
    pub run_to_here: &'static str,
    pub stop: &'static str,
    pub stop_question: &'static str,
    pub keep: &'static str,
    pub keep_activations: &'static str,
    pub keep_patterns: &'static str,
    pub keep_cost: &'static str,
    pub keep_these: &'static str,
    pub keep_none: &'static str,
    pub more_time: &'static str,
    pub pauses_at: &'static str,
    pub pauses: &'static str,
    pub pauses_not: &'static str,
    /// Errors, warnings, all hits, nothing.
    pub levels: [&'static str; 4],
    pub ranks: fn(u64) -> String,
    /// Number of ranks, and a lost one with the time since its last message.
    pub rank_lost: fn(u64, u32, &str) -> String,
    pub rank: fn(u32, &str, &str) -> String,
    pub unreachable: &'static str,
    /// Notes: gate missed, pausing off, limit of a pause, rank lost, interrupted, not all joined, rule over ranks.
    pub notes: [&'static str; 7],
    pub hits: fn(&str, u64) -> String,
}

pub(super) const EN: SessionTexts = SessionTexts {
    bar: "Live session",
    list: "Live sessions",
    waiting: "waiting",
    number_waiting: |count| format!("{} waiting", format::count(count)),
    states: [
        "connecting",
        "running",
        "pausing",
        "waiting",
        "stepping",
        "stopping",
        "ended",
        "lost",
    ],
    now: "now",
    now_title: "Values in the memory of the training, which waits",
    live_values: "Values now",
    not_connected: "This training runs and is not connected.",
    attach: "Attach",
    no_answer: "It did not answer: it does not record with trainscope, or runs on another machine.",
    asked: "Asked: it connects within a second or two if it records with trainscope on this machine.",
    joining: |here, all| {
        format!(
            "Connecting: {} of {} ranks",
            format::count(here),
            format::count(all)
        )
    },
    running: |step, of| match of {
        Some(of) => format!("Running, step {step} of {of}"),
        None => format!("Running, step {step}"),
    },
    pausing: |waiting, all| {
        format!(
            "Pausing at the next step: {} of {} ranks wait",
            format::count(waiting),
            format::count(all)
        )
    },
    before_update: |step| format!("Waiting before the update of step {step}"),
    after_step: |step| format!("Waiting after step {step}"),
    at_node: |step, node| format!("Waiting at {node} of step {step}"),
    waiting_apart: |waiting, all| {
        format!(
            "Waiting: {} of {} ranks, each at its own step",
            format::count(waiting),
            format::count(all)
        )
    },
    reasons: [
        "a watchpoint was hit",
        "paused by hand",
        "step finished",
        "the node is reached",
        "at its first step",
    ],
    no_hit_now: "no watchpoint is hit at this step now",
    goes_on: |time| format!("continues automatically in {time}"),
    stepping: |done, of| format!("Stepping, {} of {}", format::count(done), format::count(of)),
    stopping: "Stopping at the next step",
    lost: |time| format!("No contact with the training for {time}; what it recorded is below."),
    finished: |step| format!("Ended at step {step}"),
    stopped: |step| format!("Stopped at step {step}"),
    failed: |step| format!("Failed at step {step}"),
    interrupted: |step| format!("Interrupted at step {step}"),
    pause: "Pause",
    partial_question: |here, all| {
        format!(
            "{} of {} ranks are connected: the others will wait for these in a collective, whose watchdog may end the job.",
            format::count(here),
            format::count(all)
        )
    },
    pause_these: "Pause these",
    each_question: "Each rank will wait at its own next step. A rank that computes may wait for a held one in a collective, whose watchdog may end the job.",
    hold_each: "Hold ranks independently",
    hold_together: "Hold ranks together",
    modes: [
        "Held together, at one step",
        "Each is held at its own next step",
    ],
    go_on: "Continue",
    step: "Step",
    to_node: "To layer…",
    find_node: "Find a layer",
    no_node: "The training has no such layer.",
    more_nodes: "There are more: type a part of the name.",
    run_to_here: "Run to here",
    steps: "Number of steps",
    stop: "Stop",
    stop_question: "Stop the training?",
    keep: "Keep it running",
    keep_activations: "Activations to keep",
    keep_patterns: "Keep activations of these layers",
    keep_cost: "From the next forward pass on, until the step ends: the training needs their memory in addition, on its device. * is any text.",
    keep_these: "Keep",
    keep_none: "Keep none",
    more_time: "10 more minutes",
    pauses_at: "Pause on",
    pauses: "A hit pauses the training",
    pauses_not: "A hit does not pause the training",
    levels: ["errors", "warnings", "all hits", "nothing"],
    ranks: |ranks| format!("{} ranks", format::count(ranks)),
    rank_lost: |ranks, rank, time| {
        format!(
            "{} ranks, rank {rank}: no contact for {time}",
            format::count(ranks)
        )
    },
    rank: |rank, step, host| format!("rank {rank}, step {step}, {host}"),
    unreachable: "The server cannot be reached.",
    notes: [
        "a rank missed a gate, and the others went on",
        "ranks are not at the same gates: hits pause no longer",
        "the limit of the pause was reached",
        "a rank was lost, and the others went on",
        "a signal ended the pause",
        "not all ranks have connected: hits do not pause",
        "a rule over all ranks was hit",
    ],
    hits: |tensor, more| match more {
        0 => tensor.to_owned(),
        more => format!("{tensor} and {} more", format::count(more)),
    },
};

pub(super) const ZH: SessionTexts = SessionTexts {
    bar: "实时会话",
    list: "实时会话",
    waiting: "等待中",
    number_waiting: |count| format!("{} 个等待中", format::count(count)),
    states: [
        "连接中",
        "运行中",
        "暂停中",
        "等待中",
        "单步中",
        "停止中",
        "已结束",
        "无消息",
    ],
    now: "当前",
    now_title: "训练内存中的值，训练正在等待",
    live_values: "当前值",
    not_connected: "该训练正在运行，尚未连接。",
    attach: "连接",
    no_answer: "没有应答：该训练未用 trainscope 记录，或运行在其他机器上。",
    asked: "已请求：如果它在本机用 trainscope 记录，将在一两秒内连接。",
    joining: |here, all| {
        format!(
            "正在连接：{} / {} 个 rank",
            format::count(here),
            format::count(all)
        )
    },
    running: |step, of| match of {
        Some(of) => format!("运行中，迭代 {step} / {of}"),
        None => format!("运行中，迭代 {step}"),
    },
    pausing: |waiting, all| {
        format!(
            "将在下一个迭代暂停：{} / {} 个 rank 已等待",
            format::count(waiting),
            format::count(all)
        )
    },
    before_update: |step| format!("在迭代 {step} 更新之前等待"),
    after_step: |step| format!("在迭代 {step} 之后等待"),
    at_node: |step, node| format!("在迭代 {step} 的 {node} 处等待"),
    waiting_apart: |waiting, all| {
        format!(
            "等待中：{} / {} 个 rank，各在自己的迭代",
            format::count(waiting),
            format::count(all)
        )
    },
    reasons: [
        "命中监测点",
        "手动暂停",
        "迭代已完成",
        "已到达节点",
        "在第一个迭代",
    ],
    no_hit_now: "该迭代现在没有命中监测点",
    goes_on: |time| format!("{time} 后自动继续"),
    stepping: |done, of| format!("单步执行，{} / {}", format::count(done), format::count(of)),
    stopping: "将在下一个迭代停止",
    lost: |time| format!("训练已 {time} 没有消息；下面是它记录的内容。"),
    finished: |step| format!("在迭代 {step} 结束"),
    stopped: |step| format!("在迭代 {step} 停止"),
    failed: |step| format!("在迭代 {step} 失败"),
    interrupted: |step| format!("在迭代 {step} 中断"),
    pause: "暂停",
    partial_question: |here, all| {
        format!(
            "已连接 {} / {} 个 rank：其他 rank 将在集合通信中等待它们，看门狗可能会终止作业。",
            format::count(here),
            format::count(all)
        )
    },
    pause_these: "暂停这些",
    each_question: "每个 rank 将在自己的下一个迭代等待。仍在计算的 rank 可能在集合通信中等待它，看门狗可能会终止作业。",
    hold_each: "各自暂停",
    hold_together: "一起暂停",
    modes: ["一起暂停在同一迭代", "各自暂停在自己的下一个迭代"],
    go_on: "继续",
    step: "单步",
    to_node: "运行到某层…",
    find_node: "查找层",
    no_node: "训练中没有这样的层。",
    more_nodes: "还有更多：请输入名称的一部分。",
    run_to_here: "运行到此处",
    steps: "迭代数",
    stop: "停止",
    stop_question: "停止训练？",
    keep: "继续运行",
    keep_activations: "要保留的激活值",
    keep_patterns: "保留这些层的激活值",
    keep_cost: "从下一次前向计算起保留到该迭代结束：训练的设备需要额外的内存来存放它们。* 表示任意文本。",
    keep_these: "保留",
    keep_none: "全部不保留",
    more_time: "再等 10 分钟",
    pauses_at: "暂停条件",
    pauses: "命中时暂停训练",
    pauses_not: "命中时不暂停训练",
    levels: ["错误", "警告", "所有命中", "不暂停"],
    ranks: |ranks| format!("{} 个 rank", format::count(ranks)),
    rank_lost: |ranks, rank, time| {
        format!(
            "{} 个 rank，rank {rank} 已 {time} 没有消息",
            format::count(ranks)
        )
    },
    rank: |rank, step, host| format!("rank {rank}，迭代 {step}，{host}"),
    unreachable: "无法连接服务器。",
    notes: [
        "一个 rank 错过了检查点，其他 rank 已继续",
        "各 rank 不在同一检查点：命中不再暂停",
        "暂停已达到时限",
        "一个 rank 失去连接，其他 rank 已继续",
        "信号结束了暂停",
        "并非所有 rank 都已连接：命中不会暂停",
        "命中了跨 rank 的规则",
    ],
    hits: |tensor, more| match more {
        0 => tensor.to_owned(),
        more => format!("{tensor} 以及另外 {} 个", format::count(more)),
    },
};
