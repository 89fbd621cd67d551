//! Undecided conditions, by missing data.

use std::collections::{BTreeMap, BTreeSet};

use trainscope_api::findings::Findings;

use super::model::by_count;

/// Number of undecided conditions, by missing data, most frequent first.
pub(super) fn undecided(findings: &Findings) -> Vec<(String, u64)> {
    let mut reasons: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for one in &findings.inconclusive {
        reasons
            .entry(&one.reason)
            .or_default()
            .insert(&one.condition);
    }
    let counted = reasons.into_iter();
    let counted: Vec<(String, u64)> = counted
        .map(|(reason, conditions)| (reason.to_owned(), conditions.len() as u64))
        .collect();
    by_count(counted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use trainscope_api::findings::Inconclusive;

    #[test]
    fn what_is_missing_is_counted_by_conditions() {
        let lacks = |condition: &str, reason: &str| Inconclusive {
            condition: condition.to_owned(),
            rank: 0,
            step: 0,
            tensor: String::new(),
            reason: reason.to_owned(),
            steps: 1,
        };
        let findings = Findings {
            inconclusive: vec![
                lacks("a", "too_short"),
                lacks("a", "no_hash"),
                lacks("b", "no_hash"),
                lacks("b", "no_hash"),
            ],
            ..Findings::default()
        };
        let expected = [("no_hash".to_owned(), 2), ("too_short".to_owned(), 1)];
        assert_eq!(undecided(&findings), expected);
    }
}
