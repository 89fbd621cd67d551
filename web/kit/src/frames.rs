//! Delays work until after the next paint.

use std::time::Duration;

use crate::prelude::*;

/// Runs a callback after the next paint, so that preceding changes are visible first. The caller may be gone by then.
pub fn after_paint(act: impl FnOnce() + 'static) {
    let act: Box<dyn FnOnce()> = Box::new(act);
    // A frame's callbacks run before it is painted, timers after.
    request_animation_frame(move || set_timeout(act, Duration::ZERO));
}
