//! Watchpoints of each run: the files `.trainscope/watchpoints.toml` of the base directories.
//!
//! A file holds a list for all runs below its base directory, and separate lists for some of them, by name. Both the
//! server and `check` read it here. The file is the source of truth; users edit it too.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use trainscope_analysis::watchpoint::Watchpoints;
use trainscope_api::watchpoints::Origin;

mod catalogue;
mod edit;
mod file;
mod parse;

pub(crate) use catalogue::{catalogue, name_of};
pub(crate) use file::{ChangeError, WatchpointFile};
pub(crate) use parse::{Wrong, parse};

/// Content of a watchpoints file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sets {
    /// List for all runs; `None` if the file has none.
    pub(crate) base: Option<Watchpoints>,
    /// Lists of single runs, by their names below the base directory.
    pub(crate) runs: BTreeMap<String, Watchpoints>,
}

static RECOMMENDED: LazyLock<Watchpoints> = LazyLock::new(Watchpoints::recommended);

impl Sets {
    /// The watchpoints of a run, and their scope.
    pub(crate) fn of(&self, run: &str) -> (&Watchpoints, Origin) {
        match (self.runs.get(run), &self.base) {
            (Some(watchpoints), _) => (watchpoints, Origin::Run),
            (None, Some(base)) => (base, Origin::Base),
            (None, None) => (&RECOMMENDED, Origin::Recommended),
        }
    }
}
