//! Which question each watchpoint answers: from what was found to the rows of the guided diagnosis.
//!
//! Nothing is judged here; hits are only sorted by what one looks at to understand them.

use std::collections::{BTreeMap, BTreeSet};

use trainscope_api::findings::{Findings, Hit};

use super::model::by_count;

/// What a row is about, in the order in which an expert looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Topic {
    /// What was recorded, and what cannot be judged without more.
    Recorded,
    /// Learning rate, size of updates, clipping.
    Hyperparameters,
    /// Weights, gradients, activations.
    Model,
    /// What is fed.
    Input,
    /// The loss, and the norm of the gradient.
    Loss,
    /// The metric, and how it generalises.
    Metric,
}

impl Topic {
    pub(super) const ALL: [Self; 6] = [
        Self::Recorded,
        Self::Hyperparameters,
        Self::Model,
        Self::Input,
        Self::Loss,
        Self::Metric,
    ];
}

/// The row of a condition: by its id where that says more than what it is about.
fn topic_of(condition: &str, target: &str) -> Topic {
    match condition {
        "learning_rate_jump"
        | "lossscale_thrash"
        | "clip_always"
        | "update_ratio"
        | "weight_change_too_large"
        | "weight_change_too_small" => Topic::Hyperparameters,
        "input_range" | "class_imbalance" => Topic::Input,
        "exploding_norm" | "grad_norm_zscore" | "stalled" => Topic::Loss,
        "overfit" | "underfit" => Topic::Metric,
        "batchnorm_drift" => Topic::Model,
        _ if target == "scalar" => Topic::Loss,
        _ => Topic::Model,
    }
}

/// What was found for one row.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Found {
    /// Watchpoints that belong there.
    pub(super) watched: u64,
    /// Their hits, however many were sent.
    pub(super) hits: u64,
    /// The first hit of the worst severity.
    pub(super) worst: Option<Hit>,
}

/// What was found, row by row in the order of [`Topic::ALL`].
pub(super) fn diagnose(findings: &Findings) -> [Found; 6] {
    let mut rows: [Found; 6] = Default::default();
    let topics: Vec<Topic> = findings
        .watchpoints
        .iter()
        .map(|own| topic_of(&own.condition, &own.target))
        .collect();
    for (own, topic) in findings.watchpoints.iter().zip(&topics) {
        let row = &mut rows[*topic as usize];
        row.watched += 1;
        row.hits += own.hits;
    }
    for hit in &findings.hits {
        let topic = topics.get(hit.watchpoint as usize);
        let topic = topic.map_or_else(|| topic_of(&hit.condition, ""), |topic| *topic);
        let row = &mut rows[topic as usize];
        let is_worse = row
            .worst
            .as_ref()
            .is_none_or(|worst| hit.severity > worst.severity);
        if is_worse {
            row.worst = Some(hit.clone());
        }
    }
    rows
}

/// How many conditions could not be judged, by what is missing, the commonest first.
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
    use trainscope_api::findings::{Inconclusive, Watched, Words};
    use trainscope_format::Severity;

    fn watched(condition: &str, target: &str, hits: u64) -> Watched {
        Watched {
            condition: condition.to_owned(),
            title: Words::default(),
            target: target.to_owned(),
            limits: BTreeMap::new(),
            is_on: true,
            severity: Severity::Error,
            hits,
            advice: Words::default(),
        }
    }

    fn hit(watchpoint: u32, severity: Severity, step: i64) -> Hit {
        Hit {
            condition: "c".to_owned(),
            watchpoint,
            severity,
            rank: 0,
            step,
            last_step: step,
            tensor: "t".to_owned(),
            node: None,
            values: BTreeMap::new(),
            thresholds: BTreeMap::new(),
            sentence: Words::default(),
            explains: None,
            source: None,
        }
    }

    #[test]
    fn each_hit_has_a_row_and_the_first_of_the_worst_speaks() {
        let findings = Findings {
            watchpoints: vec![
                watched("learning_rate_jump", "scalar", 1),
                watched("loss_nan", "scalar", 2),
                watched("weight_overflow", "weight", 0),
                watched("input_range", "tensor", 0),
                watched("loss_spike", "scalar", 1),
            ],
            hits: vec![
                hit(0, Severity::Info, 40),
                hit(4, Severity::Warning, 41),
                hit(1, Severity::Error, 43),
                hit(1, Severity::Error, 44),
            ],
            ..Findings::default()
        };
        let rows = diagnose(&findings);
        let counts = rows.each_ref().map(|row| (row.watched, row.hits));
        assert_eq!(counts, [(0, 0), (1, 1), (1, 0), (1, 0), (2, 3), (0, 0)]);
        let step = |topic: Topic| rows[topic as usize].worst.as_ref().map(|hit| hit.step);
        assert_eq!(step(Topic::Loss), Some(43));
        assert_eq!(step(Topic::Hyperparameters), Some(40));
        assert_eq!(step(Topic::Model), None);
    }

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
