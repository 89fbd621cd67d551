//! A long list of rows of one height, of which only those in view and a few more are created.

use leptos::html;

use crate::pixels::{pixels, whole};
use crate::prelude::*;

/// Number of spare rows above and below the view.
const SPARE_ROWS: usize = 8;
/// Assumed height of the view before it is measured, CSS pixels.
const FIRST_VIEW: f64 = 800.0;
const LEAST_VIEW: f64 = 200.0;

/// Range of rows in view. `Copy`.
#[derive(Clone, Copy)]
pub struct RowsInView {
    /// The element that scrolls.
    pub holder: NodeRef<html::Div>,
    row_height: f64,
    scrolled: RwSignal<f64>,
    height: RwSignal<f64>,
    /// First row, and number of rows.
    window: Memo<(usize, usize)>,
}

impl RowsInView {
    /// Creates a list of rows with this height in CSS pixels; `track` is reactive and signals a change of the rows.
    pub fn new(row_height: f64, track: impl Fn() + Send + Sync + 'static) -> Self {
        let (scrolled, height) = (RwSignal::new(0.0_f64), RwSignal::new(FIRST_VIEW));
        let rows = Self {
            holder: NodeRef::new(),
            row_height,
            scrolled,
            height,
            window: Memo::new(move |_| {
                let first = whole(scrolled.get() / row_height).saturating_sub(SPARE_ROWS);
                let count = whole(height.get() / row_height) + 2 * SPARE_ROWS + 1;
                (first, count)
            }),
        };
        Effect::new(move || {
            rows.holder.track();
            track();
            // With the layout of the next frame; a separate one would cost as much again.
            request_animation_frame(move || rows.measure());
        });
        let handle = window_event_listener_untyped("resize", move |_| rows.measure());
        on_cleanup(move || handle.remove());
        rows
    }

    /// Measures the position of the list; called for each scroll event.
    pub fn measure(self) {
        if let Some(holder) = self.holder.try_get_untracked().flatten() {
            self.scrolled.set(f64::from(holder.scroll_top()));
            self.height
                .set(f64::from(holder.client_height()).max(LEAST_VIEW));
        }
    }

    /// Created elements of `all`, with their indices; reactive.
    pub fn of<T>(self, all: &[T]) -> impl Iterator<Item = (usize, &T)> {
        let (first, count) = self.window.get();
        all.iter().enumerate().skip(first).take(count)
    }

    /// Offset of a row, and height of `count` rows, as a CSS length.
    pub fn height_of(self, count: usize) -> String {
        format!("{}px", count as f64 * self.row_height)
    }

    /// Scrolls as little as needed to show a whole row.
    pub fn reveal(self, row: usize) {
        if let Some(holder) = self.holder.try_get_untracked().flatten() {
            let (scrolled, height) = (
                f64::from(holder.scroll_top()),
                f64::from(holder.client_height()),
            );
            let top = row as f64 * self.row_height;
            let nearest = scrolled.clamp((top + self.row_height - height).max(0.0).min(top), top);
            if (nearest - scrolled).abs() > 0.5 {
                holder.set_scroll_top(pixels(nearest));
            }
        }
    }
}
