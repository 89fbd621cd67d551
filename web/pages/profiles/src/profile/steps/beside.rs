//! Cards next to the rows: one step against the median, the distribution of lengths, and phases over the steps.

use std::sync::Arc;

use trainscope_api::profile::SessionSummary;
use trainscope_charts::profile::{Counts, Curve, Curves, Figure, Hit, Unit};
use trainscope_format::Kind;

use super::super::model::{length, share, signed, swatch, time, use_model};
use super::super::parts::{head, read_out};
use super::phases::{Part, bins};
use super::{plain_or, use_steps};
use trainscope_web_kit::components::{IconButton, IconName, ProfileChart};
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::route;

/// Number of bins of the distribution of lengths.
const BINS: usize = 40;
/// Maximum number of curves; the longest phases are shown.
const CURVES: usize = 4;
/// Difference from the median above which it is a finding, as a share of the median step.
const DIFFERS: f64 = 0.1;

/// The selected step against the median.
#[component]
pub(super) fn OneStep() -> impl IntoView {
    let steps = use_steps();
    let model = steps.model;
    let i18n = use_i18n();
    let title = move || {
        let number = model.with(|summary| Some(summary.steps.get(steps.chosen.get()?)?.number));
        let number = number.flatten().map(format::integer).unwrap_or_default();
        (i18n.texts().profile().step_title)(&number)
    };
    let against = move || {
        let count = model.with(|summary| summary.whole_steps).unwrap_or(0);
        (i18n.texts().profile().against_median)(count)
    };
    let body = move || {
        let texts = i18n.texts();
        let at = steps.chosen.get()?;
        let phases = steps.phases.get();
        model.with(|summary| {
            let step = summary.steps.get(at)?;
            let medians = phases.medians(summary);
            let row = |part: &Part| {
                let median = medians.iter().find(|median| median.0 == *part);
                let median = median.map_or(0, |median| median.1);
                let nanos = phases.total(at, *part);
                let name = view! { {swatch(part.shade())} {part.name(texts)} };
                table_row(
                    name.into_any(),
                    nanos,
                    median,
                    summary.median_step_nanos,
                    false,
                )
            };
            let rows = phases.parts.iter().map(row).collect::<Vec<_>>();
            let whole = table_row(
                view! { {texts.profile().step_total} }.into_any(),
                length(step),
                summary.median_step_nanos,
                summary.median_step_nanos,
                true,
            );
            Some(view! { <tbody>{rows} {whole}</tbody> })
        })?
    };
    // The same step on other pages of the run, which may count from another number.
    let elsewhere = move || {
        let texts = i18n.texts();
        let number = model.with(|summary| {
            let step = summary.steps.get(steps.chosen.get()?)?;
            Some(step.number.saturating_add(summary.step_offset))
        })??;
        let run = model.profiles.run.get();
        let has_curves = model.profiles.has_kind(Kind::Scalars);
        let curves = has_curves.then(|| {
            let href = route::scalars_step_href(&run, number);
            view! {
                <a class="link" href=href>
                    {texts.profile().step_curves}
                </a>
            }
        });
        let debugger = route::debugger_step_href(&run, number);
        Some(view! {
            <p class="small flex links">
                {curves}
                <a class="link" href=debugger>
                    {texts.profile().step_debugger}
                </a>
            </p>
        })
    };
    view! {
        <section class="card one-step" data-part="step">
            <div class="head">
                <h2>{title}</h2>
                <span class="micro ink3 cut">{against}</span>
                <span class="grow"></span>
                <IconButton
                    icon=IconName::Left
                    size=12
                    label=i18n.label(|t| t.profile().previous_step)
                    on_press=move || steps.go(-1)
                />
                <IconButton
                    icon=IconName::Right
                    size=12
                    label=i18n.label(|t| t.profile().next_step)
                    on_press=move || steps.go(1)
                />
            </div>
            {elsewhere}
            <table class="dense">
                <thead>
                    <tr>
                        <th>{i18n.text(|t| t.profile().phase)}</th>
                        <th class="num">{i18n.text(|t| t.profile().this)}</th>
                        <th class="num">{i18n.text(|t| t.profile().median)}</th>
                        <th class="num">{i18n.text(|t| t.profile().difference)}</th>
                    </tr>
                </thead>
                {body}
            </table>
        </section>
    }
}

fn table_row(name: AnyView, nanos: i64, median: i64, step: i64, is_whole: bool) -> AnyView {
    let difference = nanos.saturating_sub(median);
    let is_large = share(difference, step) > DIFFERS;
    view! {
        <tr class:med=is_whole>
            <td>
                <span class="flex">{name}</span>
            </td>
            <td class="num">{time(nanos)}</td>
            <td class="num ink2">{time(median)}</td>
            <td class="num" class:ink2=!is_large class:warn=is_large class:med=is_large>
                {signed(difference)}
            </td>
        </tr>
    }
    .into_any()
}

