//! Findings of rules about the model and its input: the worst of each row, and the full list on request.

use trainscope_api::findings::{Findings, Remark, RemarkState};

use super::model::Model;
use trainscope_web_kit::components::{Icon, IconName};
use trainscope_web_kit::i18n::{I18n, use_i18n};
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::route;

/// Numbers of rules without findings, and of undecided rules.
fn counts(findings: &Findings) -> (u64, u64) {
    let of = |state| {
        let all = findings.remarks.iter();
        all.filter(|remark| remark.state == state).count() as u64
    };
    (of(RemarkState::Fine), of(RemarkState::Unknown))
}

pub(super) const fn sign(state: RemarkState) -> (&'static str, IconName) {
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
    let has_some = Memo::new(move |_| {
        let found = model.findings.get();
        found.is_some_and(|found| !found.remarks.is_empty())
    });
    let summary = move || {
        let (fine, unknown) = model.findings.get().map_or((0, 0), |found| counts(&found));
        (i18n.texts().overview().checks)(fine, unknown)
    };
    let list = move || {
        let found = model.findings.get();
        let rows = found.iter().flat_map(|found| &found.remarks);
        let rows = rows.map(|remark| row(&model.run(), remark, i18n));
        rows.collect::<Vec<AnyView>>()
    };
    view! {
        <details class="checks" data-part="checks" hidden=move || !has_some.get()>
            <summary class="link">{summary}</summary>
            <ul>{list}</ul>
        </details>
    }
    .into_any()
}

fn row(run: &str, remark: &Remark, i18n: I18n) -> AnyView {
    let (class, icon) = sign(remark.state);
    let node = remark.node.as_ref();
    let link = node.map(|node| {
        let href = route::graph_href(run, Some(node));
        view! { <a class="link" href=href>{i18n.texts().titles().graph}</a> }
    });
    let record =
        (!remark.record.is_empty()).then(|| view! { <code>{remark.record.clone()}</code> });
    view! {
        <li data-rule=remark.rule.clone()>
            <span class=class>
                <Icon name=icon size=14 />
            </span>
            <b>{i18n.words(&remark.title)}</b>
            <span class="f">{i18n.words(&remark.sentence)} {record}</span>
            {link}
        </li>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;
    use trainscope_api::Sentence;
    use trainscope_api::guide::Topic;

    fn remark(state: RemarkState) -> Remark {
        Remark {
            rule: "r".to_owned(),
            topic: Topic::Model,
            title: Sentence::default(),
            state,
            sentence: Sentence::default(),
            node: None,
            places: 0,
            record: String::new(),
            source: None,
            part: None,
        }
    }

    #[test]
    fn what_is_well_and_what_is_not_judged_are_counted() {
        let findings = Findings {
            remarks: vec![
                remark(RemarkState::Fine),
                remark(RemarkState::Fault),
                remark(RemarkState::Fine),
                remark(RemarkState::Unknown),
            ],
            ..Findings::default()
        };
        assert_eq!(counts(&findings), (2, 1));
    }
}
