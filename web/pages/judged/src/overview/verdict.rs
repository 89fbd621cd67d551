//! Verdict in one sentence: the first cause with its tensor and step, or the amount of judged data.

use trainscope_api::findings::{Findings, JudgementState, Verdict};
use trainscope_api::runs::Run;
use trainscope_api::scalars::NonFiniteClass;

use super::model::{Model, curve_of};
use crate::excerpt::file_name;
use trainscope_web_kit::components::{Icon, IconName, severity_icon};
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::{I18n, use_i18n};
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::route::{self, RunPage};
use trainscope_web_kit::state::use_runs;

/// Head of the page.
pub(super) fn view(model: Model) -> AnyView {
    let i18n = use_i18n();
    let runs = use_runs();
    let scalars = route::scalars_href(&model.run(), &[], None);
    // A parameter that differs from a healthy run explains more than this run alone.
    let lineage = route::lineage_href(&model.run());
    let has_others = Memo::new(move |_| runs.with(|list| list.runs.len() > 1));
    let debugger = move || {
        let run = model.run();
        let found = model.findings.get();
        let cause = found.as_ref().and_then(|found| found.first_cause.as_ref());
        let cause = cause.map(|cause| cause.hit.key());
        cause.map_or_else(
            || route::run_href(&run, RunPage::Debugger),
            |key| route::hit_href(&run, &key),
        )
    };
    let icon = move || {
        let found = model.findings.get();
        let (class, icon) = found.map_or(("ink3", IconName::Clock), |found| icon_of(&found));
        view! {
            <span class=class>
                <Icon name=icon size=20 />
            </span>
        }
    };
    let is_damaged = move || {
        let found = model.findings.get();
        found.is_some_and(|found| found.damage.is_some())
    };
    view! {
        <section class="verdict-head" data-part="verdict" data-damaged=is_damaged>
            {icon}
            <div class="grow">
                <h1>{move || model.findings.get().map(|found| sentence(model, &found, i18n))}</h1>
                <p class="ink2">{move || model.findings.get().map(|found| below(model, &found, i18n))}</p>
            </div>
            <div class="flex acts-head" hidden=move || model.findings.with(Option::is_none)>
                <a class="btn primary" href=debugger>
                    <Icon name=IconName::Debugger size=14 />
                    {i18n.text(|t| t.overview().open_debugger)}
                </a>
                <a class="btn" href=lineage hidden=move || !has_others.get()>
                    {i18n.text(|t| t.titles().lineage)}
                </a>
                <a class="btn" href=scalars hidden=move || model.kind("scalars") == 0>
                    <Icon name=IconName::Scalars size=14 />
                    {i18n.text(|t| t.overview().show_scalars)}
                </a>
                <a
                    class="btn hide-small"
                    data-part="compare"
                    href=route::compare_href(&[model.run()])
                    hidden=move || !has_others.get()
                >
                    <Icon name=IconName::Compare size=14 />
                    {i18n.text(|t| t.compare().compare_with)}
                </a>
            </div>
        </section>
    }
    .into_any()
}

fn icon_of(findings: &Findings) -> (&'static str, IconName) {
    match &findings.first_cause {
        _ if findings.damage.is_some() => ("warn", IconName::File),
        Some(cause) => {
            let worst = findings.hits.iter().map(|hit| hit.severity).max();
            severity_icon(worst.unwrap_or(cause.hit.severity).max(cause.hit.severity))
        }
        None if findings.state == JudgementState::Waiting => ("ink3", IconName::Clock),
        None if findings.verdict == Verdict::NoProblem => ("okc", IconName::Ok),
        None => ("ink3", IconName::Info),
    }
}