/// Distribution of the lengths of steps.
#[component]
pub(super) fn Lengths() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let found = Memo::new(move |_| {
        let lengths = model.with(|summary| {
            let whole = summary.steps.iter().filter(|step| step.is_whole);
            whole.map(length).collect::<Vec<_>>()
        });
        bins(&lengths.unwrap_or_default(), BINS)
    });
    let figure = Signal::derive(move || {
        let texts = i18n.texts();
        let (edges, counts) = found.get();
        let counts = model.with(|summary| {
            let outliers = summary.steps.iter().filter(|step| step.is_outlier);
            let shortest = outliers.map(length).min();
            let width =
                edges.get(1).copied().unwrap_or(0.0) - edges.first().copied().unwrap_or(0.0);
            let median = summary.median_step_nanos;
            let text = format!("{} {}", texts.profile().median, time(median));
            Counts {
                edges: edges.clone(),
                counts: counts.clone(),
                unit: Unit::Nanos,
                shade: plain_or(false),
                warn_from: shortest.map(|nanos| nanos as f64 - width),
                marks: vec![(median as f64, text)],
            }
        });
        Arc::new(Figure::Counts(counts.unwrap_or_default()))
    });
    let tip = move |hit: Hit| {
        let (edges, counts) = found.get();
        let count = counts.get(hit.index).copied()?;
        let nanos = |at: usize| {
            edges
                .get(at)
                .map(|edge| format::nanos(format::whole(*edge)))
        };
        let title = format!("{} – {}", nanos(hit.index)?, nanos(hit.index + 1)?);
        Some(read_out(title, format::brief(count), Vec::new()))
    };
    let beside = move || {
        let count = model.with(|summary| summary.whole_steps).unwrap_or(0);
        let outliers = model.with(|summary| summary.outliers.len()).unwrap_or(0);
        (i18n.texts().profile().lengths_beside)(count, outliers as u64)
    };
    move || {
        let has_many = model
            .with(|summary| summary.steps.len() > 2)
            .unwrap_or(false);
        has_many.then(|| {
            view! {
                <section class="card" data-part="lengths">
                    {move || {
                        let title = i18n.texts().profile().lengths.to_owned();
                        head(title, beside(), ().into_any())
                    }}
                    <div class="body plot">
                        <ProfileChart
                            figure
                            label=Signal::derive(beside)
                            tip=Callback::new(tip)
                            on_press=Callback::new(|_| ())
                        />
                    </div>
                </section>
            }
        })
    }
}

/// The longest phases over the steps.
#[component]
pub(super) fn OverSteps() -> impl IntoView {
    let steps = use_steps();
    let model = steps.model;
    let i18n = use_i18n();
    let figure = Signal::derive(move || {
        let texts = i18n.texts();
        let phases = steps.phases.get();
        let curves = model.with(|summary| {
            let longest = longest(summary, &phases.parts, |at, part| phases.total(at, part));
            let curves = longest.into_iter().map(|part| Curve {
                name: part.name(texts).to_owned(),
                shade: part.shade(),
                values: (0..summary.steps.len())
                    .map(|at| phases.total(at, part) as f64)
                    .collect(),
                bars: Vec::new(),
            });
            Curves {
                steps: summary.steps.iter().map(|step| step.number).collect(),
                curves: curves.collect(),
                unit: Unit::Nanos,
                from_zero: true,
                limits: Vec::new(),
            }
        });
        Arc::new(Figure::Curves(curves.unwrap_or_default()))
    });
    let framed = Signal::derive(move || {
        let index = steps.chosen.get()?;
        Some(Hit { index, part: None })
    });
    let tip = move |hit: Hit| {
        let texts = i18n.texts();
        let phases = steps.phases.get();
        model.with(|summary| {
            let step = summary.steps.get(hit.index)?;
            let rows = phases.parts.iter().map(|part| {
                let nanos = phases.total(hit.index, *part);
                let name = part.name(texts).to_owned();
                (Some(part.shade()), name, time(nanos))
            });
            let title = (texts.profile().step)(&format::integer(step.number), step.of_steps);
            Some(read_out(title, time(length(step)), rows.collect()))
        })?
    };
    move || {
        let has_many = model
            .with(|summary| summary.steps.len() > 2)
            .unwrap_or(false);
        has_many.then(|| {
            view! {
                <section class="card" data-part="phases">
                    {move || {
                        let title = i18n.texts().profile().over_steps.to_owned();
                        head(title, String::new(), ().into_any())
                    }}
                    <div class="body plot">
                        <ProfileChart
                            figure
                            label=i18n.label(|t| t.profile().over_steps)
                            chosen=framed
                            tip=Callback::new(tip)
                            on_press=Callback::new(move |hit: Hit| steps.select(hit.index))
                        />
                    </div>
                </section>
            }
        })
    }
}

/// Parts with the longest time in any step, at most [`CURVES`].
fn longest(
    summary: &SessionSummary,
    parts: &[Part],
    total: impl Fn(usize, Part) -> i64,
) -> Vec<Part> {
    let most = |part: Part| (0..summary.steps.len()).map(|at| total(at, part)).max();
    let mut parts: Vec<(Part, Option<i64>)> =
        parts.iter().map(|part| (*part, most(*part))).collect();
    parts.sort_by_key(|part| std::cmp::Reverse(part.1));
    parts.truncate(CURVES);
    parts.into_iter().map(|part| part.0).collect()
}
