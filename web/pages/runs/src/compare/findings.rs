//! The tab of findings: hits of watchpoints in one run only, or in both.

use std::sync::Arc;

use trainscope_api::compare::{FindingDifference, FindingsDifference};

use super::model::use_model;
use super::parts::{downloads, head, nothing};
use trainscope_web_kit::components::{fixed_icon, severity_icon};
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;

#[component]
pub(super) fn Findings() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let all = Memo::new(move |_| {
        Arc::new(
            model
                .with_other(|other| other.findings.clone())
                .unwrap_or_default(),
        )
    });
    let beside = move || {
        all.with(|findings: &Arc<FindingsDifference>| {
            if findings.judged {
                let texts = i18n.texts();
                (texts.compare().findings)(&findings.counts.map(texts.frame().hits))
            } else {
                String::new()
            }
        })
    };
    let rows = move || {
        let findings = all.get();
        if !findings.judged {
            return nothing(|t| t.judging);
        }
        if findings.rows.is_empty() {
            return nothing(|t| t.no_findings);
        }
        let texts = i18n.texts().compare();
        let heads =
            [model.base(), model.other.get().unwrap_or_default()].map(|run| model.name(&run));
        let [base, other] = heads;
        let rows = findings.rows.iter().map(row).collect_view();
        view! {
            <table class="dense">
                <thead>
                    <tr>
                        <th>{texts.finding}</th>
                        <th>{texts.tensor}</th>
                        <th class="num cut">{base}</th>
                        <th class="num cut">{other}</th>
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
        }
        .into_any()
    };
    let right = downloads("findings", move || all.get_untracked().rows.clone());
    view! {
        <section class="card scrolls fills" data-part="findings">
            {head(move || i18n.texts().compare().tabs[3].to_owned(), beside, right)}
            <div class="scroll">{rows}</div>
        </section>
    }
}

fn row(finding: &FindingDifference) -> AnyView {
    let i18n = use_i18n();
    let (class, icon) = severity_icon(finding.severity);
    let step = |step: Option<i64>| step.map_or_else(|| "–".to_owned(), format::integer);
    view! {
        <tr>
            <td>
                <span class="flex gap4">
                    <span class=class>{fixed_icon(icon, 12)}</span>
                    <span class="cut">{i18n.words(&finding.title)}</span>
                </span>
            </td>
            <td class="cut" title=finding.tensor.clone()>
                <bdi>{finding.tensor.clone()}</bdi>
            </td>
            <td class="num" class:ne=finding.base_step.is_none()>{step(finding.base_step)}</td>
            <td class="num" class:ne=finding.other_step.is_none()>{step(finding.other_step)}</td>
        </tr>
    }
    .into_any()
}
