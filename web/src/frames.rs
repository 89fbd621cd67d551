//! What can wait until something is seen.

use std::time::Duration;

use crate::prelude::*;

/// Runs something after the next paint, so that what has just changed is seen before it. What asks for it may be gone by
/// then.
pub fn after_paint(act: impl FnOnce() + 'static) {
    let act: Box<dyn FnOnce()> = Box::new(act);
    // A frame's callbacks run before it is painted, timers after.
    request_animation_frame(move || set_timeout(act, Duration::ZERO));
}
