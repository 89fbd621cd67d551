//! Texts of the graph.

use crate::format;
use crate::i18n::{Text, many};

texts! {
    /// Boxes, lines, and facts about them.
    GraphTexts

    /// Nodes of a closed scope.
    nodes: fn(u64) -> String =
        |count| many(count, "node", "nodes"),
        |count| format!("{} 个节点", format::count(count));
    /// Content of the canvas: nodes, edges, boxes drawn.
    drawn: fn(u64, u64, u64) -> String =
        |nodes, edges, drawn| {
            let (nodes, edges) = (
                many(nodes, "node", "nodes"),
                many(edges, "edge", "edges"),
            );
            format!("{nodes} · {edges} · {} drawn", format::count(drawn))
        },
        |nodes, edges, drawn| {
            format!(
                "{} 个节点 · {} 条边 · 已绘制 {}",
                format::count(nodes),
                format::count(edges),
                format::count(drawn)
            )
        };
    /// Neighbourhood of a tensor: name, number of boxes.
    around: fn(&str, u64) -> String =
        |name, count| format!("Graph around {name}: {}", many(count, "box", "boxes")),
        |name, count| format!("{name} 附近的计算图：{} 个方框", format::count(count));
    search = "name, type, file:line", "名称、类型、文件:行";
    /// Label of the number of nodes in a scope.
    scope_size = "Nodes", "节点数";
    tree = "Scopes and nodes", "作用域与节点";
    /// Results were left out: sent, all.
    cut: fn(u64, u64) -> String =
        |sent, all| format!("The first {} of {}.", format::count(sent), format::count(all)),
        |sent, all| format!("前 {} 项，共 {} 项。", format::count(sent), format::count(all));
    nothing_found = "No matching nodes.", "没有匹配的节点。";
    graph = "Graph of the run", "训练的计算图";
    /// A graph of a rank.
    of_rank: fn(&str, u32) -> String =
        |tag, rank| format!("{tag} (rank {rank})"),
        |tag, rank| format!("{tag}（rank {rank}）");
    colour = "Colour", "着色";
    /// Type, device, health, precision, time.
    colours: [Text; 5] =
        ["Type", "Device", "Health", "Precision", "Time"],
        ["类型", "设备", "健康", "数值精度", "时间"];
    time_legend = "mean time per step, the longest fills its box", "每个迭代平均时间；最长者占满方框";
    mean_time = "mean time per step", "每个迭代平均时间";
    /// Link to the operator in the profile.
    operator = "Operator in the profile", "性能分析中的算子";
    against = "Compared with the other graph", "与另一计算图对比";
    /// Comparison of a node: the same in both graphs; missing in the other graph; only in the other graph.
    likeness: [Text; 3] =
        ["Identical in the other graph", "Not in the other graph", "only in the other graph"],
        ["两图相同", "另一计算图中没有对应节点", "仅另一计算图有"];
    /// Legend of health: error, warning, healthy, carries.
    health: [Text; 4] =
        ["error found", "warning found", "no problem found", "downstream"],
        ["发现错误", "发现警告", "未发现问题", "由此传播"];
    /// Legend of precision: reduced, raised.
    precision: [Text; 2] = ["reduced precision", "raised precision"], ["降低精度", "提高精度"];
    /// Legend of differences: added, changed.
    differing: [Text; 2] = ["only in this graph", "changed"], ["仅此图有", "不相同"];
    zoom_in = "Zoom in (+)", "放大 (+)";
    zoom_out = "Zoom out (−)", "缩小 (−)";
    fit = "Fit (f)", "适应窗口 (f)";
    svg = "Download SVG", "下载 SVG";
    open = "Open", "展开";
    close = "Close", "收起";
    way_from = "Path from here", "路径起点";
    way_to = "Path to here", "路径终点";
    /// Instruction after the start of a way.
    way_begun: fn(&str) -> String =
        |from| format!("Click the end node of the path from {from}"),
        |from| format!("请点击终点节点（起点：{from}）");
    /// From, to, nodes on the way.
    way: fn(&str, &str, u64) -> String =
        |from, to, count| format!("{from} → {to}: {}", many(count, "node", "nodes")),
        |from, to, count| format!("{from} → {to}：{} 个节点", format::count(count));
    /// From, to: no way between them.
    no_way: fn(&str, &str) -> String =
        |from, to| format!("No path from {from} to {to}."),
        |from, to| format!("从 {from} 到 {to} 没有数据流。");
    node = "Node", "节点";
    nothing_chosen = "No node selected", "未选择节点";
    nothing_chosen_next =
        "Click a node for its inputs, outputs and users. Double-click a scope to open it.",
        "点击节点查看其输入、输出和使用者；双击可展开作用域。";
    inputs = "Inputs", "输入";
    users = "Used by", "使用者";
    outputs = "Outputs", "输出";
    attributes = "Attributes", "属性";
    source = "Source", "源码";
    tensors = "Recorded tensors", "已记录";
    types = "Operations", "算子";
    findings = "Findings", "发现";
    device = "device", "设备";
    precision_row = "precision", "数值精度";
    missing = "not in the graph", "图中没有";
    control = "runs before", "控制依赖";
    first_cause = "first cause", "最初原因";
    /// Number of further entries.
    more: fn(u64) -> String =
        |count| format!("and {} more", format::count(count)),
        |count| format!("另有 {} 项", format::count(count));
    compare = "Compare with…", "对比…";
    pair = "Compared graphs", "对比的计算图";
    /// Compared: added, removed, changed, renamed, same.
    compared: fn([u64; 5]) -> String =
        |[added, removed, changed, renamed, same]| {
            format!(
                "{} only in the first, {} only in the second, {} changed, {} renamed, {} identical",
                format::count(added),
                format::count(removed),
                format::count(changed),
                format::count(renamed),
                format::count(same)
            )
        },
        |[added, removed, changed, renamed, same]| {
            format!(
                "仅第一图 {}，仅第二图 {}，改变 {}，改名 {}，相同 {}",
                format::count(added),
                format::count(removed),
                format::count(changed),
                format::count(renamed),
                format::count(same)
            )
        };
    removed = "Only in the second graph", "仅第二图有";
    empty = "This graph has no nodes", "此图没有节点";
    empty_next = "The recorded graph is empty.", "文件中有计算图，但其中没有内容。";
    none = "No graph to show", "没有可显示的计算图";
    none_next =
        "Record one: add_graph of a SummaryWriter, collect_graph of MindSpore, an ONNX file beside the events, or the collector's graph.",
        "可用 SummaryWriter 的 add_graph、MindSpore 的 collect_graph、与事件文件同文件夹的 ONNX 文件或采集器记录。";
    odd = "Notes:", "提示：";
}
