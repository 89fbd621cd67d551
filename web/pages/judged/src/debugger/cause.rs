//! Probable first cause above the findings, or the verdict with the number of unjudged watchpoints.

use trainscope_api::findings::Verdict;

use super::model::use_model;
use crate::advice::advice_on;
use trainscope_web_kit::components::{Icon, IconName, severity_icon};
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::query::Load;

#[component]
pub(super) fn Cause() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let judged = move || {
        model.findings.with(|findings| {
            let all = findings.watchpoints.iter();
            let open = all.filter(|watchpoint| watchpoint.unjudged > 0).count() as u64;
            (open > 0).then(|| (i18n.texts().debugger().open)(open))
        })
    };
    move || {
        let cause = model.findings.with(|findings| findings.first_cause.clone());
        if model.load.get() != Load::Ready(true) {
            return ().into_any();
        }
        let Some(cause) = cause else {
            let (verdict, summary) = model
                .findings
                .with(|findings| (findings.verdict, i18n.words(&findings.summary)));
            let (class, icon_class, icon) = match verdict {
                Verdict::NoProblem => ("cause ok", "okc", IconName::Ok),
                _ => ("cause inf", "ink3", IconName::Info),
            };
            return view! {
                <div class=class data-part="cause">
                    <span class=icon_class>
                        <Icon name=icon />
                    </span>
                    <span>
                        <b class="med">{summary}</b>
                        " "
                        <span class="ink2">{judged}</span>
                    </span>
                </div>
            }
            .into_any();
        };
        let hit = cause.hit.clone();
        let (class, icon) = severity_icon(hit.severity);
        let comma = i18n.texts().overview().comma;
        let advice = model.findings.with(|findings| {
            let advice = advice_on(findings, &cause.hit);
            advice.map(|words| i18n.words(words))
        });
        view! {
            <div class=format!("cause {class}") data-part="cause">
                <span class=class>
                    <Icon name=icon />
                </span>
                <span>
                    <b>{i18n.texts().debugger().first_cause}</b>
                    " "
                    <button
                        type="button"
                        class="link mono"
                        title=cause.hit.tensor.clone()
                        on:click=move |_| model.show(&hit)
                    >
                        {format::short_name(&cause.hit.tensor)}
                    </button>
                    {format!("{comma}{} {}", i18n.texts().frame().step, model.steps_of(&cause.hit))}
                    {model.rank_of(&cause.hit).map(|rank| format!("{comma}{rank}"))}
                </span>
                <span class="ink2 wide">{i18n.words_of(&cause.sentence, &cause.hit.tensor)} {i18n.texts().debugger().stop}</span>
                {advice
                    .map(|advice| {
                        view! {
                            <span class="wide" data-part="advice">
                                <b class="med">{i18n.texts().debugger().try_this}</b>
                                " "
                                {advice}
                            </span>
                        }
                    })}
            </div>
        }
        .into_any()
    }
}
