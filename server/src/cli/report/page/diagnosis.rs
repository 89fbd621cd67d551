//! The guided diagnosis of a report: watchpoints and rules in the order in which an expert checks them, with details
//! below each row.

use maud::{Markup, html};
use trainscope_api::findings::{Findings, Remark, RemarkState};
use trainscope_api::guide::{GuideRow, RowState, Topic};

use super::super::Contents;
use super::{Pen, Sign, icon};

pub(super) fn diagnosis(pen: Pen, contents: &Contents) -> Markup {
    let findings = &contents.findings;
    let rows = findings.guide.iter();
    let rows = rows.filter(|row| is_shown(contents, row));
    let rows: Vec<Markup> = rows
        .map(|guide_row| row(pen, findings, guide_row))
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

fn remarks_of(findings: &Findings, topic: Topic) -> impl Iterator<Item = &Remark> {
    let all = findings.remarks.iter();
    all.filter(move |remark| remark.topic == topic)
}

/// True if the row has content. Recorded data have a separate section.
fn is_shown(contents: &Contents, row: &GuideRow) -> bool {
    let info = contents.info.as_ref();
    let is_recorded = match row.topic {
        Topic::Recorded => false,
        Topic::Hyperparameters | Topic::Model | Topic::Input | Topic::Speed => {
            row.state > RowState::Skipped
                || remarks_of(&contents.findings, row.topic).next().is_some()
        }
        Topic::Loss => info.is_some_and(|run| run.loss.is_some()),
        Topic::Metric => info.is_some_and(|run| run.metric.is_some()),
    };
    is_recorded || row.hits > 0
}

/// A row: question, answer, and its rules.
fn row(pen: Pen, findings: &Findings, row: &GuideRow) -> Markup {
    let (sign, state) = match (&row.worst, row.state) {
        (Some(hit), _) => (Sign::of(hit.severity), pen.severity(hit.severity)),
        (None, RowState::Skipped | RowState::Open) => state(pen, RemarkState::Unknown),
        (None, RowState::Passed) => state(pen, RemarkState::Fine),
        (None, RowState::Note) => state(pen, RemarkState::Note),
        (None, RowState::Warning | RowState::Error) => state(pen, RemarkState::Fault),
    };
    html! {
        tr {
            td class="nb" { span class="s" { (icon(sign, 14)) (state) } }
            td class="nb" { b { (pen.texts.topics[row.topic as usize]) } }
            td {}
            td {
                @match &row.worst {
                    Some(hit) => {
                        b { (pen.words(&hit.sentence)) }
                        @if row.hits > 1 { " (" ((pen.texts.more_like_it)(row.hits - 1)) ")" }
                    }
                    None => { (pen.words(&row.sentence)) }
                }
            }
        }
        @for remark in remarks_of(findings, row.topic) { (rule(pen, remark)) }
    }
}

fn rule(pen: Pen, remark: &Remark) -> Markup {
    let (sign, state) = state(pen, remark.state);
    html! {
        tr {
            td class="nb" { span class="s" { (icon(sign, 14)) (state) } }
            td {}
            td class="nb" { (pen.words(&remark.title)) }
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
