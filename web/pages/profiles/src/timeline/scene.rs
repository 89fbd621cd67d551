//! Everything that depends on the view alone: pixels of rows, labels of cells, frames around matches, clicks.

use std::sync::Arc;

use trainscope_api::timeline::{Cell, TimeKind};
use trainscope_charts::label;
use trainscope_charts::timeline::{Cell as PixelCell, Ink, Picture, Scale};

use super::cache::{Cache, bin_of};
use super::layout::{Item, Layout, Row, SLICE};
use super::view::{View, nanos};

/// Minimum width of a cell with a cut label, CSS pixels.
const CUT_FROM: f64 = 42.0;
/// Minimum width of a cell with a label, CSS pixels.
const LABEL_FROM: f64 = 14.0;
/// Maximum number of labels in one picture.
const MAX_LABELS: usize = 600;
/// Maximum number of frames in one picture.
const MAX_FRAMES: usize = 1_500;
/// Space before the first letter of a label.
const INDENT: f64 = 4.0;
/// Maximum distance of a click from the cell that it hits, CSS pixels.
const REACH: f64 = 3.0;

/// The view with its data.
pub(super) struct Scene<'a> {
    pub(super) view: View,
    pub(super) scroll: f64,
    /// Width and height of the lanes, CSS pixels.
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) layout: &'a Layout,
    pub(super) cache: &'a Cache,
    /// The sessions below the first one.
    pub(super) others: &'a [Below<'a>],
}

/// A session below the first one.
#[derive(Clone, Copy)]
pub(super) struct Below<'a> {
    pub(super) cache: &'a Cache,
    /// Time of the first session at which it begins, ns.
    pub(super) shift: f64,
    /// Length, ns.
    pub(super) extent: f64,
}

