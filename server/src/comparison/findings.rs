//! Hits of watchpoints in two runs: in one only, or in both.

use std::collections::BTreeMap;

use trainscope_analysis::watchpoint::Hit;
use trainscope_api::compare::{FindingDifference, FindingsDifference};

use crate::judging::JudgedRun;
use crate::queries::findings::title;

/// Compares the hits of two judged runs by condition, tensor and rank.
pub(crate) fn findings(base: Option<&JudgedRun>, other: Option<&JudgedRun>) -> FindingsDifference {
    let (Some(base), Some(other)) = (base, other) else {
        return FindingsDifference::default();
    };
    let mut rows: BTreeMap<(String, String, u32), FindingDifference> = BTreeMap::new();
    for (is_base, judged) in [(true, base), (false, other)] {
        let watchpoints = judged.watchpoints.all();
        for hit in &judged.findings.hits {
            let Some(watchpoint) = watchpoints.get(hit.watchpoint as usize) else {
                continue;
            };
            let title = title(watchpoint);
            let key = (title.en.clone(), hit.tensor.to_string(), hit.rank);
            let row = rows.entry(key).or_insert_with(|| FindingDifference {
                title,
                tensor: hit.tensor.to_string(),
                rank: hit.rank,
                ..FindingDifference::default()
            });
            add(row, hit, is_base);
        }
    }
    let mut rows: Vec<FindingDifference> = rows.into_values().collect();
    let class = |own: &FindingDifference| match (own.base_step, own.other_step) {
        (Some(_), None) => 0,
        (None, _) => 1,
        (Some(_), Some(_)) => 2,
    };
    let first = |own: &FindingDifference| own.base_step.into_iter().chain(own.other_step).min();
    rows.sort_by(|a, b| {
        let order = |own: &FindingDifference| (class(own) == 2, first(own));
        order(a)
            .cmp(&order(b))
            .then_with(|| b.severity.cmp(&a.severity))
            .then_with(|| a.tensor.cmp(&b.tensor))
    });
    let mut counts = [0; 3];
    for row in &rows {
        counts[class(row)] += 1;
    }
    FindingsDifference {
        judged: true,
        rows,
        counts,
    }
}

fn add(row: &mut FindingDifference, hit: &Hit, is_base: bool) {
    row.severity = row.severity.max(hit.severity);
    let step = if is_base {
        &mut row.base_step
    } else {
        &mut row.other_step
    };
    *step = Some(step.map_or(hit.step, |known| known.min(hit.step)));
}
