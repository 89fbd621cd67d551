//! Tables of totals, which are only compared with the executions.

use std::collections::BTreeMap;

use super::MindsporeFiles;
use super::executions::{Total, Totals};

/// The tables have six digits.
const RELATIVE_TOLERANCE: f64 = 1e-5;

/// Adds a note for each table that differs from the executions.
pub(super) fn compare(files: &MindsporeFiles<'_>, totals: &Totals, notes: &mut Vec<String>) {
    let columns = ["op_type", "type_occurrences", "total_compute_time"];
    if let Some(bytes) = files.types {
        notes.extend(differences(
            "cpu_op_type_info",
            bytes,
            columns,
            &totals.types,
        ));
    }
    let columns = ["full_op_name", "op_occurrences", "op_total_time"];
    if let Some(bytes) = files.details {
        notes.extend(differences(
            "cpu_op_detail_info",
            bytes,
            columns,
            &totals.names,
        ));
    }
}

/// A note if a table differs. Columns are found by the start of their names, because units follow it.
pub(super) fn differences(
    table: &str,
    bytes: &[u8],
    columns: [&str; 3],
    totals: &BTreeMap<String, Total>,
) -> Option<String> {
    let mut reader = csv::ReaderBuilder::new()
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(bytes);
    let header = reader.byte_headers().ok()?.clone();
    let place = |column: &str| {
        let begins = |field: &[u8]| field.starts_with(column.as_bytes());
        header.iter().position(begins)
    };
    let [Some(name), Some(count), Some(millis)] = columns.map(place) else {
        return Some(format!("{table}: not the columns of such a table"));
    };
    let mut missing: BTreeMap<&str, &Total> = totals.iter().map(|(k, v)| (&**k, v)).collect();
    let (mut rows, mut different, mut first, mut unread) = (0_u64, 0_u64, None, 0_u64);
    for record in reader.byte_records() {
        rows += 1;
        let row = record.ok().and_then(|record| {
            let text = |index| str::from_utf8(record.get(index)?).ok();
            let count: u64 = text(count)?.parse().ok()?;
            let millis: f64 = text(millis)?.parse().ok()?;
            Some((text(name)?.to_owned(), count, millis))
        });
        let Some((name, count, millis)) = row else {
            unread += 1;
            continue;
        };
        let total = totals.get(&name).copied().unwrap_or_default();
        missing.remove(&*name);
        let executed = total.nanos as f64 / 1e6;
        let is_near = (executed - millis).abs() <= RELATIVE_TOLERANCE * millis.abs().max(executed);
        if count != total.count || !is_near {
            different += 1;
            first.get_or_insert_with(|| {
                format!(
                    "{name}: {count} times, {millis} ms there; {} times, {executed} ms executed",
                    total.count
                )
            });
        }
    }
    let mut faults = Vec::new();
    if let Some(first) = first {
        faults.push(format!(
            "{different} of {rows} rows differ from the executions, the first {first}"
        ));
    }
    if !missing.is_empty() {
        faults.push(format!("{} are missing", missing.len()));
    }
    if unread > 0 {
        faults.push(format!("{unread} of {rows} rows could not be read"));
    }
    (!faults.is_empty()).then(|| format!("{table}: {}", faults.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_said() {
        let total = |count, nanos| Total { count, nanos };
        let totals = BTreeMap::from([
            ("Mul".to_owned(), total(2, 1_234_567)),
            ("Add".to_owned(), total(1, 10)),
        ]);
        let columns = ["op_type", "type_occurrences", "total_compute_time"];
        let of = |rows: &str| {
            let text = format!("op_type,type_occurrences,total_compute_time\n{rows}");
            differences("table", text.as_bytes(), columns, &totals)
        };
        assert_eq!(of("Mul,2,1.23457\nAdd,1,1e-05\n"), None);
        assert_eq!(
            of("Mul,2,1.23457\n").as_deref(),
            Some("table: 1 are missing")
        );
        let note = of("Mul,3,1.23457\nAdd,1,0.02\nSub,x,1\n").unwrap();
        assert_eq!(
            note,
            "table: 2 of 3 rows differ from the executions, the first Mul: 3 times, 1.23457 ms there; 2 times, \
             1.234567 ms executed; 1 of 3 rows could not be read"
        );
        let other = differences("table", b"a,b\n", columns, &totals).unwrap();
        assert!(other.contains("not the columns"), "{other}");
    }
}
