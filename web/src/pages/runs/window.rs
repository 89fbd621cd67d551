//! Visible rows of a long list: heights are fixed, so that ten thousand rows cost as much as forty.

use super::order::Item;

/// Height of a run, in pixels; `--row`.
const RUN: u32 = 32;
/// Height of a folder's head, in pixels.
const GROUP: u32 = 26;
/// Height of the table's head, in pixels.
pub(super) const HEAD: f64 = 28.0;
/// Rows drawn beyond either edge, so that scrolling shows no gap before the next frame.
const MARGIN: usize = 6;

/// Vertical offset of each row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Offsets {
    /// Top of each row, and the end of the last one.
    tops: Vec<u32>,
    /// Positions of folders' heads.
    groups: Vec<usize>,
}

/// Rows to draw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Window {
    /// Head of the folder that the first row belongs to, if that head itself is above `start`.
    pub(super) group: Option<usize>,
    /// First row.
    pub(super) start: usize,
    /// One past the last row.
    pub(super) end: usize,
    /// Height of what is left out above and below, in pixels.
    pub(super) above: u32,
    pub(super) below: u32,
}

/// Height of so many runs, in pixels.
pub(super) fn height_of(runs: usize) -> u32 {
    u32::try_from(runs).unwrap_or(0).saturating_mul(RUN)
}

impl Offsets {
    pub(super) fn new(items: &[Item]) -> Self {
        let mut tops = Vec::with_capacity(items.len() + 1);
        let mut groups = Vec::new();
        let mut top = 0;
        for (position, item) in items.iter().enumerate() {
            tops.push(top);
            top += match item {
                Item::Group(_) => {
                    groups.push(position);
                    GROUP
                }
                Item::Run { .. } => RUN,
            };
        }
        tops.push(top);
        Self { tops, groups }
    }

    /// Rows that `height` pixels show from `scroll` on.
    pub(super) fn window(&self, scroll: f64, height: f64) -> Window {
        let rows = self.tops.len().saturating_sub(1);
        let at = |y: f64| self.tops.partition_point(|top| f64::from(*top) <= y);
        let first = at(scroll).saturating_sub(1);
        let start = first.saturating_sub(MARGIN).min(rows);
        let end = (at(scroll + height) + MARGIN).min(rows);
        let top = |position: usize| self.tops.get(position).copied().unwrap_or_default();
        // The head that sticks is that of the first row in view; it is drawn even when it has been scrolled past.
        let heads_above = self.groups.partition_point(|group| *group <= first);
        let group = heads_above
            .checked_sub(1)
            .map(|index| self.groups[index])
            .filter(|group| *group < start);
        let own_height = if group.is_some() { GROUP } else { 0 };
        Window {
            group,
            start,
            end,
            above: top(start) - own_height.min(top(start)),
            below: top(rows) - top(end),
        }
    }

    /// The scroll position that brings a row into view below the heads, or `None` if it is in view.
    pub(super) fn reveal(&self, position: usize, scroll: f64, height: f64) -> Option<f64> {
        let top = f64::from(*self.tops.get(position)?);
        let bottom = f64::from(*self.tops.get(position + 1)?);
        let heads = if self.groups.is_empty() {
            0.0
        } else {
            f64::from(GROUP)
        };
        if top - heads < scroll {
            Some((top - heads).max(0.0))
        } else if bottom > scroll + height {
            Some(bottom - height)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::runs::order::Group;

    fn items(groups: usize, runs: usize) -> Vec<Item> {
        let mut items = Vec::new();
        for group in 0..groups {
            items.push(Item::Group(Group::default()));
            items.extend((0..runs).map(|run| Item::Run {
                id: format!("{group}/{run}"),
                grouped: true,
            }));
        }
        items
    }

    #[test]
    fn heights_add_up_wherever_one_scrolls() {
        let items = items(20, 50);
        let offsets = Offsets::new(&items);
        let all = 20 * (26 + 50 * 32);
        for scroll in (0..all).step_by(977) {
            let window = offsets.window(f64::from(scroll), 600.0);
            let drawn: u32 = items[window.start..window.end]
                .iter()
                .map(|item| match item {
                    Item::Group(_) => 26,
                    Item::Run { .. } => 32,
                })
                .sum();
            let stuck = if window.group.is_some() { 26 } else { 0 };
            assert_eq!(window.above + stuck + drawn + window.below, all);
            assert!(window.end - window.start < 45);
        }
    }

    #[test]
    fn the_head_of_the_first_row_is_drawn() {
        let offsets = Offsets::new(&items(2, 50));
        assert_eq!(offsets.window(0.0, 600.0).group, None);
        assert_eq!(offsets.window(1_000.0, 600.0).group, Some(0));
        assert_eq!(offsets.window(2_800.0, 300.0).group, Some(51));
    }

    #[test]
    fn an_empty_list_has_no_rows() {
        let window = Offsets::new(&[]).window(0.0, 600.0);
        assert_eq!((window.start, window.end, window.below), (0, 0, 0));
    }

    #[test]
    fn reveals_only_what_is_out_of_view() {
        let offsets = Offsets::new(&items(1, 100));
        assert_eq!(offsets.reveal(2, 0.0, 600.0), None);
        assert_eq!(offsets.reveal(50, 0.0, 600.0), Some(1_026.0));
        assert_eq!(offsets.reveal(1, 500.0, 600.0), Some(0.0));
    }
}
