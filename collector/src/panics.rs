//! Panic hook: the message of a panic becomes a note, and all queued records are written.

use std::panic::{self, PanicHookInfo};
use std::sync::{Arc, Mutex, Once, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use crate::entry::Payload;
use crate::notes;
use crate::shared::SharedState;

/// Time that a panic waits for the disk.
const PATIENCE: Duration = Duration::from_secs(2);

static RECORDING: Mutex<Vec<Weak<SharedState>>> = Mutex::new(Vec::new());

/// Registers a recording for the panic hook.
pub(crate) fn watch(shared: &Arc<SharedState>) {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            write_down(info);
            before(info);
        }));
    });
    let mut recording = RECORDING.lock().unwrap_or_else(PoisonError::into_inner);
    recording.retain(|one| one.strong_count() > 0);
    recording.push(Arc::downgrade(shared));
}

fn write_down(info: &PanicHookInfo<'_>) {
    // The writing thread cannot wait for itself.
    let thread = thread::current();
    if thread.name() == Some(crate::writer::THREAD_NAME) {
        return;
    }
    // Another thread may hold it while it starts to record.
    let Ok(recording) = RECORDING.try_lock() else {
        return;
    };
    for shared in recording.iter().filter_map(Weak::upgrade) {
        if shared.is_ours() {
            let step = shared.step.load(std::sync::atomic::Ordering::Relaxed);
            let name = thread.name().unwrap_or("without a name");
            let note = notes::text(format!("The thread {name} has panicked: {info}"));
            shared.push_record(
                shared.moment(step),
                Payload::Text(notes::TAG.to_owned(), note),
            );
            shared.queue.flush(PATIENCE);
        }
    }
}
