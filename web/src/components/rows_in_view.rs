//! A long list of rows of one height, of which only those in view and a few more exist.

use leptos::html;

use crate::pixels::{pixels, whole};
use crate::prelude::*;

/// Rows that exist above and below the view.
const SPARE_ROWS: usize = 8;
/// The view before it was measured, CSS pixels.
const FIRST_VIEW: f64 = 800.0;
const LEAST_VIEW: f64 = 200.0;

/// Which rows of a list are in view. `Copy`.
#[derive(Clone, Copy)]
pub struct RowsInView {
    /// The element that scrolls.
    pub holder: NodeRef<html::Div>,
    row_height: f64,
    scrolled: RwSignal<f64>,
    height: RwSignal<f64>,
    /// The first row and how many.
    window: Memo<(usize, usize)>,
}

impl RowsInView {
    /// Of rows of so many CSS pixels; `track` is reactive and says when they have become others.
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
            // With the layout of the next frame; one of its own would cost as much again.
            request_animation_frame(move || rows.measure());
        });
        let handle = window_event_listener_untyped("resize", move |_| rows.measure());
        on_cleanup(move || handle.remove());
        rows
    }

    /// Looks where the list is; for each event of scrolling.
    pub fn measure(self) {
        if let Some(holder) = self.holder.try_get_untracked().flatten() {
            self.scrolled.set(f64::from(holder.scroll_top()));
            self.height
                .set(f64::from(holder.client_height()).max(LEAST_VIEW));
        }
    }

    /// What of `all` exists, with its places; reactive.
    pub fn of<T>(self, all: &[T]) -> impl Iterator<Item = (usize, &T)> {
        let (first, count) = self.window.get();
        all.iter().enumerate().skip(first).take(count)
    }

    /// Where a row begins, and what `count` rows are high: a length of CSS.
    pub fn height_of(self, count: usize) -> String {
        format!("{}px", count as f64 * self.row_height)
    }

    /// Scrolls no farther than it takes to see a row whole.
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
