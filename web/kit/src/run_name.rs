//! Parts of a run's name: folders, the last segment, and the shortest unambiguous end.

use std::collections::{BTreeMap, HashMap};

/// Folder and last segment of a run's name: `a/b/c` is (`a/b`, `c`).
pub fn split_name(run: &str) -> (&str, &str) {
    run.rsplit_once('/').unwrap_or(("", run))
}

/// The last segment of a run's name.
pub fn short_name(run: &str) -> &str {
    split_name(run).1
}

/// Names of the runs with an ambiguous last segment, extended by segments until they are unique.
pub fn longer_names<'a>(runs: impl IntoIterator<Item = &'a str>) -> BTreeMap<String, String> {
    let mut names = BTreeMap::new();
    let mut alike: Vec<&str> = runs.into_iter().collect();
    let mut segments = 1;
    while !alike.is_empty() {
        let mut sharing: HashMap<&str, u32> = HashMap::new();
        for run in &alike {
            *sharing.entry(last_segments(run, segments)).or_default() += 1;
        }
        alike.retain(|run| {
            let name = last_segments(run, segments);
            let is_told = sharing[name] == 1 || name == *run;
            if is_told && segments > 1 {
                names.insert((*run).to_owned(), name.to_owned());
            }
            !is_told
        });
        segments += 1;
    }
    names
}

/// The last `segments` segments of a run's name, or the whole name.
fn last_segments(run: &str, segments: usize) -> &str {
    let before = run.rmatch_indices('/').nth(segments - 1);
    before.map_or(run, |(at, _)| &run[at + 1..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_end_alike_are_told_apart() {
        let runs = ["run1", "a/run1", "x/a/run1", "b/run1", "b/run2", "run3"];
        let longer = longer_names(runs);
        let longer: Vec<_> = longer.iter().map(|(run, name)| (&**run, &**name)).collect();
        let expected = [
            ("a/run1", "a/run1"),
            ("b/run1", "b/run1"),
            ("x/a/run1", "x/a/run1"),
        ];
        assert_eq!(longer, expected);
        let deep = longer_names(["p/a/q/r", "p/b/q/r"]);
        assert_eq!(deep["p/a/q/r"], "a/q/r");
        assert!(longer_names(["a", "x/b", "x/c"]).is_empty());
    }
}
