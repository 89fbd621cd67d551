//! The texts of the histograms, in both languages.

use crate::format;

pub struct HistogramsTexts {
    pub title: &'static str,
    pub view: &'static str,
    pub own: &'static str,
    pub offset: &'static str,
    pub overlay: &'static str,
    pub heat_map: &'static str,
    pub percentiles: &'static str,
    pub bins: &'static str,
    pub auto: &'static str,
    pub spacing: &'static str,
    pub role: &'static str,
    pub heat_scale: &'static str,
    pub all: &'static str,
    pub weights: &'static str,
    pub gradients: &'static str,
    pub activations: &'static str,
    pub over: &'static str,
    pub steps: &'static str,
    pub all_steps: &'static str,
    pub first_step: &'static str,
    pub last_step: &'static str,
    /// Foot: tensors, histograms, statistics.
    pub totals: fn(u64, u64, u64) -> String,
    /// In the head of a card that draws histograms: histograms, statistics of the same tensor.
    pub sources: fn(u64, u64) -> String,
    pub from_exponents: &'static str,
    pub from_exponents_title: &'static str,
    /// In a read-out: values in a bin.
    pub values: fn(&str) -> String,
    /// In a read-out, before a percentage: all.
    pub share_of: fn(&str) -> String,
    /// Several records in one row: first step, last step, records.
    pub merged: fn(&str, &str, u64) -> String,
    pub step: &'static str,
    pub finite: &'static str,
    /// `of 65,536`.
    pub of_all: fn(&str) -> String,
    pub nothing_finite: &'static str,
    pub empty: &'static str,
    /// A fault by its name in the API.
    pub fault: fn(&str) -> &'static str,
    /// The run has no histograms.
    pub none: fn(&str) -> String,
    pub none_next: &'static str,
    /// Accessible description of a canvas: tag, view, rows, first step, last step.
    pub canvas: fn(&str, &str, u64, &str, &str) -> String,
}

/// `3 histograms, 40 statistics`; counts of zero are left out.
fn sources(histograms: u64, statistics: u64) -> String {
    let of = |count: u64, one: &str, many: &str| {
        let noun = if count == 1 { one } else { many };
        (count > 0).then(|| format!("{} {noun}", format::count(count)))
    };
    let parts = [
        of(histograms, "histogram", "histograms"),
        of(statistics, "statistic", "statistics"),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

pub(super) static EN: HistogramsTexts = HistogramsTexts {
    title: "Histograms",
    view: "View",
    own: "Per card",
    offset: "Offset",
    overlay: "Overlay",
    heat_map: "Heat map",
    percentiles: "Percentiles",
    bins: "Bins",
    auto: "Auto",
    spacing: "Bin spacing",
    role: "Tensors shown",
    heat_scale: "Share of the finite values of a step that are in one bin",
    all: "All tensors",
    weights: "Weights",
    gradients: "Gradients",
    activations: "Activations",
    over: "Over",
    steps: "Steps",
    all_steps: "All steps",
    first_step: "First step shown",
    last_step: "Last step shown",
    totals: |tensors, histograms, statistics| {
        let noun = if tensors == 1 { "tensor" } else { "tensors" };
        format!(
            "{} {noun} · {}",
            format::count(tensors),
            sources(histograms, statistics)
        )
    },
    sources,
    from_exponents: "from exponents",
    from_exponents_title: "Counted from the binary exponents in the statistics of the tensor: one bin per power of two",
    values: |count| format!("{count} values"),
    share_of: |all| format!("share of {all}"),
    merged: |first, last, records| {
        format!("steps {first} – {last}, {} merged", format::count(records))
    },
    step: "step",
    finite: "finite",
    of_all: |all| format!("of {all}"),
    nothing_finite: "No finite values at any step",
    empty: "No values in these steps",
    fault: |fault| match fault {
        "unsorted" => "Some bins have swapped edges; they are swapped back",
        "overlapping" => "Some bins overlap; both are counted",
        "bad_count" => "Some counts are negative or NaN; they are left out",
        "bad_edge" => "Some bins have no finite edges; they are left out",
        _ => "Only statistics without exponents were recorded: no distribution to draw",
    },
    none: |runs| format!("No histograms in {runs}"),
    none_next: "Record them with add_histogram, SummaryCollector or statistics of tensors (run.watch in Python); \
                they appear here within seconds.",
    canvas: |tag, view, rows, first, last| {
        format!("{tag}, {view}, {rows} rows, steps {first} to {last}")
    },
};

pub(super) static ZH: HistogramsTexts = HistogramsTexts {
    title: "参数分布图",
    view: "视图",
    own: "各自选择",
    offset: "偏移",
    overlay: "叠加",
    heat_map: "热力图",
    percentiles: "百分位",
    bins: "分箱",
    auto: "自动",
    spacing: "分箱间距",
    role: "显示的张量",
    heat_scale: "一个迭代的有限值中落在一个分箱内的比例",
    all: "全部张量",
    weights: "权重",
    gradients: "梯度",
    activations: "激活值",
    over: "横轴",
    steps: "迭代",
    all_steps: "全部迭代",
    first_step: "显示的第一个迭代",
    last_step: "显示的最后一个迭代",
    totals: |tensors, histograms, statistics| {
        format!(
            "{} 个张量 · {} 个直方图、{} 条统计量",
            format::count(tensors),
            format::count(histograms),
            format::count(statistics)
        )
    },
    sources: |histograms, statistics| {
        format!(
            "{} 个直方图、{} 条统计量",
            format::count(histograms),
            format::count(statistics)
        )
    },
    from_exponents: "由指数统计",
    from_exponents_title: "由张量统计量中的二进制指数计数：每个二的幂一个分箱",
    values: |count| format!("{count} 个值"),
    share_of: |all| format!("占 {all}"),
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
    none_next: "用 add_histogram、SummaryCollector 或张量统计量（Python 中为 run.watch）记录后，几秒内即显示在此。",
    canvas: |tag, view, rows, first, last| {
        format!("{tag}，{view}，{rows} 行，迭代 {first} 至 {last}")
    },
};
