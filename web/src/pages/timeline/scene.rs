//! Everything that depends on the view alone: pixels of rows, labels of cells, frames around matches, clicks.

use std::sync::Arc;

use trainscope_api::timeline::{Cell, TimeKind, TimelineCounter};
use trainscope_charts::label;
use trainscope_charts::timeline::{Cell as PixelCell, Ink, Picture, Scale};

use super::cache::{Cache, bin_of};
use super::layout::{Item, Layout, Row, SLICE};
use super::view::{View, nanos};

/// Cells that are wider have a label that may be cut, CSS pixels.
const CUT_FROM: f64 = 42.0;
/// Cells that are narrower have none.
const LABEL_FROM: f64 = 14.0;
/// Maximum number of labels in one picture.
const MAX_LABELS: usize = 600;
/// Maximum number of frames in one picture.
const MAX_FRAMES: usize = 1_500;
/// Space before the first letter of a label.
const INDENT: f64 = 4.0;
/// Distance at which a click still hits a cell.
const REACH: f64 = 3.0;

/// The view with the data that it shows.
pub(super) struct Scene<'a> {
    pub(super) view: View,
    pub(super) scroll: f64,
    /// Width and height of the lanes, CSS pixels.
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) layout: &'a Layout,
    pub(super) cache: &'a Cache,
}

/// Name of a cell, as far as there is room for it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Label {
    /// Left end and middle line, CSS pixels.
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) text: String,
    /// `true` for the colour of text on the surface.
    pub(super) is_dark: bool,
}

