//! Which runs are drawn: what the address says, otherwise a run with its neighbours.

use std::sync::Arc;

use crate::erased::memo;
use crate::prelude::*;
use crate::state::use_runs;
use crate::url_state::UrlState;

/// Runs that are shown together without being asked for: as many as there are colours.
const MOST_TOGETHER: usize = 10;

/// Names of runs, in their order.
pub(crate) type RunNames = Memo<Arc<Vec<String>>>;

/// Which runs a page shows unless the address says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Company {
    /// Its own.
    Alone,
    /// Its own with its neighbours in the same folder, if they are few enough to be told apart.
    Neighbours,
}

/// Shown and hidden runs.
pub(crate) fn chosen_runs(
    url: UrlState,
    own: Memo<String>,
    company: Company,
) -> (RunNames, RunNames) {
    let runs = use_runs();
    let (asked, hide) = (url.list("runs"), url.list("hide"));
    let shown = memo(move || {
        let hide = hide.get();
        let mut shown = asked.get();
        if shown.is_empty() && company == Company::Alone {
            shown.push(own.get());
        } else if shown.is_empty() {
            shown = own.with(|own| {
                runs.with(|list| neighbours(own, list.runs.iter().map(|run| run.id.as_str())))
            });
        }
        runs.with(|list| {
            // A link may name runs that are no more; nothing would ever arrive for them.
            if !list.runs.is_empty() && !list.cut {
                shown.retain(|run| {
                    list.runs
                        .binary_search_by(|known| known.id.cmp(run))
                        .is_ok()
                });
            }
        });
        shown.retain(|run| !hide.contains(run));
        shown.sort();
        shown.dedup();
        Arc::new(shown)
    });
    let hidden = memo(move || {
        let mut hidden = hide.get();
        if asked.with(Vec::is_empty) && hidden.is_empty() {
            runs.with(|list| {
                if list.runs.len() <= MOST_TOGETHER {
                    hidden.extend(list.runs.iter().map(|run| run.id.clone()));
                }
            });
        }
        shown.with(|shown| hidden.retain(|run| !shown.contains(run)));
        hidden.sort();
        hidden.dedup();
        Arc::new(hidden)
    });
    (shown, hidden)
}

/// The run and those in the same folder, or the run alone if they are too many.
fn neighbours<'a>(own: &str, runs: impl Iterator<Item = &'a str>) -> Vec<String> {
    let folder = |run: &str| run.rsplit_once('/').map(|(folder, _)| folder.to_owned());
    let home = folder(own);
    let mut found: Vec<String> = runs
        .filter(|run| *run != "." && folder(run) == home)
        .map(str::to_owned)
        .collect();
    if found.len() > MOST_TOGETHER || own == "." {
        found.clear();
    }
    if !found.iter().any(|run| run == own) {
        found.push(own.to_owned());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_shown_with_its_neighbours_unless_they_are_many() {
        let runs = ["a/x", "a/y", "b/z", "c"];
        assert_eq!(neighbours("a/x", runs.into_iter()), ["a/x", "a/y"]);
        assert_eq!(neighbours("c", runs.into_iter()), ["c"]);
        let many: Vec<String> = (0..20).map(|n| format!("m/{n}")).collect();
        assert_eq!(neighbours("m/3", many.iter().map(String::as_str)), ["m/3"]);
        assert_eq!(neighbours(".", runs.into_iter()), ["."]);
    }
}
