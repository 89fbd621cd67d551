//! Counts of elements by class, as a bar with a legend.

use trainscope_format::tensor::TensorStats;

use crate::format;
use crate::i18n::use_i18n;
use crate::prelude::*;

/// Elements by class, NaN first: even a class with few elements stays visible.
#[component]
#[expect(
    clippy::needless_pass_by_value,
    reason = "components own what they are given"
)]
pub fn ClassBar(
    stats: TensorStats,
    /// True if each class has a line with its name, instead of its sign in a row.
    #[prop(default = false)]
    is_listed: bool,
) -> impl IntoView {
    let words = use_i18n().texts().tensors().classes;
    let classes = [
        ("nan", "NaN", stats.nan),
        ("ninf", "−∞", stats.neg_inf),
        ("neg", "−", stats.negative),
        ("zero", "0", stats.zero),
        ("pos", "+", stats.positive),
        ("pinf", "+∞", stats.pos_inf),
    ];
    let total = stats.count.max(1) as f64;
    let parts = classes.map(|(class, _, count)| {
        let grow = format!("{}", count as f64 / total * 100.0);
        view! { <i class=format!("cls-{class}") data-kind=class style:flex-grow=grow hidden=count == 0></i> }
    });
    let mut words = words.into_iter();
    let legend = classes.map(|(class, sign, count)| {
        let word = words.next().filter(|_| is_listed);
        let sign = word.unwrap_or(sign);
        let is_bad = count > 0 && matches!(class, "nan" | "ninf" | "pinf");
        view! {
            <span class:err=is_bad class:bold=is_bad>
                <i class=format!("sw cls-{class}")></i>
                {sign}
                " "
                <b class="med">{format::count(count)}</b>
            </span>
        }
    });
    view! {
        <div class="class-bar" data-part="classes" aria-hidden="true">{parts.collect_view()}</div>
        <div class="legend classes" class:listed=is_listed>{legend.collect_view()}</div>
    }
}
