//! Read-out under the pointer: one row, its bin, percentiles, and counts of NaN and infinities.

use std::sync::Arc;

use trainscope_api::distributions::DistributionsAnswer;
use trainscope_charts::distribution::Hit;
use trainscope_charts::label;

use super::drawing::Part;
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;

/// Pixels between the pointer and the read-out, and its width before the first layout.
const BESIDE: f64 = 16.0;
const WIDTH: f64 = 190.0;

/// The read-out; `across` is the width of the picture in CSS pixels.
#[component]
#[expect(
    clippy::needless_pass_by_value,
    reason = "components own what they are given"
)]
pub(super) fn ReadOut(
    answer: Arc<DistributionsAnswer>,
    parts: Arc<Vec<Part>>,
    hit: Hit,
    at: (f64, f64),
    across: f64,
) -> impl IntoView {
    let i18n = use_i18n();
    // Created again with each move of the pointer.
    let texts = untrack(|| i18n.texts().histograms());
    let found = parts.get(hit.stack).and_then(|part| {
        let row = part.of.rows.get(hit.row)?;
        Some((part, row))
    });
    let Some((part, row)) = found else {
        return ().into_any();
    };
    let mut lines: Vec<(String, String, &str)> = Vec::new();
    let steps = if row.records > 1 {
        (texts.merged)(
            &label::step(row.first_step),
            &label::step(row.step),
            row.records,
        )
    } else {
        format!("{} {}", texts.step, label::step(row.step))
    };
    let share = |count: f64| {
        let percent = if row.finite > 0.0 {
            100.0 * count / row.finite
        } else {
            0.0
        };
        format!("{} %", label::fixed(percent, 1))
    };
    let bin = hit.bin.and_then(|bin| {
        let (low, high) = (answer.edges.get(bin)?, answer.edges.get(bin + 1)?);
        Some((*low, *high, *row.counts.get(bin)?))
    });
    if let Some((low, high, count)) = bin {
        let range = format!("{} … {}", label::value(low), label::value(high));
        lines.push((range, (texts.values)(&count_text(count)), ""));
        lines.push((
            (texts.share_of)(&count_text(row.finite)),
            share(count),
            "ink3",
        ));
    } else {
        let names = ["min", "p5", "p25", "p50", "p75", "p95", "max"];
        for (name, value) in names.into_iter().zip(&row.percentiles) {
            // Percentiles assume evenly spread values within an exponent; minimum and maximum are recorded.
            let is_estimate = part.is_exponents() && name.starts_with('p');
            let about = if is_estimate { "≈ " } else { "" };
            lines.push((
                name.to_owned(),
                format!("{about}{}", label::value(*value)),
                "ink2",
            ));
        }
    }
    let all = row.finite + (row.nan + row.pos_inf + row.neg_inf) as f64;
    let finite = (texts.of_all)(&count_text(all));
    lines.push((
        texts.finite.to_owned(),
        format!("{} {finite}", count_text(row.finite)),
        "ink2",
    ));
    for (name, count, class) in [
        ("NaN", row.nan, "nan"),
        ("+∞", row.pos_inf, "inf"),
        ("−∞", row.neg_inf, "inf"),
    ] {
        if count > 0 {
            lines.push((name.to_owned(), format::count(count), class));
        }
    }
    lines.push((format::moment(row.wall_time_secs), String::new(), "ink3"));
    let left = if at.0 + BESIDE + WIDTH > across && at.0 > WIDTH + BESIDE {
        format!("{:.0}px", at.0 - BESIDE - WIDTH)
    } else {
        format!("{:.0}px", at.0 + BESIDE)
    };
    let run = (parts.len() > 1).then(|| part.id.label());
    let rows = lines
        .into_iter()
        .map(|(name, value, class)| {
            view! {
                <div class=format!("row {class}")>
                    {name} <b class=class>{value}</b>
                </div>
            }
        })
        .collect_view();
    view! {
        <div class="tip" data-part="readout" style:left=left style:top=format!("{:.0}px", (at.1 - 80.0).max(4.0))>
            <div class="row">
                <b class="first">{steps}</b>
            </div>
            {run.map(|run| view! { <div class="row ink2">{run}</div> })}
            {rows}
        </div>
    }
    .into_any()
}

/// Whole numbers without decimals, shares of bins with one.
fn count_text(count: f64) -> String {
    if (count - count.round()).abs() < 0.05 {
        label::fixed(count, 0)
    } else {
        label::fixed(count, 1)
    }
}
