//! Comparison of runs: one implementation for the command, the API and the report.
//!
//! Event files come from the index, so they are read once for all runs. Elements of tensors are read for steps and
//! tensors in view, or where the first parting needs them, and each difference is kept by the fingerprint of its files:
//! another tolerance reads nothing again.

mod alignment;
mod cells;
mod configuration;
mod elements;
mod facts;
mod findings;
mod graph;
mod known;
mod map;
mod pair;
mod pipelines;
mod recorded;
mod scalars;
mod statistics;
mod walk;

use std::time::Instant;

use tokio_util::sync::CancellationToken;
use trainscope_api::compare::{AgainstBase, Align};

use crate::index::Index;
use crate::queries::error::Failure;
use crate::table::Row;

pub(crate) use configuration::{files, long_settings, settings};
pub(crate) use findings::findings;
pub use known::Comparisons;
pub(crate) use map::map;

/// A run to compare.
#[derive(Clone, Copy)]
pub(crate) struct Side<'a> {
    pub(crate) index: &'a Index,
    /// Name in the index.
    pub(crate) run: &'a str,
    /// Name in sentences.
    pub(crate) title: &'a str,
    /// Its row in the table of runs.
    pub(crate) row: &'a Row,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Options {
    /// Largest relative difference that counts as equal.
    pub(crate) tolerance: f64,
    /// First step of the base.
    pub(crate) since: Option<i64>,
    pub(crate) align: Align,
    /// True to read all tensors until each has parted.
    pub(crate) all: bool,
}

/// Limits of the work for one answer.
#[derive(Clone)]
pub(crate) struct Effort {
    /// Time after which no further step is begun; `None` for the command.
    pub(crate) until: Option<Instant>,
    /// Cancelled when the client has left.
    pub(crate) gone: CancellationToken,
}

impl Effort {
    fn is_over(&self) -> bool {
        self.gone.is_cancelled() || self.until.is_some_and(|until| Instant::now() >= until)
    }
}

/// Compares a run with the base. `display` changes names before they enter sentences.
pub(crate) fn compare(
    known: &Comparisons,
    base: Side<'_>,
    other: Side<'_>,
    options: Options,
    effort: &Effort,
    display: &dyn Fn(&str) -> String,
) -> Result<AgainstBase, Failure> {
    let [ours, theirs] = [known.recorded(base)?, known.recorded(other)?];
    let pair = pair::Pair::new([base, other], [&ours, &theirs], options)?;
    let state = known.state(&pair);
    let mut state = state.lock();
    state.scalars.update(&pair)?;
    state.statistics.update(&pair)?;
    state.walk.go_on(&pair, known.cells(), effort, options);
    let mut answer = facts::answer(&pair, &state, options, known.cells(), display);
    answer.pipeline = pipelines::differences(base, other);
    Ok(answer)
}
