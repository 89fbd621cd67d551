//! The texts of the list of runs, of the panel of a run's files, and of how to record.

use crate::format;
use crate::i18n::Text;

fn of_files(bad: u64, all: u64, state: &str) -> String {
    if all == 1 {
        format!("file {state}")
    } else {
        format!("{bad} of {all} files {state}")
    }
}

fn of_files_zh(bad: u64, all: u64, state: &str) -> String {
    if all == 1 {
        format!("文件{state}")
    } else {
        format!("{all} 个文件中 {bad} 个{state}")
    }
}

fn is_or_are(count: u64) -> &'static str {
    if count == 1 { "is" } else { "are" }
}

texts! {
    /// The list of runs.
    RunsTexts

    filter_placeholder = "name, or key:value such as status:live", "名称，或 key:value，例如 status:live";
    filter = "Filter runs", "筛选训练";
    /// Label of the × of a chip: its text.
    remove_term: fn(&str) -> String = |term| format!("Remove {term}"), |term| format!("移除 {term}");
    state = "State", "状态";
    /// Button: all, with the count.
    all: fn(u64) -> String =
        |count| format!("All {}", format::count(count)),
        |count| format!("全部 {}", format::count(count));
    only_damaged = "Runs with damaged, truncated or unreadable files", "含有损坏、被截断或无法读取的文件的训练";
    only_healthy = "Runs in which no problem was found", "未发现问题的训练";
    only_unjudged = "Runs that were not checked, or only in part", "未检查或仅部分检查的训练";
    only_errors = "Runs with errors", "出错的训练";
    only_warnings = "Runs with warnings", "有警告的训练";
    only_live = "Runs that are being written", "正在写入的训练";
    grouped = "Grouped by folder", "按文件夹分组";
    how_to_record = "How to record", "如何记录";
    name = "Name", "名称";
    files = "Health", "健康";
    status = "Status", "状态";
    steps = "Last step", "迭代";
    loss = "Loss", "损失";
    last = "Last", "最新值";
    metric = "Metric", "指标";
    updated = "Updated", "更新时间";
    duration = "Duration", "时长";
    data = "Data", "数据";
    /// Label of the tick box of a row.
    select_run: fn(&str) -> String = |run| format!("Select {run}"), |run| format!("选择 {run}");
    select_all = "Select all runs in view", "选择列表中的全部训练";
    readable = "not judged", "未作判断";
    /// Files: bad of all.
    damaged: fn(u64, u64) -> String = |bad, all| of_files(bad, all, "damaged"), |bad, all| of_files_zh(bad, all, "损坏");
    /// Files: bad of all.
    unreadable: fn(u64, u64) -> String =
        |bad, all| of_files(bad, all, "unreadable"),
        |bad, all| of_files_zh(bad, all, "无法读取");
    /// Files: the last record is not complete yet.
    truncated: fn(u64, u64) -> String =
        |bad, all| of_files(bad, all, "truncated"),
        |bad, all| of_files_zh(bad, all, "被截断");
    removed = "removed", "已移除";
    no_files = "no files yet", "暂无文件";
    healthy = "no problem found", "未发现问题";
    in_part = "partly checked", "部分检查";
    unchecked = "not checked", "未检查";
    /// Step of the first finding.
    at_step: fn(&str) -> String = |step| format!("at {step}"), |step| format!("于迭代 {step}");
    columns = "Columns", "列";
    columns_next = "Up to six extra columns. Saved with the runs.", "最多增加六列，随训练一同保存。";
    find_column = "Find a column", "查找列";
    own_columns = "Shown columns", "显示的列";
    last_values = "Last values", "最新值";
    no_metrics = "No scalars recorded.", "没有训练记录标量。";
    colour_label = "Colour", "颜色";
    no_hparams = "No hyper-parameters recorded.", "没有训练记录超参数。";
    note_label = "Note", "备注";
    tags_label = "Tags (comma-separated)", "标签（以逗号分隔）";
    add_note = "Add a note", "添加备注";
    note_selected = "Tags and a note for the selected runs", "为选中的训练添加标签和备注";
    add_tags = "Add tags (comma-separated)", "添加标签（以逗号分隔）";
    note_for_all = "Note for all of them", "所有选中训练的备注";
    save_notes = "Save", "保存";
    /// Notes of a run that does not exist: the sentence, and the remedy, with the name of a similar run.
    stray_notes: fn(&str) -> String =
        |run| format!("There are notes of {run}, but no such run."),
        |run| format!("存在 {run} 的备注，但没有这个训练。");
    stray_next = "Its folder was renamed, moved or deleted.", "它的文件夹可能已改名、移动或删除。";
    move_notes: fn(&str) -> String = |run| format!("Move them to {run}"), |run| format!("移到 {run}");
    delete_notes = "Delete them", "删除";
    show_files = "Show the files of this run", "查看该训练的文件";
    /// Group summary: number of damaged runs.
    damaged_runs: fn(u64) -> String =
        |count| format!("{} damaged", format::count(count)),
        |count| format!("{} 个损坏", format::count(count));
    /// Part of a folder's summary: runs in which errors were found.
    error_runs: fn(u64) -> String =
        |count| format!("{} with errors", format::count(count)),
        |count| format!("{} 个出错", format::count(count));
    /// Group summary: number of growing runs.
    live_runs: fn(u64) -> String =
        |count| format!("{} live", format::count(count)),
        |count| format!("{} 个训练中", format::count(count));
    top_folder = "base folder", "根文件夹";
    /// Bar: number selected.
    selected: fn(u64) -> String =
        |count| format!("{} selected", format::count(count)),
        |count| format!("已选 {} 个", format::count(count));
    /// Bar: number of these that are not in view.
    selected_hidden: fn(u64) -> String =
        |count| format!("{} not in view", format::count(count)),
        |count| format!("{} 个不在列表中", format::count(count));
    show_scalars = "Show scalars", "查看标量";
    hide = "Hide", "隐藏";
    clear = "Clear the selection", "清除选择";
    /// Chip: number of hidden runs.
    hidden: fn(u64) -> String =
        |count| format!("{} hidden", format::count(count)),
        |count| format!("已隐藏 {} 个", format::count(count));
    show = "Show", "显示";
    unhide = "Unhide", "取消隐藏";
    is_hidden = "hidden", "已隐藏";
    nothing_matches = "No runs match.", "没有匹配的训练。";
    /// The filter has an unknown key: the key, all keys.
    no_key: fn(&str, &str) -> String =
        |key, keys| format!("No key {key}. Keys: {keys}."),
        |key, keys| format!("没有关键字 {key}。可用：{keys}。");
    suggestions = "Suggestions", "建议";
    clear_filter = "Clear the filter", "清除筛选";
    /// Title of an icon: kind and count, and that no page shows it yet.
    kind_count: fn(&str, u64) -> String =
        |kind, count| format!("{kind}: {} recorded, not shown by this version", format::count(count)),
        |kind, count| format!("{kind}：已记录 {} 个，当前版本不显示", format::count(count));
    /// Title of an icon of a kind without data.
    kind_none: fn(&str) -> String = |kind| format!("{kind}: none recorded"), |kind| format!("{kind}：未记录");
    curve: fn(&str, &str) -> String =
        |tag, value| format!("{tag}, last value {value}"),
        |tag, value| format!("{tag}，最新值 {value}");
    /// Name of a kind of data as the API names it.
    kind: fn(&str) -> Text =
        |kind| match kind {
            "scalars" => "Scalars",
            "histograms" => "Histograms",
            "images" => "Images",
            "audio" => "Audio",
            "text" => "Text",
            "tensors" => "Tensors",
            "graphs" => "Graph",
            "hparams" => "Hyper-parameters",
            "pr_curves" => "PR curves",
            "custom_scalars" => "Layouts",
            "meshes" => "Meshes",
            "projector" => "Embeddings",
            "lineage" => "Data set",
            "landscapes" => "Loss landscape",
            "explanations" => "Explanations",
            "statistics" => "Tensor statistics",
            "profile" => "Profile",
            "dumps" => "Dumps",
            "hits" => "Hits",
            "losses" => "Lost records",
            "program" => "Facts of the program",
            "input_queues" => "Data pipeline",
            _ => "Other",
        },
        |kind| match kind {
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
            "lineage" => "数据集",
            "landscapes" => "损失函数地形图",
            "explanations" => "模型解释",
            "statistics" => "张量统计",
            "profile" => "性能分析",
            "dumps" => "dump 张量",
            "hits" => "命中",
            "losses" => "丢失的记录",
            "program" => "程序的事实",
            "input_queues" => "数据流水线",
            _ => "其他",
        };
}

