//! Small pictures of a tensor without its elements.

use std::collections::BTreeMap;

use trainscope_format::tensor::{Exponents, TensorStats};

use crate::format;
use crate::i18n::use_i18n;
use crate::pages::tensors::outline;
use crate::prelude::*;

const WIDTH: f64 = 340.0;
const HEIGHT: f64 = 72.0;

/// Elements by class, NaN first: each class that has any is seen, however few.
#[component]
#[expect(
    clippy::needless_pass_by_value,
    reason = "components own what they are given"
)]
pub(in crate::pages) fn ClassBar(
    stats: TensorStats,
    /// True if each class has a line with its name, instead of its sign in a row.
    #[prop(default = false)]
    is_listed: bool,
) -> impl IntoView {
    let words = use_i18n().texts().tensors.classes;
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
        view! { <i class=format!("cls-{class}") style:flex-grow=grow hidden=count == 0></i> }
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
        <div class="class-bar" aria-hidden="true">{parts.collect_view()}</div>
        <div class="legend classes" class:listed=is_listed>{legend.collect_view()}</div>
    }
}

/// Histogram of elements between powers of two; both axes logarithmic.
#[component]
#[expect(
    clippy::needless_pass_by_value,
    reason = "components own what they are given"
)]
pub(super) fn Magnitudes(
    exponents: Exponents,
    /// Those of the step before: a dashed line.
    before: Option<Exponents>,
) -> impl IntoView {
    let i18n = use_i18n();
    let columns = columns(&exponents);
    let (Some(first), Some(last)) = (columns.first().copied(), columns.last().copied()) else {
        return ().into_any();
    };
    let buckets = f64::from(last.0 - first.0 + 1);
    let width = WIDTH / buckets;
    let earlier = before.as_ref().map(|before| {
        let known: BTreeMap<i32, u64> = self::columns(before).into_iter().collect();
        let all = first.0..=last.0;
        all.map(|exponent| known.get(&exponent).copied().unwrap_or(0))
            .collect::<Vec<_>>()
    });
    let counts = columns.iter().map(|column| column.1);
    let counts = counts.chain(earlier.iter().flatten().copied());
    let most = counts.max().unwrap_or(1);
    let scale = HEIGHT / (most as f64 + 1.0).log10();
    let earlier = earlier.map(|earlier| {
        let heights = earlier.into_iter();
        outline(
            heights.map(|count| (count as f64 + 1.0).log10() * scale),
            width,
            HEIGHT,
        )
    });
    let bars = columns.iter().map(|&(exponent, count)| {
        let height = (count as f64 + 1.0).log10() * scale;
        let x = f64::from(exponent - first.0) * width;
        view! {
            <rect
                x=format!("{x:.1}")
                y=format!("{:.1}", HEIGHT - height)
                width=format!("{:.1}", (width - 0.75).max(0.75))
                height=format!("{height:.1}")
            />
        }
    });
    let power = |exponent: i32| {
        if exponent == -127 {
            format!("< {}", format::number(2.0_f64.powi(-126), 2))
        } else {
            format::number(2.0_f64.powi(exponent), 2)
        }
    };
    let ends = [power(first.0), power(last.0 + 1)];
    let label = move || (i18n.texts().debugger.magnitudes_label)(&ends[0], &ends[1]);
    view! {
        <svg
            class="magnitudes"
            viewBox=format!("0 0 {WIDTH} {HEIGHT}")
            preserveAspectRatio="none"
            role="img"
            aria-label=label
        >
            {bars.collect_view()}
            {earlier}
        </svg>
        <div class="flex micro ink3">
            <span>{power(first.0)}</span>
            <span class="grow"></span>
            <span>"|x|"</span>
            <span class="grow"></span>
            <span>{power(last.0 + 1)}</span>
        </div>
    }
    .into_any()
}

/// Exponents of both signs together, ascending, with how many elements each has.
fn columns(exponents: &Exponents) -> Vec<(i32, u64)> {
    let mut columns = BTreeMap::new();
    for &(bucket, count) in exponents.counts() {
        *columns
            .entry(i32::from(bucket & 255) - 127)
            .or_insert(0_u64) += count;
    }
    columns.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_signs_are_one_column() {
        let exponents = Exponents::from_counts(vec![(126, 3), (127, 1), (383, 2)]).unwrap();
        assert_eq!(columns(&exponents), [(-1, 3), (0, 3)]);
    }
}
