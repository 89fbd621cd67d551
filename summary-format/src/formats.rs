//! One module a format, and the order in which they claim a file.

pub mod mindspore_summary;
pub mod tfevents;

use crate::decode::Format;

/// Which format a file of this name is read as; the first claim wins.
pub(crate) fn sniff(file_name: &str) -> Option<Format> {
    if file_name.contains("tfevents") {
        return Some(Format::Tfevents);
    }
    let (_, after) = file_name.split_once("summary.")?;
    after
        .starts_with(|c: char| c.is_ascii_digit())
        .then_some(Format::MindsporeSummary)
}
