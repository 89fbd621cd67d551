//! Beside the pictures of memory: advice about it, and its least bytes over the steps.

use std::collections::BTreeSet;
use std::sync::Arc;

use trainscope_api::profile::SessionSummary;
use trainscope_charts::profile::{Curve, Curves, Figure, Hit, Shade, Unit};

use super::super::model::said;
use super::super::parts::{head, read_out};
use super::{format, slope, use_memory};
use trainscope_web_kit::components::{IconName, ProfileChart, fixed_icon, severity_icon};
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;

/// Rules about memory have an id that begins like one of these.
const RULES: [&str; 2] = ["memory", "allocator"];

#[component]
pub(super) fn MemoryAdvice() -> impl IntoView {
    let memory = use_memory();
    let model = memory.model;
    let i18n = use_i18n();
    let list = move || {
        model.with(|summary| {
            let all = summary.advice.iter();
            let own = all.filter(|one| is_about_memory(&one.id));
            let own = own.map(|one| {
                let (class, icon) = severity_icon(one.severity);
                let remedy = said(i18n, &one.remedy);
                let search = (!one.search.is_empty()).then_some(&*one.search);
                let href = model.step_href(one.step, search);
                view! {
                    <li>
                        <a href=href>
                            <span class=class>{fixed_icon(icon, 14)}</span>
                            <span class="grow">
                                <b>{said(i18n, &one.title)}</b>
                                <span class="ink3 micro">{said(i18n, &one.evidence)}</span>
                                {(!remedy.is_empty())
                                    .then(|| view! { <code class="micro">{remedy}</code> })}
                            </span>
                        </a>
                    </li>
                }
            });
            let own = own.collect::<Vec<_>>();
            if own.is_empty() {
                nothing(summary)
            } else {
                view! { <ol>{own}</ol> }.into_any()
            }
        })
    };
    view! {
        <section class="card advice" data-part="advice">
            <div class="head">
                <h2>{i18n.text(|t| t.profile.would_help)}</h2>
            </div>
            <div class="scroll">{list}</div>
        </section>
    }
}

fn is_about_memory(rule: &str) -> bool {
    RULES.iter().any(|own| rule.starts_with(own))
}

/// The reasons for which rules about memory were not judged; without any, that all of them found nothing.
fn nothing(own: &SessionSummary) -> AnyView {
    let i18n = use_i18n();
    let texts = i18n.texts().profile;
    let all = own.not_judged.iter();
    let reasons = all.filter(|one| is_about_memory(&one.id));
    let reasons: BTreeSet<String> = reasons.map(|one| said(i18n, &one.reason)).collect();
    let (icon, class, text) = if reasons.is_empty() {
        (IconName::Ok, "okc", texts.memory_fine.to_owned())
    } else {
        let reasons = reasons.into_iter().collect::<Vec<_>>();
        (
            IconName::Info,
            "ink3",
            (texts.memory_unjudged)(&reasons.join(texts.comma)),
        )
    };
    view! {
        <p class="small ink2 flex nothing">
            <span class=class>{fixed_icon(icon, 14)}</span>
            {text}
        </p>
    }
    .into_any()
}

/// Least bytes of each step, with the growth, and counts of allocations.
#[component]
pub(super) fn OverSession() -> impl IntoView {
    let memory = use_memory();
    let model = memory.model;
    let i18n = use_i18n();
    let pointed = RwSignal::new(None::<Hit>);
    let figure = Signal::derive(move || {
        let texts = i18n.texts().profile;
        let curves = memory.answer.answer.with(|own| {
            let own = own.as_deref()?;
            let (steps, bytes): (Vec<i64>, Vec<u64>) = own.least_by_step.iter().copied().unzip();
            Some(Curves {
                steps,
                curves: vec![Curve {
                    name: texts.least.to_owned(),
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
            .with(|own| own.as_ref()?.least_by_step.get(hit.index).copied())
    };
    let tip = move |hit: Hit| {
        let (step, bytes) = at(hit)?;
        let title = (i18n.texts().profile.step)(&format::integer(step), 1);
        Some(read_out(title, format::bytes(bytes), Vec::new()))
    };
    let press = move |hit: Hit| {
        let step = untrack(|| at(hit)).map(|at| at.0);
        model.open(&untrack(|| model.step_href(step, None)));
    };
    let has_many = Memo::new(move |_| {
        let answer = memory.answer.answer.get();
        answer.is_some_and(|own| own.least_by_step.len() > 1)
    });
    let numbers = move || {
        let texts = i18n.texts().profile;
        let answer = memory.answer.answer.get()?;
        let total = memory.total.get()?;
        let growth = answer.growth.map(|own| {
            let half = (own.high - own.low) / 2.0;
            let value = format!("{} ± {}", slope(own.slope), slope(half.abs()));
            (texts.growth, value)
        });
        let reserved = (total.peak_reserved_bytes > 0).then(|| {
            let unused = total
                .peak_reserved_bytes
                .saturating_sub(total.peak_len_bytes);
            let share = format::percent(answer.fragmentation);
            (texts.unused, format!("{} · {share}", format::bytes(unused)))
        });
        let pairs = [
            growth,
            reserved,
            Some((texts.allocations, format::count(total.allocations))),
            (total.never_freed > 0).then(|| (texts.never_freed, format::count(total.never_freed))),
            (total.freed_unseen > 0)
                .then(|| (texts.freed_unseen, format::count(total.freed_unseen))),
        ];
        let pairs = pairs.into_iter().flatten();
        let pairs = pairs.map(|(name, value)| view! { <dt>{name}</dt><dd>{value}</dd> });
        Some(view! { <dl class="kv">{pairs.collect::<Vec<_>>()}</dl> })
    };
    view! {
        <section class="card over-session" data-part="growth">
            {move || {
                let texts = i18n.texts().profile;
                let title = if has_many.get() {
                    texts.over_session
                } else {
                    texts.whole_session
                };
                head(title.to_owned(), String::new(), ().into_any())
            }}
            <div class="body">
                <Show when=move || has_many.get()>
                    <div class="plot">
                        <ProfileChart
                            figure
                            label=i18n.label(|t| t.profile.over_session)
                            pointed
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
