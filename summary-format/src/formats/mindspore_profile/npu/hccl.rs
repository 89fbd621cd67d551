//! `hccl_raw`: costs of communication by step, link and operator.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::Value;

use super::super::links::{Links, MILLISECOND, pair, scaled};
use super::super::table::Table;
use super::super::{MindsporeFiles, MindsporeTable};
use crate::trace::Trace;

/// Bytes of the kilobyte of this file.
const KILOBYTE: f64 = 1e3;
/// Number of the row with the means of all steps.
const MEAN: &[u8] = b"-";

/// Milliseconds, kilobytes and kilobytes a second of a pair of ranks, by the hardware between them.
type LinkCosts = BTreeMap<String, BTreeMap<String, Vec<Value>>>;
/// Step, milliseconds of communication and of waiting, and the links of each operator.
type OperatorCosts = BTreeMap<String, (Value, Value, Value, LinkCosts)>;

/// Bytes of collectives.
#[derive(Default)]
pub(super) struct Costs {
    bytes: HashMap<(i64, String), u64>,
}

impl Costs {
    /// Bytes that an operator sent in a step, by the name of its column in the step trace; 0 if unknown.
    pub(super) fn bytes(&self, step: i64, column: &str) -> u64 {
        let key = (step, column.to_owned());
        self.bytes.get(&key).copied().unwrap_or(0)
    }
}

/// Reads a row per step, followed by a row of means; the links of all steps are summed.
pub(super) fn read(
    files: &MindsporeFiles<'_>,
    trace: &mut Trace,
    notes: &mut Vec<String>,
) -> Costs {
    let mut costs = Costs::default();
    let Some(bytes) = files.hccl else {
        return costs;
    };
    let file = MindsporeTable::Hccl.file_name(files.rank);
    let mut table = Table::new(&file, bytes);
    let number = table.column(&["step_num"]);
    let links = table.column(&["link_info"]);
    let operators = table.column(&["communication_operator_cost"]);
    if number.is_none() || links.is_none() {
        table.lacks("step_num, link_info", notes);
        return costs;
    }
    let mut sums = Links::default();
    while let Some(row) = table.next_row() {
        if row.bytes(number) == Some(MEAN) {
            continue;
        }
        let parsed = row.bytes(links).map(serde_json::from_slice::<LinkCosts>);
        let (Some(step), Some(Ok(parsed))) = (row.scaled(number, 0), parsed) else {
            table.bad(&row);
            continue;
        };
        for (ranks, transports) in parsed {
            let costs = transports.iter().map(|(name, cost)| {
                let at =
                    |index: usize, unit| cost.get(index).map_or(0, |value| scaled(value, unit));
                (&**name, at(1, KILOBYTE), at(0, MILLISECOND))
            });
            sums.add(&ranks, costs);
        }
        let Some(bytes) = row.bytes(operators) else {
            continue;
        };
        match serde_json::from_slice::<OperatorCosts>(bytes) {
            Ok(operators) => {
                for (name, (_, _, _, links)) in operators {
                    if let Some(bytes) = sent(&links) {
                        costs.bytes.insert((step, name), bytes);
                    }
                }
            }
            Err(_) => table.bad(&row),
        }
    }
    trace.links = sums.finish(&file, notes);
    table.finish(&mut trace.counts, notes);
    costs
}

/// Bytes between two ranks. With more ranks, the links of one rank do not determine the size of the message.
fn sent(links: &LinkCosts) -> Option<u64> {
    let mut ranks = BTreeSet::new();
    let mut bytes = 0_u64;
    for (name, transports) in links {
        let (source, destination) = pair(name)?;
        ranks.extend([source, destination]);
        if source == destination {
            continue;
        }
        for cost in transports.values() {
            let size = cost.get(1).map_or(0, |value| scaled(value, KILOBYTE));
            bytes = bytes.saturating_add(size);
        }
    }
    (ranks.len() == 2).then_some(bytes)
}
