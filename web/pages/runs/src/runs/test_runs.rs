//! Runs for the tests of this page.

use std::collections::BTreeMap;

use trainscope_api::runs::{File, FileStatus, Run, RunStatus};

/// A run that stopped, with one whole file and nothing recorded.
pub(super) fn run(id: &str) -> Run {
    Run {
        id: id.to_owned(),
        colour: 1,
        status: RunStatus::Stopped,
        first_wall_time_secs: None,
        last_wall_time_secs: None,
        last_step: None,
        kinds: BTreeMap::new(),
        ranks: vec![0],
        files: vec![File {
            path: format!("{id}/events"),
            status: FileStatus::Complete,
            offset: None,
            reason: None,
            format: "tfevents".to_owned(),
            len_bytes: 10,
            read_bytes: 10,
            records: 1,
            unread: BTreeMap::new(),
            skipped_records: 0,
            lost_records: 0,
            skipped_bytes: 0,
        }],
        files_cut: false,
        hparams: BTreeMap::new(),
        health: None,
        profile: None,
        len_bytes: 10,
        loss: None,
        metric: None,
        session: None,
    }
}
