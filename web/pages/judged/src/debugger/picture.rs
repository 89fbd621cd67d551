//! Small pictures of a tensor without its elements.

use std::collections::BTreeMap;

use trainscope_format::tensor::Exponents;

use trainscope_web_kit::components::tensor::outline;
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;

const WIDTH: f64 = 340.0;
const HEIGHT: f64 = 72.0;

/// Histogram of elements between powers of two; both axes logarithmic.
#[component]
#[expect(
    clippy::needless_pass_by_value,
    reason = "components own what they are given"
)]
pub(super) fn Magnitudes(
    exponents: Exponents,
    /// Exponents of the step before, drawn as a dashed line.
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
    let label = move || (i18n.texts().debugger().magnitudes_label)(&ends[0], &ends[1]);
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

/// Exponents in ascending order with the number of their elements, both signs together.
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
