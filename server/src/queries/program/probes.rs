//! Checks of the first batch with their names.

use trainscope_api::Sentence;
use trainscope_api::program::{Probe, ProbeResult, RecordedFact};

use super::of_kind;

/// The checks: those that failed first.
pub(super) fn probes(facts: &[RecordedFact]) -> Vec<Probe> {
    let mut all: Vec<(usize, Probe)> = of_kind(facts, "probe").filter_map(probe).collect();
    all.sort_by_key(|(place, probe)| (probe.result, *place));
    all.into_iter().map(|(_, probe)| probe).collect()
}

/// A check, and its place among all; `None` for an unknown result.
fn probe(fact: &RecordedFact) -> Option<(usize, Probe)> {
    let result = match fact.text("result") {
        "failed" => ProbeResult::Failed,
        "not_tried" => ProbeResult::NotTried,
        "passed" => ProbeResult::Passed,
        _ => return None,
    };
    let place = NAMES.iter().position(|(id, ..)| *id == fact.subject);
    let probe = Probe {
        name: name(place, &fact.subject),
        result,
        says: fact.text("says").to_owned(),
        source: fact.source.clone(),
    };
    Some((place.unwrap_or(NAMES.len()), probe))
}

/// Name of a check; an unknown one keeps its id.
fn name(place: Option<usize>, id: &str) -> Sentence {
    let known = place.and_then(|place| NAMES.get(place));
    known.map_or_else(
        || Sentence::new(id, id),
        |(_, en, zh)| Sentence::new(*en, *zh),
    )
}

const NAMES: [(&str, &str, &str); 13] = [
    ("finite", "Finite outputs", "输出有限"),
    ("initial_loss", "Initial loss", "初始损失"),
    (
        "batch_dependence",
        "Samples are independent",
        "样本相互独立",
    ),
    ("future", "Later positions are hidden", "看不到之后的位置"),
    ("context", "Earlier positions are used", "使用之前的位置"),
    (
        "input_dependence",
        "Every input matters",
        "每个输入都有作用",
    ),
    ("two_evaluations", "Evaluation repeats", "评估可重复"),
    ("reach", "Reach of the loss", "损失可达范围"),
    ("one_update", "One update", "一次更新"),
    ("one_batch", "One batch can be learned", "可学会一个批次"),
    ("rates", "Range of learning rates", "学习率范围"),
    ("precision", "Precision", "精度"),
    ("memory", "Memory", "内存"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_come_first_and_unknown_checks_keep_their_id() {
        let fact = |subject: &str, result: &str| RecordedFact {
            kind: "probe".into(),
            subject: subject.into(),
            texts: [("result".to_owned(), result.to_owned())].into(),
            ..RecordedFact::default()
        };
        let facts = [
            fact("later", "passed"),
            fact("memory", "not_tried"),
            fact("finite", "passed"),
            fact("future", "failed"),
            fact("reach", "?"),
        ];
        let names: Vec<String> = probes(&facts)
            .into_iter()
            .map(|probe| probe.name.en)
            .collect();
        let expected = [
            "Later positions are hidden",
            "Memory",
            "Finite outputs",
            "later",
        ];
        assert_eq!(names, expected);
    }
}
