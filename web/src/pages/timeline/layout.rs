//! Vertical places of groups, lanes and counters, and of the rows in them.

use std::collections::BTreeSet;
use std::ops::Range;

use trainscope_api::timeline::TimelineLanes;

/// Height of the head of a group, CSS pixels.
pub(super) const GROUP: f64 = 22.0;
/// Height of a row of slices with the space below it.
pub(super) const ROW: f64 = 20.0;
/// Height of a slice.
pub(super) const SLICE: f64 = 18.0;
/// Space above the first row of a lane.
const ABOVE: f64 = 2.0;
/// Height of a counter.
pub(super) const COUNTER: f64 = 44.0;
/// Space below everything.
const BELOW: f64 = 16.0;
/// Key of the counters among folded groups.
pub(super) const COUNTERS: &str = "c";

/// Something with a head at the left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Item {
    /// The head of the pinned lanes.
    Pins,
    /// The head of a group: its index.
    Group(usize),
    /// A lane: index of its group and index in it.
    Lane {
        group: usize,
        entry: usize,
        is_pinned: bool,
    },
    /// The head of the counters.
    Counters,
    /// A counter: its index.
    Counter(usize),
}

/// An item with its place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Place {
    pub(super) item: Item,
    /// Top, CSS pixels from the top of all lanes.
    pub(super) top: f64,
    pub(super) height: f64,
    /// Index of the lane, of lanes.
    pub(super) lane: Option<u32>,
    /// Number of rows that are shown.
    pub(super) rows: u32,
    pub(super) is_folded: bool,
    /// `true` for lanes that the writer derived: their cells are faint.
    pub(super) is_faint: bool,
}

/// A row of slices in view.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Row {
    pub(super) lane: u32,
    pub(super) depth: u32,
    /// Top of its slices, CSS pixels from the top of the view.
    pub(super) top: f64,
    pub(super) is_faint: bool,
}

/// All places from top to bottom.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Layout {
    pub(super) places: Vec<Place>,
    pub(super) height: f64,
}

/// Choices that a layout depends on.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Choices {
    /// Keys of groups and lanes that are not folded or unfolded as they were at first.
    pub(super) turned: BTreeSet<String>,
    /// Indices of pinned lanes, in order.
    pub(super) pins: Vec<u32>,
    /// Indices of hidden lanes.
    pub(super) hidden: BTreeSet<u32>,
}

/// Key of a group in the address.
pub(super) fn group_key(group: usize) -> String {
    format!("g{group}")
}

impl Layout {
    pub(super) fn new(lanes: &TimelineLanes, choices: &Choices) -> Self {
        let mut layout = Self::default();
        let turned = |key: &str| choices.turned.contains(key);
        let kept = |lane: u32| !choices.hidden.contains(&lane);
        let mut pinned = Vec::new();
        for pin in choices.pins.iter().filter(|pin| kept(**pin)) {
            for (group, own) in lanes.groups.iter().enumerate() {
                let entry = own.lanes.iter().position(|lane| lane.lane == *pin);
                pinned.extend(entry.map(|entry| (group, entry)));
            }
        }
        if !pinned.is_empty() {
            layout.head(Item::Pins, false);
        }
        for (group, entry) in pinned {
            layout.lane(lanes, choices, (group, entry), true);
        }
        for (group, own) in lanes.groups.iter().enumerate() {
            let is_folded = own.folded != turned(&group_key(group));
            layout.head(Item::Group(group), is_folded);
            if is_folded {
                continue;
            }
            for (entry, lane) in own.lanes.iter().enumerate() {
                if kept(lane.lane) {
                    layout.lane(lanes, choices, (group, entry), false);
                }
            }
        }
        if !lanes.counters.is_empty() {
            let is_folded = turned(COUNTERS);
            layout.head(Item::Counters, is_folded);
            let counters = if is_folded { 0 } else { lanes.counters.len() };
            for index in 0..counters {
                layout.push(Place {
                    item: Item::Counter(index),
                    top: 0.0,
                    height: COUNTER,
                    lane: None,
                    rows: 0,
                    is_folded: false,
                    is_faint: false,
                });
            }
        }
        layout
    }

    fn push(&mut self, place: Place) {
        let top = self.height;
        self.height += place.height;
        self.places.push(Place { top, ..place });
    }

    fn head(&mut self, item: Item, is_folded: bool) {
        self.push(Place {
            item,
            top: 0.0,
            height: GROUP,
            lane: None,
            rows: 0,
            is_folded,
            is_faint: false,
        });
    }

