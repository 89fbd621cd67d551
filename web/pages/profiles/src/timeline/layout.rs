//! Vertical places of groups, lanes and counters, and of the rows in them.

use std::collections::BTreeSet;
use std::ops::Range;

use trainscope_api::timeline::{LaneGroup, TimelineLanes};

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
/// Key of the curves among folded groups.
pub(super) const CURVES: &str = "s";

/// A line of the timeline with a head at the left.
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
    /// The line that counts the lanes of a group without slices: the index of the group.
    Empty(usize),
    /// A lane without slices: index of its group and of its name.
    EmptyLane { group: usize, entry: usize },
    /// The head of the counters.
    Counters,
    /// A counter: its index.
    Counter(usize),
    /// The head of the curves.
    Curves,
    /// A curve: its index.
    Curve(usize),
    /// The head of the second session, with its steps.
    Other,
}

/// An item with its place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Place {
    pub(super) item: Item,
    /// Top, CSS pixels from the top of all lanes.
    pub(super) top: f64,
    pub(super) height: f64,
    /// Index of the lane; `None` for other items.
    pub(super) lane: Option<u32>,
    /// Number of shown rows.
    pub(super) rows: u32,
    pub(super) is_folded: bool,
    /// `true` for lanes that the writer derived: their cells are faint.
    pub(super) is_faint: bool,
    /// 0 for the first session; then those below it.
    pub(super) session: usize,
}

impl Place {
    /// Its key among folded groups and lanes; `None` for items that do not fold.
    pub(super) fn key(&self) -> Option<String> {
        let key = match self.item {
            Item::Group(group) => group_key(group),
            Item::Empty(group) => empty_key(group),
            Item::Counters => COUNTERS.to_owned(),
            Item::Curves => CURVES.to_owned(),
            Item::Lane { .. } => self.lane?.to_string(),
            _ => return None,
        };
        Some(key_of(key, self.session))
    }
}

/// A row of slices in view.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Row {
    pub(super) lane: u32,
    pub(super) depth: u32,
    /// Top of its slices, CSS pixels from the top of the view.
    pub(super) top: f64,
    pub(super) is_faint: bool,
    /// 0 for the first session; then those below it.
    pub(super) session: usize,
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
    /// Keys of groups and lanes whose folding differs from the initial one.
    pub(super) turned: BTreeSet<String>,
    /// Indices of pinned lanes, in order.
    pub(super) pins: Vec<u32>,
    /// Indices of hidden lanes.
    pub(super) hidden: BTreeSet<u32>,
    /// Number of curves.
    pub(super) curves: usize,
    /// `true` if sessions below the first one initially unfold only the lanes of devices.
    pub(super) is_compact: bool,
}

/// Key of a group in the address.
pub(super) fn group_key(group: usize) -> String {
    format!("g{group}")
}

/// Key of the lanes of a group that have no slices.
fn empty_key(group: usize) -> String {
    format!("e{group}")
}

/// A key with the prefix of its session, unless that is the first. No other key begins with `o`.
fn key_of(key: String, session: usize) -> String {
    match session {
        0 => key,
        1 => format!("o{key}"),
        session => format!("o{session}.{key}"),
    }
}

impl Layout {
    /// The order is curves, pinned lanes, groups, counters.
    pub(super) fn new(lanes: &TimelineLanes, choices: &Choices) -> Self {
        let mut layout = Self::default();
        if choices.curves > 0 {
            let is_folded = choices.turned.contains(CURVES);
            layout.head(Item::Curves, is_folded, 0);
            let curves = if is_folded { 0 } else { choices.curves };
            (0..curves).for_each(|index| layout.line(Item::Curve(index), COUNTER, 0));
        }
        let kept = |lane: u32| !choices.hidden.contains(&lane);
        let mut pinned = Vec::new();
        for pin in choices.pins.iter().filter(|pin| kept(**pin)) {
            for (at, group) in lanes.groups.iter().enumerate() {
                let entry = group.lanes.iter().position(|lane| lane.lane == *pin);
                pinned.extend(entry.map(|entry| (at, entry)));
            }
        }
        if !pinned.is_empty() {
            layout.head(Item::Pins, false, 0);
        }
        for (group, entry) in pinned {
            let item = Item::Lane {
                group,
                entry,
                is_pinned: true,
            };
            layout.lane(lanes, choices, item, 0);
        }
        layout.groups(lanes, choices, 0);
        if !lanes.counters.is_empty() {
            let is_folded = choices.turned.contains(COUNTERS);
            layout.head(Item::Counters, is_folded, 0);
            let counters = if is_folded { 0 } else { lanes.counters.len() };
            (0..counters).for_each(|index| layout.line(Item::Counter(index), COUNTER, 0));
        }
        layout
    }

