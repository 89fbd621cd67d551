//! Notes whose runs do not exist, as after a folder was renamed, each with a run of a similar name.

use std::collections::HashSet;

use parking_lot::Mutex;
use trainscope_api::notebook::{MAX_NAME_BYTES, Notebook, StrayNotes};
use trainscope_api::runs::{Run, RunStatus};

/// Neighbours of a name on each side that are compared with it.
const NEIGHBOURS: usize = 4;
/// Maximum number of bytes between the common beginning and end of two names that are compared: the time is their
/// square, and names of longer differences are not similar.
const MAX_DIFFERENCE: usize = 64;

/// Stray notes of the last requested names: pages ask far more often than names change.
#[derive(Default)]
pub(super) struct Strays(Mutex<Answer>);

#[derive(Default)]
struct Answer {
    strays: Vec<String>,
    free: Vec<String>,
    found: Vec<StrayNotes>,
}

impl Strays {
    pub(super) fn of(&self, notebook: &Notebook, runs: &[Run]) -> Vec<StrayNotes> {
        let there = runs.iter().filter(|run| run.status != RunStatus::Gone);
        let there: HashSet<&str> = there.map(|run| &*run.id).collect();
        let names = notebook
            .runs
            .keys()
            .filter(|name| !there.contains(&***name));
        let strays: Vec<String> = names.cloned().collect();
        let free = there
            .iter()
            .filter(|name| !notebook.runs.contains_key(**name));
        let mut free: Vec<String> = free.map(|name| (*name).to_owned()).collect();
        free.sort_unstable();
        let mut known = self.0.lock();
        if known.strays != strays || known.free != free {
            let found = find(&strays, &free);
            *known = Answer {
                strays,
                free,
                found,
            };
        }
        known.found.clone()
    }
}

/// The most similar free name of each stray. A renamed run has the beginning or the end of its name, so it is next to
/// the new name in the order of names, or in the order of reversed names.
fn find(strays: &[String], free: &[String]) -> Vec<StrayNotes> {
    let backwards = |name: &str| -> Vec<u8> { name.bytes().rev().collect() };
    let mut reversed: Vec<(Vec<u8>, &str)> =
        free.iter().map(|name| (backwards(name), &**name)).collect();
    reversed.sort_unstable();
    let around = |at: usize| at.saturating_sub(NEIGHBOURS)..(at + NEIGHBOURS).min(free.len());
    let similar_to = |wanted: &str| {
        if wanted.len() > MAX_NAME_BYTES {
            return None;
        }
        let reversed_name = backwards(wanted);
        let by_begin = &free[around(free.partition_point(|name| **name < *wanted))];
        let by_end = &reversed[around(reversed.partition_point(|(name, _)| *name < reversed_name))];
        let all = by_begin.iter().map(|name| &**name);
        let all = all.chain(by_end.iter().map(|(_, name)| *name));
        let all = all.filter_map(|name| Some((edits(wanted, name)?, name)));
        all.min().map(|(_, name)| name)
    };
    let each = strays.iter().map(|run| StrayNotes {
        run: run.clone(),
        similar: similar_to(run).map(str::to_owned),
    });
    each.collect()
}

/// Number of edits between two names by which they are similar: two, or a third of the length.
fn edits(wanted: &str, name: &str) -> Option<usize> {
    let (mut one, mut other) = (wanted.as_bytes(), name.as_bytes());
    let begin = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    (one, other) = (&one[begin..], &other[begin..]);
    let ends = one.iter().rev().zip(other.iter().rev());
    let end = ends.take_while(|(a, b)| a == b).count();
    (one, other) = (&one[..one.len() - end], &other[..other.len() - end]);
    if one.len().max(other.len()) > MAX_DIFFERENCE {
        return None;
    }
    let edits = strsim::generic_damerau_levenshtein(one, other);
    (edits <= (wanted.len() / 3).max(2)).then_some(edits)
}
