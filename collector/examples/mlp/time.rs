//! A simulated clock, for reproducible files.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use crate::numbers::Random;

/// Start of the simulated clock, in seconds since 1970.
const BEGINS_SECS: u64 = 1_790_000_000;

/// Source of time.
#[derive(Clone)]
pub(crate) struct Time {
    /// Nanoseconds since 1970 of the simulated clock; `None` for real time.
    nanos: Option<Arc<AtomicU64>>,
    delay: Duration,
}

impl Time {
    pub(crate) fn new(is_made_up: bool, delay: Duration) -> Self {
        let nanos = is_made_up.then(|| Arc::new(AtomicU64::new(BEGINS_SECS * 1_000_000_000)));
        Self { nanos, delay }
    }

    /// The simulated clock, if there is one: seconds since 1970.
    pub(crate) fn clock(&self) -> Option<impl Fn() -> f64 + Send + Sync + 'static> {
        let nanos = Arc::clone(self.nanos.as_ref()?);
        Some(move || nanos.load(Ordering::Relaxed) as f64 / 1e9)
    }

    /// Advances the simulated clock by about this number of microseconds.
    pub(crate) fn pass(&self, micros: u32, random: &mut Random) {
        if let Some(nanos) = &self.nanos {
            let micros = u64::from(micros) + random.below(1 + micros as usize / 4) as u64;
            nanos.fetch_add(micros * 1_000, Ordering::Relaxed);
        }
    }

    /// Pauses after a step, so that a live run can be watched.
    pub(crate) fn wait(&self) {
        thread::sleep(self.delay);
    }
}
