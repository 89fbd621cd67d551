//! The texts of the histograms, in both languages.

use crate::format;

/// Histograms.
pub struct HistogramsTexts {
    /// Title of the page.
    pub title: &'static str,
    /// Which picture.
    pub view: &'static str,
    /// Choices: each card has its own.
    pub own: &'static str,
    /// Rows behind each other.
    pub offset: &'static str,
    /// Curves over each other.
    pub overlay: &'static str,
    /// Columns.
    pub heat_map: &'static str,
    /// Bands.
    pub percentiles: &'static str,
    /// Slider.
    pub bins: &'static str,
    /// Spacing of the bins.
    pub spacing: &'static str,
    /// What tensors are shown.
    pub role: &'static str,
    /// All of them.
    pub all: &'static str,
    /// Weights.
    pub weights: &'static str,
    /// Gradients.
    pub gradients: &'static str,
    /// Activations.
    pub activations: &'static str,
    /// The axis of steps.
    pub over: &'static str,
    /// Before a range of steps.
    pub steps: &'static str,
    /// Button.
    pub all_steps: &'static str,
    /// Handle.
    pub first_step: &'static str,
    /// Handle.
    pub last_step: &'static str,
    /// Foot: tensors, records.
    pub totals: fn(u64, u64) -> String,
    /// So many records are one row: first step, last step, records.
    pub merged: fn(&str, &str, u64) -> String,
    /// In a read-out.
    pub step: &'static str,
    /// Values in bins.
    pub finite: &'static str,
    /// `of 65,536`.
    pub of_all: fn(&str) -> String,
    /// Nothing but values that are not finite: step.
    pub nothing_finite: &'static str,
    /// No value at all.
    pub empty: &'static str,
    /// A fault by its name in the API.
    pub fault: fn(&str) -> &'static str,
    /// The run has no histograms.
    pub none: fn(&str) -> String,
    /// What to do.
    pub none_next: &'static str,
    /// What a canvas says: tag, view, rows, first step, last step.
    pub canvas: fn(&str, &str, u64, &str, &str) -> String,
}

/// English.
pub(super) static EN: HistogramsTexts = HistogramsTexts {
    title: "Histograms",
    view: "View",
    own: "Each its own",
    offset: "Offset",
    overlay: "Overlay",
    heat_map: "Heat map",
    percentiles: "Percentiles",
    bins: "Bins",
    spacing: "Spacing of the bins",
    role: "Tensors shown",
    all: "All",
    weights: "Weights",
    gradients: "Gradients",
    activations: "Activations",
    over: "Over",
    steps: "Steps",
    all_steps: "All steps",
    first_step: "First step shown",
    last_step: "Last step shown",
    totals: |tensors, records| {
        let noun = if tensors == 1 { "tensor" } else { "tensors" };
        format!(
            "{} {noun} · {} records",
            format::count(tensors),
            format::count(records)
        )
    },
    merged: |first, last, records| {
        format!(
            "steps {first} – {last}, {} together",
            format::count(records)
        )
    },
    step: "step",
    finite: "finite",
    of_all: |all| format!("of {all}"),
    nothing_finite: "No finite value at any step",
    empty: "Nothing was counted in these steps",
    fault: |fault| match fault {
        "unsorted" => "Some bins end before they begin; their edges change places",
        "overlapping" => "Some bins overlap; both are counted",
        "bad_count" => "Some counts are negative or not a number; they are left out",
        "bad_edge" => "Some bins have no finite edges; they are left out",
        _ => "Only statistics were recorded, without exponents: there is no distribution to show",
    },
    none: |runs| format!("No histograms in {runs}"),
    none_next: "Record them with add_histogram, SummaryCollector or a collector that keeps statistics of tensors; \
                they appear here within seconds.",
    canvas: |tag, view, rows, first, last| {
        format!("{tag}, {view}, {rows} rows, steps {first} to {last}")
    },
};

/// Chinese.
pub(super) static ZH: HistogramsTexts = HistogramsTexts {
    title: "参数分布图",
    view: "视图",
    own: "各自选择",
    offset: "偏移",
    overlay: "叠加",
    heat_map: "热力图",
    percentiles: "百分位",
    bins: "分箱",
    spacing: "分箱间距",
    role: "显示的张量",
    all: "全部",
    weights: "权重",
    gradients: "梯度",
    activations: "激活值",
    over: "横轴",
    steps: "迭代",
    all_steps: "全部迭代",
    first_step: "显示的第一个迭代",
    last_step: "显示的最后一个迭代",
    totals: |tensors, records| {
        format!(
            "{} 个张量 · {} 条记录",
            format::count(tensors),
            format::count(records)
        )
    },
    merged: |first, last, records| {
        format!("迭代 {first} – {last}，合并 {} 条", format::count(records))
    },
    step: "迭代",
    finite: "有限值",
    of_all: |all| format!("/ {all}"),
    nothing_finite: "所有迭代都没有有限值",
    empty: "这些迭代中没有计数",
    fault: |fault| match fault {
        "unsorted" => "部分分箱的右边界小于左边界，已交换",
        "overlapping" => "部分分箱相互重叠，均计入",
        "bad_count" => "部分计数为负或不是数字，已忽略",
        "bad_edge" => "部分分箱没有有限边界，已忽略",
        _ => "只记录了统计量，没有指数分布，无法显示分布",
    },
    none: |runs| format!("{runs} 中没有参数分布图"),
    none_next: "用 add_histogram、SummaryCollector 或保存张量统计量的采集器记录后，几秒内即显示在此。",
    canvas: |tag, view, rows, first, last| {
        format!("{tag}，{view}，{rows} 行，迭代 {first} 至 {last}")
    },
};
