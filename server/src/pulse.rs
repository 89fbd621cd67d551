//! Signs of life of the threads on which the server depends.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Maximum time between two beats of a thread that waits.
pub(crate) const REST: Duration = Duration::from_mins(1);
/// Time without a beat after which a thread counts as stuck.
const SILENCE: Duration = Duration::from_mins(5);

/// The signs of life of one thread, for others to check. Cloning is cheap.
#[derive(Clone)]
pub struct Pulse(Arc<Beats>);

struct Beats {
    begin: Instant,
    /// Time of the last beat, milliseconds since `begin`.
    last_millis: AtomicU64,
    has_ended: AtomicBool,
}

/// The right to give signs of life. The thread that holds it drops it when it ends, also in a panic.
pub(crate) struct Heart(Pulse);

impl Heart {
    /// A heart that has just beaten, and its pulse.
    pub(crate) fn new() -> (Self, Pulse) {
        let pulse = Pulse(Arc::new(Beats {
            begin: Instant::now(),
            last_millis: AtomicU64::new(0),
            has_ended: AtomicBool::new(false),
        }));
        (Self(pulse.clone()), pulse)
    }

    pub(crate) fn beat(&self) {
        let beats = &self.0.0;
        let millis = u64::try_from(beats.begin.elapsed().as_millis()).unwrap_or(u64::MAX);
        beats.last_millis.store(millis, Ordering::Relaxed);
    }
}

impl Drop for Heart {
    fn drop(&mut self) {
        self.0.0.has_ended.store(true, Ordering::Relaxed);
    }
}

impl Pulse {
    /// True if the thread runs and has come round within the last five minutes.
    pub(crate) fn is_beating(&self) -> bool {
        self.is_beating_at(Instant::now())
    }

    fn is_beating_at(&self, now: Instant) -> bool {
        let last = Duration::from_millis(self.0.last_millis.load(Ordering::Relaxed));
        let since = now.saturating_duration_since(self.0.begin + last);
        !self.0.has_ended.load(Ordering::Relaxed) && since < SILENCE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_ends_or_is_silent_for_five_minutes_has_no_pulse() {
        let (heart, pulse) = Heart::new();
        heart.beat();
        let now = Instant::now();
        assert!(pulse.is_beating());
        assert!(pulse.is_beating_at(now + REST));
        assert!(!pulse.is_beating_at(now + SILENCE + Duration::from_secs(1)));
        let panicked = std::thread::spawn(move || {
            let _heart = heart;
            std::panic::resume_unwind(Box::new(()));
        });
        assert!(panicked.join().is_err());
        assert!(!pulse.is_beating());
    }
}