    fn lane(
        &mut self,
        lanes: &TimelineLanes,
        choices: &Choices,
        (group, entry): (usize, usize),
        is_pinned: bool,
    ) {
        let Some(own) = lanes.groups.get(group) else {
            return;
        };
        let Some(lane) = own.lanes.get(entry) else {
            return;
        };
        let is_folded = choices.turned.contains(&lane.lane.to_string());
        // A folded lane is its outermost row: what is nested takes no other time.
        let rows = if is_folded { 1 } else { lane.rows.max(1) };
        self.push(Place {
            item: Item::Lane {
                group,
                entry,
                is_pinned,
            },
            top: 0.0,
            height: f64::from(rows) * ROW + ABOVE,
            lane: Some(lane.lane),
            rows,
            is_folded,
            is_faint: matches!(&*own.kind, "derived" | "profiler"),
        });
    }

    /// Greatest scroll position in a view of a height.
    pub(super) fn most_scroll(&self, height: f64) -> f64 {
        (self.height + BELOW - height).max(0.0)
    }

    /// Indices of places that are in view.
    pub(super) fn in_view(&self, scroll: f64, height: f64) -> Range<usize> {
        let first = self
            .places
            .partition_point(|place| place.top + place.height <= scroll);
        let end = self
            .places
            .partition_point(|place| place.top < scroll + height);
        first..end.max(first)
    }

    /// Rows that are in view, from top to bottom.
    pub(super) fn rows(&self, scroll: f64, height: f64) -> Vec<Row> {
        let mut rows = Vec::new();
        for place in &self.places[self.in_view(scroll, height)] {
            let Some(lane) = place.lane else { continue };
            for depth in 0..place.rows {
                let top = place.row_top(depth) - scroll;
                if top + SLICE > 0.0 && top < height {
                    rows.push(Row {
                        lane,
                        depth,
                        top,
                        is_faint: place.is_faint,
                    });
                }
            }
        }
        rows
    }

    /// The place at a height, and the depth of the row there if it is one of a lane.
    pub(super) fn at(&self, y: f64) -> Option<(&Place, Option<u32>)> {
        let index = self.places.partition_point(|place| place.top <= y);
        let place = self.places.get(index.checked_sub(1)?)?;
        if y >= place.top + place.height {
            return None;
        }
        let depths = 0..place.rows;
        let depth = depths
            .into_iter()
            .find(|depth| (0.0..ROW).contains(&(y - place.row_top(*depth))));
        Some((place, depth))
    }

    /// Lanes between two heights, without those of folded groups.
    pub(super) fn lanes_between(&self, y0: f64, y1: f64) -> Vec<u32> {
        let (top, bottom) = (y0.min(y1), y0.max(y1));
        let mut lanes = Vec::new();
        for place in &self.places[self.in_view(top, bottom - top)] {
            lanes.extend(place.lane.filter(|lane| !lanes.contains(lane)));
        }
        lanes
    }

    /// Top and height of the row of a slice; that of its lane's only row if the lane is folded. `None` if it is not
    /// shown.
    pub(super) fn row_of(&self, lane: u32, depth: u32) -> Option<(f64, bool)> {
        let place = self.places.iter().find(|place| place.lane == Some(lane))?;
        let is_own = depth < place.rows;
        Some((place.row_top(if is_own { depth } else { 0 }), is_own))
    }

    /// The scroll position, changed so that a height is in view.
    pub(super) fn scroll_to(&self, y: f64, scroll: f64, height: f64) -> f64 {
        let is_seen = y >= scroll + GROUP && y + ROW <= scroll + height;
        let wanted = if is_seen { scroll } else { y - height / 2.0 };
        wanted.clamp(0.0, self.most_scroll(height))
    }

    /// Number of lanes that are shown.
    pub(super) fn lane_count(&self) -> usize {
        let is_own = |place: &&Place| {
            matches!(
                place.item,
                Item::Lane {
                    is_pinned: false,
                    ..
                }
            )
        };
        self.places.iter().filter(is_own).count()
    }
}

impl Place {
    /// Top of a row's slices, CSS pixels from the top of all lanes.
    pub(super) fn row_top(&self, depth: u32) -> f64 {
        self.top + ABOVE + f64::from(depth) * ROW
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "places are sums of whole numbers")]
mod tests {
    use trainscope_api::timeline::{LaneEntry, LaneGroup, TimelineCounter};

    use super::*;

    fn lanes() -> TimelineLanes {
        let lane = |lane: u32, rows: u32| LaneEntry {
            lane,
            rows,
            ..LaneEntry::default()
        };
        let group = |kind: &str, lanes: Vec<LaneEntry>| LaneGroup {
            kind: kind.to_owned(),
            lanes,
            folded: kind == "derived",
            ..LaneGroup::default()
        };
        TimelineLanes {
            groups: vec![
                group("host", vec![lane(4, 3), lane(1, 1)]),
                group("device", vec![lane(7, 2)]),
                group("derived", vec![lane(9, 1)]),
            ],
            counters: vec![TimelineCounter::default(); 2],
            ..TimelineLanes::default()
        }
    }

