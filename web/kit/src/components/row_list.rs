//! Visible rows of a long list. The height of each row is known: ten thousand rows cost no more than forty.

use leptos::html::Div;

use super::use_size;
use crate::pixels::{pixels, whole};
use crate::prelude::*;

/// Number of rows created beyond either edge, so that scrolling shows no gap before the next frame.
const SPARE: usize = 6;
/// The created rows begin and end at multiples of this, so that they change every few rows of scrolling.
const STRIDE: usize = 4;
/// Assumed height of the list before it is measured, CSS pixels.
const FIRST_HEIGHT: f64 = 640.0;

/// Heights of all rows, in CSS pixels.
#[derive(Clone, Debug, PartialEq)]
pub enum RowHeights {
    /// Number of rows, and the height of each.
    Equal(usize, f64),
    /// Rows of groups below their heads.
    Grouped {
        /// Top of each row, and the end of the last one.
        tops: Vec<f64>,
        /// Positions of the heads, which stick to the top while a row of their group is there.
        heads: Vec<usize>,
        head_height: f64,
    },
}

/// Rows to create.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RowRange {
    /// Head of the group that the first row belongs to, if that head is above `start`.
    pub head: Option<usize>,
    /// First row.
    pub start: usize,
    /// One past the last row.
    pub end: usize,
    /// Heights of the rows that are left out above and below, in CSS pixels.
    pub above: f64,
    pub below: f64,
}

impl RowHeights {
    /// Heights of rows in their order; true for heads of groups, which share one height.
    pub fn grouped(rows: impl Iterator<Item = (f64, bool)>) -> Self {
        let (mut tops, mut heads, mut head_height) = (vec![0.0], Vec::new(), 0.0);
        let mut top = 0.0;
        for (position, (height, is_head)) in rows.enumerate() {
            if is_head {
                heads.push(position);
                head_height = height;
            }
            top += height;
            tops.push(top);
        }
        Self::Grouped {
            tops,
            heads,
            head_height,
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Equal(rows, _) => *rows,
            Self::Grouped { tops, .. } => tops.len() - 1,
        }
    }

    /// Top of a row, or the end of the last one.
    fn top(&self, row: usize) -> f64 {
        let row = row.min(self.len());
        match self {
            Self::Equal(_, height) => row as f64 * height,
            Self::Grouped { tops, .. } => tops.get(row).copied().unwrap_or_default(),
        }
    }

    /// The row at a distance from the top.
    fn row_at(&self, y: f64) -> usize {
        match self {
            Self::Equal(_, height) => whole(y / height),
            Self::Grouped { tops, .. } => tops.partition_point(|top| *top <= y).saturating_sub(1),
        }
    }

    /// Rows visible in `height` pixels below `scroll`, and spare ones.
    fn range(&self, scroll: f64, height: f64) -> RowRange {
        let (rows, first) = (self.len(), self.row_at(scroll));
        let last = self.row_at(scroll + height);
        let start = (first / STRIDE * STRIDE).saturating_sub(SPARE).min(rows);
        let end = ((last / STRIDE + 1) * STRIDE + SPARE).min(rows);
        // The sticky head is that of the first row in view; it exists even after it has been scrolled past.
        let (head, head_height) = match self {
            Self::Grouped {
                heads, head_height, ..
            } => {
                let heads_above = heads.partition_point(|head| *head <= first);
                let head = heads_above.checked_sub(1).map(|index| heads[index]);
                (head.filter(|head| *head < start), *head_height)
            }
            Self::Equal(..) => (None, 0.0),
        };
        let stuck = if head.is_some() { head_height } else { 0.0 };
        RowRange {
            head,
            start,
            end,
            above: (self.top(start) - stuck).max(0.0),
            below: self.top(rows) - self.top(end),
        }
    }

    /// The scroll position that brings a row into view below the sticky head; see [`RowList::position_of`].
    fn reveal(&self, row: usize, scroll: f64, height: f64, share: Option<f64>) -> Option<f64> {
        let stuck = match self {
            Self::Grouped {
                heads, head_height, ..
            } if !heads.is_empty() => *head_height,
            _ => 0.0,
        };
        let (top, bottom) = (self.top(row) - stuck, self.top(row + 1));
        let nearest = if top < scroll {
            top
        } else if bottom > scroll + height {
            (bottom - height).min(top)
        } else {
            return None;
        };
        Some(share.map_or(nearest, |share| top - height * share).max(0.0))
    }
}

/// A scrolling list. `Copy`.
#[derive(Clone, Copy)]
pub struct RowList {
    /// The element that scrolls.
    pub holder: NodeRef<Div>,
    /// Width, height and device pixel ratio of that element.
    pub size: Signal<(f64, f64, f64)>,
    /// Scroll position of the last scroll event: reading it from the element would force a layout.
    pub scroll: RwSignal<f64>,
    /// Rows to create.
    pub range: Memo<RowRange>,
    heights: Memo<RowHeights>,
    /// Height of the head above all rows, which does not scroll.
    head: f64,
}

