//! Texts of the graph.

use crate::format;

/// Boxes, lines, and what is known of them.
pub struct GraphTexts {
    pub title: &'static str,
    /// Nodes of a closed scope.
    pub nodes: fn(u64) -> String,
    /// Content of the canvas: nodes, edges, boxes drawn.
    pub drawn: fn(u64, u64, u64) -> String,
    /// Neighbourhood of a tensor: name, number of boxes.
    pub around: fn(&str, u64) -> String,
    pub search: &'static str,
    pub tree: &'static str,
    /// Results were left out: sent, all.
    pub cut: fn(u64, u64) -> String,
    pub nothing_found: &'static str,
    pub graph: &'static str,
    /// A graph of a rank.
    pub of_rank: fn(&str, u32) -> String,
    pub colour: &'static str,
    /// Type, device, health, precision, time.
    pub colours: [&'static str; 5],
    pub time_legend: &'static str,
    pub mean_time: &'static str,
    /// Link to the operator in the profile.
    pub operator: &'static str,
    pub against: &'static str,
    /// There: it is the same; the other graph has none like it; only the other graph has it.
    pub likeness: [&'static str; 3],
    /// Legend of health: error, warning, healthy, carries.
    pub health: [&'static str; 4],
    /// Legend of precision: reduced, raised.
    pub precision: [&'static str; 2],
    /// Legend of what differs: added, changed.
    pub differing: [&'static str; 2],
    pub zoom_in: &'static str,
    pub zoom_out: &'static str,
    pub fit: &'static str,
    pub svg: &'static str,
    pub open: &'static str,
    pub close: &'static str,
    pub way_from: &'static str,
    pub way_to: &'static str,
    /// A way begins there: choose where it ends.
    pub way_begun: fn(&str) -> String,
    /// From, to, nodes on the way.
    pub way: fn(&str, &str, u64) -> String,
    /// From, to: there is none.
    pub no_way: fn(&str, &str) -> String,
    pub node: &'static str,
    pub nothing_chosen: &'static str,
    pub nothing_chosen_next: &'static str,
    pub inputs: &'static str,
    pub users: &'static str,
    pub outputs: &'static str,
    pub attributes: &'static str,
    pub source: &'static str,
    pub tensors: &'static str,
    pub types: &'static str,
    pub findings: &'static str,
    pub device: &'static str,
    pub precision_row: &'static str,
    pub missing: &'static str,
    pub control: &'static str,
    pub first_cause: &'static str,
    /// More entries than are shown.
    pub more: fn(u64) -> String,
    pub compare: &'static str,
    pub pair: &'static str,
    /// Compared: added, removed, changed, renamed, same.
    pub compared: fn([u64; 5]) -> String,
    pub removed: &'static str,
    pub empty: &'static str,
    pub empty_next: &'static str,
    pub none: &'static str,
    pub none_next: &'static str,
    pub odd: &'static str,
}

fn plural(count: u64, one: &str, many: &str) -> String {
    format!(
        "{} {}",
        format::count(count),
        if count == 1 { one } else { many }
    )
}

pub(super) const EN: GraphTexts = GraphTexts {
    title: "Graph",
    nodes: |count| plural(count, "node", "nodes"),
    drawn: |nodes, edges, drawn| {
        let (nodes, edges) = (
            plural(nodes, "node", "nodes"),
            plural(edges, "edge", "edges"),
        );
        format!("{nodes} · {edges} · {} drawn", format::count(drawn))
    },
    around: |name, count| format!("Graph around {name}: {}", plural(count, "box", "boxes")),
    search: "name, type, file:line",
    tree: "Scopes and nodes",
    cut: |sent, all| {
        format!(
            "The first {} of {}.",
            format::count(sent),
            format::count(all)
        )
    },
    nothing_found: "No matching nodes.",
    graph: "Graph of the run",
    of_rank: |tag, rank| format!("{tag} (rank {rank})"),
    colour: "Colour",
    colours: ["Type", "Device", "Health", "Precision", "Time"],
    time_legend: "mean time per step, the longest fills its box",
    mean_time: "mean time per step",
    operator: "Operator in the profile",
    against: "Compared with the other graph",
    likeness: [
        "Identical in the other graph",
        "Not in the other graph",
        "only in the other graph",
    ],
    health: [
        "error found",
        "warning found",
        "no problem found",
        "downstream",
    ],
    precision: ["reduced precision", "raised precision"],
    differing: ["only in this graph", "changed"],
    zoom_in: "Zoom in (+)",
    zoom_out: "Zoom out (−)",
    fit: "Fit (f)",
    svg: "Download SVG",
    open: "Open",
    close: "Close",
    way_from: "Path from here",
    way_to: "Path to here",
    way_begun: |from| format!("Click the end node of the path from {from}"),
    way: |from, to, count| format!("{from} → {to}: {}", plural(count, "node", "nodes")),
    no_way: |from, to| format!("No path from {from} to {to}."),
    node: "Node",
    nothing_chosen: "No node selected",
    nothing_chosen_next: "Click a node for its inputs, outputs and users. Double-click a scope to open it.",
    inputs: "Inputs",
    users: "Used by",
    outputs: "Outputs",
    attributes: "Attributes",
    source: "Source",
    tensors: "Recorded tensors",
    types: "Operations",
    findings: "Findings",
    device: "device",
    precision_row: "precision",
    missing: "not in the graph",
    control: "runs before",
    first_cause: "first cause",
    more: |count| format!("and {} more", format::count(count)),
    compare: "Compare with…",
    pair: "Compared graphs",
    compared: |[added, removed, changed, renamed, same]| {
        format!(
            "{} only in the first, {} only in the second, {} changed, {} renamed, {} identical",
            format::count(added),
            format::count(removed),
            format::count(changed),
            format::count(renamed),
            format::count(same)
        )
    },
    removed: "Only in the second graph",
    empty: "This graph has no nodes",
    empty_next: "The recorded graph is empty.",
    none: "No graph to show",
    none_next: "Record one: add_graph of a SummaryWriter, collect_graph of MindSpore, an ONNX file beside the events, or the collector's graph.",
    odd: "Notes:",
};

pub(super) const ZH: GraphTexts = GraphTexts {
    title: "计算图",
    nodes: |count| format!("{} 个节点", format::count(count)),
    drawn: |nodes, edges, drawn| {
        format!(
            "{} 个节点 · {} 条边 · 已绘制 {}",
            format::count(nodes),
            format::count(edges),
            format::count(drawn)
        )
    },
    around: |name, count| format!("{name} 附近的计算图：{} 个方框", format::count(count)),
    search: "名称、类型、文件:行",
    tree: "命名空间与节点",
    cut: |sent, all| {
        format!(
            "前 {} 项，共 {} 项。",
            format::count(sent),
            format::count(all)
        )
    },
    nothing_found: "没有匹配的节点。",
    graph: "训练的计算图",
    of_rank: |tag, rank| format!("{tag}（rank {rank}）"),
    colour: "着色",
    colours: ["类型", "设备", "健康", "数值精度", "时间"],
    time_legend: "每次迭代平均时间；最长者占满方框",
    mean_time: "每次迭代平均时间",
    operator: "性能数据中的算子",
    against: "与另一计算图对比",
    likeness: ["两图相同", "另一计算图中没有对应节点", "仅另一计算图有"],
    health: ["发现错误", "发现警告", "未发现问题", "由此传播"],
    precision: ["降低精度", "提高精度"],
    differing: ["仅此图有", "不相同"],
    zoom_in: "放大 (+)",
    zoom_out: "缩小 (−)",
    fit: "适应窗口 (f)",
    svg: "下载 SVG",
    open: "展开",
    close: "收起",
    way_from: "路径起点",
    way_to: "路径终点",
    way_begun: |from| format!("请点击终点节点（起点：{from}）"),
    way: |from, to, count| format!("{from} → {to}：{} 个节点", format::count(count)),
    no_way: |from, to| format!("从 {from} 到 {to} 没有数据流。"),
    node: "节点",
    nothing_chosen: "未选择节点",
    nothing_chosen_next: "点击节点查看其输入、输出和使用者；双击可展开命名空间。",
    inputs: "输入",
    users: "使用者",
    outputs: "输出",
    attributes: "属性",
    source: "源代码",
    tensors: "已记录",
    types: "算子",
    findings: "发现",
    device: "设备",
    precision_row: "数值精度",
    missing: "图中没有",
    control: "控制依赖",
    first_cause: "最初原因",
    more: |count| format!("另有 {} 项", format::count(count)),
    compare: "对比…",
    pair: "对比的计算图",
    compared: |[added, removed, changed, renamed, same]| {
        format!(
            "仅第一图 {}，仅第二图 {}，改变 {}，改名 {}，相同 {}",
            format::count(added),
            format::count(removed),
            format::count(changed),
            format::count(renamed),
            format::count(same)
        )
    },
    removed: "仅第二图有",
    empty: "此图没有节点",
    empty_next: "文件中有计算图，但其中没有内容。",
    none: "没有可显示的计算图",
    none_next: "可用 SummaryWriter 的 add_graph、MindSpore 的 collect_graph、与事件文件同文件夹的 ONNX 文件或采集器记录。",
    odd: "提示：",
};
