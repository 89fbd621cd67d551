//! 简体中文.

use super::{
    DebuggerTexts, FrameTexts, KeyTexts, PanelTexts, RecordTexts, RunsTexts, StateTexts, Texts,
    TimeTexts,
};
use crate::format;

const WEEKDAYS: [&str; 7] = ["周日", "周一", "周二", "周三", "周四", "周五", "周六"];

fn of_files(bad: u64, all: u64, what: &str) -> String {
    if all == 1 {
        format!("文件{what}")
    } else {
        format!("{all} 个文件中 {bad} 个{what}")
    }
}

pub(super) static TEXTS: Texts = Texts {
    frame: FrameTexts {
        runs: "训练列表",
        scalars: "标量",
        help: "帮助",
        main_navigation: "主导航",
        switch_run: "切换到其他训练",
        find_run: "查找训练",
        search: "搜索训练、标签",
        search_nothing: |text| format!("没有训练或标签包含“{text}”"),
        found_runs: "训练",
        found_tags: "标签",
        step: "迭代",
        live: "训练中",
        stopped: "已停止",
        gone: "已移除",
        updated: |age| format!("{age}更新"),
        pause: "暂停实时更新",
        resume: "恢复实时更新",
        paused: "已暂停",
        offline: "未连接",
        other_language: "English",
        dark_theme: "深色主题",
        light_theme: "浅色主题",
        close: "关闭",
        reading: |read, total, files| {
            format!(
                "已读取 {read}，共 {total} · {} 个文件",
                format::count(files)
            )
        },
        runs_summary: |runs, folders, size| {
            let runs = format::count(runs);
            if folders > 1 {
                let folders = format::count(folders);
                format!("{folders} 个文件夹，{runs} 个训练 · {size}")
            } else {
                format!("{runs} 个训练 · {size}")
            }
        },
        runs_cut: "训练过多，列表未完整显示",
    },
    debugger: DebuggerTexts {
        title: "调试器",
        waiting: "该训练尚未判断",
        waiting_next: "文件读取完成后会立即判断，页面会自动更新。",
        healthy: "未发现问题。",
        judged: |tensors, steps| {
            format!(
                "已判断 {} 个张量和标量，共 {} 个 step。",
                format::count(tensors),
                format::count(steps)
            )
        },
        first_cause: "首个原因：",
        try_this: "建议",
        watchpoints: "监测点",
        recommended: "推荐监测点",
        target: |target| match target {
            "weight" => "权重",
            "gradient" => "梯度",
            "activation" => "激活值",
            "scalar" => "标量",
            "run" => "整个训练",
            _ => "所有张量",
        },
        filter: "张量或监测点",
        hits: "命中",
        tensor: "张量（按数据流顺序）",
        watchpoint: "监测点",
        found: "实际值",
        limit: "阈值",
        all: |count| format!("全部 {}", format::count(count)),
        severity: |severity| match severity {
            "error" => "错误",
            "warning" => "警告",
            _ => "提示",
        },
        first: "首个原因",
        rank: |rank| format!("rank {rank}"),
        cut: |sent, total| {
            format!(
                "仅显示 {} 个命中中的前 {} 个；请用筛选缩小范围。",
                format::count(total),
                format::count(sent)
            )
        },
        nothing_matches: "没有匹配的命中。",
        no_hits: "没有监测点命中。",
        inspector: "命中的张量",
        show_curve: "查看曲线",
        no_statistics: "该训练的事件文件中没有它的统计信息。",
        elements: "元素",
        finite: "有限值",
        magnitudes: "数量级",
        magnitudes_label: |from, to| format!("按数量级统计的元素个数，从 {from} 到 {to}"),
    },
    keys: KeyTexts {
        title: "键盘快捷键",
        everywhere: "所有页面",
        in_runs: "训练列表",
        in_charts: "图表",
        search: "搜索",
        help: "显示本帮助",
        pause: "暂停或恢复实时更新",
        escape: "关闭、离开、清除",
        rows: "下一行、上一行",
        open: "打开训练",
        select: "选择训练",
        together: "查看所选训练的标量",
        fit: "适应全部迭代",
        steps: "上一个、下一个已记录的迭代",
        zoom: "放大、缩小",
        pan: "向左、向右平移",
        step_back: "返回上一范围",
        cards: "下一张、上一张卡片",
        pin: "固定卡片",
        full: "卡片全页显示",
        wheel: "Ctrl 加滚轮缩放，⇧ 加滚轮或拖动平移。",
        version: |version| format!("trainscope {version}"),
    },
    time: TimeTexts {
        secs_ago: |secs| format!("{secs} 秒前"),
        minutes_ago: |minutes| format!("{minutes} 分钟前"),
        today_at: |clock| format!("今天 {clock}"),
        yesterday_at: |clock| format!("昨天 {clock}"),
        weekday_at: |day, clock| {
            let day = WEEKDAYS.get(day as usize).copied().unwrap_or("");
            format!("{day} {clock}")
        },
        date: |year, month, day, with_year| {
            if with_year {
                format!("{year}年{month}月{day}日")
            } else {
                format!("{month}月{day}日")
            }
        },
    },
    states: StateTexts {
        nowhere: "该地址没有页面",
        nowhere_next: "链接可能来自更新的版本，或者不完整。",
        no_run: |run| format!("没有名为 {run} 的训练"),
        no_run_next: "它可能在打开本页之前已被重命名，或者位于服务器未监视的文件夹中。",
        all_runs: "全部训练",
        gone: |run| format!("{run} 已不在磁盘上。"),
        gone_next: "其文件夹已被移除或重命名。已读取的内容会保留到服务器重启为止。",
        no_connection: |clock| format!("自 {clock} 起与服务器断开连接。"),
        trying_in: |secs| format!("{secs} 秒后重试。"),
        trying: "正在重试。",
        try_now: "立即重试",
        note_conflict: [
            "其他人已修改同一备注。",
            "已显示对方的内容；如仍需要，请重新修改。",
        ],
        note_refused: "修改未保存。",
        note_unreachable: "无法连接服务器。",
        paused: "实时更新已暂停。",
        waiting: |runs| match runs {
            0 => "此后没有变化。".to_owned(),
            _ => format!("{runs} 个训练有新数据。"),
        },
        show_them: "显示",
        loading: "正在读取训练",
        loading_next: "已读取的内容会立即显示且位置不变，其余内容随后出现。",
        unreachable: "无法连接服务器",
        unreachable_next: "trainscope 是否仍在运行？服务器恢复后本页会自动继续。",
        refused: "服务器拒绝了请求",
        misunderstood_next: "页面与服务器的版本可能不一致：请重新加载页面。",
    },
    runs: RunsTexts {
        filter_placeholder: "名称，或 key:value，例如 status:live",
        filter: "筛选训练",
        remove_term: |term| format!("移除 {term}"),
        state: "状态",
        all: |count| format!("全部 {}", format::count(count)),
        only_damaged: "含有损坏或无法读取的文件的训练",
        only_healthy: "健康的训练",
        only_errors: "有错误的训练",
        only_warnings: "有警告的训练",
        only_live: "正在写入的训练",
        grouped: "按文件夹分组",
        how_to_record: "如何记录",
        name: "名称",
        files: "健康",
        status: "状态",
        steps: "迭代",
        loss: "损失",
        last: "最新值",
        metric: "指标",
        updated: "更新时间",
        duration: "时长",
        data: "数据",
        select_run: |run| format!("选择 {run}"),
        select_all: "选择列表中的全部训练",
        readable: "可读取",
        damaged: |bad, all| of_files(bad, all, "损坏"),
        unreadable: |bad, all| of_files(bad, all, "无法读取"),
        truncated: |bad, all| of_files(bad, all, "不完整"),
        removed: "已移除",
        no_files: "暂无文件",
        healthy: "健康",
        at_step: |step| format!("于 step {step}"),
        columns: "列",
        columns_next: "列表中最多显示六列，均可排序；所选的列随训练一同保存。",
        find_column: "查找列",
        last_values: "最新值",
        no_metrics: "没有训练记录标量。",
        colour_label: "颜色",
        no_hparams: "没有训练记录超参数。",
        note_label: "备注",
        tags_label: "标签，以逗号分隔",
        add_note: "添加备注",
        show_files: "查看该训练的文件",
        runs: |count| format!("{} 个训练", format::count(count)),
        damaged_runs: |count| format!("{} 个损坏", format::count(count)),
        live_runs: |count| format!("{} 个训练中", format::count(count)),
        top_folder: "顶层文件夹",
        base_run: "（本文件夹）",
        selected: |count| format!("已选 {} 个", format::count(count)),
        selected_hidden: |count| format!("{} 个不在列表中", format::count(count)),
        show_scalars: "查看标量",
        hide: "隐藏",
        clear: "清除选择",
        hidden: |count| format!("已隐藏 {} 个", format::count(count)),
        show: "显示",
        nothing_matches: |count| format!("{} 个训练中没有匹配项。", format::count(count)),
        clear_filter: "清除筛选",
        kind_count: |kind, count| {
            format!("{kind}：已记录 {} 个，当前版本不显示", format::count(count))
        },
        kind_none: |kind| format!("{kind}：未记录"),
        curve: |tag, value| format!("{tag}，最新值 {value}"),
        kind: |kind| match kind {
            "scalars" => "标量",
            "histograms" => "参数分布图",
            "images" => "图像",
            "audio" => "音频",
            "text" => "文本",
            "tensors" => "张量",
            "graphs" => "计算图",
            "hparams" => "超参数",
            "pr_curves" => "PR 曲线",
            "custom_scalars" => "布局",
            "meshes" => "网格",
            "projector" => "嵌入",
            "lineage" => "溯源",
            "landscapes" => "损失图形",
            "explanations" => "模型解释",
            "statistics" => "张量统计",
            "profile" => "性能数据",
            "dumps" => "张量转储",
            "hits" => "命中",
            "losses" => "丢失的记录",
            _ => "其他",
        },
    },
    panel: PanelTexts {
        all_whole: |count| {
            if count == 1 {
                "文件可读取".to_owned()
            } else {
                format!("全部 {} 个文件可读取", format::count(count))
            }
        },
        damaged: |bad, all| of_files(bad, all, "已损坏"),
        unreadable: |bad, all| of_files(bad, all, "无法读取"),
        truncated: |bad, all| of_files(bad, all, "的末尾记录不完整"),
        gone: "文件已不在磁盘上",
        damaged_next: "常见原因：磁盘已满、进程在写入时被终止，或复制未完成。损坏处前后的内容均已显示。",
        truncated_next: "如果训练仍在写入，则无需处理：文件增长后会再次读取。否则说明进程在写入最后一条记录时被终止。",
        unreadable_next: "请检查启动服务器的用户是否有权读取该文件；每次扫描文件夹时都会重试。",
        shown_to_step: |step| format!("可读取的内容均已显示，截至迭代 {step}。"),
        live: "正在写入",
        whole: "完整",
        torn_at: |byte| format!("在第 {byte} 字节处中断"),
        damaged_at: |byte| format!("自第 {byte} 字节起损坏"),
        unreadable_file: "无法读取",
        gone_file: "已移除",
        format: "格式",
        records: "记录数",
        read: "已读取",
        of: |part, all| format!("{part} / {all}"),
        skipped: "损坏字节",
        lost_records: "程序未能写入的记录",
        unknown_records: "内容未知的记录",
        unread: "暂不显示",
        reason: "原因",
        files_cut: "还有更多文件；损坏的文件已全部列出。",
        ranks: |count| format!("由 {} 个 rank 写入。", format::count(count)),
        open_scalars: "查看标量",
    },
    record: RecordTexts {
        empty: |dir| format!("{dir} 中还没有训练"),
        empty_next: "在训练代码中加几行；第一个文件出现后，本页会立即显示。",
        title: "如何记录",
        next: "以下任一方式写出的文件都可直接读取，无需其他设置。",
        copy: "复制",
        copied: "已复制",
        watching: "正在监视文件夹",
    },
    overview: super::overview::ZH,
    scalars: super::scalars::ZH,
};