impl Scene<'_> {
    fn bin(&self) -> i64 {
        bin_of(self.view, self.width)
    }

    fn ends(&self) -> (i64, i64) {
        (nanos(self.view.from), nanos(self.view.to).saturating_add(1))
    }

    /// Horizontal ends of a cell, CSS pixels.
    fn across(&self, begin: i64, length: i64) -> (f64, f64) {
        let x = |time: i64| self.view.x(time as f64, self.width);
        (x(begin), x(begin.saturating_add(length)))
    }

    /// Paints all rows in view with so many device pixels of a CSS pixel, and grid lines at these times.
    pub(super) fn paint(&self, picture: &mut Picture, dpr: f64, ink: &Ink, grid: &[f64]) {
        let device = |length: f64| round(length * dpr);
        let (width, height) = (device(self.width), device(self.height));
        let columns = usize::try_from(width).unwrap_or(0);
        let size = (columns, usize::try_from(height).unwrap_or(0));
        let grid = grid.iter().map(|time| self.view.x(*time, self.width) * dpr);
        picture.begin(size, dpr, ink, grid);
        let scale = Scale {
            from: self.view.from,
            each: self.view.span() / (columns as f64).max(1.0),
        };
        let band = |top: f64, height: f64| {
            let top = device(top - self.scroll);
            (top, usize::try_from(device(height)).unwrap_or(0))
        };
        for place in &self.layout.places[self.layout.in_view(self.scroll, self.height)] {
            if matches!(place.item, Item::Group(_) | Item::Counters | Item::Pins) {
                let (top, height) = band(place.top, place.height);
                picture.band(top, height, ink.surface_2);
            }
            let (top, _) = band(place.top + place.height, 0.0);
            let hair = usize::try_from(device(1.0)).unwrap_or(1).max(1);
            picture.band(top - 1, hair, ink.grid);
        }
        let (from, to) = self.ends();
        for row in self.layout.rows(self.scroll, self.height) {
            let pieces = self
                .cache
                .pieces((row.lane, row.depth), from, to, self.bin());
            let height = usize::try_from(device(SLICE)).unwrap_or(1);
            picture.row(device(row.top), height, ink, |lines| {
                for piece in pieces {
                    let stretch = (piece.from as f64, piece.to as f64);
                    match piece.cells {
                        Some(cells) => {
                            let cells = cells.iter().map(pixel_cell);
                            lines.cells(&scale, stretch, ink, row.is_faint, cells);
                        }
                        None => lines.missing(&scale, stretch),
                    }
                }
            });
        }
    }

    /// Calls `visit` with every cell in view that is at least so wide, once for each row, until it says `false`.
    fn cells(&self, least: f64, mut visit: impl FnMut(&Row, &Cell, f64, f64) -> bool) {
        let (from, to) = self.ends();
        for row in self.layout.rows(self.scroll, self.height) {
            let mut previous = None;
            for piece in self
                .cache
                .pieces((row.lane, row.depth), from, to, self.bin())
            {
                for cell in piece.cells.unwrap_or_default() {
                    let (left, right) = self.across(cell.begin, cell.length);
                    let (left, right) = (left.max(0.0), right.min(self.width));
                    // A slice across two pieces is in both.
                    let is_known = previous == Some((cell.index, cell.begin));
                    if right - left < least || is_known {
                        continue;
                    }
                    previous = Some((cell.index, cell.begin));
                    if !visit(&row, cell, left, right) {
                        return;
                    }
                }
            }
        }
    }

    /// Names of cells with room for them.
    pub(super) fn labels(&self) -> Vec<Label> {
        let mut labels = Vec::new();
        self.cells(LABEL_FROM, |row, cell, left, right| {
            if cell.count > 1 {
                return true;
            }
            let name = self.cache.name(cell.name);
            if let Some(text) = fitting(&name, right - left) {
                labels.push(Label {
                    x: left + INDENT,
                    y: row.top + SLICE / 2.0,
                    text,
                    is_dark: row.is_faint || cell.kind == TimeKind::Idle as u8,
                });
            }
            labels.len() < MAX_LABELS
        });
        labels
    }

    /// Boxes around cells with some names or indices.
    pub(super) fn frames(&self, is_framed: impl Fn(u32, u32) -> bool) -> Vec<[f64; 4]> {
        let mut frames = Vec::new();
        self.cells(0.0, |row, cell, left, right| {
            if is_framed(cell.name, cell.index) {
                frames.push([left, row.top, (right - left).max(2.0), SLICE]);
            }
            frames.len() < MAX_FRAMES
        });
        frames
    }

    /// The box of a slice; `None` if its lane is not shown.
    pub(super) fn box_of(
        &self,
        lane: u32,
        depth: u32,
        begin: i64,
        length: i64,
    ) -> Option<[f64; 4]> {
        let (top, _) = self.layout.row_of(lane, depth)?;
        let (left, right) = self.across(begin, length);
        // Beyond the edges by more than the thickness of a line.
        let (left, right) = (left.max(-8.0), right.min(self.width + 8.0));
        Some([left, top - self.scroll, (right - left).max(2.0), SLICE])
    }

    /// The cell at a place, with the row it is in.
    pub(super) fn hit(&self, x: f64, y: f64) -> Option<(Row, Cell)> {
        let (place, depth) = self.layout.at(y + self.scroll)?;
        let (lane, depth) = (place.lane?, depth?);
        let time = self.view.time(x, self.width);
        let slack = REACH * self.view.span() / self.width.max(1.0);
        let cell = self.cache.at((lane, depth), time, slack, self.bin())?;
        let row = Row {
            lane,
            depth,
            top: place.row_top(depth) - self.scroll,
            is_faint: place.is_faint,
        };
        Some((row, cell))
    }
}

/// A name, cut if that helps, in a cell of a width.
fn fitting(name: &Arc<str>, width: f64) -> Option<String> {
    let room = width - 2.0 * INDENT;
    if name.is_empty() {
        return None;
    }
    if label::width(name) <= room {
        return Some(name.to_string());
    }
    if width < CUT_FROM {
        return None;
    }
    let mut text = String::new();
    let mut left = room - label::width("…");
    for letter in name.chars() {
        let mut buffer = [0; 4];
        left -= label::width(letter.encode_utf8(&mut buffer));
        if left < 0.0 {
            break;
        }
        text.push(letter);
    }
    text.push('…');
    Some(text)
}

const fn pixel_cell(cell: &Cell) -> PixelCell {
    PixelCell {
        begin: cell.begin,
        length: cell.length,
        kind: cell.kind,
        busy: cell.busy,
        is_merged: cell.count > 1,
    }
}

/// Nearest whole device pixel.
#[expect(
    clippy::cast_possible_truncation,
    reason = "no page is two billion pixels high; `as` saturates"
)]
fn round(length: f64) -> i64 {
    length.round() as i64
}

