//! Advice, the largest gain first, and the rules that found nothing or could not be judged.

use trainscope_api::profile::{Advice, SessionSummary};
use trainscope_format::Severity;

use super::model::{share, time, use_model};
use trainscope_web_kit::client;
use trainscope_web_kit::components::profile_tabs::ProfileTab;
use trainscope_web_kit::components::{IconName, fixed_icon, severity_icon, severity_name};
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::query::query;

/// Maximum number of pieces of advice before the rest is folded.
const LISTED: usize = 5;

/// The worst severity of the advice.
pub(super) fn worst(summary: &SessionSummary) -> Option<Severity> {
    summary.advice.iter().map(|one| one.severity).max()
}

#[component]
pub(super) fn AdviceCard() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let is_open = RwSignal::new(false);
    let has_all = RwSignal::new(false);
    // Titles of rules are needed only while they are listed.
    let titles = query(
        move || is_open.get().then_some(()),
        |()| async { client::conditions().await },
    );
    let title_of = move |id: &str| {
        let catalogue = titles.answer.get();
        let conditions = catalogue.iter().flat_map(|all| &all.conditions);
        let condition = conditions.into_iter().find(|condition| condition.id == id);
        condition.map_or_else(|| id.to_owned(), |condition| i18n.words(&condition.title))
    };
    let list = move || {
        model.with(|summary| {
            let whole = from_step_to_step(summary);
            let most = if has_all.get() { usize::MAX } else { LISTED };
            let all = summary.advice.iter().take(most).enumerate();
            let all = all.map(|(at, one)| row(at, one, whole));
            all.collect::<Vec<_>>()
        })
    };
    let more = move || {
        let hidden = model.with(|summary| summary.advice.len().saturating_sub(LISTED))?;
        (hidden > 0 && !has_all.get()).then(|| {
            view! {
                <button type="button" class="link small" on:click=move |_| has_all.set(true)>
                    {(i18n.texts().profile().more)(hidden as u64)}
                </button>
            }
        })
    };
    let rules = move || {
        let texts = i18n.texts();
        model.with(|summary| {
            let passed = summary.passed.len() as u64;
            let (open, idle): (Vec<_>, Vec<_>) =
                summary.not_judged.iter().partition(|one| one.applies);
            let rows = is_open.get().then(|| {
                let passed = summary.passed.iter().map(|id| {
                    view! {
                        <li>
                            <span class="okc">{fixed_icon(IconName::Ok, 12)}</span>
                            {title_of(id)}
                        </li>
                    }
                    .into_any()
                });
                let unjudged = open.iter().chain(&idle).map(|one| {
                    view! {
                        <li>
                            <span class="ink3">{fixed_icon(IconName::Minus, 12)}</span>
                            {title_of(&one.id)}
                            <span class="ink3 micro">{i18n.raw(&one.reason)}</span>
                        </li>
                    }
                    .into_any()
                });
                let rows = passed.chain(unjudged).collect::<Vec<_>>();
                view! { <ul class="rules small">{rows}</ul> }
            });
            let sign = if open.is_empty() && summary.unjudged.is_none() {
                view! { <span class="okc">{fixed_icon(IconName::Ok, 14)}</span> }.into_any()
            } else {
                view! { {fixed_icon(IconName::Minus, 14)} }.into_any()
            };
            let counted = |rules: &[_], words: fn(u64) -> String| {
                (!rules.is_empty()).then(|| format!(" · {}", words(rules.len() as u64)))
            };
            let not_judged = counted(&open, texts.profile().not_judged);
            let not_applicable = counted(&idle, texts.profile().not_applicable);
            let foot = view! {
                {sign}
                {(texts.profile().passed)(passed)}
                {not_judged}
                {not_applicable}
            };
            view! {
                <button
                    type="button"
                    class="foot small ink3"
                    aria-expanded=is_open.get().to_string()
                    on:click=move |_| is_open.update(|open| *open = !*open)
                >
                    {foot}
                </button>
                {rows}
            }
        })
    };
    view! {
        <section class="card advice" data-part="advice">
            <div class="head">
                <h2>{i18n.text(|t| t.profile().would_help)}</h2>
                <span class="micro ink3 cut">
                    {move || {
                        let is_stepless = model
                            .with(|summary| summary.step_count == 0)
                            .unwrap_or(false);
                        i18n.texts().profile().gain[usize::from(is_stepless)]
                    }}
                </span>
            </div>
            <div class="scroll">
                <ol>{list}</ol>
            </div>
            {more}
            {rules}
        </section>
    }
}

/// Mean time from the start of a step to the start of the next, ns: a gain may be waiting between them.
fn from_step_to_step(summary: &SessionSummary) -> i64 {
    let edges = summary.steps.first().zip(summary.steps.last());
    let span = edges.map_or(0, |(first, last)| {
        last.end_nanos.saturating_sub(first.begin_nanos)
    });
    let steps: u64 = summary.steps.iter().map(|step| step.of_steps).sum();
    let steps = i64::try_from(steps).unwrap_or(i64::MAX).max(1);
    summary.mean_step_nanos.max(span / steps)
}

fn row(at: usize, one: &Advice, whole: i64) -> AnyView {
    let model = use_model();
    let i18n = use_i18n();
    let search = (!one.search.is_empty()).then_some(&*one.search);
    let href = if one.in_pipeline {
        model.profiles.tab_href(ProfileTab::Pipeline, &[])
    } else {
        model.step_href(one.step, search)
    };
    let (class, icon) = severity_icon(one.severity);
    let gain = if one.gain_nanos > 0 {
        let title = i18n.texts().profile().at_best;
        view! {
            <span class="gain" title=title>
                {time(-one.gain_nanos)}
                <span class="ink3 micro">
                    {format::percent(share(one.gain_nanos, whole).min(1.0))}
                </span>
            </span>
        }
        .into_any()
    } else {
        let sign = view! { <span class=class>{fixed_icon(icon, 14)}</span> };
        view! { <span class="gain">{sign}</span> }.into_any()
    };
    let remedy = i18n.raw(&one.remedy);
    let evidence = i18n.raw(&one.evidence);
    let code = (!remedy.is_empty()).then(|| {
        view! {
            <details>
                <summary class="micro ink3">{i18n.texts().profile().code}</summary>
                <code class="micro">{remedy}</code>
            </details>
        }
    });
    view! {
        <li data-advice=one.id.clone() data-severity=severity_name(one.severity)>
            <a href=href>
                <span class="ink3 num">{at + 1}</span>
                <span class="grow">
                    <b>{i18n.raw(&one.title)}</b>
                    <span class="ink3 micro cut" title=evidence.clone()>
                        {evidence.clone()}
                    </span>
                </span>
                {gain}
            </a>
            {code}
        </li>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use trainscope_api::profile::ProfileStep;

    use super::*;

    #[test]
    fn waiting_between_steps_is_a_part_of_the_whole() {
        let step = |begin_nanos, of_steps| ProfileStep {
            begin_nanos,
            end_nanos: begin_nanos + 10,
            of_steps,
            ..ProfileStep::default()
        };
        let summary = SessionSummary {
            mean_step_nanos: 10,
            steps: vec![step(0, 1), step(100, 2), step(290, 1)],
            ..SessionSummary::default()
        };
        assert_eq!(from_step_to_step(&summary), 75);
        let alone = SessionSummary {
            mean_step_nanos: 10,
            ..SessionSummary::default()
        };
        assert_eq!(from_step_to_step(&alone), 10);
    }
}