    /// The layout with the lanes of another session below it.
    pub(super) fn with_other(
        mut self,
        lanes: &TimelineLanes,
        choices: &Choices,
        session: usize,
    ) -> Self {
        self.head(Item::Other, false, session);
        self.groups(lanes, choices, session);
        self
    }

    fn groups(&mut self, lanes: &TimelineLanes, choices: &Choices, session: usize) {
        let turned = |key: String| choices.turned.contains(&key_of(key, session));
        let is_device = |group: &LaneGroup| group.kind == "device";
        // With many sessions, the devices matter most.
        let has_devices_only =
            session > 0 && choices.is_compact && lanes.groups.iter().any(is_device);
        for (at, group) in lanes.groups.iter().enumerate() {
            let begins_folded = group.folded || has_devices_only && !is_device(group);
            let is_folded = begins_folded != turned(group_key(at));
            self.head(Item::Group(at), is_folded, session);
            if is_folded {
                continue;
            }
            for (entry, lane) in group.lanes.iter().enumerate() {
                if session > 0 || !choices.hidden.contains(&lane.lane) {
                    let item = Item::Lane {
                        group: at,
                        entry,
                        is_pinned: false,
                    };
                    self.lane(lanes, choices, item, session);
                }
            }
            if group.empty == 0 {
                continue;
            }
            let is_open = turned(empty_key(at));
            self.head(Item::Empty(at), !is_open, session);
            let names = if is_open { group.empty_names.len() } else { 0 };
            for entry in 0..names {
                self.line(Item::EmptyLane { group: at, entry }, GROUP, session);
            }
        }
    }

    fn push(&mut self, place: Place) {
        let top = self.height;
        self.height += place.height;
        self.places.push(Place { top, ..place });
    }

    fn head(&mut self, item: Item, is_folded: bool, session: usize) {
        self.line(item, GROUP, session);
        if let Some(place) = self.places.last_mut() {
            place.is_folded = is_folded;
        }
    }

    /// A place without rows of slices.
    fn line(&mut self, item: Item, height: f64, session: usize) {
        self.push(Place {
            item,
            top: 0.0,
            height,
            lane: None,
            rows: 0,
            is_folded: false,
            is_faint: false,
            session,
        });
    }

    fn lane(&mut self, lanes: &TimelineLanes, choices: &Choices, item: Item, session: usize) {
        let Item::Lane { group, entry, .. } = item else {
            return;
        };
        let Some(group) = lanes.groups.get(group) else {
            return;
        };
        let Some(lane) = group.lanes.get(entry) else {
            return;
        };
        let key = key_of(lane.lane.to_string(), session);
        let is_folded = choices.turned.contains(&key);
        // A folded lane is its outermost row, whose slices contain the nested ones.
        let rows = if is_folded { 1 } else { lane.rows.max(1) };
        self.push(Place {
            item,
            top: 0.0,
            height: f64::from(rows) * ROW + ABOVE,
            lane: Some(lane.lane),
            rows,
            is_folded,
            is_faint: matches!(&*group.kind, "derived" | "profiler"),
            session,
        });
    }

    /// Maximum scroll position in a view of a height.
    pub(super) fn most_scroll(&self, height: f64) -> f64 {
        (self.height + BELOW - height).max(0.0)
    }

    /// Indices of the visible places.
    pub(super) fn in_view(&self, scroll: f64, height: f64) -> Range<usize> {
        let first = self
            .places
            .partition_point(|place| place.top + place.height <= scroll);
        let end = self
            .places
            .partition_point(|place| place.top < scroll + height);
        first..end.max(first)
    }

    /// Visible rows, from top to bottom.
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
                        session: place.session,
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

    /// Lanes of the first session between two heights, without folded groups.
    pub(super) fn lanes_between(&self, y0: f64, y1: f64) -> Vec<u32> {
        let (top, bottom) = (y0.min(y1), y0.max(y1));
        let mut lanes = Vec::new();
        for place in &self.places[self.in_view(top, bottom - top)] {
            let lane = place.lane.filter(|_| place.session == 0);
            lanes.extend(lane.filter(|lane| !lanes.contains(lane)));
        }
        lanes
    }