/// A counter in view as heights from 0, its least value, to 1, its greatest: x and height of each bucket, in stretches
/// without gaps.
pub(super) fn counter_lines(
    counter: &TimelineCounter,
    view: View,
    width: f64,
) -> Vec<Vec<(f64, f64)>> {
    let finite = |values: &[f64], pick: fn(f64, f64) -> f64| {
        let values = values.iter().copied().filter(|value| value.is_finite());
        values.reduce(pick)
    };
    let most = finite(&counter.greatest, f64::max).unwrap_or(1.0);
    let least = finite(&counter.least, f64::min).unwrap_or(0.0).min(0.0);
    let range = (most - least).max(f64::MIN_POSITIVE);
    let times = &counter.times_nanos;
    // One bucket at either side, so that lines reach the edges.
    let first = times.partition_point(|time| (*time as f64) < view.from);
    let end = times.partition_point(|time| (*time as f64) <= view.to);
    let first = first.saturating_sub(1);
    let end = (end + 1).min(times.len());
    let mut lines: Vec<Vec<(f64, f64)>> = vec![Vec::new()];
    for index in first..end {
        let value = counter.greatest.get(index).copied().unwrap_or(f64::NAN);
        let Some(time) = times.get(index) else { break };
        let (x, height) = (view.x(*time as f64, width), (value - least) / range);
        if let Some(line) = lines.last_mut() {
            // A value holds until the next one.
            if let Some((_, before)) = line.last().copied() {
                line.push((x, before));
            }
            if value.is_finite() {
                line.push((x, height));
            }
        }
        if !value.is_finite() {
            lines.push(Vec::new());
        }
    }
    // The last value holds until the end.
    if end == times.len()
        && let Some(line) = lines.last_mut()
        && let Some((x, height)) = line.last().copied()
        && x < width
    {
        line.push((width, height));
    }
    lines.retain(|line| !line.is_empty());
    lines
}

/// Value of a counter at a time: that of the bucket it is in; `None` before the first one.
pub(super) fn counter_at(counter: &TimelineCounter, time: f64) -> Option<f64> {
    let after = counter
        .times_nanos
        .partition_point(|own| (*own as f64) <= time);
    counter.last.get(after.checked_sub(1)?).copied()
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "places are sums of whole numbers")]
#[expect(
    clippy::redundant_closure_for_method_calls,
    reason = "the path of the method has one lifetime only"
)]
mod tests {
    use std::collections::BTreeMap;

    use trainscope_api::timeline::{LaneEntry, LaneGroup, RowCells, TimelineAnswer, TimelineLanes};
    use trainscope_charts::theme::Rgb;
    use trainscope_charts::timeline::pixel;

    use super::super::layout::Choices;
    use super::*;

    const INK: Ink = Ink {
        kinds: [Rgb(1, 1, 1); 6],
        surface: Rgb(255, 255, 255),
        surface_2: Rgb(240, 240, 240),
        grid: Rgb(200, 200, 200),
        hatch: Rgb(100, 100, 100),
    };

    fn layout() -> Layout {
        let lanes = TimelineLanes {
            groups: vec![LaneGroup {
                lanes: vec![LaneEntry {
                    lane: 5,
                    rows: 2,
                    ..LaneEntry::default()
                }],
                ..LaneGroup::default()
            }],
            ..TimelineLanes::default()
        };
        Layout::new(&lanes, &Choices::default())
    }

    fn cache() -> Cache {
        let cell = |begin, length, name, count, index| Cell {
            begin,
            length,
            name,
            count,
            busy: 255,
            kind: 0,
            index,
        };
        let mut cache = Cache::default();
        cache.insert(TimelineAnswer {
            from_nanos: 0,
            to_nanos: 500,
            width: 500,
            rows: vec![RowCells {
                lane: 5,
                depth: 0,
                cells: vec![
                    cell(0, 200, 0, 1, 10),
                    cell(210, 30, 1, 1, 11),
                    cell(300, 40, 1, 7, 12),
                ],
            }],
            names: BTreeMap::from([
                (0, "aten::convolution_backward_overrideable".to_owned()),
                (1, "mm".to_owned()),
            ]),
            cut: false,
        });
        cache
    }

