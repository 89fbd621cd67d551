//! What is watched for in which run: the files `.trainscope/watchpoints.toml` of the base directories.
//!
//! A file holds a list for all runs below its base directory, and lists of their own for some of them, by name. Both
//! the server and `check` read it here. The file is the truth; people edit it too.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use trainscope_analysis::watchpoint::Watchpoints;
use trainscope_api::watchpoints::Origin;

mod catalogue;
mod edit;
mod file;
mod parse;

pub(crate) use catalogue::{catalogue, name_of, words};
pub(crate) use file::{ChangeError, WatchpointFile};
pub(crate) use parse::{Wrong, parse};

/// What a file says.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sets {
    /// For all runs; `None`: it does not say.
    pub(crate) base: Option<Watchpoints>,
    /// For some of them, by their names below the base directory.
    pub(crate) runs: BTreeMap<String, Watchpoints>,
}

static RECOMMENDED: LazyLock<Watchpoints> = LazyLock::new(Watchpoints::recommended);

impl Sets {
    /// What is watched for in a run, and who says so.
    pub(crate) fn of(&self, run: &str) -> (&Watchpoints, Origin) {
        match (self.runs.get(run), &self.base) {
            (Some(own), _) => (own, Origin::Run),
            (None, Some(base)) => (base, Origin::Base),
            (None, None) => (&RECOMMENDED, Origin::Recommended),
        }
    }
}
