//! Small pictures of the distribution of elements.

use trainscope_api::tensors::Bins;

use crate::format;
use crate::i18n::use_i18n;
use crate::prelude::*;

const WIDTH: f64 = 240.0;
const HEIGHT: f64 = 72.0;

/// Counts in bins, with one colour below zero and one above. The counts before, in the same bins, are a dashed line.
pub fn bins_picture(bins: &Bins, before: Option<&Bins>) -> AnyView {
    let i18n = use_i18n();
    let all = before.iter().flat_map(|before| &before.counts);
    let most = all.chain(&bins.counts).copied().max().unwrap_or(0).max(1) as f64;
    let width = WIDTH / bins.counts.len().max(1) as f64;
    let step = (bins.high - bins.low) / bins.counts.len().max(1) as f64;
    let bars = bins.counts.iter().enumerate().map(|(at, &count)| {
        let height = if count > 0 {
            (count as f64 / most * HEIGHT).max(1.0)
        } else {
            0.0
        };
        let from = bins.low + at as f64 * step;
        let class = if from + step / 2.0 < 0.0 {
            "neg"
        } else {
            "pos"
        };
        let title = format!(
            "{} – {}: {}",
            format::number(from, 3),
            format::number(from + step, 3),
            format::count(count)
        );
        view! {
            <rect
                class=class
                x=format!("{:.2}", at as f64 * width)
                y=format!("{:.2}", HEIGHT - height)
                width=format!("{:.2}", (width - 0.75).max(0.5))
                height=format!("{height:.2}")
            >
                <title>{title}</title>
            </rect>
        }
    });
    let (low, high) = (format::number(bins.low, 3), format::number(bins.high, 3));
    view! {
        <svg
            class="slice-bins"
            data-part="bins"
            viewBox=format!("0 0 {WIDTH} {HEIGHT}")
            preserveAspectRatio="none"
            role="img"
            aria-label=(i18n.texts().tensors().histogram_label)(&low, &high)
        >
            {bars.collect_view()}
            {before.map(|before| {
                let heights = before.counts.iter().map(|count| *count as f64 / most * HEIGHT);
                outline(heights, width, HEIGHT)
            })}
        </svg>
        <div class="flex micro ink3">
            <span>{low}</span>
            <span class="grow"></span>
            <span>{high}</span>
        </div>
    }
    .into_any()
}

/// A dashed line over columns of these heights.
pub fn outline(heights: impl Iterator<Item = f64>, width: f64, height: f64) -> AnyView {
    let mut path = String::new();
    for (at, column) in heights.enumerate() {
        let sign = if path.is_empty() { 'M' } else { 'L' };
        let y = (height - column).max(0.5);
        path.extend([format!("{sign}{:.2} {y:.2}h{width:.2}", at as f64 * width)]);
    }
    view! { <path class="before" data-part="before" d=path /> }.into_any()
}
