//! The colour that a run keeps on every page: the one that the server has given it, or that somebody has chosen.

use std::collections::HashMap;

use trainscope_api::runs::{RunList, home_colour};

use crate::prelude::*;

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
    /// The colour of a number as the server and the notebook have it: ten plain ones, then ten with a pattern.
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

/// Numbers of colours by the names of runs.
type Numbers = HashMap<String, u8>;

/// The colours of this page, shared by rail, table and charts.
#[derive(Clone, Copy)]
pub struct RunColours {
    given: RwSignal<Numbers>,
    chosen: RwSignal<Numbers>,
}

impl RunColours {
    /// Makes the shared colours; [`crate::state`] feeds them with the list of runs and the notebook.
    pub fn provide() -> Self {
        let colours = Self {
            given: RwSignal::new(Numbers::new()),
            chosen: RwSignal::new(Numbers::new()),
        };
        provide_context(colours);
        colours
    }

    /// Takes over what people have chosen.
    pub fn choose(self, chosen: Numbers) {
        self.chosen.maybe_update(|numbers| {
            let is_news = *numbers != chosen;
            *numbers = chosen;
            is_news
        });
    }

    /// Takes over what the server has given. Runs that are not in the list any more keep theirs.
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

    /// The colour of a run; reactive.
    pub fn get(self, run: &str) -> RunColour {
        let of = |numbers: RwSignal<Numbers>| numbers.with(|numbers| numbers.get(run).copied());
        let number = of(self.chosen).or_else(|| of(self.given));
        RunColour::of(number.unwrap_or_else(|| home_colour(run)))
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
    fn ten_are_plain_and_ten_have_a_pattern() {
        let all: Vec<_> = (1..=20).map(RunColour::of).collect();
        assert_eq!((all[0].number, all[0].pattern), (1, false));
        assert_eq!((all[9].number, all[9].pattern), (10, false));
        assert_eq!((all[12].number, all[12].pattern), (3, true));
        assert_eq!(all[12].chip_class(), "chip run-3 hollow");
    }
}
