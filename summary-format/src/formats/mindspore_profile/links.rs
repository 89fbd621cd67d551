//! `communication_matrix.json` of Ascend devices: bytes and time between pairs of ranks, read as documented.
//!
//! `step → p2p | collective → operator → "0-1" → {"Transit Size(MB)", "Transit Time(ms)", …}`. Newer versions write
//! only some operators of each kind and their sum, whose name has `-total`. If there are sums, nothing else counts.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::trace::Link;

/// Bytes of the megabyte of these files.
const MEGABYTE: f64 = 1e6;
/// Nanoseconds of a millisecond.
pub(super) const MILLISECOND: f64 = 1e6;
/// Part of the name of a sum of operators.
const TOTAL: &str = "-total";
/// Maximum number of pairs of ranks: 1,024 ranks with 64 others each.
const MAX_LINKS: usize = 1 << 16;

/// Operators by step and by kind; the links of each by their ranks.
type Matrix = BTreeMap<String, BTreeMap<String, BTreeMap<String, BTreeMap<String, Row>>>>;

#[derive(Deserialize)]
struct Row {
    #[serde(rename = "Transport Type", default)]
    transport: Value,
    #[serde(rename = "Transit Size(MB)", default)]
    size: Value,
    #[serde(rename = "Transit Time(ms)", default)]
    time: Value,
}

/// Reads the links between different ranks, summed over steps and operators. Notes describe unusable parts.
pub(super) fn read(bytes: &[u8], notes: &mut Vec<String>) -> Vec<Link> {
    let matrix: Matrix = match serde_json::from_slice(bytes) {
        Ok(matrix) => matrix,
        Err(error) => {
            notes.push(format!("communication_matrix: {error}"));
            return Vec::new();
        }
    };
    let mut links = Links::default();
    for operators in matrix.into_values().flat_map(BTreeMap::into_values) {
        let has_total = operators.keys().any(|name| name.contains(TOTAL));
        let counted = operators
            .into_iter()
            .filter(|(name, _)| !has_total || name.contains(TOTAL));
        for (ranks, row) in counted.flat_map(|(_, rows)| rows) {
            let bytes = scaled(&row.size, MEGABYTE);
            let nanos = scaled(&row.time, MILLISECOND);
            let transport = row.transport.as_str().unwrap_or_default();
            links.add(&ranks, [(transport, bytes, nanos)].into_iter());
        }
    }
    links.finish("communication_matrix", notes)
}

/// Links that are being summed.
#[derive(Default)]
pub(super) struct Links {
    sums: BTreeMap<(u32, u32), Link>,
    odd: u64,
    lost: u64,
}

impl Links {
    /// Adds hardware, bytes and nanoseconds of a pair of ranks, `"0-1"`. A rank has no link to itself.
    pub(super) fn add<'a>(
        &mut self,
        ranks: &str,
        costs: impl Iterator<Item = (&'a str, u64, u64)>,
    ) {
        let Some((source, destination)) = pair(ranks) else {
            self.odd += 1;
            return;
        };
        if source == destination {
            return;
        }
        if self.sums.len() >= MAX_LINKS && !self.sums.contains_key(&(source, destination)) {
            self.lost += 1;
            return;
        }
        let link = self
            .sums
            .entry((source, destination))
            .or_insert_with(|| Link::new(source, destination));
        for (transport, bytes, nanos) in costs {
            link.bytes = link.bytes.saturating_add(bytes);
            link.nanos = link.nanos.saturating_add(nanos);
            if link.transport.is_empty() {
                transport.clone_into(&mut link.transport);
            }
        }
    }

    /// The links, and notes about entries that are not among them.
    pub(super) fn finish(self, file: &str, notes: &mut Vec<String>) -> Vec<Link> {
        let Self { sums, odd, lost } = self;
        if odd > 0 {
            notes.push(format!("{file}: {odd} entries have no pair of ranks"));
        }
        if lost > 0 {
            notes.push(format!(
                "{file}: {lost} entries exceed the limit of {MAX_LINKS} pairs of ranks"
            ));
        }
        sums.into_values().collect()
    }
}

/// `"0-1"`.
pub(super) fn pair(ranks: &str) -> Option<(u32, u32)> {
    let (source, destination) = ranks.split_once('-')?;
    Some((source.parse().ok()?, destination.parse().ok()?))
}

/// A number, or its text, times a unit; 0 for anything else and for negative numbers.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "casts of floats saturate, and NaN is 0"
)]
pub(super) fn scaled(value: &Value, unit: f64) -> u64 {
    let number = value.as_f64().or_else(|| value.as_str()?.parse().ok());
    number.map_or(0, |number| (number * unit).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links(text: &str) -> (Vec<Link>, Vec<String>) {
        let mut notes = Vec::new();
        (read(text.as_bytes(), &mut notes), notes)
    }

    #[test]
    fn steps_and_operators_of_a_pair_are_summed() {
        let (links, notes) = links(
            r#"{"step1": {"p2p": {}, "collective": {
                "hcom_allReduce__1@7": {
                    "0-0": {"Transport Type": "LOCAL", "Transit Size(MB)": 9, "Transit Time(ms)": 9},
                    "0-1": {"Transport Type": "HCCS", "Transit Size(MB)": 1.5, "Transit Time(ms)": 0.25}},
                "hcom_allReduce__2@7": {"0-1": {"Transit Size(MB)": "2.5", "Transit Time(ms)": "N/A"}}}},
              "step2": {"p2p": {"hcom_send__1@7": {"0-1": {"Transit Size(MB)": 1, "Transit Time(ms)": 0.75},
                "?": {}}}}}"#,
        );
        assert_eq!(
            links,
            [Link {
                source: 0,
                destination: 1,
                bytes: 5_000_000,
                nanos: 1_000_000,
                transport: "HCCS".to_owned(),
            }]
        );
        assert_eq!(notes.len(), 1, "{notes:?}");
    }

    #[test]
    fn sums_are_not_counted_beside_their_parts() {
        let (links, _) = links(
            r#"{"step": {"collective": {
                "allreduce-top1@7": {"2-3": {"Transit Size(MB)": 1, "Transit Time(ms)": 1}},
                "allreduce-total@7": {"2-3": {"Transit Size(MB)": 4, "Transit Time(ms)": 2}}}}}"#,
        );
        assert_eq!((links[0].bytes, links[0].nanos), (4_000_000, 2_000_000));
    }

    #[test]
    fn what_is_no_matrix_is_a_note() {
        for text in ["", "[]", r#"{"step": {"collective": {"a": 3}}}"#] {
            let (links, notes) = links(text);
            assert!(links.is_empty() && notes.len() == 1, "{text}");
        }
        let negative = r#"{"s": {"c": {"o": {"0-1": {"Transit Size(MB)": -1}}}}}"#;
        assert_eq!(links(negative).0[0].bytes, 0);
    }
}
