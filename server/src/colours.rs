//! Colours of runs on the pages: assigned once and kept for all users, even as runs come and go.
//!
//! They are stored in the cache folder, separate from the index, so that a rebuilt index does not change colours. If
//! the file cannot be written, colours last as long as the server.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use trainscope_api::notebook::MAX_COLOUR;
use trainscope_api::runs::home_colour;

use crate::files::replace;
use crate::index;

/// Number of looks: ten colours, then the same ten with a dash pattern.
const LOOKS: usize = MAX_COLOUR as usize;
const PLAIN: usize = LOOKS / 2;
/// Maximum number of stored names; above it, those of vanished runs are dropped.
const MAX_REMEMBERED: usize = 200_000;

type ColourTable = HashMap<String, u8>;

/// The colours of all runs of some base directories.
pub struct Colours {
    path: PathBuf,
    known: Mutex<ColourTable>,
    /// The last list of runs that got colours.
    given: Mutex<Arc<[Arc<str>]>>,
}

impl Colours {
    /// Loads stored colours. An unreadable file counts as empty.
    pub fn open(base_dirs: &[PathBuf], cache_dir: &Path) -> Self {
        let path = index::folder(cache_dir, base_dirs).with_extension("colours.json");
        let text = std::fs::read(&path).unwrap_or_default();
        let mut known: ColourTable = serde_json::from_slice(&text).unwrap_or_default();
        known.retain(|_, colour| (1..=MAX_COLOUR).contains(colour));
        Self {
            path,
            known: Mutex::new(known),
            given: Mutex::default(),
        }
    }

    /// Gives each new run a colour, in the order of the list. The same list again costs nothing.
    pub(crate) fn give(&self, runs: &Arc<[Arc<str>]>) {
        let mut given = self.given.lock();
        if Arc::ptr_eq(&given, runs) {
            return;
        }
        let mut known = self.known.lock();
        if assign(&mut known, runs.iter().map(|run| &**run)) {
            let text = serde_json::to_string(&*known).unwrap_or_default();
            if let Err(error) = replace(&self.path, &text) {
                tracing::debug!(%error, "colours are not remembered");
            }
        }
        *given = Arc::clone(runs);
    }

    /// The colour of a run; 0 before it has one.
    pub(crate) fn of(&self, run: &str) -> u8 {
        self.known.lock().get(run).copied().unwrap_or_default()
    }
}

/// Assigns colours to new runs; returns true if there were any. Within a folder, unused looks and then unused hues are
/// preferred; after that plain looks, rarely used ones, and the hue from the run's name.
fn assign<'a>(known: &mut ColourTable, runs: impl Iterator<Item = &'a str> + Clone) -> bool {
    let mut everywhere = [0_u32; LOOKS];
    let mut folders: HashMap<&str, [u32; LOOKS]> = HashMap::new();
    let mut fresh = Vec::new();
    for run in runs.clone() {
        let Some(colour) = known.get(run) else {
            fresh.push(run);
            continue;
        };
        let look = usize::from(*colour).saturating_sub(1) % LOOKS;
        everywhere[look] += 1;
        folders.entry(folder_of(run)).or_default()[look] += 1;
    }
    for run in &fresh {
        let folder = folders.entry(folder_of(run)).or_default();
        let home = usize::from(home_colour(run)).saturating_sub(1);
        let looks = (0..LOOKS).map(|turn| turn / PLAIN * PLAIN + (home + turn) % PLAIN);
        let rank = |look: &usize| {
            let of_hue = folder[look % PLAIN] + folder[look % PLAIN + PLAIN];
            (folder[*look], of_hue, *look >= PLAIN, everywhere[*look])
        };
        // Of equal looks the first: the hue from the run's name, unless another one is preferred.
        let look = looks.min_by_key(rank).unwrap_or(home);
        everywhere[look] += 1;
        folder[look] += 1;
        let colour = u8::try_from(look + 1).unwrap_or(1);
        known.insert((*run).to_owned(), colour);
    }
    if known.len() > MAX_REMEMBERED {
        let there: std::collections::HashSet<&str> = runs.collect();
        known.retain(|run, _| there.contains(&**run));
    }
    !fresh.is_empty()
}

