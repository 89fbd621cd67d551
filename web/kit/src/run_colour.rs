//! The colour of a run on every page, chosen by a person or given by the server. Of two runs that are drawn together
//! and share a hue, the second has another hue in that view.

use std::collections::HashMap;
use std::sync::Arc;

use trainscope_api::runs::{RunList, home_colour};

use crate::prelude::*;

/// Number of colours; further runs repeat them with a pattern.
pub const COLOURS: u8 = 10;

/// Colour and pattern of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RunColour {
    /// 1 to 10: the custom properties `--run-1` to `--run-10`, the classes `run-1` to `run-10` (which set `--c`).
    pub number: u8,
    /// Drawn hollow (chips) or dashed 5 4 (lines), because the plain colour is another run's.
    pub pattern: bool,
}

impl RunColour {
    /// The colour of a number in the notebook or an answer: ten plain ones, then ten with a pattern.
    pub fn of(number: u8) -> Self {
        let slot = number.saturating_sub(1);
        Self {
            number: slot % COLOURS + 1,
            pattern: slot >= COLOURS,
        }
    }

    /// Its number in the notebook and in answers, starting at 1; the inverse of [`RunColour::of`].
    pub fn index(self) -> u8 {
        self.number + if self.pattern { COLOURS } else { 0 }
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

/// Numbers of colours by the names of runs.
type Numbers = HashMap<String, u8>;

/// Looks of the runs that are drawn together.
type Looks = HashMap<String, RunColour>;

/// The colours of this page, shared by rail, table and charts.
#[derive(Clone, Copy)]
pub struct RunColours {
    given: RwSignal<Numbers>,
    chosen: RwSignal<Numbers>,
    /// Runs that this page draws together, the most important first.
    together: RwSignal<Arc<Vec<String>>>,
    looks: Memo<Arc<Looks>>,
}

impl RunColours {
    /// Creates the shared colours; [`crate::state`] feeds them with the list of runs and the notebook.
    pub fn provide() -> Self {
        let given = RwSignal::new(Numbers::new());
        let chosen = RwSignal::new(Numbers::new());
        let together = RwSignal::new(Arc::new(Vec::new()));
        let looks = Memo::new(move |_| {
            let runs = together.get();
            chosen.with(|chosen| given.with(|given| Arc::new(distinct(&runs, chosen, given))))
        });
        let colours = Self {
            given,
            chosen,
            together,
            looks,
        };
        provide_context(colours);
        colours
    }

    /// Takes over the colours chosen by people.
    pub fn choose(self, chosen: Numbers) {
        self.chosen.maybe_update(|numbers| {
            let is_news = *numbers != chosen;
            *numbers = chosen;
            is_news
        });
    }

    /// Takes over the colours given by the server. Runs that are no longer in the list keep theirs.
    pub fn give(self, list: &RunList) {
        self.given.maybe_update(|given| {
            let mut is_news = false;
            for run in &list.runs {
                if given.get(&run.id) != Some(&run.colour) {
                    given.insert(run.id.clone(), run.colour);
                    is_news = true;
                }
            }
            is_news
        });
    }

    /// Sets the runs that this page draws together, the most important first; none when the page is left.
    pub fn draw_together(self, runs: Vec<String>) {
        if self.together.with_untracked(|before| **before != runs) {
            self.together.set(Arc::new(runs));
        }
    }

    /// The colour of a run; reactive.
    pub fn get(self, run: &str) -> RunColour {
        let look = self.looks.with(|looks| looks.get(run).copied());
        look.unwrap_or_else(|| self.alone(run))
    }

    /// True if a run has another hue on this page than elsewhere; reactive.
    pub fn is_changed(self, run: &str) -> bool {
        self.get(run).number != self.alone(run).number
    }

    /// The colour of a run that is drawn alone; reactive.
    fn alone(self, run: &str) -> RunColour {
        self.chosen
            .with(|chosen| self.given.with(|given| alone(run, chosen, given)))
    }
}

fn alone(run: &str, chosen: &Numbers, given: &Numbers) -> RunColour {
    let number = chosen.get(run).or_else(|| given.get(run)).copied();
    RunColour::of(number.unwrap_or_else(|| home_colour(run)))
}

/// Looks of runs that are drawn together: hues that people have chosen stay, then those that are free, in the order of
/// the runs. A run whose hue is taken has the next free one; with more runs than hues, they come back with a pattern.
fn distinct(runs: &[String], chosen: &Numbers, given: &Numbers) -> Looks {
    let mut looks = Looks::new();
    let mut uses = [0_u32; 2 * COLOURS as usize];
    let index = |number: u8| usize::from(number.saturating_sub(1)) % usize::from(COLOURS);
    let mut clashing = Vec::new();
    let (first, then): (Vec<_>, Vec<_>) = runs.iter().partition(|run| chosen.contains_key(*run));
    for run in first.into_iter().chain(then) {
        let colour = alone(run, chosen, given);
        let at = index(colour.number);
        if uses[at] == 0 || chosen.contains_key(run) {
            uses[at] += 1;
            let is_chosen = chosen.contains_key(run);
            let pattern = colour.pattern && is_chosen;
            looks.insert(run.clone(), RunColour { pattern, ..colour });
        } else {
            clashing.push((run, colour));
        }
    }
    for (run, colour) in clashing {
        let hues = usize::from(COLOURS);
        let all =
            (0..2 * hues).map(|turn| turn / hues * hues + (index(colour.number) + turn) % hues);
        let look = all.min_by_key(|look| uses[*look]).unwrap_or_default();
        uses[look] += 1;
        let number = u8::try_from(look + 1).unwrap_or(1);
        looks.insert(run.clone(), RunColour::of(number));
    }
    looks
}

/// The shared colours.
pub fn use_run_colours() -> RunColours {
    expect_context()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_are_plain_and_ten_have_a_pattern() {
        let all: Vec<_> = (1..=20).map(RunColour::of).collect();
        assert_eq!((all[0].number, all[0].pattern), (1, false));
        assert_eq!((all[9].number, all[9].pattern), (10, false));
        assert_eq!((all[12].number, all[12].pattern), (3, true));
        assert_eq!(all[12].chip_class(), "chip run-3 hollow");
    }

    fn looks(runs: &[(&str, u8)], chosen: &[(&str, u8)]) -> Vec<(u8, bool)> {
        let numbers = |pairs: &[(&str, u8)]| {
            let pairs = pairs
                .iter()
                .map(|(run, number)| ((*run).to_owned(), *number));
            pairs.collect::<Numbers>()
        };
        let names: Vec<String> = runs.iter().map(|(run, _)| (*run).to_owned()).collect();
        let looks = distinct(&names, &numbers(chosen), &numbers(runs));
        let look = |name: &String| (looks[name].number, looks[name].pattern);
        names.iter().map(look).collect()
    }

    #[test]
    fn runs_that_are_drawn_together_have_hues_of_their_own() {
        // Equal hues, one of them with a pattern; the second gives way, free ones stay.
        let all = looks(&[("a", 9), ("b", 19), ("c", 10), ("d", 14)], &[]);
        assert_eq!(all, [(9, false), (1, false), (10, false), (4, false)]);
        // A colour chosen by the user stays.
        let all = looks(&[("a", 3), ("b", 5)], &[("b", 3)]);
        assert_eq!(all, [(4, false), (3, false)]);
        let many: Vec<String> = (0..20).map(|n| format!("run-{n:02}")).collect();
        let many: Vec<(&str, u8)> = many.iter().map(|name| (&**name, 7)).collect();
        let mut all = looks(&many, &[]);
        assert!(all[..10].iter().all(|look| !look.1), "{all:?}");
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 20);
    }
}
