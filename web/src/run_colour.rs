//! The colour that a run keeps on every page: a stable hash of its name into ten, the next free one on collision, and
//! a pattern once all ten are taken.

use std::collections::HashMap;

use leptos::prelude::*;

/// How many colours there are; they come back with a pattern after that.
pub const COLOURS: u8 = 10;

/// What a run looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RunColour {
    /// 1 to 10: the custom properties `--run-1` to `--run-10`, the classes `run-1` to `run-10` (which set `--c`).
    pub number: u8,
    /// Drawn hollow (chips) or dashed 5 4 (lines), because the plain colour is another run's.
    pub pattern: bool,
}

impl RunColour {
    /// The colour of a number in the notebook: ten plain ones, then ten with a pattern.
    pub fn of(number: u8) -> Self {
        let slot = number.saturating_sub(1);
        Self {
            number: slot % COLOURS + 1,
            pattern: slot >= COLOURS,
        }
    }

    /// The class that sets `--c` to this colour.
    pub fn class(self) -> String {
        format!("run-{}", self.number)
    }

    /// The classes of a chip in this colour.
    pub fn chip_class(self) -> String {
        let pattern = if self.pattern { " hollow" } else { "" };
        format!("chip run-{}{pattern}", self.number)
    }
}

/// Assignments. A run that has a colour keeps it when others come or go.
#[derive(Clone, Debug, Default)]
pub struct Assigned {
    colours: HashMap<String, RunColour>,
    /// How often each colour is taken by the first runs, all folders together.
    first: [u32; SLOTS],
    /// What people have chosen instead.
    chosen: HashMap<String, RunColour>,
    /// How often each colour is taken in a folder.
    folders: HashMap<String, [u32; SLOTS]>,
}

const SLOTS: usize = COLOURS as usize;

impl Assigned {
    /// Gives each run that has none a colour, in the order of the iterator; ask in the order in which the runs began, so
    /// that they have the same colours in every browser, and keep them when others come. Whether there was such a run.
    ///
    /// The first twenty differ from each other. After that no look is left that nobody has, and what matters is that
    /// runs of one folder differ, because they are the ones that are compared.
    pub fn assign<'a>(&mut self, runs: impl IntoIterator<Item = &'a str>) -> bool {
        let mut any = false;
        for run in runs {
            if self.colours.contains_key(run) {
                continue;
            }
            any = true;
            let home = usize::from(home(run));
            let folder = run.rsplit_once('/').map_or("", |(folder, _)| folder);
            let in_folder = self.folders.entry(folder.to_owned()).or_default();
            let is_first = self.first.iter().any(|&used| used < 2);
            let used = if is_first { &self.first } else { &*in_folder };
            // The nearest slot, from the run's own on, that is plain; then one whose pattern is free.
            let free = |taken: u32| {
                let mut slots = (0..SLOTS).map(|offset| (home + offset) % SLOTS);
                slots.find(|&slot| used[slot] <= taken)
            };
            let slot = free(0).or_else(|| free(1)).unwrap_or(home);
            let pattern = used[slot] > 0;
            if is_first {
                self.first[slot] += 1;
            }
            in_folder[slot] += 1;
            let number = u8::try_from(slot + 1).unwrap_or(COLOURS);
            self.colours
                .insert(run.to_owned(), RunColour { number, pattern });
        }
        any
    }

    /// The colour of a run; of one that was never seen, its first choice.
    pub fn get(&self, run: &str) -> RunColour {
        let known = self.chosen.get(run).or_else(|| self.colours.get(run));
        known.copied().unwrap_or(RunColour {
            number: home(run) + 1,
            pattern: false,
        })
    }
}

/// FNV-1a, 32 bits: the same in every version of this program, which a hasher of the standard library does not promise.
fn home(run: &str) -> u8 {
    let hash = run.bytes().fold(0x811c_9dc5_u32, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    u8::try_from(hash % u32::from(COLOURS)).unwrap_or(0)
}

/// The colours of this page, shared by rail, table and charts.
#[derive(Clone, Copy)]
pub struct RunColours(RwSignal<Assigned>);

impl RunColours {
    /// Makes the shared assignments; [`crate::state`] feeds it with the list of runs.
    pub fn provide() -> Self {
        let colours = Self(RwSignal::new(Assigned::default()));
        provide_context(colours);
        colours
    }

    /// Takes over what was chosen: numbers of runs as [`RunColour::of`] reads them.
    pub fn choose(self, chosen: HashMap<String, RunColour>) {
        self.0.maybe_update(|assigned| {
            let is_news = assigned.chosen != chosen;
            assigned.chosen = chosen;
            is_news
        });
    }

    /// Gives new runs their colours, in this order.
    pub fn assign<'a>(self, runs: impl IntoIterator<Item = &'a str>) {
        self.0.maybe_update(|assigned| assigned.assign(runs));
    }

    /// The colour of a run; reactive.
    pub fn get(self, run: &str) -> RunColour {
        self.0.with(|assigned| assigned.get(run))
    }
}

/// The shared colours.
pub fn use_run_colours() -> RunColours {
    expect_context()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_runs_have_ten_colours_and_ten_more_have_patterns() {
        let names: Vec<String> = (0..25).map(|n| format!("run/{n:02}")).collect();
        let mut assigned = Assigned::default();
        assigned.assign(names.iter().map(String::as_str));
        let seen: std::collections::HashSet<_> =
            names[..20].iter().map(|name| assigned.get(name)).collect();
        assert_eq!(seen.len(), 20);
        assert!(names[..10].iter().all(|name| !assigned.get(name).pattern));
        assert!(names[10..].iter().all(|name| assigned.get(name).pattern));
    }

    #[test]
    fn later_runs_differ_within_their_folder() {
        let names: Vec<String> = (0..40)
            .map(|n| format!("folder-{}/{}", n / 8, n % 8))
            .collect();
        let mut assigned = Assigned::default();
        assert!(assigned.assign(names.iter().map(String::as_str)));
        for folder in names.chunks(8) {
            let seen: std::collections::HashSet<_> =
                folder.iter().map(|name| assigned.get(name)).collect();
            assert_eq!(seen.len(), 8, "{folder:?}");
        }
        assert!(names[24..].iter().all(|name| !assigned.get(name).pattern));
        assert!(!assigned.assign(names.iter().map(String::as_str)));
    }

    #[test]
    fn a_run_keeps_its_colour_when_others_come() {
        let mut assigned = Assigned::default();
        assigned.assign(["b", "d"]);
        let before = (assigned.get("b"), assigned.get("d"));
        assigned.assign(["a", "b", "c", "d"]);
        assert_eq!((assigned.get("b"), assigned.get("d")), before);
    }

    #[test]
    fn what_was_chosen_wins() {
        let mut assigned = Assigned::default();
        assigned.assign(["a", "b"]);
        let other = assigned.get("b");
        assigned.chosen.insert("a".to_owned(), RunColour::of(13));
        let chosen = assigned.get("a");
        assert_eq!((chosen.number, chosen.pattern), (3, true));
        assert_eq!(assigned.get("b"), other);
        assert_eq!(RunColour::of(10).number, 10);
    }

    #[test]
    fn the_hash_never_changes() {
        // FNV-1a of "a" is 0xe40c292c.
        assert_eq!(home("a"), u8::try_from(0xe40c_292c_u32 % 10).unwrap());
    }
}
