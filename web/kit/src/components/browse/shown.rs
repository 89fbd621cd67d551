//! Runs drawn by a page: those of the URL, otherwise the page's run, with the others of its folder in the list.

use std::sync::Arc;

use trainscope_api::order::natural;

use super::HIDE;
use crate::parameters::RUNS;
use crate::prelude::*;
use crate::run_name::split_name;
use crate::state::use_runs;
use crate::url_state::UrlState;

/// Maximum number of runs of a folder that are listed, and drawn together on one click.
const MAX_TOGETHER: usize = 50;

/// Names of runs, in their order.
pub type RunNames = Memo<Arc<Vec<String>>>;

/// Displayed and hidden runs.
pub fn chosen_runs(url: UrlState, page_run: Memo<String>) -> (RunNames, RunNames) {
    let runs = use_runs();
    let (asked, hide) = (url.setting(RUNS), url.setting(HIDE));
    let shown = Memo::new(move |_| {
        let hide = hide.get();
        let mut shown = asked.get();
        if shown.is_empty() {
            shown.push(page_run.get());
        }
        runs.with(|list| {
            // A link may name runs that no longer exist; their data would never arrive.
            if !list.runs.is_empty() && !list.cut {
                shown.retain(|run| list.runs.iter().any(|known| known.id == *run));
            }
        });
        shown.retain(|run| !hide.contains(run));
        shown.sort_by(|a, b| natural(a, b));
        shown.dedup();
        Arc::new(shown)
    });
    let hidden = Memo::new(move |_| {
        let mut hidden = hide.get();
        if asked.with(Vec::is_empty) && hidden.is_empty() {
            hidden = page_run.with(|page_run| {
                runs.with(|list| neighbours(page_run, list.runs.iter().map(|run| run.id.as_str())))
            });
        }
        shown.with(|shown| hidden.retain(|run| !shown.contains(run)));
        hidden.sort_by(|a, b| natural(a, b));
        hidden.dedup();
        Arc::new(hidden)
    });
    (shown, hidden)
}

/// The other runs of a run's folder; empty if they are too many.
pub(super) fn neighbours<'a>(page_run: &str, runs: impl Iterator<Item = &'a str>) -> Vec<String> {
    let home = split_name(page_run).0;
    let is_beside = |run: &&str| *run != "." && *run != page_run && split_name(run).0 == home;
    let found: Vec<String> = runs.filter(is_beside).map(str::to_owned).collect();
    if found.len() >= MAX_TOGETHER || page_run == "." {
        return Vec::new();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_the_other_runs_of_the_folder_unless_they_are_many() {
        let runs = ["a/x", "a/y", "b/z", "c"];
        assert_eq!(neighbours("a/x", runs.into_iter()), ["a/y"]);
        assert_eq!(neighbours("c", runs.into_iter()), [""; 0]);
        let many: Vec<String> = (0..60).map(|n| format!("m/{n}")).collect();
        let few = many.iter().take(20).map(String::as_str);
        assert_eq!(neighbours("m/3", few).len(), 19);
        assert_eq!(neighbours("m/3", many.iter().map(String::as_str)), [""; 0]);
        assert_eq!(neighbours(".", runs.into_iter()), [""; 0]);
    }
}