    fn items(layout: &Layout) -> Vec<Item> {
        layout.places.iter().map(|place| place.item).collect()
    }

    const fn lane(group: usize, entry: usize, is_pinned: bool) -> Item {
        Item::Lane {
            group,
            entry,
            is_pinned,
        }
    }

    #[test]
    fn groups_lanes_and_counters_follow_each_other() {
        let layout = Layout::new(&lanes(), &Choices::default());
        assert_eq!(
            items(&layout),
            [
                Item::Group(0),
                lane(0, 0, false),
                lane(0, 1, false),
                Item::Group(1),
                lane(1, 0, false),
                Item::Group(2),
                Item::Counters,
                Item::Counter(0),
                Item::Counter(1),
            ]
        );
        let tops: Vec<f64> = layout.places.iter().map(|place| place.top).collect();
        assert_eq!(
            tops,
            [0.0, 22.0, 84.0, 106.0, 128.0, 170.0, 192.0, 214.0, 258.0]
        );
        assert_eq!(layout.height, 302.0);
        assert_eq!(layout.lane_count(), 3);
        assert_eq!(layout.most_scroll(200.0), 118.0);
        assert_eq!(layout.most_scroll(900.0), 0.0);
    }

    #[test]
    fn folds_pins_and_hidden_lanes_change_it() {
        let choices = Choices {
            turned: ["g0", "4", "g2", "c"].map(str::to_owned).into(),
            pins: vec![4, 77, 7],
            hidden: [7].into(),
        };
        let layout = Layout::new(&lanes(), &choices);
        assert_eq!(
            items(&layout),
            [
                Item::Pins,
                lane(0, 0, true),
                Item::Group(0),
                Item::Group(1),
                Item::Group(2),
                lane(2, 0, false),
                Item::Counters,
            ]
        );
        assert_eq!(layout.places[1].height, 22.0, "a folded lane has one row");
        assert!(layout.places[5].is_faint);
    }

    #[test]
    fn rows_in_view_are_those_that_can_be_seen() {
        let layout = Layout::new(&lanes(), &Choices::default());
        let all = layout.rows(0.0, 1_000.0);
        let of: Vec<(u32, u32)> = all.iter().map(|row| (row.lane, row.depth)).collect();
        assert_eq!(of, [(4, 0), (4, 1), (4, 2), (1, 0), (7, 0), (7, 1)]);
        assert_eq!(all[1].top, 44.0);
        // The first row ends at 42, the third begins at 64.
        let some = layout.rows(42.0, 22.0);
        let of: Vec<(u32, u32)> = some.iter().map(|row| (row.lane, row.depth)).collect();
        assert_eq!(of, [(4, 1)]);
        assert_eq!(some[0].top, 2.0);
        assert!(layout.rows(5_000.0, 100.0).is_empty());
        assert!(Layout::default().rows(0.0, 100.0).is_empty());
    }

    #[test]
    fn heights_lead_to_rows_and_lanes() {
        let layout = Layout::new(&lanes(), &Choices::default());
        let at = |y: f64| {
            let (place, depth) = layout.at(y)?;
            Some((place.item, depth))
        };
        assert_eq!(at(5.0), Some((Item::Group(0), None)));
        assert_eq!(at(23.0), Some((lane(0, 0, false), None)));
        assert_eq!(at(45.0), Some((lane(0, 0, false), Some(1))));
        assert_eq!(at(230.0), Some((Item::Counter(0), None)));
        assert_eq!(at(400.0), None);
        assert_eq!(at(-1.0), None);
        assert_eq!(layout.lanes_between(90.0, 30.0), [4, 1]);
        assert_eq!(layout.lanes_between(45.0, 45.0), [4]);
        assert_eq!(layout.row_of(4, 2), Some((64.0, true)));
        assert_eq!(layout.row_of(9, 0), None, "its group is folded");
        let folded = Choices {
            turned: ["4".to_owned()].into(),
            ..Choices::default()
        };
        let layout = Layout::new(&lanes(), &folded);
        assert_eq!(layout.row_of(4, 2), Some((24.0, false)));
    }

    #[test]
    fn scrolling_brings_a_row_into_view() {
        let layout = Layout::new(&lanes(), &Choices::default());
        assert_eq!(layout.scroll_to(130.0, 100.0, 100.0), 100.0);
        assert_eq!(layout.scroll_to(280.0, 0.0, 100.0), 218.0);
        assert_eq!(layout.scroll_to(24.0, 200.0, 100.0), 0.0);
    }
}
