//! Hits of watchpoints in two runs: in one only, or in both.

use std::collections::BTreeMap;

use trainscope_api::compare::{FindingDifference, FindingsDifference};
use trainscope_api::findings::Counts;

use crate::judging::JudgedRun;
use crate::queries::findings::title;

/// Compares the hits of two judged runs by title, severity, tensor and rank; several alike are matched in order.
pub(crate) fn findings(base: Option<&JudgedRun>, other: Option<&JudgedRun>) -> FindingsDifference {
    let (Some(base), Some(other)) = (base, other) else {
        return FindingsDifference::default();
    };
    let mut rows: BTreeMap<_, FindingDifference> = BTreeMap::new();
    for (is_base, judged) in [(true, base), (false, other)] {
        let mut alike: BTreeMap<_, usize> = BTreeMap::new();
        for hit in &judged.findings.hits {
            let watchpoint = judged.watchpoints.all().get(hit.watchpoint as usize);
            let title = watchpoint.map(title).unwrap_or_default();
            let key = (
                title.en.clone(),
                hit.severity,
                hit.tensor.to_string(),
                hit.rank,
            );
            let before = alike.entry(key.clone()).or_default();
            let row = rows
                .entry((key, *before))
                .or_insert_with(|| FindingDifference {
                    title,
                    severity: hit.severity,
                    tensor: hit.tensor.to_string(),
                    rank: hit.rank,
                    ..FindingDifference::default()
                });
            *before += 1;
            if is_base {
                row.base_step = Some(hit.step);
            } else {
                row.other_step = Some(hit.step);
            }
        }
    }
    let mut rows: Vec<FindingDifference> = rows.into_values().collect();
    let class = |row: &FindingDifference| match (row.base_step, row.other_step) {
        (Some(_), None) => 0,
        (None, _) => 1,
        (Some(_), Some(_)) => 2,
    };
    let first = |row: &FindingDifference| row.base_step.into_iter().chain(row.other_step).min();
    rows.sort_by(|a, b| {
        let order = |row: &FindingDifference| (class(row) == 2, first(row));
        order(a)
            .cmp(&order(b))
            .then_with(|| b.severity.cmp(&a.severity))
            .then_with(|| a.tensor.cmp(&b.tensor))
    });
    let mut counts = [Counts::default(); 3];
    for row in &rows {
        counts[class(row)].add(row.severity);
    }
    FindingsDifference {
        judged: true,
        rows,
        counts,
    }
}
