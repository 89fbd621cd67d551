//! Operations of two data pipelines that correspond, and their parameters by name.

use std::collections::BTreeMap;

/// Index of the partner of each operation: the longest common subsequence of names. The work is the product of
/// both lengths; an answer has at most 500 operations.
pub fn matched(here: &[String], there: &[String]) -> Vec<Option<usize>> {
    let width = there.len() + 1;
    let mut best = vec![0_u32; (here.len() + 1) * width];
    for row in (0..here.len()).rev() {
        for column in (0..there.len()).rev() {
            best[row * width + column] = if here[row] == there[column] {
                best[(row + 1) * width + column + 1] + 1
            } else {
                best[(row + 1) * width + column].max(best[row * width + column + 1])
            };
        }
    }
    let mut column = 0;
    let partner = |(row, own): (usize, &String)| {
        while column < there.len() {
            let skipped = best[row * width + column] == best[(row + 1) * width + column];
            if *own == there[column] && !skipped {
                column += 1;
                return Some(column - 1);
            }
            if skipped {
                return None;
            }
            column += 1;
        }
        None
    };
    here.iter().enumerate().map(partner).collect()
}

/// Parameters by name; those of parts, which are transforms or a sampler, with the name of the part before them.
pub fn parameters_by_name<'a>(
    parameters: &[(String, String)],
    parts: impl Iterator<Item = (&'a str, &'a [(String, String)])>,
) -> BTreeMap<String, String> {
    let mut all: BTreeMap<String, String> = parameters.iter().cloned().collect();
    for (index, (part, parameters)) in parts.enumerate() {
        all.insert(format!("{} {part}", index + 1), String::new());
        for (name, value) in parameters {
            all.insert(format!("{part}.{name}"), value.clone());
        }
    }
    all
}
