//! The guided diagnosis of a report: watchpoints and rules in the order in which an expert checks them, with details
//! below each row.

use maud::{Markup, html};
use trainscope_api::diagnosis::{self, Found, Topic, remarks_of, worst_remark};
use trainscope_api::findings::{Findings, Remark, RemarkState};

use super::super::{Contents, texts};
use super::{Pen, Sign, icon};

pub(super) fn diagnosis(pen: Pen, contents: &Contents) -> Markup {
    let findings = &contents.findings;
    let found = diagnosis::diagnose(findings);
    let rows = Topic::ALL.into_iter().zip(&found);
    let rows = rows.filter(|(topic, own)| is_shown(contents, *topic, own));
    let rows: Vec<Markup> = rows
        .map(|(topic, own)| row(pen, findings, topic, own))
        .collect();
    html! {
        @if !rows.is_empty() {
            section {
                h2 { (pen.texts.diagnosis) small { (pen.texts.diagnosis_order) } }
                table class="rules" { tbody { @for row in rows { (row) } } }
            }
        }
    }
}

/// True if the row has content.
fn is_shown(contents: &Contents, topic: Topic, own: &Found) -> bool {
    let findings = &contents.findings;
    let info = contents.info.as_ref();
    let is_recorded = match topic {
        Topic::Recorded => false,
        Topic::Hyperparameters | Topic::Model | Topic::Input => {
            remarks_of(findings, topic).next().is_some() || findings.judged.tensors > 0
        }
        Topic::Loss => info.is_some_and(|run| run.loss.is_some()),
        Topic::Metric => info.is_some_and(|run| run.metric.is_some()),
    };
    is_recorded || own.hits > 0
}

/// True if data of this topic were judged: without data, the absence of hits means nothing.
fn is_judged(findings: &Findings, topic: Topic) -> bool {
    let mut remarks = remarks_of(findings, topic);
    match topic {
        Topic::Recorded | Topic::Loss | Topic::Metric => true,
        Topic::Model if findings.judged.tensors > 0 => true,
        Topic::Hyperparameters | Topic::Model | Topic::Input => {
            remarks.any(|remark| remark.state == RemarkState::Fine)
        }
    }
}

/// A row: question, answer, and its rules.
fn row(pen: Pen, findings: &Findings, topic: Topic, own: &Found) -> Markup {
    let remark = worst_remark(findings, topic);
    let (sign, state) = match (&own.worst, remark) {
        (Some(hit), _) => (Sign::of(hit.severity), pen.severity(hit.severity)),
        (None, Some(remark)) => state(pen, remark.state),
        (None, None) if is_judged(findings, topic) => state(pen, RemarkState::Fine),
        (None, None) => state(pen, RemarkState::Unknown),
    };
    html! {
        tr {
            td class="nb" { span class="s" { (icon(sign, 14)) (state) } }
            td class="nb" { b { (pen.texts.topics[topic as usize]) } }
            td {}
            td {
                @match &own.worst {
                    Some(hit) => {
                        b { (pen.words(&hit.sentence)) }
                        @if own.hits > 1 { " (" ((pen.texts.more_like_it)(own.hits - 1)) ")" }
                    }
                    None if own.watched > 0 && is_judged(findings, topic) => {
                        ((pen.texts.found_nothing)(own.watched))
                    }
                    None => {}
                }
            }
        }
        @for remark in remarks_of(findings, topic) { (rule(pen, remark)) }
    }
}

fn rule(pen: Pen, remark: &Remark) -> Markup {
    let (sign, state) = state(pen, remark.state);
    html! {
        tr {
            td class="nb" { span class="s" { (icon(sign, 14)) (state) } }
            td {}
            td class="nb" { (texts::rule(pen.language, &remark.rule)) }
            td {
                (pen.words(&remark.sentence))
                @if !remark.record.is_empty() { p class="rec" { (pen.texts.record) " " code { (remark.record) } } }
            }
        }
    }
}

fn state(pen: Pen, state: RemarkState) -> (Sign, &'static str) {
    let (sign, index) = match state {
        RemarkState::Unknown => (Sign::Unknown, 0),
        RemarkState::Fine => (Sign::Ok, 1),
        RemarkState::Note => (Sign::Info, 2),
        RemarkState::Fault => (Sign::Warning, 3),
    };
    (sign, pen.texts.states[index])
}