texts! {
    /// The files of a run.
    PanelTexts

    /// Title: every file is whole.
    all_whole: fn(u64) -> String =
        |count| {
            if count == 1 {
                "Its file is readable".to_owned()
            } else {
                format!("All {} files are readable", format::count(count))
            }
        },
        |count| {
            if count == 1 {
                "文件可读取".to_owned()
            } else {
                format!("全部 {} 个文件可读取", format::count(count))
            }
        };
    /// Title: bad of all are damaged.
    damaged: fn(u64, u64) -> String =
        |bad, all| {
            if all == 1 {
                "Its file is damaged".to_owned()
            } else {
                format!("{bad} of {all} files {} damaged", is_or_are(bad))
            }
        },
        |bad, all| of_files_zh(bad, all, "已损坏");
    /// Title: files cannot be read.
    unreadable: fn(u64, u64) -> String =
        |bad, all| {
            if all == 1 {
                "Its file cannot be read".to_owned()
            } else {
                format!("{bad} of {all} files cannot be read")
            }
        },
        |bad, all| of_files_zh(bad, all, "无法读取");
    /// Title: files end in the middle of a record.
    truncated: fn(u64, u64) -> String =
        |bad, all| {
            if all == 1 {
                "Its file is truncated".to_owned()
            } else {
                format!("{bad} of {all} files {} truncated", is_or_are(bad))
            }
        },
        |bad, all| of_files_zh(bad, all, "被截断");
    gone = "Its files are no longer on the disk", "文件已不在磁盘上";
    damaged_next =
        "Usual causes: the disk was full, the process was killed while writing, or the copy is not complete. Everything before and after the damage is shown.",
        "常见原因：磁盘已满、进程在写入时被终止，或复制未完成。损坏处前后的内容均已显示。";
    truncated_next =
        "Nothing to do while the training is running: the file is read again when it grows. Otherwise the process was killed while writing its last record.",
        "训练仍在运行时无需处理：文件增长后会再次读取。否则说明进程在写入最后一条记录时被终止。";
    unreadable_next =
        "Check the permissions of the file for the user who started the server; it is tried again with every look at the folder.",
        "请检查启动服务器的用户是否有权读取该文件；每次扫描文件夹时都会重试。";
    /// Highest step displayed.
    shown_to_step: fn(&str) -> String =
        |step| format!("Everything that could be read is shown, up to step {step}."),
        |step| format!("可读取的内容均已显示，截至迭代 {step}。");
    live = "being written", "正在写入";
    whole = "complete", "完整";
    /// State of a file, with the byte.
    torn_at: fn(&str) -> String =
        |byte| format!("truncated at byte {byte}"),
        |byte| format!("在第 {byte} 字节处被截断");
    /// State of a file, with the byte.
    damaged_at: fn(&str) -> String =
        |byte| format!("damaged from byte {byte}"),
        |byte| format!("自第 {byte} 字节起损坏");
    unreadable_file = "cannot be read", "无法读取";
    gone_file = "removed", "已移除";
    format = "Format", "格式";
    records = "Records", "记录数";
    read = "Read", "已读取";
    /// Value: bytes of bytes.
    of: fn(&str, &str) -> String = |part, all| format!("{part} of {all}"), |part, all| format!("{part} / {all}");
    skipped = "Damaged bytes", "损坏字节";
    lost_records = "Dropped by the writer", "写入方丢弃的记录";
    unknown_records = "Records without known content", "内容未知的记录";
    unread = "Not shown yet", "暂不显示";
    reason = "Reason", "原因";
    files_cut = "There are more files; the damaged ones are all listed.", "还有更多文件；损坏的文件已全部列出。";
    /// Number of ranks that wrote the run.
    ranks: fn(u64) -> String =
        |count| format!("Written by {} ranks.", format::count(count)),
        |count| format!("由 {} 个 rank 写入。", format::count(count));
    open_scalars = "Show scalars", "查看标量";
}

texts! {
    /// Instructions for recording.
    RecordTexts

    /// Title when there are no runs: the folder.
    empty: fn(&str) -> String = |dir| format!("No runs in {dir} yet"), |dir| format!("{dir} 中还没有训练");
    empty_next =
        "Add a few lines to a training; this page fills as soon as the first file appears.",
        "在训练代码中加几行；第一个文件出现后，本页会立即显示。";
    title = "How to record", "如何记录";
    next =
        "Any of these writes files that this page reads, without further settings.",
        "以下任一方式写出的文件都可直接读取，无需其他设置。";
    copy = "Copy", "复制";
    copied = "Copied", "已复制";
    watching = "watching the folder", "正在监视文件夹";
}