    /// Top of the row of a slice of the first session, and `true` if the row has the slice's depth; a folded lane has
    /// only one row. `None` if it is not shown.
    pub(super) fn row_of(&self, lane: u32, depth: u32) -> Option<(f64, bool)> {
        let mut places = self.places.iter().filter(|place| place.session == 0);
        let place = places.find(|place| place.lane == Some(lane))?;
        let is_own = depth < place.rows;
        Some((place.row_top(if is_own { depth } else { 0 }), is_own))
    }

    /// The scroll position, changed if needed to bring a height into view.
    pub(super) fn scroll_to(&self, y: f64, scroll: f64, height: f64) -> f64 {
        let is_seen = y >= scroll + GROUP && y + ROW <= scroll + height;
        let wanted = if is_seen { scroll } else { y - height / 2.0 };
        wanted.clamp(0.0, self.most_scroll(height))
    }

    /// Number of shown lanes of the first session.
    pub(super) fn lane_count(&self) -> usize {
        let is_lane = |place: &&Place| {
            matches!(
                place.item,
                Item::Lane {
                    is_pinned: false,
                    ..
                }
            )
        };
        let places = self.places.iter().filter(|place| place.session == 0);
        places.filter(is_lane).count()
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
            curves: 0,
            is_compact: false,
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
    fn curves_are_above_and_lanes_without_slices_open_by_their_line() {
        let mut lanes = lanes();
        lanes.groups[0].empty = 2;
        lanes.groups[0].empty_names = vec!["idle".to_owned(), "spare".to_owned()];
        lanes.groups.truncate(1);
        let mut choices = Choices {
            curves: 2,
            ..Choices::default()
        };
        let top = [Item::Curves, Item::Curve(0), Item::Curve(1), Item::Group(0)];
        let layout = Layout::new(&lanes, &choices);
        assert_eq!(items(&layout)[..4], top);
        assert_eq!(layout.places[3].top, 22.0 + 2.0 * 44.0);
        let line = layout.places[6];
        assert_eq!((line.item, line.is_folded), (Item::Empty(0), true));
        assert_eq!(items(&layout)[7], Item::Counters);
        choices.turned.extend(line.key());
        choices.turned.extend(layout.places[0].key());
        let layout = Layout::new(&lanes, &choices);
        assert_eq!(items(&layout)[..2], [Item::Curves, Item::Group(0)]);
        let empty = |entry| Item::EmptyLane { group: 0, entry };
        assert_eq!(items(&layout)[4..7], [Item::Empty(0), empty(0), empty(1)]);
        assert_eq!(layout.lane_count(), 2, "those with slices");
    }

    #[test]
    fn a_second_session_is_below_and_folds_by_itself() {
        let lanes = lanes();
        let mut choices = Choices {
            pins: vec![4],
            hidden: [1].into(),
            ..Choices::default()
        };
        let first = Layout::new(&lanes, &choices);
        let both = first.clone().with_other(&lanes, &choices, 1);
        let below = &both.places[first.places.len()..];
        let items: Vec<Item> = below.iter().map(|place| place.item).collect();
        assert_eq!(
            items,
            [
                Item::Other,
                Item::Group(0),
                lane(0, 0, false),
                lane(0, 1, false),
                Item::Group(1),
                lane(1, 0, false),
                Item::Group(2),
            ],
            "pins and hidden lanes are those of the first"
        );
        assert!(below.iter().all(|place| place.session == 1));
        assert_eq!(both.lane_count(), first.lane_count());
        assert_eq!(both.row_of(1, 0), None, "lanes are found in the first only");
        let (top, bottom) = (below[0].top, both.height);
        assert!(both.lanes_between(top, bottom).is_empty());
        assert!(both.rows(top, bottom).iter().all(|row| row.session == 1));
        let key = below[1].key();
        assert_eq!(key.as_deref(), Some("og0"));
        choices.turned.extend(key);
        let folded = first.clone().with_other(&lanes, &choices, 1);
        assert_eq!(folded.places.len(), both.places.len() - 2);
        let third = folded.clone().with_other(&lanes, &choices, 2);
        let added = &third.places[folded.places.len()..];
        assert_eq!(added.len(), below.len(), "it folds by itself");
        assert_eq!(added[1].key().as_deref(), Some("o2.g0"));
        assert!(added.iter().all(|place| place.session == 2));
        choices.is_compact = true;
        let compact = first.clone().with_other(&lanes, &choices, 2);
        let shown = compact.places[first.places.len()..].iter();
        let lanes_shown: Vec<u32> = shown.filter_map(|place| place.lane).collect();
        assert_eq!(lanes_shown, [7], "those of the device");
        assert_eq!(Layout::new(&lanes, &choices).places, first.places);
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
