//! What rules say of the model and of what feeds it: the worst of each row, and the whole list where one asks for it.

use leptos::prelude::*;
use trainscope_api::findings::{Findings, Remark, RemarkState, RemarkTopic};

use super::diagnosis::Topic;
use super::model::Model;
use crate::components::{Icon, IconName};
use crate::erased::memo;
use crate::i18n::{I18n, use_i18n};
use crate::route;

/// The rules of a row.
pub(super) fn of_topic(findings: &Findings, topic: Topic) -> impl Iterator<Item = &Remark> {
    let wanted = match topic {
        Topic::Hyperparameters => Some(RemarkTopic::Hyperparameters),
        Topic::Model => Some(RemarkTopic::Model),
        Topic::Input => Some(RemarkTopic::Input),
        Topic::Recorded | Topic::Loss | Topic::Metric => None,
    };
    let all = findings.remarks.iter();
    all.filter(move |remark| Some(remark.topic) == wanted)
}

/// The worst of a row, if it has found anything.
pub(super) fn worst(findings: &Findings, topic: Topic) -> Option<&Remark> {
    // Of equal ones the first.
    let found = of_topic(findings, topic).filter(|remark| remark.state > RemarkState::Fine);
    found.reduce(|worst, one| if one.state > worst.state { one } else { worst })
}

/// Rules that found nothing, and those that could not be judged.
fn counts(findings: &Findings) -> (u64, u64) {
    let of = |state| {
        let all = findings.remarks.iter();
        all.filter(|remark| remark.state == state).count() as u64
    };
    (of(RemarkState::Fine), of(RemarkState::Unknown))
}

const fn sign(state: RemarkState) -> (&'static str, IconName) {
    match state {
        RemarkState::Unknown => ("ink3", IconName::Gone),
        RemarkState::Fine => ("okc", IconName::Ok),
        RemarkState::Note => ("inf", IconName::Info),
        RemarkState::Fault => ("warn", IconName::Warning),
    }
}

/// All rules, opened from the heading.
pub(super) fn view(model: Model) -> AnyView {
    let i18n = use_i18n();
    let has_some = memo(move || {
        let found = model.findings.get();
        found.is_some_and(|found| !found.remarks.is_empty())
    });
    let summary = move || {
        let (fine, unknown) = model.findings.get().map_or((0, 0), |found| counts(&found));
        (i18n.texts().overview.checks)(fine, unknown)
    };
    let list = move || {
        let found = model.findings.get();
        let rows = found.iter().flat_map(|found| &found.remarks);
        let rows = rows.map(|remark| row(&model.run(), remark, i18n));
        rows.collect::<Vec<AnyView>>()
    };
    view! {
        <details class="checks" hidden=move || !has_some.get()>
            <summary class="link">{summary}</summary>
            <ul>{list}</ul>
        </details>
    }
    .into_any()
}

fn row(run: &str, remark: &Remark, i18n: I18n) -> AnyView {
    let (class, icon) = sign(remark.state);
    let texts = &i18n.texts().overview;
    let node = remark.node.as_ref();
    let link = node.map(|node| {
        let href = route::graph_href(run, Some(node));
        view! { <a class="link" href=href>{i18n.texts().graph.title}</a> }
    });
    let record =
        (!remark.record.is_empty()).then(|| view! { <code>{remark.record.clone()}</code> });
    view! {
        <li data-rule=remark.rule.clone()>
            <span class=class>
                <Icon name=icon size=14 />
            </span>
            <b>{(texts.rule)(&remark.rule)}</b>
            <span class="f">{i18n.words(&remark.sentence)} {record}</span>
            {link}
        </li>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;
    use trainscope_api::findings::Words;

    fn remark(topic: RemarkTopic, state: RemarkState, places: u64) -> Remark {
        Remark {
            rule: "r".to_owned(),
            topic,
            state,
            sentence: Words::default(),
            node: None,
            places,
            record: String::new(),
        }
    }

    #[test]
    fn the_first_of_the_worst_speaks_for_a_row() {
        let findings = Findings {
            remarks: vec![
                remark(RemarkTopic::Hyperparameters, RemarkState::Fine, 0),
                remark(RemarkTopic::Model, RemarkState::Note, 1),
                remark(RemarkTopic::Model, RemarkState::Fault, 2),
                remark(RemarkTopic::Model, RemarkState::Fault, 3),
                remark(RemarkTopic::Input, RemarkState::Unknown, 0),
            ],
            ..Findings::default()
        };
        let places = |topic| worst(&findings, topic).map(|own| own.places);
        assert_eq!(places(Topic::Model), Some(2));
        assert_eq!(places(Topic::Hyperparameters), None);
        assert_eq!(places(Topic::Input), None);
        assert_eq!(places(Topic::Loss), None);
        assert_eq!(counts(&findings), (1, 1));
    }
}