impl RowList {
    /// A list below a head of a height in CSS pixels, with rows of these heights; reactive.
    pub fn new(head: f64, heights: impl Fn() -> RowHeights + Send + Sync + 'static) -> Self {
        let (holder, scroll) = (NodeRef::new(), RwSignal::new(0.0_f64));
        let size = use_size(holder);
        let heights = Memo::new(move |_| heights());
        let range = Memo::new(move |_| {
            let (_, height, _) = size.get();
            let is_measured = height > head;
            let height = if is_measured {
                height - head
            } else {
                FIRST_HEIGHT
            };
            heights.with(|heights| heights.range(scroll.get(), height))
        });
        Self {
            holder,
            size,
            scroll,
            range,
            heights,
            head,
        }
    }

    /// Follows the element; called for each scroll event.
    pub fn follow(self) {
        if let Some(holder) = self.holder.try_get_untracked().flatten() {
            self.scroll.set(f64::from(holder.scroll_top()));
        }
    }

    /// The first row in view, at the time of the last scroll event.
    pub fn first_row(self) -> usize {
        let scroll = self.scroll.get_untracked();
        self.heights
            .with_untracked(|heights| heights.row_at(scroll))
    }

    /// Rows to create of `all`, with their positions; reactive.
    pub fn rows_of<T>(self, all: &[T]) -> impl Iterator<Item = (usize, &T)> {
        let RowRange { start, end, .. } = self.range.get();
        all.iter().enumerate().take(end).skip(start)
    }

    /// Top of a row as a CSS length.
    pub fn top_of(self, row: usize) -> String {
        format!(
            "{}px",
            self.heights.with_untracked(|heights| heights.top(row))
        )
    }

    /// Height of all rows as a CSS length; reactive.
    pub fn height(self) -> String {
        format!(
            "{}px",
            self.heights.with(|heights| heights.top(heights.len()))
        )
    }

    /// The scroll position that brings a row into view from the position `scroll` with the list `height` pixels high;
    /// `None` if it is in view. A row out of view has the given share of the list above it, or comes to the nearest
    /// edge.
    pub fn position_of(
        self,
        row: usize,
        (scroll, height): (f64, f64),
        share: Option<f64>,
    ) -> Option<f64> {
        self.heights
            .with_untracked(|heights| heights.reveal(row, scroll, height - self.head, share))
    }

    /// Scrolls a row into view, see [`Self::position_of`].
    pub fn reveal(self, row: usize, share: Option<f64>) {
        if let Some(holder) = self.holder.try_get_untracked().flatten() {
            // Two rows may be revealed before the scroll event of the first.
            let now = (
                f64::from(holder.scroll_top()),
                f64::from(holder.client_height()),
            );
            if let Some(to) = self.position_of(row, now, share) {
                holder.set_scroll_top(pixels(to));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Groups of runs as the page of runs shows them.
    fn groups(groups: usize, runs: usize) -> RowHeights {
        let group = [(26.0, true)].into_iter();
        let group = group.chain(std::iter::repeat_n((32.0, false), runs));
        RowHeights::grouped(std::iter::repeat_n(group, groups).flatten())
    }

    #[test]
    fn heights_add_up_at_every_scroll_position() {
        for heights in [groups(20, 50), RowHeights::Equal(1_000, 27.0)] {
            let all = heights.top(heights.len());
            for scroll in (0..32_000).step_by(977).map(f64::from) {
                let range = heights.range(scroll, 600.0);
                let drawn = heights.top(range.end) - heights.top(range.start);
                let stuck = if range.head.is_some() { 26.0 } else { 0.0 };
                let sum = range.above + stuck + drawn + range.below;
                assert!((sum - all).abs() < 1e-6, "{scroll}: {sum}");
                let rows = range.end - range.start;
                assert!(
                    rows < 45 && (drawn > 600.0 || scroll + 600.0 > all),
                    "{scroll}: {rows}"
                );
            }
        }
    }

    #[test]
    fn the_head_of_the_first_row_is_drawn() {
        let heights = groups(2, 50);
        assert_eq!(heights.range(0.0, 600.0).head, None);
        assert_eq!(heights.range(1_000.0, 600.0).head, Some(0));
        assert_eq!(heights.range(2_800.0, 300.0).head, Some(51));
    }

    #[test]
    fn an_empty_list_has_no_rows() {
        for heights in [groups(0, 0), RowHeights::Equal(0, 27.0)] {
            let range = heights.range(0.0, 600.0);
            assert_eq!((range.start, range.end), (0, 0));
            assert!(range.below.abs() < 1e-9);
        }
    }

    #[test]
    fn reveals_only_rows_out_of_view() {
        let heights = groups(1, 100);
        assert_eq!(heights.reveal(2, 0.0, 600.0, None), None);
        assert_eq!(heights.reveal(50, 0.0, 600.0, None), Some(1_026.0));
        assert_eq!(heights.reveal(1, 500.0, 600.0, None), Some(0.0));
        let equal = RowHeights::Equal(100, 27.0);
        assert_eq!(equal.reveal(50, 0.0, 600.0, Some(0.5)), Some(1_050.0));
        assert_eq!(equal.reveal(50, 1_000.0, 600.0, Some(0.5)), None);
        assert_eq!(equal.reveal(0, 1_000.0, 600.0, Some(0.5)), Some(0.0));
    }
}
