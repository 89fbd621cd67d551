//! Positions on the screen as whole numbers. `as` saturates far beyond any screen; NaN becomes 0.

/// Number of whole rows, columns or seconds.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "below zero there are none"
)]
pub fn whole(count: f64) -> usize {
    count.floor() as usize
}

/// A position for the browser, which wants whole pixels.
#[expect(
    clippy::cast_possible_truncation,
    reason = "no page is two billion pixels high"
)]
pub fn pixels(position: f64) -> i32 {
    position.round() as i32
}
