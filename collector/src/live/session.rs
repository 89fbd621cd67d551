//! Beginning and end of the session of a recording.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use trainscope_format::session::ByeReason;

use super::connection;
use super::machine::Event;
use super::state::LiveState;

/// Time that the end of a recording waits for its connection to close.
const CLOSE_WAIT: Duration = Duration::from_secs(1);

/// Connects a recording that has an address.
pub(crate) fn begin(live: &Arc<LiveState>) {
    for mistake in &live.settings.mistakes {
        live.note(format!("Live session: {mistake}."));
    }
    if let Some(address) = &live.settings.address
        && live.settings.is_allowed
    {
        let token = live.settings.token.clone();
        connect_to(live, address.clone(), token);
    }
}

/// Looks for an attach file, at most once a second. For the writing thread.
pub(crate) fn look_for_attach(live: &Arc<LiveState>) {
    if live.settings.is_allowed
        && let Some(file) = live.attach_file()
    {
        connect_to(live, file.address, file.token);
    }
}

fn connect_to(live: &Arc<LiveState>, address: String, token: Option<String>) {
    let mut core = live.core();
    if core.sender.is_some() {
        return;
    }
    core.address = Some(address);
    core.token = token;
    core.retry_at = None;
    core.apply(Event::Address);
    live.publish(&core);
    live.changed.notify_all();
    if std::mem::replace(&mut core.has_thread, true) {
        return;
    }
    let for_thread = Arc::clone(live);
    let thread = thread::Builder::new()
        .name(connection::THREAD_NAME.to_owned())
        .spawn(move || connection::run(&for_thread));
    if let Err(error) = thread {
        core.has_thread = false;
        drop(core);
        live.note(format!("Live session: no thread: {error}."));
    }
}

/// Ends the session: says goodbye and closes the connection, in at most a second.
pub(crate) fn end(live: &LiveState, reason: ByeReason) {
    let mut core = live.core();
    if !core.has_thread {
        return;
    }
    let reason = if live.stop.load(Ordering::Relaxed) && reason == ByeReason::Finished {
        ByeReason::Stopped
    } else {
        reason
    };
    core.step = live.newest_step();
    core.apply(Event::Finish(reason));
    live.publish(&core);
    live.changed.notify_all();
    let begun = Instant::now();
    while core.has_thread {
        let Some(rest) = CLOSE_WAIT.checked_sub(begun.elapsed()) else {
            break;
        };
        let waited = live.changed.wait_timeout(core, rest);
        core = waited.unwrap_or_else(PoisonError::into_inner).0;
    }
}

/// The absolute path of a run.
pub(crate) fn canonical(folder: &Path) -> PathBuf {
    folder
        .canonicalize()
        .or_else(|_| std::path::absolute(folder))
        .unwrap_or_else(|_| folder.to_path_buf())
}
