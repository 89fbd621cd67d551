//! The texts of the histograms, in both languages.

use crate::format;
use crate::i18n::Text;

texts! {
    HistogramsTexts

    view = "View", "视图";
    own = "Per card", "各自选择";
    offset = "Offset", "偏移";
    overlay = "Overlay", "叠加";
    heat_map = "Heat map", "热力图";
    percentiles = "Percentiles", "百分位";
    bins = "Bins", "分箱";
    auto = "Auto", "自动";
    spacing = "Bin spacing", "分箱间距";
    role = "Tensors shown", "显示的张量";
    heat_scale = "Share of the finite values of a step that are in one bin", "一个迭代的有限值中落在一个分箱内的比例";
    all = "All tensors", "全部张量";
    weights = "Weights", "权重";
    gradients = "Gradients", "梯度";
    activations = "Activations", "激活值";
    over = "Over", "横轴";
    steps = "Steps", "迭代";
    all_steps = "All steps", "全部迭代";
    first_step = "First step shown", "显示的第一个迭代";
    last_step = "Last step shown", "显示的最后一个迭代";
    /// Foot: tensors, histograms, statistics.
    totals: fn(u64, u64, u64) -> String =
        |tensors, histograms, statistics| {
            let noun = if tensors == 1 { "tensor" } else { "tensors" };
            format!(
                "{} {noun} · {}",
                format::count(tensors),
                sources(histograms, statistics)
            )
        },
        |tensors, histograms, statistics| {
            format!(
                "{} 个张量 · {} 个直方图、{} 条统计量",
                format::count(tensors),
                format::count(histograms),
                format::count(statistics)
            )
        };
    /// In the head of a card that draws histograms: histograms, statistics of the same tensor.
    sources: fn(u64, u64) -> String =
        sources,
        |histograms, statistics| {
            format!(
                "{} 个直方图、{} 条统计量",
                format::count(histograms),
                format::count(statistics)
            )
        };
    from_exponents = "from exponents", "由指数统计";
    from_exponents_title =
        "Counted from the binary exponents in the statistics of the tensor: one bin per power of two",
        "由张量统计量中的二进制指数计数：每个二的幂一个分箱";
    /// In a read-out: values in a bin.
    values: fn(&str) -> String = |count| format!("{count} values"), |count| format!("{count} 个值");
    /// In a read-out, before a percentage: all.
    share_of: fn(&str) -> String = |all| format!("share of {all}"), |all| format!("占 {all}");
    /// Several records in one row: first step, last step, records.
    merged: fn(&str, &str, u64) -> String =
        |first, last, records| format!("steps {first} – {last}, {} merged", format::count(records)),
        |first, last, records| format!("迭代 {first} – {last}，合并 {} 条", format::count(records));
    step = "step", "迭代";
    finite = "finite", "有限值";
    /// `of 65,536`.
    of_all: fn(&str) -> String = |all| format!("of {all}"), |all| format!("/ {all}");
    nothing_finite = "No finite values at any step", "所有迭代都没有有限值";
    empty = "No values in these steps", "这些迭代中没有计数";
    /// A fault by its name in the API.
    fault: fn(&str) -> Text =
        |fault| match fault {
            "unsorted" => "Some bins have swapped edges; they are swapped back",
            "overlapping" => "Some bins overlap; both are counted",
            "bad_count" => "Some counts are negative or NaN; they are left out",
            "bad_edge" => "Some bins have no finite edges; they are left out",
            _ => "Only statistics without exponents were recorded: no distribution to draw",
        },
        |fault| match fault {
            "unsorted" => "部分分箱的右边界小于左边界，已交换",
            "overlapping" => "部分分箱相互重叠，均计入",
            "bad_count" => "部分计数为负或不是数字，已忽略",
            "bad_edge" => "部分分箱没有有限边界，已忽略",
            _ => "只记录了统计量，没有指数分布，无法显示分布",
        };
    /// The run has no histograms.
    none: fn(&str) -> String = |runs| format!("No histograms in {runs}"), |runs| format!("{runs} 中没有参数分布图");
    none_next =
        "Record them with add_histogram, SummaryCollector or statistics of tensors (run.watch in Python); \
        they appear here within seconds.",
        "用 add_histogram、SummaryCollector 或张量统计量（Python 中为 run.watch）记录后，几秒内即显示在此。";
    /// Accessible description of a canvas: tag, view, rows, first step, last step.
    canvas: fn(&str, &str, u64, &str, &str) -> String =
        |tag, view, rows, first, last| format!("{tag}, {view}, {rows} rows, steps {first} to {last}"),
        |tag, view, rows, first, last| format!("{tag}，{view}，{rows} 行，迭代 {first} 至 {last}");
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
