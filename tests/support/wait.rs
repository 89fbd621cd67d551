//! Waiting for conditions, each with a deadline: no test depends on the speed of the machine.

use std::fmt::Debug;
use std::time::{Duration, Instant};

/// Deadline of every wait: far longer than needed on a busy machine.
pub(crate) const DEADLINE: Duration = Duration::from_mins(2);

/// Polling interval.
pub(crate) const PAUSE: Duration = Duration::from_millis(15);

/// Calls `look` until it returns a value. `what` completes the sentence "waited for …".
pub(crate) fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begun.elapsed() < DEADLINE, "waited in vain for {what}");
        std::thread::sleep(PAUSE);
    }
}

/// Calls `look` until it returns `wanted`.
pub(crate) fn wait_until_equal<T: PartialEq + Debug>(
    what: &str,
    wanted: &T,
    mut look: impl FnMut() -> T,
) {
    let begun = Instant::now();
    loop {
        let seen = look();
        if seen == *wanted {
            return;
        }
        assert!(
            begun.elapsed() < DEADLINE,
            "waited in vain for {what}: wanted {wanted:?}, last seen {seen:?}"
        );
        std::thread::sleep(PAUSE);
    }
}
