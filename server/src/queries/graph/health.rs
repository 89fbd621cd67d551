//! Hits of watchpoints by part of a graph.

use std::collections::{BTreeMap, HashMap};

use trainscope_analysis::graph::names::Names;
use trainscope_analysis::watchpoint::{Findings, Hit};
use trainscope_format::Severity;

/// Hits by item of the tree.
#[derive(Debug, Default)]
pub(crate) struct Health {
    /// Worst severity, and the indices of the hits.
    of_item: BTreeMap<usize, (Severity, Vec<usize>)>,
    first_cause: Option<usize>,
}

impl Health {
    pub(crate) fn new(findings: &Findings, names: &Names) -> Self {
        let mut places: HashMap<(&str, Option<&str>), Option<usize>> = HashMap::new();
        let mut health = Self::default();
        for (index, hit) in findings.hits.iter().enumerate() {
            // A tensor has hits at many steps: its name is resolved once.
            let key: (&str, Option<&str>) = (&hit.tensor, hit.node.as_deref());
            let item = *places.entry(key).or_insert_with(|| place(hit, names));
            let Some(item) = item else { continue };
            let of_item = health
                .of_item
                .entry(item)
                .or_insert((hit.severity, Vec::new()));
            of_item.0 = of_item.0.max(hit.severity);
            of_item.1.push(index);
            if findings
                .first_cause
                .as_ref()
                .is_some_and(|cause| cause.hit == index)
            {
                health.first_cause = Some(item);
            }
        }
        health
    }

    pub(crate) fn worst(&self, items: std::ops::Range<usize>) -> Option<Severity> {
        self.of_item
            .range(items)
            .map(|(_, (severity, _))| *severity)
            .max()
    }

    pub(crate) fn is_first_cause_in(&self, items: &std::ops::Range<usize>) -> bool {
        self.first_cause.is_some_and(|item| items.contains(&item))
    }

    /// Hits of the items in a range, in order.
    pub(crate) fn hits(&self, items: std::ops::Range<usize>) -> Vec<usize> {
        let all = self.of_item.range(items).flat_map(|(_, (_, hits))| hits);
        let mut hits: Vec<usize> = all.copied().collect();
        hits.sort_unstable();
        hits
    }
}

/// The name of the tensor is more specific than that of its operation.
fn place(hit: &Hit, names: &Names) -> Option<usize> {
    if hit.tensor.is_empty() {
        return None;
    }
    names
        .find(&hit.tensor)
        .or_else(|| hit.node.as_deref().and_then(|node| names.find(node)))
}
