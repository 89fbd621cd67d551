//! The system's file events: hints when to walk again.
//!
//! Hints may be lost (network mounts, watch limits), so they only shorten the wait until the next walk, which decides.

use std::path::PathBuf;
use std::sync::{Arc, mpsc};

use notify::Watcher as _;
use parking_lot::Mutex;
use rustc_hash::FxHashSet;

use super::base::Base;
use crate::files;

/// Paths that may have changed, gathered until they are taken.
#[derive(Clone, Default)]
pub(crate) struct Hints(Arc<Mutex<FxHashSet<PathBuf>>>);

/// Maximum number of hints; above it, everything is scanned.
const MAX_HINTS: usize = 10_000;

impl Hints {
    /// Takes the collected paths; `None` means that anything may have changed.
    pub(crate) fn take(&self) -> Option<Vec<PathBuf>> {
        let hints = std::mem::take(&mut *self.0.lock());
        (hints.len() < MAX_HINTS).then(|| hints.into_iter().collect())
    }
}

/// Requests file events below `bases`; the first hint after each [`Hints::take`] calls `wake`. The watcher lives as
/// long as the returned sender. Setting it up takes long for many folders and happens on a separate thread, which then
/// calls `ready`: earlier changes are not reported.
pub(crate) fn events(
    bases: &[Base],
    hints: Hints,
    wake: impl Fn() + Send + 'static,
    ready: impl Fn() + Send + 'static,
    problem: impl Fn(String) + Send + 'static,
) -> mpsc::Sender<()> {
    let (alive, ended) = mpsc::channel::<()>();
    let dirs = bases.iter().map(|base| base.dir.clone());
    // Stores report nothing.
    let dirs: Vec<PathBuf> = dirs.filter(|dir| !files::is_address(dir)).collect();
    let set_up = move || {
        let handler = move |event: notify::Result<notify::Event>| {
            let Ok(event) = event else { return };
            if event.kind.is_access() {
                return;
            }
            let mut hints = hints.0.lock();
            let first = hints.is_empty();
            if hints.len() < MAX_HINTS {
                hints.extend(event.paths);
            }
            drop(hints);
            if first {
                wake();
            }
        };
        let watched = notify::recommended_watcher(handler).and_then(|mut watcher| {
            dirs.iter()
                .try_for_each(|dir| watcher.watch(dir, notify::RecursiveMode::Recursive))?;
            Ok(watcher)
        });
        match watched {
            Ok(_watcher) => {
                ready();
                // Waits until the other end is dropped: nothing is ever sent.
                let _ended = ended.recv();
            }
            Err(e) => problem(format!(
                "The system reports no file events ({e}); changes are found by looking again."
            )),
        }
    };
    if let Err(e) = std::thread::Builder::new()
        .name("watch".to_owned())
        .spawn(set_up)
    {
        tracing::warn!("no thread for file events: {e}");
    }
    alive
}
