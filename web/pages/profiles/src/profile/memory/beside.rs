//! Cards next to the pictures of memory: advice, and the minimum bytes over the steps.

use std::collections::BTreeSet;
use std::sync::Arc;

use trainscope_api::profile::SessionSummary;
use trainscope_charts::profile::{Curve, Curves, Figure, Hit, Shade, Unit};

use super::super::parts::{head, read_out};
use super::{format, slope, use_memory};
use trainscope_web_kit::components::{IconName, ProfileChart, fixed_icon, severity_icon};
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;

/// Prefixes of the ids of rules about memory.
const RULES: [&str; 2] = ["memory", "allocator"];

#[component]
pub(super) fn MemoryAdvice() -> impl IntoView {
    let memory = use_memory();
    let model = memory.model;
    let i18n = use_i18n();
    let list = move || {
        model.with(|summary| {
            let all = summary.advice.iter();
            let advice = all.filter(|one| is_about_memory(&one.id));
            let advice = advice.map(|one| {
                let (class, icon) = severity_icon(one.severity);
                let remedy = i18n.raw(&one.remedy);
                let search = (!one.search.is_empty()).then_some(&*one.search);
                let href = model.step_href(one.step, search);
                view! {
                    <li>
                        <a href=href>
                            <span class=class>{fixed_icon(icon, 14)}</span>
                            <span class="grow">
                                <b>{i18n.raw(&one.title)}</b>
                                <span class="ink3 micro">{i18n.raw(&one.evidence)}</span>
                                {(!remedy.is_empty())
                                    .then(|| view! { <code class="micro">{remedy}</code> })}
                            </span>
                        </a>
                    </li>
                }
            });
            let advice = advice.collect::<Vec<_>>();
            if advice.is_empty() {
                nothing(summary)
            } else {
                view! { <ol>{advice}</ol> }.into_any()
            }
        })
    };
    view! {
        <section class="card advice" data-part="advice">
            <div class="head">
                <h2>{i18n.text(|t| t.profile().would_help)}</h2>
            </div>
            <div class="scroll">{list}</div>
        </section>
    }
}

fn is_about_memory(rule: &str) -> bool {
    RULES.iter().any(|prefix| rule.starts_with(prefix))
}

/// Reasons of rules about memory that were not judged; `None` if all were.
pub(super) fn not_judged(summary: &SessionSummary) -> Option<String> {
    let i18n = use_i18n();
    let texts = i18n.texts().memory();
    let all = summary.not_judged.iter();
    let reasons = all.filter(|one| one.applies && is_about_memory(&one.id));
    let reasons: BTreeSet<String> = reasons.map(|one| i18n.raw(&one.reason)).collect();
    let reasons: Vec<String> = reasons.into_iter().collect();
    (!reasons.is_empty()).then(|| (texts.memory_unjudged)(&reasons.join(texts.comma)))
}

/// Reasons of rules about memory that were not judged; without any, a line that all found nothing.
fn nothing(summary: &SessionSummary) -> AnyView {
    let texts = use_i18n().texts();
    let (icon, class, text) = match not_judged(summary) {
        None => (IconName::Ok, "okc", texts.memory().memory_fine.to_owned()),
        Some(reasons) => (IconName::Info, "ink3", reasons),
    };
    view! {
        <p class="small ink2 flex nothing">
            <span class=class>{fixed_icon(icon, 14)}</span>
            {text}
        </p>
    }
    .into_any()
}

/// Minimum bytes of each step with their growth, and counts of allocations.
#[component]
pub(super) fn OverSession() -> impl IntoView {
    let memory = use_memory();
    let model = memory.model;
    let i18n = use_i18n();
    let figure = Signal::derive(move || {
        let texts = i18n.texts();
        let curves = memory.answer.answer.with(|answer| {
            let answer = answer.as_deref()?;
            let (steps, bytes): (Vec<i64>, Vec<u64>) = answer.least_by_step.iter().copied().unzip();
            Some(Curves {
                steps,
                curves: vec![Curve {
                    name: texts.memory().least.to_owned(),
                    shade: Shade::Magnitude(6),
                    values: bytes.into_iter().map(|bytes| bytes as f64).collect(),
                    bars: Vec::new(),
                }],
                unit: Unit::Bytes,
                from_zero: false,
                limits: Vec::new(),
            })
        });
        Arc::new(Figure::Curves(curves.unwrap_or_default()))
    });
    let at = move |hit: Hit| {
        memory
            .answer
            .answer
            .with(|answer| answer.as_ref()?.least_by_step.get(hit.index).copied())
    };
    let tip = move |hit: Hit| {
        let (step, bytes) = at(hit)?;
        let title = (i18n.texts().profile().step)(&format::integer(step), 1);
        Some(read_out(title, format::bytes(bytes), Vec::new()))
    };
    let press = move |hit: Hit| {
        let step = untrack(|| at(hit)).map(|at| at.0);
        model.open(&untrack(|| model.step_href(step, None)));
    };
    let has_many = Memo::new(move |_| {
        let answer = memory.answer.answer.get();
        answer.is_some_and(|answer| answer.least_by_step.len() > 1)
    });
    let numbers = move || {
        let texts = i18n.texts();
        let answer = memory.answer.answer.get()?;
        let total = memory.total.get()?;
        let growth = answer.growth.map(|growth| {
            let half = (growth.high - growth.low) / 2.0;
            let value = format!("{} ± {}", slope(growth.slope), slope(half.abs()));
            (texts.memory().growth, value)
        });
        let reserved = (total.peak_reserved_bytes > 0).then(|| {
            let unused = total
                .peak_reserved_bytes
                .saturating_sub(total.peak_len_bytes);
            let share = format::percent(answer.fragmentation);
            (
                texts.memory().unused,
                format!("{} · {share}", format::bytes(unused)),
            )
        });
        let pairs = [
            growth,
            reserved,
            Some((texts.memory().allocations, format::count(total.allocations))),
            (total.never_freed > 0)
                .then(|| (texts.memory().never_freed, format::count(total.never_freed))),
            (total.freed_unseen > 0).then(|| {
                (
                    texts.memory().freed_unseen,
                    format::count(total.freed_unseen),
                )
            }),
        ];
        let pairs = pairs.into_iter().flatten();
        let pairs = pairs.map(|(name, value)| view! { <dt>{name}</dt><dd>{value}</dd> });
        Some(view! { <dl class="kv">{pairs.collect::<Vec<_>>()}</dl> })
    };
    view! {
        <section class="card over-session" data-part="growth">
            {move || {
                let texts = i18n.texts();
                let title = if has_many.get() {
                    texts.memory().over_session
                } else {
                    texts.memory().whole_session
                };
                head(title.to_owned(), String::new(), ().into_any())
            }}
            <div class="body">
                <Show when=move || has_many.get()>
                    <div class="plot">
                        <ProfileChart
                            figure
                            label=i18n.label(|t| t.memory().over_session)
                            tip=Callback::new(tip)
                            on_press=Callback::new(press)
                        />
                    </div>
                </Show>
                {numbers}
            </div>
        </section>
    }
}