/// The sentence, with the step and the tensor as links to the hit.
fn sentence(model: Model, findings: &Findings, i18n: I18n) -> AnyView {
    let texts = i18n.texts().overview();
    let damage = findings.damage.as_ref().map(|damage| i18n.words(damage));
    let Some(cause) = &findings.first_cause else {
        if findings.state == JudgementState::Waiting {
            return i18n.texts().debugger().waiting.into_any();
        }
        let summary = i18n.words(&findings.summary);
        // The summary begins with the damage, which is a link here.
        let rest = damage
            .as_deref()
            .and_then(|damage| summary.strip_prefix(damage));
        let rest = rest.unwrap_or(&summary).trim_start().to_owned();
        return view! {
            {damage.map(|damage| to_files(model, damage, i18n))}
            {rest}
        }
        .into_any();
    };
    let href = route::hit_href(&model.run(), &cause.hit.key());
    let words = i18n.words_of(&cause.sentence, &cause.hit.tensor);
    // The whole path is shown above the source line.
    let words = match &cause.hit.source {
        Some(source) => words.replace(&source.file, file_name(&source.file)),
        None => words,
    };
    let name = format::short_name(&cause.hit.tensor);
    let (before, after) = words.split_once(&name).unwrap_or(("", words.as_str()));
    let tensor = (after.len() < words.len()).then(|| {
        view! {
            <a class="link mono" href=href.clone() title=cause.hit.tensor.clone()>
                <bdi>{name.clone()}</bdi>
            </a>
        }
    });
    let step = (texts.at_step)(&format::integer(cause.hit.step));
    let damage = damage.map(|damage| to_files(model, damage, i18n));
    // A rule about a profile is about all of its steps: its sentence is the link.
    let watchpoint = findings.watchpoints.get(cause.hit.watchpoint as usize);
    if watchpoint.is_some_and(|watchpoint| watchpoint.target == "profile") {
        return view! {
            {damage}
            <a class="link" href=href>
                {words}
            </a>
        }
        .into_any();
    }
    view! {
        {damage}
        <a class="link" href=href.clone()>
            {step}
        </a>
        {texts.colon}
        {before.to_owned()}
        {tensor}
        {after.to_owned()}
    }
    .into_any()
}

/// State of the files, as a link to their list.
fn to_files(model: Model, words: String, i18n: I18n) -> AnyView {
    view! {
        <a class="link" href=route::files_href(&model.run())>
            {words}
        </a>
        {i18n.texts().overview().gap}
    }
    .into_any()
}

/// Number of findings, and the curve that has diverged.
fn below(model: Model, findings: &Findings, i18n: I18n) -> String {
    let texts = i18n.texts().overview();
    if findings.state == JudgementState::Waiting {
        return i18n.texts().debugger().waiting_next.to_owned();
    }
    let mut sentences = Vec::new();
    let hit = findings
        .watchpoints
        .iter()
        .filter(|watchpoint| watchpoint.hits > 0);
    let hit = hit.count() as u64;
    if hit > 0 {
        sentences.push((texts.hits)(findings.counts, hit));
    }
    let info = model.info.get();
    let curves = model.curves.get();
    let loss = info.as_ref().and_then(|info| info.loss.as_ref());
    let stays = loss.and_then(|loss| {
        let series = curve_of(&curves, &loss.tag)?;
        let last = series.steps.last()?;
        let mut all = series.non_finite.iter();
        let open = all.find(|one| one.last_step >= *last)?;
        let class = match open.class {
            NonFiniteClass::Nan => "NaN",
            NonFiniteClass::PosInf => "+∞",
            NonFiniteClass::NegInf => "−∞",
        };
        Some((texts.stays)(
            &loss.tag,
            class,
            &format::integer(open.first_step),
        ))
    });
    sentences.extend(stays);
    if findings.first_cause.is_none() {
        let values = info.as_deref().and_then(last_values);
        sentences.extend(values.map(|values| format!("{values}{}", texts.stop)));
    }
    if findings.state == JudgementState::Behind {
        sentences.push(texts.behind.to_owned());
    }
    sentences.join(texts.gap)
}

/// Last values of loss and metric.
fn last_values(info: &Run) -> Option<String> {
    let both = [&info.loss, &info.metric].into_iter().flatten();
    let both: Vec<String> = both
        .map(|last| format!("{} {}", last.tag, format::cell(last.value)))
        .collect();
    (!both.is_empty()).then(|| both.join(" · "))
}