/// Name of a cell, cut to the room for it.
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

    /// A session below the first one, by its number.
    fn below(&self, session: usize) -> Option<&Below<'_>> {
        self.others.get(session.checked_sub(1)?)
    }

    /// Cells of a session, and the time of the first session at which it begins, ns.
    pub(super) fn session(&self, session: usize) -> (&Cache, f64) {
        let below = self.below(session);
        below.map_or((self.cache, 0.0), |below| (below.cache, below.shift))
    }

    /// Ends of the view, ns since the start of a session that begins at `begin`.
    fn ends(&self, begin: f64) -> (i64, i64) {
        let (from, to) = (self.view.from - begin, self.view.to - begin);
        (nanos(from), nanos(to).saturating_add(1))
    }

    /// Left and right end of a cell of a session that begins at `shift`, CSS pixels.
    fn across(&self, begin: i64, length: i64, shift: f64) -> (f64, f64) {
        let x = |time: i64| self.view.x(time as f64 + shift, self.width);
        (x(begin), x(begin.saturating_add(length)))
    }

    /// Paints all rows in view with `dpr` device pixels for each CSS pixel, and grid lines at these times.
    pub(super) fn paint(&self, picture: &mut Picture, dpr: f64, ink: &Ink, grid: &[f64]) {
        let device = |length: f64| round(length * dpr);
        let (width, height) = (device(self.width), device(self.height));
        let columns = usize::try_from(width).unwrap_or(0);
        let size = (columns, usize::try_from(height).unwrap_or(0));
        let grid = grid.iter().map(|time| self.view.x(*time, self.width) * dpr);
        picture.begin(size, dpr, ink, grid);
        let band = |top: f64, height: f64| {
            let top = device(top - self.scroll);
            (top, usize::try_from(device(height)).unwrap_or(0))
        };
        for place in &self.layout.places[self.layout.in_view(self.scroll, self.height)] {
            if is_head(place.item) {
                let (top, height) = band(place.top, place.height);
                picture.band(top, height, ink.surface_2);
            }
            let (top, _) = band(place.top + place.height, 0.0);
            let hair = usize::try_from(device(1.0)).unwrap_or(1).max(1);
            picture.band(top - 1, hair, ink.grid);
        }
        for row in self.layout.rows(self.scroll, self.height) {
            let (cache, shift) = self.session(row.session);
            let (from, to) = self.ends(shift);
            let scale = Scale {
                from: self.view.from - shift,
                each: self.view.span() / (columns as f64).max(1.0),
            };
            let pieces = cache.pieces((row.lane, row.depth), from, to, self.bin());
            let height = usize::try_from(device(SLICE)).unwrap_or(1);
            picture.row(device(row.top), height, ink, |lines| {
                for piece in pieces {
                    let mut stretch = (piece.from as f64, piece.to as f64);
                    if let Some(below) = self.below(row.session) {
                        // Outside of its session, no cells are missing.
                        stretch = (stretch.0.max(0.0), stretch.1.min(below.extent));
                    }
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

    /// Calls `visit` with every visible cell of at least `least` CSS pixels, until it returns `false`.
    fn cells(&self, least: f64, mut visit: impl FnMut(&Row, &Cell, f64, f64) -> bool) {
        for row in self.layout.rows(self.scroll, self.height) {
            let (cache, shift) = self.session(row.session);
            let (from, to) = self.ends(shift);
            let mut previous = None;
            for piece in cache.pieces((row.lane, row.depth), from, to, self.bin()) {
                for cell in piece.cells.unwrap_or_default() {
                    let (left, right) = self.across(cell.begin, cell.length, shift);
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
            let name = self.session(row.session).0.name(cell.name);
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

    /// Boxes around cells of the first session with some names or indices.
    pub(super) fn frames(&self, is_framed: impl Fn(u32, u32) -> bool) -> Vec<[f64; 4]> {
        let mut frames = Vec::new();
        self.cells(0.0, |row, cell, left, right| {
            if row.session == 0 && is_framed(cell.name, cell.index) {
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
        let (left, right) = self.across(begin, length, 0.0);
        // Ends beyond the edges are hidden: lines are thinner than 8 pixels.
        let (left, right) = (left.max(-8.0), right.min(self.width + 8.0));
        Some([left, top - self.scroll, (right - left).max(2.0), SLICE])
    }

    /// The cell at a place, with its row.
    pub(super) fn hit(&self, x: f64, y: f64) -> Option<(Row, Cell)> {
        let (place, depth) = self.layout.at(y + self.scroll)?;
        let (lane, depth) = (place.lane?, depth?);
        let (cache, shift) = self.session(place.session);
        let time = self.view.time(x, self.width) - shift;
        let slack = REACH * self.view.span() / self.width.max(1.0);
        let cell = cache.at((lane, depth), time, slack, self.bin())?;
        let row = Row {
            lane,
            depth,
            top: place.row_top(depth) - self.scroll,
            is_faint: place.is_faint,
            session: place.session,
        };
        Some((row, cell))
    }
}

/// `true` for items with the background of a head.
const fn is_head(item: Item) -> bool {
    matches!(
        item,
        Item::Group(_) | Item::Counters | Item::Curves | Item::Pins | Item::Other
    )
}

/// A name that fits into a cell of a width, cut if needed; `None` without room.
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

    fn lanes() -> TimelineLanes {
        TimelineLanes {
            groups: vec![LaneGroup {
                lanes: vec![LaneEntry {
                    lane: 5,
                    rows: 2,
                    ..LaneEntry::default()
                }],
                ..LaneGroup::default()
            }],
            ..TimelineLanes::default()
        }
    }

    fn layout() -> Layout {
        Layout::new(&lanes(), &Choices::default())
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
            others: &[],
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
    fn rows_of_the_second_session_begin_later() {
        let choices = Choices::default();
        let (one, cache) = (layout(), cache());
        let layout = one.clone().with_other(&lanes(), &choices, 1);
        let scene = Scene {
            view: ALL,
            scroll: 0.0,
            width: 500.0,
            height: layout.height,
            layout: &layout,
            cache: &cache,
            others: &[Below {
                cache: &cache,
                shift: 100.0,
                extent: 500.0,
            }],
        };
        // Below the first session: the head with the steps, that of the group, and the space above the row.
        let top = one.height + 22.0 + 22.0 + 2.0;
        let at = |x: f64| {
            scene
                .hit(x, top + 5.0)
                .map(|(row, cell)| (row.session, cell.index))
        };
        assert_eq!(at(50.0), None);
        assert_eq!(at(150.0), Some((1, 10)));
        assert_eq!(at(320.0), Some((1, 11)));
        let labels = scene.labels();
        assert_eq!(labels.len(), 4, "{labels:?}");
        assert_eq!(labels[2].x, 104.0);
        let frames = scene.frames(|name, _| name == 1);
        assert_eq!(frames.len(), 2, "matches are of the first session");
        let mut picture = Picture::default();
        scene.paint(&mut picture, 1.0, &INK, &[]);
        let (width, _) = picture.size();
        let row = usize::try_from(round(one.height + 52.0)).unwrap() * width;
        assert_eq!(
            picture.pixels()[row + 90],
            pixel(INK.surface),
            "before its begin"
        );
        assert_eq!(picture.pixels()[row + 110], pixel(INK.kinds[0]));
    }
}
