//! Numbers: the operation that makes NaN or infinities, probes of the first batch, and the end of the program.

use super::{Fact, Facts, counted, shown};
use crate::diagnosis::recording::Missing;
use crate::diagnosis::{Opinion, Rule, State};

/// Exceptions by which the user, or the program itself, ends a training.
const ENDED: [&str; 4] = [
    "KeyboardInterrupt",
    "SystemExit",
    "GeneratorExit",
    "CancelledError",
];

/// Probes whose failure is a fault. A failure of `finite` is an error. Failures of the others are worth knowing: their
/// importance depends on the intention.
const FAULTS: [&str; 8] = [
    "batch_dependence",
    "future",
    "context",
    "input_dependence",
    "two_evaluations",
    "reach",
    "one_update",
    "one_batch",
];

pub(super) fn judge(facts: &Facts, all: &mut Vec<(Rule, Opinion)>) {
    for fact in facts.of(Rule::OperationNotFinite.name()) {
        all.push((Rule::OperationNotFinite, operation(&fact)));
    }
    for fact in facts.of("probe") {
        all.extend(probe(&fact).map(|opinion| (Rule::PreflightProbe, opinion)));
    }
    for fact in facts.of("failure") {
        all.push((Rule::ProgramFailed, failure(&fact)));
    }
}

/// Reason of the collector for a line that is not known between two looks.
const NOT_LOOKED_AT: &str = "its step was not looked at";

/// The first of the operation's facts: later ones follow from it.
fn operation(fact: &Fact<'_>) -> Opinion {
    let first = &fact.seen.first.1;
    let text = |name: &str| shown(first.text(name));
    let number = |name: &str| first.number(name).filter(|value| value.is_finite());
    let name = fact.name_or("an operation");
    let name_zh = fact.name_or("某个运算");
    let module = text("module");
    let (of, of_zh) = if module.is_empty() {
        (String::new(), String::new())
    } else {
        (format!(" in {module}"), format!("（{module}）"))
    };
    let (pass, pass_zh) = if text("pass") == "backward" {
        (" backward", "反向")
    } else {
        ("", "")
    };
    let between = text("between");
    let (mut en, mut zh) = match (number("not_finite"), number("elements")) {
        (Some(bad), Some(all)) => {
            let (bad, all) = (counted(bad), counted(all));
            (
                format!("{name}{of} makes {bad} of {all} elements NaN or Inf{pass}"),
                format!("{name_zh}{of_zh} {pass_zh}产生了 NaN 或 Inf（{all} 个元素中有 {bad} 个）"),
            )
        }
        _ => (
            format!("{name}{of} makes NaN or Inf{pass}"),
            format!("{name_zh}{of_zh} {pass_zh}产生了 NaN 或 Inf"),
        ),
    };
    let (reason, from) = (text("reason"), text("inputs_from"));
    let mut add = |more: (String, String)| {
        en.push_str(&more.0);
        zh.push_str(&more.1);
    };
    if !reason.is_empty() {
        add((format!(": {reason}"), format!("：{reason}")));
    }
    if !from.is_empty() && !reason.contains(&from) {
        add((
            format!("; its inputs come from {from}"),
            format!("；其输入来自 {from}"),
        ));
    }
    if !between.is_empty() {
        add((format!(" ({between})"), format!("（{between}）")));
    }
    if number("is_complete") == Some(0.0) {
        add((
            "; the search was not complete".to_owned(),
            "；搜索不完整".to_owned(),
        ));
    }
    let without_line = text("without_line");
    if first.source.is_none() && !without_line.is_empty() {
        let (how, how_zh) = if without_line == NOT_LOOKED_AT {
            (
                "; `every=1` notes the lines of all steps",
                "；`every=1` 会记录每个迭代的行",
            )
        } else {
            ("", "")
        };
        add((
            format!("; its line is not known: {without_line}{how}"),
            format!("；未知其所在行：{without_line}{how_zh}"),
        ));
    }
    let bad = number("bad_inputs").unwrap_or(0.0);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a count; anything else saturates"
    )]
    let places = bad as u64;
    let source = first.source.clone().map(std::sync::Arc::new);
    let found = fact.found(State::Error, en, zh);
    Opinion {
        node: (!module.is_empty()).then_some(module),
        source: source.or(found.source.clone()),
        places,
        ..found
    }
}

fn probe(fact: &Fact<'_>) -> Option<Opinion> {
    let (name, said) = (fact.name_or("probe"), fact.text("says"));
    match fact.last().text("result") {
        "passed" => Some(fact.fine(
            &format!("probes of the first batch passed ({name})"),
            &format!("首批数据检查已通过（{name}）"),
        )),
        "not_tried" => Some(fact.about(Opinion::unknown(
            "the probe of the first batch was not tried",
            "未执行首批数据检查",
            Missing::Nothing,
        ))),
        "failed" => {
            let state = match fact.plain() {
                "finite" => State::Error,
                other if FAULTS.contains(&other) => State::Fault,
                _ => State::Note,
            };
            let said = if said.is_empty() {
                "failed".to_owned()
            } else {
                said
            };
            Some(fact.found(
                state,
                format!("probe {name}: {said}"),
                format!("检查 {name}：{said}"),
            ))
        }
        _ => None,
    }
}

fn failure(fact: &Fact<'_>) -> Opinion {
    let (kind, message) = (fact.name_or("exception"), fact.text("message"));
    let (en, zh) = if message.is_empty() {
        (kind.clone(), kind.clone())
    } else {
        (format!("{kind}: {message}"), format!("{kind}：{message}"))
    };
    let plain = fact.plain().rsplit('.').next().unwrap_or_default();
    if ENDED.contains(&plain) {
        return fact.note(
            format!("the program was ended by {en}"),
            format!("程序由 {zh} 结束"),
        );
    }
    fact.found(
        State::Error,
        format!("the program ended with {en}"),
        format!("程序因 {zh} 而结束"),
    )
}
