//! Where it began, on top of all hits; or that nothing is wrong, and how much was judged.

use leptos::prelude::*;

use super::model::{Load, use_model};
use crate::components::{Icon, IconName, severity_icon};
use crate::erased::handler;
use crate::format;
use crate::i18n::use_i18n;

/// The first cause.
#[component]
pub(super) fn Cause() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let judged = move || {
        let judged = model.findings.with(|findings| findings.judged);
        (i18n.texts().debugger.judged)(judged.tensors, judged.steps)
    };
    move || {
        let cause = model.findings.with(|findings| findings.first_cause.clone());
        if model.load.get() != Load::Ready {
            return ().into_any();
        }
        let Some(cause) = cause else {
            return view! {
                <div class="cause ok">
                    <span class="okc">
                        <Icon name=IconName::Ok />
                    </span>
                    <span>
                        <b class="med">{i18n.texts().debugger.healthy}</b>
                        " "
                        <span class="ink2">{judged}</span>
                    </span>
                </div>
            }
            .into_any();
        };
        let hit = cause.hit.clone();
        let (class, icon) = severity_icon(hit.severity);
        view! {
            <div class=format!("cause {class}")>
                <span class=class>
                    <Icon name=icon />
                </span>
                <span>
                    <b>{i18n.texts().debugger.first_cause}</b>
                    " "
                    <button type="button" class="link mono" on:click=handler(move |_| model.show(&hit))>
                        {cause.hit.tensor.clone()}
                    </button>
                    {format!(", {} {}", i18n.texts().frame.step, format::integer(cause.hit.step))}
                </span>
                <span class="ink2 wide">{i18n.words_of(&cause.sentence, &cause.hit.tensor)} "."</span>
                {(!cause.advice.en.is_empty())
                    .then(|| {
                        view! {
                            <span class="wide advice">
                                <b class="med">{i18n.texts().debugger.try_this}</b>
                                " "
                                {i18n.words(&cause.advice)}
                            </span>
                        }
                    })}
            </div>
        }
        .into_any()
    }
}
