//! Names and places of processes and threads.

use std::collections::HashMap;

use crate::trace::{Lane, LaneKind};

/// Hash map with a seed: keys come from untrusted files.
pub(super) type Map<K, V> = HashMap<K, V, foldhash::fast::RandomState>;

/// Lanes of asynchronous slices are below the threads of their process.
const ASYNC_SORT: i64 = 1 << 40;

/// Names and places of processes and threads, which may come before and after the events.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    pub(super) processes: Map<String, NamedPoint>,
    pub(super) threads: Map<(String, String), NamedPoint>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct NamedPoint {
    pub(super) name: String,
    pub(super) label: String,
    pub(super) sort: i64,
}

impl Names {
    /// Gives a lane the names that are known so far. `thread` is that of the file, without a depth.
    pub(super) fn give(&self, lane: &mut Lane, thread: &str) {
        if let Some(process) = self.processes.get(&lane.process) {
            let name = if process.name.is_empty() {
                &process.label
            } else {
                &process.name
            };
            name.clone_into(&mut lane.process_name);
            lane.process_sort = process.sort;
        }
        if lane.kind == LaneKind::Async {
            thread.clone_into(&mut lane.thread_name);
            lane.thread_sort = ASYNC_SORT;
            return;
        }
        let key = (lane.process.clone(), thread.to_owned());
        if let Some(thread) = self.threads.get(&key) {
            thread.name.clone_into(&mut lane.thread_name);
            lane.thread_sort = thread.sort;
        }
    }

    /// Label of a process, such as `GPU 0`; empty if it is missing.
    pub(super) fn label(&self, process: &str) -> &str {
        self.processes
            .get(process)
            .map_or("", |process| process.label.as_str())
    }
}