fn folder_of(run: &str) -> &str {
    run.rsplit_once('/').map_or("", |(folder, _)| folder)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn given(known: &mut ColourTable, names: &[String]) -> Vec<u8> {
        assign(known, names.iter().map(String::as_str));
        names.iter().map(|name| known[name]).collect()
    }

    #[test]
    fn twenty_runs_have_twenty_looks_and_the_first_ten_are_plain() {
        let names: Vec<String> = (0..25).map(|n| format!("run/{n:02}")).collect();
        let looks = given(&mut ColourTable::new(), &names);
        assert_eq!(looks[..20].iter().collect::<HashSet<_>>().len(), 20);
        assert!(looks[..10].iter().all(|look| *look <= 10), "{looks:?}");
        assert!(looks[10..20].iter().all(|look| *look > 10), "{looks:?}");
    }

    #[test]
    fn of_many_runs_those_of_a_folder_differ() {
        let names: Vec<String> = (0..40)
            .map(|n| format!("folder-{}/{}", n / 8, n % 8))
            .collect();
        let looks = given(&mut ColourTable::new(), &names);
        for folder in looks.chunks(8) {
            assert_eq!(folder.iter().collect::<HashSet<_>>().len(), 8, "{folder:?}");
        }
        assert!(looks[24..].iter().all(|look| *look <= 10), "{looks:?}");
    }

    #[test]
    fn runs_of_a_folder_have_hues_of_their_own_after_many_runs_elsewhere() {
        let mut known = ColourTable::new();
        let elsewhere: Vec<String> = (0..27).map(|n| format!("{n}/run")).collect();
        given(&mut known, &elsewhere);
        let names = ["t/bf16", "t/fp16", "t/fp16-loss-scale"].map(str::to_owned);
        let mut hues: Vec<u8> = given(&mut known, &names)
            .iter()
            .map(|look| (look - 1) % 10)
            .collect();
        hues.sort_unstable();
        hues.dedup();
        assert_eq!(hues.len(), 3);
        assert!(known.values().all(|look| *look <= 10), "{known:?}");
    }

    #[test]
    fn a_run_keeps_its_colour_when_others_come_before_it_or_go() {
        let names: Vec<String> = ('d'..='n').map(String::from).collect();
        let mut known = ColourTable::new();
        let before = given(&mut known, &names);
        // One of these prefers each of the ten colours.
        let all: Vec<String> = ('a'..='z').map(String::from).collect();
        given(&mut known, &all);
        assert_eq!(given(&mut known, &names), before);
        assert_eq!(given(&mut known, &names[4..]), before[4..]);
        assert!(!assign(&mut known, ["d", "e"].into_iter()));
    }

    #[test]
    fn colours_outlive_the_server_and_a_file_that_is_no_list_counts_as_none() {
        let lab = tempfile::tempdir().unwrap();
        let bases = [PathBuf::from("/runs")];
        let give = |names: &[&str]| {
            let colours = Colours::open(&bases, lab.path());
            colours.give(&names.iter().map(|name| Arc::from(*name)).collect());
            names
                .iter()
                .map(|name| colours.of(name))
                .collect::<Vec<_>>()
        };
        // Both prefer the same colour; the first one has it.
        assert_eq!(home_colour("k"), home_colour("a"));
        let first = give(&["k"])[0];
        assert_eq!(first, home_colour("k"));
        let both = give(&["a", "k"]);
        assert_eq!(both[1], first);
        assert_ne!(both[0], first);
        let file = Colours::open(&bases, lab.path()).path;
        std::fs::write(&file, r#"{"k": 99"#).unwrap();
        assert_eq!(give(&["a"]), [home_colour("a")]);
    }
}
