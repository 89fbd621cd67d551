//! Undecided conditions, by missing data.

use std::collections::{BTreeMap, BTreeSet};

use trainscope_api::Sentence;
use trainscope_api::findings::Findings;

use super::model::by_count;

/// Number of undecided conditions by missing data in the given language, most frequent first.
pub(super) fn undecided(
    findings: &Findings,
    text: impl Fn(&Sentence) -> String,
) -> Vec<(String, u64)> {
    let mut reasons: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for one in &findings.inconclusive {
        let conditions = reasons.entry(text(&one.words)).or_default();
        conditions.insert(&one.condition);
    }
    let counted = reasons.into_iter();
    let counted = counted.map(|(reason, conditions)| (reason, conditions.len() as u64));
    by_count(counted.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use trainscope_api::findings::Inconclusive;

    #[test]
    fn missing_data_are_counted_by_conditions() {
        let lacks = |condition: &str, reason: &str| Inconclusive {
            condition: condition.to_owned(),
            rank: 0,
            step: 0,
            tensor: String::new(),
            reason: String::new(),
            words: Sentence {
                en: reason.to_owned(),
                ..Sentence::default()
            },
            steps: 1,
        };
        let findings = Findings {
            inconclusive: vec![
                lacks("a", "too few steps"),
                lacks("a", "no content hashes"),
                lacks("b", "no content hashes"),
                lacks("b", "no content hashes"),
            ],
            ..Findings::default()
        };
        let expected = [
            ("no content hashes".to_owned(), 2),
            ("too few steps".to_owned(), 1),
        ];
        assert_eq!(undecided(&findings, |words| words.en.clone()), expected);
    }
}
