//! The guided diagnosis: watchpoints and rules of a run sorted into rows by topic.
//!
//! Nothing is judged here; hits are only grouped.

use crate::findings::{Findings, Hit, Remark, RemarkState, RemarkTopic};

/// Topic of a row, in the order in which an expert checks them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Topic {
    /// Recorded kinds, and checks that need more data.
    Recorded,
    /// Learning rate, size of updates, clipping.
    Hyperparameters,
    /// Weights, gradients, activations.
    Model,
    /// Input data.
    Input,
    /// Loss and gradient norm.
    Loss,
    /// Metric and generalisation.
    Metric,
}

impl Topic {
    /// All topics in order.
    pub const ALL: [Self; 6] = [
        Self::Recorded,
        Self::Hyperparameters,
        Self::Model,
        Self::Input,
        Self::Loss,
        Self::Metric,
    ];
}

/// Topic of a condition: by its id, else by its target.
fn topic_of(condition: &str, target: &str) -> Topic {
    match condition {
        "learning_rate_jump"
        | "lossscale_thrash"
        | "clip_always"
        | "update_ratio"
        | "weight_change_too_large"
        | "weight_change_too_small"
        | "settings" => Topic::Hyperparameters,
        "input_range" | "class_imbalance" | "shuffling" | "scaling" => Topic::Input,
        "exploding_norm" | "grad_norm_zscore" | "stalled" => Topic::Loss,
        "overfit" | "underfit" => Topic::Metric,
        "batchnorm_drift" => Topic::Model,
        _ if target == "scalar" => Topic::Loss,
        _ => Topic::Model,
    }
}

/// Watchpoints and hits of one row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// Number of watchpoints.
    pub watched: u64,
    /// Number of hits, including hits left out of the answer.
    pub hits: u64,
    /// The first hit of the worst severity.
    pub worst: Option<Hit>,
}

/// Rows in the order of [`Topic::ALL`].
pub fn diagnose(findings: &Findings) -> [Found; 6] {
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

/// Remarks that belong to a row.
pub fn remarks_of(findings: &Findings, topic: Topic) -> impl Iterator<Item = &Remark> {
    let all = findings.remarks.iter();
    all.filter(move |remark| Topic::from(remark.topic) == topic)
}

/// The first of the worst remarks of a row, notes and faults only. Remarks whose rule is also a watchpoint with hits
/// are skipped, since the hit is listed already.
pub fn worst_remark(findings: &Findings, topic: Topic) -> Option<&Remark> {
    let hit = findings.watchpoints.iter().filter(|own| own.hits > 0);
    let found = remarks_of(findings, topic).filter(|remark| remark.state > RemarkState::Fine);
    let found = found.filter(|remark| hit.clone().all(|own| own.condition != remark.rule));
    found.reduce(|worst, one| if one.state > worst.state { one } else { worst })
}

impl From<RemarkTopic> for Topic {
    fn from(topic: RemarkTopic) -> Self {
        match topic {
            RemarkTopic::Hyperparameters => Self::Hyperparameters,
            RemarkTopic::Model => Self::Model,
            RemarkTopic::Input => Self::Input,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::findings::{Watched, Words};
    use trainscope_format::Severity;

    fn watched(condition: &str, target: &str, hits: u64) -> Watched {
        Watched {
            condition: condition.to_owned(),
            title: Words::default(),
            target: target.to_owned(),
            limits: BTreeMap::new(),
            is_on: true,
            has_data: true,
            severity: Severity::Error,
            worst: None,
            hits,
            unjudged: 0,
            advice: Words::default(),
        }
    }

    fn hit(watchpoint: u32, severity: Severity, step: i64) -> Hit {
        Hit {
            condition: "c".to_owned(),
            watchpoint,
            nth: 0,
            severity,
            rank: 0,
            step,
            last_step: step,
            tensor: "t".to_owned(),
            node: None,
            values: BTreeMap::new(),
            thresholds: BTreeMap::new(),
            measures: Vec::new(),
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
        let places = |topic| worst_remark(&findings, topic).map(|own| own.places);
        assert_eq!(places(Topic::Model), Some(2));
        assert_eq!(places(Topic::Hyperparameters), None);
        assert_eq!(places(Topic::Input), None);
        assert_eq!(places(Topic::Loss), None);
    }
}
