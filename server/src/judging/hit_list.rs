//! Order, counts and names of all hits of a run, for answers about a part.
//!
//! Made for the first request: a hundred thousand hits take milliseconds, and a filter is typed letter by letter.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use trainscope_analysis::watchpoint::Hit;

/// The hits of a run, sorted and counted.
#[derive(Debug, Default)]
pub struct Listing {
    /// Indices of the hits by step, by rank, then in the order of data flow.
    pub order: Vec<usize>,
    /// Ranks with hits, ascending.
    pub ranks: Vec<u32>,
    /// Number of hits of each watchpoint.
    pub hits_of: BTreeMap<u32, u64>,
    /// Distinct combinations of tensor, condition and node of hits, in lower case.
    names: Vec<[String; 3]>,
    /// Index into `names` for each hit.
    names_of: Vec<u32>,
}

impl Listing {
    /// Sorts hits that are in the order of steps.
    pub fn new(all: &[Hit]) -> Self {
        let mut order: Vec<usize> = (0..all.len()).collect();
        // The sort is stable, and hits are in the order of steps.
        order.sort_by_key(|&at| (all[at].step, all[at].rank));
        let mut ranks: Vec<u32> = all.iter().map(|hit| hit.rank).collect();
        ranks.sort_unstable();
        ranks.dedup();
        let mut hits_of = BTreeMap::new();
        let mut names = Vec::new();
        let mut known = FxHashMap::default();
        let names_of = all.iter().map(|hit| {
            *hits_of.entry(hit.watchpoint).or_insert(0) += 1;
            let key = [
                &*hit.tensor,
                hit.condition.id,
                hit.node.as_deref().unwrap_or_default(),
            ];
            *known.entry(key).or_insert_with(|| {
                names.push(key.map(str::to_lowercase));
                u32::try_from(names.len() - 1).unwrap_or(u32::MAX)
            })
        });
        let names_of = names_of.collect();
        Self {
            order,
            ranks,
            hits_of,
            names,
            names_of,
        }
    }

    /// Returns a test for hits by index: true if one of their names contains a text, in any letter case.
    pub fn finder(&self, text: &str) -> impl Fn(usize) -> bool {
        let text = text.to_lowercase();
        let has = |names: &[String; 3]| names.iter().any(|name| name.contains(&text));
        let found: Vec<bool> = self.names.iter().map(has).collect();
        move |at| {
            let names = self.names_of.get(at).map(|&names| names as usize);
            names.is_some_and(|names| found.get(names).copied().unwrap_or_default())
        }
    }
}