    fn with_scene<T>(view: View, look: impl FnOnce(&Scene<'_>) -> T) -> T {
        let (layout, cache) = (layout(), cache());
        look(&Scene {
            view,
            scroll: 0.0,
            width: 500.0,
            height: 82.0,
            layout: &layout,
            cache: &cache,
        })
    }

    const ALL: View = View {
        from: 0.0,
        to: 500.0,
    };

    #[test]
    fn labels_are_cut_to_their_cells_and_merged_cells_have_none() {
        let labels = with_scene(ALL, |scene| scene.labels());
        assert_eq!(labels.len(), 2, "{labels:?}");
        let (first, second) = (&labels[0], &labels[1]);
        assert!(first.text.starts_with("aten::conv") && first.text.ends_with('…'));
        assert_eq!((first.x, first.y), (4.0, 33.0));
        assert_eq!((&*second.text, second.x), ("mm", 214.0));
        // Begun before the view: the label is at its edge.
        let view = View {
            from: 150.0,
            to: 250.0,
        };
        let labels = with_scene(view, |scene| scene.labels());
        assert_eq!(labels[0].x, 4.0);
    }

    #[test]
    fn short_names_are_whole_or_not_there() {
        let name: Arc<str> = "softmax".into();
        assert_eq!(fitting(&name, 400.0).as_deref(), Some("softmax"));
        assert_eq!(fitting(&name, 41.0), None);
        assert!(fitting(&name, 45.0).is_some_and(|text| text.ends_with('…')));
        assert_eq!(fitting(&"".into(), 400.0), None);
    }

    #[test]
    fn pixels_show_cells_and_hatch_the_rest() {
        let mut picture = Picture::default();
        with_scene(ALL, |scene| scene.paint(&mut picture, 1.0, &INK, &[]));
        let (width, height) = picture.size();
        assert_eq!((width, height), (500, 82));
        let at = |x: usize, y: usize| picture.pixels()[y * width + x];
        assert_eq!(at(3, 5), pixel(INK.surface_2), "head of the group");
        assert_eq!(at(100, 30), pixel(INK.kinds[0]));
        assert_eq!(at(205, 30), pixel(INK.surface));
        assert_eq!(at(100, 43), pixel(INK.surface), "between two rows");
        let row: Vec<_> = (0..width).map(|x| at(x, 50)).collect();
        assert!(row.contains(&pixel(INK.hatch)), "the second row is unknown");
    }

    #[test]
    fn frames_are_around_what_matches() {
        let frames = with_scene(ALL, |scene| {
            scene.frames(|name, index| name == 1 || index == 9)
        });
        assert_eq!(
            frames,
            [[210.0, 24.0, 30.0, 18.0], [300.0, 24.0, 40.0, 18.0]]
        );
    }

    #[test]
    fn clicks_hit_cells_of_their_row() {
        with_scene(ALL, |scene| {
            let of = |x, y| scene.hit(x, y).map(|(row, cell)| (row.depth, cell.index));
            assert_eq!(of(100.0, 30.0), Some((0, 10)));
            assert_eq!(of(208.0, 30.0), Some((0, 11)), "the nearer one");
            assert_eq!(of(270.0, 30.0), None);
            assert_eq!(of(100.0, 50.0), None, "nothing is known of that row");
            assert_eq!(of(100.0, 5.0), None);
            assert_eq!(scene.box_of(5, 1, 100, 50), Some([100.0, 44.0, 50.0, 18.0]));
            assert_eq!(scene.box_of(6, 0, 100, 50), None);
        });
    }

    #[test]
    fn counters_are_steps_with_gaps_at_nan() {
        let values = vec![1.0, f64::NAN, 3.0, 4.0];
        let counter = TimelineCounter {
            times_nanos: vec![0, 100, 200, 300],
            least: values.clone(),
            greatest: values.clone(),
            last: values,
            ..TimelineCounter::default()
        };
        let lines = counter_lines(&counter, ALL, 500.0);
        assert_eq!(
            lines,
            [
                vec![(0.0, 0.25), (100.0, 0.25)],
                vec![(200.0, 0.75), (300.0, 0.75), (300.0, 1.0), (500.0, 1.0)]
            ]
        );
        assert_eq!(counter_at(&counter, 250.0), Some(3.0));
        assert_eq!(counter_at(&counter, -1.0), None);
        let none = TimelineCounter::default();
        assert!(counter_lines(&none, ALL, 500.0).is_empty());
    }
}
